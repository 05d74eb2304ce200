"""Queues that share a memory."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import counted, equals, first_of, index_width, number_of, selected
from hdnhw.rtl.columns import ColumnMemory


class SharedQueues(wiring.Component):
    """Queues in a memory, one of which gets an entry in a cycle; the first entry of each stands in a register.

    While none is being fetched, the first queue whose register is empty begins to fetch: an entry comes out of the
    memory two cycles later.

    Parameters
    ----------
    count : int
    depth : int
        Entries of a queue in the memory, two at least.
    width : int
        Bits of an entry.

    Members
    -------
    push : In(count)
        Add `i` to this one of the queues, which must not be full.
    i : In(width)
    pop : In(count)
        Take the first entry of this one, which must be valid.
    firsts : Out(width).array(count)
    valid, full : Out(count)
        Whether there is a first entry, and whether the memory has no place.
    """

    def __init__(self, *, count: int, depth: int, width: int) -> None:
        self._count, self._depth = count, depth
        super().__init__(
            {
                "push": In(count),
                "i": In(width),
                "pop": In(count),
                "firsts": Out(width).array(count),
                "valid": Out(count),
                "full": Out(count),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        place_width = index_width(self._depth)
        m.submodules.entries = entries = ColumnMemory(depth=self._count << place_width, width=len(self.i))
        ends, starts, there = [], [], Signal(self._count)
        wanted, fetched, reads = Signal(self._count), Signal(self._count), Signal(self._count)
        for number in range(self._count):
            level = Signal(range(self._depth + 1), name=f"level_{number}")
            ends.append(Signal(place_width, name=f"end_{number}"))
            starts.append(Signal(place_width, name=f"start_{number}"))
            push, loads = self.push[number], reads[number]
            m.d.sync += level.eq(counted(level, push, loads))
            with m.If(push):
                m.d.sync += ends[number].eq(ends[number] + 1)
            m.d.comb += there[number].eq(level.any())
            fills = push & equals(level, self._depth - 1)
            m.d.sync += self.full[number].eq(~loads & (self.full[number] | fills))
            with m.If(loads):
                m.d.sync += [self.firsts[number].eq(entries.o), self.valid[number].eq(1)]
                m.d.sync += starts[number].eq(starts[number] + 1)
            with m.Elif(self.pop[number]):
                m.d.sync += self.valid[number].eq(0)
        m.d.comb += [
            wanted.eq(first_of(there & ~self.valid)),
            entries.write.eq(self.push.any()),
            entries.write_address.eq(self._address(self.push, ends)),
            entries.i.eq(self.i),
        ]
        with m.If(reads.any()):
            m.d.sync += [reads.eq(0), fetched.eq(0)]
        with m.Elif(fetched.any()):
            m.d.sync += reads.eq(fetched)
        with m.Else():
            m.d.sync += [fetched.eq(wanted), entries.address.eq(self._address(wanted, starts))]
        return m

    def _address(self, chosen: Signal, places: list[Signal]) -> Any:
        """Return the address of a place in the queue that is chosen."""
        if self._count == 1:
            return places[0]
        return Cat(selected(chosen, places), number_of(dict(enumerate(chosen)), index_width(self._count)))
