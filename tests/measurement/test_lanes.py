"""Lanes: each is equal to a single run of the core, and to the reference, in every packet and figure."""

from dataclasses import replace

import numpy as np
import pytest

from hdnhw.machine.machine import make_machine
from hdnhw.measurement import lanes as lanes_module
from hdnhw.measurement.lanes import LANES, LEAST_LOADS, EndlessRouteError, Lanes, in_reach, measure_lanes
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.measurement.results import ResultsFile
from hdnhw.measurement.seeds import measure_seeds
from hdnhw.measurement.sweep import Sweep
from hdnhw.model.core import Arrivals
from hdnhw.model.course import Course
from hdnhw.model.engines import REFERENCE
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.model.watchdog import PATIENCE
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import HangError, RuleError, SpecError
from hdnhw.support.progress import Stopwatch
from hdnhw.topology.faults import draw_faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals
from tests.conftest import each
from tests.measurement.test_sweep import Inline, timeless
from tests.model.drawn_machines import Drawn
from tests.model.fuzz import many_loads, plain
from tests.model.test_watchdog import one_class, reversed_ring
from tests.specs import fabric_spec

NETWORKS = (
    *("rdn(cube(1), 1)", "rdn(cube(2), 1)", "hdn(cube(2), [[0]])", "rdn(torus(3), 1)", "dualcube(3)", "torus(9)"),
    *("torus(4, 4)", "torus(5, 3)", "mesh(3, 4)", "mesh(7)", "cube(4)", "cube(6)", "complete(9)", "petersen()"),
    *("hsn(2, cube(2))", "concentrated(torus(5), 2)", "ccc(3)", "kautz(2, 3)", "fat_tree(4)", "butterfly(3)"),
    *("rdn(cube(3), 1)", "cube(8)"),
)


def drawn_of(seed):
    """Return a machine in reach drawn from a seed, and loads on it, more than there are lanes."""
    rng = np.random.default_rng([seed, 16])
    while True:
        try:
            machine = make_machine(
                fabric_spec(
                    NETWORKS[seed % len(NETWORKS)],
                    packet_length=int(rng.integers(1, 9)),
                    buffers=(None, None, 1, 2, 4, 8)[rng.integers(6)],
                    lanes=int(rng.integers(1, 3)),
                    crc=bool(rng.random() < 0.2),
                    channel_latency=str(rng.choice(["1", "1", "2", "9"])),
                )
            )
        except (SpecError, RuleError):  # options that do not go together
            continue
        model = FabricModel(machine)
        loads = many_loads(Drawn(machine, None, Terminals(), None, None, []), rng)
        if in_reach(model, loads):
            return model, loads


def figures(measured):
    return plain(replace(measured, seconds=0))


@each("seed", range(22))
def test_figures_are_those_of_single_runs(seed):
    model, loads = drawn_of(seed)
    common = bool(seed % 2)
    found = measure_lanes(model, loads, common=common)
    assert [one.interval for one in found] == [load.cycles for load in loads]
    for load, one in zip(loads, found, strict=True):
        assert figures(one) == figures(measure(model, load, common=common)), (str(model.machine.spec), load)


@each("seed", range(22, 28))
def test_figures_are_those_of_the_reference(seed):
    model, loads = drawn_of(seed)
    reference = FabricModel(model.machine, engine=REFERENCE)
    chosen = [replace(load, cycles=60, warmup=30) for load in loads[:LEAST_LOADS]]
    for load, one in list(zip(chosen, measure_lanes(model, chosen), strict=True))[::3]:
        assert figures(one) == figures(measure(reference, load)), (str(model.machine.spec), load)


def arrivals_of(model, load, cycles):
    """Return the packets of a load as others offer them."""
    own = load.on(model.plan.network, model.timing.packet_length).window(cycles)
    return Arrivals.of(own.cycle, own.source, model.address[own.destination], own.source << 2 | 1)


