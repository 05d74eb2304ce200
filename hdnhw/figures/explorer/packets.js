"use strict";
// Packets of a run that was recorded: where each of them is in a cycle.

class Run {
  /** Take the record of a page, and the network, whose rule says which way the packets went. */
  constructor(network, record) {
    this.network = network;
    this.record = record;
    for (const name of ["source", "destination", "created", "head", "ready", "tail", "first", "left"]) {
      this[name] = unpack(record[name]);
    }
    this.count = record.count;
    this.ways = new Array(this.count).fill(null);
    const ended = this.tail.reduce((last, cycle) => Math.max(last, cycle), 0);
    this.end = Math.min(record.cycles, ended || record.cycles);
  }

  /** Return the cycle in which a slot is allocated. */
  cycleOf(slot) {
    return slot * this.record.length + this.record.sample;
  }

  /** Return the hops of a packet. */
  way(packet) {
    if (this.ways[packet] === null) this.ways[packet] = this.network.route(this.source[packet], this.destination[packet]);
    return this.ways[packet];
  }

  /**
   * Return where packets are at the beginning of a cycle: {waiting, queued, crossing, leaving, gone}.
   *
   * `waiting` counts by node those at their source; `queued` is a list of {packet, node, port, vc}, the input virtual
   * channel in which each is, with port -1 for injection; `crossing` one of {packet, node, port, vc, next, share}, the
   * share of the hop that is over; `leaving` one of {packet, node, share}; `gone` is how many the terminals have taken.
   */
  at(cycle) {
    const found = {waiting: new Uint16Array(this.network.nodes), queued: [], crossing: [], leaving: [], gone: 0};
    for (let packet = 0; packet < this.count; packet++) {
      if (this.created[packet] > cycle) break;
      if (this.tail[packet] >= 0 && this.tail[packet] < cycle) found.gone++;
      else this.place(packet, cycle, found);
    }
    return found;
  }

  /** Add a packet that is under way. */
  place(packet, cycle, found) {
    const begin = this.first[packet], count = this.first[packet + 1] - begin;
    if (this.ready[packet] < 0 || cycle < this.cycleOf(this.ready[packet])) {
      found.waiting[this.source[packet]]++;
      return;
    }
    let hop = 0; // routers that it has left
    while (hop < count && this.cycleOf(this.left[begin + hop]) <= cycle) hop++;
    const way = this.way(packet), {length, hopSlots} = this.record;
    const slots = hop && hop <= way.length ? hopSlots[way[hop - 1].port] : 0;
    const last = hop ? this.cycleOf(this.left[begin + hop - 1]) : 0;
    if (hop > way.length) {
      const share = Math.min(1, (cycle - last) / Math.max(1, this.tail[packet] - last));
      found.leaving.push({packet, node: this.destination[packet], share});
    } else if (hop && cycle < last + slots * length) {
      found.crossing.push({packet, ...way[hop - 1], share: (cycle - last) / (slots * length)});
    } else {
      found.queued.push({packet, ...this.queueAt(way, hop), node: hop < way.length ? way[hop].node : this.destination[packet]});
    }
  }

  /** Return the input by which a packet comes into its hop-th router, and its virtual channel there. */
  queueAt(way, hop) {
    if (hop === 0) return {port: -1, vc: 0};
    const {port, vc} = way[hop - 1];
    return {port: this.network.data.opposite[port], vc};
  }

  /** Return how full the queues are: key `node * (ports + 1) + port + 1` -> {node, port, held, coming}, lists by vc. */
  queues(found) {
    const queues = new Map();
    const add = (node, port, vc, what) => {
      const key = node * (this.network.ports + 1) + port + 1, vcs = port < 0 ? 1 : this.record.inputVcs[port];
      if (!queues.has(key)) queues.set(key, {node, port, held: new Array(vcs).fill(0), coming: new Array(vcs).fill(0)});
      queues.get(key)[what][vc]++;
    };
    for (const {node, port, vc} of found.queued) add(node, port, vc, "held");
    for (const {next, port, vc} of found.crossing) add(next, this.network.data.opposite[port], vc, "coming");
    return queues;
  }

  /** Return the packets that went over each channel, by node and port, up to a cycle. */
  sent(cycle) {
    const sent = new Int32Array(this.network.nodes * this.network.ports);
    for (let packet = 0; packet < this.count; packet++) {
      const way = this.way(packet), begin = this.first[packet];
      const count = Math.min(way.length, this.first[packet + 1] - begin);
      for (let hop = 0; hop < count && this.cycleOf(this.left[begin + hop]) <= cycle; hop++) {
        sent[way[hop].node * this.network.ports + way[hop].port]++;
      }
    }
    return sent;
  }
}
