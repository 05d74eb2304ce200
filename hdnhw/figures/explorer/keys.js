"use strict";
// Mouse and keys on the picture, and the beginning.

/** Let the mouse move and enlarge the picture, and choose nodes. */
function listenToMouse(canvas, view, panel) {
  let held = null, hasMoved = false;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    held = place(event);
    hasMoved = view.showsFocus = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (held && (hasMoved || Math.hypot(x - held[0], y - held[1]) > 4)) {
      view.move(x - held[0], y - held[1]);
      [held, hasMoved] = [[x, y], true];
      canvas.classList.add("moving");
    } else if (!held) {
      hover(view, panel, x, y);
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    const node = view.nodeAt(...place(event));
    canvas.classList.remove("moving");
    const kills = event.shiftKey || byId("click-kills").checked;
    if (held && !hasMoved && node >= 0) {
      view.focus = node;
      panel.click(node, kills);
    } else if (held && !hasMoved && kills && panel.tab === "routes") {
      const channels = view.channelsAt(...place(event));
      if (channels.length) panel.cut(channels);
    }
    held = null;
  });
  canvas.addEventListener("pointerleave", () => hover(view, panel, -1e6, -1e6));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    view.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...place(event));
  }, {passive: false});
}

/** Tell of the node under the mouse. */
function hover(view, panel, x, y) {
  const node = view.nodeAt(x, y), tip = byId("tip");
  tip.hidden = node < 0;
  if (node >= 0) {
    tip.textContent = told(panel, node);
    tip.style.left = `${Math.max(4, Math.min(x + 14, view.width - 230))}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 14, view.height - 120))}px`;
  }
  if (node !== view.hover) {
    view.hover = node;
    view.ask();
  }
}

/** Return what is said of a node. */
function told(panel, node) {
  const {data, network} = panel, lines = [`node ${node}: ${data.addresses[node]}`];
  if (data.paperAddresses) lines.push(`its paper's digits: ${data.paperAddresses[node]}`);
  for (let port = 0; port < network.ports; port++) {
    const other = network.neighbor(node, port);
    if (other >= 0) lines.push(`${data.ports[port]} \u2192 ${panel.name(other)}`);
  }
  return lines.slice(0, 10).join("\n") + (lines.length > 10 ? "\n\u2026" : "");
}

const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

/** Do what a key on the picture does; return whether it does anything. */
function press(event, view, panel) {
  const {key} = event, focus = Math.max(0, view.focus), arrow = ARROWS[key];
  const step = panel.tab === "packets" ? Math.floor(panel.cycle) : panel.step;
  if (arrow && event.shiftKey) view.move(-60 * arrow[0], -60 * arrow[1]);
  else if (arrow) {
    view.focus = view.focus < 0 ? 0 : view.beside(focus, ...arrow);
    view.showsFocus = true;
    view.reveal(view.focus);
    panel.say(panel.name(view.focus));
  } else if (key === "Enter") panel.click(focus, false);
  else if (key === "k" || key === "K") panel.click(focus, true);
  else if (key === "+" || key === "=") view.zoom(1.25);
  else if (key === "-") view.zoom(0.8);
  else if (key === "0") view.fit();
  else if (key === "p" || key === "P") panel.play();
  else if (key === ",") panel.goTo(step - 1);
  else if (key === ".") panel.goTo(step + 1);
  else if (key === "?") panel.help();
  else if (key === "Escape") panel.choose(-1, -1);
  else if ("1234".includes(key)) panel.show(TABS[Number(key) - 1]);
  else return false;
  return true;
}

function listenToKeys(canvas, view, panel) {
  canvas.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && press(event, view, panel)) event.preventDefault();
  });
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, () => view.ask());
  document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!by) return;
    const tab = TABS[(TABS.indexOf(panel.tab) + by + TABS.length) % TABS.length];
    panel.show(tab);
    byId(`tab-${tab}`).focus();
  });
}

/** Begin; what is on the page is there for whoever wants to look at it. */
function begin() {
  const network = new Network(JSON.parse(byId("data").textContent), RULES), canvas = byId("picture");
  const view = new View(canvas, network), run = network.data.packets ? new Run(network, network.data.packets) : null;
  view.resize();
  const panel = new Panel(network, view, run);
  listenToMouse(canvas, view, panel);
  listenToKeys(canvas, view, panel);
  new ResizeObserver(() => view.resize()).observe(byId("stage"));
  return {network, view, run, panel};
}

const page = begin();
