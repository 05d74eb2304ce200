"""The boards, and what is built for each unless told otherwise."""

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named

PACKETS, SIMULATED_PACKETS = 1000, 50
"""Packets of the random test, a node, on a board and in a simulation, unless told otherwise."""

MOST_PACKETS = 1 << 15
"""That they count."""

BAUD = 115_200
"""Bits a second on the serial line."""


LINK_CONTROLS = ("clk", "mark")
"""Pins of a link beside those of a word, each way; they come first on a header."""


@dataclass(frozen=True)
class Board:
    """A board and what to build for it unless told otherwise.

    Attributes
    ----------
    name : str
        Name on the command line.
    platform_name : str
        Module and class of the Amaranth platform.
    clock_hz : int
        The oscillator that the design runs on.
    network : str
        Spec string.
    packet_length, flit_width, buffers : int
    family : str
        ``ecp5`` or ``ice40``.
    device : str
        One of :data:`hdnhw.fpga.family.DEVICES`.
    bitstream : str
        Suffix of the bitstream file.
    synth_opts : str
        Options for Yosys's ``synth_*``.
    flash : str
        Command that loads the bitstream, with {} for the file.
    header : tuple of (str, int)
        Connector 0 of the platform, of that name, for a link to another board, and how many pins it has each way: words
        come in by its pins K+, and leave by K-. No pins by default.
    """

    name: str
    platform_name: str
    clock_hz: int
    network: str
    packet_length: int
    flit_width: int
    buffers: int
    family: str
    device: str
    bitstream: str
    synth_opts: str
    flash: str
    header: tuple[str, int] = ("", 0)

    def platform(self) -> Any:
        """Return the Amaranth platform."""
        return resolve_name(self.platform_name)()

    @property
    def fabric(self) -> FabricSpec:
        """The machine that is built for it."""
        return FabricSpec(
            network=parse(self.network),
            packet_length=self.packet_length,
            flit_width=self.flit_width,
            buffers=self.buffers,
            crossbar="output",
        )

    @property
    def tools(self) -> list[str]:
        """Tools in the order in which they run."""
        return ["yosys", f"nextpnr-{self.family}", {"ecp5": "ecppack", "ice40": "icepack"}[self.family]]

    def check_link(self, cut: ChipOptions) -> None:
        """Raise SpecError if a network is cut into chips, and the board has no pins for their link."""
        pins = self.header[1]
        if cut.chips is not None and not pins:
            boards = ", ".join(board.name for board in BOARDS.values() if board.header[1])
            raise SpecError(f"{named('chips')} needs a board with a header for the link, {boards}, not {self.name}")
        if cut.chips is not None and cut.link_width > pins - len(LINK_CONTROLS):
            most = pins - len(LINK_CONTROLS)
            raise SpecError(f"{named('link_width')} must be 8 to {most} bits on {self.name}, not {cut.link_width}")

    @property
    def divisor(self) -> int:
        """Clock cycles per bit on the serial line."""
        return round(self.clock_hz / BAUD)


BOARDS = {
    board.name: board
    for board in (
        Board(
            name="ulx3s-85f",
            platform_name="amaranth_boards.ulx3s:ULX3S_85F_Platform",
            clock_hz=25_000_000,
            network="hdn(cube(2), [[0]])",
            packet_length=8,
            flit_width=32,
            buffers=4,
            family="ecp5",
            device="LFE5U-85F",
            bitstream=".bit",
            synth_opts="-abc9 -noflatten",
            flash="openFPGALoader --board ulx3s {}",
            header=("gpio", 28),
        ),
        Board(
            name="icepi-zero",
            platform_name="amaranth_boards.icepi_zero:IcepiZero1_3Platform",
            clock_hz=50_000_000,
            network="dualcube(2)",
            packet_length=8,
            flit_width=32,
            buffers=4,
            family="ecp5",
            device="LFE5U-25F",
            bitstream=".bit",
            synth_opts="-abc9 -noflatten",
            flash="openFPGALoader --board icepi-zero {}",
        ),
        Board(
            name="ice40-hx8k",
            platform_name="amaranth_boards.ice40_hx8k_b_evn:ICE40HX8KBEVNPlatform",
            clock_hz=12_000_000,
            network="dualcube(2)",
            packet_length=2,
            flit_width=8,
            buffers=1,
            family="ice40",
            device="iCE40HX8K",
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
        raise SpecError(f"board {choices_text(BOARDS, name)}")
    return BOARDS[name]
