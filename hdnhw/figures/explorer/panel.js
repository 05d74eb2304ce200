"use strict";
// The panel beside the picture: what is chosen, and the scene that follows from it.

const VC_COLORS = ["#0072b2", "#d55e00", "#882255", "#5fb7e5"], VC_DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const VC_MARKS = ["", " dashed", " dotted", " double"], VC_SHAPES = ["plain", "square", "triangle", "diamond"];
const PATH_COLORS = ["#00614a", "#7a4fb5", "#ddaa33", "#661100", "#44aa99", "#8c6414"];
const AROUND = "#111111", SENT = "#d55e00", HAS = "#56b4e9", FULL = "#0b3d5c";
const TABS = ["routes", "collectives", "packets", "load"];
const RAMP = ["#e8e3c8", "#f2c46d", "#e8804b", "#b23a62", "#5e1f69", "#1d0b33"]; // from light to dark for all eyes

const byId = (name) => document.getElementById(name);

/** Return an element with attributes and children. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children);
  return element;
}

/** Return a color of the ramp, for 0 to 1. */
function heat(share) {
  const at = Math.min(RAMP.length - 1.001, Math.max(0, share) * (RAMP.length - 1)), low = Math.floor(at);
  const part = (text, place) => parseInt(text.slice(place, place + 2), 16);
  const mixed = [1, 3, 5].map((place) => Math.round(part(RAMP[low], place) + (at - low) * (part(RAMP[low + 1], place) - part(RAMP[low], place))));
  return `rgb(${mixed.join(",")})`;
}

const plural = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

class Panel {
  constructor(network, view, run) {
    Object.assign(this, {network, view, run, data: network.data});
    Object.assign(this, {src: -1, dst: -1, dead: new Dead(), tab: "routes", step: 0, cycle: 0, playing: false});
    byId("summary").textContent = `${network.nodes} nodes, ${plural(this.view.edges.one.length, "edge")}`;
    this.fillChoices();
    this.listen();
    this.show("routes");
  }

  name(node) {
    return this.view.labels[node];
  }

  fillChoices() {
    const widest = Math.max(8, ...this.data.addresses.map((address) => address.length + 2));
    for (const end of ["src", "dst"]) byId(end).style.width = `${widest}ch`;
    const {data} = this, labels = [["address", data.addresses], ["number", data.addresses.map((_, node) => String(node))]];
    if (data.paperAddresses) labels.splice(1, 0, ["paper's digits", data.paperAddresses]);
    this.labelings = new Map(labels);
    for (const name of this.labelings.keys()) byId("labels").append(make("option", {}, name));
    for (const {op} of data.schedules) byId("op").append(make("option", {value: op}, op === "exchange" ? "total exchange" : op === "allgather" ? "all-gather" : op));
    byId("proof").textContent = data.routing ? `Deadlock-free: ${data.routing.proof}.` : "";
    if (data.packets) {
      const {load, length} = data.packets;
      byId("run-note").textContent =
        `${load.pattern} traffic, ${load.rate} flits per node per cycle, packets of ${length} flits, created in cycles 0 to ${load.cycles - 1}, seed ${load.seed}. ` +
        `A slot is ${plural(length, "cycle")}; a dot moves while the flits of its packet cross a channel.`;
      byId("cycle").max = this.run.end;
    }
    for (const name of ["op", "step", "step-play", "step-back", "step-on"]) byId(name).disabled = !data.schedules.length;
    for (const name of ["cycle", "run-play", "run-back", "run-on", "speed"]) byId(name).disabled = !data.packets;
    for (const name of ["show-route", "show-paths", "most"]) byId(name).disabled = !this.network.hasRoutes && name !== "show-paths";
  }

