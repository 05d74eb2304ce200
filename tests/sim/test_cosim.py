"""The emitted Verilog under cocotb against the model: every packet in node, cycle, order and payload."""

import dataclasses
import re
import shutil
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from hdnhw.library.benches import random_lengths
from hdnhw.machine.machine import Machine, make_machine
from hdnhw.machine.timing import SlotTiming
from hdnhw.measurement.collective import measure_network_exchange
from hdnhw.measurement.load import LoadSpec
from hdnhw.multipath.waypoints import RouteTable
from hdnhw.rules.plan import plan
from hdnhw.sim.compare import StreamVerdict
from hdnhw.sim.runner import Run
from hdnhw.sim.stimulus import case_of_traffic, load_case, make_case
from hdnhw.sim.streams import HarnessBench, StreamBench
from hdnhw.support.errors import SpecError
from hdnhw.topology.faults import Faults, draw_faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals, Traffic
from hdnhw.verilog.fabric import emit_fabric, emit_machine
from tests.soak.deaths import DeathBench
from tests.specs import fabric_spec


def bench(text: str, simulator: str = "verilator", **sizes: int | str) -> StreamBench:
    """Return the bench of a fabric; builds are kept between test runs."""
    return StreamBench(emit_fabric(fabric_spec(text, **sizes)), simulator=simulator)


def shared() -> StreamBench:
    """Return the bench of a fabric that many tests use, with pins that may be dead and room for two flows a port."""
    buffers = 2 * SlotTiming(4).full_rate_buffers
    return bench("hdn(cube(2), [[0]])", packet_length=4, buffers=buffers, dead_pins=True)


@pytest.mark.parametrize("flat", [False, True])
def test_routers_are_compiled_once_or_each_for_itself(flat):
    fabric = emit_fabric(fabric_spec("complete(2)", packet_length=2))
    made = StreamBench(fabric, flat=flat)
    run = made.run("random", packets=500)
    assert run.verdict.passed
    assert run.verdict.packets == 500
    assert ("hier_block" in (made.build.folder / "sources" / "bench.vlt").read_text()) != flat


