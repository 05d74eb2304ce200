"""Disjoint paths by address: every edge, every node, every count, against the flow and the bound."""

from collections import Counter
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bench import linkages
from hdnhw.multipath.disjoint import disjoint_routes, is_addressable, length_bound, linked_routes, short_routes
from hdnhw.multipath.flows import shortest_disjoint_paths
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import distances_from, neighbor_table
from hdnhw.topology.symmetry import symmetry

FACTORS = ["cube(1)", "torus(3)", "torus(4)", "torus(5)", "complete(3)", "complete(4)"]


def assert_disjoint(network, src, dst, paths, around=None):
    """A checker of its own: it asks the network for neighbors and nothing else."""
    assert len(paths) == len(network.ports)
    inner = [node for path in paths for node in path[1:-1]]
    assert len(set(inner) | {src, dst}) == len(inner) + 2
    assert sum(len(path) == 2 for path in paths) <= 1
    for path in paths:
        assert (path[0], path[-1]) == (src, dst)
        for one, other in pairwise(path):
            assert other in (network.neighbors(one).values() if around is None else around[one])


def longest(network, sources):
    most, around = 0, [set(row) for row in neighbor_table(network).tolist()]
    for src in sources:
        for dst in range(network.num_nodes):
            if dst != src:
                paths = disjoint_routes(network, src, dst)
                assert_disjoint(network, src, dst, paths, around)
                most = max(most, len(paths[-1]) - 1)
    return most


@pytest.mark.parametrize(
    "text",
    [
        "cube(3)",
        "torus(3, 5)",
        "ghc(3, 4)",
        "rdn(cube(1), 1)",
        "rdn(torus(3), 1)",
        "hdn(cube(2), [[0]])",
        "hdn(cube(2), [[0, 1]])",
        "hdn(cube(3), [[0, 1, 2]])",
        "hdn(torus(5), [[0]])",
    ],
)
def test_all_pairs_of_small_networks(text):
    network = build(text)
    assert longest(network, range(network.num_nodes)) <= length_bound(network)


@pytest.mark.parametrize(
    "text",
    ["hdn(cube(3), [[2]])", "hdn(cube(2), [[0], [0, 1]])", "hdn(cube(1), [[], [0]])", "dualcube(3)"],
)
def test_every_kind_of_source(text):
    network = build(text)
    orbits = symmetry(neighbor_table(network)).node_orbit
    assert longest(network, np.unique(orbits, return_index=True)[1].tolist()) <= length_bound(network)


@pytest.mark.parametrize(("text", "most"), [("rdn(cube(2), 2)", 17), ("hdn(cube(3), [[2], [0, 1, 2]])", 20)])
def test_every_kind_of_source_of_a_large_network(text, most):
    network = build(text)
    orbits = symmetry(neighbor_table(network)).node_orbit
    assert longest(network, np.unique(orbits, return_index=True)[1].tolist()) == most


@pytest.mark.parametrize(("r", "most"), [(2, 7), (3, 9), (4, 9)])
def test_all_pairs_of_dual_cubes(r, most):
    """The wide diameter of a dual-cube is 2 r + 1 from r = 4 on (Tsai, Chen and Tan)."""
    network = build(f"dualcube({r})")
    assert longest(network, range(network.num_nodes)) == length_bound(network) == most


@pytest.mark.parametrize("r", [5, 6])
def test_drawn_pairs_of_dual_cubes(r):
    network, random = build(f"dualcube({r})"), np.random.default_rng(r)
    assert length_bound(network) == 2 * r + 1
    for _ in range(150):
        src, dst = random.choice(network.num_nodes, 2, replace=False).tolist()
        paths = disjoint_routes(network, src, dst)
        assert_disjoint(network, src, dst, paths)
        assert len(paths[-1]) - 1 <= 2 * r + 1


@st.composite
def networks(draw):
    factors = draw(st.lists(st.sampled_from(FACTORS), min_size=1, max_size=4))
    levels = draw(st.lists(st.sets(st.integers(0, len(factors) - 1)), min_size=1, max_size=5))
    try:
        return build(f"hdn(product({', '.join(factors)}), {[sorted(level) for level in levels]})")
    except SpecError:
        assume(False)


@st.composite
def networks_and_pairs(draw):
    """Near pairs and far ones; most of these networks have more nodes than could be searched."""
    network = draw(networks())
    src = draw(st.integers(0, network.num_nodes - 1))
    dst = draw(st.integers(0, network.num_nodes - 1))
    ports = sorted(network.neighbors(0))
    if draw(st.booleans()):
        dst = src
        for port in draw(st.lists(st.sampled_from(ports), min_size=1, max_size=6)):
            dst = network.neighbors(dst)[port]
    assume(src != dst)
    return network, src, dst


