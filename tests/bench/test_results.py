"""The results of docs/results, on the smallest networks."""

from fractions import Fraction

import numpy as np
import pytest

from bench import long_vectors, node_symmetry, total_exchange, wide_diameter
from hdnhw.claims.families import dual_net
from hdnhw.multipath.disjoint import length_bound
from hdnhw.networks.build import build
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.symmetry import symmetry


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("hdn(cube(2), [[0]])", (5, 40, 40)),
        ("hdn(complete(2), [[0], []])", (6, 104, 104)),
        ("hdn(torus(6), [[0]])", (4, 24, 24)),
        ("rdn(torus(6), 1)", (8, 312, 312)),
        ("rdn(cube(3), 1)", (8, 560, 560)),
        ("hdn(complete(2), [[], [0]])", (9, 304, Fraction(597, 2))),
        ("hdn(cube(2), [[0], [0, 1]])", (10, 672, 661)),
        ("hdn(torus(2, 4), [[1], [0, 1]])", (11, 1472, 1450)),
    ],
)
def test_an_exchange_of_the_fewest_startups(text, cost):
    assert total_exchange.check(dual_net(text)) == cost


@pytest.mark.parametrize("text", ["hdn(complete(2), [[], [0]])", "hdn(torus(4), [[0], [0]])"])
def test_no_step_of_it_can_be_left_out(text):
    network = dual_net(text)
    partners = [total_exchange.partners_of(network, step) for step in total_exchange.steps_of(network)]
    sources = np.arange(network.num_nodes)
    assert total_exchange.least_hops(partners, sources, len(sources)).max() < total_exchange.NEVER
    for step in range(len(partners)):
        fewer = [*partners[:step], *partners[step + 1 :]]
        assert total_exchange.least_hops(fewer, sources, len(sources)).max() == total_exchange.NEVER


@pytest.mark.parametrize(
    ("text", "antipodes"),
    [
        ("rdn(torus(4), 1)", 1),
        ("hdn(complete(2), [[], [0]])", 1),
        ("rdn(torus(3), 1)", 4),
        ("hdn(torus(2, 3), [[1]])", 2),
        ("rdn(complete(4), 1)", 9),
    ],
)
def test_how_many_nodes_are_farthest(text, antipodes):
    assert total_exchange.distances(dual_net(text))[1] == antipodes


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("rdn(cube(3), 1)", 4608),
        ("hdn(torus(5), [[]])", 200),
        ("hdn(cube(3), [[2]])", 256),
        ("hdn(complete(2), [[], []])", 512),
        ("hdn(cube(2), [[0, 1]])", 48),
        ("hdn(torus(8), [[0], [0]])", 512),
        ("hdn(torus(4), [[0], []])", 4608),
    ],
)
def test_how_many_automorphisms_nested_networks_have(text, order):
    network = dual_net(text)
    assert symmetry(neighbor_table(network)).order == order == node_symmetry.nested_order(network)


@pytest.mark.parametrize(
    "text", ["hdn(complete(2), [[], [0]])", "hdn(cube(2), [[0], [0, 1]])", "hdn(torus(2, 3), [[0], [1]])"]
)
def test_nodes_differ_where_super_nodes_are_not_nested(text):
    network = dual_net(text)
    first, fewest = node_symmetry.closed_walks(network)
    assert fewest < first
    found = symmetry(neighbor_table(network))
    assert not found.node_symmetric
    assert found.order == node_symmetry.known_order(network)


@pytest.mark.parametrize(
    ("text", "bound", "most"),
    [("rdn(cube(2), 1)", 9, 9), ("hdn(cube(2), [[0]])", 8, 8), ("hdn(complete(2), [[], [0]])", 18, 16)],
)
def test_disjoint_paths_are_no_longer_than_proved(text, bound, most):
    network = dual_net(text)
    assert length_bound(network) == bound
    assert wide_diameter.longest(network)[0] == most <= bound


@pytest.mark.parametrize("free", [(), (0,), (0, 1)])
def test_walks_are_no_longer_than_proved(free):
    most, proved = wide_diameter.longest_walk(dual_net("hdn(cube(2), [[0], [0, 1]])"), free)
    assert most == proved == 10 - len(free)


@pytest.mark.parametrize(
    ("text", "time", "trees"),
    [
        ("rdn(cube(2), 1)", Fraction(31, 3), 4),
        ("hdn(torus(2, 3), [[1]])", Fraction(23, 4), 4),
        ("hsn(3, complete(3))", 13, 1),
        ("torus(4, 6)", Fraction(23, 4), 8),
    ],
)
def test_trees_by_digits_take_the_least_time(text, time, trees):
    assert long_vectors.digit_time(build(text)) == (time, trees)
