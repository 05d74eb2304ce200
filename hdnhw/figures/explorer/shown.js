"use strict";
// What each of the four tabs shows: the scene on the picture and the text in the panel.

/** Say that something is not on the page, and why. */
function tellMissing(panel, place, what) {
  byId(place).replaceChildren(make("p", {class: "soft"}, `Not on this page: ${panel.data.missing[what] || "it is not known of this network"}.`));
}

// Routes.

function showRoutes(panel) {
  const {network, view, src, dst, dead} = panel, out = byId("route-out"), traces = [];
  const rings = panel.ends(), children = [];
  view.scene = {dead, rings, traces, legend: [], named: new Set([src, dst].filter((node) => node >= 0))};
  const names = [...dead].sort((one, other) => one - other).map((node) => panel.name(node));
  byId("dead-list").hidden = !dead.size;
  byId("dead-list").textContent = `Dead: ${names.join(", ")}`;
  if (src < 0 || dst < 0 || src === dst) {
    out.replaceChildren(make("p", {class: "soft"}, src < 0 ? "Click a node, then another one." : "Click the destination."));
    return;
  }
  view.scene.faint = true;
  if (!network.hasRoutes) {
    children.push(make("p", {class: "soft"}, `No route: ${panel.data.missing.routes}.`));
  } else if (byId("show-route").checked) {
    addRoute(panel, traces, children);
  }
  if (byId("show-paths").checked) addPaths(panel, traces, children);
  out.replaceChildren(...children);
}

/** Add the route, and where something on it is dead, the way around it. */
function addRoute(panel, traces, children) {
  const {network, view, src, dst, dead, data} = panel, hops = network.route(src, dst);
  const isBroken = dead.has(src) || hops.some((hop) => network.isBroken(hop, dead));
  children.push(make("h2", {}, `Route: ${plural(hops.length, "hop")}`, isBroken ? make("span", {class: "bad"}, ", broken") : ""));
  traces.push(routeTrace(panel, hops));
  children.push(hopTable(panel, hops));
  for (const vc of new Set(hops.map((hop) => hop.vc))) {
    view.scene.legend.push([`mark${VC_MARKS[vc % 4]}`, VC_COLORS[vc % 4], `route, virtual channel ${vc}`]);
  }
  if (!isBroken) return;
  const most = Math.min(8, Math.max(0, Number(byId("most").value) || 0)), way = network.waypoints(src, dst, dead, most);
  children.push(make("h2", {}, "Way around"));
  if (way.reach !== "waypoints") {
    const why = {dead: "source or destination is dead", "not connected": "none: the two are not connected any more"};
    children.push(make("p", {class: "bad"}, why[way.reach] || `none by ${plural(most, "waypoint")}: it needs more`));
    return;
  }
  const stops = [src, ...way.waypoints, dst];
  const legs = stops.slice(1).flatMap((stop, at) => network.route(stops[at], stop));
  traces.push({hops: legs, color: AROUND, dash: [], bend: 0.09});
  for (const node of way.waypoints) view.scene.rings.set(node, {color: AROUND, dash: [4, 3]});
  way.waypoints.forEach((node) => view.scene.named.add(node));
  view.scene.legend.push(["mark", AROUND, "way around; dashed ring: waypoint"]);
  children.push(make("p", {}, `${plural(way.hops, "hop")} by ${plural(way.waypoints.length, "waypoint")}: ${way.waypoints.map((node) => panel.name(node)).join(", ")}`));
  children.push(hopTable(panel, legs));
}

/** Return the trace of a route: the color and the dashes of a hop are those of its virtual channel. */
function routeTrace(panel, hops) {
  return {hops: hops.map((hop) => ({...hop, color: VC_COLORS[hop.vc % 4], dash: VC_DASHES[hop.vc % 4]}))};
}

function hopTable(panel, hops) {
  const {data, network} = panel, lanes = data.routing.laneBits;
  const columns = [{text: "hop", kind: "number"}, {text: "from", kind: "node"}, {text: "port"}, {text: "to", kind: "node"}, {text: "vc", kind: "number"}];
  if (lanes) columns.push({text: "class", kind: "number"});
  return panel.table(columns, hops.map(({node, port, vc, next}, at) => {
    const cells = [String(at + 1), panel.name(node), data.ports[port], panel.name(next), String(vc)];
    return lanes ? [...cells, String(vc >> lanes)] : cells;
  }));
}

