"use strict";
// The network and what routing does in it: routes by the rule of RULES, ways around what is dead, disjoint paths.
// Nothing here knows of the page.

const FAR = 1 << 20; // hops where there is no route

/** Return the numbers that `packed` of data.py wrote. */
function unpack(packed) {
  const kinds = {u1: Uint8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array, f4: Float32Array};
  const text = decodeBase64(packed.base64);
  return new kinds[packed.kind](text.buffer, 0, text.length / kinds[packed.kind].BYTES_PER_ELEMENT);
}

/** Return the bytes of a text in base64. */
function decodeBase64(text) {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const value = new Uint8Array(128);
  for (let place = 0; place < 64; place++) value[digits.charCodeAt(place)] = place;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  for (let place = 0, at = 0; place < text.length; place += 4) {
    let word = 0;
    for (let part = 0; part < 4; part++) word = (word << 6) | value[text.charCodeAt(place + part) & 127];
    for (let part = 16; part >= 0 && at < bytes.length; part -= 8) bytes[at++] = (word >> part) & 255;
  }
  return bytes;
}

/** What is dead: the nodes of the set, and `channels`, each node * ports + port by which it leaves that node. */
class Dead extends Set {
  constructor(nodes = [], channels = []) {
    super(nodes);
    this.channels = new Set(channels);
  }
}

class Network {
  /** Take the data of a page and its rules. */
  constructor(data, rules) {
    this.data = data;
    this.nodes = data.nodes;
    this.ports = data.ports.length;
    this.neighbors = unpack(data.neighbors);
    this.address = unpack(data.address);
    this.rules = rules;
    this.hasRoutes = rules.route !== null;
    this.rows = new Array(this.nodes).fill(null);
  }

  neighbor(node, port) {
    return this.neighbors[node * this.ports + port];
  }

  /** Return the port from a node to a neighbor, the first if there are several; -1 if it is none. */
  portTo(node, other) {
    for (let port = 0; port < this.ports; port++) if (this.neighbor(node, port) === other) return port;
    return -1;
  }

  /** Tell whether a hop {node, port} to a node is broken: the channel or that node is dead. */
  isBroken({node, port, next}, dead) {
    return dead.has(next) || dead.channels.has(node * this.ports + port);
  }

  /** Return what a node does with a packet: the port, which is the number of ports at its end, and the virtual channel. */
  decide(node, dst) {
    const found = this.rules.route(this.address[node], this.address[dst]);
    return {port: found & ((1 << this.rules.vcShift) - 1), vc: found >> this.rules.vcShift};
  }

  /** Return the hops of a route, {node, port, vc, next} each. */
  route(src, dst) {
    const hops = [];
    for (let node = src; node !== dst; ) {
      const {port, vc} = this.decide(node, dst);
      const next = this.neighbor(node, port);
      hops.push({node, port, vc, next});
      node = next;
    }
    return hops;
  }

  /** Return the next port of every node towards a destination; 255 at it. */
  portsTo(dst) {
    if (this.rows[dst] === null) {
      const row = new Uint8Array(this.nodes).fill(255);
      for (let node = 0; node < this.nodes; node++) if (node !== dst) row[node] = this.decide(node, dst).port;
      this.rows[dst] = row;
    }
    return this.rows[dst];
  }

  /** Return the hops of all routes to a destination on which nothing is dead, by source; FAR for those that are broken. */
  hopsTo(dst, dead) {
    const hops = new Int32Array(this.nodes).fill(-1);
    const row = this.portsTo(dst);
    for (const node of dead) hops[node] = FAR;
    for (const channel of dead.channels) {
      const node = Math.floor(channel / this.ports);
      if (row[node] === channel % this.ports) hops[node] = FAR;
    }
    if (dead.has(dst)) return hops.fill(FAR);
    hops[dst] = 0;
    for (let start = 0; start < this.nodes; start++) {
      const stack = [];
      let node = start;
      while (hops[node] < 0) {
        stack.push(node);
        node = this.neighbor(node, row[node]);
      }
      let count = hops[node];
      while (stack.length) {
        count = Math.min(count + 1, FAR);
        hops[stack.pop()] = count;
      }
    }
    return hops;
  }

  /** Return the hops of all routes, `legs[dst][src]`. */
  legs(dead) {
    return Array.from({length: this.nodes}, (_, dst) => this.hopsTo(dst, dead));
  }

  /** Tell which nodes can be reached from one over nodes and channels that are not dead. */
  reached(src, dead) {
    const seen = new Uint8Array(this.nodes);
    if (dead.has(src)) return seen;
    const queue = [src];
    seen[src] = 1;
    for (let at = 0; at < queue.length; at++) {
      for (let port = 0; port < this.ports; port++) {
        const other = this.neighbor(queue[at], port);
        if (other >= 0 && !seen[other] && !this.isBroken({node: queue[at], port, next: other}, dead)) {
          seen[other] = 1;
          queue.push(other);
        }
      }
    }
    return seen;
  }

