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
        # What says that there is room is no more than that, as many may look at it; `full` chooses what comes out.
        spare, full, room, fills = Signal(len(payload), reset_less=True), Signal(), Signal(init=1), Signal()
        is_free = ~self.o.valid | self.o.ready
        m.d.comb += [self.i.ready.eq(room), fills.eq(~is_free & (full | self.i.valid))]
        m.d.sync += [full.eq(fills), room.eq(~fills)]
        with m.If(is_free):
            m.d.sync += [self.o.valid.eq(self.i.valid | full), out.eq(Mux(full, spare, payload))]
        with m.If(~full):
            m.d.sync += spare.eq(payload)
        return m
