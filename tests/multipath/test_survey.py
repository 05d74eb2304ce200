"""Surveys of faults: their means beside the same faults looked at one by one."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from hdnhw.multipath.survey import FaultSurvey
from hdnhw.multipath.waypoints import Detours, RouteTable
from hdnhw.networks.parse import parse
from hdnhw.rules.plan import plan
from hdnhw.topology.faults import draw_faults

TRIALS = 70
"""More than there are batches."""


def survey(seed=3):
    return FaultSurvey(
        network=parse("rdn(cube(2), 1)"), modes=None, lanes=1, rate=0.2, channel_rate=0.1, waypoints=2, seed=seed
    )


@pytest.fixture(scope="module")
def found():
    return survey().run(TRIALS, partial(ThreadPoolExecutor, 1))


def test_means_of_all_trials(found):
    table = RouteTable(plan("rdn(cube(2), 1)"))
    plain, answered, connected = [], [], []
    for number in range(TRIALS):
        rng = np.random.default_rng([3, number])
        detours = Detours(table, draw_faults(table.neighbors, rng, nodes=6, channel_rate=0.1))
        plain.append(detours.fractions(2))
        answered.append(detours.fractions(2, two_way=True))
        connected.append(detours.connected_share)
    assert (found["dead_nodes"], found["trials"]) == (6, TRIALS)
    assert found["reached"] == pytest.approx(np.mean(plain, axis=0), abs=1e-8)
    assert found["reached_least"] == pytest.approx(np.min(plain, axis=0), abs=1e-8)
    assert found["reached_two_way"] == pytest.approx(np.mean(answered, axis=0), abs=1e-8)
    assert found["connected"] == pytest.approx(np.mean(connected))
    assert found["reached_two_way"][1] < found["reached"][1]


def test_workers_change_nothing_and_seeds_do(found):
    assert survey().run(TRIALS, partial(ThreadPoolExecutor, 3)) == found
    assert survey(4).run(TRIALS, partial(ThreadPoolExecutor, 1))["reached"] != found["reached"]
