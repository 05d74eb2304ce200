"""Plans: the proof against a graph built by walking every route, the shapes, and rules that must be refused."""

import re
from dataclasses import replace
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest

import hdnhw.rules.plan as plan_module
from hdnhw.networks.build import build
from hdnhw.rules.cdg import build_dependency_graph
from hdnhw.rules.hop import hop_rule
from hdnhw.rules.plan import plan, prove
from hdnhw.support.errors import RuleError, SpecError

WALKED = [
    *(
        (text, "")
        for text in ["cube(2)", "torus(4, 3)", "torus(5)", "torus(6)", "mesh(3, 4)", "mesh(2, 5)", "ghc(3, 4)"]
    ),
    *product(["rdn(torus(3), 1)", "rdn(torus(5), 1)", "hdn(torus(6), [[0]])"], "fO"),
    *product(["hdn(cube(1), [[], [0]])"], ["ff", "fO", "Of", "OO"]),
    ("dualcube(2)", "f"),
    ("hdn(cube(2), [[0, 1], [1]])", "Of"),
    ("hdn(cube(2), [[0], [0, 1]])", "OO"),
    ("hdn(cube(1), [[0], [0], [0]])", "OOf"),
]


def walk(rule, every_hop):
    """Yield every route as (source, [(node, port, vc), ...], destination), from the interpreted rule."""
    network = rule.network
    port, vc = (matrix.tolist() for matrix in every_hop(rule))
    names = [description.name for description in network.ports]
    neighbors = [network.neighbors(node) for node in range(network.num_nodes)]
    for src, dst in product(range(network.num_nodes), repeat=2):
        hops, node = [], src
        while node != dst:
            assert len(hops) < network.num_nodes
            hops.append((node, port[node][dst], vc[node][dst]))
            node = neighbors[node][names[port[node][dst]]]
        yield src, hops, dst


def graph_of(routes):
    channels, edges = set(), set()
    for _, hops, _ in routes:
        channels.update(hops)
        edges.update(pairwise(hops))
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(channels)
    return graph


def turns_of(network, routes):
    """Return {node: {(input port, output port)}}; the number of ports is injection, and ejection."""
    names = [port.name for port in network.ports]
    arrival = {
        (other, node): names.index(back)
        for node in range(network.num_nodes)
        for back, other in network.neighbors(node).items()
    }
    turns = {node: set() for node in range(network.num_nodes)}
    for src, hops, dst in routes:
        nodes = [node for node, _, _ in hops] + [dst]
        arrivals = [arrival[pair] for pair in pairwise(nodes)]
        inputs = [(len(names), 0), *((port, vc) for port, (_, _, vc) in zip(arrivals, hops, strict=True))]
        outputs = [(port, vc) for _, port, vc in hops] + [(len(names), 0)]
        assert nodes[0] == src
        for node, came, goes in zip(nodes, inputs, outputs, strict=True):
            turns[node].add((*came, *goes))
    return turns


@pytest.mark.parametrize(("text", "modes"), WALKED)
def test_proof_and_shapes_agree_with_walked_routes(text, modes, every_hop):
    rule = hop_rule(build(text), modes)
    network = rule.network
    made = prove(rule)
    routes = list(walk(rule, every_hop))
    graph = graph_of(routes)
    assert nx.is_directed_acyclic_graph(graph)
    assert (made.proof.method, made.proof.acyclic) == ("exhaustive", True)
    assert (made.proof.channels, made.proof.edges) == (graph.number_of_nodes(), graph.number_of_edges())
    for port in range(len(network.ports)):
        assert made.num_vcs[port] == 1 + max(vc for _, taken, vc in graph if taken == port)
    assert made.max_vcs == max(made.num_vcs)
    walked = {}
    names = [port.name for port in network.ports]
    for node, turns in turns_of(network, routes).items():
        ports = tuple(names.index(name) for name in network.neighbors(node))
        assert made.shape_of(node).ports == ports
        walked.setdefault(ports, set()).update(turns)
    assert {shape.ports: set(shape.turns) for shape in made.shapes} == walked
    assert len(made.shapes) == len(walked)


@pytest.mark.parametrize(
    "text",
    [
        "rdn(cube(3), 1)",
        "rdn(torus(4), 1)",
        "hdn(torus(3, 2), [[0]])",
        "hdn(cube(2), [[0], []])",
        "rdn(torus(3), 2)",
        "hdn(torus(4), [[0], []])",
        "hdn(cube(1), [[], [], [0]])",
        "hdn(torus(3), [[0], [0], []])",
        "hdn(torus(4), [[0], [0], [0]])",
        "hdn(cube(2), [[0], [1], [0, 1]])",
    ],
)
def test_default_modes_use_two_classes(text):
    made = plan(text)
    assert max(made.num_vcs) == made.max_vcs == 2


