"""The transmitter of a serial line."""

from operator import index
from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import index_width

FRAME_BITS = 10
"""Bits on the line for a byte: start, eight data bits, stop."""


class UartTransmitter(wiring.Component):
    """A UART transmitter: 8 data bits, least significant first, no parity, 1 stop bit.

    A byte takes ``10 * divisor`` cycles; bytes that wait follow one another without a gap.

    Parameters
    ----------
    divisor : int
        Cycles a bit, at least 2.

    Members
    -------
    i : In(stream.Signature(8))
        Bytes; taken when the line is free.
    o : Out(1)
        The line, high when idle.
    """

    def __init__(self, *, divisor: int) -> None:
        self._divisor = index(divisor)
        if self._divisor < 2:
            raise ValueError(f"divisor must be at least 2 cycles per bit, not {divisor!r}")
        super().__init__({"i": In(stream.Signature(8)), "o": Out(1, init=1)})

    @property
    def divisor(self) -> int:
        """Cycles a bit."""
        return self._divisor

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        frame = Signal(FRAME_BITS - 1, init=-1)  # what is still to be sent after the bit on the line
        bits = Signal(range(FRAME_BITS + 1))  # bits not yet over
        wait = Signal(index_width(self._divisor))
        bit_ends = Signal()
        m.d.comb += [
            bit_ends.eq(wait == 0),
            self.i.ready.eq((bits == 0) | ((bits == 1) & bit_ends)),
        ]
        with m.If(~bit_ends):
            m.d.sync += wait.eq(wait - 1)
        with m.Elif(bits != 0):
            m.d.sync += [Cat(self.o, frame).eq(Cat(frame, Const(1))), bits.eq(bits - 1), wait.eq(self._divisor - 1)]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [
                Cat(self.o, frame).eq(Cat(Const(0, 1), self.i.payload, Const(1, 1))),
                bits.eq(FRAME_BITS),
                wait.eq(self._divisor - 1),
            ]
        return m
