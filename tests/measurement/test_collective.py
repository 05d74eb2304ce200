"""Collective operations on the model."""

import pytest

from hdnhw.collectives.baselines import baseline_of
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.collectives.spread import allgather_schedule, broadcast_schedule
from hdnhw.measurement import collective
from hdnhw.measurement.collective import measure_baseline, measure_network_exchange, measure_steps
from hdnhw.measurement.replay import replay
from hdnhw.measurement.sweep import model_of
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from tests.specs import fabric_spec


def test_network_order_is_within_six_percent_of_the_channel_load():
    row = measure_network_exchange(fabric_spec("rdn(cube(3), 1)", buffers=4), words=1)
    assert (row["delivered"], row["max_channel_load"], row["lower_bound_cycles"]) == (True, 176, 1408)
    assert 1408 <= row["cycles"] <= 1.06 * 1408
    assert (row["flow_bound_words"], row["flow_bound_cycles"]) == (176, 1408)


def test_the_flow_bound_counts_whole_packets_and_what_the_terminal_takes():
    row = measure_network_exchange(fabric_spec("torus(5)", buffers=4), words=9)
    assert (row["flow_bound_words"], row["flow_bound_cycles"]) == (3 * 9, 4 * 2 * 8)
    row = measure_network_exchange(fabric_spec("mesh(4, 3)", buffers=4), words=9)
    assert (row["flow_bound_words"], row["flow_bound_cycles"]) == (12 * 9, 12 * 2 * 8)


def test_narrow_channels_take_their_slots():
    fabric = fabric_spec("rdn(cube(2), 1)", channel_width="cross1=8")
    row = measure_network_exchange(fabric, words=8, at_once=True)
    # From each cluster of 4 nodes go 4 * 28 messages, and 4 * 12 more pass through: 160 over 4 cross-edges.
    assert (row["lower_bound_cycles"], row["flow_bound_cycles"]) == (40 * 4 * 8, None)
    assert row["cycles"] >= row["lower_bound_cycles"]


@pytest.mark.parametrize("length", [1, 2, 8])
@pytest.mark.parametrize("text", ["rdn(cube(2), 1)", "torus(4, 4)", "hdn(cube(2), [[0, 1]])"])
def test_a_timetable_ends_when_it_says_so_and_two_packets_take_it_twice(text, length):
    fabric = fabric_spec(text, packet_length=length, buffers=16)
    once, twice = (measure_network_exchange(fabric, words=words)["cycles"] for words in (length, 2 * length))
    at_once = measure_network_exchange(fabric, words=length, at_once=True)
    assert at_once["delivered"]
    assert once <= at_once["cycles"]
    timing = model_of(fabric).timing
    assert once < twice <= 2 * once + timing.zero_load_latency(0)


def test_steps_take_what_their_longest_message_does():
    fabric = fabric_spec("cube(3)", packet_length=8)
    row = measure_steps(fabric, execute(broadcast_schedule(build("cube(3)"))), words=20)
    timing = model_of(fabric).timing
    first = timing.zero_load_latency(1) + 1
    assert row["cycles_per_step"] == [first + 2 * 8] * 3
    assert row["cycles"] == sum(row["cycles_per_step"])


def test_a_step_in_which_nothing_is_sent_takes_no_cycle():
    counted = execute(exchange_schedule(build("hdn(cube(2), [[0]])"), "paper"))
    row = measure_steps(fabric_spec("hdn(cube(2), [[0]])"), counted, words=1)
    assert [cycles > 0 for cycles in row["cycles_per_step"]] == [words > 0 for words in counted.words_per_step]


def test_routed_messages_take_their_hops_and_share_channels():
    fabric = fabric_spec("torus(8)", buffers=8)
    timing = model_of(fabric).timing
    hop = timing.zero_load_latency(2) - timing.zero_load_latency(1)
    row = measure_baseline(fabric, baseline_of("doubling", build("torus(8)")), words=8)
    one, two, four = row["cycles_per_step"]
    assert one == timing.zero_load_latency(1) + 1
    assert two >= one + hop
    assert four >= one + 3 * hop
    assert row["cycles"] == one + two + four
    row = measure_baseline(fabric, baseline_of("ring", build("torus(8)")), words=16)
    assert row["cycles_per_step"] == [one + 8]
    assert row["cycles"] == 14 * (one + 8)


def test_steps_that_are_alike_are_run_once(monkeypatch):
    counted = execute(allgather_schedule(build("torus(5)")))
    expected = measure_steps(fabric_spec("torus(5)"), counted, words=8)
    runs = []
    monkeypatch.setattr(collective, "replay", lambda *given: runs.append(given) or replay(*given))
    assert measure_steps(fabric_spec("torus(5)"), counted, words=8) == expected
    assert len(runs) == len(set(counted.words_per_step)) < counted.startups


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cube(11)", r"a timetable is for at most 1024 nodes; cube\(11\) has 2048: use at_once"),
        ("cube(14)", r"a total exchange is among 2 to 8192 nodes; cube\(14\) has 16384"),
    ],
)
def test_too_many_nodes(text, message):
    with pytest.raises(SpecError, match=f"^{message}$"):
        measure_network_exchange(fabric_spec(text), words=1)
