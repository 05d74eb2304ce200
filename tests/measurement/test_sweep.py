"""Sweeps: resumed, interrupted, with workers that die; and what the search for saturation finds."""

from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from itertools import pairwise
from math import floor, log10

import pytest

from hdnhw.measurement import sweep as sweep_module
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure, zero_load_latency
from hdnhw.measurement.results import ResultsFile
from hdnhw.measurement.statistics import summarize
from hdnhw.measurement.sweep import Point, Sweep, measure_point
from hdnhw.model.fabric import model_of
from hdnhw.rules.plan import plan
from hdnhw.rules.statistics import routing_statistics
from hdnhw.support.errors import SpecError
from tests.specs import fabric_spec

LOAD = LoadSpec(cycles=200, warmup=50)
FABRICS = [fabric_spec(text, packet_length=1) for text in ("cube(2)", "rdn(cube(1), 1)")]
FOUND = ("rate_at_3x_latency", "saturation_throughput", "overload_throughput")
UNTIMED = {"seconds", "router_cycles_per_second"}


class Inline(Executor):
    """Works at once; `after` pieces of work it fails with `error`."""

    def __init__(self, after=None, error=None):
        self.count, self.after, self.error = 0, after, error

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        if self.count == self.after:
            future.set_exception(self.error)
        else:
            future.set_result(fn(*args, **kwargs))
        self.count += 1
        return future


def sweep_of(results, rates=(0.1, 0.3), fabrics=FABRICS, load=LOAD):
    return Sweep(fabrics, load, rates=rates, results=results)


def timeless(curves):
    return [
        curve | {"points": [{key: row[key] for key in row if key not in UNTIMED} for row in curve["points"]]}
        for curve in curves
    ]


def test_curves_are_the_points():
    curves = sweep_of(ResultsFile(None)).run(Inline)
    assert [curve["spec"] for curve in curves] == ["cube(2)", "rdn(cube(1), 1)"]
    for curve, fabric in zip(curves, FABRICS, strict=True):
        points = [Point(fabric=fabric, load=replace(LOAD, rate=rate)) for rate in (0.1, 0.3)]
        assert timeless([curve])[0]["points"] == timeless([{"points": [*map(measure_point, points)]}])[0]["points"]
        assert {curve[name] for name in FOUND} == {None}
        assert curve["note"] is None
        assert curve["zero_load_latency"] == zero_load_latency(model_of(fabric), LOAD)


def test_of_kept_rows_what_is_measured_is_taken_if_it_can_be():
    point = Point(fabric=FABRICS[0], load=replace(LOAD, rate=0.1), seeds=2)
    row, results = measure_point(point), ResultsFile(None)
    sweep = Sweep(FABRICS[:1], LOAD, rates=(0.1,), seeds=2, results=results)
    results.add(point.key, row | {"spec": "cube(9)", "nodes": None, "rate": "x", "foreign": float("nan")})
    assert sweep._kept(point) == row
    odd = {"steady": [1], "note": [3], "created": [-1, 0.5, True], "accepted_rate": [float("nan"), 2**70, "1", None]}
    odd |= {"packet_latency": [3, {"mean": 1.0}], "latency_of_seed": [None, [1.0], [1.0, -1]], "seeds": [None]}
    for name, values in odd.items():
        for value in values:
            results.add(point.key, row | {name: value})
            with pytest.raises(SpecError, match=rf"^results must be .*: {name} of cube\(2\) at rate 0.1 cannot be"):
                sweep._kept(point)


@pytest.mark.parametrize("rates", [(0.1, 0.3), None])
def test_curves_of_several_patterns_are_those_of_each(rates):
    patterns, said = ("neighbor", "hotspot(0.2, 0)"), []
    both = Sweep(FABRICS, LOAD, patterns=patterns, rates=rates, results=ResultsFile(None), say=said.append).run(Inline)
    each = [sweep_of(ResultsFile(None), rates, load=replace(LOAD, pattern=one)).run(Inline) for one in patterns]
    assert timeless(both) == timeless([*each[0], *each[1]])
    assert [curve["pattern"] for curve in both] == [patterns[0]] * 2 + [patterns[1]] * 2
    assert all(any(f", {pattern}, offered" in line for line in said) for pattern in patterns)