def assert_passed(run: Run[StreamVerdict], packets: int) -> None:
    assert run.verdict.packets >= packets
    assert run.verdict.passed, run.verdict


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("dualcube(3)", {"packet_length": 4}),
        ("hdn(cube(2), [[0], [0, 1]])", {}),
        ("hdn(cube(1), [[], [0]])", {}),
        ("hdn(cube(2), [[0]])", {"crossbar": "output", "buffers": 8, "queueing": "voq"}),
        ("hdn(cube(1), [[]])", {"crossbar": "output", "buffers": 4, "queueing": "voq", "packet_length": 1}),
        ("mesh(2, 3)", {"packet_length": 2, "buffers": 1, "lanes": 2, "crossbar": "output"}),
        ("hdn(cube(1), [[0]])", {"switching": "cut-through"}),
        ("torus(4, 4)", {"switching": "cut-through", "buffers": 1}),
        ("hdn(cube(1), [[0]])", {"gapless_packets": True, "packet_length": 4}),
        ("hdn(cube(1), [[0]])", {"gapless_packets": True, "switching": "cut-through"}),
        ("rdn(cube(2), 1)", {"gapless_packets": True, "ram": "distributed", "lanes": 2}),
        ("rdn(torus(3), 1)", {"gapless_packets": True, "queueing": "voq", "packet_length": 9, "crossbar": "output"}),
        ("torus(5, 4)", {"gapless_packets": True, "packet_length": 2, "crc": True}),
        ("hdn(cube(2), [[0]])", {"channel_latency": "2", "crc": True}),
        ("mesh(2, 3)", {"channel_latency": "2", "packet_length": 9, "lanes": 2}),
        ("hdn(cube(1), [[0]])", {"channel_latency": "2", "queueing": "voq", "buffers": 8, "packet_length": 9}),
        ("hdn(cube(1), [[]])", {"channel_latency": "2", "buffers": 2}),
        ("mesh(2, 3)", {"switching": "cut-through", "packet_length": 16}),
        (
            "hdn(cube(2), [[0]])",
            {"switching": "cut-through", "packet_length": 10, "lanes": 2, "ram": "distributed", "crossbar": "output"},
        ),
        ("hsn(2, cube(2))", {"packet_length": 3}),
        ("hsn(2, complete(3))", {"packet_length": 3}),
        ("rdn(torus(5), 1)", {"packet_length": 3}),
        ("hdn(torus(2, 3), [[1]])", {"packet_length": 5, "flit_width": 17, "buffers": 4, "lanes": 2}),
        ("rdn(cube(1), 1)", {"packet_length": 5, "flit_width": 17, "buffers": 4, "lanes": 2}),
        ("rdn(cube(1), 1)", {"channel_latency": "dim0=3,cross1=21", "dead_pins": True}),
        ("rdn(cube(1), 1)", {"channel_latency": "cross1=5", "queueing": "voq", "lanes": 2}),
        ("torus(3, 4)", {"channel_latency": "dim0*=3,dim1*=6", "packet_length": 4, "crc": True}),
        ("mesh(2, 3)", {"channel_latency": "dim0=5,dim1*=2", "packet_length": 1}),
        (
            "hdn(cube(1), [[0]])",
            {"channel_latency": "cross1=9", "switching": "cut-through", "packet_length": 16, "crc": True, "buffers": 1},
        ),
        ("rdn(cube(1), 1)", {"channel_width": "cross1=8", "channel_latency": "cross1=3"}),
        ("hdn(cube(1), [[0]])", {"channel_width": 11, "packet_length": 1, "queueing": "voq"}),
        ("mesh(2, 3)", {"channel_width": "dim1*=13", "packet_length": 3, "crc": True, "lanes": 2, "buffers": 2}),
        ("rdn(cube(1), 1)", {"channel_width": "cross1=16", "switching": "cut-through", "packet_length": 16}),
    ],
)
def test_every_pair_and_random_traffic(text: str, sizes: dict[str, int | str]) -> None:
    fabric = bench(text, **sizes)
    nodes = fabric.machine.network.num_nodes
    assert_passed(fabric.run("hops"), nodes * (nodes - 1))
    assert_passed(fabric.run("random", packets=3000), 2500)


@pytest.mark.parametrize(
    "fabric",
    [
        shared,
        *(
            pytest.param(partial(bench, "hdn(cube(2), [[0]])", packet_length=length), id=str(length))
            for length in (1, 8)
        ),
    ],
)
def test_random_and_exchange_for_each_packet_length(fabric: Callable[[], StreamBench]) -> None:
    fabric = fabric()
    assert_passed(fabric.run("random", packets=5000, seed=7), 5000)
    run = fabric.run("exchange")
    assert_passed(run, 16 * 15)
    spec = fabric.machine.spec
    assert run.verdict.cycles == measure_network_exchange(spec, words=spec.packet_length)["cycles"]
    assert_passed(fabric.run("hops"), 16 * 15)


@pytest.mark.parametrize(
    ("options", "lengths"),
    [
        ({}, (1, 4, 8)),
        ({"gapless_packets": True}, (4, 8)),
        ({"switching": "cut-through"}, (8, 16)),
        ({"switching": "cut-through", "gapless_packets": True}, (8, 16)),
    ],
)
def test_packets_of_the_random_test_have_lengths_that_can_be(options: dict[str, Any], lengths: tuple[int, ...]) -> None:
    chosen = random_lengths(Namespace(**{"switching": "store-and-forward", "gapless_packets": False, **options}))
    assert chosen == lengths
    for length in chosen:
        make_machine(fabric_spec("cube(2)", packet_length=length, **options))


