"""The model in plain Python is the compiled one, whatever the machine, its terminals and its load."""

import numpy as np
import pytest

import hdnhw
from hdnhw.endpoints.relay.model import RelayModel, Sends
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.machine.machine import make_machine
from hdnhw.machine.timing import Link
from hdnhw.model import course
from hdnhw.model.core import TAG, TAIL_CYCLE, Arrivals
from hdnhw.model.course import Course
from hdnhw.model.engines import ENGINES
from hdnhw.model.fabric import FabricModel
from hdnhw.model.reference import Reference
from hdnhw.support.errors import SpecError
from hdnhw.topology.faults import draw_faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals, Traffic
from tests.model.drawn_machines import differences, draw
from tests.model.fuzz import faults_of
from tests.specs import fabric_spec

SMALL = (
    *(401, 402, 403, 404, 410, 418, 424, 430, 448, 453, 457, 458),
    *(465, 482, 491, 498, 507, 521, 530, 538, 539, 546, 567, 595),
)
"""Seeds of machines whose routers can be small, with one and with two virtual channels."""


def compiled(drawn):
    return Course(FabricModel(drawn.machine, drawn.faults), drawn.terminals, counting=True)


@pytest.mark.parametrize("seed", range(64))
def test_it_is_the_compiled_model(seed):
    drawn = draw(seed)
    assert not differences(Reference(drawn.machine, drawn.terminals, drawn.faults), compiled(drawn), drawn), drawn


@pytest.mark.parametrize("seed", range(1016, 1032))
def test_neither_parts_nor_threads_make_a_difference(seed, monkeypatch):
    """Of loads and what is measured of them, too. In 1019 a source has packets for itself among those of UGAL."""
    monkeypatch.setattr(course, "PART_NODES", 0)  # is set anew
    assert not list(faults_of(seed))


def test_small_routers_are_like_the_others(monkeypatch):
    """A machine has them in one part, of which it is not said how many nodes it may have."""
    for seed in SMALL:
        drawn, found = draw(seed), []
        for nodes in (0, 128):
            monkeypatch.setattr(course, "PART_NODES", nodes)
            made = Course(FabricModel(drawn.machine, drawn.faults), drawn.terminals)
            rows, waiting = drawn.rows(made), made.packets
            found.append([*rows, waiting[np.lexsort(waiting.T)], made.dropped, made.sending, made.core.credits()])
        assert all(map(np.array_equal, *found)), drawn


@pytest.mark.parametrize("text", ["cube(10)", "mesh(70, 70)"])
def test_large_networks_whose_ways_are_no_table_of_all_pairs(text):
    """A table in two levels, and gates for many packets at a time, of packets by value between parts."""
    machine, rng, packets = (
        make_machine(fabric_spec(text, packet_length=1)),
        np.random.default_rng(1),
        2000,
    )
    source, end = rng.integers(machine.network.num_nodes, size=(2, packets))
    cycle = np.sort(rng.integers(20, size=packets))
    arrivals = Arrivals.of(cycle, source, machine.address.of_node(end), np.arange(packets))
    courses = Reference(machine, Terminals()), Course(FabricModel(machine), Terminals())
    made, expected = (course.advance(arrivals, packets=packets, limit=10_000) for course in courses)
    assert len(made) == packets
    assert np.array_equal(made[np.lexsort(made.T)], expected[np.lexsort(expected.T)])


@pytest.mark.parametrize("seed", range(200, 232))
def test_channels_of_every_port_take_what_they_are_given(seed):
    drawn, rng = draw(seed), np.random.default_rng(seed)
    model, turns = FabricModel(drawn.machine, drawn.faults), 1 + bool(drawn.machine.offset)
    latency, credit, interval = (rng.integers(least, 4, model.ports) for least in (0, 0, 1))
    links = {
        port: Link(usual.latency + latency[port], usual.credit_latency + credit[port], interval[port])
        for port, usual in enumerate(drawn.machine.links)
    }
    model.given["latency"] += latency * turns
    model.given["credit_latency"] += credit * turns
    model.given["interval"] = interval
    reference = Reference(drawn.machine, drawn.terminals, drawn.faults, links=links)
    assert not differences(reference, Course(model, drawn.terminals, counting=True), drawn), drawn


@pytest.mark.parametrize("paused", [False, True])
def test_traffic_that_is_cut_off(paused):
    """Packets that are late for their order, a number of cycles at which no slot begins, and heads on their way."""
    drawn = draw(3)
    terminals = Terminals(source_gap=40, sink_stall=40, sink_hold=30) if paused else Terminals()
    nodes, address = drawn.machine.network.num_terminals, drawn.machine.address.of_node(np.arange(4)).tolist()
    packets = [[(address[number % 4], 7 * number % 60) for number in range(node, node + 20)] for node in range(nodes)]
    packets += [[]] * (drawn.machine.network.num_nodes - nodes)
    traffic = Traffic.from_lists(packets)
    runs = [FabricModel(drawn.machine, engine=engine).run(traffic, terminals, max_cycles=151) for engine in ENGINES]
    assert 0 < len(runs[0].packet) < traffic.num_packets
    assert all(np.array_equal(made, vars(runs[1])[name]) for name, made in vars(runs[0]).items())


