"""The page of ``hdnhw explore``: its scripts, run by QuickJS, against the library, searches and the model."""

import json
import re
from html.parser import HTMLParser
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from quickjs import Context

import hdnhw
from hdnhw.collectives.executor import execute
from hdnhw.collectives.operations import operation_schedule
from hdnhw.figures.explorer import page as explorer
from hdnhw.library.explorer import OPERATIONS
from hdnhw.measurement.load import LoadSpec
from hdnhw.model.core import Arrivals
from hdnhw.model.course import Course
from hdnhw.model.fabric import model_of
from hdnhw.multipath.flows import fault_of_paths, shortest_disjoint_paths
from hdnhw.multipath.waypoints import Detours, RouteTable
from hdnhw.networks.build import build
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.hop import hop_rule
from hdnhw.rules.plan import plan
from hdnhw.rules.statistics import routing_statistics
from hdnhw.support.errors import SpecError
from hdnhw.topology.faults import Faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals
from tests.specs import fabric_spec

FOLDER = Path(explorer.__file__).parent
LOGIC = ("network.js", "schedule.js", "packets.js")
"""Scripts that know nothing of a page."""

SPECS = ("rdn(cube(2), 1)", "torus(5, 3)", "hsn(2, cube(2))", "dualcube(2)", "ccc(3)")
VOID = {"meta", "input"}