@each("seed", range(30, 40))
def test_packets_and_routers_are_those_of_single_runs(seed):
    """Of lanes that begin in other slots, at any time."""
    model, loads = drawn_of(seed)
    rng, length, sample = np.random.default_rng(seed), model.timing.packet_length, model.timing.sample_phase
    lanes, begun, ends = Lanes(model), {}, np.cumsum(rng.integers(1, 30, 12))
    for slot in (0, *ends.tolist()):
        lanes.advance(slot)
        for lane in rng.choice(LANES, 5 if slot else LANES, replace=False).tolist():
            if lane in begun and lane % 3:
                continue
            load = loads[lane % len(loads)]
            course = lanes.course(lane)
            course.core.load(load.on(model.plan.network, length).core, 0, None)
            begun[lane] = slot, load, course
    last = lanes.slot + 7
    lanes.advance(last)
    for lane, (slot, load, course) in begun.items():
        limit = (last - slot) * length + sample
        single = Course(model, Terminals())
        packets = single.advance(arrivals_of(model, load, limit), packets=1 << 62, limit=limit)
        rows = course.core.advance()
        assert np.array_equal(rows[np.lexsort(rows.T)], packets[np.lexsort(packets.T)]), (lane, load)
        for name in ("packets_sent", "packets_gone", "slots", "holds_packets"):
            assert getattr(course, name) == getattr(single, name), (lane, name)
        for waiting in (False, True):
            heads = course.heads(waiting=waiting), single.heads(waiting=waiting)
            for name in ("queue", "packet", "wanted", "free"):
                assert np.array_equal(*(getattr(one, name) for one in heads)), (lane, name)
        free = course.core.credits(coming=True), single.core.credits(coming=True)
        assert np.array_equal(*(own[:, : (model.ports << model.vc_bits) + 1] for own in free)), lane


def single_runs(monkeypatch):
    """Let no load be measured in lanes."""
    monkeypatch.setattr(lanes_module, "LEAST_LOADS", 1 << 30)


@pytest.fixture
def counted(monkeypatch):
    """Count the loads that are measured in lanes."""
    calls, own = [], lanes_module.measure_lanes

    def noted(model, loads, **options):
        calls.append(len(loads))
        return own(model, loads, **options)

    monkeypatch.setattr("hdnhw.measurement.seeds.measure_lanes", noted)
    return calls


def test_many_seeds_are_measured_in_lanes(monkeypatch, counted):
    model, load, told = model_of(fabric_spec("rdn(cube(1), 1)")), LoadSpec(rate=0.2, cycles=200), []
    found = measure_seeds(model, load, LEAST_LOADS, progress=lambda *step: told.append(step))
    assert counted == [LEAST_LOADS]
    assert told[0] == (f"0 of {LEAST_LOADS} loads: warm-up", 0.0)
    assert all(0 <= share <= 1 for _, share in told)
    few = measure_seeds(model, load, LEAST_LOADS - 1)
    single_runs(monkeypatch)
    assert [*map(figures, found)][:-1] == [*map(figures, few)]
    assert [*map(figures, found)] == [*map(figures, measure_seeds(model, load, LEAST_LOADS))]
    assert counted == [LEAST_LOADS]


def test_a_lane_that_stands_still_is_seen():
    """The same packets wait for each other as in a single run; a route without an end is left to that, too."""
    load = LoadSpec(rate=1.0, warmup=3 * PATIENCE, cycles=200)
    machine, caught = make_machine(fabric_spec("rdn(cube(2), 1)", packet_length=1, buffers=2)), []
    broken = FabricModel(replace(machine, plan=one_class("rdn(cube(2), 1)")))
    for way in (lambda: measure_lanes(broken, [load] * 2), lambda: measure(broken, load)):
        with pytest.raises(HangError, match=" has a deadlock: ") as error:
            way()
        caught.append(str(error.value))
    assert caught[0] == caught[1]
    endless = FabricModel(replace(machine, plan=reversed_ring("torus(5)")))
    with pytest.raises(EndlessRouteError):
        Lanes(endless)
    with pytest.raises(HangError, match=" has a livelock: "):
        measure_seeds(endless, replace(load, rate=0.1, cycles=20_000), LEAST_LOADS)


def test_the_seconds_are_shared():
    model, load = model_of(fabric_spec("torus(4)")), LoadSpec(rate=0.2, cycles=200)
    watch = Stopwatch()
    found = measure_seeds(model, load, LANES)
    assert 0 < sum(one.seconds for one in found) <= watch.seconds
    assert len({round(one.seconds / one.cycles, 12) for one in found}) == 1


def test_a_lane_pauses_just_behind_others():
    """Packets that have left but are taken behind a pause count, however short the step before it was."""
    rng = np.random.default_rng(1)
    model = model_of(fabric_spec("torus(5)", packet_length=1))
    loads = [LoadSpec(rate=0.7, cycles=int(rng.integers(20, 99)), seed=seed) for seed in range(4 * LANES)]
    for load, one in zip(loads, measure_lanes(model, loads), strict=True):
        assert figures(one) == figures(measure(model, load)), load


@each("precision", [0.05, 0.5])
def test_a_precision_is_reached_as_by_single_runs(precision):
    """Loads whose intervals become longer begin anew in their lanes, the last of them alone."""
    model = model_of(fabric_spec("torus(5)", packet_length=2))
    loads = [LoadSpec(rate=0.05 * (k % 7 + 1), cycles=40, precision=precision, seed=k) for k in range(LANES + 5)]
    found = measure_lanes(model, loads)
    assert len({one.interval for one in found}) > 3
    for load, one in zip(loads, found, strict=True):
        assert figures(one) == figures(measure(model, load)), load