@pytest.mark.parametrize("rates", [(0.1, 0.3), None])
def test_progress_is_told(rates):
    told = []
    sweep = Sweep(FABRICS, LOAD, rates=rates, results=ResultsFile(None), progress=lambda *step: told.append(step))
    points = sum(len(curve["points"]) for curve in sweep.run(Inline))
    assert told[0][0].startswith("0 of ")
    assert {spec for what, _ in told for spec in what.split(": ")[1].split(", ", 1)} >= {"cube(2)", "rdn(cube(1), 1)"}
    assert all(0 <= share < 1 for _, share in told)
    last = int(told[-1][0].split(" ")[0])
    assert told[-1][0].startswith(f"{last} of {points} points: ")
    assert told[-1][1] == pytest.approx(last / points)


def test_results_are_not_measured_twice(tmp_path):
    path = tmp_path / "new" / "results.parquet"
    first = sweep_of(ResultsFile(path)).run(Inline)
    workers = Inline()
    again = sweep_of(ResultsFile(path), rates=(0.1, 0.2, 0.3)).run(lambda: workers)
    assert workers.count == len(FABRICS)
    for before, now in zip(first, again, strict=True):
        assert before["points"] == [now["points"][0], now["points"][2]]
    assert [file.name for file in path.parent.iterdir()] == ["results.parquet"]


@pytest.mark.parametrize("option", [{"flit_width": 8}, {"crossbar": "output"}])
def test_what_has_no_part_in_the_model_has_none_in_the_key(option):
    point = Point(fabric=FABRICS[0], load=LOAD)
    assert replace(point, fabric=replace(FABRICS[0], **option)).key == point.key


@pytest.mark.parametrize(
    "other",
    [
        {"fabric": replace(FABRICS[0], packet_length=2)},
        {"fabric": replace(FABRICS[0], buffers=16)},
        {"fabric": replace(FABRICS[0], queueing="voq")},
        {"fabric": FABRICS[1]},
        {"load": replace(LOAD, seed=2)},
        {"load": replace(LOAD, warmup=None)},
        {"load": replace(LOAD, pattern="complement")},
        {"load": replace(LOAD, lengths="9")},
    ],
)
def test_what_has_a_part_is_in_the_key(other):
    point = Point(fabric=FABRICS[0], load=LOAD)
    assert replace(point, **other).key != point.key


def test_an_interrupted_sweep_keeps_what_it_has(tmp_path):
    path = tmp_path / "results.parquet"
    with pytest.raises(KeyboardInterrupt):
        sweep_of(ResultsFile(path)).run(lambda: Inline(2, KeyboardInterrupt()))
    workers = Inline()
    assert len(sweep_of(ResultsFile(path)).run(lambda: workers)) == 2
    assert workers.count < 4


def test_a_lost_worker_loses_no_result():
    started = []

    def start():
        started.append(Inline(2, BrokenExecutor()) if not started else Inline())
        return started[-1]

    curves = sweep_of(ResultsFile(None)).run(start)
    assert len(started) == 2
    assert timeless(curves) == timeless(sweep_of(ResultsFile(None)).run(Inline))


def test_workers_that_always_die_end_the_sweep():
    with pytest.raises(BrokenExecutor):
        sweep_of(ResultsFile(None)).run(lambda: Inline(0, BrokenExecutor()))


def queueing_at(limit, zero=10.0):
    """Return a stand-in for measure_point: a queue that serves `limit`, with an accepted rate of exactly that."""

    def fake(point):
        rate, steady = point.load.rate, point.load.rate < limit
        mean = zero * (1 + 0.1 * rate / (limit - rate)) if steady else 1e5
        return {
            "spec": str(point.fabric.network),
            "nodes": 1,
            "rate": rate,
            "offered_rate": rate,
            "accepted_rate": min(rate, limit),
            "steady": steady,
            "packet_latency": {"mean": mean},
            "confidence_95": 1e-6 * mean if steady else None,
            "accepted_confidence_95": 1e-9,
            "zero_load_latency": zero,
        }

    return fake


