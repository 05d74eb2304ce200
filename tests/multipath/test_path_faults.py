"""Trials with failed nodes against exact probabilities."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from hdnhw.multipath.disjoint import disjoint_routes
from hdnhw.multipath.path_faults import (
    Estimate,
    PathSample,
    case_of,
    clusters_of,
    fault_points,
    pairs_of_case,
    sample_paths,
)
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError

SMALL = "rdn(cube(1), 1)"


def exact(network, pair, failed):
    """Fail every set of nodes in turn: shares of all and of any; intact paths, their hops and their clusters a set."""
    paths = [(set(path[1:-1]), path) for path in disjoint_routes(network, *pair)]
    on_paths = sorted(set().union(*(inner for inner, _ in paths)))
    off = network.num_nodes - 2 - len(on_paths)
    totals = np.zeros(5)
    for dead in (set(some) for size in range(failed + 1) for some in combinations(on_paths, size)):
        left = [path for inner, path in paths if not inner & dead]
        hops, clusters = sum(len(path) - 1 for path in left), sum(len(clusters_of(network, path)) for path in left)
        sets = comb(off, failed - len(dead))
        totals += np.array([len(left) == len(paths), bool(left), len(left), hops, clusters]) * sets
    return totals / comb(network.num_nodes - 2, failed)


@pytest.mark.parametrize("failed", range(6))
@pytest.mark.parametrize("text", ["rdn(cube(1), 1)", "hdn(cube(2), [[0]])"])
def test_every_set_of_failed_nodes(text, failed):
    network = build(text)
    pairs = [(0, 1), (0, 3), (0, network.num_nodes - 1)]
    nodes = network.num_nodes
    (point,) = fault_points(nodes, sample_paths(network, pairs), [failed / nodes])
    found = [exact(network, pair, failed) for pair in pairs]
    assert (point.failed, point.pairs) == (failed, 3)
    for number, estimate in enumerate((point.all_paths, point.any_path)):
        shares = [shares[number] for shares in found]
        assert estimate.mean == pytest.approx(np.mean(shares), abs=1e-12)
        assert estimate.error == pytest.approx(np.std(shares, ddof=1) / 3**0.5, abs=1e-12)
    intact, hops, clusters = (sum(shares[number] for shares in found) for number in (2, 3, 4))
    assert point.mean_hops.mean == pytest.approx(hops / intact)
    assert point.mean_clusters.mean == pytest.approx(clusters / intact)


def test_no_path_left():
    (point,) = fault_points(4, PathSample(*[np.array([[2, 2]])] * 2), [0.5])
    assert (point.all_paths, point.any_path) == (Estimate(0.0, 0.0), Estimate(0.0, 0.0))
    assert (point.mean_hops, point.mean_clusters) == (None, None)


def test_errors_are_those_of_pairs_drawn_again():
    network = build("hdn(cube(2), [[0]])")
    again = [
        fault_points(32, sample_paths(network, pairs_of_case(network, "B", 60, seed)), [0.125])[0] for seed in range(60)
    ]
    for name in ("all_paths", "any_path", "mean_hops", "mean_clusters"):
        found = [getattr(point, name) for point in again]
        spread = np.std([estimate.mean for estimate in found], ddof=1)
        assert np.mean([estimate.error for estimate in found]) == pytest.approx(spread, rel=0.3)


def test_errors_are_those_of_the_jackknife():
    """Of a ratio too: leave out each pair in turn (Efron and Tibshirani, An Introduction to the Bootstrap, 11.2)."""
    network, count = build("hdn(cube(2), [[0]])"), 200
    sample = sample_paths(network, pairs_of_case(network, "B", count, 1))

    def point_of(kept):
        return fault_points(32, PathSample(sample.hops[kept], sample.clusters[kept]), [0.125])[0]

    places = np.arange(count)
    whole, parts = point_of(places), [point_of(places != left_out) for left_out in places]
    for name in ("all_paths", "any_path", "mean_hops", "mean_clusters"):
        means = np.array([getattr(part, name).mean for part in parts])
        error = np.sqrt((count - 1) / count * ((means - means.mean()) ** 2).sum())
        assert getattr(whole, name).error == pytest.approx(error, rel=0.02)


@pytest.mark.parametrize("rate", [-0.1, 0.9, 1.0])
def test_two_nodes_must_be_left(rate):
    with pytest.raises(ValueError, match="fault rate must leave two nodes of 8, not "):
        fault_points(8, PathSample(*[np.array([[2]])] * 2), [rate])


def test_what_makes_no_paths():
    network = build(SMALL)
    with pytest.raises(SpecError, match="no disjoint paths were found for any of 2 pairs"):
        sample_paths(network, [(0, 3), (0, 1)], lambda *_: [])
    with pytest.raises(SpecError, match="paths left need at most 24 ports per node"):
        sample_paths(build("rdn(cube(25), 1)"), [(0, 1)])


@pytest.mark.parametrize("text", [SMALL, "hdn(cube(2), [[0], [0, 1]])", "dualcube(3)"])
def test_pairs_of_each_case(text):
    network = build(text)
    for case in "ABC":
        pairs = pairs_of_case(network, case, 300, 1)
        assert {case_of(network, *pair) for pair in pairs} == {case}
        assert pairs == pairs_of_case(network, case, 300, 1)
        assert len({src for src, _ in pairs}) > network.num_nodes // 2


def test_one_cluster_a_class_has_no_case_c():
    network = build("hdn(cube(2), [[0, 1]])")
    assert {case_of(network, *pair) for pair in pairs_of_case(network, "B", 20, 1)} == {"B"}
    with pytest.raises(ValueError, match="has one cluster a class: no two nodes are of Case C"):
        pairs_of_case(network, "C", 1, 1)


def test_clusters():
    network = build(SMALL)
    paths = [0, 1], [0, 4, 6], [0, 1, 5, 7, 3]
    here, there, below, beside = (0, 0), (1, 0), (1, 1), (0, 1)
    assert [clusters_of(network, path) for path in paths] == [
        {here},
        {here, there, below},
        {here, there, below, beside},
    ]


def test_clusters_of_a_dualcube_are_joined_by_the_cube_of_its_low_or_middle_bits():
    network = build("dualcube(3)")
    for node in range(network.num_nodes):
        near = network.neighbors(node)
        assert [case_of(network, node, near[port]) for port in ("dim0", "dim1", "cross1")] == ["A", "A", "B"]