function addPaths(panel, traces, children) {
  const {network, view, src, dst, dead} = panel, paths = network.disjoint(src, dst);
  children.push(make("h2", {}, `${plural(paths.length, "disjoint path")}`));
  const rows = paths.map((nodes, at) => {
    const hops = nodes.slice(1).map((next, hop) => ({node: nodes[hop], port: network.portTo(nodes[hop], next), next}));
    const color = PATH_COLORS[at % PATH_COLORS.length], isBroken = dead.has(src) || hops.some((hop) => network.isBroken(hop, dead));
    traces.push({hops, color, dash: isBroken ? [3, 4] : [], aside: 3});
    return [make("span", {class: "mark", style: `border-top-color:${color}`}), String(hops.length), isBroken ? "broken" : "",
      nodes.map((node) => panel.name(node)).join(" \u2192 ")];
  });
  children.push(panel.table([{text: ""}, {text: "hops", kind: "number"}, {text: ""}, {text: "nodes", kind: "node"}], rows));
}

// Collective operations.

function showStep(panel) {
  const {schedule, network, view} = panel;
  if (!schedule) return tellMissing(panel, "step-out", "broadcast");
  const source = schedule.root === null ? Math.max(0, panel.src) : schedule.root;
  byId("op-source").textContent = schedule.root === null ? `messages of ${panel.name(source)} (click another)` : `source ${panel.name(source)}`;
  const key = `${schedule.op} ${source}`;
  if (panel.followed !== key) Object.assign(panel, {followed: key, moved: follow(network, schedule, source)});
  const {moved} = panel, step = Math.min(panel.step, schedule.steps.length), holds = moved.holds[step];
  panel.step = step;
  Object.assign(byId("step"), {max: schedule.steps.length, value: step});
  const sends = step ? moved.sends[step - 1] : [];
  const fills = new Map(), notes = new Map();
  for (let node = 0; node < network.nodes; node++) {
    if (!holds[node]) continue;
    const isOwn = !schedule.copies && holds[node] === 1 && step === schedule.steps.length;
    fills.set(node, schedule.copies || isOwn || holds[node] === 1 ? HAS : FULL);
    if (!schedule.copies) notes.set(node, {text: String(holds[node]), color: fills.get(node) === FULL ? "#fff" : INK});
  }
  view.scene = {
    faint: true, fills, notes, rings: new Map([[source, {color: "#111111"}]]), named: new Set([source]),
    traces: [{hops: sends.map(({node, other}) => ({node, next: other})), color: SENT}],
    legend: [["mark", SENT, "sent in this step"], ["blot", HAS, schedule.copies ? "has the message" : "has one message of the source"],
      ...(schedule.copies ? [] : [["blot", FULL, "has several, the number in the node"]])],
  };
  tellStep(panel, schedule, sends, holds);
}

function tellStep(panel, schedule, sends, holds) {
  const {step, data} = panel, total = schedule.words.reduce((sum, words) => sum + words, 0);
  const reached = holds.reduce((count, held) => count + (held > 0), 0);
  const lines = [make("p", {}, `${schedule.steps.length} steps, ${plural(total, "word")} in all.`)];
  if (step) {
    const {stage} = schedule.steps[step - 1], messages = sends.reduce((sum, send) => sum + send.messages, 0);
    lines.push(make("h2", {}, `Step ${step - 1}: ${stage}`));
    lines.push(make("p", {}, sends.length ? `${plural(messages, "message")} of this source over ${plural(sends.length, "channel")}; ` : "nothing of this source; ",
      `${plural(schedule.words[step - 1], "word")} of all sources.`));
  } else {
    lines.push(make("h2", {}, "Before step 0"));
  }
  lines.push(make("p", {class: "soft"}, `${plural(reached, "node")} of ${panel.network.nodes} ${reached === 1 ? "has" : "have"} a message of the source.`));
  const rows = schedule.steps.map(({stage}, at) => [at === step - 1 ? "\u25b6" : "", String(at), stage, String(schedule.words[at])]);
  lines.push(panel.table([{text: ""}, {text: "step", kind: "number"}, {text: "stage"}, {text: "words", kind: "number"}], rows));
  byId("step-out").replaceChildren(...lines);
}

