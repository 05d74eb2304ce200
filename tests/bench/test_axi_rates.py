"""The bench that measures bursts: what it counts agrees with what packets allow, and wrong answers are seen."""

from collections.abc import Callable

import pytest

from bench.rtl.axi_rates import AxiRates, BurstTiming, BurstTimings, Load, Lone
from bench.rtl.axi_rates_bench import IDS, UNANSWERED, Half, Memory, Port, Words
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.verilog.fabric import emit_fabric


@pytest.fixture(scope="module")
def bench() -> AxiRates:
    """Return the bench of a small fabric."""
    endpoints = AxiMemorySpec(outstanding=16)
    return AxiRates(emit_fabric(FabricSpec(network=parse("torus(3)"), endpoints=endpoints, gapless_packets=True)))


def test_a_part_leaves_in_every_slot(bench: AxiRates) -> None:
    """A part has as many beats as a packet has data flits, and a burst of one more has two parts.

    Reads and writes share the slots, and no manager under load asks for its own node's memory.
    """
    memory, length = bench.machine.endpoint_format, bench.machine.spec.packet_length
    beats, slots = memory.payload_flits, 100
    kinds = ({"reads": True}, {"writes": True}, {"reads": True, "writes": True})
    reads, writes, both, lone, longer, own = bench.measure(
        [
            *(
                Load(beats=beats, managers=[0], memories=[0, 1], warmup=400, cycles=slots * length, **kind)
                for kind in kinds
            ),
            Lone(beats=1, source=0, destination=1, write=False),
            Lone(beats=beats + 1, source=0, destination=1, write=True),
            Lone(beats=1, source=0, destination=0, write=False),
        ]
    )
    for load in (reads, writes, both):
        assert abs(load.beats - slots * beats) <= beats
    assert max(lone.latencies) - min(lone.latencies) < len(lone.latencies) == length
    assert min(longer.latencies) > max(lone.latencies)
    assert max(own.latencies) <= 8


def test_a_run_with_wrong_or_no_answers_has_failed() -> None:
    assert BurstTimings(1, [BurstTiming(1, [], 0)]).passed
    assert not BurstTimings(1, [BurstTiming(0, [], 0)]).passed
    assert not BurstTimings(1, [BurstTiming(1, [], 1)]).passed
    assert not BurstTimings(2, [BurstTiming(1, [], 0)]).passed


class Wire:
    """A signal whose value changes at the end of a cycle."""

    def __init__(self) -> None:
        self.now = self.later = 0

    @property
    def value(self) -> int:
        """What is read in a cycle, and written for the next one."""
        return self.now

    @value.setter
    def value(self, value: int) -> None:
        self.later = int(value)


class Wires:
    """A manager's port led straight to a memory's."""

    def __init__(self) -> None:
        self.signals: dict[str, Wire] = {}

    def __getattr__(self, name: str) -> Wire:
        return self.signals.setdefault(name, Wire())

    def tick(self) -> None:
        """End a cycle."""
        for signal in self.signals.values():
            signal.now = signal.later


def over_wires(beats: int, write: bool, cycles: int, damage: Callable[[Wires], None]) -> tuple[int, int, Half]:
    """Return the beats that moved, what was wrong, and the half of the manager, which asks both memories of a port."""
    wires, words = Wires(), Words({"bytes": 8, "memory_bits": 16})
    port = Port(wires, "")
    memory = Memory(port, words, 0)
    half = Half(port, words, [0], beats=beats, write=write)
    moved = 0
    for _ in range(cycles):
        wires.tick()
        damage(wires)
        moved += half.step()
        memory.step()
    return moved, words.wrong, half


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("beats", [1, 4, 64])
def test_a_wire_moves_a_beat_in_every_cycle(beats: int, write: bool) -> None:
    """A read waits a cycle for the memory; a beat of a write moves in the first."""
    moved, wrong, half = over_wires(beats, write, 700, lambda _: None)
    assert (moved, wrong) == (700 - (not write), 0)
    assert half.answered == 699 // beats


def flip(name: str, bits: int = 1) -> Callable[[Wires], None]:
    """Return a fault of a signal."""

    def damage(wires: Wires) -> None:
        getattr(wires, name).now ^= bits

    return damage


@pytest.mark.parametrize(
    ("name", "write"),
    [
        *((name, False) for name in ("_rdata", "_rlast", "_rresp", "_rid", "_araddr", "_arlen", "_arid")),
        *((name, True) for name in ("_wdata", "_wstrb", "_wlast", "_bresp", "_bid", "_awaddr", "_awlen", "_awid")),
    ],
)
def test_a_wire_with_a_fault_is_seen(name: str, write: bool) -> None:
    assert over_wires(4, write, 100, flip(name, 8 if name.endswith("addr") else 1))[1] > 0


def test_answers_of_other_ids_may_overtake() -> None:
    """Only those of one ID keep their order, beats of several may mix, and what nobody asked for is wrong."""
    wires, words = Wires(), Words({"bytes": 8, "memory_bits": 16})
    half = Half(Port(wires, ""), words, [1, 2], beats=2, write=False)
    asked: list[tuple[int, int]] = []
    for _ in range(IDS):
        wires.tick()
        wires._arready.now = 1
        asked.append((wires._arid.now, wires._araddr.now))
        half.step()
    assert [own for own, _ in asked] == list(range(IDS))
    assert {address >> 16 for _, address in asked} == {1, 2}
    wires._arready.now, wires._rvalid.now = 0, 1
    for beat in range(2):
        for own, address in reversed(asked):
            wires._rid.now, wires._rlast.now, wires._rdata.now = own, beat, words.word(address + 8 * beat)
            half.step()
    assert (half.answered, words.wrong) == (IDS, 0)
    half.step()
    assert words.wrong == 1


def test_a_manager_waits_for_answers() -> None:
    wires = Wires()
    half = Half(Port(wires, ""), Words({"bytes": 8, "memory_bits": 16}), [0], beats=1, write=False)
    for _ in range(2 * UNANSWERED):
        wires.tick()
        wires._arready.now = 1
        half.step()
    assert half.asked == UNANSWERED
    assert not wires._arvalid.now
