"""The paper's Algorithms 2 to 6 as printed: what they make, and where they fail, counted by a checker of its own."""

import pytest

from hdnhw.claims.literal.disjoint import fan, literal_routes, without_loops
from hdnhw.multipath.flows import fault_of_paths
from hdnhw.multipath.path_faults import case_of, pairs_of_case
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError

EXAMPLE = "hdn(cube(3), [[2], [0, 1, 2]])"


def is_good(network, pair, paths):
    fault = fault_of_paths(lambda node: network.neighbors(node).values(), *pair, paths)
    return len(paths) == len(network.ports) and fault is None


def test_figure_5_has_four_paths_to_four_clusters():
    network = build("hdn(cube(3), [[2]])")
    for node in range(network.num_nodes):
        paths = fan(network, node)
        ends = {path[-1] // 8 for path in paths}
        assert len(paths) == len(ends) == 4
        assert all(end // 4 != node // 32 for end in ends)
        assert len({other for path in paths for other in path}) == sum(map(len, paths)) - 3
    assert len(fan(network, 0, own_edge=False)) == 3


def test_figures_7_and_9_work():
    network = build("hdn(cube(3), [[2]])")
    for dst in range(1, network.num_nodes):
        paths = literal_routes(network, 0, dst)
        if case_of(network, 0, dst) == "A":
            paths = [without_loops(path) for path in paths]
        if case_of(network, 0, dst) != "B":
            assert is_good(network, (0, dst), paths)


def test_case_b_fails_on_the_network_of_figure_8():
    network = build("hdn(cube(3), [[2]])")
    pairs = [(0, dst) for dst in range(32, 64)]
    good = [is_good(network, pair, literal_routes(network, *pair)) for pair in pairs]
    assert 0.6 < sum(good) / len(good) < 0.8


def test_case_c_goes_straight_back():
    network = build(EXAMPLE)
    pairs = pairs_of_case(network, "C", 60, 2)
    repeats = shared = third = 0
    for pair in pairs:
        paths = literal_routes(network, *pair)
        repeats += any(len(set(path)) < len(path) for path in paths)
        shared += not is_good(network, pair, [without_loops(path) for path in paths])
        over = [without_loops(path) for path in literal_routes(network, *pair, third_cluster=True)]
        third += is_good(network, pair, over)
    assert repeats > 0.7 * len(pairs)
    assert shared > 0.2 * len(pairs)
    assert third == len(pairs)


def test_super_nodes_run_out():
    network = build("hdn(cube(2), [[0], [0, 1]])")
    assert len(fan(network, 0)) < len(network.ports)
    assert len(literal_routes(network, 0, 127)) < len(network.ports)


def test_the_ends_of_every_path():
    network = build(EXAMPLE)
    for case in "ABC":
        for src, dst in pairs_of_case(network, case, 20, 3):
            assert all((path[0], path[-1]) == (src, dst) for path in literal_routes(network, src, dst))


def test_two_ends_of_a_cross_edge():
    network = build("hdn(cube(3), [[2]])")
    other = network.neighbors(5)["cross1"]
    assert [5, other] in literal_routes(network, 5, other)


@pytest.mark.parametrize(("text", "message"), [("cube(3)", "has no levels"), ("star(3)", "is neither")])
def test_networks_it_is_not_for(text, message):
    with pytest.raises(SpecError, match=message):
        literal_routes(build(text), 0, 1)


def test_two_nodes_are_needed():
    with pytest.raises(ValueError, match="paths must be between two nodes, not from 3 to itself"):
        literal_routes(build("rdn(cube(1), 1)"), 3, 3)