@pytest.mark.parametrize(
    "packet_length",
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16],
)
def test_packets_of_every_length_with_two_classes(packet_length: int) -> None:
    fabric = bench("rdn(cube(1), 1)", packet_length=packet_length)
    assert fabric.machine.plan.max_vcs == 2
    assert_passed(fabric.run("random", packets=2000, seed=packet_length), 2000)


@pytest.mark.parametrize(
    ("load", "pauses"),
    [
        (LoadSpec(pattern="inter_class", rate=0.05, cycles=6000), Terminals()),
        (LoadSpec(pattern="hotspot(0.2, 3)", injection="on_off(60)", rate=0.3, cycles=2000), Terminals()),
        (LoadSpec(lengths="mix(1, 0.8, 9, 0.2)", rate=0.9, cycles=600), Terminals(source_gap=64, sink_stall=32)),
    ],
    ids=["low", "bursts", "saturated"],
)
def test_loads(load: LoadSpec, pauses: Terminals) -> None:
    fabric = shared()
    case = load_case(fabric.model, load, pauses)
    assert_passed(fabric.run_case(case), 1000)


def test_all_fast_modes_need_and_use_more_classes() -> None:
    fabric = bench("hdn(cube(1), [[], [0]])", modes="ff", lanes=2, packet_length=3, flit_width=17)
    assert fabric.machine.plan.max_vcs == 8
    assert_passed(fabric.run("hops"), 64 * 63)
    assert_passed(fabric.run("random", packets=4000), 4000)


@pytest.mark.parametrize(
    "fabric",
    [
        shared,
        partial(bench, "hdn(cube(1), [[0]])", switching="cut-through"),
        partial(bench, "hdn(cube(1), [[0]])", packet_length=4, gapless_packets=True),
    ],
)
def test_reset_in_traffic_leaves_nothing_behind(fabric: Callable[[], StreamBench]) -> None:
    """Resets come in every phase of a slot, early and in full traffic; after each all is as after the first."""
    fabric = fabric()
    length = fabric.machine.timing.packet_length
    for seed in (1, 2):
        resets = [cycles * length + phase for cycles in (1, 3, 12, 40) for phase in range(length)]
        assert_passed(fabric.run("random", packets=2000, seed=seed, resets=resets), 2000)


def test_a_register_that_is_not_reset_is_seen() -> None:
    """Without a reset all is well; with one in the wrong cycle, a packet from before it comes in."""
    fabric = emit_fabric(fabric_spec("hdn(cube(1), [[]])"))
    pattern = r"(if \()\S*rst (\) begin\s*\S*cross1\.decisions_1_push\.next )"
    text, count = re.subn(pattern, r"\g<1>1'b0\2", fabric.files["fabric.sv"], count=1)
    assert count == 1
    broken = StreamBench(dataclasses.replace(fabric, files={**fabric.files, "fabric.sv": text}))
    assert_passed(broken.run("random", packets=2000), 2000)
    resets = [cycles * 8 + phase for cycles in (12, 40) for phase in range(8)]
    assert not broken.run("random", packets=2000, resets=resets).verdict.passed


def test_reset_in_each_phase_when_all_is_stuck_leaves_nothing_behind() -> None:
    """Queues are full when it comes, and again soon after it, so that what was left behind in any would be seen."""
    fabric = shared()
    length = fabric.machine.spec.packet_length
    for phase in range(length):
        run = fabric.run("held", packets=192, seed=2 + phase, resets=[24 * length + phase])
        assert_passed(run, 192)


def test_sinks_that_stall_stop_the_fabric_and_lose_nothing() -> None:
    """No sink is ready for 5000 cycles, by when all is stuck; then every packet arrives, as the model says."""
    fabric = shared()
    own = [[(fabric.machine.address.of_node((node * 7 + i) % 16), 0) for i in range(100)] for node in range(16)]
    traffic = Traffic.from_lists(own)
    pauses = Terminals(sink_hold=5000)
    case = case_of_traffic("held", fabric.model, traffic, pauses)
    assert (case.expected.head_cycle > 5000).any(), "sources were held up too"
    assert not ((case.expected.head_cycle > 1000) & (case.expected.head_cycle < 5000)).any(), "the fabric was stuck"
    assert_passed(fabric.run_case(case), 1600)


