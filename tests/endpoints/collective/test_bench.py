"""Collective operations on engines in the emitted Verilog: what they bring and send, and each kind of fault seen."""

import random
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Cat, Const

from hdnhw.collectives import executor, operations
from hdnhw.collectives.executor import ScheduleError
from hdnhw.collectives.schedule import Schedule
from hdnhw.endpoints.collective import combiner
from hdnhw.endpoints.collective.bench import BarrierVerdict, CollectiveBench, CollectiveCase
from hdnhw.endpoints.collective.combiner import Combiner
from hdnhw.endpoints.collective.counter import MessageCounter
from hdnhw.endpoints.collective.engine import startup_cycles
from hdnhw.endpoints.collective.receiver import Receiver
from hdnhw.endpoints.collective.sender import Sender
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.machine.timing import SlotTiming
from hdnhw.networks.build import build
from hdnhw.sim.compare import log_rows
from hdnhw.spec import ENGINE_OPERATIONS, EXCHANGE_ORDERS, MOVING, OPERATIONS
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec


def bench(
    text: str,
    *,
    operations: tuple[str, ...] = MOVING,
    root: int = 0,
    operators: tuple[str, ...] = ("sum",),
    numbers: str = "int32",
    message_packets: int = 1,
    variable_messages: bool = False,
    order: str = EXCHANGE_ORDERS[1],
    **machine: Any,
) -> CollectiveBench:
    """Return the bench of a fabric; builds are kept between test runs."""
    sizes: dict[str, Any] = {"numbers": numbers, "message_packets": message_packets}
    sizes |= {"variable_messages": variable_messages, "order": order}
    engines = CollectiveSpec(operations=operations, root=root, operators=operators, **sizes)
    return CollectiveBench(emit_fabric(fabric_spec(text, endpoints=engines, **machine)))


@pytest.fixture(scope="module")
def small() -> CollectiveBench:
    """Return a bench of 6 nodes: rings, on which a node sends to one and receives from another, and cross-edges."""
    numbers = {"operators": ("sum", "max"), "numbers": "int8"}
    return bench(
        "hdn(torus(3), [[0]])", operations=ENGINE_OPERATIONS, root=1, packet_length=4, flit_width=16, **numbers
    )


def test_all_operations_one_after_the_other_while_hosts_pause(small: CollectiveBench) -> None:
    operations = ["exchange"] * 3 + [
        "broadcast",
        "barrier",
        "barrier",
        "scatter",
        "allgather",
        "allgather",
        "barrier",
        "exchange",
        "exchange",
        "broadcast",
        *("allreduce", "allreduce", "reduce", "gather", "reducescatter", "exchange", "reducescatter", "reduce"),
        *("multicast", "join", "multicast", "join", "join", "multicast", "broadcast", "multicast", "barrier", "join"),
        "multicast",
    ]
    operators = [("sum", "max")[place % 2] for place in range(len(operations))]
    times = ({"stall": 235, "pause": 60, "seed": 2}, {"stall": 60, "pause": 400, "seed": 3}, {"resets": (100, 251, 7)})
    before = {"ahead": True, "early": True}
    for pauses in ({}, *times, before, {"stall": 200, **before}):
        case = CollectiveCase(operations, operators, **pauses)
        for place, verdict in enumerate(small.run_case(case).verdict.operations):
            assert verdict.passed, (pauses, verdict)
            if verdict.operation == "barrier":
                assert verdict.cycles == 2 + 1, "the diameter, and a register"
                continue
            due = {"broadcast": 6, "scatter": 6, "allgather": 36, "exchange": 36}
            due |= {"reduce": 1, "reducescatter": 6, "gather": 6, "allreduce": 36}
            due |= {"join": 0, "multicast": len(small.group_of(case, place))}
            assert verdict.messages == due[verdict.operation]


