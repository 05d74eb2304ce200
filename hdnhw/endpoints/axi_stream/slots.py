"""The slots of a destination's memory that hold no packet."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import counted, index_width
from hdnhw.rtl.table import Table


class FreeSlots(wiring.Component):
    """A queue of free slots: all of them after reset, each once.

    Parameters
    ----------
    slots : int
        A power of two.

    Members
    -------
    slot : Out
        A free slot, if there is one.
    valid : Out(1)
    take : In(1)
        It is used from now on; not in consecutive cycles. `valid` falls for a cycle if it is two cycles after another.
    give : In(1)
    given : In
        Slot that is free again.
    """

    def __init__(self, *, slots: int) -> None:
        self._slots = slots
        slot = index_width(slots)
        super().__init__({"slot": Out(slot), "valid": Out(1, init=1), "take": In(1), "give": In(1), "given": In(slot)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        width = len(self.slot)
        m.submodules.queue = queue = Table(depth=self._slots, width=width)
        unused, last, first = Signal(width + 1, init=1), Signal(width), Signal(width)
        level, came, there = Signal(width + 1), Signal(), Signal()
        reads, comes, held, moves = Signal(), Signal(), Signal(), Signal()
        fresh = ~unused[-1]
        m.d.comb += [
            queue.write.eq(self.give),
            queue.write_address.eq(last),
            queue.i.eq(self.given),
            queue.address.eq(first),
            queue.read.eq(reads),
            moves.eq(self.take | ~self.valid),
        ]
        m.d.sync += [
            came.eq(self.give),
            level.eq(counted(level, came, reads)),
            there.eq(level.any()),
            reads.eq(there & Mux(held, moves & ~fresh, ~reads & ~comes)),
            comes.eq(reads),
            held.eq(comes | (held & (fresh | ~moves))),
        ]
        with m.If(self.give):
            m.d.sync += last.eq(last + 1)
        with m.If(reads):
            m.d.sync += first.eq(first + 1)
        with m.If(self.take & fresh):
            m.d.sync += unused.eq(unused + 1)
        with m.If(moves):
            m.d.sync += [self.slot.eq(Mux(fresh, unused[:-1], queue.o)), self.valid.eq(fresh | held)]
        return m
