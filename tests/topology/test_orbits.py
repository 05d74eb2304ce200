"""Known automorphisms: they are automorphisms, and where factors differ there are no others."""

from math import prod

import numpy as np
import pytest

from hdnhw.networks.build import build
from hdnhw.topology import orbits
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.orbits import automorphisms, keeps_edges, representatives
from hdnhw.topology.symmetry import symmetry

NETWORKS = {
    "torus(4, 3)": 1,
    "mesh(3, 4)": 4,
    "dualcube(4)": 1,
    "rdn(cube(2), 2)": 1,
    "hdn(cube(2), [[0], [0, 1]])": 4,
    "hdn(torus(2, 3), [[0], [1]])": 5,
    "hdn(torus(2, 3), [[1], [0]])": 4,
    "hdn(ghc(3, 2), [[0, 1], [0]])": 1,
    "hdn(complete(4), [[], [0]])": 5,
    "hdn(torus(5), [[], [0]])": 13,
    "hdn(complete(2), [[0], [], [0]])": 4,
}
"""Networks, and how many orbits they have."""


def images(network):
    digits = network.decode(np.arange(network.num_nodes))
    return [network.encode(move(digits)) for move in automorphisms(network)]


@pytest.mark.parametrize("text", NETWORKS)
def test_edges_go_to_edges(text):
    network = build(text)
    table = neighbor_table(network)
    rows = np.sort(table, axis=1)
    for image in images(network):
        assert np.array_equal(np.sort(image), np.arange(network.num_nodes))
        assert np.array_equal(np.sort(np.where(table < 0, -1, image[table]), axis=1), rows[image])


@pytest.mark.parametrize(("text", "count"), NETWORKS.items())
def test_one_node_of_each_orbit(text, count):
    """The orbits are those of the whole group, which a search finds."""
    network = build(text)
    found = representatives(network)
    assert len(found) == count
    orbit = symmetry(neighbor_table(network)).node_orbit
    assert sorted((int(orbit[node]), size) for node, size in found) == list(enumerate(np.bincount(orbit)))


def test_orbits_join_where_two_factors_are_alike():
    network = build("hdn(cube(3), [[0], [0, 1, 2]])")
    assert len(representatives(network)) == 16
    assert symmetry(neighbor_table(network)).node_orbit.max() + 1 == 10


def test_a_map_of_one_node_is_that_of_many():
    network = build("hdn(torus(2, 3), [[0], [1]])")
    for move, image in zip(automorphisms(network), images(network), strict=True):
        assert network.encode(move(network.decode(77))) == image[77]


@pytest.mark.parametrize("text", [text for text in NETWORKS if "mesh" not in text])
def test_edges_are_kept_around_single_nodes(text):
    network = build(text)
    some = np.arange(0, network.num_nodes, 7)
    assert all(keeps_edges(network, move, some) for move in automorphisms(network))


def test_a_map_that_keeps_no_edges():
    network = build("hdn(torus(5), [[], [0]])")
    last = len(network.radices) - 1
    assert not keeps_edges(network, lambda digits: (*digits[:last], (digits[last] + 1) % 5), np.arange(50))


def test_too_many_orbits(monkeypatch):
    network = build("hdn(torus(5), [[], [0]])")
    monkeypatch.setattr(orbits, "MAX_ORBITS", 125)
    assert sum(size for _, size in representatives(network)) == prod(network.radices)
    monkeypatch.setattr(orbits, "MAX_ORBITS", 124)
    assert representatives(network) is None
    monkeypatch.setattr(orbits, "MAX_ORBITS", 8)
    assert representatives(build("mesh(8, 5)")) is None