def test_messages_of_several_packets() -> None:
    """Of a number of packets, and on a ring of a number of nodes, that are no powers of two."""
    ring = bench("torus(3)", operations=ENGINE_OPERATIONS, root=1, packet_length=4, flit_width=32, message_packets=3)
    rng = random.Random(1)
    for pauses in ({}, {"stall": 200, "pause": 300, "seed": 3}, {"stall": 60, "pause": 60, "resets": (100, 351, 7)}):
        operations = rng.sample([*ENGINE_OPERATIONS, *ENGINE_OPERATIONS], 2 * len(ENGINE_OPERATIONS))
        verdicts = ring.run_case(CollectiveCase(operations, **pauses)).verdict
        assert verdicts.passed, (pauses, verdicts)


def test_variable_messages() -> None:
    """From none to all packets each, drawn for each message of each operation."""
    sizes = {"packet_length": 4, "message_packets": 3, "variable_messages": True}
    square, rng = bench("cube(2)", operations=OPERATIONS, root=1, **sizes), random.Random(1)
    nothing = CollectiveCase(["exchange", "exchange"], packets=np.zeros((4, 4), np.int64))
    assert [one.messages for one in square.run_case(nothing).verdict.operations] == [16, 16]
    packets = square.packets_of(CollectiveCase(["exchange"]), 0)
    assert {0, 1, 2, 3} == set(packets.flat)
    for pauses in ({}, {"stall": 200, "pause": 300, "seed": 3}, {"ahead": True, "early": True, "resets": (100, 351)}):
        operations = rng.sample([*OPERATIONS, *OPERATIONS], 2 * len(OPERATIONS))
        for verdict in square.run_case(CollectiveCase(operations, **pauses)).verdict.operations:
            assert verdict.passed, (pauses, verdict)


def test_more_packets_than_a_message_can_have_are_the_most_there_can_be() -> None:
    square = bench("cube(1)", packet_length=4, message_packets=5, variable_messages=True)
    run = square.run_case(CollectiveCase(["exchange"] * 12, packets=np.full((2, 2), 5)), keep=True)
    flits = [int(flit, 16) for flit in (square.build.run_folder(run.test) / "flits.hex").read_text().split()]
    said = flits[:: 1 + 5 * 3]
    assert len(said) == 12 * 4
    assert 5 in said
    assert {more for more in said if more > 5} <= {1 << bit for bit in range(3, 32)}
    assert len(set(said)) > 12
    assert run.verdict.passed, run.verdict


