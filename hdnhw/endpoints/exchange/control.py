"""What the generators of a fabric share: the timetable, the counter of cycles, and the sums of their counts."""

from collections.abc import Callable, Sequence
from operator import add, and_
from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.exchange.generator import COUNT_CYCLES, count_width
from hdnhw.rtl.bits import equals, index_width

AT_ONCE = (1, 0)
"""Slots of a timetable for generators that go on by themselves: one start."""

TOTAL_WIDTH = 32
"""Bits of the sums over all nodes, and of the count of cycles."""


class Timetable(wiring.Component):
    """Say in each slot which offset starts, once for all nodes.

    A table with one word per slot, read slot after slot: logic, not a memory, which would be known by its initial
    values alone. What is there is for head flits that stand on the injection
    streams one cycle later, in phase 0.

    Parameters
    ----------
    slots : sequence of int
        Of each slot the packed offset that starts, or 0; the first is not 0. Two at least.
    offset_width, packet_length : int

    Members
    -------
    start : In(1)
        High for one cycle: begin with the next slot; not before the last one is over.
    valid : Out(1)
        High for one cycle, in the last phase of a slot, if packets start.
    offset : Out(offset_width)
        Their offset.
    first : Out(1)
        High for one cycle, with the offset of the first slot.
    """

    def __init__(self, slots: Sequence[int], *, offset_width: int, packet_length: int) -> None:
        self._slots, self._width, self._length = slots, offset_width, packet_length
        super().__init__({"start": In(1), "valid": Out(1), "offset": Out(offset_width), "first": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        word, phase = Signal(self._width, reset_less=True), Signal(index_width(self._length))
        m.d.sync += phase.eq(Mux(equals(phase, self._length - 1), 0, phase + 1))
        active, step, stepped, began = Signal(), Signal(), Signal(), Signal()
        slot = Signal(index_width(len(self._slots)))
        is_last = equals(slot, len(self._slots) - 1)
        words = [*self._slots, *[0] * ((1 << len(slot)) - len(self._slots))]
        m.d.comb += step.eq(active & equals(phase, (self._length - 3) % self._length))
        with m.If(step):
            m.d.sync += slot.eq(Mux(is_last, 0, slot + 1))
        m.d.sync += [
            word.eq(Array(Const(offset, self._width) for offset in words)[slot]),
            active.eq(self.start | (active & ~(step & is_last))),
            stepped.eq(step),
            began.eq(step & equals(slot, 0)),
            self.valid.eq(stepped & word.any()),
            self.first.eq(began),
            self.offset.eq(word),
        ]
        return m


class ExchangeControl(wiring.Component):
    """Start the generators, wait until all are done, and count the cycles.

    Parameters
    ----------
    slots : sequence of int
        See :class:`Timetable`.
    num_nodes, offset_width, packet_length : int

    Members
    -------
    start : In(1)
        Begin a run; ignored in one.
    done : Out(1)
        High from the end of a run to the beginning of the next. A run that loses a packet does not end.
    cycles : Out(32)
        Of the last run when `done`: from the one in which its first head flits are offered, which is the first of a
        slot, to that in which the last tail flit is taken, both counted.
    received, wrong : Out(32)
        Sums over the generators, some cycles late, but there when `done` is.
    clear, go, offset : Out
        To all generators: `clear`, `start` and `offset`.
    nodes : In, array
        From each generator: ``received``, ``wrong`` and ``done``.
    """

    def __init__(self, slots: Sequence[int], *, num_nodes: int, offset_width: int, packet_length: int) -> None:
        self._table = Timetable(slots, offset_width=offset_width, packet_length=packet_length)
        count = count_width(num_nodes)
        node = wiring.Signature({"received": Out(count), "wrong": Out(count), "done": Out(1)})
        super().__init__(
            {
                "start": In(1),
                "done": Out(1),
                "cycles": Out(TOTAL_WIDTH),
                "received": Out(TOTAL_WIDTH),
                "wrong": Out(TOTAL_WIDTH),
                "clear": Out(1),
                "go": Out(1),
                "offset": Out(offset_width),
                "nodes": In(node).array(num_nodes),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.table = table = self._table
        busy, counting, launch = Signal(), Signal(), Signal()
        done, levels = _tree(m, [node.done for node in self.nodes], and_)
        received, _ = _tree(m, [node.received for node in self.nodes], add)
        wrong, _ = _tree(m, [node.wrong for node in self.nodes], add)
        # The first head flits are offered one cycle after `first`, and counts come so many cycles after tail flits.
        begin = _behind(m, table.first, COUNT_CYCLES - 1 + levels)
        m.d.comb += [
            launch.eq(self.start & ~busy),
            table.start.eq(launch),
            self.go.eq(table.valid),
            self.offset.eq(table.offset),
            self.received.eq(received),
            self.wrong.eq(wrong),
        ]
        m.d.sync += self.clear.eq(launch)
        with m.If(launch):
            m.d.sync += [busy.eq(1), self.done.eq(0), self.cycles.eq(0)]
        with m.Elif(counting & done):
            m.d.sync += [busy.eq(0), self.done.eq(1), counting.eq(0)]
        with m.Else():
            m.d.sync += [counting.eq(counting | begin), self.cycles.eq(self.cycles + counting)]
        return m


def _tree(m: Module, values: Sequence[Value], join: Callable[[Value, Value], Value]) -> tuple[Value, int]:
    """Join values of equal width, two in front of a register; return the result, and how many cycles it is late."""
    levels = 0
    while len(values) > 1:
        joined = [join(one, other) for one, other in zip(values[::2], values[1::2], strict=False)]
        shape = joined[0].shape()
        joined += values[len(values) // 2 * 2 :]
        values = [Signal(shape, name="joined") for _ in joined]
        m.d.sync += [register.eq(value) for register, value in zip(values, joined, strict=True)]
        levels += 1
    return values[0], levels


def _behind(m: Module, value: Value, cycles: int) -> Value:
    """Return a value some cycles late."""
    line = Signal(cycles)
    m.d.sync += line.eq(Cat(value, line))
    return line[-1]