@given(networks_and_pairs())
@settings(max_examples=40, deadline=None)
def test_random_networks_of_any_size(drawn):
    paths = disjoint_routes(*drawn)
    assert_disjoint(*drawn, paths)
    assert len(paths[-1]) - 1 <= length_bound(drawn[0])
    assert_disjoint(*drawn, short_routes(*drawn))


@given(networks_and_pairs())
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
def test_many_random_networks(drawn):
    paths = disjoint_routes(*drawn)
    assert_disjoint(*drawn, paths)
    assert len(paths[-1]) - 1 <= length_bound(drawn[0])


@pytest.mark.parametrize("text", ["hdn(cube(3), [[2]])", "rdn(cube(2), 1)", "hdn(cube(2), [[0], [0, 1]])"])
def test_the_flow_finds_no_more_and_is_no_longer(text):
    network = build(text)
    table, total = neighbor_table(network), Counter()
    for dst in range(1, network.num_nodes, 3):
        paths = {
            "flow": shortest_disjoint_paths(table, 0, dst),
            "short": short_routes(network, 0, dst),
            "address": disjoint_routes(network, 0, dst),
        }
        assert_disjoint(network, 0, dst, paths["short"])
        assert len(paths["flow"]) == len(network.ports)
        hops = {name: sum(map(len, some)) for name, some in paths.items()}
        assert hops["flow"] <= hops["short"] <= hops["address"]
        total.update(hops)
    assert total["short"] < 1.06 * total["flow"]


@pytest.mark.parametrize("text", linkages.NETWORKS[::5])
def test_drawn_sets_are_linked(text):
    network, random = build(text), Random(text)
    for _ in range(6):
        ends = linkages.draw(network, random)
        assert linkages.fault(network, ends, linked_routes(network, *ends), length_bound(network)) is None


def test_a_node_and_all_sets_of_three():
    network = build("rdn(cube(1), 2)")
    for targets in ([1, 2, 64], [5, 100, 127], [126, 127, 125]):
        paths = linked_routes(network, [0], targets)
        assert linkages.fault(network, ([0], targets), paths, length_bound(network)) is None
        assert linkages.most_paths(network, ([0], targets)) == len(paths)


@pytest.mark.parametrize(
    ("ends", "paths", "bound", "fault"),
    [
        (([0, 3], [1, 5]), [[0, 1], [3, 7, 5]], 2, None),
        (([0, 3], [1, 5]), [[0, 1], [3, 7, 5]], 1, "long"),
        (([0, 3], [1, 5]), [[0, 1], [3, 5]], 2, "edge"),
        (([0, 3], [1, 5]), [[0, 2, 6, 7, 5], [3, 7, 6, 4, 5]], 9, "targets"),
        (([0, 3], [1, 5]), [[0, 4, 5], [0, 1]], 9, "sources"),
        (([0, 3], [2, 5]), [[0, 2], [3, 2, 6, 7, 5]], 9, "shared"),
        (([0], [3, 5]), [[0, 1, 3], [0, 1, 5]], 9, "shared"),
        (([0], [3, 5]), [[0, 1, 3], [0, 4, 0, 4, 5]], 9, "shared"),
    ],
)
def test_the_checker_of_sets_sees_what_is_wrong(ends, paths, bound, fault):
    assert linkages.fault(build("cube(3)"), ends, paths, bound) == fault


def test_neighbors_have_the_edge_between_them():
    network = build("hdn(cube(2), [[0], [0, 1]])")
    for src in range(0, network.num_nodes, 5):
        for dst in network.neighbors(src).values():
            assert disjoint_routes(network, src, dst)[0] == [src, dst]


def test_the_first_path_in_a_cube_is_shortest():
    network = build("cube(4)")
    distance = distances_from(network, 5)
    for dst in range(16):
        if dst != 5:
            hops = [len(path) - 1 for path in disjoint_routes(network, 5, dst)]
            assert hops == [distance[dst]] * distance[dst] + [distance[dst] + 2] * (4 - distance[dst])


def test_a_network_too_large_to_search():
    network = build("rdn(cube(3), 3)")
    for dst in (1, 70_088_888, 2**31 - 1):
        assert_disjoint(network, 0, dst, disjoint_routes(network, 0, dst))


@pytest.mark.parametrize("text", ["mesh(3, 3)", "star(3)", "hsn(2, cube(2))"])
def test_networks_it_is_not_for(text):
    network = build(text)
    assert not is_addressable(network)
    assert length_bound(network) is None
    with pytest.raises(SpecError, match="paths by address are for products of symmetric factors and dual-nets over "):
        short_routes(network, 0, 1)


def test_two_nodes_are_needed():
    with pytest.raises(ValueError, match="paths must be between two nodes, not from 3 to itself"):
        disjoint_routes(build("rdn(cube(1), 1)"), 3, 3)