  listen() {
    const on = (name, event, act) => byId(name).addEventListener(event, act);
    on("labels", "change", () => {
      this.view.labels = this.labelings.get(byId("labels").value);
      this.refresh();
    });
    for (const tab of TABS) on(`tab-${tab}`, "click", () => this.show(tab));
    byId("src").addEventListener("change", () => this.take("src"));
    byId("dst").addEventListener("change", () => this.take("dst"));
    on("cut", "change", () => this.takeCut());
    on("swap", "click", () => this.choose(this.dst, this.src));
    for (const name of ["show-route", "show-paths", "most"]) on(name, "change", () => this.refresh());
    on("fit", "click", () => this.view.fit());
    on("help", "click", () => this.help());
    on("op", "change", () => this.goTo(0));
    on("step", "input", () => this.goTo(Number(byId("step").value)));
    on("step-back", "click", () => this.goTo(this.step - 1));
    on("step-on", "click", () => this.goTo(this.step + 1));
    on("cycle", "input", () => this.goTo(Number(byId("cycle").value)));
    on("run-back", "click", () => this.goTo(Math.ceil(this.cycle) - 1));
    on("run-on", "click", () => this.goTo(Math.floor(this.cycle) + 1));
    for (const name of ["step-play", "run-play"]) on(name, "click", () => this.play());
    on("load-of", "change", () => this.refresh());
  }

  help() {
    byId("keys").hidden = !byId("keys").hidden;
    byId("help").setAttribute("aria-expanded", String(!byId("keys").hidden));
  }

  show(tab) {
    this.tab = tab;
    this.playing = false;
    for (const name of TABS) {
      byId(name).hidden = name !== tab;
      byId(`tab-${name}`).setAttribute("aria-selected", String(name === tab));
      byId(`tab-${name}`).tabIndex = name === tab ? 0 : -1;
    }
    this.refresh();
  }

  /** Return the node that a text names by its address, its paper's digits or its number; -1 if none. */
  parse(text) {
    const wanted = text.trim();
    for (const names of [this.data.addresses, this.data.paperAddresses || []]) {
      const node = names.indexOf(wanted);
      if (node >= 0) return node;
    }
    return /^\d+$/.test(wanted) && Number(wanted) < this.network.nodes ? Number(wanted) : -1;
  }

  take(which) {
    const text = byId(which).value, node = this.parse(text);
    byId("wrong").hidden = node >= 0 || !text.trim();
    byId("wrong").textContent = `no node is called ${text}`;
    if (node >= 0 || !text.trim()) {
      this[which] = node;
      this.refresh();
    }
  }

  choose(src, dst) {
    [this.src, this.dst] = [src, dst];
    byId("wrong").hidden = true;
    this.refresh();
  }

  /** Do what a click on a node does. */
  click(node, kills) {
    if (kills && this.tab === "routes") this.kill(node);
    else if (this.tab === "routes" && (this.src < 0 || this.dst >= 0)) this.choose(node, -1);
    else if (this.tab === "routes") this.choose(this.src, node === this.src ? -1 : node);
    else this.choose(node, this.dst === node ? -1 : this.dst);
    this.say(`${this.name(node)}${this.dead.has(node) ? ", dead" : ""}`);
  }

  kill(node) {
    if (!this.dead.delete(node)) this.dead.add(node);
    this.refresh();
  }

  /** Kill channels, or bring them back if all of them are dead. */
  cut(channels) {
    const {channels: dead} = this.dead, areDead = channels.every((channel) => dead.has(channel));
    for (const channel of channels) {
      if (areDead) dead.delete(channel);
      else dead.add(channel);
    }
    this.refresh();
    this.say(channels.map((channel) => `${this.channelName(channel)}${areDead ? "" : ", dead"}`).join("; "));
  }

  channelName(channel) {
    const {ports} = this.network;
    return `${this.name(Math.floor(channel / ports))}:${this.data.ports[channel % ports]}`;
  }

  /** Take dead channels that are named as `hdnhw waypoints --dead-channels` takes them: NODE:PORT, with spaces between. */
  takeCut() {
    const words = byId("cut").value.split(/\s+/).filter((word) => word), {network} = this;
    const channels = words.map((word) => {
      const at = word.lastIndexOf(":"), node = this.parse(word.slice(0, at)), port = this.data.ports.indexOf(word.slice(at + 1));
      return node >= 0 && port >= 0 && network.neighbor(node, port) >= 0 ? node * network.ports + port : -1;
    });
    const wrong = channels.indexOf(-1);
    byId("wrong").hidden = wrong < 0;
    byId("wrong").textContent = `no channel is called ${words[wrong]}`;
    if (wrong >= 0) return;
    this.dead.channels = new Set(channels);
    this.refresh();
  }

