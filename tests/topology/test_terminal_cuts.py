"""Bisections of terminals among switches against all cuts of small graphs, published figures, and networkx."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hdnhw.networks.build import build
from hdnhw.topology import terminal_cuts
from hdnhw.topology.cuts import bisection, cut_edges
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.terminal_cuts import network_bisection, terminal_bisection
from tests.topology.test_cuts import graph_of, table_of

BOUNDS = (
    terminal_cuts._permutation_bound,
    terminal_cuts._spectral_bound,
    lambda core: terminal_cuts._flow_bound(core, quick=True),
)


def cut_of(text):
    network = build(text)
    return neighbor_table(network), network.num_terminals, network_bisection(network, neighbor_table(network))


def least_cut(graph, terminals):
    """Return the fewest edges between halves of the first nodes: the least cut of one set from the other, of all."""
    nx.set_edge_attributes(graph, 1, "capacity")
    joined, found = graph.to_directed(), []
    for half in combinations(range(terminals), terminals // 2):
        for node in range(terminals):
            joined.add_edge(*(("a", node) if node in half else (node, "b")))  # without a capacity
        found.append(nx.minimum_cut_value(joined, "a", "b") if half else 0)
        joined.remove_nodes_from(["a", "b"])
    return min(found)


@given(st.integers(1, 5), st.integers(0, 6), st.integers(2, 7), st.floats(0, 0.6), st.integers(0, 10**6))
@settings(max_examples=30)
@example(1, 5, 5, 0.0, 0)  # a star
@example(4, 0, 5, 0.6, 3)  # no leaves
@example(2, 7, 7, 0.0, 1)
def test_random_graphs_against_all_halves(switches, leaves, terminals, density, seed):
    """Switches in a random graph, leaves at them, and terminals with any links, which pass packets on."""
    leaves = min(leaves, terminals)
    inner = nx.random_labeled_tree(terminals - leaves + switches, seed=seed)
    inner.add_edges_from(nx.gnp_random_graph(len(inner), density, seed=seed).edges)
    graph = nx.relabel_nodes(inner, {node: node + leaves for node in inner})
    chosen = np.random.default_rng(seed).integers(leaves, leaves + len(inner), leaves).tolist()
    graph.add_edges_from(enumerate(chosen))
    table, least = table_of(graph), least_cut(graph, terminals)
    core = terminal_cuts._Core(table, terminals)
    best = terminal_cuts._best(core)
    cost = terminal_cuts._improve(core, best.copy())
    assert [cut_edges(table, core.whole(one)) for one in (best, ~best)] == [cost, cost]
    assert np.count_nonzero(core.weight) == 1 or all(core.least(bound(core)) <= least for bound in BOUNDS)
    found = terminal_bisection(table, terminals)
    assert (found.edges, found.at_least) == (least, least)
    assert int(found.inside[:terminals].sum()) in (terminals // 2, (terminals + 1) // 2)
    assert nx.cut_size(graph, set(np.flatnonzero(found.inside).tolist())) == least


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("fat_tree(2)", 1),
        ("fat_tree(4)", 8),
        ("fat_tree(6)", 27),
        ("fat_tree(8)", 64),
        ("fat_tree(12)", 216),
        ("concentrated(ghc(4, 4), 4)", 16),
        ("concentrated(ghc(8, 8), 8)", 128),
        ("concentrated(torus(8, 8), 2)", 16),
        ("concentrated(mesh(4, 5), 3)", 5),
        ("concentrated(cube(5), 3)", 16),
        ("concentrated(cube(5), 1)", 16),
        ("concentrated(complete(8), 2)", 8),
        ("concentrated(complete(2), 4)", 1),
    ],
)
def test_published_figures(text, edges):
    """k^3 / 8 of a fat tree, which is all that its nodes can send (Al-Fares et al., SIGCOMM 2008); k^3 / 4 of the
    flattened butterfly of k^2 switches (Kim, Dally and Abts, ISCA 2007); of tori, meshes and cubes that of the
    switches; and half the nodes where switches have more links than that.
    """
    table, terminals, found = cut_of(text)
    assert (found.edges, found.exact) == (edges, True)
    assert 2 * int(found.inside[:terminals].sum()) == terminals
    assert nx.cut_size(graph_of(table), set(np.flatnonzero(found.inside).tolist())) == edges


@pytest.mark.parametrize(("text", "at_least"), [("slim_fly(5)", 63), ("dragonfly(4, 2)", 20)])
def test_a_cut_of_switches_with_equally_many_nodes_is_one_of_their_nodes(text, at_least):
    inner = neighbor_table(build(text))
    table, _, found = cut_of(f"concentrated({text}, 3)")
    assert found.edges == bisection(inner, quick=True).edges
    assert found.at_least >= at_least
    assert cut_edges(table, found.inside) == found.edges


def test_switches_without_nodes_do_not_count():
    """Two stars of four nodes, of which one has a chain of switches behind it: the link between the stars is enough."""
    graph = nx.Graph([(node, 8 + node // 4) for node in range(8)] + [(8, 9), (9, 10), (10, 11), (11, 12), (12, 13)])
    found = terminal_bisection(table_of(graph), 8)
    assert (found.edges, found.exact) == (1, True)
    assert found.inside[[0, 1, 2, 3, 8]].all() != found.inside[[4, 5, 6, 7, 9]].all()


def test_what_rounding_leaves_is_taken_off_the_spectral_bound(monkeypatch):
    table, terminals, found = cut_of("concentrated(slim_fly(5), 4)")
    assert (found.edges, found.at_least) == (65, 63)
    monkeypatch.setattr("hdnhw.topology.cuts.SPECTRAL_BITS", 8)
    core = terminal_cuts._Core(table, terminals)
    assert 0 < core.least(terminal_cuts._spectral_bound(core)) < 63


def test_the_same_cut_twice():
    one, other = (cut_of("concentrated(dragonfly(4, 2), 2)")[2] for _ in range(2))
    assert np.array_equal(one.inside, other.inside)
