"""Claims of the disjoint-path paper: verdicts that are known, and what changes them."""

import pytest

from hdnhw.claims import disjoint_fans, disjoint_faults, disjoint_networks, disjoint_paths
from hdnhw.claims.claim import Verdict
from hdnhw.claims.disjoint import CLAIMS
from hdnhw.claims.families import dual_net
from hdnhw.claims.literal.algorithm1 import base_routing_calls
from hdnhw.claims.literal.disjoint import length_bounds
from hdnhw.topology.metrics import distances_from


@pytest.fixture
def small(monkeypatch):
    """Few networks, pairs and trials."""
    monkeypatch.setattr(disjoint_networks, "MOST", 36)
    monkeypatch.setattr(disjoint_paths, "MOST", 64)
    monkeypatch.setattr(disjoint_paths, "SAMPLE", 25)
    monkeypatch.setattr(disjoint_faults, "PAIRS", 40)
    monkeypatch.setattr(disjoint_faults, "MORE_PAIRS", 60)
    monkeypatch.setattr(disjoint_faults, "TRIALS", 4000)
    for made in (disjoint_faults._paths, disjoint_faults._points):
        made.cache_clear()
    yield
    for made in (disjoint_faults._paths, disjoint_faults._points):
        made.cache_clear()


def test_every_check_is_its_own():
    assert len({claim.check for claim in CLAIMS}) == len(CLAIMS) > 25
    assert {claim.paper for claim in CLAIMS} == {"DISJ"}


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (disjoint_networks.example, Verdict.HOLDS),
        (disjoint_networks.lemmas, Verdict.HOLDS),
        (disjoint_paths.figure4, Verdict.HOLDS),
        (disjoint_paths.algorithm3, Verdict.MISPRINT),
        (disjoint_fans.figure4_ends, Verdict.HOLDS),
        (disjoint_fans.figure5, Verdict.HOLDS),
        (disjoint_fans.figure7, Verdict.HOLDS),
        (disjoint_fans.figure9, Verdict.HOLDS),
        (disjoint_fans.algorithm4, Verdict.FALSE),
        (disjoint_fans.calls, Verdict.FALSE),
        (disjoint_paths.enough_super_nodes, Verdict.PARTLY),
        (disjoint_paths.existence, Verdict.HOLDS),
        (disjoint_paths.theorem3, Verdict.FALSE),
        (disjoint_paths.case_b, Verdict.FALSE),
        (disjoint_paths.fan_length, Verdict.FALSE),
        (disjoint_paths.theorem4_solved, Verdict.MISPRINT),
        (disjoint_faults.clusters_used, Verdict.HOLDS),
        (disjoint_faults.clusters_of_pairs_a, Verdict.HOLDS),
        (disjoint_faults.clusters_of_pairs_b, Verdict.FALSE),
        (disjoint_faults.clusters_c, Verdict.MISPRINT),
        (disjoint_faults.limits, Verdict.HOLDS),
        (disjoint_faults.figure13, Verdict.HOLDS),
    ],
)
@pytest.mark.usefixtures("small")
def test_verdicts(check, verdict):
    assert check().verdict == verdict


@pytest.mark.usefixtures("small")
def test_the_order_of_the_cases_can_hold(monkeypatch):
    assert disjoint_faults.order().verdict == Verdict.FALSE
    means = {"A": (1.5, 0.1), "B": (3.9, 0.01), "C": (3.7, 0.01)}
    monkeypatch.setattr(disjoint_faults, "_mean_clusters", lambda case, _: means[case])
    assert disjoint_faults.order().verdict == Verdict.HOLDS


@pytest.mark.usefixtures("small")
def test_nodes_that_fail_each_for_itself_leave_all_paths_as_printed(monkeypatch):
    found = disjoint_faults.all_paths()
    assert disjoint_faults.READINGS[0] not in (found.counterexample or "")
    monkeypatch.setattr(disjoint_faults, "_whole", lambda pairs, rate, _: (1 - rate) ** len(pairs[0]) / 2)
    found = disjoint_faults.all_paths()
    assert found.verdict == Verdict.FALSE


@pytest.mark.usefixtures("small")
def test_some_choices_make_algorithm_6_find_paths(monkeypatch):
    monkeypatch.setattr(disjoint_paths, "_networks", lambda: [dual_net("hdn(cube(3), [[2]])")])
    found = disjoint_paths.chosen_b()
    assert (found.verdict, found.table[0]["without one"]) == (Verdict.HOLDS, 0)


@pytest.mark.usefixtures("small")
def test_choices_that_are_not_drawn_are_run(monkeypatch):
    monkeypatch.setattr(disjoint_paths, "_networks", lambda: [dual_net("hdn(torus(2, 3), [[]])")])
    monkeypatch.setattr(disjoint_paths, "TRIES", 0)
    found = disjoint_paths.chosen_b()
    assert (found.verdict, found.table[0]["then run"], found.table[0]["without one"]) == (Verdict.HOLDS, 3, 0)
    monkeypatch.setattr(disjoint_paths.EveryOrder, "goes_on", lambda _: False)
    assert disjoint_paths.chosen_b().verdict == Verdict.FALSE


def test_every_order_comes_once_also_where_a_choice_depends_on_another():
    choices, seen = disjoint_paths.EveryOrder(), []
    while not seen or choices.goes_on():
        run = [[1, 2, 3]]
        choices.shuffle(run[0])
        if run[0][0] == 3:
            run.append([4, 5])
            choices.shuffle(run[1])
        seen.append(tuple(map(tuple, run)))
    assert len(seen) == len(set(seen)) == 4 + 2 * 2


