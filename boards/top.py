"""The design that joins a self-test to the pins of a board."""

from typing import Any

from amaranth.build import Attrs, Clock, Pins, Resource, Subsignal
from amaranth.hdl import Module
from amaranth.lib import io, wiring
from amaranth.lib.wiring import In

from hdnhw.boards.catalogue import LINK_CONTROLS, Board
from hdnhw.boards.selftest import SelfTest


def link_resource(board: Board, word_width: int) -> Resource:
    """Return the pins of a link to another board, the same on both; no word comes while none is connected."""
    connector, _ = board.header
    places = {name: (place, 1) for place, name in enumerate(LINK_CONTROLS)} | {"data": (len(LINK_CONTROLS), word_width)}
    pins = []
    for name, (first, width) in places.items():
        for way, sign in (("i", "+"), ("o", "-")):
            numbers = " ".join(f"{place}{sign}" for place in range(first, first + width))
            about = [Clock(board.clock_hz)] if (name, way) == ("clk", "i") else []
            about += [Attrs(PULLMODE="UP")] if way == "i" else []
            pins.append(Subsignal(f"{name}_{way}", Pins(numbers, dir=way, conn=(connector, 0)), *about))
    return Resource("link", 0, *pins, Attrs(IO_TYPE="LVCMOS33"))


class BoardTop(wiring.Component):
    """A self-test on the pins of a board: the first serial line, LEDs 0 to 3, and the link to another board."""

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
        if "link" in test.signature.members:
            pins = platform.request("link", 0, dir="-")
            for path, member, value in test.link.signature.flatten(test.link):
                name = path[0]
                m.submodules[f"link_{name}"] = pin = io.Buffer(name[-1], getattr(pins, name))
                m.d.comb += value.eq(pin.i) if member.flow is In else pin.o.eq(value)
        return m