@pytest.mark.parametrize("node", range(4))
def test_a_run_ends_with_a_packet_that_is_dropped(node):
    """With cut-through, odd nodes tell the cycle half a slot lower."""
    machine = make_machine(fabric_spec("cube(2)", switching="cut-through"))
    ends = []
    for engine in ENGINES:
        course = FabricModel(machine, engine=engine).course(Terminals())
        course.advance(Arrivals.of([21], [node], [-1], [0]), packets=1, limit=1 << 16)
        assert course.dropped.sum() == 1
        ends.append(course.cycles)
    assert ends[0] == ends[1]


def test_relays_take_it_for_the_compiled_model():
    spec = fabric_spec("hdn(cube(2), [[0]])", packet_length=4, flit_width=64, endpoints=RelaySpec())
    faults = draw_faults(neighbor_table(make_machine(spec).network), np.random.default_rng(2), channels=4)
    models = [FabricModel(make_machine(spec), faults, engine) for engine in ENGINES]
    address = models[0].address.tolist()
    stops = [(address[5 * node % 16], address[(3 * node + 1) % 16]) for node in range(16) for _ in range(3)]
    sends = Sends(np.arange(0, 49, 3), stops, np.zeros(48, np.int64))
    pauses = Terminals(source_gap=30, sink_stall=60)
    made, expected = (RelayModel(model).run(sends, pauses, max_cycles=5000) for model in models)
    assert [vars(packet) for packet in made.packets] == [vars(packet) for packet in expected.packets]
    for name in ("node", "cycle", "head_cycle", "counts", "cycles"):
        assert np.array_equal(getattr(made, name), getattr(expected, name))


@pytest.mark.parametrize(
    "asked",
    [
        {"rate": 0.3, "cycles": 300, "channels": True, "histogram": True, "faults": (1, 2)},
        {"rate": 0.2, "cycles": 300, "modes": "adaptive", "lengths": "mix(1, 0.7, 17, 0.3)"},
        {"pattern": "exchange", "threads": 1},
        {"rate": 0.1, "cycles": 300, "faults": (0, 3), "waypoints": 1, "flit_width": 64},
    ],
)
def test_a_measurement_is_the_same(asked):
    rows = [hdnhw.simulate("rdn(cube(1), 1)", engine=engine, **asked) for engine in ENGINES]
    for row in rows:
        for name in ("seconds", "router_cycles_per_second"):
            row.pop(name, None)
    assert rows[0] == rows[1]


@pytest.mark.parametrize("what", ["load", "trace"])
def test_the_command_refuses_what_is_too_large(refused, what):
    load = "--pattern exchange" if what == "trace" else "--rate 0.1"
    line = f"simulate {{}} {load} --engine reference"
    assert refused(line.format("'torus(33, 32)'")) == "hdnhw: engine reference must have at most 1024 nodes, not 1056\n"
    said = refused(f"{line.format('cube(2)')} --threads 2")
    assert said == "hdnhw: --threads must be 1 with --engine reference, not 2\n"


def test_a_function_refuses_an_engine_that_there_is_not():
    with pytest.raises(SpecError, match="engine must be one of compiled, reference, not 'fast'"):
        hdnhw.simulate("cube(2)", engine="fast")


def crossing(links, packets, **options):
    """Return the machine, and the cycles of the tails of packets that go from one end of a line of six to the other."""
    machine = make_machine(fabric_spec("mesh(6)", **options))
    address = int(machine.address.of_node(5))
    none = np.zeros(packets, np.int64)
    arrivals = Arrivals.of(none, none, none + address, np.arange(packets))
    left = Reference(machine, Terminals(), links=links).advance(arrivals, packets=packets, limit=1 << 16)
    return machine, left[np.argsort(left[:, TAG]), TAIL_CYCLE]


@pytest.mark.parametrize("options", [{}, {"packet_length": 1}, {"queueing": "voq"}, {"switching": "cut-through"}])
def test_a_channel_may_take_longer(options):
    machine, (usual,) = crossing({}, 1, **options)
    length, timing = machine.timing.packet_length, machine.timing
    assert usual == timing.zero_load_latency(5, 0)
    own = {
        port: Link(timing.link.latency + 3, timing.link.credit_latency) for port in range(len(machine.network.ports))
    }
    assert crossing(own, 1, **options)[1].tolist() == [usual + 5 * 3 * length]


@pytest.mark.parametrize("options", [{}, {"packet_length": 1}, {"queueing": "voq"}, {"switching": "cut-through"}])
@pytest.mark.parametrize(("interval", "later", "gap"), [(1, 0, 1), (3, 0, 3), (1, 20, None), (2, 20, None)])
def test_a_channel_carries_a_packet_an_interval_and_buffer(options, interval, later, gap):
    """Packets come as often as the interval says, or as buffers at the end are free again, after both latencies."""
    machine, _ = crossing({}, 1, **options)
    usual, length = machine.timing.link, machine.timing.packet_length
    link = Link(usual.latency, usual.credit_latency + later, interval)
    _, tails = crossing(dict.fromkeys(range(len(machine.network.ports)), link), 33, **options)
    buffers, around = machine.vc_buffers(0), usual.latency + link.credit_latency
    apart = np.diff(tails[8:]) // length
    if gap is None:
        assert set(np.diff(tails[8::buffers]) // length) == {around}
    else:
        assert set(apart) == {gap}