@pytest.mark.parametrize("fault", [None, "part", "ended", "count"])
def test_faults_of_variable_messages_are_seen(fault: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where packets are numbered on from those of the message before, an empty message is not told, or a packet more
    is sent than there is.
    """
    counts, elaborate = Receiver._elaborate_counts, MessageCounter.elaborate

    def numbered_on(self: Any, m: Any) -> dict[str, Any]:
        result = counts(self, m)
        with m.If(self.ended):
            m.d.sync += result["part"].eq(result["part"] + 1)
        return result

    def told_of_packets(self: Any, platform: Any) -> Any:
        m = elaborate(self, platform)
        m.d.comb += self.ended.eq(self.written)
        return m

    def one_more(self: Any, platform: Any) -> Any:
        self._messages = replace(self._messages, message_packets=self._messages.message_packets - 1)
        return elaborate(self, platform)

    if fault == "part":
        monkeypatch.setattr(Receiver, "_elaborate_counts", numbered_on)
    elif fault == "ended":
        monkeypatch.setattr(MessageCounter, "elaborate", told_of_packets)
    elif fault == "count":
        monkeypatch.setattr(MessageCounter, "elaborate", one_more)
    mixed = bench("cube(2)", operations=("exchange",), packet_length=4, message_packets=3, variable_messages=True)
    (verdict,) = mixed.run_case(CollectiveCase(["exchange"])).verdict.operations
    assert verdict.passed == (fault is None), verdict


@pytest.mark.parametrize("fault", [None, "table", "header", "swapped"])
def test_packets_of_a_message_that_are_mixed_up_are_seen(fault: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the number of the packet is not looked at to combine, not sent, or another one."""
    claim, sort, digits = Receiver._elaborate_claim, Sender._elaborate_sort, Receiver._elaborate_counts

    def of_targets(self: Any, m: Any, header: Any, own: Any, begins: Any, counts: Any) -> None:
        claim(self, m, header, own, begins, {"target": counts["target"]})

    def without(self: Any, m: Any, packet: Any, again: Any) -> None:
        sort(self, m, packet, again)
        with m.If(~packet.results):
            m.d.sync += packet.header.part.eq(0)

    def swapped(self: Any, m: Any) -> dict[str, Any]:
        counts = digits(self, m)
        return counts | {"part": ~counts["part"]}

    if fault == "table":
        monkeypatch.setattr(Receiver, "_elaborate_claim", of_targets)
    elif fault == "header":
        monkeypatch.setattr(Sender, "_elaborate_sort", without)
    elif fault == "swapped":
        monkeypatch.setattr(Receiver, "_elaborate_counts", swapped)
    case = CollectiveCase(["exchange", "reducescatter"])
    mixed = bench("cube(2)", operations=("exchange", "reducescatter"), packet_length=4, message_packets=2)
    moved, combined = mixed.run_case(case).verdict.operations
    assert moved.passed == (fault in (None, "table"))
    assert combined.passed == (fault is None)


@pytest.mark.parametrize(("fault", "order"), [(None, "paper"), ("exchanged", "cluster-first"), ("left out", "paper")])
def test_steps_of_an_exchange_in_another_order_do_not_deliver(
    fault: str | None, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two steps exchanged or one left out, of engines that are made of such a schedule although it is refused.

    They are said to have another root, so that no machine that is kept is taken for theirs.
    """
    schedule_of, mover = operations.exchange_schedule, executor._mover

    def other(*arguments: Any, **options: Any) -> Schedule:
        schedule = schedule_of(*arguments, **options)
        first, second, *rest = schedule.steps
        steps = (second, first, *rest) if fault == "exchanged" else (first, *rest)
        return replace(schedule, steps=steps)

    def trusting(*arguments: Any) -> Any:
        move = mover(*arguments)

        def trusted(source: int, said: Any) -> int:
            fault = move(source, said)
            said[:] = 0
            return executor.FINE if fault == executor.ELSEWHERE else int(fault)

        return trusted

    root = [None, "exchanged", "left out"].index(fault)
    if fault is not None:
        monkeypatch.setattr(operations, "exchange_schedule", other)
        with pytest.raises(ScheduleError, match="holds a message in the end that is for another node"):
            executor.execute(other(build("rdn(cube(1), 1)"), order))
        monkeypatch.setattr(executor, "_mover", trusting)
    engines = bench("rdn(cube(1), 1)", operations=("exchange",), packet_length=4, order=order, root=root)
    (verdict,) = engines.run_case(CollectiveCase(["exchange"])).verdict.operations
    assert verdict.passed == (fault is None), verdict


def test_engines_send_gapless_packets() -> None:
    """Each message brings what it must, so that no flit was missing when it was due."""
    gapless = bench("hdn(torus(3), [[0]])", root=1, packet_length=4, flit_width=16, gapless_packets=True)
    for pauses in ({}, {"stall": 235, "pause": 60, "seed": 2}):
        for verdict in gapless.run_case(CollectiveCase([*MOVING, "exchange"], **pauses)).verdict.operations:
            assert verdict.passed, (pauses, verdict)


def test_each_fault_is_seen(small: CollectiveBench) -> None:
    case = CollectiveCase(["exchange"])
    assert small.run_case(case, keep=True).verdict.passed
    folder = small.build.run_folder(small.name)
    results, sends = ([" ".join(row) for row in log_rows(folder / name)] for name in ("results.log", "sends.log"))

    def faults(results: list[str], sends: list[str]) -> tuple[int, int, bool]:
        (folder / "results.log").write_text("\n".join(results))
        (folder / "sends.log").write_text("\n".join(sends))
        (verdict,) = small.check(case, folder).operations
        return verdict.lost, verdict.wrong, verdict.send_mismatches > 0

    *whose, word = results[-1].split()
    assert faults(results, sends) == (0, 0, False)
    assert faults(results[:-1], sends) == (1, 0, False)
    assert faults([*results, results[-1]], sends) == (0, 1, False)
    assert faults([*results[:-1], f"{' '.join(whose[:-1])} {int(whose[-1]) + 1} {word}"], sends) == (0, 1, False)
    assert faults([*results[:-1], f"{' '.join(whose)} {int(word, 16) ^ 1:x}"], sends) == (0, 1, False)
    held = next(
        row
        for row in sends
        if int(row.split()[3], 16) >> small.machine.endpoint_format.header_positions["holds"]["offset"] & 1
    )
    assert faults(results, [row for row in sends if row != held]) == (0, 0, True)
    assert faults(results, [*sends, "0 0 0 0"]) == (0, 0, True)  # nothing, in the first step of a broadcast


def dropped(_messages: Any, one: Any, _other: Any, _operator: Any) -> Any:
    """Leave out what comes."""
    return one


def doubled(_messages: Any, one: Any, other: Any, _operator: Any) -> Any:
    """Count what comes twice."""
    return (one + Cat(Const(0, 1), other)[: len(one)])[: len(one)]


@pytest.mark.parametrize("fault", [None, dropped, doubled, "neighbor"])
def test_engines_that_combine_wrongly_are_seen(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a contribution is left out, counted twice, or put into the buffer beside the one that it is for."""
    if fault == "neighbor":
        right = Combiner._elaborate_write

        def beside(self: Any, m: Any, came: Any, claim: Any, place: Any, merges: Any) -> None:
            right(self, m, came, claim, Cat(place[0] ^ merges, place[1:]), merges)

        monkeypatch.setattr(Combiner, "_elaborate_write", beside)
    elif fault is not None:
        monkeypatch.setattr(combiner, "combined", fault)
    case = CollectiveCase(["reducescatter", "reducescatter"])
    for verdict in bench("cube(2)", operations=("reducescatter",)).run_case(case).verdict.operations:
        assert (verdict.lost, verdict.wrong) == ((0, 0) if fault is None else (0, verdict.messages))
        assert verdict.send_mismatches == 0


@pytest.mark.parametrize(
    "text", ["hdn(cube(2), [[0]])", "hsn(2, cube(2))", "hdn(cube(2), [[0], [0]])", "rdn(cube(3), 1)"]
)
def test_cycles_are_those_of_the_cost_model(text: str) -> None:
    large, length = bench(text, operations=OPERATIONS, buffers=8), 8
    for operation in OPERATIONS:
        (verdict,) = large.run_case(CollectiveCase([operation])).verdict.operations
        assert verdict.passed
        sent = large.program.packets_of(operation)
        cost = len(sent) * startup_cycles(SlotTiming(length)) + sum(sent) * length
        if operation in ("join", "multicast"):
            assert abs(verdict.cycles - cost) <= length
        if operation in ("exchange", "reducescatter", "allreduce"):
            assert 0.95 * cost <= verdict.cycles <= 1.05 * cost


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("product(mesh(3), complete(4))", {"packet_length": 2, "flit_width": 48}),
        ("torus(5)", {"packet_length": 5, "flit_width": 8}),
        ("rdn(torus(3), 1)", {"packet_length": 4, "flit_width": 16}),
        ("rdn(cube(2), 1)", {"packet_length": 4, "buffers": 4}),
        ("dualcube(3)", {"queueing": "voq", "buffers": 4, "lanes": 2}),
        ("hdn(cube(1), [[], [0]])", {"packet_length": 16}),
        ("product(mesh(3), complete(4))", {"packet_length": 2, "flit_width": 48, "message_packets": 5}),
        ("hdn(cube(2), [[0]])", {"packet_length": 5, "flit_width": 8, "message_packets": 4}),
        ("dualcube(3)", {"queueing": "voq", "buffers": 4, "lanes": 2, "message_packets": 2}),
        ("torus(5)", {"packet_length": 5, "flit_width": 8, "message_packets": 4, "variable_messages": True}),
        ("ghc(3, 4)", {"packet_length": 2, "flit_width": 48, "message_packets": 6, "variable_messages": True}),
        ("rdn(cube(2), 1)", {"packet_length": 4, "message_packets": 3, "variable_messages": True}),
        ("hsn(2, cube(2))", {"message_packets": 2, "variable_messages": True}),
        ("hdn(torus(3), [[0]])", {"packet_length": 8, "message_packets": 1, "variable_messages": True}),
    ],
)
@pytest.mark.parametrize("operations", [MOVING, OPERATIONS], ids=["moving", "all"])
def test_on_other_networks_and_machines(text: str, machine: dict[str, int], operations: tuple[str, ...]) -> None:
    other = bench(text, operations=operations, root=1, operators=("min", "xor"), numbers="uint8", **machine)
    for seed in range(1, 4):
        case = CollectiveCase([*operations, operations[-1], "exchange"], stall=200 * (seed % 2), pause=500, seed=seed)
        run = other.run_case(case)
        assert run.verdict.passed, run.verdict


