"""Symmetry against orbits that nauty found, groups of known order, and networkx on random graphs."""

import json
from math import factorial
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdnhw.networks.build import build
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.symmetry import differ, symmetry

REFERENCE = Path(__file__).parents[1] / "reference" / "networks.json"
INSTANCES = [
    instance
    for instance in json.loads(REFERENCE.read_text())["instances"]
    if "node_orbits" in instance and not instance["spec"].startswith("hsn")
]


def table_of(text):
    return neighbor_table(build(text))


def table_of_graph(graph):
    rows = [sorted(graph[node]) for node in sorted(graph)]
    width = max(1, *map(len, rows))
    return np.array([row + [-1] * (width - len(row)) for row in rows], np.int32)


def classes(labels):
    """Return the sets of things with one label."""
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance["spec"])
def test_as_many_orbits_as_nauty_found(instance):
    found = symmetry(table_of(instance["spec"]))
    assert found.node_orbit.max() + 1 == instance["node_orbits"]
    assert found.edge_orbit.max() + 1 == instance["edge_orbits"]
    assert found.node_symmetric == (instance["node_orbits"] == 1)
    assert found.edge_symmetric == (instance["edge_orbits"] == 1)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("torus(2)", 2),
        ("torus(7)", 14),
        ("mesh(5)", 2),
        ("mesh(3, 3)", 8),
        ("cube(6)", 2**6 * factorial(6)),
        ("torus(4, 4)", 2**4 * factorial(4)),
        ("complete(20)", factorial(20)),
        ("ghc(4, 4)", factorial(4) ** 2 * 2),
        ("rdn(cube(3), 1)", 48 * 48 * 2),
    ],
)
def test_groups_of_known_order(text, order):
    assert symmetry(table_of(text)).order == order


@given(st.integers(2, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, 2 ** (n * (n - 1) // 2) - 1))))
@settings(max_examples=50)
def test_random_graphs_against_all_isomorphisms(drawn):
    nodes, bits = drawn
    graph = nx.empty_graph(nodes)
    pairs = [(one, other) for other in range(nodes) for one in range(other)]
    graph.add_edges_from(pair for place, pair in enumerate(pairs) if bits >> place & 1)
    found = symmetry(table_of_graph(graph))
    maps = list(nx.isomorphism.GraphMatcher(graph, graph).isomorphisms_iter())
    assert found.order == len(maps)
    assert classes(found.node_orbit) == {frozenset(image[node] for image in maps) for node in graph}
    for label, orbit in enumerate(np.unique(found.edge_orbit[found.edge_orbit >= 0])):
        assert label == orbit
    edges = {frozenset(frozenset((image[u], image[v])) for image in maps) for u, v in graph.edges}
    assert found.edge_orbit.max() + 1 == len(edges)
    arcs = {frozenset((image[u], image[v]) for image in maps) for u, v in [*graph.edges, *nx.DiGraph(graph).edges]}
    assert found.channel_orbit.max() + 1 == len(arcs)


@pytest.mark.parametrize("make", [nx.petersen_graph, nx.frucht_graph, nx.heawood_graph, nx.dodecahedral_graph])
def test_named_graphs(make):
    graph = make()
    orders = {"petersen_graph": 120, "frucht_graph": 1, "heawood_graph": 336, "dodecahedral_graph": 120}
    found = symmetry(table_of_graph(graph))
    assert found.order == orders[make.__name__]
    assert found.node_symmetric == found.edge_symmetric == (make is not nx.frucht_graph)


def test_orbits_of_what_lies_behind_each_port():
    found = symmetry(table_of("mesh(4)"))
    assert classes(found.node_orbit) == {frozenset({0, 3}), frozenset({1, 2})}
    out, middle, back = found.channel_orbit[0, 0], found.channel_orbit[1, 0], found.channel_orbit[1, 1]
    assert found.channel_orbit.tolist() == [[out, -1], [middle, back], [back, middle], [-1, out]]
    ends, between = found.edge_orbit[0, 0], found.edge_orbit[1, 0]
    assert found.edge_orbit.tolist() == [[ends, -1], [between, ends], [ends, between], [-1, ends]]


def test_with_a_node_held_in_place():
    found = symmetry(table_of("cube(3)"), fixed=5)
    assert (found.order, found.node_symmetric) == (6, False)
    assert classes(found.node_orbit) == {frozenset(group) for group in ({5}, {4, 7, 1}, {6, 0, 3}, {2})}


def test_given_up_after_too_much_work():
    table = table_of("rdn(cube(2), 1)")
    assert symmetry(table, work=20 * table.size) is None
    assert symmetry(table, work=1000 * table.size) is not None


@pytest.mark.parametrize("instance", INSTANCES[::3], ids=lambda instance: instance["spec"])
def test_what_differs_is_not_alike(instance):
    table = table_of(instance["spec"])
    edges = [(0, int(other)) for other in table[0] if other >= 0]
    nodes = [(node,) for node in range(0, len(table), 1 + len(table) // 16)]
    assert differ(table, edges) <= (instance["edge_orbits"] > 1)
    assert differ(table, nodes) <= (instance["node_orbits"] > 1)


def test_nodes_and_edges_that_differ():
    table = table_of("hdn(cube(2), [[0], [0, 1]])")
    assert differ(table, [(0,), (1,)])
    assert not differ(table, [(0,), (1,)], rounds=1)
    assert differ(table_of("rdn(cube(3), 2)"), [(0, 1), (0, 16384)])
