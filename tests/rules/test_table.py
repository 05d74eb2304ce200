"""Routing by tables: every route against breadth-first search, every plan against a graph of networkx."""

from dataclasses import replace

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hdnhw
from hdnhw.machine.machine import make_machine
from hdnhw.model.fabric import FabricModel
from hdnhw.networks.build import build
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.hop import HopRule
from hdnhw.rules.of_network import rule_of
from hdnhw.rules.plan import plan, prove
from hdnhw.rules.table import TABLE_MODES, table_rule
from hdnhw.support.errors import RuleError, SpecError
from hdnhw.traffic.packets import Traffic
from tests.specs import fabric_spec

SPECS = [
    "hsn(2, graph([[0, 1], [1, 2], [1, 3]]))",
    "rdn(kautz(2, 2), 1)",
    "hsn(2, bus(3))",
    "hsn(2, mesh(2, 6), top=4)",
    "slim_fly(3)",
    "dragonfly(3, 2)",
    "jellyfish(24, 3)",
    "fat_tree(4)",
    "concentrated(torus(3, 5), 2)",
    "kautz(2, 3)",
]


def routes_of(rule):
    """Return the hops, as (node, port, vc), of every route between terminals, found by following the table."""
    terminals = range(rule.network.num_terminals)
    return {(src, dst): rule.route(src, dst) for src in terminals for dst in terminals if src != dst}


def end_of(rule, src, hops):
    """Return where a route ends, checking that each hop begins where the one before has led."""
    node = src
    for at, port, _ in hops:
        assert at == node
        node = rule.network.neighbors(node)[rule.network.ports[port].name]
    return node


def dependencies(routes):
    """Return the channel dependency graph of some routes, made one by one."""
    graph = networkx.DiGraph()
    for hops in routes.values():
        networkx.add_path(graph, hops)
    return graph


@pytest.mark.parametrize("modes", TABLE_MODES)
@pytest.mark.parametrize("text", SPECS)
def test_every_route(text, modes):
    rule = table_rule(build(text), modes)
    distances = dict(networkx.all_pairs_shortest_path_length(hdnhw.Network(text).to_networkx()))
    routes = routes_of(rule)
    for (src, dst), hops in routes.items():
        assert end_of(rule, src, hops) == dst
        assert len(hops) >= distances[src][dst]
        assert len(hops) == distances[src][dst] or not rule.is_shortest
        assert all(vc < rule.num_vcs[port] for _, port, vc in hops)
    graph = dependencies(routes)
    assert networkx.is_directed_acyclic_graph(graph)
    proof = prove(rule).proof
    assert proof.acyclic
    assert proof.channels >= len(graph)
    if modes == "updown":
        assert prove(rule).max_vcs == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 16), st.floats(0.25, 0.9), st.integers(0, 999), st.sampled_from(TABLE_MODES))
def test_any_graph_has_a_proved_plan(nodes, density, seed, modes):
    graph = networkx.gnp_random_graph(nodes, density, seed=seed)
    graph.add_edges_from(networkx.path_graph(nodes).edges)
    network = hdnhw.from_networkx(graph)
    rule = table_rule(build(network.spec), modes)
    assert prove(rule).proof.acyclic
    for (src, dst), hops in routes_of(rule).items():
        assert end_of(rule, src, hops) == dst
        assert len(hops) == networkx.shortest_path_length(graph, src, dst) or modes == "updown"


@pytest.mark.parametrize(
    ("text", "layers", "hops"),
    [
        ("graph([[0, 1], [1, 2], [2, 3], [3, 4]])", 1, 4),
        ("graph([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])", 2, 2),
        ("slim_fly(5)", 2, 2),
        ("dragonfly(4, 2)", 2, 3),
        ("fat_tree(4)", 1, 6),
        ("concentrated(cube(4), 1)", 1, 6),
        ("concentrated(mesh(4, 4), 1)", 1, 8),
    ],
)
def test_how_many_classes(text, layers, hops):
    assert [plan(text, modes).max_vcs for modes in (None, "hops", "updown")] == [layers, hops, 1]


@pytest.mark.parametrize("text", ["slim_fly(3)", "dragonfly(3, 2)"])
def test_classes_that_wait_in_a_cycle_are_refused(text):
    rule = table_rule(build(text), "hops")
    port = rule.table & ((1 << VC_SHIFT) - 1)
    with pytest.raises(RuleError, match=r"can deadlock: \d+ virtual channels wait in a cycle"):
        prove(replace(rule, table=np.ascontiguousarray(port), num_vcs=(1,) * len(rule.num_vcs)))


def test_a_table_that_leads_nowhere_is_refused():
    rule = table_rule(build("slim_fly(3)"))
    table = rule.table.copy()
    table[3, 0] = len(rule.network.ports)
    with pytest.raises(RuleError, match="takes no valid hop at node 0 to 3"):
        prove(replace(rule, table=table))


def test_lanes():
    one, two = (plan("dragonfly(3, 2)", lanes=lanes) for lanes in (1, 2))
    assert (one.max_vcs, two.max_vcs, two.lanes) == (2, 4, 2)
    for dst in range(6):
        lanes = {vc & 1 for _, _, vc in two.rule.route(20, dst)}
        assert lanes <= {dst & 1}


@pytest.mark.parametrize("modes", TABLE_MODES)
@pytest.mark.parametrize("text", ["dragonfly(3, 2)", "fat_tree(4)", "concentrated(mesh(2, 2), 3)"])
def test_the_model_delivers_every_packet(text, modes):
    machine = make_machine(fabric_spec(text, modes=modes, packet_length=1))
    nodes, terminals = machine.network.num_nodes, machine.network.num_terminals
    pairs = [(src, dst) for src in range(terminals) for dst in range(terminals) if src != dst]
    source, destination = np.array(pairs, np.int64).T
    first = np.searchsorted(source, np.arange(nodes + 1))
    traffic = Traffic(first, destination, np.zeros(len(pairs), np.int64))
    out = FabricModel(machine).run(traffic, max_cycles=100_000)
    assert sorted(out.packet) == list(range(len(pairs)))
    assert (out.node == destination[out.packet]).all()
    assert out.flit_hops == sum(len(machine.plan.rule.route(*pair)) for pair in pairs)


def test_what_is_refused():
    network = build("fat_tree(4)")
    with pytest.raises(
        SpecError, match=r"modes of fat_tree\(4\), which is routed by tables, must be one of layers, updown, hops"
    ):
        table_rule(network, "f")
    with pytest.raises(SpecError, match="lanes must be 1 or 2, not 3"):
        table_rule(network, lanes=3)
    with pytest.raises(SpecError, match=r"node 16 of fat_tree\(4\) has no terminal: no route leads to it"):
        table_rule(network).route(0, 16)
    with pytest.raises(SpecError, match="is routed by tables, which have at most 67108864 routes"):
        table_rule(build("jellyfish(8194, 3)"))
    assert isinstance(rule_of(build("cube(3)")), HopRule)
    with pytest.raises(SpecError, match=r"no hardware is made for fat_tree\(4\): it is routed by tables, which only"):
        _ = plan(network.spec).circuit_rule


@pytest.mark.parametrize("text", ["fat_tree(4)", "slim_fly(3)"])
def test_rates_are_of_nodes_with_a_terminal(text):
    found = hdnhw.simulate(text, rate=0.1, cycles=4000, packet_length=1)
    assert found.offered_rate == pytest.approx(0.1, rel=0.1)
    assert found.accepted_rate == pytest.approx(found.offered_rate, rel=0.01)