@pytest.mark.parametrize(
    ("text", "num_vcs"),
    [
        ("cube(3)", (1, 1, 1)),
        ("torus(4, 4)", (1, 1, 1, 1)),
        ("torus(5)", (2, 2)),
        ("torus(6, 3)", (2, 2, 1, 1)),
        ("mesh(9)", (1, 1)),
        ("rdn(torus(5), 1)", (4, 4, 2)),
        ("rdn(product(torus(5), cube(1)), 1)", (4, 4, 2, 2)),
        ("hdn(torus(5), [[0], []])", (4, 4, 2, 2)),
        ("hdn(cube(2), [[0, 1]])", (1, 1, 1)),
        ("hdn(torus(5), [[0]])", (2, 2, 1)),
    ],
)
def test_classes_a_port(text, num_vcs):
    assert plan(text).num_vcs == num_vcs


@pytest.mark.parametrize("k", [1, 2])
def test_classes_of_fast_modes(k):
    made = plan(f"hdn(cube(2), {[[0]] * k})", "f" * k)
    crossings = tuple(2 ** (k - level + 1) for level in range(1, k + 1))
    assert made.num_vcs == (1, 2**k, *crossings)  # the first dimension is that of the super-nodes


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("mesh(4)", [(0, 1), (0,), (1,)]),
        ("mesh(2)", [(0,)]),
        ("mesh(2, 3)", [(0, 1, 2), (0, 1), (0, 2)]),
        ("cube(3)", [(0, 1, 2)]),
        ("product(mesh(3), torus(3))", [(0, 1, 2, 3), (0, 2, 3), (1, 2, 3)]),
    ],
)
def test_shapes(text, ports):
    shapes = plan(text).shapes
    assert sorted(shape.ports for shape in shapes) == sorted(ports)
    assert [len(shape.ports) for shape in shapes] == sorted((len(shape.ports) for shape in shapes), reverse=True)


def test_a_mesh_has_nine_shapes():
    made = plan("mesh(4, 5)")
    assert len(made.shapes) == 9
    corner, middle = made.shape_of(0), made.shape_of(6)
    assert (corner.ports, middle.ports) == ((0, 2), (0, 1, 2, 3))
    assert middle is made.shapes[0]
    # Dimension order: a packet never turns from the second dimension back into the first.
    assert not {(came, goes) for came, _, goes, _ in middle.turns} & set(product((2, 3), (0, 1)))
    assert middle.ways(2, 0) == ((3, 0), (4, 0))


def cycle_of(error):
    """Return the virtual channels that an error names, as (node, port name, vc)."""
    told = str(error).partition("(node.port.vc): ")[2].split(" -> ")
    cycle = [re.fullmatch(r"(\d+)\.(\w+)\.(\d+)", part).groups() for part in told]
    assert re.search(rf" can deadlock: {len(cycle)} virtual channels wait in a cycle ", str(error))
    return [(int(node), port, int(vc)) for node, port, vc in cycle]


def broken(text, modes=None):
    """Return the rule of a network with a single class on every channel."""
    rule = hop_rule(build(text), modes)
    return replace(rule, vc=(rule.circuit.constant(0),), num_vcs=(1,) * len(rule.network.ports))


@pytest.mark.parametrize(
    "text",
    ["torus(5)", "torus(4, 6)", "rdn(cube(2), 1)", "rdn(cube(3), 1)", "rdn(torus(3), 1)", "hdn(cube(1), [[0], []])"],
)
def test_one_class_can_deadlock(text, every_hop):
    rule = broken(text)
    with pytest.raises(
        RuleError, match=rf"^rule of {re.escape(text)} in modes '{rule.modes}' can deadlock: "
    ) as caught:
        prove(rule)
    cycle = cycle_of(caught.value)
    network = rule.network
    names = [port.name for port in network.ports]
    graph = graph_of(walk(rule, every_hop))
    for (node, port, vc), following in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert network.neighbors(node)[port] == following[0]
        assert graph.has_edge((node, names.index(port), vc), (following[0], names.index(following[1]), following[2]))
    assert len(set(cycle)) == len(cycle) >= 4
    assert not nx.is_directed_acyclic_graph(graph)


