"use strict";
// The picture on the canvas: what stands still is kept, what moves is drawn over it.

const CLASS_FILLS = ["#dcebf7", "#fbe3cd", "#a9cfee", "#f3bd8a"]; // of nodes, by the classes of levels 1 and 2
const INK = "#2b3640", DEAD = "#c9ced2", CUT = "#a4002a";
const SIDE = 2.6; // pixels that the channels of an edge are apart from its middle
const PARTS = 48; // of an edge, to find the point of it that is nearest to the mouse
const SLOW = 10, REST = 120; // milliseconds
const LABEL_ROOM = 40, FRAME_ROOM = 56; // pixels on the screen that a label of a node, of a cluster need

class View {
  /** Take the canvas and the network; `scene` is what is drawn on it, `moving` draws over it in each frame. */
  constructor(canvas, network) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.network = network;
    this.data = network.data;
    this.places = unpack(this.data.places);
    this.kept = document.createElement("canvas");
    this.edges = Object.fromEntries(Object.entries(this.data.edges).map(([name, packed]) => [name, unpack(packed)]));
    this.edgeOf = new Map();
    this.edges.one.forEach((one, edge) => this.edgeOf.set(one * network.nodes + this.edges.other[edge], edge));
    this.labels = this.data.addresses;
    this.scene = {};
    this.moving = null;
    this.focus = -1;
    this.hover = -1;
    this.showsFocus = false; // of the node that keys have gone to
    this.isStale = this.isWhole = true; // whether all is to be drawn anew; whether the whole network is shown
    this.drawn = {scale: 1, left: 0, top: 0, took: 0}; // where what is kept was drawn, and the milliseconds that it took
    this.frames = 0;
    this.room = this.nearest();
    this.paths = this.data.edgeKinds.map((_, kind) => this.edgePath(kind));
  }

  x(node) {
    return this.places[2 * node];
  }

  y(node) {
    return this.places[2 * node + 1];
  }

  /** Return the least distance of two nodes, for their labels. */
  nearest() {
    let least = 1e9;
    for (let edge = 0; edge < this.edges.one.length; edge++) {
      const one = this.edges.one[edge], other = this.edges.other[edge];
      least = Math.min(least, Math.hypot(this.x(one) - this.x(other), this.y(one) - this.y(other)));
    }
    return least;
  }

  /** Return the start, the control point and the end of the way from a node to a neighbor, `aside` of the middle. */
  curve(node, other, aside = 0, more = 0) {
    const low = Math.min(node, other), edge = this.edgeOf.get(low * this.network.nodes + Math.max(node, other));
    const bend = ((edge === undefined ? 0 : this.edges.bend[edge]) + more) * (node === low ? 1 : -1);
    const [x1, y1, x2, y2] = [this.x(node), this.y(node), this.x(other), this.y(other)];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ox, oy] = [(aside * (y1 - y2)) / length, (aside * (x2 - x1)) / length];
    const [cx, cy] = [(x1 + x2) / 2 + 2 * bend * (y1 - y2), (y1 + y2) / 2 + 2 * bend * (x2 - x1)];
    return [x1 + ox, y1 + oy, cx + ox, cy + oy, x2 + ox, y2 + oy];
  }

  /** Return the point at a share of a curve. */
  point([x1, y1, cx, cy, x2, y2], share) {
    const rest = 1 - share, [a, b, c] = [rest * rest, 2 * rest * share, share * share];
    return [a * x1 + b * cx + c * x2, a * y1 + b * cy + c * y2];
  }

  edgePath(kind) {
    const path = new Path2D();
    for (let edge = 0; edge < this.edges.one.length; edge++) {
      if (this.edges.kind[edge] !== kind) continue;
      const [x1, y1, cx, cy, x2, y2] = this.curve(this.edges.one[edge], this.edges.other[edge]);
      path.moveTo(x1, y1);
      if (this.edges.bend[edge]) path.quadraticCurveTo(cx, cy, x2, y2);
      else path.lineTo(x2, y2);
    }
    return path;
  }

  // Where the picture is.

  /** See that the canvas has as many pixels as it has on the screen. */
  resize() {
    const ratio = window.devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    [this.width, this.height, this.ratio] = [box.width, box.height, ratio];
    for (const canvas of [this.canvas, this.kept]) {
      canvas.width = Math.max(1, Math.round(box.width * ratio));
      canvas.height = Math.max(1, Math.round(box.height * ratio));
    }
    if (this.isWhole) this.fit();
    this.change();
  }

  /** Show the whole network. */
  fit() {
    let [left, top, right, bottom] = [1e9, 1e9, -1e9, -1e9];
    const add = (x1, y1, x2, y2) => {
      [left, top, right, bottom] = [Math.min(left, x1), Math.min(top, y1), Math.max(right, x2), Math.max(bottom, y2)];
    };
    for (let node = 0; node < this.network.nodes; node++) add(this.x(node) - 20, this.y(node) - 20, this.x(node) + 20, this.y(node) + 26);
    for (const {box} of this.data.clusters) add(...box);
    this.scale = Math.min(3, (this.width - 30) / (right - left), (this.height - 30) / (bottom - top));
    this.left = this.width / 2 - (this.scale * (left + right)) / 2;
    this.top = this.height / 2 - (this.scale * (top + bottom)) / 2;
    this.least = this.scale / 2;
    this.isWhole = true;
    this.change();
  }

  /** Make the picture larger by a factor, about a point on the screen. */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(12, Math.max(this.least, this.scale * factor)), by = scale / this.scale;
    this.left = x - (x - this.left) * by;
    this.top = y - (y - this.top) * by;
    this.scale = scale;
    this.shift();
  }

  move(x, y) {
    this.left += x;
    this.top += y;
    this.shift();
  }

  /** See that a node is on the screen. */
  reveal(node) {
    const x = this.x(node) * this.scale + this.left, y = this.y(node) * this.scale + this.top;
    const edge = 40;
    this.move(Math.max(0, edge - x) + Math.min(0, this.width - edge - x), Math.max(0, edge - y) + Math.min(0, this.height - edge - y));
  }

  /** Return the node at a point of the screen, -1 if there is none. */
  nodeAt(x, y) {
    const [wx, wy] = [(x - this.left) / this.scale, (y - this.top) / this.scale];
    const reach = Math.max(this.data.radius + 4, 11 / this.scale);
    let best = -1, least = reach * reach;
    for (let node = 0; node < this.network.nodes; node++) {
      const away = (this.x(node) - wx) ** 2 + (this.y(node) - wy) ** 2;
      if (away < least) [best, least] = [node, away];
    }
    return best;
  }

  /**
   * Return the channels at a point of the screen, by node and port: near an end of an edge the one that leaves that node,
   * between them both; none where there is no edge.
   */
  channelsAt(x, y) {
    const [wx, wy] = [(x - this.left) / this.scale, (y - this.top) / this.scale];
    let least = (Math.max(SIDE, 7 / this.scale)) ** 2, found = [];
    for (let edge = 0; edge < this.edges.one.length; edge++) {
      const ends = [this.edges.one[edge], this.edges.other[edge]], curve = this.curve(...ends);
      for (let part = 1; part < PARTS; part++) {
        const [px, py] = this.point(curve, part / PARTS), away = (px - wx) ** 2 + (py - wy) ** 2;
        if (away >= least) continue;
        least = away;
        const near = 3 * part < PARTS ? [ends] : 3 * part > 2 * PARTS ? [[ends[1], ends[0]]] : [ends, [ends[1], ends[0]]];
        found = near.map(([node, other]) => node * this.network.ports + this.network.portTo(node, other));
      }
    }
    return found;
  }

  /** Return the nearest node in a direction from another, the node itself if there is none. */
  beside(node, dx, dy) {
    let best = node, least = Infinity;
    for (let other = 0; other < this.network.nodes; other++) {
      const x = this.x(other) - this.x(node), y = this.y(other) - this.y(node);
      const along = x * dx + y * dy, across = Math.abs(x * dy - y * dx);
      if (along <= 0.5 || across > 1.5 * along) continue;
      const cost = along + 2 * across;
      if (cost < least) [best, least] = [other, cost];
    }
    return best;
  }

  // Drawing.

  /** Draw all anew at the next frame. */
  change() {
    this.isStale = true;
    this.ask();
  }

  /** Show what is kept from where it is seen now; where drawing takes long, it is drawn anew when the picture rests. */
  shift() {
    this.isWhole = false;
    if (this.drawn.took < SLOW) return this.change();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.change(), REST);
    this.ask();
  }

  /** Draw what moves at the next frame. */
  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.asked = false;
    if (this.isStale) this.drawKept();
    const context = this.context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const {scale, left, top} = this.drawn, by = this.scale / scale;
    context.setTransform(by, 0, 0, by, (this.left - left * by) * this.ratio, (this.top - top * by) * this.ratio);
    context.drawImage(this.kept, 0, 0);
    this.into(context);
    if (this.moving) this.moving(context, 1 / this.scale);
    if (this.hover >= 0) this.ring(context, this.hover, "#5b6770", 1.5);
    if (this.showsFocus && document.activeElement === this.canvas) this.frame(context, this.focus);
    this.frames++;
  }

  into(context) {
    const scale = this.scale * this.ratio;
    context.setTransform(scale, 0, 0, scale, this.left * this.ratio, this.top * this.ratio);
  }

  drawKept() {
    const context = this.kept.getContext("2d"), pixel = 1 / this.scale, begun = performance.now();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.kept.width, this.kept.height);
    this.into(context);
    this.drawClusters(context, pixel);
    this.drawEdges(context, pixel);
    for (const channel of this.scene.channels || []) this.drawChannel(context, channel, pixel);
    for (const trace of this.scene.traces || []) this.drawTrace(context, trace, pixel);
    this.drawNodes(context, pixel);
    this.drawLabels(context, pixel);
    this.isStale = false;
    this.drawn = {scale: this.scale, left: this.left, top: this.top, took: performance.now() - begun};
  }

  drawClusters(context, pixel) {
    context.textAlign = "left";
    context.textBaseline = "top";
    for (const {depth, label, box} of this.data.clusters) {
      const [left, top, right, bottom] = box;
      context.beginPath();
      context.roundRect(left, top, right - left, bottom - top, 12);
      context.fillStyle = depth % 2 ? "#f5f8fb" : "#ffffff";
      context.fill();
      context.strokeStyle = "#cbd5dd";
      context.lineWidth = pixel;
      context.stroke();
      if ((right - left) / pixel < FRAME_ROOM) continue;
      context.font = `600 ${11 * pixel}px system-ui, sans-serif`;
      context.fillStyle = "#7d8992";
      context.fillText(label, left + 5 * pixel, top + 3 * pixel);
    }
  }

  drawEdges(context, pixel) {
    this.paths.forEach((path, kind) => {
      context.globalAlpha = (this.scene.faint ? 0.35 : 1) * (kind && this.data.radius < 4 * pixel ? 0.5 : 1);
      const {color} = this.data.edgeKinds[kind];
      context.strokeStyle = color;
      context.lineWidth = Math.max(0.8, 0.7 * pixel);
      context.stroke(path);
    });
    context.globalAlpha = 1;
  }

  /** Draw a channel {node, next, color, width} as a line beside the middle of its edge. */
  drawChannel(context, {node, next, color, width}, pixel) {
    const [x1, y1, cx, cy, x2, y2] = this.curve(node, next, SIDE);
    context.beginPath();
    context.moveTo(x1, y1);
    context.quadraticCurveTo(cx, cy, x2, y2);
    context.strokeStyle = color;
    context.lineWidth = Math.max(width, 0.4 * width * pixel);
    context.stroke();
  }

  /** Draw hops {hops: [{node, next, color?, dash?}], color, dash, bend} with arrowheads. */
  drawTrace(context, trace, pixel) {
    const wide = Math.max(2.6, 2 * pixel);
    for (const hop of trace.hops) {
      const curve = this.curve(hop.node, hop.next, trace.aside || 0, trace.bend || 0), [x1, y1, cx, cy, x2, y2] = curve;
      context.beginPath();
      context.moveTo(x1, y1);
      context.quadraticCurveTo(cx, cy, x2, y2);
      context.strokeStyle = context.fillStyle = hop.color || trace.color;
      context.lineWidth = wide;
      context.setLineDash((hop.dash || trace.dash || []).map((part) => part * Math.max(1, pixel / 1.5)));
      context.stroke();
      context.setLineDash([]);
      this.drawHead(context, curve, Math.max(9, 6 * pixel), Math.max(this.data.radius, 2.4 * pixel));
    }
  }

  /** Draw an arrowhead at the end of a curve, before a node. */
  drawHead(context, curve, size, radius) {
    const [x2, y2] = curve.slice(4), length = Math.hypot(x2 - curve[0], y2 - curve[1]) || 1;
    const tip = this.point(curve, Math.max(0, 1 - (radius + 1) / length));
    const back = this.point(curve, Math.max(0, 1 - (radius + 1 + size) / length));
    const [dx, dy] = [tip[0] - back[0], tip[1] - back[1]], by = 0.42;
    context.beginPath();
    context.moveTo(...tip);
    context.lineTo(back[0] - dy * by, back[1] + dx * by);
    context.lineTo(back[0] + dy * by, back[1] - dx * by);
    context.fill();
  }

  drawNodes(context, pixel) {
    const {fills, rings, dead} = this.scene, radius = Math.max(this.data.radius, 2.4 * pixel);
    const groups = new Map();
    for (let node = 0; node < this.network.nodes; node++) {
      const fill = dead && dead.has(node) ? DEAD : (fills && fills.get(node)) || CLASS_FILLS[this.data.classes[node]];
      if (!groups.has(fill)) groups.set(fill, new Path2D());
      groups.get(fill).moveTo(this.x(node) + radius, this.y(node));
      groups.get(fill).arc(this.x(node), this.y(node), radius, 0, 7);
    }
    context.lineWidth = Math.min(1.2, 1.2 * pixel);
    context.strokeStyle = INK;
    for (const [fill, path] of groups) {
      context.fillStyle = fill;
      context.fill(path);
      context.stroke(path);
    }
    for (const node of dead || []) this.cross(context, this.x(node), this.y(node), radius);
    for (const channel of dead ? dead.channels : []) {
      const node = Math.floor(channel / this.network.ports), other = this.network.neighbors[channel];
      this.cross(context, ...this.point(this.curve(node, other, SIDE), 0.4), Math.max(6, 5 * pixel), CUT);
    }
    for (const [node, {color, dash}] of rings || []) this.ring(context, node, color, 2.5, dash);
  }

  cross(context, x, y, radius, color = "#111") {
    const by = radius * 0.95;
    context.beginPath();
    for (const sign of [1, -1]) {
      context.moveTo(x - by, y - sign * by);
      context.lineTo(x + by, y + sign * by);
    }
    context.strokeStyle = color;
    context.lineWidth = radius * 0.3;
    context.stroke();
  }

  ring(context, node, color, width, dash = []) {
    const pixel = 1 / this.scale, radius = Math.max(this.data.radius, 2.4 * pixel);
    context.beginPath();
    context.arc(this.x(node), this.y(node), radius + (1.5 + width) * Math.max(0.7, pixel), 0, 7);
    context.strokeStyle = color;
    context.lineWidth = width * pixel;
    context.setLineDash(dash.map((part) => part * pixel));
    context.stroke();
    context.setLineDash([]);
  }

  /** Draw a frame around the node that keys have gone to. */
  frame(context, node) {
    const pixel = 1 / this.scale, by = Math.max(this.data.radius, 2.4 * pixel) + 7 * pixel;
    context.strokeStyle = "#0072b2";
    context.lineWidth = 2.5 * pixel;
    context.strokeRect(this.x(node) - by, this.y(node) - by, 2 * by, 2 * by);
  }

  /** Draw what nodes bear: all where there is room, else those of `scene.named`. */
  drawLabels(context, pixel) {
    const {notes, named, dead} = this.scene, hasRoom = this.room / pixel > Math.max(LABEL_ROOM, 5.4 * this.labels[0].length);
    const radius = Math.max(this.data.radius, 2.4 * pixel);
    context.textAlign = "center";
    for (let node = 0; node < this.network.nodes; node++) {
      const [x, y] = [this.x(node), this.y(node)];
      if (notes && notes.has(node) && !(dead && dead.has(node)) && radius > 5 * pixel) {
        context.textBaseline = "middle";
        context.font = `600 ${radius}px system-ui, sans-serif`;
        context.fillStyle = notes.get(node).color || INK;
        context.fillText(notes.get(node).text, x, y + radius * 0.05);
      }
      if (!hasRoom && !(named && named.has(node))) continue;
      const size = (named && named.has(node) ? 12 : 10) * pixel;
      context.textBaseline = "top";
      context.font = `${named && named.has(node) ? 600 : 400} ${size}px ui-monospace, "DejaVu Sans Mono", monospace`;
      const half = this.labels[node].length * 0.31 * size, [left, right] = [-this.left * pixel, (this.width - this.left) * pixel];
      const middle = named && named.has(node) ? Math.min(Math.max(x, left + half), right - half) : x;
      context.lineWidth = 3 * pixel;
      context.strokeStyle = "#ffffffd9";
      context.strokeText(this.labels[node], middle, y + radius + 3 * pixel);
      context.fillStyle = INK;
      context.fillText(this.labels[node], middle, y + radius + 3 * pixel);
    }
  }
}