@pytest.mark.parametrize("packet_length", [*(length for length in (1, 8)), 4])
def test_channels_sustain_one_flit_a_cycle_and_latency_is_the_formula(packet_length: int) -> None:
    """Every node streams 200 packets to the far end of its cross-edge: all cross channels are busy in every cycle.

    Each stream is one class of two, so a port needs twice the slots that one class does.
    """
    timing = SlotTiming(packet_length)
    buffers = 2 * timing.full_rate_buffers
    fabric = bench("hdn(cube(2), [[0]])", packet_length=packet_length, buffers=buffers, dead_pins=True)
    network = fabric.machine.network
    across = [fabric.machine.address.of_node(network.neighbors(node)["cross1"]) for node in range(16)]
    traffic = Traffic.from_lists([[(address, 0)] * 200 for address in across])
    case = case_of_traffic("stream", fabric.model, traffic, Terminals())
    run = fabric.run_case(case)
    assert_passed(run, 3200)
    assert run.verdict.cycles == timing.zero_load_latency(1, 0) + 199 * packet_length + 1


def test_channels_sustain_one_flit_a_cycle_where_packets_cut_through() -> None:
    fabric = bench("hdn(cube(2), [[0]])", switching="cut-through")
    network, timing = fabric.machine.network, fabric.machine.timing
    across = [fabric.machine.address.of_node(network.neighbors(node)["cross1"]) for node in range(16)]
    traffic = Traffic.from_lists([[(address, 0)] * 200 for address in across])
    run = fabric.run_case(case_of_traffic("stream", fabric.model, traffic, Terminals()))
    assert_passed(run, 3200)
    latest = max(timing.zero_load_latency(1, phase) for phase in (0, timing.offset))
    assert run.verdict.cycles == latest + 199 * timing.packet_length + 1