def test_a_ring_of_five_waits_all_round():
    with pytest.raises(RuleError) as caught:
        prove(broken("torus(5)"))
    cycle = cycle_of(caught.value)
    assert len(cycle) == 5
    assert {port for _, port, _ in cycle} in ({"dim0_plus"}, {"dim0_minus"})


def test_one_class_is_enough_where_the_proof_says_so():
    for text in ("cube(3)", "torus(3, 4)", "mesh(5, 5)", "hdn(cube(2), [[0, 1]])"):
        assert max(prove(broken(text)).num_vcs) == 1


def test_each_bit_of_the_class_is_needed():
    for text, modes in [("rdn(torus(5), 1)", "f"), ("hdn(cube(1), [[], []])", "ff")]:
        rule = hop_rule(build(text), modes)
        zero = rule.circuit.constant(0)
        for weight in range(len(rule.vc)):
            with pytest.raises(RuleError, match="can deadlock"):
                prove(replace(rule, vc=(*rule.vc[:weight], zero, *rule.vc[weight + 1 :])))


def swapped(text):
    """Return a rule that goes the wrong way in its first dimension."""
    rule = hop_rule(build(text))
    plus, minus, *others = rule.take
    return replace(rule, take=(minus, plus, *others))


def test_a_rule_that_leaves_the_network_is_refused():
    with pytest.raises(RuleError, match=r"^rule of mesh\(3\) takes no valid hop at node 2 to 0$"):
        prove(swapped("mesh(3)"))


def test_a_rule_that_stops_early_is_refused():
    rule = hop_rule(build("cube(2)"))
    one, zero = rule.circuit.constant(1), rule.circuit.constant(0)
    with pytest.raises(RuleError, match=r"^rule of cube\(2\) takes no valid hop at node 1 to 0$"):
        prove(replace(rule, arrived=one, take=(zero, zero)))


def test_a_rule_that_names_no_virtual_channel_is_refused():
    rule = hop_rule(build("cube(2)"))
    assert rule.num_vcs == (1, 1)
    with pytest.raises(RuleError, match=r"^rule of cube\(2\) takes no valid hop at node 1 to 0$"):
        prove(replace(rule, vc=(~rule.arrived,)))


def test_a_rule_that_names_no_port_is_refused():
    """Two at once are one whose number has the bits of both."""
    rule = hop_rule(build("cube(6)"))
    zero, moves = rule.circuit.constant(0), ~rule.arrived
    with pytest.raises(RuleError, match=r"^rule of cube\(6\) takes no valid hop at node 1 to 0$"):
        prove(replace(rule, take=(zero, zero, zero, moves, moves, zero)))


def test_too_many_dependencies_are_refused(monkeypatch):
    monkeypatch.setattr("hdnhw.rules.cdg.MOST_DEPENDENCIES", 30)
    plan("cube(2)")
    with pytest.raises(SpecError, match=r"the dependencies of 8 nodes with 3 virtual channels each are too many"):
        plan("cube(3)")


def test_a_rule_that_never_stops_is_refused():
    rule = hop_rule(build("cube(2)"))
    one, zero = rule.circuit.constant(1), rule.circuit.constant(0)
    with pytest.raises(RuleError, match=r"takes no valid hop at node 0 to 0$"):
        prove(replace(rule, arrived=zero, take=(one, zero)))


def test_a_rule_that_goes_round_for_ever_is_refused():
    with pytest.raises(RuleError, match="can deadlock"):
        prove(swapped("torus(7)"))


def test_a_class_that_is_not_there_is_refused():
    rule = hop_rule(build("rdn(cube(2), 1)"))
    with pytest.raises(RuleError, match="takes no valid hop"):
        prove(replace(rule, num_vcs=(1, 1, 1)))


def test_plan_makes_and_proves_the_rule():
    made = plan("rdn(cube(2), 1)", "O")
    assert (made.modes, made.network.num_nodes, made.address.width) == ("O", 32, 5)
    assert str(made.proof) == (
        f"{made.proof.channels} virtual channels, {made.proof.edges} dependencies: acyclic "
        "(the full channel dependency graph was built and sorted)"
    )
    assert made.plain_route(made.address.of_node(5), made.address.of_node(5)) == len(made.network.ports)
    with pytest.raises(SpecError, match=r"^modes of rdn\(cube\(2\), 1\) must be one letter f or O, not 'ff'$"):
        plan("rdn(cube(2), 1)", "ff")
    with pytest.raises(ValueError, match="must be 0 to 31, not 32"):
        made.shape_of(32)


