"""Algorithms 1 and 2 of the RDN paper to the letter."""

import pytest

from hdnhw.claims.literal.total_exchange import Ident, literal_broadcast, literal_scatter, sizes_of
from hdnhw.networks.build import build


def informed(got, source):
    """Return how many nodes have the message; the source gets it from nobody."""
    assert got[source] == 0
    assert max(got) == 1
    return 1 + sum(got)


@pytest.mark.parametrize("text", ["rdn(torus(3), 1)", "rdn(cube(2), 1)", "rdn(cube(1), 2)"])
def test_ids_are_those_of_the_network(text):
    network = build(text)
    size = int((network.num_nodes // 2) ** 0.5)
    for node in range(network.num_nodes):
        ident = Ident(node // size**2, node // size % size, node % size)
        type_, cluster, inner = ident.partner
        cross = network.ports[-1].name
        assert network.neighbors(node)[cross] == (type_ * size + cluster) * size + inner


def test_by_hand_on_a_ring_of_eight():
    # s = (0, 0, 1): it tells s' = (1, 1, 0), both their clusters, and (0, 0, 0) alone passes on: to (1, 0, 0).
    assert literal_broadcast(2, 1, 1) == [1, 0, 0, 0, 1, 1, 1, 1]
    # s = (0, 0, 0): (0, 0, 1) and (1, 0, 1) pass on, to (1, 1, 0) and (0, 1, 0).
    assert literal_broadcast(2, 1, 0) == [0, 1, 1, 1, 1, 1, 1, 1]


def test_by_hand_a_scatter_on_a_ring_of_eight():
    # From (0, 0, 1): clusters of type 1 by way of C(s), and C(s) itself.
    assert literal_scatter(2, 1, 1) == [1, 1, 0, 0, 1, 1, 1, 1]


def test_to_the_letter_72_of_128_nodes_unless_both_ids_of_the_source_are_the_same():
    for source in range(128):
        expected = 128 if source // 8 % 8 == source % 8 else 72
        assert informed(literal_broadcast(8, 1, source), source) == expected
        assert sum(literal_scatter(8, 1, source)) == expected


@pytest.mark.parametrize(("base", "levels"), [(2, 1), (3, 1), (8, 1), (2, 2), (3, 2)])
def test_corrected_every_node_gets_it_once(base, levels):
    nodes = sizes_of(base, levels)[-1]
    for source in range(0, nodes, max(1, nodes // 16)):
        got = literal_broadcast(base, levels, source, right_senders=True)
        assert got == [int(node != source) for node in range(nodes)]
        assert literal_scatter(base, levels, source, right_senders=True, right_source=True) == [1] * nodes


def test_a_scatter_needs_both_corrections():
    assert sum(literal_scatter(3, 1, 1, right_senders=True)) == 12
    assert sum(literal_scatter(3, 1, 1, right_source=True)) == 12


def test_two_levels_of_three_cubes():
    assert informed(literal_broadcast(8, 2, 12345), 12345) == sum(literal_scatter(8, 2, 12345)) == 5256
    assert informed(literal_broadcast(8, 2, 0), 0) == sum(literal_scatter(8, 2, 0)) == 32768