def draw(fabric: HarnessBench[Any, Any], nodes: int, channels: int, seed: int = 1) -> Faults:
    table = neighbor_table(fabric.machine.network)
    return draw_faults(table, np.random.default_rng(seed), nodes=nodes, channels=channels)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("hdn(cube(2), [[0]])", {"packet_length": 4, "buffers": 2 * SlotTiming(4).full_rate_buffers}),
        ("hdn(cube(1), [[], [0]])", {"packet_length": 1}),
        ("torus(5, 4)", {"queueing": "voq", "buffers": 8}),
    ],
)
def test_what_meets_something_dead_comes_out_there(text: str, sizes: dict[str, int | str]) -> None:
    fabric = bench(text, dead_pins=True, **sizes)
    faults = draw(fabric, 2, 3)
    run = fabric.run("faults", packets=3000, faults=faults, keep=True)
    assert_passed(run, 2500)
    legs = RouteTable(fabric.machine.plan).legs(faults)
    with np.load(fabric.build.run_folder("faults") / "case.npz") as case:
        packets, destination = case["flits"].astype(np.int64), case["destination"]
    nodes, width = fabric.machine.network.num_nodes, fabric.machine.address.width
    target = np.asarray(fabric.machine.network.encode(fabric.machine.address.unpack(packets[:, 0] & (1 << width) - 1)))
    alive = np.flatnonzero(~faults.nodes)
    source = np.repeat(alive, len(target) // len(alive))
    possible = destination >= 0
    reached = legs[source, target % nodes] >= 0
    assert ((destination == target) == reached)[possible].all()
    assert run.verdict.stranded == int((possible & ~reached).sum()) > 100


@pytest.mark.parametrize("queueing", ["voq", "fifo"])
def test_death_and_return_in_traffic_lose_nothing_uncounted(queueing: str) -> None:
    """Each packet comes out once, at its destination or beside what is dead, or is counted; then all is well again.

    Pins change in each phase of a slot.
    """
    buffers = 2 * SlotTiming(4).full_rate_buffers
    sizes = {"packet_length": 4, "buffers": buffers, "dead_pins": True, "queueing": queueing}
    fabric = DeathBench(emit_fabric(fabric_spec("hdn(cube(2), [[0]])", **sizes)))
    faults = draw(fabric, 2, 6)
    for phase in range(4):
        case = fabric.make_case(faults, packets=4000, dies=300 + phase, returns=1500 + (phase + 1) % 4)
        verdict = fabric.run_case(case, keep=phase == 3).verdict
        assert verdict.passed, verdict
        assert verdict.packets == 4000
        assert min(verdict.stranded, verdict.late) > 100
        assert 0 < verdict.counted < 200
    ejections = fabric.build.run_folder(fabric.test_name(case)) / "ejections.log"
    fields = [line.split() for line in ejections.read_text().splitlines()]
    ejections.write_text("".join(" ".join([*own[:1], *["300"] * len(own[1:2]), *own[2:]]) + "\n" for own in fields))
    assert fabric.check(case, ejections.parent).wrong == verdict.stranded, "as if all had come before anything died"


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
def test_icarus_agrees() -> None:
    fabric = bench("hdn(cube(2), [[0]])", simulator="icarus", packet_length=4)
    assert_passed(fabric.run("random", packets=160), 160)


def test_broken_class_rule_hangs_the_verilog_as_it_hangs_the_model() -> None:
    """The negative control: one buffer class where the proof wants two stops the fabric under saturating traffic."""

    spec = fabric_spec("torus(6)", packet_length=1, buffers=2)
    proved = plan(spec.network)
    rule = dataclasses.replace(proved.rule, vc=(proved.rule.circuit.constant(0),))
    shapes = [
        dataclasses.replace(shape, turns=frozenset((came, 0, goes, 0) for came, _, goes, _ in shape.turns))
        for shape in proved.shapes
    ]
    broken = dataclasses.replace(proved, rule=rule, num_vcs=(1,) * len(proved.num_vcs), shapes=tuple(shapes))
    run = StreamBench(emit_machine(Machine(spec, broken))).run("random", packets=20_000)
    assert run.verdict.lost > 10_000
    assert run.verdict.cycle_mismatches == 0, "model and Verilog must stop in the same state"


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("rdn(cube(1), 1)", {}),
        ("mesh(2, 3)", {"packet_length": 2, "buffers": 1, "lanes": 2}),
        ("rdn(cube(1), 1)", {"queueing": "voq", "buffers": 8, "reset_registers": 3}),
        ("hdn(cube(1), [[0]])", {"switching": "cut-through"}),
        ("rdn(cube(1), 1)", {"gapless_packets": True, "packet_length": 4, "crc": True}),
    ],
)
def test_a_monitor_counts_what_the_model_counts(text: str, sizes: dict[str, Any]) -> None:
    """Sent, stalled and most of every channel and queue; `passed` has all words, and a wrong one is a mismatch."""
    fabric = bench(text, monitor=True, **sizes)
    run = fabric.run("held", packets=600, keep=True)
    assert_passed(run, 500)
    folder = fabric.build.run_folder("held")
    words = (folder / "words").read_text().split()
    (folder / "words").write_text(" ".join(str(int(word) + 1) for word in words))
    case = make_case("held", fabric.model, packets=600)
    assert fabric.check(case, folder).word_mismatches > len(words) // 4


def test_hops_need_room_for_the_source_address() -> None:
    with pytest.raises(SpecError, match="flit width must be at least 10 for the hops test, not 8"):
        bench("dualcube(3)", flit_width=8).run("hops")
