"use strict";
// Collective operations: the messages of one source, moved step by step by the conditions of RULES.

/**
 * Return what the messages of a source do: {sends, holds, words}.
 *
 * `sends[step]` is a list of {node, port, other, messages}; `holds[step]` says for each node how many of the messages it
 * has behind the step, those that stay for good among them, step 0 being what is there at the beginning.
 * Throws where a message does not come to where it belongs.
 */
function follow(network, schedule, source) {
  const conditions = network.rules.conditions[schedule.op];
  const moved = schedule.copies ? spread(network, schedule, conditions, source) : handOn(network, schedule, conditions, source);
  return {...moved, words: schedule.words};
}

/** Copy the one message of a source to all nodes. */
function spread(network, schedule, conditions, source) {
  const has = new Uint16Array(network.nodes), address = network.address;
  has[source] = 1;
  const sends = [], holds = [has.slice()];
  for (const step of schedule.steps) {
    const sent = [];
    for (const [port, number] of step.sends) {
      for (let node = 0; node < network.nodes; node++) {
        if (!conditions[number](address[node], address[source], 0)) continue;
        if (!holds[holds.length - 1][node]) throw new Error(`node ${node} has to send what it does not have`);
        const other = network.neighbor(node, port);
        sent.push({node, port, other, messages: 1});
        has[other] = 1;
      }
    }
    sends.push(sent);
    holds.push(has.slice());
  }
  if (has.includes(0)) throw new Error("a node has got nothing");
  return {sends, holds};
}

/** Hand the messages of a source on, one for each node, its own among them. */
function handOn(network, schedule, conditions, source) {
  const place = new Int32Array(network.nodes).fill(source), address = network.address;
  const sends = [], holds = [counted(place)];
  for (const step of schedule.steps) {
    const sent = new Map();
    for (let dst = 0; dst < network.nodes; dst++) {
      const node = place[dst];
      for (const [port, number] of step.sends) {
        if (!conditions[number](address[node], address[source], address[dst])) continue;
        const other = network.neighbor(node, port), key = node * network.ports + port;
        if (!sent.has(key)) sent.set(key, {node, port, other, messages: 0});
        sent.get(key).messages++;
        place[dst] = other;
        break;
      }
    }
    sends.push([...sent.values()]);
    holds.push(counted(place));
  }
  if (place.some((node, dst) => node !== dst)) throw new Error("a message has not come to where it belongs");
  return {sends, holds};
}

/** Return how many messages are at each node. */
function counted(place) {
  const count = new Uint16Array(place.length);
  for (const node of place) count[node]++;
  return count;
}
