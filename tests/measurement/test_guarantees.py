"""Bounds of flows beside what the model shows: never below the worst that is found, and exact where that is known."""

import random
from itertools import pairwise

import pytest

from bench.guarantees import MACHINES, Judge, guaranteed, worst_of_any, worst_of_declared
from hdnhw.measurement.calculus import Calculus
from hdnhw.support.errors import SpecError
from hdnhw.traffic.declared import Flow, read_flows

ALONE = (
    {},
    {"gapless_packets": True},
    {"packet_length": 5},
    {"packet_length": 2},
    {"packet_length": 1},
    {"crc": True},
    {"channel_latency": "20"},
    {"packet_length": 16, "switching": "cut-through"},
    {"switching": "cut-through", "gapless_packets": True},
)


def named(machine):
    """Return a name of a case."""
    text, options, *_ = machine
    return " ".join([text, *(f"{name}={value}" for name, value in options.items())])


@pytest.mark.parametrize("machine", MACHINES, ids=named)
def test_no_bound_for_any_traffic_is_below_the_worst_that_a_search_finds(machine):
    found = guaranteed(machine[0], **machine[1])
    seen = worst_of_any(found, random.Random(2), starts=8, steps=8)
    assert seen.share <= 1
    assert seen.rate <= 1


@pytest.mark.parametrize("machine", MACHINES, ids=named)
def test_no_bound_for_declared_rates_is_below_the_worst_that_a_search_finds(machine):
    text, options, rate, buffers = machine
    found = guaranteed(text, rate=rate, **options | {"buffers": buffers})
    bounds = Calculus(found).declared().latency
    assert all(declared < every for declared, every in zip(bounds, found.latency, strict=True))
    assert worst_of_declared(found, bounds, random.Random(2), starts=6, steps=6).share <= 1


@pytest.mark.parametrize("options", ALONE, ids=str)
def test_the_bound_of_a_flow_alone_is_that_of_the_worst_phase(options):
    found = guaranteed("mesh(4)", [Flow(0, 3, 0.01)], **options)
    length = found.machine.spec.packet_length
    seen = [Judge(found, found.latency).see({0: [(20 * length + phase, 0)]}).latency for phase in range(length)]
    assert [max(seen)] == found.latency == Calculus(found).declared().latency


@pytest.mark.parametrize("options", ALONE, ids=str)
def test_a_flow_alone_has_all_of_its_channels(options):
    found = guaranteed("mesh(4)", [Flow(0, 3)], **options)
    seen = Judge(found, found.latency).see({0: [(cycle, 0) for cycle in range(90)]})
    assert seen.share <= 1
    assert found.rate == [1.0]
    assert seen.rate == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("buffers", [1, 2, 4])
@pytest.mark.parametrize("options", ALONE, ids=str)
def test_no_bound_of_a_flow_with_few_buffers_is_too_low(buffers, options):
    found = guaranteed("mesh(4)", [Flow(0, 3), Flow(1, 3)], buffers=buffers, **options)
    seen = worst_of_any(found, random.Random(1), starts=5, steps=5)
    assert seen.share <= 1
    assert seen.rate <= 1


@pytest.mark.parametrize("latency", [10, 20, 30, 40])
@pytest.mark.parametrize("options", [{}, {"packet_length": 16, "switching": "cut-through"}], ids=str)
def test_a_packet_waits_for_its_credit_as_long_as_the_channel_is_away_and_back(options, latency):
    """Two packets go at once, the next when the credit of the first is back."""
    found = guaranteed("mesh(2)", [Flow(0, 1)], buffers=2, channel_latency=str(latency), **options)
    heads = Judge(found, found.latency).run([[(cycle, 0) for cycle in range(30)], []]).head_cycle
    (wait,) = found.waits[found.routes[0][0][0]].values()
    assert max(b - a for a, b in pairwise(heads)) == wait * found.machine.spec.packet_length


def test_two_flows_that_meet_take_turns():
    """From both ends of a mesh to its middle: each packet waits for one of the other flow."""
    found = guaranteed("mesh(3)", [Flow(0, 1), Flow(2, 1)])
    assert sorted(wait for ways in found.waits.values() for wait in ways.values()) == [2, 2, 2, 2]
    assert found.rate == [0.5, 0.5]
    seen = worst_of_any(found, random.Random(1), starts=4, steps=0)
    assert seen.rate == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("buffers", [8, 16])