@pytest.mark.parametrize("pattern", ["uniform", "neighbor"])
@pytest.mark.parametrize("limit", [0.0005, 0.0137, 0.137, 0.5, 0.93, 2.0])
def test_saturation_is_searched(monkeypatch, limit, pattern):
    """The rate at which latency is three times that at zero load is 2 / 2.1 of the limit, by arithmetic."""
    monkeypatch.setattr(sweep_module, "measure_point", queueing_at(limit))
    fabric = FABRICS[1]
    bound = routing_statistics(plan(fabric.network)).saturation_bound if pattern == "uniform" else 1.0
    assert bound < 1 or pattern != "uniform"
    load, workers = replace(LOAD, pattern=pattern), Inline()
    (curve,) = sweep_of(ResultsFile(None), rates=None, fabrics=[fabric], load=load).run(lambda: workers)
    rates = [row["rate"] for row in curve["points"]]
    found, expected = curve["rate_at_3x_latency"], limit * 2 / 2.1
    assert curve["saturation_bound"] == (bound if pattern == "uniform" else None)
    assert curve["zero_load_latency"] == 10
    if limit < bound / 1024 or expected > bound:  # under the lowest rate that is searched, or over the highest
        assert found is None
    else:
        assert found == pytest.approx(expected, rel=0.01, abs=bound / 1024)
    assert rates[-1] >= min(bound, 1.5 * expected) * 0.97
    assert curve["saturation_throughput"] == pytest.approx(min(limit, bound), rel=1e-5)
    assert curve["overload_throughput"] == (limit if limit < bound else None)
    top = min(expected, bound)
    if top > 0.1:
        for share in (0.1, 0.4, 0.9):
            assert min(abs(rate - share * top) for rate in rates) < share * top / 16
    assert workers.count == len(rates) == len(set(rates)) < 22
    assert all(high - low > 1e-6 for low, high in pairwise(rates))


@pytest.mark.parametrize(
    ("latencies", "found"),
    [
        ([(0.1, 11), (0.2, 20), (0.3, 60)], 0.25),
        ([(0.1, 11), (0.2, 20), (0.3, None)], 0.2 + 0.1 * (1 / 2 - 1 / 3) / (1 / 2)),
        ([(0.1, None), (0.2, 20), (0.3, 60)], 0.25),  # one that grew by chance
        ([(0.1, 11), (0.91, 15), (0.95, None)], 0.92),  # all that is carried
        ([(0.1, 11), (0.2, 30)], None),
        ([(0.1, 31), (0.2, 60)], None),
    ],
)
def test_the_rate_of_three_times_the_latency_is_interpolated(monkeypatch, latencies, found):
    """The reciprocals of latency are on a line; None stands for latencies that grow."""
    latency = dict(latencies)

    def fake(point):
        mean = latency[point.load.rate]
        return queueing_at(0.92)(point) | {"packet_latency": {"mean": mean or 99.0}, "steady": mean is not None}

    monkeypatch.setattr(sweep_module, "measure_point", fake)
    (curve,) = sweep_of(ResultsFile(None), rates=list(latency), fabrics=FABRICS[:1]).run(Inline)
    assert curve["rate_at_3x_latency"] == (None if found is None else pytest.approx(found, abs=1e-6))
    reached = None in latency.values()
    assert curve["saturation_throughput"] == (min(0.92, max(latency)) if reached else None)
    assert curve["overload_throughput"] == (None if latencies[-1][1] else curve["saturation_throughput"])


@pytest.mark.parametrize(
    ("second", "found", "width"),
    [
        ((60, 6.0), 0.25, 0.25 - (0.2 + 0.1 * (0.9 / 2 - 1 / 3) / (0.9 / 2 - 0.9 / 6))),
        ((60, None), 0.25, 0.05),
        ((None, None), 0.2 + 0.1 * (1 / 2 - 1 / 3) / (1 / 2), 0.1 - 0.1 * (1 / 2 - 1 / 3) / (1 / 2)),
    ],
)
def test_the_interval_of_that_rate_is_made_of_those_of_the_means(monkeypatch, second, found, width):
    """Means within a tenth of 20 and 60 cycles; all rates up to one with an unknown mean are possible."""
    widths = {0.2: (20, 2.0), 0.3: second}

    def fake(point):
        mean, half = widths[point.load.rate]
        row = {"packet_latency": {"mean": mean or 99.0}, "confidence_95": half, "steady": mean is not None}
        return queueing_at(0.92)(point) | row

    monkeypatch.setattr(sweep_module, "measure_point", fake)
    (curve,) = sweep_of(ResultsFile(None), rates=[0.2, 0.3], fabrics=FABRICS[:1]).run(Inline)
    decimals = 1 - floor(log10(width))
    assert curve["rate_at_3x_latency"] == round(found, decimals)
    assert curve["rate_at_3x_confidence_95"] == round(width, decimals)


