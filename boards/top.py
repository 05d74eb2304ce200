"""The design that joins a self-test to the pins of a board."""

from typing import Any

from amaranth.hdl import Module
from amaranth.lib import io, wiring

from hdnhw.boards.selftest import SelfTest


class BoardTop(wiring.Component):
    """A self-test on the pins of a board: the first serial line, and LEDs 0 to 3.

    Parameters
    ----------
    test : SelfTest
    """

    def __init__(self, test: SelfTest) -> None:
        self._test = test
        super().__init__({})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.test = test = self._test
        m.submodules.tx = tx = io.Buffer("o", platform.request("uart", 0, dir="-").tx)
        m.d.comb += tx.o.eq(test.tx)
        for number, light in enumerate((test.running, test.passed, test.failed, test.active)):
            m.submodules[f"led_{number}"] = led = io.Buffer("o", platform.request("led", number, dir="-"))
            m.d.comb += led.o.eq(light)
        return m