CURVES = ("cube(2)", "complete(10)")
"""In reach, and not."""


def curves_of(texts, results=None, number=1, **options):
    workers, fabrics = Inline(), [fabric_spec(text, packet_length=1) for text in texts]
    workers.workers = number
    sweep = Sweep(fabrics, LoadSpec(cycles=100), results=results or ResultsFile(None), **options)
    return timeless(sweep.run(lambda: workers)), workers.count


@each("options", [{"rates": [0.05 * k for k in range(1, 18)]}, {"rates": [0.1, 0.2, 0.5, 0.9], "seeds": 10}])
def test_curves_are_those_of_single_runs(options):
    """A curve in lanes goes together; one out of reach point by point."""
    with pytest.MonkeyPatch.context() as patch:
        found, pieces = curves_of(CURVES, **options)
        single_runs(patch)
        expected, each_point = curves_of(CURVES, **options)
    assert found == expected
    points = len(options["rates"])
    assert (pieces, each_point) == (points + (1 if points == 17 else 2), 2 * points)


@each(
    ("options", "number", "expected"),
    [
        ({"rates": [0.05 * k for k in range(1, 18)]}, 2, 17 + 1),
        ({"rates": [0.05 * k for k in range(1, 18)]}, 3, 17 + 17),
        ({"rates": [0.1, 0.2, 0.5, 0.9], "seeds": 10}, 3, 4 + 2),
        ({"rates": [0.1, 0.2, 0.5, 0.9], "seeds": 10}, 7, 4 + 4),
    ],
)
def test_no_worker_waits_while_another_has_many_loads(options, number, expected):
    """Points go together only where that leaves each worker enough."""
    found, pieces = curves_of(CURVES, number=number, **options)
    assert pieces == expected
    assert found == curves_of(CURVES, **options)[0]


@each("seeds", [4, 16])
def test_a_search_guesses_and_finds_the_same(seeds):
    results = ResultsFile(None)
    with pytest.MonkeyPatch.context() as patch:
        found, pieces = curves_of(CURVES[:1], results, rates=None, seeds=seeds)
        again, none = curves_of(CURVES[:1], results, rates=None, seeds=seeds)
        single_runs(patch)
        expected, each_point = curves_of(CURVES[:1], rates=None, seeds=seeds)
    assert found == again == expected
    assert none == 0
    assert each_point == sum(len(curve["points"]) for curve in found) > pieces
    assert len(results._rows) == each_point, "what was guessed and not asked for is kept"


OUT_OF_REACH = (
    ({"network": parse("torus(4)"), "queueing": "voq"}, {}),
    ({"network": parse("torus(4)"), "switching": "cut-through"}, {}),
    ({"network": parse("torus(4)"), "modes": "valiant"}, {}),
    ({"network": parse("torus(4)"), "gapless_packets": True}, {}),
    ({"network": parse("complete(10)")}, {}),
    ({"network": parse("torus(3, 3, 3)"), "lanes": 2}, {}),
    ({"network": parse("star(4)")}, {}),
    ({"network": parse("cube(9)")}, {}),
    ({"network": parse("torus(4)"), "buffers": 256}, {}),
    ({"network": parse("mesh(16, 16)"), "buffers": 128}, {}),
    ({"network": parse("torus(4)")}, {"lengths": "9"}),
    ({"network": parse("torus(8, 8)")}, {"rate": 1.0, "cycles": 300_000}),
)


@each("case", OUT_OF_REACH)
def test_what_is_out_of_reach(case):
    options, load = case
    loads = [LoadSpec(**load)] * LEAST_LOADS
    assert not in_reach(model_of(FabricSpec(**options)), loads), options
    assert in_reach(model_of(fabric_spec("torus(4)")), [LoadSpec()] * LEAST_LOADS)
    assert not in_reach(model_of(fabric_spec("torus(4)")), [LoadSpec()] * (LEAST_LOADS - 1))


def test_what_is_dead_and_the_reference_are_out_of_reach():
    model, loads = model_of(fabric_spec("torus(4)")), [LoadSpec()] * LEAST_LOADS
    faults = draw_faults(neighbor_table(model.plan.network), np.random.default_rng(1), nodes=1, channel_rate=0.0)
    assert not in_reach(model.with_faults(faults), loads)
    assert not in_reach(FabricModel(model.machine, engine=REFERENCE), loads)