// Packets.

function showPackets(panel) {
  const {run, view} = panel;
  if (!run) return tellMissing(panel, "run-out", "packets");
  view.scene = {faint: true, rings: panel.src < 0 ? new Map() : new Map([[panel.src, {color: "#0072b2"}]]), named: new Set([panel.src]), legend: []};
  const vcs = Math.max(...run.record.inputVcs);
  for (let vc = 0; vc < Math.min(4, vcs); vc++) view.scene.legend.push([`blot ${VC_SHAPES[vc]}`, VC_COLORS[vc], `packet in virtual channel ${vc}`]);
  view.scene.legend.push(["blot plain", "#5b6770", "packet at its source's router, or on its way out"]);
  view.moving = (context, pixel) => drawRun(panel, context, pixel);
  panel.showRun();
}

/** Draw the packets of a cycle: dots on channels, and what is in the queues, at the ends of the channels. */
function drawRun(panel, context, pixel) {
  const {run, view} = panel, found = run.at(panel.cycle), size = Math.max(3.4, 2.6 * pixel);
  const radius = Math.max(view.data.radius, 2.4 * pixel);
  for (const {node, port, held, coming} of run.queues(found).values()) drawQueue(panel, context, {node, port, held, coming}, pixel);
  for (const {node, next, vc, share} of found.crossing) {
    const curve = view.curve(node, next, SIDE), length = Math.hypot(curve[4] - curve[0], curve[5] - curve[1]) || 1;
    const room = Math.min(0.4, radius / length);
    context.fillStyle = VC_COLORS[vc % 4];
    shape(context, vc, ...view.point(curve, room + share * (1 - 2 * room)), size);
  }
  context.fillStyle = "#5b6770";
  for (const {node, share} of found.leaving) shape(context, 0, view.x(node), view.y(node) + (0.3 + share) * radius, size * (1 - 0.5 * share));
}

/** Draw the mark of a packet: its shape says the virtual channel, as its color does. */
function shape(context, vc, x, y, size) {
  context.beginPath();
  if (vc % 4 === 0) context.arc(x, y, size, 0, 7);
  else if (vc % 4 === 1) context.rect(x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8);
  else {
    const corners = vc % 4 === 2 ? [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]] : [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]];
    corners.forEach(([dx, dy], at) => context[at ? "lineTo" : "moveTo"](x + dx * size, y + dy * size));
  }
  context.fill();
}

/** Draw the packet buffers of an input, from the node outwards: filled, or with a frame for a packet on its way. */
function drawQueue(panel, context, {node, port, held, coming}, pixel) {
  const {view, run, network} = panel, box = Math.max(2.6, 1.6 * pixel), radius = Math.max(view.data.radius, 2.4 * pixel);
  if (port < 0) {
    context.fillStyle = "#5b6770";
    for (let at = 0; at < held[0]; at++) context.fillRect(view.x(node) - radius + at * (box + pixel), view.y(node) - 0.4 * box, box, box);
    return;
  }
  if (view.room / pixel < 26) return; // too far away: the dots alone
  const curve = view.curve(network.neighbor(node, port), node, SIDE + 1), length = Math.hypot(curve[4] - curve[0], curve[5] - curve[1]) || 1;
  let place = radius + 2;
  held.forEach((count, vc) => {
    for (let at = 0; at < run.record.buffers[port]; at++) {
      const [x, y] = view.point(curve, 1 - place / length);
      place += box + 1.2;
      context.fillStyle = context.strokeStyle = VC_COLORS[vc % 4];
      context.lineWidth = 0.7;
      if (at < count) context.fillRect(x - box / 2, y - box / 2, box, box);
      else if (at < count + coming[vc]) context.strokeRect(x - box / 2, y - box / 2, box, box);
    }
  });
}