def test_each_fault_of_a_barrier_is_seen(small: CollectiveBench) -> None:
    case = CollectiveCase(["barrier"], pause=40)
    assert small.run_case(case, keep=True).verdict.passed
    folder = small.build.run_folder(small.name)
    events = [" ".join(row) for row in log_rows(folder / "events.log")]
    entered = {row.split()[2]: int(row.split()[3]) for row in events if row.startswith("asked")}
    last = max(entered.values())

    def faults(node: str, cycle: int | None, sends: str = "") -> tuple[int, int, int]:
        """Let a node leave in another cycle, or not at all."""
        others = [row for row in events if not row.startswith(f"done 0 {node} ")]
        left = [] if cycle is None else [f"done 0 {node} {cycle}"]
        (folder / "events.log").write_text("\n".join(others + left))
        (folder / "sends.log").write_text(sends)
        (verdict,) = small.check(case, folder).operations
        assert isinstance(verdict, BarrierVerdict)
        return verdict.early, verdict.mistimed, verdict.strays

    assert faults("2", last + 3) == (0, 0, 0)
    assert faults("2", last) == (1, 1, 0)
    assert faults("2", last + 4) == (0, 1, 0)
    assert faults("2", None) == (0, 1, 0)
    assert faults("2", last + 3, f"0 2 {last + 1} 0") == (0, 0, 1)


