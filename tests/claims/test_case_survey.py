"""What is left by case, beside faults and routes looked at one by one."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from hdnhw.claims.literal.case_survey import dual_net_of, paths_left, waypoints_left
from hdnhw.multipath.path_faults import case_of
from hdnhw.multipath.waypoints import Detours, RouteTable
from hdnhw.networks.parse import parse
from hdnhw.rules.plan import plan
from hdnhw.support.errors import SpecError
from hdnhw.topology.faults import draw_faults

SPEC = parse("rdn(cube(2), 1)")
TRIALS = 3


def survey(count=1, seed=5):
    return waypoints_left(
        dual_net_of(SPEC),
        [0.0, 0.2],
        options={"waypoints": 1, "seed": seed},
        trials=TRIALS,
        start=partial(ThreadPoolExecutor, count),
    )


def one_by_one(number):
    """Return, for each case, the share of the healthy pairs that no and that one waypoint joins."""
    made = plan(SPEC)
    table = RouteTable(made)
    rng = np.random.default_rng([5, number])
    detours = Detours(table, draw_faults(table.neighbors, rng, nodes=6))
    counts = {case: np.zeros(3) for case in "ABC"}
    for src in range(32):
        ways = detours.ways(src, 1)
        for dst in range(32):
            if src != dst and "dead" not in (ways[src].reach, ways[dst].reach):
                plain, joined = ways[dst].reach == "plain", ways[dst].waypoints is not None
                counts[case_of(made.network, src, dst)] += [1, plain, joined]
    return {case: (plain / pairs, joined / pairs) for case, (pairs, plain, joined) in counts.items()}


def test_waypoints_by_case():
    rows = survey()
    assert [(row["case"], row["rate"], row["trials"]) for row in rows] == [
        (case, *rate) for case in "ABC" for rate in ((0.0, 1), (0.2, TRIALS))
    ]
    trials = [one_by_one(number) for number in range(TRIALS)]
    for row in rows[1::2]:
        shares = np.array([trial[row["case"]] for trial in trials])
        assert row["reached"] == pytest.approx(shares.mean(axis=0))
        assert row["reached_error"] == pytest.approx(shares.std(axis=0, ddof=1) / TRIALS**0.5)
        assert row["reached"][1] <= row["connected"]
    assert all(set(row["reached"]) == {1.0} for row in rows[::2])


def test_workers_change_nothing_and_seeds_do():
    assert survey(3) == survey()
    assert survey(seed=6) != survey()


def test_no_case_c_where_a_class_is_one_cluster():
    rows = paths_left(dual_net_of(parse("hdn(cube(2), [[0, 1]])")), "short", [0.0, 0.25], pairs=9, seed=1)
    assert [row["case"] for row in rows] == ["A", "A", "B", "B"]
    assert [row["all_paths"] for row in rows[::2]] == [1.0, 1.0]


def test_paths_of_the_same_seed_are_the_same():
    one, same, other = (paths_left(dual_net_of(SPEC), "mended", [0.1], pairs=9, seed=seed) for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize("text", ["cube(3)", "star(3)"])
def test_networks_without_cases(text):
    with pytest.raises(SpecError, match="cases A, B and C are those of dual-nets with a level or more, not of"):
        dual_net_of(parse(text))
