"""Binary to decimal, a bit per cycle."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

DIGIT_WIDTH = 4


class DecimalPrinter(wiring.Component):
    """A printer of numbers: ASCII digits, most significant first, without leading zeros.

    The first digit is offered between ``width + 1`` and ``width + 1 + digits`` cycles after the number was taken; the
    next number is taken when the last digit has been.

    Parameters
    ----------
    width : int
        Bits of a number.

    Members
    -------
    i : In(stream.Signature(width))
        Numbers.
    o : Out(stream.Signature(8))
        Their digits.
    """

    def __init__(self, *, width: int) -> None:
        self._width = width
        super().__init__({"i": In(stream.Signature(width)), "o": Out(stream.Signature(8))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        digits = len(str((1 << self._width) - 1))
        binary, decimal = Signal(self._width), Signal(DIGIT_WIDTH * digits)
        left = Signal(range(max(self._width, digits) + 1))  # bits, then digits
        skipping = Signal()
        top = decimal[-DIGIT_WIDTH:]
        adjusted = Cat(
            Mux(digit >= 5, digit + 3, digit)[:DIGIT_WIDTH]
            for digit in (decimal[low : low + DIGIT_WIDTH] for low in range(0, len(decimal), DIGIT_WIDTH))
        )
        m.d.comb += self.o.payload.eq(Cat(top, Const(0b0011, 4)))
        with m.FSM():
            with m.State("idle"):
                m.d.comb += self.i.ready.eq(1)
                m.d.sync += [binary.eq(self.i.payload), decimal.eq(0), left.eq(self._width), skipping.eq(1)]
                with m.If(self.i.valid):
                    m.next = "convert"
            with m.State("convert"):
                m.d.sync += [Cat(binary, decimal).eq(Cat(Const(0, 1), binary, adjusted)), left.eq(left - 1)]
                with m.If(left == 1):
                    m.d.sync += left.eq(digits)
                    m.next = "print"
            with m.State("print"):
                leading = skipping & (top == 0) & (left != 1)
                m.d.comb += self.o.valid.eq(~leading)
                with m.If(leading | self.o.ready):
                    m.d.sync += [decimal.eq(decimal << DIGIT_WIDTH), left.eq(left - 1), skipping.eq(leading)]
                    with m.If(left == 1):
                        m.next = "idle"
        return m