def test_large_networks_are_proved_by_rank(monkeypatch):
    monkeypatch.setattr(plan_module, "EXHAUSTIVE_NODES", 31)
    made = plan("rdn(cube(2), 1)")
    assert (made.proof.method, made.proof.edges, made.proof.acyclic) == ("ranking", None, True)
    assert made.proof.channels == 32 * sum(made.num_vcs)
    assert str(made.proof).startswith(f"{made.proof.channels} virtual channels: acyclic (a rank that grows")
    (shape,) = made.shapes
    assert (shape.ports, len(shape.turns)) == ((0, 1, 2), 7**2)
    with pytest.raises(RuleError, match=r"in modes 'f' is not proved deadlock-free: the hop at node \d+ towards \d+ "):
        prove(broken("rdn(cube(2), 1)"))


def test_limits_of_proofs_are_within_them(monkeypatch):
    monkeypatch.setattr(plan_module, "EXHAUSTIVE_NODES", 32)
    assert plan("rdn(cube(2), 1)").proof.method == "exhaustive"
    monkeypatch.setattr(plan_module, "EXHAUSTIVE_NODES", 1)
    monkeypatch.setattr(plan_module, "RANKED_PORTS", 3)
    assert plan("rdn(cube(2), 1)").proof.method == "ranking"
    monkeypatch.setattr(plan_module, "RANKED_PORTS", 2)
    with pytest.raises(SpecError, match="it has 3 ports per node, and a solver proves it for at most 2"):
        plan("rdn(cube(2), 1)")


@pytest.mark.parametrize("text", ["mesh(3, 4)", "mesh(2, 3)", "product(mesh(5), torus(3))", "torus(5, 3)"])
def test_the_rank_finds_the_routers_of_the_full_graph(text, monkeypatch):
    full = plan(text)
    monkeypatch.setattr(plan_module, "EXHAUSTIVE_NODES", 1)
    ranked = plan(text)
    assert (full.proof.method, ranked.proof.method) == ("exhaustive", "ranking")
    assert [shape.ports for shape in ranked.shapes] == [shape.ports for shape in full.shapes]
    assert all(one.turns > other.turns for one, other in zip(ranked.shapes, full.shapes, strict=True))
    network = ranked.network
    present = [(node, name) for node in range(network.num_nodes) for name in network.neighbors(node)]
    names = [port.name for port in network.ports]
    assert ranked.proof.channels == sum(ranked.num_vcs[names.index(name)] for _, name in present)


def test_dependencies_one_by_one(every_hop):
    rule = hop_rule(build("rdn(torus(3), 1)"), "O")
    graph = build_dependency_graph(rule)
    names = [port.name for port in rule.network.ports]
    found = set()
    for node in range(rule.network.num_nodes):
        for one in range(len(names) * graph.num_vcs):
            for other in range(len(names) * graph.num_vcs):
                if graph.depends[node, one, other]:
                    there = rule.network.neighbors(node)[names[one // graph.num_vcs]]
                    found.add(((node, *divmod(one, graph.num_vcs)), (there, *divmod(other, graph.num_vcs))))
    walked = graph_of(walk(rule, every_hop))
    assert found == set(walked.edges)
    assert graph.num_channels == walked.number_of_nodes()
    assert graph.find_cycle() is None


@pytest.mark.parametrize("text", ["torus(4, 4)", "rdn(cube(2), 1)", "hdn(torus(5), [[0], []])"])
def test_lanes_never_wait_for_each_other(text):
    made = plan(text, lanes=2)
    assert (made.lanes, made.max_vcs) == (2, 2 * plan(text).max_vcs)
    graph = build_dependency_graph(made.rule)
    _, held, wanted = np.nonzero(graph.depends)
    assert len(held)
    assert (held % graph.num_vcs % 2 == wanted % graph.num_vcs % 2).all()
    local = len(made.network.ports)
    for shape in made.shapes:
        assert all(vc % 2 == onward % 2 for port, vc, out, onward in shape.turns if local not in (port, out))


def test_lanes_are_no_classes():
    """Two lanes of a rule that can deadlock can deadlock, each by itself."""
    rule = hop_rule(build("rdn(cube(2), 1)"), lanes=2)
    with pytest.raises(RuleError) as caught:
        prove(replace(rule, vc=rule.vc[:1]))
    assert len({vc for _, _, vc in cycle_of(caught.value)}) == 1
