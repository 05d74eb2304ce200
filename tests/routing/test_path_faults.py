"""Trials with failed nodes against exact probabilities."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from hdnhw.routing.disjoint import disjoint_routes
from hdnhw.routing.path_faults import case_of, clusters_of, hops_of_pairs, pairs_of_case, try_faults
from hdnhw.spec import parse
from hdnhw.topology.network import build

SMALL = "rdn(cube(1), 1)"


def exact(network, pair, failed):
    """Fail every set of nodes in turn: shares of all and of any, and mean hops of what is left."""
    paths = [(set(path[1:-1]), len(path) - 1) for path in disjoint_routes(network, *pair)]
    others = [node for node in range(network.num_nodes) if node not in pair]
    every = some = intact = hops = 0
    for dead in combinations(others, failed):
        left = [length for inner, length in paths if not inner & set(dead)]
        every += len(left) == len(paths)
        some += bool(left)
        intact += len(left)
        hops += sum(left)
    sets = comb(len(others), failed)
    return every / sets, some / sets, hops / intact if intact else None


@pytest.mark.parametrize("failed", [0, 1, 2, 3])
def test_every_set_of_failed_nodes(failed):
    network, pair = build(parse(SMALL)), (0, 3)
    (point,) = try_faults(8, hops_of_pairs(network, [pair]), [failed / 8], trials=100_000, seed=3)
    every, some, hops = exact(network, pair, failed)
    assert point.all_paths == pytest.approx(every, abs=0.01)
    assert point.any_path == pytest.approx(some, abs=0.01)
    assert point.mean_hops == pytest.approx(hops, abs=0.05)


def test_no_path_left():
    (point,) = try_faults(4, np.array([[2, 2]], np.int32), [0.5], trials=10, seed=1)
    assert (point.all_paths, point.any_path, point.mean_hops) == (0.0, 0.0, None)


def test_the_seed_is_all_that_matters():
    hops = np.array([[3, 4], [5, 5]], np.int32)
    one, same, other = (try_faults(50, hops, [0.1, 0.2], trials=9000, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one != other


@pytest.mark.parametrize("rate", [-0.1, 0.9, 1.0])
def test_two_nodes_must_be_left(rate):
    with pytest.raises(ValueError, match="fault rate must leave two nodes of 8, not "):
        try_faults(8, np.array([[2]], np.int32), [rate], trials=1, seed=1)


@pytest.mark.parametrize("text", [SMALL, "hdn(cube(2), [[0], [0, 1]])", "dualcube(3)"])
def test_pairs_of_each_case(text):
    network = build(parse(text))
    for case in "ABC":
        pairs = pairs_of_case(network, case, 300, 1)
        assert {case_of(network, *pair) for pair in pairs} == {case}
        assert pairs == pairs_of_case(network, case, 300, 1)
        assert len({src for src, _ in pairs}) > network.num_nodes // 2


def test_one_cluster_a_class_has_no_case_c():
    network = build(parse("hdn(cube(2), [[0, 1]])"))
    assert {case_of(network, *pair) for pair in pairs_of_case(network, "B", 20, 1)} == {"B"}
    with pytest.raises(ValueError, match="has one cluster a class: no two nodes are of Case C"):
        pairs_of_case(network, "C", 1, 1)


def test_clusters():
    network = build(parse(SMALL))
    paths = [0, 1], [0, 4, 6], [0, 1, 5, 7, 3]
    here, there, below, beside = (0, 0), (1, 0), (1, 1), (0, 1)
    assert [clusters_of(network, path) for path in paths] == [
        {here},
        {here, there, below},
        {here, there, below, beside},
    ]


def test_clusters_of_a_dualcube_are_joined_by_the_cube_of_its_low_or_middle_bits():
    network = build(parse("dualcube(3)"))
    for node in range(network.num_nodes):
        near = network.neighbors(node)
        assert [case_of(network, node, near[port]) for port in ("dim0", "dim1", "cross1")] == ["A", "A", "B"]
