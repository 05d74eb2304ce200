"""Check bits in logic: making them, and looking at the flits of packets as they come."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.crc import check_sets, check_width

ERRORS_WIDTH = 16
"""Bits of a counter of packets with errors; it stays at its largest value."""


def check_bits(flit: Value) -> Value:
    """Return the check bits of a flit, see :mod:`hdnhw.machine.crc`."""
    return Cat(Cat(Const(1, 1), *(flit[position] for position in own)).xor() for own in check_sets(len(flit)))


class PacketCheck(wiring.Component):
    """A look at the flits of packets that come one after another.

    Members
    -------
    valid : In(1)
        Whether a flit is there.
    data, check : In
        The flit and its check bits.
    tail : In(1)
        Whether it is the last one of its packet.
    wrong : Out(1)
        Whether these are not the check bits of that flit, be it valid or not.
    was_wrong : Out(1)
        The same, a cycle later.
    done : Out(1)
        Whether a tail flit was there the cycle before.
    bad : Out(1)
        With `done`: whether any flit of its packet was wrong.
    """

    def __init__(self, *, flit_width: int) -> None:
        members = {"valid": In(1), "data": In(flit_width), "check": In(check_width(flit_width)), "tail": In(1)}
        super().__init__(members | {name: Out(1) for name in ("wrong", "was_wrong", "done", "bad")})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        differs, differed = Signal.like(self.check), Signal.like(self.check, reset_less=True)
        came, hurt = Signal(), Signal()
        m.d.comb += [
            differs.eq(check_bits(self.data) ^ self.check),
            self.wrong.eq(differs.any()),
            self.was_wrong.eq(differed.any()),
            self.bad.eq(hurt | came & self.was_wrong),
        ]
        m.d.sync += [
            differed.eq(differs),
            came.eq(self.valid),
            self.done.eq(self.valid & self.tail),
            hurt.eq(self.bad & ~self.done),
        ]
        return m
