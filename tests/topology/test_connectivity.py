"""Node connectivity against reference figures, networkx, and paths that can be seen."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdnhw.networks.build import build
from hdnhw.topology.connectivity import disjoint_paths, node_connectivity
from hdnhw.topology.metrics import neighbor_table, switch_table
from hdnhw.topology.symmetry import symmetry

REFERENCE = Path(__file__).parents[1] / "reference" / "networks.json"
INSTANCES = [
    instance
    for instance in json.loads(REFERENCE.read_text())["instances"]
    if "node_connectivity" in instance and not instance["spec"].startswith("hsn") and instance["n"] <= 256
]


def table_of(text):
    return neighbor_table(build(text))


def table_of_graph(graph):
    rows = [sorted(graph[node]) for node in sorted(graph)]
    width = max(1, *map(len, rows))
    return np.array([row + [-1] * (width - len(row)) for row in rows], np.int32)


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance["spec"])
def test_it_is_that_of_the_reference(instance):
    table = table_of(instance["spec"])
    assert node_connectivity(table, symmetry(table)) == instance["node_connectivity"]


@given(st.integers(2, 9), st.floats(0.2, 0.9), st.integers(0, 10**6))
@settings(max_examples=50)
def test_random_graphs_against_networkx(nodes, density, seed):
    graph = nx.gnp_random_graph(nodes, density, seed=seed)
    table = table_of_graph(graph)
    expected = nx.node_connectivity(graph)
    assert node_connectivity(table, None) == expected
    assert node_connectivity(table, symmetry(table)) == expected


@pytest.mark.parametrize(
    ("graph", "connectivity"),
    [
        (nx.path_graph(2), 1),
        (nx.complete_graph(6), 5),
        (nx.star_graph(5), 1),
        (nx.barbell_graph(4, 0), 1),
        (nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3)), 0),
        (nx.petersen_graph(), 3),
        (nx.complete_bipartite_graph(3, 5), 3),
    ],
)
def test_known_graphs(graph, connectivity):
    table = table_of_graph(graph)
    assert node_connectivity(table, None) == node_connectivity(table, symmetry(table)) == connectivity


def test_disjoint_paths():
    table = table_of("mesh(3, 3)")
    assert [disjoint_paths(table, 0, 8), disjoint_paths(table, 1, 7), disjoint_paths(table, 0, 4)] == [2, 3, 2]


def test_too_much_work():
    table = table_of("mesh(3, 3)")
    assert node_connectivity(table, None, work=24 * 17) == 2
    assert node_connectivity(table, None, work=24 * 16) is None


@pytest.mark.parametrize(
    ("text", "connectivity"),
    [("fat_tree(4)", 2), ("fat_tree(6)", 3), ("concentrated(torus(3, 3), 2)", 4), ("cube(3)", None)],
)
def test_switches_by_themselves(text, connectivity):
    network = build(text)
    table = neighbor_table(network)
    between = switch_table(network, table)
    assert (None if between is None else node_connectivity(between, symmetry(between))) == connectivity
    if connectivity is not None:
        assert node_connectivity(table, symmetry(table)) == 1
        graph = nx.Graph((node, int(other)) for node, row in enumerate(table) for other in row if other >= 0)
        switches = range(network.num_terminals, network.num_nodes)
        assert nx.node_connectivity(graph.subgraph(switches)) == connectivity
