"""Paths of least total length against networkx, and the checker against paths that are wrong."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from hdnhw.multipath.flows import fault_of_linkage, fault_of_paths, shortest_disjoint_paths, shortest_linkage
from hdnhw.networks.build import build
from hdnhw.topology.connectivity import disjoint_paths
from hdnhw.topology.metrics import neighbor_table


def table_of(graph):
    width = max(1, *(degree for _, degree in graph.degree))
    return np.array([sorted(graph[node]) + [-1] * (width - len(graph[node])) for node in sorted(graph)], np.int32)


def least_cost(graph, source, target):
    split = nx.DiGraph()
    for node in graph:
        split.add_edge((node, 0), (node, 1), capacity=1, weight=0)
        for other in graph[node]:
            split.add_edge((node, 1), (other, 0), capacity=1, weight=1)
    flow = nx.max_flow_min_cost(split, (source, 1), (target, 0))
    return sum(flow[source, 1].values()), nx.cost_of_flow(split, flow)


@given(st.integers(4, 12), st.floats(0.2, 0.8), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
@example(12, 0.25, 46)  # what a path takes back counts
def test_random_graphs_against_networkx(nodes, density, seed):
    graph = nx.gnp_random_graph(nodes, density, seed=seed)
    assume(graph.number_of_edges())
    paths = shortest_disjoint_paths(table_of(graph), 0, nodes - 1)
    assert fault_of_paths(graph.__getitem__, 0, nodes - 1, paths) is None
    assert (len(paths), sum(len(path) - 1 for path in paths)) == least_cost(graph, 0, nodes - 1)


@pytest.mark.parametrize("text", ["hsn(2, cube(2))", "ccc(3)", "petersen()", "mesh(3, 4)", "crossed_cube(3)"])
def test_networks_against_the_maximum_flow(text):
    network = build(text)
    table = neighbor_table(network)
    for target in range(1, network.num_nodes):
        paths = shortest_disjoint_paths(table, 0, target)
        assert fault_of_paths(lambda node: network.neighbors(node).values(), 0, target, paths) is None
        if target not in table[0]:
            assert len(paths) == disjoint_paths(table, 0, target)


def test_no_path():
    assert shortest_disjoint_paths(table_of(nx.empty_graph(3)), 0, 2) == []


def test_two_nodes_are_needed():
    with pytest.raises(ValueError, match="paths must be between two nodes, not from 1 to itself"):
        shortest_disjoint_paths(table_of(nx.path_graph(3)), 1, 1)


@pytest.mark.parametrize(
    ("paths", "fault"),
    [
        ([[0, 1, 2, 3], [0, 5, 4, 3]], None),
        ([[0, 1, 2]], "[0, 1, 2] does not lead from 0 to 3"),
        ([[0]], "[0] does not lead from 0 to 3"),
        ([[0, 3]], "no edge from 0 to 3"),
        ([[0, 1, 2, 1, 2, 3]], "[0, 1, 2, 1, 2, 3] visits a node twice"),
        ([[0, 1, 0, 1, 2, 3]], "[0, 1, 0, 1, 2, 3] visits a node twice"),
        ([[0, 1, 2, 3], [0, 5, 4, 3], [0, 1, 2, 3]], "two paths over 1"),
    ],
)
def test_the_checker(paths, fault):
    assert fault_of_paths(nx.cycle_graph(6).__getitem__, 0, 3, paths) == fault


def test_an_edge_cannot_be_two_paths():
    assert fault_of_paths(nx.path_graph(2).__getitem__, 0, 1, [[0, 1], [0, 1]]) == "two paths over the edge from 0 to 1"


@given(st.integers(4, 12), st.floats(0.2, 0.8), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_sets_of_random_graphs_against_networkx(nodes, density, seed):
    graph = nx.gnp_random_graph(nodes, density, seed=seed)
    sources, targets = [0, 1, 2], [2, 3]
    whole = graph.copy()
    whole.add_edges_from([*(("from", node) for node in sources), *(("to", node) for node in targets)])
    paths = shortest_linkage(table_of(graph), sources, targets)
    count, hops = least_cost(whole, "from", "to")
    assert (len(paths), sum(len(path) - 1 for path in paths)) == (count, hops - 2 * count)
    assert fault_of_linkage(graph.__getitem__, [path[0] for path in paths], [path[-1] for path in paths], paths) is None


@pytest.mark.parametrize(
    ("sources", "targets", "paths", "fault"),
    [
        ([0, 1], [3, 4], [[0, 5, 4], [1, 2, 3]], None),
        ([3], [4, 2], [[3, 4], [3, 2]], None),
        ([4, 2], [3], [[4, 3], [2, 3]], None),
        ([0, 1], [0, 2], [[0], [1, 2]], None),
        ([0, 1], [3, 4], [[0, 5, 4]], None),
        ([0, 1], [3, 4], [[0, 5, 4], [0, 1, 2, 3]], "the paths do not begin at [0, 1], one each"),
        ([0, 1], [3, 4], [[0, 5, 4], [2, 3]], "the paths do not begin at [0, 1], one each"),
        ([0, 1], [3, 4], [[0, 5, 4], [1, 2]], "the paths do not end at [3, 4], one each"),
        ([0, 1], [3, 4], [[0, 4], [1, 2, 3]], "no edge from 0 to 4"),
        ([0, 1], [4, 5], [[0, 5, 4], [1, 0, 5]], "two paths over 0"),
        ([0], [2, 4], [[0, 1, 2], [0, 1, 0, 5, 4]], "[0, 1, 0, 5, 4] visits a node twice"),
        ([0], [1, 2], [[0, 1], [0, 1, 2]], "two paths over 1"),
    ],
)
def test_faults_of_paths_between_sets(sources, targets, paths, fault):
    assert fault_of_linkage(nx.cycle_graph(6).__getitem__, sources, targets, paths) == fault