function tellRun(panel) {
  const {run, src} = panel, cycle = panel.cycle, found = run.at(cycle), slot = Math.max(0, Math.floor((cycle - run.record.sample) / run.record.length));
  const waiting = found.waiting.reduce((sum, count) => sum + count, 0);
  const rows = [["at their source", waiting], ["in queues of routers", found.queued.length], ["on channels", found.crossing.length],
    ["going to the terminal", found.leaving.length], ["taken by terminals", found.gone]];
  byId("run-out").replaceChildren(make("h2", {}, `Cycle ${Math.floor(cycle)} of ${run.end}, slot ${slot}`),
    panel.table([{text: "packets"}, {text: "", kind: "number"}], rows.map(([name, count]) => [name, String(count)])));
  if (src < 0) return byId("queue-out").replaceChildren(make("p", {class: "soft"}, "Click a node to see its queues. Look closer to see packet buffers at the ends of channels."));
  tellQueues(panel, found);
}

/** Tell how full the queues of the chosen node are. */
function tellQueues(panel, found) {
  const {run, src, network, data} = panel, queues = run.queues(found), rows = [];
  for (let port = -1; port < network.ports; port++) {
    if (port >= 0 && network.neighbor(src, port) < 0) continue;
    const queue = queues.get(src * (network.ports + 1) + port + 1), vcs = port < 0 ? 1 : run.record.inputVcs[port];
    const size = port < 0 ? run.record.injectionBuffers : run.record.buffers[port];
    for (let vc = 0; vc < vcs; vc++) {
      const held = queue ? queue.held[vc] : 0, coming = queue ? queue.coming[vc] : 0;
      rows.push([port < 0 ? "injection" : data.ports[port], String(vc), "\u25a0".repeat(held) + "\u25a1".repeat(coming), `${held} of ${size}`]);
    }
  }
  byId("queue-out").replaceChildren(make("h2", {}, `Queues of ${panel.name(src)}`),
    panel.table([{text: "input"}, {text: "vc", kind: "number"}, {text: "packets"}, {text: "held", kind: "number"}], rows),
    make("p", {class: "soft"}, `${plural(found.waiting[src], "packet")} at its source. \u25a1: on its way.`));
}

// Load.

function showLoad(panel) {
  const {network, view, run, data} = panel, what = byId("load-of").value;
  if (!network.hasRoutes) return tellMissing(panel, "load-out", "routes");
  if (what === "routes" && !panel.load) panel.load = network.channelLoad();
  const load = what === "routes" ? panel.load : run.sent(run.end), most = load.reduce((one, other) => Math.max(one, other), 0);
  const channels = [], order = [];
  for (let node = 0; node < network.nodes; node++) {
    for (let port = 0; port < network.ports; port++) {
      const next = network.neighbor(node, port), value = load[node * network.ports + port];
      if (next < 0) continue;
      order.push({node, port, next, value});
      channels.push({node, next, color: heat(value / Math.max(1, most)), width: 0.8 + 2.2 * (value / Math.max(1, most)), value});
    }
  }
  channels.sort((one, other) => one.value - other.value);
  order.sort((one, other) => other.value - one.value || one.node - other.node || one.port - other.port);
  view.scene = {faint: true, channels, legend: [], named: new Set([panel.src].filter((node) => node >= 0)), rings: panel.src < 0 ? new Map() : new Map([[panel.src, {color: "#0072b2"}]])};
  byId("scale").style.background = `linear-gradient(to right, ${RAMP.join(",")})`;
  const mean = order.reduce((sum, {value}) => sum + value, 0) / order.length;
  const own = order.filter(({node}) => node === panel.src), listed = (own.length ? own : order.slice(0, 12));
  const unit = what === "routes" ? "routes" : "packets";
  byId("load-out").replaceChildren(
    make("p", {}, `0 to ${most} ${unit} a channel, ${mean.toFixed(2)} in the mean over ${order.length} channels.`),
    what === "routes" ? make("p", {}, `Uniform traffic fills the most loaded channel at ${((network.nodes - 1) / most).toFixed(4)} flits per node per cycle.`)
      : make("p", {}, `In the mean ${((mean * run.record.length) / run.end).toFixed(4)} flits a cycle and channel, over ${run.end} cycles.`),
    make("h2", {}, own.length ? `Channels that leave ${panel.name(panel.src)}` : "Most loaded channels"),
    panel.table([{text: "from", kind: "node"}, {text: "port"}, {text: "to", kind: "node"}, {text: unit, kind: "number"}],
      listed.map(({node, port, next, value}) => [panel.name(node), data.ports[port], panel.name(next), String(value)])));
}