class Reader(HTMLParser):
    """Checks that tags close in order; keeps scripts, ids and what refers to something."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.references, self.scripts, self.kinds = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        self.references += [(name, value) for name, value in attrs if name in ("src", "href", "aria-controls", "for")]
        if tag == "script":
            self.scripts.append("")
            self.kinds.append(named.get("type"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data


class Script:
    """The logic of a page, in QuickJS."""

    def __init__(self, page):
        reader = Reader(page.html)
        data, rules, *scripts = reader.scripts
        self.data, self.engine = json.loads(data), Context()
        assert [script.strip() for script in scripts[:3]] == [(FOLDER / name).read_text().strip() for name in LOGIC]
        self.engine.eval("\n".join([rules, *scripts[:3]]) + f"\nconst network = new Network({data}, RULES);")

    def ask(self, expression):
        """Return the value of an expression."""
        return json.loads(self.engine.eval(f"JSON.stringify({expression})"))


@pytest.fixture(scope="module")
def script_of():
    """Return the logic of a page, made once for each network and its options."""
    known = {}

    def made(spec, **options):
        key = (spec, *sorted(options.items()))
        if key not in known:
            known[key] = Script(hdnhw.explore(spec, **({"cycles": 64} | options)))
        return known[key]

    return made


def test_a_page_is_whole_and_fetches_nothing():
    page = hdnhw.explore("rdn(cube(2), 1)", cycles=64)
    reader = Reader(page.html)
    assert page.html.startswith("<!DOCTYPE html>\n")
    assert len(reader.ids) == len(set(reader.ids))
    assert {name for name, _ in reader.references} == {"aria-controls"}
    assert {value for _, value in reader.references} <= set(reader.ids)
    assert reader.kinds == ["application/json", *[None] * (1 + len(explorer.SCRIPTS))]
    for word in ("http:", "https:", "@import", "url(", "fetch(", "XMLHttpRequest", "import("):
        assert word not in page.html, word
    scripts = "".join((FOLDER / name).read_text() for name in explorer.SCRIPTS)
    asked = set(re.findall(r'(?:byId|on|tellMissing)\((?:panel, )?"([\w-]+)"', scripts))
    assert asked <= set(reader.ids)
    assert len(asked) > 25


def test_the_same_network_gives_the_same_page():
    one, other = (hdnhw.explore("cube(2)", cycles=40) for _ in range(2))
    assert one.html == other.html
    assert one == other


def test_text_of_a_page_cannot_end_its_script():
    page = hdnhw.explore("cube(2)", cycles=40, command="</script><b>&")
    assert "</script><b>" not in page.html
    assert Reader(page.html).scripts


def test_a_notebook_shows_a_frame_without_access():
    page = hdnhw.explore("cube(2)", cycles=40)
    shown = page._repr_html_()
    assert shown.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in shown
    assert "<script" not in shown


SIGHT = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
"""How eyes mix red, green and blue light: Machado, Oliveira and Fernandes (2009), severity 1."""

TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def seen(color, eyes):
    """Return a color of sRGB as an eye sees it, in CIELAB."""
    parts = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    light = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.array(SIGHT[eyes]) @ light, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", SIGHT)
@pytest.mark.parametrize("name", ["VC_COLORS", "PATH_COLORS"])
def test_colors_can_be_told_apart(name, eyes):
    (text,) = re.findall(rf"const {name} = (\[.*?\])", (FOLDER / "panel.js").read_text())
    colors = [seen(color, eyes) for color in json.loads(text)]
    assert len(colors) >= 4
    assert min(np.linalg.norm(one - other) for one, other in combinations(colors, 2)) > 20


@pytest.mark.parametrize("spec", SPECS)
def test_labels_are_the_addresses_that_route_prints(script_of, spec):
    network, data = hdnhw.Network(spec), script_of(spec).data
    assert data["addresses"] == [network.address(node) for node in network]
    if data["paperAddresses"] is not None:
        found = hdnhw.route(spec, 0, len(network) - 1)
        assert [data["paperAddresses"][node] for node in found.nodes] == found.paper_addresses


@pytest.mark.parametrize(
    ("spec", "options"),
    [*((spec, {}) for spec in SPECS), ("hdn(cube(2), [[0], [0, 1]])", {"modes": "ff"}), ("torus(5, 3)", {"lanes": 2})],
)
def test_routes_are_those_of_the_rule_between_all_pairs(script_of, spec, options):
    script, network = script_of(spec, **options), build(spec)
    rule, compiled = hop_rule(network, **options), plan(spec, **options)
    found = script.ask(
        "Array.from({length: network.nodes}, (_, src) => Array.from({length: network.nodes}, (_, dst) => "
        "network.route(src, dst).map(hop => [hop.node, hop.port, hop.vc])))"
    )
    address = compiled.address.of_nodes
    for src, dst in product(range(network.num_nodes), repeat=2):
        hops = [tuple(hop) for hop in found[src][dst]]
        decided = [compiled.plain_route(int(address[node]), int(address[dst])) for node, _, _ in hops]
        assert decided == [port | vc << VC_SHIFT for _, port, vc in hops]
        if src in (0, network.num_nodes - 2):
            assert hops == list(rule.route(src, dst)), (src, dst)
    assert script.data["routing"]["modes"] == rule.modes


@pytest.mark.parametrize("spec", ["rdn(cube(2), 1)", "torus(5, 3)", "hsn(2, cube(2))", "mesh(3, 2)"])
def test_ways_around_are_those_of_waypoints(script_of, spec):
    script, routing = script_of(spec), plan(spec)
    nodes, table = routing.network.num_nodes, RouteTable(routing)
    draw, reaches = np.random.default_rng(7), set()
    for trial in range(6):
        dead = sorted(draw.choice(nodes, size=1 + trial * nodes // 16, replace=False).tolist())
        ports = len(routing.network.ports)
        cut = (draw.random((nodes, ports)) < 0.03 * trial) & (neighbor_table(routing.network) >= 0)
        faults = Faults(np.isin(np.arange(nodes), dead), cut)
        src = next(node for node in range(nodes) if node not in dead)
        most = trial % 3 + 1
        expected = [way._asdict() for way in Detours(table, faults).ways(src, most, two_way=True)]
        found = script.ask(
            f"(dead => Array.from({{length: network.nodes}}, (_, dst) => network.waypoints({src}, dst, dead, {most})))"
            f"(new Dead({dead}, {np.flatnonzero(cut).tolist()}))"
        )
        assert found == expected
        reaches |= {way["reach"] for way in found}
    assert {"plain", "waypoints", "dead"} <= reaches


VIEW = """Object.assign(Object.create(View.prototype), {{
    network, places: unpack(network.data.places), scale: {scale}, left: 3, top: 5, edgeOf: new Map(),
    edges: Object.fromEntries(Object.entries(network.data.edges).map(([name, packed]) => [name, unpack(packed)]))}})"""


@pytest.mark.parametrize("scale", [1, 4])
def test_channels_are_found_where_a_link_is_clicked(script_of, scale):
    """Near an end of a link the one that leaves that node, in its middle both, and nothing beside it."""
    script = script_of("rdn(cube(2), 1)")
    code = (FOLDER / "view.js").read_text()
    script.engine.eval(f"var View = (() => {{{code}; return View}})(); var seen = {VIEW.format(scale=scale)};")
    script.engine.eval(
        "seen.edges.one.forEach((one, edge) => seen.edgeOf.set(one * network.nodes + seen.edges.other[edge], edge));"
    )
    network = script.data
    table = neighbor_table(build("rdn(cube(2), 1)"))
    for edge in range(0, 48, 5):
        one, other = script.ask(f"[seen.edges.one[{edge}], seen.edges.other[{edge}]]")
        there, back = (int(np.flatnonzero(table[node] == end)[0]) for node, end in ((one, other), (other, one)))
        ports = len(network["ports"])
        channels = [one * ports + there, other * ports + back]
        for share, expected in ((0.25, channels[:1]), (0.5, channels), (0.75, channels[1:])):
            at = f"seen.point(seen.curve({one}, {other}), {share})"
            point = f"(([x, y]) => [x * {scale} + 3, y * {scale} + 5])({at})"
            assert script.ask(f"seen.channelsAt(...{point})") == expected
    assert script.ask("seen.channelsAt(-5000, -5000)") == []


@pytest.mark.parametrize("spec", ["rdn(cube(2), 1)", "torus(5, 3)", "hsn(2, cube(2))", "mesh(3, 2)", "complete(5)"])
def test_disjoint_paths_are_as_many_and_as_short_as_a_flow_finds(script_of, spec):
    script, network = script_of(spec), build(spec)
    table = neighbor_table(network)
    for src, dst in [(0, node) for node in range(1, network.num_nodes)] + [
        (node, 1) for node in range(2, network.num_nodes)
    ]:
        found = script.ask(f"network.disjoint({src}, {dst})")
        assert fault_of_paths(lambda node: network.neighbors(node).values(), src, dst, found) is None
        expected = shortest_disjoint_paths(table, src, dst)
        assert sum(map(len, found)) == sum(map(len, expected))
        assert len(found) == len(expected)


@pytest.mark.parametrize("spec", SPECS)
def test_load_is_that_of_the_routes_of_all_pairs(script_of, spec):
    load = np.array(script_of(spec).ask("[...network.channelLoad()]"))
    found = routing_statistics(plan(spec))
    assert load.max() == found.max_channel_load
    assert load.sum() == pytest.approx(found.mean_hops * found.pairs)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("op", OPERATIONS)
def test_messages_go_as_the_executor_moves_them(script_of, spec, op):
    script, network = script_of(spec, root=1), build(spec)
    known = {one["op"]: one for one in script.data["schedules"]}
    if op not in known:
        assert script.data["missing"][op]
        return
    schedule = operation_schedule(network, op, root=1)
    assert known[op]["words"] == list(execute(schedule, all_port=False).words_per_step)
    for source in (1, network.num_nodes - 1) if schedule.root is None else (1,):
        counted = execute(schedule, all_port=False, sources=[source])
        moved = script.ask(
            f"(moved => ({{sends: moved.sends, holds: moved.holds.map(held => [...held])}}))"
            f"(follow(network, network.data.schedules.find(one => one.op === {op!r}), {source}))"
        )
        sent = np.zeros_like(counted.sent)
        for step, sends in enumerate(moved["sends"]):
            for send in sends:
                assert network.neighbors(send["node"])[network.ports[send["port"]].name] == send["other"]
                sent[step, send["node"], send["port"]] += send["messages"]
        assert (sent == counted.sent).all()
        assert moved["holds"][-1] == [1] * network.num_nodes


def test_a_message_that_goes_astray_is_seen(script_of):
    script = script_of("cube(2)")
    with pytest.raises(Exception, match="has not come to where it belongs"):
        script.ask("follow({...network, neighbor: (node) => node, nodes: 4, ports: 2}, network.data.schedules[3], 0)")


CASES = (
    ("rdn(cube(2), 1)", {"rate": 0.7}),
    ("torus(5, 3)", {"rate": 0.4, "packet_length": 1}),
    ("torus(4, 4)", {"rate": 0.6, "queueing": "voq", "buffers": 4, "packet_length": 4}),
    ("hsn(2, cube(2))", {"rate": 0.3, "pattern": "neighbor"}),
)


@pytest.mark.parametrize(("spec", "options"), CASES)
def test_packets_of_a_page_do_what_those_of_the_model_do(script_of, spec, options):
    script = script_of(spec, cycles=200, **options)
    script.engine.eval("globalThis.run = new Run(network, network.data.packets);")
    load = LoadSpec(**{name: options[name] for name in ("rate", "pattern") if name in options})
    machine = {name: value for name, value in options.items() if name not in ("rate", "pattern")}
    model = model_of(fabric_spec(spec, **machine))
    made = load.on(model.plan.network, model.timing.packet_length).window(200)
    course = Course(model, Terminals(), counting=True)
    numbers = np.arange(len(made.cycle))
    arrivals = Arrivals.of(made.cycle, made.source, model.address[made.destination], numbers)
    end = script.data["packets"]["cycles"]
    course.advance(arrivals, packets=1 << 62, limit=end)
    counts = course.counts()
    ports = len(model.plan.network.ports)
    sent = np.array(script.ask(f"[...run.sent({end})]")).reshape(-1, ports)
    assert (sent == counts.sent[:, :ports].sum(axis=2)).all()
    assert sent.sum() == course.packets_sent > 100
    assert (_held(script, counts.held.shape, counts.slots) == counts.held).all()


def _held(script, shape, slots):
    """Sum the packets in each queue over the slots as the model does, those that leave in a slot among them."""
    rows = script.ask(f"""(() => {{
      const rows = [];
      for (let slot = 0; slot < {slots}; slot++) {{
        const found = run.at(run.cycleOf(slot));
        rows.push(...found.queued.map(({{node, port, vc}}) => [node, port, vc]));
        for (const {{port, held, coming}} of run.queues(found).values()) {{
          const size = port < 0 ? run.record.injectionBuffers : run.record.buffers[port];
          if (held.some((count, vc) => count + coming[vc] > size)) throw new Error("more than there is room for");
        }}
      }}
      for (let packet = 0; packet < run.count; packet++) {{
        const way = run.way(packet), count = run.first[packet + 1] - run.first[packet];
        for (let hop = 0; hop < count; hop++) {{
          const {{port, vc}} = run.queueAt(way, hop);
          rows.push([hop < way.length ? way[hop].node : run.destination[packet], port, vc]);
        }}
      }}
      return rows;
    }})()""")
    held = np.zeros(shape, np.int64)
    node, port, vc = np.array(rows).T
    np.add.at(held, (node, port, vc), 1)  # port -1, injection, is the last
    return held


def test_packets_of_a_lone_route_take_the_latency_of_the_formula(script_of):
    script = script_of("rdn(cube(2), 1)", rate=0.002, cycles=3000)
    timing = model_of(fabric_spec("rdn(cube(2), 1)")).timing
    script.engine.eval("globalThis.lone = new Run(network, network.data.packets);")
    rows = script.ask("Array.from(lone.tail, (tail, packet) => [lone.head[packet], tail, lone.way(packet).length])")
    taken = [(head, tail, hops) for head, tail, hops in rows if tail >= 0]
    exact = [tail - head == timing.zero_load_latency(hops, head % timing.packet_length) for head, tail, hops in taken]
    assert len(taken) > 10
    assert np.mean(exact) > 0.9  # the others met


def test_what_a_network_does_not_have_is_said(monkeypatch):
    page = hdnhw.explore("petersen()", cycles=40)
    assert page.missing.keys() == set(OPERATIONS)
    assert "petersen() is none of them" in page.missing["broadcast"]

    def refuse(*_, **__):
        raise SpecError("no rule is known")

    monkeypatch.setattr("hdnhw.rules.plan.plan", refuse)
    page = hdnhw.explore("cube(2)")
    assert page.missing == {"routes": "no rule is known", "packets": "there are no routes"}
    script = Script(page)
    assert script.ask("network.hasRoutes") is False
    assert sorted(script.ask("network.disjoint(0, 3)")) == [[0, 1, 3], [0, 2, 3]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hdnhw.explore("cube(11)"), "page must be of at most 1024 nodes; cube(11) has 2048"),
        (lambda: hdnhw.explore("complete(200)"), "page must have at most 32768 ports"),
        (lambda: hdnhw.explore("cube(2)", "page.svg"), "output must be a file, one of .html, .htm, not 'page.svg'"),
        (lambda: hdnhw.explore("cube(2)", "no/page.html"), "output must be in a folder that can be written"),
        (lambda: hdnhw.explore("cube(2)", cycles=0), "cycles must be 1 to 16384, not 0"),
        (lambda: hdnhw.explore("cube(2)", rate=2), "rate must be 0 to 1, not 2"),
        (lambda: hdnhw.explore("cube(2)", pattern="x"), "pattern"),
        (lambda: hdnhw.explore("cube(2)", root=4), "node of cube(2) must be 0 to 3, not 4"),
        (lambda: hdnhw.explore("cube(2)", switching="cut-through"), "it does not go with cut-through"),
        (lambda: hdnhw.explore("cube(9)", rate=1.0, cycles=2000), "a record must be of at most 65536 packets"),
    ],
)
def test_what_cannot_be_is_refused(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        call()
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["cycles", "seed"])
def test_what_is_no_integer_is_refused(name):
    with pytest.raises(TypeError, match=f"{name} must be an integer, not 1.5"):
        hdnhw.explore("cube(2)", **{name: 1.5})
