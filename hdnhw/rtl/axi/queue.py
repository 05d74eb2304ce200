"""A short queue whose first entry stands in a register."""

from typing import Any

from amaranth.hdl import Module, Mux, ShapeLike, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import stepped

__all__ = ["ShortQueue"]


class ShortQueue(wiring.Component):
    """A queue of a few entries in distributed RAM. An entry comes out two cycles after it was put in, at the soonest.

    Parameters
    ----------
    shape : ShapeLike
        Of an entry.
    depth : int
        Entries that it holds, a power of two.

    Members
    -------
    push : In(1)
        Add `i`; not while the queue is full.
    i : In(shape)
    o : Out(stream of shape)
    held : Out(depth)
        Entries, in thermometer code.
    """

    def __init__(self, shape: ShapeLike, *, depth: int) -> None:
        self._shape, self._depth = shape, depth
        super().__init__({"push": In(1), "i": In(shape), "o": Out(stream.Signature(shape)), "held": Out(depth)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.entries = entries = memory.Memory(shape=self._shape, depth=self._depth, init=[])
        write, read = entries.write_port(), entries.read_port(domain="comb")
        held, moves = self.held, Signal()
        o = self.o
        free = ~o.valid | o.ready
        m.d.comb += [
            write.en.eq(self.push),
            write.data.eq(self.i),
            moves.eq(free & Mux(o.valid, held[1], held[0])),
        ]
        m.d.sync += [
            write.addr.eq(write.addr + self.push),
            read.addr.eq(read.addr + moves),
            held.eq(stepped(held, self.push, o.valid & o.ready)),
            o.valid.eq(Mux(o.valid, ~o.ready | held[1], held[0])),
        ]
        with m.If(free):
            m.d.sync += o.payload.eq(read.data)
        return m
