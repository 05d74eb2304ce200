"""Waypoints: every leg walked hop by hop, and what they can reach against breadth-first search."""

from itertools import pairwise, permutations

import networkx as nx
import numpy as np
import pytest

from hdnhw.multipath import waypoints
from hdnhw.multipath.waypoints import Detours, RouteTable
from hdnhw.rules.plan import plan
from hdnhw.support.errors import SpecError
from hdnhw.topology.faults import Faults, draw_faults

SPECS = ("rdn(cube(2), 1)", "hdn(cube(2), [[0]])", "torus(5, 4)", "hsn(2, cube(2))", "ccc(3)", "mesh(11, 6)")


def is_alive(made, faults, nodes):
    """Whether the routes from each of `nodes` to the next meet nothing dead, by walking them."""
    for src, dst in pairwise(nodes):
        if faults.nodes[dst]:
            return False
        for node, port, _ in made.rule.route(src, dst):
            if faults.nodes[node] or faults.channels[node, port]:
                return False
    return True


def bit(matrix, src, dst):
    return bool(int(matrix[src, dst // 64]) >> dst % 64 & 1)


@pytest.fixture(scope="module", params=SPECS)
def scene(request):
    made = plan(request.param)
    table = RouteTable(made)
    nodes = made.network.num_nodes
    rng = np.random.default_rng(7)
    return made, table, draw_faults(table.neighbors, rng, nodes=nodes // 8, channel_rate=0.04)


def test_legs_are_those_of_the_rule(scene):
    made, table, faults = scene
    legs = table.legs(faults)
    alive = np.flatnonzero(~faults.nodes)
    for src, dst in permutations(alive.tolist()[:24], 2):
        due = len(made.rule.route(src, dst)) if is_alive(made, faults, [src, dst]) else -1
        assert legs[src, dst] == due
    assert (legs[faults.nodes] == -1).all()
    assert (legs[:, faults.nodes] == -1).all()


def test_connected_by_another_search(scene):
    _, table, faults = scene
    graph = nx.DiGraph()
    graph.add_nodes_from(np.flatnonzero(~faults.nodes).tolist())
    for node, port in np.argwhere((table.neighbors >= 0) & ~faults.channels).tolist():
        other = int(table.neighbors[node, port])
        if not (faults.nodes[node] or faults.nodes[other]):
            graph.add_edge(node, other)
    found = Detours(table, faults).connected
    for node in graph:
        assert {other for other in range(len(found)) if bit(found, node, other)} == nx.descendants(graph, node) | {node}


@pytest.mark.parametrize("two_way", [False, True])
def test_waypoints_lead_there(scene, two_way):
    made, table, faults = scene
    detours = Detours(table, faults)
    reached = detours.reached(2, two_way=two_way)
    for src in np.flatnonzero(~faults.nodes).tolist()[::5]:
        for dst, chosen in enumerate(detours.choose(src, 2, two_way=two_way)):
            count = next((most for most, matrix in enumerate(reached) if bit(matrix, src, dst)), None)
            assert count == (None if chosen is None else len(chosen))
            if chosen is not None:
                stops = [src, *chosen, dst]
                assert is_alive(made, faults, stops)
                assert not two_way or is_alive(made, faults, stops[-2::-1])


def test_the_fewest_hops_of_the_fewest_waypoints(scene):
    made, table, faults = scene
    alive = np.flatnonzero(~faults.nodes).tolist()
    hops = {pair: len(made.rule.route(*pair)) for pair in permutations(alive, 2) if is_alive(made, faults, pair)}
    src = alive[3]
    for dst, chosen in enumerate(Detours(table, faults).choose(src, 1)):
        if chosen:
            via = [hops[src, mid] + hops[mid, dst] for mid in alive if (src, mid) in hops and (mid, dst) in hops]
            assert hops[src, chosen[0]] + hops[chosen[0], dst] == min(via)
            assert (src, dst) not in hops


def test_fractions_count_pairs(scene):
    _, table, faults = scene
    detours = Detours(table, faults)
    alive = np.flatnonzero(~faults.nodes).tolist()
    pairs = [pair for pair in permutations(alive, 2) if bit(detours.connected, *pair)]
    shares = [sum(bit(matrix, *pair) for pair in pairs) / len(pairs) for matrix in detours.reached(3)]
    assert detours.fractions(3) == pytest.approx(shares)
    assert shares == sorted(shares)
    assert detours.connected_share == pytest.approx(len(pairs) / (len(alive) * (len(alive) - 1)))


def test_nothing_dead_needs_no_waypoint():
    table = RouteTable(plan("rdn(cube(2), 1)"))
    detours = Detours(table, draw_faults(table.neighbors, np.random.default_rng(1)))
    assert detours.fractions(1) == [1.0, 1.0]
    assert set(detours.choose(5, 1)) == {()}


def test_a_ring_with_one_dead_channel():
    """Worked by hand: 0 -> 1 is dead in the ring of 5, so 0 reaches 1 and 2 by the other way round."""
    table = RouteTable(plan("torus(5)"))
    faults = Faults(np.zeros(5, bool), np.zeros((5, 2), bool))
    faults.channels[0, table.neighbors[0].tolist().index(1)] = True
    chosen = Detours(table, faults).choose(0, 2)
    assert chosen[3:] == [(), ()]
    assert chosen[1:3] == [(3,), (3,)]


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"nodes": 33}, "dead nodes must be 0 to 32, not 33"),
        ({"channel_rate": 1.5}, "channel rate must be 0 to 1, not 1.5"),
    ],
)
def test_more_faults_than_there_can_be(counts, message):
    table = RouteTable(plan("rdn(cube(2), 1)"))
    with pytest.raises(SpecError, match=message):
        draw_faults(table.neighbors, np.random.default_rng(1), **counts)


def test_too_large_a_network(monkeypatch):
    monkeypatch.setattr(waypoints, "MAX_NODES", 19)
    with pytest.raises(SpecError, match="waypoints need at most 19 nodes; torus"):
        RouteTable(plan("torus(5, 4)"))


def test_every_node_and_every_channel_between_healthy_ones_can_be_dead():
    table = RouteTable(plan("torus(5, 4)"))
    nodes, channels = np.zeros(20, int), np.zeros(table.neighbors.shape, int)
    for seed in range(400):
        faults = draw_faults(table.neighbors, np.random.default_rng(seed), nodes=3, channel_rate=0.05)
        healthy = ~faults.nodes[:, None] & ~faults.nodes[table.neighbors]
        assert faults.nodes.sum() == 3
        assert faults.channels.sum() == round(0.05 * healthy.sum())
        assert not (faults.channels & ~healthy).any()
        nodes += faults.nodes
        channels += faults.channels
    assert nodes.min() > 30
    assert channels.min() > 2
