"""Measurement: against closed forms at low load, against the bound at high load, and with itself in pieces."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import scipy

from hdnhw.machine.machine import make_machine
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.loaded import LoadedFabric
from hdnhw.measurement.measure import measure, zero_load_latency
from hdnhw.measurement.statistics import (
    MOST_BINS,
    bins,
    correlation_time,
    grows,
    interval,
    piles_up,
    summarize,
    truncation_point,
)
from hdnhw.measurement.sweep import saturation_bound_of
from hdnhw.model.core import HEAD_CYCLE, HOPS, NODE, TAG, TAIL_CYCLE, Arrivals
from hdnhw.model.course import Course
from hdnhw.model.fabric import FabricModel
from hdnhw.model.flows import Flows
from hdnhw.model.tally import Tally
from hdnhw.multipath.waypoints import RouteTable
from hdnhw.rules.plan import plan
from hdnhw.rules.statistics import routing_statistics
from hdnhw.support.errors import SpecError
from hdnhw.topology.faults import draw_faults
from hdnhw.topology.metrics import neighbor_table, summarize_distances
from hdnhw.traffic.packets import Terminals, Traffic
from tests.model.fuzz import plain
from tests.specs import fabric_spec


@cache
def model_of(text, length):
    return FabricModel(make_machine(fabric_spec(text, packet_length=length)))


def mean(histogram):
    return float(histogram @ np.arange(len(histogram)) / histogram.sum())


@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.parametrize("text", ["torus(4, 4)", "rdn(cube(2), 1)"])
def test_a_network_that_is_nearly_empty(text, length):
    model = model_of(text, length)
    measured = measure(model, LoadSpec(rate=0.002, cycles=400_000, warmup=100))
    distance = float(summarize_distances(model.plan.network).average_distance)
    assert measured.delivered == measured.created
    assert measured.mean_hops == pytest.approx(distance, rel=0.02)
    waits = np.mean([model.timing.zero_load_latency(0, phase) for phase in range(length)])
    expected = model.timing.hop_cycles * measured.mean_hops + waits
    assert mean(measured.network_latency) == pytest.approx(expected, rel=0.03)
    assert mean(measured.packet_latency) >= mean(measured.network_latency) >= expected * 0.99


@pytest.mark.parametrize("injection", ["bernoulli", "on_off(50)"])
def test_below_saturation_all_that_is_offered_is_accepted(injection):
    measured = measure(model_of("rdn(cube(2), 1)", 4), LoadSpec(rate=0.1, cycles=20_000, injection=injection))
    assert measured.steady
    assert measured.created == measured.delivered == measured.packet_latency.sum() == measured.network_latency.sum()
    assert measured.offered_rate == pytest.approx(0.1, rel=0.1)
    assert measured.accepted_rate == pytest.approx(measured.offered_rate, rel=0.02)
    in_all_cycles = measured.accepted_rate * 32 * measured.cycles
    assert measured.flit_hops == pytest.approx(in_all_cycles * measured.mean_hops, rel=0.03)
    assert 0.9 < measured.fairness <= 1
    assert 0 < measured.half_width < 0.3 * mean(measured.packet_latency)


@pytest.mark.parametrize("text", ["torus(4, 4)", "rdn(cube(2), 1)"])
def test_no_more_is_accepted_than_channels_carry(text):
    model = model_of(text, 4)
    bound = min(1.0, routing_statistics(model.plan).saturation_bound)
    measured = measure(model, LoadSpec(rate=1.0, cycles=4000))
    assert not measured.steady
    assert 0.4 * bound < measured.accepted_rate <= bound * 1.02


LOADS = [
    ({}, {}, {"lengths": "9"}),
    ({"packet_length": 1}, {}, {"lengths": "uniform(1, 5)", "injection": "on_off(20)"}),
    ({}, {"nodes": 1}, {"lengths": "mix(1, 3, 9, 1)"}),
    ({}, {"channels": 9}, {"lengths": "uniform(1, 20)", "rate": 0.2}),
    ({"buffers": 8}, {}, {"rate": 1.0, "lengths": "3"}),
    ({"packet_length": 2, "modes": "adaptive", "buffers": 4}, {}, {"rate": 0.4, "lengths": "mix(1, 1, 12, 3)"}),
    ({"modes": "ugal", "buffers": 4}, {}, {"pattern": "transpose", "lengths": "7"}),
    ({"packet_length": 8, "switching": "cut-through"}, {}, {"lengths": "uniform(1, 20)"}),
]


@pytest.mark.parametrize(("machine", "dead", "options"), LOADS)
@pytest.mark.parametrize("warmup", [None, 100])
def test_what_is_measured_is_what_becomes_of_every_packet(machine, dead, options, warmup, monkeypatch):
    """The same messages, drawn apart, are given to another run, and all of its packets are looked at one by one."""
    fabric = make_machine(fabric_spec("cube(4)", **{"packet_length": 4} | machine))
    faults = draw_faults(neighbor_table(fabric.network), np.random.default_rng(5), **dead) if dead else None
    model, load = FabricModel(fabric, faults), LoadSpec(cycles=600, warmup=warmup, **options)
    length, flows = fabric.timing.packet_length, [Flows(16) for _ in range(3)]
    tallies, read = [], Tally.read
    monkeypatch.setattr(Tally, "read", lambda tally: tallies.append(tally) or read(tally))
    runs, told = [], []
    for threads in (1, 2, 3):
        runs.append(measure(model, load, flows=flows[threads - 1], threads=threads))
        told.append(read(tallies[-1]))
    assert len({str(plain(one)) for one in told}) == 1
    measured = runs[0]
    assert len({str(plain(replace(run, seconds=0))) for run in runs}) == 1
    assert all(np.array_equal(flows[0].counts, other.counts) for other in flows)

    messages = load.on(fabric.network, length, dead=None if faults is None else faults.nodes).window(measured.cycles)
    number = np.repeat(np.arange(len(messages.cycle)), messages.packets)
    ends = model.address[messages.destination]
    arrivals = Arrivals.of(messages.cycle[number], messages.source[number], ends[number], np.arange(len(number)))
    left = model.course(Terminals()).advance(arrivals, packets=1 << 62, limit=measured.cycles)
    rows = [[] for _ in range(len(messages.cycle))]
    for row in left[np.argsort(left[:, TAG])].tolist():
        rows[number[row[TAG]]].append(row)
    first = np.cumsum(messages.packets) - messages.packets
    start, stop = measured.warmup, measured.warmup + 600
    within = [name for name in range(len(rows)) if start <= messages.cycle[name] < stop]
    whole = [name for name in within if len(rows[name]) == messages.packets[name]]
    last = {name: max(rows[name], key=lambda row: row[TAIL_CYCLE]) for name in whole}
    home = [name for name in whole if last[name][NODE] == messages.destination[name]]
    latency = {name: last[name][TAIL_CYCLE] - int(messages.cycle[name]) for name in home}
    ends = {name: max(own, key=lambda row: row[TAIL_CYCLE]) for name, own in enumerate(rows) if own}
    ended = [
        ends[name][TAIL_CYCLE] - int(messages.cycle[name])
        for name in ends
        if len(rows[name]) == messages.packets[name] and ends[name][NODE] == messages.destination[name]
    ]
    assert tallies[-1]._ledger.ended() == (len(ended), sum(ended))
    heads = {name: next(row[HEAD_CYCLE] for row in rows[name] if row[TAG] == first[name]) for name in home}
    assert (measured.created, measured.delivered, measured.stranded) == tuple(
        len(each) for each in (within, home, set(whole) - set(home))
    )
    assert measured.packet_latency.tolist() == np.bincount(list(latency.values())).tolist()
    assert measured.network_latency.tolist() == np.bincount([last[k][TAIL_CYCLE] - heads[k] for k in home]).tolist()
    assert measured.mean_hops == pytest.approx(np.mean([last[name][HOPS] for name in home]))
    assert measured.packets == messages.packets[within].sum()
    assert measured.payload_share == pytest.approx(messages.flits[within].sum() / measured.packets / length)
    taken = left[(left[:, TAIL_CYCLE] >= start) & (left[:, TAIL_CYCLE] < stop)]
    right = taken[taken[:, NODE] == messages.destination[number[taken[:, TAG]]]]
    rates = len(right), len(taken) - len(right), measured.packets
    assert (measured.accepted_rate, measured.stranded_rate, measured.offered_rate) == pytest.approx(
        [packets * length / 16 / 600 for packets in rates]
    )
    sent = np.bincount(messages.source[number[right[:, TAG]]], minlength=16)
    senders = load.on(fabric.network, length, dead=None if faults is None else faults.nodes).senders
    assert measured.fairness == pytest.approx(sent.sum() ** 2 / (len(senders) * (sent**2).sum()))
    wrong = taken[taken[:, NODE] != messages.destination[number[taken[:, TAG]]]]
    of_home = np.array(home, int)
    series = {
        "offered": np.repeat(messages.cycle[within], messages.packets[within]),
        "arrived": right[:, TAIL_CYCLE],
        "elsewhere": wrong[:, TAIL_CYCLE],
        "messages": messages.cycle[of_home],
    }
    for name, cycles in series.items():
        assert getattr(told[0], name).tolist() == np.bincount((cycles - start) * 128 // 600, minlength=128).tolist()
    parts = (messages.cycle[of_home] - start) * 128 // 600
    assert told[0].latencies.tolist() == np.bincount(parts, [latency[name] for name in home], 128).tolist()
    assert (told[0].waited, told[0].hops) == (sum(latency.values()), sum(last[name][HOPS] for name in home))
    assert told[0].hop_squares == sum(last[name][HOPS] ** 2 for name in home)
    assert told[0].packet_squares == (messages.packets[within] ** 2).sum()
    by_flow = np.zeros((3, 16, 16), int)
    for name in home:
        flow = messages.source[name], messages.destination[name]
        by_flow[0][flow] += 1
        by_flow[1][flow] += latency[name]
        by_flow[2][flow] = max(by_flow[2][flow], latency[name])
    assert flows[0].counts.tolist() == by_flow.reshape(3, -1).tolist()
    assert (measured.stranded > 0) >= ("channels" in dead)


@pytest.mark.parametrize(
    ("lengths", "packets", "share"), [("9", 3, 9 / 12), ("3", 1, 3 / 4), ("mix(1, 1, 9, 1)", 2, 10 / 16)]
)
def test_rate_is_of_packets_and_payload_has_its_share(lengths, packets, share):
    load = LoadSpec(rate=0.2, cycles=20_000, warmup=1000, lengths=lengths)
    measured = measure(model_of("torus(4, 4)", 4), load)
    assert measured.offered_rate == pytest.approx(0.2, rel=0.05)
    assert measured.packets / measured.created == pytest.approx(packets, rel=0.05)
    assert measured.payload_share == pytest.approx(share, rel=0.02)


def test_messages_of_one_packet_are_packets():
    one, other = (
        measure(model_of("torus(4, 4)", 4), LoadSpec(cycles=1000, lengths=lengths)) for lengths in (None, "4")
    )
    assert np.array_equal(one.packet_latency, other.packet_latency)
    assert (one.packets, one.payload_share) == (one.created, 1)


def test_silent_nodes_of_a_permutation_are_not_unfair():
    measured = measure(model_of("torus(4, 4)", 1), LoadSpec(pattern="transpose", rate=0.1, cycles=50_000))
    assert measured.offered_rate == pytest.approx(0.1 * 12 / 16, rel=0.05)
    assert measured.fairness > 0.99


@pytest.mark.parametrize(("rate", "drained"), [(0.1, True), (1.0, False)])
def test_progress_is_told_stage_by_stage(rate, drained):
    told = {}
    measured = measure(
        model_of("rdn(cube(2), 1)", 4),
        LoadSpec(rate=rate, cycles=2000),
        progress=lambda stage, share: told.setdefault(stage, []).append(share),
    )
    assert list(told) == ["warm-up", "measurement", "last packets"]
    assert all(shares[0] == 0 and shares == sorted(shares) for shares in told.values())
    assert told["warm-up"][-1] == pytest.approx(measured.warmup / (60 * 200), abs=0.01)
    assert told["measurement"][-1] == pytest.approx(1, abs=0.01)
    assert (measured.delivered == measured.created) == drained
    assert (told["last packets"][-1] < 0.5) == drained


def test_a_seed_names_a_run():
    model = model_of("torus(4, 4)", 1)
    one, same, other = (measure(model, LoadSpec(rate=0.2, cycles=1000, seed=seed)) for seed in (3, 3, 4))
    assert np.array_equal(one.packet_latency, same.packet_latency)
    assert not np.array_equal(one.packet_latency, other.packet_latency)


@pytest.mark.parametrize("length", [1, 2, 4, 8])
def test_a_run_in_pieces_is_the_run(length):
    """Cut in sample phases, with room for more packets made on the way."""
    model, rng = model_of("rdn(cube(2), 1)", length), np.random.default_rng(length)
    nodes, count = 32, 60
    destination = model.plan.address.of_node(rng.integers(0, nodes, nodes * count))
    earliest = np.sort(rng.integers(0, 40 * length, (nodes, count)), axis=1)
    whole = model.run(Traffic(np.arange(nodes + 1) * count, destination, earliest.ravel()), max_cycles=100_000)

    order = np.argsort(earliest.ravel(), kind="stable")
    created, source = earliest.ravel()[order], order // count
    course, limit, arrived, pieces = Course(model, Terminals()), model.timing.sample_phase, 0, []
    while course.packets_gone < nodes * count:
        limit += length * int(rng.integers(1, 9))
        due = slice(arrived, arrived := int(np.searchsorted(created, limit)))
        arrivals = Arrivals.of(created[due], source[due], destination[order[due]], order[due])
        pieces.append(course.advance(arrivals, packets=1 << 40, limit=limit)[:, [TAIL_CYCLE, NODE, TAG]])
    left = np.concatenate(pieces)
    left = left[np.lexsort((left[:, 1], left[:, 0]))]
    assert np.array_equal(left, np.stack([whole.cycle, whole.node, whole.packet], axis=1))
    assert (course.cycles, course.packets_sent * length) == (whole.cycles, whole.flit_hops)


@pytest.mark.parametrize("seed", range(5))
def test_summary_of_a_histogram(seed):
    values = np.random.default_rng(seed).geometric(0.1, 50 + seed)
    shown = summarize(np.bincount(values))
    assert shown["mean"] == pytest.approx(values.mean(), abs=1e-4)
    assert shown["max"] == values.max()
    for percent in (50, 95, 99):
        assert shown[f"p{percent}"] == np.percentile(values, percent, method="inverted_cdf")
    assert summarize(np.zeros(3, np.int64)) is None


@pytest.mark.parametrize(("least", "spread"), [(0, 1), (7, 40), (7, 41), (93, 500), (12_345, 60_000)])
def test_bins_of_a_histogram(least, spread):
    values = least + np.random.default_rng(spread).integers(0, spread, 3000)
    rows = bins(np.bincount(values))
    assert len(rows) <= MOST_BINS
    assert {row["to"] - row["from"] + 1 for row in rows} < {
        step * 10**power for power in range(5) for step in (1, 2, 5)
    }
    assert [row["from"] for row in rows[1:]] == [row["to"] + 1 for row in rows[:-1]]
    assert not any(row["from"] % (row["to"] - row["from"] + 1) for row in rows)
    for row in rows:
        assert row["messages"] == sum(row["from"] <= value <= row["to"] for value in values)
    assert all(rows[end]["messages"] for end in (0, -1))
    assert bins(np.zeros(5, np.int64)) == []


def test_truncation_leaves_out_a_transient_and_nothing_else():
    rng = np.random.default_rng(1)
    steady = rng.normal(10, 1, 40)
    rising = np.concatenate([np.linspace(0, 9, 10), steady])
    assert truncation_point(steady) < 10
    assert 7 <= truncation_point(rising) <= 15
    assert truncation_point(np.arange(40.0)) == 20


def autoregressive(rng, batches, keep):
    """Return series, a row each, in which a value keeps so much of the one before: their correlation time is known."""
    values = rng.normal(size=(500, batches + 100))
    for step in range(1, batches + 100):
        values[:, step] += keep * values[:, step - 1]
    return values[:, 100:]


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.8])
def test_intervals_of_what_is_correlated_hold_its_mean(keep):
    """The time of such a series is (1 + keep) / (1 - keep); batches have two values, one or none, by chance."""
    rng = np.random.default_rng(48)
    series = autoregressive(rng, 256, keep)
    times = [correlation_time(values) for values in series]
    assert np.median(times) == pytest.approx((1 + keep) / (1 - keep), rel=0.15)
    weights = rng.integers(0, 3, series.shape)
    found = [interval((7 + values) * own, own.astype(float)) for values, own in zip(series, weights, strict=True)]
    means = [((7 + values) * own).sum() / own.sum() for values, own in zip(series, weights, strict=True)]
    held = [abs(mean - 7) <= half for mean, (half, _) in zip(means, found, strict=True) if half < np.inf]
    assert len(held) > 450
    assert 0.92 <= np.mean(held) <= 0.99


def test_no_interval_is_told_from_too_little():
    ones = np.ones(64)
    noise = np.random.default_rng(48).normal(size=64)
    assert interval(noise, ones)[0] < 1
    assert interval(noise, ones, 3)[0] == np.inf
    assert interval(noise, ones, 1, 10)[0] == pytest.approx(scipy.special.stdtrit(10, 0.975) * 10 / 8)
    assert interval(np.repeat(noise[:8], 8), ones)[0] == np.inf
    assert interval(noise[:19], ones[:19])[0] == np.inf
    assert interval(noise * 0, ones * 0) == (np.inf, 0)
    assert interval(np.eye(64)[9] * 50, np.eye(64)[9] * 19)[0] == np.inf
    assert correlation_time(ones * 0) == 1


@pytest.mark.parametrize("keep", [0.0, 0.8])
def test_what_grows_is_told_from_what_does_not(keep):
    """By no more than chance where nothing grows, and always where the line rises by many standard errors."""
    series, ones = autoregressive(np.random.default_rng(48), 128, keep), np.ones(128)
    scale = series.std() * np.sqrt(12 * (1 + keep) / (1 - keep) / 128)  # the standard error of what a line rises by
    line = np.linspace(-0.5, 0.5, 128)
    assert sum(grows(values, ones) for values in series) <= 10
    assert sum(grows(values + 12 * scale * line, ones) for values in series) >= 490
    assert not any(grows(values - 12 * scale * line, ones) for values in series)
    assert not grows(line, ones * 0)


def test_what_piles_up():
    rng = np.random.default_rng(48)
    created = rng.poisson(50, 128)
    late = np.append(created[3:], created[:3])
    assert not piles_up(created, late)
    assert not piles_up(created * 0, created * 0)
    assert piles_up(created, late - (rng.random(128) < 0.5) * 10)


@pytest.mark.parametrize(("text", "carried"), [("torus(4, 4)", 0.7), ("cube(5)", 0.69), ("hdn(cube(2), [[0]])", 0.405)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_latencies_that_grow_with_the_run_are_not_steady(text, carried, seed):
    """A tenth more than the network carries is offered, or a fifth less."""
    model = FabricModel(make_machine(fabric_spec(text, buffers=2)))
    for share, steady in [(0.3, True), (0.8, True), (1.1, False)]:
        short, long = (
            measure(model, LoadSpec(rate=share * carried, cycles=cycles, seed=seed)) for cycles in (10_000, 40_000)
        )
        assert (short.steady, long.steady) == (steady, steady)
        growth = mean(long.packet_latency) / mean(short.packet_latency)
        assert abs(growth - 1) < 0.15 if steady else growth > 1.4
        assert short.accepted_rate <= carried * 1.03


@pytest.mark.parametrize("rate", [0.2, 1.0])
def test_a_run_that_ends_before_its_messages_have_left_is_not_steady(rate):
    measured = measure(model_of("rdn(cube(2), 1)", 4), LoadSpec(rate=rate, cycles=2000, warmup=1000))
    assert measured.steady == (measured.delivered == measured.created) == (rate < 1)
    left = measured.created - measured.delivered
    said = None if rate < 1 else f"not steady: {left} of {measured.created} messages were still under way"
    assert measured.note == said


@pytest.mark.parametrize(("text", "rate"), [("mesh(4, 4)", 0.7), ("torus(4, 4)", 0.875)])
@pytest.mark.parametrize("cycles", [2000, 10_000])
def test_a_load_beyond_saturation_never_seems_steady(text, rate, cycles):
    model = FabricModel(make_machine(fabric_spec(text, buffers=8)))
    runs = [measure(model, LoadSpec(rate=rate, cycles=cycles, seed=seed)) for seed in range(1, 9)]
    assert not any(run.steady for run in runs)
    assert {run.half_width for run in runs} == {np.inf}
    assert all(run.note for run in runs)


def test_a_part_of_the_network_beyond_saturation_is_seen():
    """One node in sixteen gets a tenth more than its link carries; all others hardly anything."""
    load = LoadSpec(rate=0.117, pattern="hotspot(0.6, 5)")
    runs = [measure(model_of("torus(4, 4)", 4), replace(load, seed=seed)) for seed in (1, 2, 3)]
    assert [run.steady for run in runs] == [False] * 3


def test_without_messages_nothing_is_steady():
    measured = measure(model_of("mesh(4, 4)", 8), LoadSpec(rate=1e-6, cycles=5000))
    assert (measured.created, measured.steady) == (0, None)
    assert measured.note == "not known to be steady: there is no message in the interval"


@pytest.mark.parametrize(("text", "rate"), [("mesh(4, 4)", 0.57), ("rdn(cube(2), 1)", 0.45)])
def test_precise_intervals_hold_the_mean_near_saturation(text, rate):
    """Of 40 at least 36, and each as narrow as asked; without a precision few are told, and most of these hold it."""
    model = model_of(text, 8)
    long = [measure(model, LoadSpec(rate=rate, cycles=1_000_000, seed=seed)) for seed in (91, 92)]
    truth = np.mean([mean(run.packet_latency) for run in long])
    runs = [measure(model, LoadSpec(rate=rate, precision=0.1, seed=seed)) for seed in range(1, 41)]
    widths = np.array([run.half_width / mean(run.packet_latency) for run in runs])
    assert (widths <= 0.1).all()
    assert sum(abs(mean(run.packet_latency) - truth) <= run.half_width for run in runs) >= 36
    assert sum(abs(run.accepted_rate - rate) <= run.accepted_half_width for run in runs) >= 36
    again = LoadSpec(rate=rate, cycles=runs[0].interval)
    assert np.array_equal(measure(model, again).packet_latency, runs[0].packet_latency)
    assert runs[0].interval > 10_000


def test_a_precision_out_of_reach_says_why():
    model = model_of("torus(4, 4)", 8)
    over = measure(model, LoadSpec(rate=1.0, precision=0.1))
    assert (over.interval, over.steady) == (10_000, False)
    narrow = measure(model, LoadSpec(rate=0.7, cycles=20, warmup=100, precision=0.001))
    assert narrow.interval == 128 * 20
    assert narrow.note in (
        "not precise: the mean latency has no interval after 2560 cycles",
        "not known to be steady: 2560 cycles are too few at this load",
    )
    wide = measure(model, LoadSpec(rate=0.05, cycles=100, warmup=100, precision=0.001))
    assert re.fullmatch(
        r"not precise: the mean latency is within [\d.]+ % of itself, no less, after 12800 cycles", wide.note
    )


@pytest.mark.parametrize(("text", "length"), [("torus(4, 4)", 8), ("rdn(cube(2), 1)", 1), ("mesh(3, 4)", 2)])
def test_latency_at_zero_load(text, length):
    """By arithmetic: the mean distance, and the mean wait for a slot; so many packets have a standard error."""
    model = model_of(text, length)
    summary = summarize_distances(model.plan.network)
    waits = [model.timing.zero_load_latency(0, phase) for phase in range(length)]
    expected = model.timing.hop_cycles * float(summary.average_distance) + np.mean(waits)
    for injection in ("bernoulli", "on_off(50)"):
        assert zero_load_latency(model, LoadSpec(injection=injection)) == pytest.approx(expected, rel=0.01)


def test_latency_of_lone_packets_over_long_channels():
    """By arithmetic over the routes of all pairs, mean and variance: those of a sample, and what is measured."""
    made = make_machine(fabric_spec("rdn(cube(2), 1)", channel_latency="dim0=9,cross1=40"))
    nodes = range(made.network.num_nodes)
    pairs = [made.plan.rule.route(one, other) for one in nodes for other in nodes if one != other]
    cycles = [sum(made.hop_cycles(port) for _, port, _ in route) for route in pairs]
    hops = [len(route) for route in pairs]
    waits = [made.timing.zero_load_latency(0, phase) for phase in range(8)]
    expected, model = np.mean(cycles) + np.mean(waits), FabricModel(made)
    found = LoadedFabric(model, LoadSpec()).unloaded_latency((np.mean(hops), np.var(hops)), (1.0, 0.0))
    assert found[0] == pytest.approx(expected, rel=0.03)
    assert found[1] == pytest.approx(np.var(cycles) + np.var(waits), rel=0.15)
    assert zero_load_latency(model, LoadSpec()) == pytest.approx(expected, rel=0.03)


def test_latency_at_zero_load_of_long_messages_and_none():
    """A message of 9 packets: the last tail comes 8 slots after the first at the full rate of its virtual channel."""
    spec = fabric_spec("complete(2)", packet_length=4)
    model = FabricModel(make_machine(spec))
    one, nine = (zero_load_latency(model, LoadSpec(lengths=lengths)) for lengths in (None, "36"))
    assert nine - one == pytest.approx(8 * 4, abs=0.5)
    assert zero_load_latency(model, LoadSpec(lengths=str(1 << 20))) is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rate": 0}, "rate must be 1e-09 to 1 flits per node per cycle, not 0"),
        ({"rate": 1.1}, "not 1.1"),
        ({"rate": float("nan")}, "not nan"),
        ({"cycles": 19}, "cycles must be 20 to 500000000, not 19"),
        ({"warmup": -1}, "warmup must be 0 to 500000000 cycles, not -1"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"precision": 0}, "precision must be 0.001 to 1 of the mean latency, not 0"),
    ],
)
def test_loads_that_cannot_be(options, said):
    with pytest.raises(SpecError, match=said):
        LoadSpec(**options)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cycles": 1e4}, "cycles must be an integer, not 10000.0"),
        ({"seed": 1.5}, "seed must be an integer, not 1.5"),
        ({"warmup": "9"}, "warmup must be an integer, not '9'"),
        ({"pattern": 3}, "pattern must be text, not 3"),
        ({"lengths": 5}, "lengths must be text, not 5"),
        ({"rate": "x"}, "rate must be a number, not 'x'"),
    ],
)
def test_members_of_a_load_have_types(given, said):
    with pytest.raises(TypeError, match=f"^{said}$"):
        LoadSpec(**given)


def test_a_network_whose_routers_are_sorted():
    """Above some thousand routers, those that hold a packet are worked on in the order of memory."""
    model = model_of("cube(13)", 1)
    nodes = np.arange(1 << 13)
    result = model.run(Traffic(np.arange((1 << 13) + 1), nodes[::-1].copy(), nodes * 0), max_cycles=1000)
    assert sorted(result.packet.tolist()) == nodes.tolist()
    assert np.array_equal(result.node, (1 << 13) - 1 - result.packet)
    assert result.flit_hops == 13 << 13


def test_messages_that_meet_something_dead_are_counted_apart(model_on) -> None:
    routing = plan("hdn(cube(2), [[0]])")
    table = neighbor_table(routing.network)
    faults = draw_faults(table, np.random.default_rng(3), nodes=2, channels=4)
    model = model_on(routing, packet_length=4, faults=faults)
    measured = measure(model, LoadSpec(rate=0.2, cycles=20_000, warmup=500))
    legs = RouteTable(routing).legs(faults)
    alive = np.flatnonzero(~faults.nodes)
    pairs = [(u, v) for u in alive for v in range(16) if u != v]
    share = sum(legs[u, v] < 0 for u, v in pairs) / len(pairs)
    assert 0.2 < share < 0.8
    assert measured.delivered + measured.stranded == measured.created > 10_000
    assert abs(measured.stranded / measured.created - share) < 5 * (share * (1 - share) / measured.created) ** 0.5
    assert measured.offered_rate == pytest.approx(0.2 * 14 / 16, rel=0.05)
    assert measured.accepted_rate == pytest.approx(measured.offered_rate * (1 - share), rel=0.05)
    assert measured.stranded_rate == pytest.approx(measured.offered_rate * share, rel=0.05)
    assert measured.packet_latency.sum() == measured.delivered
    hops = [legs[u, v] for u, v in pairs if legs[u, v] >= 0]
    assert measured.mean_hops == pytest.approx(np.mean(hops), rel=0.03)
    assert measured.steady


@pytest.mark.parametrize(("width", "least"), [(16, 0.8), (8, 0.8), (5, 0.8)])
def test_narrow_channels_carry_almost_what_all_routes_allow(width, least):
    """The bound is counted route by route; what is accepted is no more, and not much less."""
    machine = make_machine(fabric_spec("rdn(cube(2), 1)", channel_width=f"cross1={width}"))
    nodes, taken = range(machine.network.num_nodes), Counter()
    slots = [-(-32 // width) if port.name == "cross1" else 1 for port in machine.network.ports]
    for pair in product(nodes, nodes):
        taken.update({(node, port): slots[port] for node, port, _ in machine.plan.rule.route(*pair)})
    bound = (len(nodes) - 1) / max(taken.values())
    assert saturation_bound_of(machine) == pytest.approx(bound)
    measured = measure(FabricModel(machine), LoadSpec(rate=1.0, cycles=20_000, warmup=20_000))
    assert least * bound < measured.accepted_rate < bound