def test_rates_have_a_bound_where_no_queue_fills_and_else_the_buffers_for_one_are_told(buffers):
    found = guaranteed("cube(3)", rate=0.2, buffers=buffers)
    declared = Calculus(found).declared()
    if buffers == 16:
        assert declared.latency
        assert declared.buffers is None
    else:
        assert (declared.latency, declared.buffers) == (None, 16)


@pytest.mark.parametrize(
    ("text", "flows"),
    [
        ("mesh(3)", [Flow(0, 1, 0.5, 8), Flow(2, 1, 0.45, 4)]),
        ("mesh(4)", [Flow(0, 2, 0.45), Flow(1, 2, 0.5, 9), Flow(3, 2, 0.04)]),
    ],
)
def test_no_bound_of_flows_that_almost_fill_a_channel_is_too_low(text, flows):
    found = guaranteed(text, flows, buffers=256)
    bounds = Calculus(found).declared().latency
    assert worst_of_declared(found, bounds, random.Random(1), starts=10, steps=20, packets=12).share <= 1


def test_packets_and_credits_on_a_long_channel_take_buffers():
    """At half the rate of a channel there is a packet in every other slot away and back, and one that was late."""
    found = guaranteed("mesh(2)", [Flow(0, 1, 0.5)], buffers=4, channel_latency="40")
    assert found.around(found.routes[0][0][1]) == 12
    declared = Calculus(found).declared()
    assert (declared.latency, declared.buffers) == (None, 8)


@pytest.mark.parametrize("rate", [0.6, 1.0])
def test_rates_beyond_what_a_channel_carries_have_no_bound(rate):
    found = guaranteed("mesh(3)", [Flow(0, 2, rate), Flow(1, 2, rate)], buffers=64)
    assert Calculus(found).declared().latency is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"queueing": "voq"}, "guarantees need queueing='fifo'"),
        ({"channel_width": "8"}, "guarantees do not go with channel_width"),
        ({"modes": "valiant"}, "do not go with guarantees"),
    ],
)
def test_machines_that_the_bounds_do_not_hold_for_are_refused(options, message):
    with pytest.raises(SpecError, match=message):
        guaranteed("torus(4)", **options)


def test_no_flows_are_refused():
    with pytest.raises(SpecError, match="of 1 to 262144 flows, not 0"):
        guaranteed("torus(4)", [])


@pytest.mark.parametrize(
    ("text", "flows"),
    [
        ("0 1\n# none\n\n2 3 # two\n", [Flow(0, 1), Flow(2, 3)]),
        ("0 1 0.25\n3 3 1 7\n", [Flow(0, 1, 0.25), Flow(3, 3, 1.0, 7)]),
    ],
)
def test_flows_are_read_from_lines(tmp_path, text, flows):
    path = tmp_path / "flows.txt"
    path.write_text(text)
    assert read_flows(path, guaranteed("torus(4)").machine.network) == flows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\n", "line 1 must be SOURCE DESTINATION"),
        ("0 1 0.1 1 1\n", "line 1 must be SOURCE"),
        ("0 1 nan\n", "line 1 must be SOURCE"),
        ("0 1 1.5\n", "line 1 must be SOURCE"),
        ("0 1 0\n", "line 1 must be SOURCE"),
        ("0 1 0.5 0\n", "line 1 must be SOURCE"),
        ("0 x\n", "line 1 must be SOURCE"),
        ("0 1\n0 4\n", "line 2: nodes must be 0 to 3, not 0 and 4"),
        ("0 1\n0 1\n", "line 2: the flow from 0 to 1 stands there twice"),
        ("0 1\n1 2 0.1\n", "must have a rate for all flows, or for none"),
        ("# nothing\n", "must have a flow"),
    ],
)
def test_files_that_are_no_flows_are_refused(tmp_path, text, message):
    path = tmp_path / "flows.txt"
    path.write_text(text)
    with pytest.raises(SpecError, match=message):
        read_flows(path, guaranteed("torus(4)").machine.network)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SpecError, match="declared must be a text file"):
        read_flows(tmp_path / "none", guaranteed("torus(4)").machine.network)
