"""Bisections against all halves of small graphs, closed forms, networkx, and the RDN paper's claim."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdnhw.networks.build import build
from hdnhw.topology.cut_bound import bound_around, known_bound
from hdnhw.topology.cuts import bisection, cut_edges, known_halves, spectral_cut
from hdnhw.topology.metrics import neighbor_table


def cut_of(text, **how):
    network = build(text)
    return bisection(neighbor_table(network), known_halves(network), **how)


def table_of(graph):
    rows = [sorted(graph[node]) for node in sorted(graph)]
    width = max(map(len, rows))
    return np.array([row + [-1] * (width - len(row)) for row in rows], np.int32)


def graph_of(table):
    return nx.Graph((node, int(other)) for node, row in enumerate(table) for other in row if other >= 0)


@given(st.integers(2, 9), st.integers(0, 10**6))
@settings(max_examples=20)
def test_random_graphs_against_all_halves(nodes, seed):
    graph = nx.random_labeled_tree(nodes, seed=seed)
    graph.add_edges_from(nx.gnp_random_graph(nodes, 0.4, seed=seed).edges)
    found = bisection(table_of(graph))
    assert spectral_cut(table_of(graph)) <= found.edges
    inside = set(np.flatnonzero(found.inside).tolist())
    assert len(inside) in (nodes // 2, (nodes + 1) // 2)
    assert found.edges == nx.cut_size(graph, inside)
    assert found.edges == min(nx.cut_size(graph, half) for half in combinations(graph, nodes // 2))
    assert found.exact


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("torus(2)", 1),
        ("cube(7)", 64),
        ("torus(12)", 2),
        ("torus(8, 16)", 16),
        ("torus(4, 4, 6)", 32),
        ("mesh(4, 5)", 5),
        ("mesh(6, 10)", 6),
        ("complete(9)", 20),
        ("ghc(4, 4)", 16),
        ("hdn(cube(3), [[0, 1, 2]])", 8),
    ],
)
def test_closed_forms(text, edges):
    found = cut_of(text, quick=True)
    assert (found.edges, found.exact) == (edges, True)


@pytest.mark.parametrize(
    ("text", "edges", "claimed"),
    [
        ("rdn(cube(1), 1)", 2, 2),
        ("rdn(torus(3), 1)", 5, 5),
        ("rdn(torus(4), 1)", 8, 8),
        ("rdn(complete(4), 1)", 8, 8),
        ("dualcube(3)", 8, 8),
        ("rdn(torus(6), 1)", 12, 18),
        ("rdn(torus(8), 1)", 16, 32),
        ("rdn(torus(10), 1)", 20, 50),
        ("rdn(cube(1), 2)", 16, 32),
    ],
)
def test_the_bisection_of_recursive_dual_nets_as_claimed_or_less(text, edges, claimed):
    """RDN paper, Theorem 1: a quarter of the nodes."""
    found = cut_of(text, quick=True)
    assert -(-build(text).num_nodes // 4) == claimed
    assert (found.edges, found.exact) == (edges, True)


@pytest.mark.parametrize(
    ("text", "edges"), [("rdn(torus(5), 1)", 13), ("rdn(complete(5), 1)", 13), ("hdn(cube(3), [[2]])", 16)]
)
def test_proved_by_the_search(text, edges):
    assert not cut_of(text, quick=True).exact
    found = cut_of(text)
    assert (found.edges, found.exact) == (edges, True)


@pytest.mark.parametrize(
    ("text", "most", "claimed"),
    [
        ("rdn(torus(2, 5), 1)", 48, 50),
        ("rdn(torus(2, 3, 5), 1)", 424, 450),
        ("rdn(torus(5, 5), 1)", 299, 313),
        ("rdn(torus(3), 2)", 90, 162),
    ],
)
def test_cuts_smaller_than_claimed(text, most, claimed):
    network = build(text)
    table, found = neighbor_table(network), cut_of(text, quick=True)
    assert found.at_least <= found.edges <= most < claimed == -(-network.num_nodes // 4)
    assert nx.cut_size(graph_of(table), set(np.flatnonzero(found.inside).tolist())) == found.edges
    assert 2 * found.inside.sum() == network.num_nodes


@pytest.mark.parametrize(
    "text", ["rdn(cube(3), 1)", "hdn(torus(3, 4), [[0]])", "hdn(cube(2), [[0], [0, 1]])", "mesh(5, 7)"]
)
def test_no_worse_than_networkx(text):
    graph, found = graph_of(neighbor_table(build(text))), cut_of(text, quick=True)
    for seed in range(5):
        half, _ = nx.algorithms.community.kernighan_lin_bisection(graph, seed=seed)
        assert found.at_least <= found.edges <= nx.cut_size(graph, half)


@pytest.mark.parametrize(
    "text", ["rdn(cube(2), 1)", "hdn(cube(2), [[0], [0]])", "hdn(torus(4, 3), [[1]])", "dualcube(4)"]
)
def test_the_known_half_cuts_no_cross_edge_of_the_highest_level(text):
    network = build(text)
    table, (half,) = neighbor_table(network), known_halves(network)
    assert np.array_equal(half[table[:, -1]], half)
    assert 2 * half.sum() == network.num_nodes
    clusters = len(half) // 2 // (1 if network.levels[-1].cluster else len(half))
    assert cut_edges(table, half) <= clusters * cut_edges(table[:, :-1], half)
    assert known_halves(build("cube(3)")) == []


def test_the_same_cut_twice():
    one, other = (cut_of("hdn(torus(2, 5), [[0]])", quick=True) for _ in range(2))
    assert np.array_equal(one.inside, other.inside)


def test_a_search_that_is_given_up_proves_nothing(monkeypatch):
    monkeypatch.setattr("hdnhw.topology.cut_search.SEARCH_TREE", 0)
    found = cut_of("hdn(cube(3), [[2]])")
    assert (found.edges, found.at_least, found.exact) == (16, 14, False)


def test_without_a_bound_nothing_is_proved_either(monkeypatch):
    monkeypatch.setattr("hdnhw.topology.flow.MOST_NODES", 8)
    monkeypatch.setattr("hdnhw.topology.cuts.SPECTRAL_NODES", 8)
    found = cut_of("cube(6)", quick=True)
    assert (found.edges, found.at_least, found.exact) == (32, 0, False)


@pytest.mark.parametrize(
    ("text", "edges"),
    [("complete(9)", 20), ("complete(2)", 1), ("cube(7)", 64), ("petersen()", 5)],
)
def test_the_spectral_bound_is_reached_and_never_above(text, edges):
    """It is a whole number here, so any excess shows."""
    assert spectral_cut(neighbor_table(build(text))) == edges


def test_what_rounding_leaves_is_taken_off_the_spectral_bound(monkeypatch):
    monkeypatch.setattr("hdnhw.topology.cuts.SPECTRAL_BITS", 6)
    assert 0 < spectral_cut(neighbor_table(build("slim_fly(5)"))) < 63


@pytest.mark.parametrize(
    ("text", "at_least"), [("slim_fly(5)", 63), ("dragonfly(8, 4)", 166), ("jellyfish(64, 5, 1)", 20)]
)
def test_networks_of_which_a_flow_says_little(text, at_least):
    assert cut_of(text, quick=True).at_least == at_least


def test_a_graph_in_two_parts_has_no_spectral_bound():
    assert spectral_cut(table_of(nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(4)))) == 0


def least_around(table):
    """Return the fewest edges around any set of 0, 1, ... nodes."""
    sets = np.arange(1 << len(table))
    bits = [sets >> node & 1 for node in range(len(table))]
    edges = sum(bits[node] ^ bits[other] for node, row in enumerate(table) for other in row if other > node)
    return [int(edges[sum(bits) == inside].min()) for inside in range(len(table) + 1)]


@pytest.mark.parametrize(
    "text",
    [
        "rdn(cube(1), 1)",
        "hdn(cube(2), [[0]])",
        "hdn(torus(3), [[0]])",
        "hdn(cube(1), [[0], [0]])",
        "cube(4)",
        "torus(15)",
        "torus(3, 5)",
        "mesh(3, 5)",
        "complete(7)",
    ],
)
def test_the_bound_holds_around_every_set(text):
    network = build(text)
    found = least_around(neighbor_table(network))
    bounds = [bound_around(network, inside) for inside in range(len(found))]
    assert all(bound <= least for bound, least in zip(bounds, found, strict=True))
    assert max(bounds) > 0


@pytest.mark.parametrize(
    ("text", "edges"),
    [("rdn(cube(3), 1)", 32), ("dualcube(4)", 32), ("rdn(torus(3, 3), 1)", 41), ("hdn(cube(3), [[2]])", 16)],
)
def test_the_bound_proves_cuts_that_the_flow_does_not(text, edges):
    network = build(text)
    found = cut_of(text, at_least=known_bound(network), quick=True)
    assert (found.edges, found.at_least, found.exact) == (edges, edges, True)
    assert cut_of(text, quick=True).at_least < edges


def test_no_bound_is_known_of_other_networks():
    assert known_bound(build("hsn(2, cube(2))")) == 0


def test_the_bound_is_not_above_the_load_that_a_flow_reaches():
    """The same share of a product's factor, from the linear program in place of the closed form."""
    from hdnhw.topology.flow import least_load

    for text in ("torus(7)", "torus(6, 5)", "mesh(5)", "mesh(4, 3)", "complete(5)", "ghc(3, 4)"):
        network = build(text)
        flow = least_load(neighbor_table(network))
        half = network.num_nodes // 2
        most = half * (network.num_nodes - half) / flow.reached
        assert bound_around(network, half) <= np.ceil(most - 1e-6)