@pytest.mark.parametrize(
    ("text", "machine", "cycles"),
    [
        ("mesh(4)", {"packet_length": 4}, 3 + 1),
        ("rdn(cube(2), 1)", {"channel_latency": "2"}, 6 * 2 + 1),
        ("torus(4, 4)", {"gapless_packets": True}, 4 + 1),
        ("hsn(2, cube(1))", {"queueing": "voq"}, 3 + 1),
    ],
)
def test_barriers_on_other_networks_and_machines(text: str, machine: dict[str, Any], cycles: int) -> None:
    other = bench(text, operations=("broadcast", "barrier"), **machine)
    measured = other.measure_barriers()
    assert measured["delivered"]
    assert measured["cycles_least"] == measured["cycles_most"] == cycles
    case = CollectiveCase(["barrier", "broadcast"] * 3, stall=200, pause=100, resets=(20, 60, 137))
    assert other.run_case(case).verdict.passed


def test_a_barrier_wire_that_is_stuck_is_seen() -> None:
    """On a path, node 2 does not hear of node 3, but for the wire."""
    whole = bench("mesh(4)", operations=("broadcast", "barrier"), packet_length=4).fabric
    name = "fabric_collective.sv"
    text = re.sub(r"(engine_2 \(.*?\.dim0_plus_signal)\(signal_3\)", r"\1(1'h1)", whole.files[name], flags=re.DOTALL)
    assert text != whole.files[name]
    broken = CollectiveBench(replace(whole, files={**whole.files, name: text}))
    verdicts = broken.run_case(CollectiveCase(["barrier"] * 8, pause=200)).verdict.operations
    assert any(verdict.early for verdict in verdicts if isinstance(verdict, BarrierVerdict))
