"""Queues that share a memory."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import equals, index_width, number_of, selected

__all__ = ["SharedQueues"]


class SharedQueues(wiring.Component):
    """Queues of which one gets an entry, and one gives one, in a cycle.

    Parameters
    ----------
    count : int
    depth : int
        Entries of a queue, two at least.
    width : int
        Bits of an entry.

    Members
    -------
    push : In(count)
        Add `i` to this one of the queues, which must not be full; there in the next cycle.
    i : In(width)
    pop : In(count)
        Take the first entry of this one, which must be valid.
    o : Out(width)
        The entry that was taken last, from the next cycle on.
    valid, full : Out(count)
    """

    def __init__(self, *, count: int, depth: int, width: int) -> None:
        self._count, self._depth = count, depth
        super().__init__(
            {
                "push": In(count),
                "i": In(width),
                "pop": In(count),
                "o": Out(width),
                "valid": Out(count),
                "full": Out(count),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        place_width = index_width(self._depth)
        m.submodules.entries = entries = memory.Memory(shape=len(self.i), depth=self._count << place_width, init=[])
        write, read = entries.write_port(), entries.read_port()
        ends = [Signal(place_width, name=f"end_{number}") for number in range(self._count)]
        starts = [Signal(place_width, name=f"start_{number}") for number in range(self._count)]
        for number in range(self._count):
            level = Signal(range(self._depth + 1), name=f"level_{number}")
            push, pop = self.push[number], self.pop[number]
            m.d.sync += [
                level.eq(level + push - pop),
                ends[number].eq(ends[number] + push),
                starts[number].eq(starts[number] + pop),
            ]
            m.d.comb += [
                self.valid[number].eq(level.any()),
                self.full[number].eq(equals(level, self._depth)),
            ]
        m.d.comb += [
            write.en.eq(self.push.any()),
            write.addr.eq(self._address(self.push, ends)),
            write.data.eq(self.i),
            read.en.eq(self.pop.any()),
            read.addr.eq(self._address(self.pop, starts)),
            self.o.eq(read.data),
        ]
        return m

    def _address(self, chosen: Value, places: Sequence[Signal]) -> Value:
        """Return the address of a place in the queue that is chosen."""
        place = selected(chosen, places)
        if self._count == 1:
            return place
        return Cat(place, number_of(dict(enumerate(chosen)), index_width(self._count)))
