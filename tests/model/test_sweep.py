"""Sweeps: resumed, interrupted, with workers that die; and what the search for saturation finds."""

from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace

import pytest

from hdnhw.model import sweep as sweep_module
from hdnhw.model.measure import LoadSpec
from hdnhw.model.results import ResultsFile
from hdnhw.model.sweep import Point, Sweep, measure_point
from hdnhw.routing.plan import plan
from hdnhw.routing.statistics import routing_statistics
from hdnhw.spec import FabricSpec, parse

LOAD = LoadSpec(cycles=200, warmup=50)
FABRICS = [FabricSpec(network=parse(text), packet_length=1) for text in ("cube(2)", "rdn(cube(1), 1)")]
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
        assert curve["saturation_rate"] == 0.3


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


@pytest.mark.parametrize("pattern", ["uniform", "neighbour"])
@pytest.mark.parametrize("limit", [0.0, 0.137, 0.5, 2.0])
def test_saturation_is_searched(monkeypatch, limit, pattern):
    def fake(point):
        row = {"spec": str(point.fabric.network), "nodes": 1, "offered_rate": point.load.rate, "accepted_rate": 0.0}
        return row | {"saturated": point.load.rate > limit, "packet_latency": {"mean": 1.0}}

    monkeypatch.setattr(sweep_module, "measure_point", fake)
    fabric = FABRICS[1]
    bound = routing_statistics(plan(fabric.network)).saturation_bound if pattern == "uniform" else 1.0
    assert bound < 1 or pattern != "uniform"
    load = replace(LOAD, pattern=pattern)
    (curve,) = sweep_of(ResultsFile(None), rates=None, fabrics=[fabric], load=load).run(Inline)
    found = curve["saturation_rate"]
    if limit == 0:
        assert found is None
    else:
        assert min(limit, bound) - bound / 64 - 1e-5 <= found <= min(limit, bound)
        assert {round(share * found, 6) for share in (0.1, 0.9)} <= {row["offered_rate"] for row in curve["points"]}
    assert len(curve["points"]) < 20


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
    (curve,) = Sweep(FABRICS[:1], load, rates=[0.001], results=ResultsFile(None), say=said.append).run(Inline)
    assert (curve["points"][0]["delivered"], curve["points"][0]["packet_latency"]) == (0, None)
    assert said == ["1: cube(2), offered 0.0000, accepted 0.0000, nothing delivered"]
