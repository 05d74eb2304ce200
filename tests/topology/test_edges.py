"""Networks that are lists of edges."""

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdnhw.spec import cube
from hdnhw.topology.edges import color_edges, network_of_edges
from hdnhw.topology.metrics import neighbor_table, summarize_distances


def edges_of(table):
    return sorted((node, other) for node, row in enumerate(table.tolist()) for other in row if node < other)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 14), st.floats(0.2, 1), st.integers(0, 1000))
def test_a_coloring_is_proper_and_small(nodes, density, seed):
    graph = networkx.gnp_random_graph(nodes, density, seed=seed)
    table = color_edges(nodes, graph.edges)
    assert edges_of(table) == sorted(tuple(sorted(edge)) for edge in graph.edges)
    for color in range(table.shape[1]):
        behind = table[:, color]
        there = np.flatnonzero(behind >= 0)
        assert (behind[behind[there]] == there).all()
    most = max((degree for _, degree in graph.degree), default=0)
    assert table.shape[1] <= most + 2


@pytest.mark.parametrize("sizes", [(5, 5), (3, 8)])
def test_a_graph_without_odd_cycles_has_as_many_colors_as_its_degree(sizes):
    graph = networkx.complete_bipartite_graph(*sizes)
    assert color_edges(sum(sizes), graph.edges).shape[1] == max(sizes)


def test_a_network_with_switches():
    network = network_of_edges(cube(1), 4, [(0, 3), (1, 3), (2, 3)], num_terminals=3)
    assert (network.num_nodes, network.num_terminals, len(network.ports)) == (4, 3, 3)
    found = summarize_distances(network)
    assert (found.diameter, found.average_distance, found.histogram) == (2, 2, (1, 0, 2))
    table = neighbor_table(network)
    assert all(network.ports[port].opposite == port for port in range(3))
    assert sorted(network.neighbors(3).values()) == [0, 1, 2] == sorted(table[3].tolist())
    assert network.port_sets == {(0,), (1,), (2,), (0, 1, 2)}
    assert sum(network.port_count(port) for port in range(3)) == 6


def test_names():
    network = network_of_edges(cube(1), 2, [(0, 1)], names=["left", "right"])
    assert (network.parse_node("right"), network.parse_node("0"), network.paper_address(1)) == (1, 0, "right")
    with pytest.raises(ValueError, match="must be 0 to 1"):
        network.parse_node("middle")