def test_a_pair_of_case_b_that_leaves_no_choice():
    network = dual_net("hdn(complete(2), [[], [0]])")
    assert disjoint_paths._orders_tried(network, (19, 45)) == (1, False)


@pytest.mark.usefixtures("small")
def test_theorem_3_fails_where_fans_are_missing_and_where_no_choice_works(monkeypatch):
    """HDN(K2, 2, {{0}, {}}): two super-nodes of level 1, three of which a node would need; the other see above."""
    rows = {row["network"]: row for row in disjoint_paths.theorem3().table}
    missing, refused = rows["hdn(complete(2), [[0], []])"], rows["hdn(complete(2), [[], [0]])"]
    assert (missing["clusters"], missing["d_0 + k"], missing["distributed paths"]) == (4, 3, 2)
    assert (refused["clusters"], refused["d_0 + k"], refused["distributed paths"]) == (4, 3, 3)
    assert refused["pairs without a choice"] > 0
    monkeypatch.setattr(disjoint_paths, "_networks", lambda: [dual_net("hdn(cube(3), [[2]])")])
    assert disjoint_paths.theorem3().verdict == Verdict.HOLDS


@pytest.mark.usefixtures("small")
def test_the_third_cluster_is_the_correction_of_case_c():
    found = disjoint_paths.case_c()
    assert found.verdict == Verdict.FALSE
    assert "third cluster" in found.corrected
    assert {row["third cluster"] for row in found.table} == {"1.00"}


def test_bounds_of_the_example_by_hand():
    """D(B) = 3, D(SN^1) = 1, D(SN^2) = 3, D_1 = 2 * 3 - 1 + 2 = 7, D(Q) = 7 - 3 = 4."""
    bounds = length_bounds(dual_net(disjoint_networks.EXAMPLE))
    assert bounds == {
        "printed": 8 * 3 - 3 * 1 - 3 + 12 + 4 - 2,
        "solved": 8 * 3 - 3 * 1 - 12 + 12 + 4 - 2,
        "line above": 3 * 4 + 2 * 3 - 3 + 2 * 2 + 4,
        "with SN^1": 2 * (3 - 1 + 3) + 3 * 4 + 2 + 3,
    }


@pytest.mark.usefixtures("small")
def test_a_wrong_maker_of_paths_is_found(monkeypatch):
    monkeypatch.setattr(disjoint_paths, "disjoint_routes", disjoint_paths._printed)
    assert disjoint_paths.existence().verdict == Verdict.FALSE


def test_what_makes_a_fan():
    network = dual_net("hdn(cube(3), [[2]])")
    good = [[0, 4], [0, 2], [0, 1, 5, 7]]
    assert disjoint_fans._is_fan(network, 7, good)
    assert not disjoint_fans._is_fan(network, 5, good)
    assert not disjoint_fans._is_fan(network, 4, good[:2])
    assert not disjoint_fans._is_fan(network, 4, [[0, 4], [0, 2], [0, 1]])
    assert not disjoint_fans._is_fan(network, 7, [[0, 4, 5], [0, 2], [0, 1, 5, 7]])


def test_what_makes_a_fan_to_clusters():
    """Of node 0 of four clusters a class: three of the other class, and node 7 of its own."""
    network = dual_net("hdn(cube(3), [[2]])")
    good = [[0, 32], [0, 4, 48], [0, 2, 40], [0, 1, 5, 7]]
    assert disjoint_fans._is_wide_fan(network, 7, good)
    assert not disjoint_fans._is_wide_fan(network, 5, good)
    assert not disjoint_fans._is_wide_fan(network, 7, [*good[:2], [0, 2, 49], good[3]])
    assert not disjoint_fans._is_wide_fan(network, 7, [*good[:3], [0, 2, 5, 7]])
    assert not disjoint_fans._is_wide_fan(network, 7, good[1:])


def test_calls_of_base_routing_by_hand():
    """RDN(Q3, 1): one in a cluster, three between clusters; for two levels each call below takes three in its turn."""
    one, two = dual_net("rdn(cube(3), 1)"), dual_net("hdn(cube(2), [[], [0, 1]])")
    assert [base_routing_calls(one, 0, dst) for dst in (7, 64, 8)] == [1, 3, 3]
    assert max(base_routing_calls(two, 0, dst) for dst in range(two.num_nodes)) == 7


def test_hops_are_those_of_as_many_shortest_paths(monkeypatch):
    """All digits differ but the class: the nodes are a diameter apart, and each of the d + k paths is that long."""
    for text in ("rdn(cube(2), 1)", "rdn(cube(4), 1)"):
        network = dual_net(text)
        made, hops, bound, _ = disjoint_fans._far(network)
        assert made is network
        assert hops == len(network.ports) * max(distances_from(network, 0))
        assert bound == 2 * len(network.ports)
    monkeypatch.setattr(disjoint_fans, "DIMENSIONS", {1: (2, 8)})
    assert disjoint_fans.steps().verdict == Verdict.HOLDS
    monkeypatch.setattr(disjoint_fans, "DIMENSIONS", {1: (2, 12)})
    assert disjoint_fans.steps().verdict == Verdict.FALSE


def test_pictures_of_other_paths_are_told_apart(monkeypatch):
    monkeypatch.setattr(disjoint_fans, "fan", lambda _, node, **__: [[node, node + 1]] * 4)
    monkeypatch.setattr(disjoint_fans, "literal_routes", lambda _, src, dst: [[src, dst]] * 4)
    figures = [getattr(disjoint_fans, name) for name in ("figure4_ends", "figure5", "figure7", "figure8", "figure9")]
    for check in figures:
        assert check().verdict == Verdict.FALSE
