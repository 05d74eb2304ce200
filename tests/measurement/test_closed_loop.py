"""A closed loop on the model: alone on an edge by the timing of a hop, and by Little's law."""

from dataclasses import replace
from itertools import pairwise

import pytest

from hdnhw.machine.timing import SlotTiming
from hdnhw.measurement.closed_loop import measure_requests
from hdnhw.spec.requests import RequestSpec
from tests.specs import fabric_spec


@pytest.mark.parametrize(("service", "think"), [(0, 0), (5, 0), (0, 11), (13, 30)])
def test_two_nodes_that_ask_each_other(service, think):
    """Nobody is in their way: every message takes what a lone packet takes that is created in that cycle of a slot."""
    timing, cycle, trips, came = SlotTiming(8), 0, [], []
    for _ in range(20):
        asked = cycle + timing.zero_load_latency(1, cycle)
        reply = asked + 1 + service
        answered = reply + timing.zero_load_latency(1, reply)
        trips.append(answered - cycle)
        came.append(answered)
        cycle = answered + 1 + think
    load = RequestSpec(window=1, requests=20, service=service, think=think)
    found = measure_requests(fabric_spec("cube(1)"), load)
    assert found["cycles"] == answered + 1
    begin, end = found["measured_cycles"]
    assert end == answered
    assert found["answered"] == 40
    measured = [trip for trip, at in zip(trips, came, strict=True) if begin <= at < end]
    assert found["measured"] == 2 * len(measured)
    assert (found["round_trip"]["p50"], found["round_trip"]["max"]) == (
        sorted(measured)[(len(measured) - 1) // 2],
        max(measured),
    )


@pytest.mark.parametrize(
    ("text", "window"), [("torus(4, 4)", 1), ("torus(4, 4)", 8), ("hdn(torus(3), [[0]])", 3), ("fat_tree(4)", 4)]
)
def test_what_is_under_way_is_the_window(text, window):
    """Little's law: requests under way are their rate times the cycles of one, and of the next one's begin."""
    think = 20
    load = RequestSpec(window=window, requests=400, think=think)
    found = measure_requests(fabric_spec(text, buffers=8), load)
    under_way = found["request_rate"] * (found["round_trip"]["mean"] + 1 + think)
    assert under_way == pytest.approx(window, rel=0.01)
    assert found["accepted_rate"] == pytest.approx(16 * found["request_rate"], rel=1e-3)


def test_a_larger_window_gives_more_requests_that_take_longer():
    rows = [measure_requests(fabric_spec("cube(4)"), RequestSpec(window=window, requests=300)) for window in (1, 4, 16)]
    for less, more in pairwise(rows):
        assert less["request_rate"] < more["request_rate"]
        assert less["round_trip"]["mean"] < more["round_trip"]["mean"]


def test_threads_change_nothing():
    load, untimed = RequestSpec(window=3, requests=40, think=9), ("seconds", "router_cycles_per_second")
    one, two = (measure_requests(fabric_spec("torus(8, 8)"), replace(load, threads=count)) for count in (1, 2))
    assert {key: one[key] for key in one if key not in untimed} == {key: two[key] for key in two if key not in untimed}


def test_silent_nodes_answer_but_do_not_ask():
    load = RequestSpec(window=2, requests=50, pattern="reverse")
    found = measure_requests(fabric_spec("cube(3)"), load)
    assert found["answered"] == 4 * 50
