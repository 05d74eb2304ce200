"""The registers between the reset of a fabric and a router."""

from typing import Any

from amaranth.hdl import Cat, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class RouterReset(wiring.Component):
    """A row of registers of a router's own, so that no wire of the reset has to cross the chip in a cycle.

    All routers of a fabric have as many, and so leave reset in the same cycle. Until then nothing is taken from their
    terminals, whose users leave reset before them.

    Parameters
    ----------
    registers : int
        At least 1; in reset as long as the clock has not run.

    Members
    -------
    o : Out(1)
        The reset, `registers` cycles later.
    ready_i : In(1), ready_o : Out(1)
        Whether the router takes a flit from its terminal: it takes none in reset.
    """

    def __init__(self, registers: int) -> None:
        self._registers = registers
        super().__init__({"o": Out(1), "ready_i": In(1), "ready_o": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        row = Signal(self._registers, init=-1 % (1 << self._registers), reset_less=True, attrs={"shreg_extract": "no"})
        m.d.sync += row.eq(Cat(ResetSignal(), row)[: self._registers])
        m.d.comb += [self.o.eq(row[-1]), self.ready_o.eq(self.ready_i & ~row[-1])]
        return m