  say(text) {
    byId("said").textContent = text;
  }

  // Time.

  get last() {
    return this.tab === "packets" ? (this.run ? this.run.end : 0) : this.schedule ? this.schedule.steps.length : 0;
  }

  get schedule() {
    return this.data.schedules.find(({op}) => op === byId("op").value);
  }

  goTo(place) {
    const at = Math.min(this.last, Math.max(0, place));
    if (this.tab === "packets") this.cycle = at;
    else this.step = at;
    this.refresh();
  }

  play() {
    if (!["packets", "collectives"].includes(this.tab)) return;
    this.playing = !this.playing;
    const place = this.tab === "packets" ? this.cycle : this.step;
    if (this.playing && place >= this.last) this.goTo(0);
    this.before = performance.now();
    this.refresh();
    if (this.playing) requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    if (!this.playing) return;
    const seconds = Math.max(0, now - this.before) / 1000;
    if (this.tab === "packets") {
      this.before = now;
      this.cycle = Math.min(this.last, this.cycle + seconds * Number(byId("speed").value));
      this.playing = this.cycle < this.last;
      this.showRun();
    } else if (seconds >= 0.8) {
      this.before = now;
      this.playing = this.step + 1 < this.last;
      this.goTo(this.step + 1);
    }
    if (this.playing) requestAnimationFrame((next) => this.tick(next));
    else this.refresh();
  }

  // What is shown.

  refresh() {
    if (this.tab !== "routes" || document.activeElement !== byId("src")) byId("src").value = this.src < 0 ? "" : this.name(this.src);
    if (this.tab !== "routes" || document.activeElement !== byId("dst")) byId("dst").value = this.dst < 0 ? "" : this.name(this.dst);
    if (document.activeElement !== byId("cut")) byId("cut").value = [...this.dead.channels].map((one) => this.channelName(one)).join(" ");
    for (const name of ["step-play", "run-play"]) byId(name).textContent = this.playing ? "Stop" : "Play";
    this.view.moving = null;
    this.view.scene = {};
    ({routes: showRoutes, collectives: showStep, packets: showPackets, load: showLoad})[this.tab](this);
    this.legend();
    this.view.change();
  }

  showRun() {
    byId("cycle").value = Math.floor(this.cycle);
    tellRun(this);
    this.view.ask();
  }

  /** Return the marks of source and destination. */
  ends() {
    const rings = new Map();
    if (this.src >= 0) rings.set(this.src, {color: "#0072b2"});
    if (this.dst >= 0) rings.set(this.dst, {color: "#111111"});
    return rings;
  }

  legend() {
    const entries = [], kinds = this.data.edgeKinds;
    if (kinds.length > 1) kinds.forEach(({text, color}) => entries.push([`mark`, color, text]));
    if (this.data.levels) {
      const count = 1 << this.data.levels;
      CLASS_FILLS.slice(0, count).forEach((fill, number) =>
        entries.push(["blot", fill, count === 2 ? `class ${number}` : `class ${number >> 1} of level 2, ${number & 1} of level 1`]));
    }
    for (const entry of this.view.scene.legend || []) entries.push(entry);
    byId("legend").replaceChildren(...entries.map(([kind, color, text]) => {
      const style = kind.startsWith("mark") ? `border-top-color:${color}` : `background:${color}`;
      return make("li", {}, make("span", {class: kind, style}), text);
    }));
  }

  /** Return a table whose columns are {text, kind}. */
  table(columns, rows) {
    const head = columns.map(({text, kind}) => make("th", {scope: "col", class: kind || ""}, text));
    const body = rows.map((row) => make("tr", {}, ...row.map((cell, at) => make("td", {class: columns[at].kind || ""}, cell))));
    return make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
  }
}
