"""A run is the same whatever the number of threads, and of parts that the nodes are cut into."""

from dataclasses import fields, replace

import numpy as np
import pytest

from hdnhw.library.options import drawn_faults
from hdnhw.library.simulation import simulate
from hdnhw.measurement.measure import LoadSpec, measure
from hdnhw.measurement.replay import measure_exchange
from hdnhw.model import course as courses
from hdnhw.model.course import Course
from hdnhw.model.fabric import model_of
from hdnhw.sim.stimulus import make_case
from hdnhw.support.errors import SpecError
from hdnhw.traffic.packets import Terminals
from tests.specs import fabric_spec

FABRICS = (
    fabric_spec("rdn(cube(2), 1)", packet_length=1, lanes=2, queueing="voq", buffers=4),
    fabric_spec("torus(5, 3)", packet_length=3, buffers=2),
    fabric_spec("hdn(cube(2), [[0], [0, 1]])", packet_length=10, switching="cut-through", buffers=4),
    fabric_spec("mesh(4, 5)", packet_length=8, gapless_packets=True),
)


def same(one, other):
    """Tell whether all members of two results are the same, but for the seconds they took."""
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if field.name == "counts" and left is not None:
            if right is None or not same(left, right):
                return False
        elif field.name != "seconds" and not np.array_equal(left, right):
            return False
    return True


@pytest.fixture(params=(1, 4, 0), ids=("a node a part", "four nodes a part", "large parts"))
def _parts(request, monkeypatch):
    monkeypatch.setattr(courses, "PART_NODES", request.param)


@pytest.mark.usefixtures("_parts")
@pytest.mark.parametrize("fabric", FABRICS, ids=lambda fabric: str(fabric.network))
@pytest.mark.parametrize("terminals", [Terminals(), Terminals(source_gap=60, sink_stall=90)], ids=("plain", "paused"))
def test_every_ejection_is_the_same_for_any_number_of_threads(fabric, terminals):
    model = model_of(fabric)
    traffic = make_case("random", model, packets=600).traffic
    runs = [model.run(traffic, terminals, max_cycles=100_000, threads=threads) for threads in (1, 2, 3)]
    assert len(runs[0].packet) == (model.plan.address.is_node(traffic.destination)).sum()
    assert same(runs[0], runs[1])
    assert same(runs[0], runs[2])


@pytest.mark.usefixtures("_parts")
@pytest.mark.parametrize("dead", [None, (2, 3)])
def test_measurements_and_counts_are_the_same(dead):
    model, load = model_of(FABRICS[1]), LoadSpec(rate=0.5, cycles=400, seed=5)
    if dead:
        model = model.with_faults(drawn_faults(dead, model.plan.network, 3))
    found = [measure(model, load, counting=True, threads=threads) for threads in (1, 2)]
    assert found[0].delivered > 100
    assert same(*found)


def test_a_call_that_ends_at_once_leaves_each_thread_its_work():
    model = model_of(FABRICS[1])
    course = Course(model, Terminals(), threads=3)
    arrivals = model._arrivals(make_case("random", model, packets=60).traffic)
    course.advance(arrivals, packets=0, limit=model.timing.sample_phase)
    none = type(arrivals).of([], [], [], [])
    for _ in range(3):
        assert len(course.advance(none, packets=1 << 62, limit=model.timing.sample_phase)) == 0
    assert len(course.advance(none, packets=1 << 62, limit=3000 + model.timing.sample_phase)) == 0


def test_arrivals_that_are_never_offered_are_forgotten():
    model = model_of(FABRICS[1])
    traffic = make_case("random", model, packets=60).traffic
    late = replace(traffic, earliest=traffic.earliest + 10_000)
    course = Course(model, Terminals(), threads=2)
    course.advance(model._arrivals(late), packets=60, limit=1000)
    assert len(course.packets) == 0


def test_a_trace_is_the_same():
    rows = [measure_exchange(FABRICS[1], cycles=None, histogram=True, threads=threads) for threads in (1, 2)]
    for row in rows:
        del row["seconds"], row["router_cycles_per_second"]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("threads", [0, 65])
def test_there_are_some_threads_but_not_too_many(threads):
    with pytest.raises(SpecError, match=f"threads must be 1 to 64, not {threads}"):
        simulate("cube(2)", rate=0.1, cycles=100, threads=threads)


def test_waypoints_do_not_go_with_threads():
    with pytest.raises(SpecError, match="waypoints does not go with threads"):
        simulate("cube(3)", waypoints=1, faults=1, threads=2)