def test_no_more_is_asked_of_bursts_than_they_have():
    load = LoadSpec(cycles=4000, injection="on_off(100, 0.5)")
    (curve,) = sweep_of(ResultsFile(None), rates=None, fabrics=FABRICS[:1], load=load).run(Inline)
    assert max(row["rate"] for row in curve["points"]) == 0.5
    with pytest.raises(SpecError, match=r"^on_off peak must be at least the rate 0.9 and"):
        sweep_of(ResultsFile(None), rates=(0.1, 0.9), load=load)


def test_a_throughput_that_falls_under_overload_is_seen(monkeypatch):
    def fake(point):
        row = queueing_at(0.5)(point)
        return row if row["steady"] else row | {"accepted_rate": 0.5 * (1 - point.load.rate / 2)}

    monkeypatch.setattr(sweep_module, "measure_point", fake)
    load = replace(LOAD, pattern="neighbor")
    (curve,) = sweep_of(ResultsFile(None), rates=None, fabrics=FABRICS[:1], load=load).run(Inline)
    limit, most, least = (curve[name] for name in FOUND)
    assert curve["points"][-1]["rate"] == pytest.approx(1.5 * limit, rel=0.04)
    assert least == 0.5 * (1 - curve["points"][-1]["rate"] / 2)
    assert 0.46 < limit < most < 0.5
    assert most == max(row["accepted_rate"] for row in curve["points"])


@pytest.mark.parametrize(("text", "noted"), [("cube(3)", False), ("torus(4, 5)", True), ("rdn(cube(1), 1)", True)])
def test_what_is_found_is_what_the_network_carries(text, noted):
    """Measured apart: of no load more is accepted; latency is three times that of a network that is nearly idle."""
    load, fabric = LoadSpec(cycles=40_000), fabric_spec(text, buffers=2)
    (curve,) = Sweep([fabric], load, rates=None, results=ResultsFile(None)).run(Inline)
    assert (curve["note"] is not None) == noted
    assert len({row["rate"] for row in curve["points"]}) == len(curve["points"])
    zero, limit, throughput, overload = (curve[name] for name in ("zero_load_latency", *FOUND))
    assert throughput == pytest.approx(overload, rel=0.03)
    for rate in (1.0, 1.2 * throughput):
        over = measure(model_of(fabric), LoadSpec(rate=min(1.0, rate), cycles=30_000, seed=7))
        assert over.accepted_rate == pytest.approx(throughput, rel=0.03)
        assert not over.steady
    assert 0.8 * throughput < limit < throughput
    long = [measure(model_of(fabric), LoadSpec(rate=rate, cycles=200_000, seed=7)) for rate in (0.001, limit)]
    idle, loaded = (summarize(measured.packet_latency)["mean"] for measured in long)
    assert idle == pytest.approx(zero, rel=0.03)
    assert loaded == pytest.approx(3 * zero, rel=0.35)
    assert long[1].steady


def test_lengths_are_measured_and_kept(tmp_path):
    path = tmp_path / "results.parquet"
    curves = [
        Sweep(FABRICS[:1], replace(LOAD, lengths=lengths), rates=[0.2], results=ResultsFile(path)).run(Inline)
        for lengths in (None, "3", None, "3")
    ]
    assert curves[:2] == curves[2:]
    assert [curve["points"][0]["lengths"] for (curve,) in curves[:2]] == [None, "3"]
    points = [curve["points"][0] for (curve,) in curves[:2]]
    assert [point["packets"] // point["created"] for point in points] == [1, 3]


def test_a_point_that_delivers_nothing_is_told():
    said, load = [], replace(LOAD, cycles=20, warmup=0)
    (curve,) = Sweep(FABRICS[:1], load, rates=[0.0001], results=ResultsFile(None), say=said.append).run(Inline)
    assert (curve["points"][0]["delivered"], curve["points"][0]["packet_latency"]) == (0, None)
    assert said == ["1: cube(2), offered 0.0000, accepted 0.0000, nothing delivered, too few cycles to tell"]
