"""The least time of an all-gather against all cuts and closed forms, and packings against a count of their own."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hdnhw.networks.build import build
from hdnhw.topology.branchings import best_packing, grown_packing
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.packing import Packing, allgather_time, allreduce_bound, shortest_packing

TWO_TRIANGLES = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)]
"""Joined by one edge, over which three words must go in each direction."""


def table_of(spec):
    return neighbor_table(build(spec))


def table_of_edges(nodes, edges):
    rows = [[] for _ in range(nodes)]
    for one, other in edges:
        rows[one].append(other)
        rows[other].append(one)
    width = max(map(len, rows))
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows], np.int32)


def random_table(seed, nodes):
    """Return a random tree with some more edges."""
    random = np.random.default_rng(seed)
    edges = {(int(random.integers(node)), node) for node in range(1, nodes)}
    edges |= {tuple(sorted(random.choice(nodes, 2, replace=False).tolist())) for _ in range(random.integers(nodes))}
    return table_of_edges(nodes, sorted(edges))


def by_cuts(table, terminals=False):
    """Return the largest of |S| / channels out, over all S but the whole; S is of ends, which may be terminals."""
    nodes = len(table)
    channels = [(node, int(other)) for node in range(nodes) for other in table[node] if other >= 0]
    most = Fraction(0)
    for inside in product((0, 1), repeat=nodes * (2 if terminals else 1)):
        ends = inside[-nodes:]
        if 0 < sum(ends) < nodes:
            out = sum(inside[one] > inside[other] for one, other in channels)
            if terminals:
                out += sum(inside[node] != ends[node] for node in range(nodes))
            most = max(most, Fraction(sum(ends), out))
    return most


@pytest.mark.parametrize("seed", range(12))
def test_least_time_is_that_of_the_worst_cut(seed):
    table = random_table(seed, 4 + seed % 5)
    assert allgather_time(table) == by_cuts(table)


def test_a_cut_in_the_middle_counts():
    table = table_of_edges(6, TWO_TRIANGLES)
    assert allgather_time(table) == by_cuts(table) == 3 > Fraction(5, 2)


@pytest.mark.parametrize(
    "edges", [[(0, 1)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)]]
)
def test_behind_terminals_it_is_one_word_a_cycle(edges):
    nodes = 1 + max(map(max, edges))
    table = table_of_edges(nodes, edges)
    assert allgather_time(table, terminals=True) == by_cuts(table, terminals=True) == nodes - 1


@pytest.mark.parametrize(
    ("spec", "time"),
    [
        ("torus(2)", 1),
        ("torus(7)", 3),
        ("torus(12)", Fraction(11, 2)),
        ("complete(6)", 1),
        ("cube(4)", Fraction(15, 4)),
        ("torus(3, 5)", Fraction(14, 4)),
        ("mesh(3, 4)", Fraction(11, 2)),
        ("mesh(5)", 4),
        ("hdn(cube(2), [[0], [1]])", Fraction(255, 4)),
        ("hsn(3, cube(2))", Fraction(63, 2)),
    ],
)
def test_closed_forms(spec, time):
    assert allgather_time(table_of(spec)) == time


def test_no_network_in_pieces():
    table = table_of_edges(4, [(0, 1), (2, 3)])
    with pytest.raises(ValueError, match="two nodes or more, of a connected network"):
        allgather_time(table)


def loads_one_by_one(packing):
    """Walk from every node to every source along every tree; return how many trees use each channel."""
    nodes = len(packing.table)
    used = {}
    for tree in range(packing.trees):
        for source in range(nodes):
            assert packing.ports[tree, source, source] == -1
            for node in set(range(nodes)) - {source}:
                at, hops = node, 0
                while at != source:
                    at = int(packing.table[at, packing.ports[tree, source, at]])
                    hops += 1
                    assert at >= 0
                    assert hops < nodes
                assert hops == packing.depths[tree, source, node]
                channel = int(packing.table[node, packing.ports[tree, source, node]]), node
                used[channel] = used.get(channel, 0) + 1
    return used


@pytest.mark.parametrize("spec", ["cube(3)", "torus(3, 4)", "hdn(cube(2), [[0]])", "hsn(2, cube(1))", "mesh(2, 3)"])
@pytest.mark.parametrize("pack", [shortest_packing, lambda table: grown_packing(table, allgather_time(table))])
def test_trees_reach_the_least_time(spec, pack):
    table = table_of(spec)
    packing = pack(table)
    used = loads_one_by_one(packing)
    assert max(used.values()) == packing.load
    assert Fraction(max(used.values()), packing.trees) == packing.time == allgather_time(table)


@pytest.mark.parametrize("seed", range(8))
def test_grown_trees_reach_it_on_any_network(seed):
    table = random_table(seed, 4 + seed % 4)
    packing = grown_packing(table, allgather_time(table))
    assert Fraction(max(loads_one_by_one(packing).values()), packing.trees) == allgather_time(table)


def test_no_trees_do_with_less():
    with pytest.raises(ValueError, match="more than the channels"):
        grown_packing(table_of("cube(2)"), Fraction(10, 7))


def test_shortest_routes_are_not_always_enough():
    table = table_of("ccc(3)")
    assert shortest_packing(table).time == 9
    assert best_packing(table).time == allgather_time(table) == Fraction(23, 3)


@pytest.mark.parametrize("spec", ["rdn(cube(3), 1)", "hsn(2, cube(3))", "torus(8, 8)", "star(4)", "petersen()"])
def test_shortest_routes_are_enough(spec):
    packing = best_packing(table_of(spec))
    assert packing.time == allgather_time(packing.table)
    assert packing.depths.max() == build(spec).diameter_formula


def test_faults_of_trees():
    packing = shortest_packing(table_of("torus(5)"))
    ports = packing.ports.copy()
    ports[0, 0, [1, 2]] = [0, 1]
    with pytest.raises(ValueError, match="lead in a circle"):
        _ = Packing(packing.table, ports).depths
    ports[0, 0, 1] = -1
    with pytest.raises(ValueError, match="lacks the port"):
        _ = Packing(packing.table, ports).depths


def fewest_calls(nodes):
    """Return how many one-way calls let every node know what all know, by search over who knows what."""
    start = tuple(1 << node for node in range(nodes))
    states, calls = {start}, 0
    while not any(min(state) == (1 << nodes) - 1 for state in states):
        calls += 1
        states = {
            tuple(sorted((*state[:there], state[there] | state[here], *state[there + 1 :])))
            for state in states
            for here in range(nodes)
            for there in range(nodes)
            if state[here] & ~state[there]
        }
    return calls


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_an_allreduce_needs_as_many_words_as_gossip_needs_calls(nodes):
    table = table_of(f"complete({nodes})")
    assert allreduce_bound(table) * int((table >= 0).sum()) == fewest_calls(nodes) == 2 * nodes - 2


def test_an_allreduce_gets_its_own_length_over_a_single_port():
    assert allreduce_bound(table_of_edges(4, [(0, 1), (1, 2), (2, 0), (2, 3)])) == 1
