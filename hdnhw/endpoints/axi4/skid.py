"""A stream cut in two by registers, in both directions."""

from typing import Any

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out


class SkidBuffer(wiring.Component):
    """Two registers for transfers: `i.ready` and all of `o` come from flip-flops, and a transfer a cycle goes through.

    Parameters
    ----------
    shape : ShapeLike

    Members
    -------
    i : In(stream of shape), o : Out(stream of shape)
    """

    def __init__(self, shape: ShapeLike) -> None:
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        payload, out = Value.cast(self.i.payload), Value.cast(self.o.payload)
        spare, full = Signal(len(payload), reset_less=True), Signal()
        is_free = ~self.o.valid | self.o.ready
        m.d.comb += self.i.ready.eq(~full)
        with m.If(is_free):
            m.d.sync += [self.o.valid.eq(self.i.valid | full), out.eq(Mux(full, spare, payload)), full.eq(0)]
        with m.Elif(self.i.valid):
            m.d.sync += full.eq(1)
        with m.If(~full):
            m.d.sync += spare.eq(payload)
        return m
