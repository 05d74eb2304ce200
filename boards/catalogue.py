"""The boards, and the design that joins a self-test to the pins of one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module
from amaranth.lib import io, wiring
from amaranth_boards.ice40_hx8k_b_evn import ICE40HX8KBEVNPlatform
from amaranth_boards.icepi_zero import IcepiZero1_3Platform
from amaranth_boards.ulx3s import ULX3S_85F_Platform

from boards.selftest import SelfTest
from hdnhw.spec import FabricSpec, SpecError, parse

__all__ = ["BAUD", "BOARDS", "Board", "BoardTop", "find_board"]

BAUD = 115_200
"""Bits a second on the serial line."""


@dataclass(frozen=True)
class Board:
    """A board and what to build for it unless told otherwise.

    Attributes
    ----------
    name : str
        Name on the command line.
    platform : callable
        Returns the Amaranth platform.
    clock_hz : int
        The oscillator that the design runs on.
    fabric : FabricSpec
    family : str
        ``ecp5`` or ``ice40``.
    bitstream : str
        Suffix of the bitstream file.
    synth_opts : str
        Options for Yosys's ``synth_*``.
    flash : str
        Command that loads the bitstream, with {} for the file.
    """

    name: str
    platform: Callable[[], Any]
    clock_hz: int
    fabric: FabricSpec
    family: str
    bitstream: str
    synth_opts: str
    flash: str

    @property
    def tools(self) -> list[str]:
        """Tools in the order in which they run."""
        return ["yosys", f"nextpnr-{self.family}", {"ecp5": "ecppack", "ice40": "icepack"}[self.family]]

    @property
    def divisor(self) -> int:
        """Clock cycles a bit on the serial line."""
        return round(self.clock_hz / BAUD)


BOARDS = {
    board.name: board
    for board in (
        Board(
            name="ulx3s-85f",
            platform=ULX3S_85F_Platform,
            clock_hz=25_000_000,
            fabric=FabricSpec(
                network=parse("hdn(cube(2), [[0]])"), packet_length=8, flit_width=32, buffers=2, crossbar="output"
            ),
            family="ecp5",
            bitstream=".bit",
            synth_opts="-abc9 -noflatten",
            flash="openFPGALoader --board ulx3s {}",
        ),
        Board(
            name="icepi-zero",
            platform=IcepiZero1_3Platform,
            clock_hz=50_000_000,
            fabric=FabricSpec(
                network=parse("dualcube(2)"), packet_length=8, flit_width=32, buffers=2, crossbar="output"
            ),
            family="ecp5",
            bitstream=".bit",
            synth_opts="-abc9 -noflatten",
            flash="openFPGALoader --board icepi-zero {}",
        ),
        Board(
            name="ice40-hx8k",
            platform=ICE40HX8KBEVNPlatform,
            clock_hz=12_000_000,
            fabric=FabricSpec(
                network=parse("dualcube(2)"), packet_length=2, flit_width=8, buffers=1, crossbar="output"
            ),
            family="ice40",
            bitstream=".bin",
            synth_opts="-abc9 -device hx",
            flash="openFPGALoader --board ice40_generic {}",
        ),
    )
}


def find_board(name: str) -> Board:
    """Return a board by name.

    Raises
    ------
    SpecError
        If there is none of that name.
    """
    if name not in BOARDS:
        raise SpecError(f"board must be one of {', '.join(BOARDS)}, not {name!r}")
    return BOARDS[name]


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
