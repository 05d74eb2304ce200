"""Kernels that run as Python leave the fabric as machine code does, whatever its options."""

import importlib
import sys
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest

from hdnhw.kernels import Kernel
from hdnhw.library.options import drawn_faults
from hdnhw.model.fabric import STEPS_TO_COMPILE, STEPS_TO_LOAD, Course, FabricModel, model_of
from hdnhw.model.kernel.state import CREATED, DESTINATION, HEAD_CYCLE, HOPS, PACE, TAG, Arrivals
from hdnhw.model.load import LoadSpec
from hdnhw.model.measure import measure
from hdnhw.spec import FabricSpec, parse
from hdnhw.traffic.packets import Terminals

PAUSED = Terminals(source_gap=60, sink_stall=90, sink_hold=40)

FABRICS = {
    "rdn(cube(2), 1)": {},
    "torus(5, 3)": {"packet_length": 1, "lanes": 2, "queueing": "voq", "buffers": 4},
    "torus(3, 3)": {"queueing": "voq", "buffers": 8},
    "hdn(cube(2), [[0], [0, 1]])": {"switching": "cut-through", "packet_length": 10, "buffers": 4},
    "mesh(4, 5)": {"gapless_packets": True, "buffers": 2},
    "petersen()": {"packet_length": 2},
    "cube(4)": {"modes": "valiant", "packet_length": 1},
    "complete(9)": {"modes": "ugal", "packet_length": 1, "buffers": 16},
    "torus(4, 4)": {"modes": "adaptive", "packet_length": 2, "buffers": 16},
    "torus(6, 2)": {"modes": "adaptive", "queueing": "voq", "buffers": 16},
    "torus(9)": {"channel_registers": 1},
    "fat_tree(4)": {"modes": "ugal", "packet_length": 1, "buffers": 16},
}


def traffic(model, packets, cycles):
    """Return packets between nodes drawn at random, some of them for none."""
    network, rng = model.plan.network, np.random.default_rng(3)
    node, end = rng.integers(network.num_terminals, size=(2, packets))
    end[rng.random(packets) < 0.3] = 1
    destination = np.where(rng.random(packets) < 0.05, -1, model.plan.address.of_node(end))
    return Arrivals.of(np.sort(rng.integers(cycles, size=packets)), node, destination, np.arange(packets))


def arrays(state, name=""):
    """Return all numbers that a tuple of arrays has, by their names; not what memory holds that was never written."""
    if isinstance(state, tuple):
        return {key: value for field in state._fields for key, value in arrays(getattr(state, field), field).items()}
    return (
        {}
        if name in ("words", "busy", "freed", "node", "place", "out", "packet", "ready", "decisions")
        else {name: state}
    )


def states(model, terminals, plain, packets=400):
    """Run in pieces; return what left in each, and how the fabric was at its end."""
    offers, course = traffic(model, packets, 800), Course(model, terminals, room=8, counting=True, plain=plain)
    phase, length = model.timing.sample_phase, model.timing.packet_length
    stops = [0, *(phase + length * slot for slot in (0, 40, 41, 120, 400)), 40_000]
    for start, stop in pairwise(stops):
        due = Arrivals(*(column[(offers.cycle >= start) & (offers.cycle < stop)] for column in offers))
        left = course.advance(due, packets=packets, limit=stop)
        counts = course.counts()
        yield {
            **arrays(course._state),
            "left": left,
            "waiting": course.packets[:, [DESTINATION, CREATED, HEAD_CYCLE, TAG, HOPS, PACE]],
            "held": course.held(),
            "sent": counts.sent,
            "stalled": counts.stalled,
        }


@pytest.mark.parametrize("terminals", [Terminals(), PAUSED], ids=("steady", "paused"))
@pytest.mark.parametrize("text", FABRICS)
def test_it_is_the_same_in_python(text, terminals):
    model = model_of(FabricSpec(network=parse(text), **FABRICS[text]))
    for made, expected in zip(*(states(model, terminals, plain) for plain in (True, False)), strict=True):
        assert made.keys() == expected.keys()
        differing = [name for name in made if not np.array_equal(made[name], expected[name])]
        assert not differing
    assert len(made["waiting"]) < 60
    assert made["sent"].sum() > 400


def measured(monkeypatch, plain):
    """Measure a load on a torus with something dead."""
    monkeypatch.setattr(FabricModel, "runs_plain", lambda *_: plain)
    model = model_of(FabricSpec(network=parse("torus(3, 4)")))
    model = model.with_faults(drawn_faults((1, 2), model.plan.network, 3))
    found = measure(model, LoadSpec(rate=0.3, cycles=400), counting=True)
    return {field.name: getattr(found, field.name) for field in fields(found)} | vars(found.counts)


def test_a_measurement_is_the_same_in_python(monkeypatch):
    made, expected = (measured(monkeypatch, plain) for plain in (True, False))
    assert made["delivered"] > 100
    differing = {name for name in made if not np.array_equal(made[name], expected[name])}
    assert differing == {"seconds", "counts"}


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("loaded", [True, False])
def test_few_packets_are_not_worth_machine_code(monkeypatch, loaded, kept):
    model, hops = model_of(FabricSpec(network=parse("cube(3)"))), 12 / 8
    monkeypatch.setattr(Kernel, "is_there", kept)
    importlib.import_module("numba")
    if not loaded:
        monkeypatch.delitem(sys.modules, "numba")
    steps = STEPS_TO_COMPILE if not kept else 0 if loaded else STEPS_TO_LOAD
    most = int(steps / (1 + hops))
    assert [model.runs_plain(packets, 0, Terminals()) for packets in (1, most, most + 2)] == [most > 0, most > 0, False]


@pytest.mark.parametrize(("cycles", "terminals", "plain"), [(1 << 21, Terminals(), True), (1 << 21, PAUSED, False)])
def test_cycles_of_terminals_that_pause_count(monkeypatch, cycles, terminals, plain):
    monkeypatch.setattr(Kernel, "is_there", False)
    model = model_of(FabricSpec(network=parse("cube(3)")))
    assert model.runs_plain(1, cycles // 2, terminals) == plain
    assert not model.runs_plain(1, 64 * cycles, terminals)


def test_a_router_of_many_queues_is_compiled(monkeypatch):
    monkeypatch.setattr(Kernel, "is_there", False)
    for ports, plain in ((30, True), (31, False)):
        model = model_of(FabricSpec(network=parse(f"complete({ports + 1})"), lanes=2))
        assert model.vc_bits == 1
        assert model.runs_plain(1, 1, Terminals()) == plain