  /**
   * Return the way by at most `most` waypoints: {reach, waypoints, hops}, as `hdnhw waypoints` finds it: the fewest, of
   * these the fewest hops, of these the lowest numbers. Each leg but the last must be healthy in both directions.
   */
  waypoints(src, dst, dead, most) {
    if (dead.has(src) || dead.has(dst)) return {reach: "dead", waypoints: null, hops: null};
    const any = this.legs(dead);
    if (any[dst][src] < FAR) return {reach: "plain", waypoints: [], hops: any[dst][src]};
    const leg = (one, other) => (any[one][other] < FAR ? any[other][one] : FAR);
    let before = Int32Array.from({length: this.nodes}, (_, node) => leg(src, node));
    let chains = Array.from({length: this.nodes}, (_, node) => [node]);
    for (let count = 1; count <= most; count++) {
      const [middle, total] = this.least((node) => before[node] + any[dst][node]);
      if (total < FAR) return {reach: "waypoints", waypoints: chains[middle], hops: total};
      if (count === most) break;
      const further = Array.from({length: this.nodes}, (_, to) => this.least((node) => before[node] + leg(node, to)));
      chains = further.map(([node], to) => [...chains[node], to]);
      before = Int32Array.from(further, ([, hops]) => Math.min(hops, FAR));
    }
    const reach = this.reached(src, dead)[dst] ? "needs more waypoints" : "not connected";
    return {reach, waypoints: null, hops: null};
  }

  /** Return the first node of the least value, and the value. */
  least(value) {
    let best = 0, least = value(0);
    for (let node = 1; node < this.nodes; node++) {
      const found = value(node);
      if (found < least) [best, least] = [node, found];
    }
    return [best, least];
  }

  /**
   * Return as many paths as there can be that share no node but their ends, together as short as can be: a flow of least
   * cost. Every node is two states, reached from outside (2 * node) and left (2 * node + 1).
   */
  disjoint(src, dst) {
    const next = new Int32Array(this.nodes).fill(-1), previous = new Int32Array(this.nodes).fill(-1);
    const firsts = new Set();
    let end = false;
    while (!end) {
      const parent = this.cheapest(src, dst, firsts, next, previous);
      end = parent === null;
      if (!end) turn(parent, src, dst, firsts, next, previous);
    }
    return [...firsts].map((first) => {
      const path = [src];
      for (let node = first; node !== dst; node = next[node]) path.push(node);
      return [...path, dst];
    });
  }

  /** Return the parents of states on the cheapest further path, null if there is none: Bellman and Ford's, with a queue. */
  cheapest(src, dst, firsts, next, previous) {
    const cost = new Int32Array(2 * this.nodes).fill(FAR), parent = new Int32Array(2 * this.nodes).fill(-1);
    const queue = [2 * src + 1], waits = new Uint8Array(2 * this.nodes);
    cost[2 * src + 1] = 0;
    for (let at = 0; at < queue.length; at++) {
      const state = queue[at], node = state >> 1;
      waits[state] = 0;
      const look = (to, price) => {
        if (cost[state] + price >= cost[to]) return;
        cost[to] = cost[state] + price;
        parent[to] = state;
        if (!waits[to]) queue.push(to);
        waits[to] = 1;
      };
      if (node === dst) continue;
      const used = node !== src && previous[node] >= 0;
      if (state & 1) {
        for (let port = 0; port < this.ports; port++) {
          const to = this.neighbor(node, port);
          const taken = node === src ? firsts.has(to) : next[node] === to;
          if (to >= 0 && to !== src && !taken) look(2 * to, 1);
        }
        if (used) look(2 * node, 0);
      } else if (!used) {
        look(2 * node + 1, 0);
      } else if (previous[node] !== src) {
        look(2 * previous[node] + 1, -1);
      }
    }
    return cost[2 * dst] < FAR ? parent : null;
  }

  /** Return the routes of all ordered pairs that pass each channel, by node and port, all destinations as likely. */
  channelLoad() {
    const load = new Int32Array(this.nodes * this.ports), none = new Dead();
    for (let dst = 0; dst < this.nodes; dst++) {
      const row = this.portsTo(dst), hops = this.hopsTo(dst, none);
      const order = Array.from({length: this.nodes}, (_, node) => node).sort((one, other) => hops[other] - hops[one]);
      const flow = new Int32Array(this.nodes).fill(1);
      for (const node of order) {
        if (node === dst) continue;
        load[node * this.ports + row[node]] += flow[node];
        flow[this.neighbor(node, row[node])] += flow[node];
      }
    }
    return load;
  }
}

/** Take back the channels that a further path runs against, then add those that it runs along. */
function turn(parent, src, dst, firsts, next, previous) {
  for (const adding of [false, true]) {
    for (let state = 2 * dst; state !== 2 * src + 1; state = parent[state]) {
      const before = parent[state], node = before >> 1, other = state >> 1;
      if (node === other) continue;
      if (state & 1 && !adding) {
        if (next[other] === node) next[other] = -1;
        if (previous[node] === other) previous[node] = -1;
      } else if (!(state & 1) && adding) {
        if (node === src) firsts.add(other);
        else next[node] = other;
        if (other !== dst) previous[other] = node;
      }
    }
  }
}
