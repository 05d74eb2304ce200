"""The FPGA families that a design is measured on: devices, options, and what their cells are called."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class BlockRam:
    """The block RAMs of a device.

    Attributes
    ----------
    available : int
        How many it has.
    shapes : tuple of (int, int)
        Words and bits a word that one of them can be set to.
    """

    available: int
    shapes: tuple[tuple[int, int], ...]

    def count(self, depth: int, width: int) -> int:
        """Return the fewest block RAMs that a memory of `depth` words of `width` bits takes."""
        return min(-(-depth // words) * -(-width // bits) for words, bits in self.shapes)


@dataclass(frozen=True)
class Placement:
    """Place-and-route of a family by nextpnr.

    Attributes
    ----------
    tool : str
        See :mod:`hdnhw.fpga.tools`.
    frequency : float
        Target unless told otherwise, MHz; beyond what routers reach, so that it never rests.
    options : tuple of str
        In any case.
    inside : tuple of str
        Options for a design without pins; empty if nextpnr has none for the family.
    outside : tuple of str
        Options for a design with pins.
    pins : tuple of str
        Name and text of a file with the places of the three pins of a serial wrapper, if nextpnr chooses none itself.
    global_buffer : str
        Verilog of a buffer from ``{i}`` to a global net ``{o}``; empty if nextpnr finds for itself what needs one.
    comb : str
        nextpnr's name of the site of a lookup table.
    has_pads : bool
        Whether each port must have a pad: the unit cannot be packed alone then, as it has none.
    untimed : tuple of str
        Kinds of cells of whose delays nextpnr knows nothing: paths through them are not in its frequency.
    """

    tool: str
    options: tuple[str, ...]
    comb: str
    frequency: float = 300.0
    inside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    pins: tuple[str, str] | None = None
    global_buffer: str = ""
    has_pads: bool = False
    untimed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """One family, by a large device of it, where there is an open place-and-route the largest that it takes.

    Attributes
    ----------
    name, device, speed : str
        Speed is the grade, ``hx`` for the fast iCE40; empty where nothing is placed.
    synthesis : str
        Yosys's command for it.
    luts : tuple of str
        Yosys's names of cells that take a lookup table, or a part of one that can be split.
    lut_inputs : int
        Of a lookup table.
    ff : str
        The first letters of the names of its flip-flops.
    rams : dict
        Yosys's name of each memory cell -> the name in results.
    block_ram : str
        The name of its block RAM there.
    placement : Placement or None
        None where nextpnr is not on PyPI: cells are counted, and there is no frequency.
    settings, endings : tuple of str
        Yosys commands before synthesis and behind it, where ``{top}`` stands for the top-level module.
    is_staged : bool
        Whether Yosys's command can flatten after its stage ``map_gates`` alone.
    """

    name: str
    device: str
    speed: str
    synthesis: str
    luts: tuple[str, ...]
    ff: str
    rams: dict[str, str]
    block_ram: str
    placement: Placement | None = None
    lut_inputs: int = 4
    settings: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    is_staged: bool = True

    def script(self, top: str, *, flat: bool) -> str:
        """Return the Yosys commands that synthesize a design; one that is not `flat` has many instances of a module.

        Such a design is flattened behind the mapping of memories, so that coarse logic and memories are worked on once
        a module. With 16 routers the cells are the same as of one flattened at once, in less than half the time, which
        otherwise grows faster than the number of routers.
        """
        synthesize = f"{self.synthesis} -top {top}"
        modules = f"{synthesize} -noflatten -run begin:map_gates"
        whole = flat or not self.is_staged
        steps = [synthesize] if whole else [modules, "flatten", "opt", "opt_clean", f"{synthesize} -run map_gates:"]
        endings = [step.format(top=top) for step in self.endings]
        return "".join(f"{step}\n" for step in (*self.settings, *steps, *endings))

    def count(self, cells: dict[str, int]) -> dict[str, Any]:
        """Return ``luts``, ``ff`` and ``ram_cells`` of a module from the number of its cells of each type."""
        return {
            "luts": sum(cells.get(kind, 0) for kind in self.luts),
            "ff": sum(count for kind, count in cells.items() if kind.startswith(self.ff)),
            "ram_cells": {shown: cells.get(kind, 0) for kind, shown in self.rams.items()},
        }


_ECP5 = Family(
    name="ecp5",
    device="LFE5U-85F",
    speed="6",
    settings=("scratchpad -set abc9.D 1600",),
    synthesis="synth_ecp5 -abc9",
    luts=("LUT4",),
    ff="TRELLIS_FF",
    rams={"TRELLIS_DPR16X4": "TRELLIS_DPR16X4", "DP16KD": "DP16KD"},
    block_ram="DP16KD",
    placement=Placement(
        tool="nextpnr-ecp5",
        # Timing against wire length in placement, three times nextpnr's own: fabrics gain most of it.
        options=("--85k", "--speed", "6", "--package", "CABGA381", "--placer-heap-timingweight", "30"),
        inside=("--out-of-context",),
        outside=("--lpf-allow-unconstrained",),
        global_buffer="DCCA global_buffer(.CLKI({i}), .CLKO({o}), .CE(1'b1))",
        comb="TRELLIS_COMB",
    ),
)

_ICE40 = Family(
    name="ice40",
    device="iCE40HX8K",
    speed="hx",
    synthesis="synth_ice40 -abc9 -device hx",
    luts=("SB_LUT4",),
    ff="SB_DFF",
    rams={"SB_RAM40_4K": "ICESTORM_RAM"},
    block_ram="ICESTORM_RAM",
    placement=Placement(tool="nextpnr-ice40", options=("--hx8k", "--package", "ct256"), comb="ICESTORM_LC"),
)

_MACHXO3 = Family(
    name="machxo3",
    device="LCMXO3LF-6900C",
    speed="6",
    synthesis="synth_lattice -family xo3 -abc9",
    luts=("LUT4",),
    ff="TRELLIS_FF",
    rams={"TRELLIS_DPR16X4": "TRELLIS_DPR16X4", "DP8KC": "DP8KC"},
    block_ram="DP8KC",
    placement=Placement(
        tool="nextpnr-machxo2",
        options=("--device", "LCMXO3LF-6900C-6BG256C"),
        outside=("--lpf-allow-unconstrained",),
        comb="TRELLIS_COMB",
        has_pads=True,
    ),
)

_NEXUS_PINS = "".join(
    f"ldc_set_location -site {{{site}}} [get_ports {port}]\n"
    for site, port in (("L13", "clk"), ("E17", "serial_i"), ("F13", "serial_o"))
)

_NEXUS = Family(
    name="nexus",
    device="LIFCL-40",
    speed="9",
    synthesis="synth_nexus -abc9",
    luts=("LUT4", "INV"),
    ff="FD1P3",
    rams={"DPR16X4": "DPR16X4", "PDPSC16K": "PDPSC16K"},
    block_ram="PDPSC16K",
    placement=Placement(
        tool="nextpnr-nexus",
        # Its default router does not find the way from the pad of the clock to the global buffer for every seed.
        options=("--device", "LIFCL-40-9BG400C", "--pdc", "pins.pdc", "--router", "router1"),
        pins=("pins.pdc", _NEXUS_PINS),
        comb="OXIDE_COMB",
        has_pads=True,
    ),
)

_GOWIN = Family(
    name="gowin",
    device="GW2A-18C",
    speed="C8/I7",
    synthesis="synth_gowin -family gw2a -abc9 -noiopads",
    # Its own pads would be put at the ports of the unit, too, which is a module by itself.
    endings=("iopadmap -bits -inpad IBUF O:I -outpad OBUF I:O {top}",),
    luts=("LUT1", "LUT2", "LUT3", "LUT4"),
    ff="DFF",
    rams={"RAM16SDP4": "RAM16SDP4", "SDPX9B": "SDPX9B"},
    block_ram="SDPX9B",
    placement=Placement(
        tool="nextpnr-gowin",
        options=("--device", "GW2A-LV18PG256C8/I7", "--vopt", "family=GW2A-18C", "--vopt", "cst=pins.cst"),
        pins=("pins.cst", 'IO_LOC "clk" H11;\nIO_LOC "serial_i" T10;\nIO_LOC "serial_o" L14;\n'),
        comb="LUT4",
        has_pads=True,
        untimed=("SDPX9B",),
    ),
)

_XC7 = Family(
    name="xc7",
    device="XC7A100T",
    speed="",
    synthesis="synth_xilinx -family xc7 -abc9 -flatten",
    luts=("LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6", "INV"),
    lut_inputs=6,
    ff="FD",
    rams={"RAM32M": "RAM32M", "RAM64M": "RAM64M", "RAMB18E1": "RAMB18E1", "RAMB36E1": "RAMB36E1"},
    block_ram="RAMB18E1",
    is_staged=False,
)

_CYCLONE_V = Family(
    name="cyclonev",
    device="5CSEBA6",
    speed="",
    synthesis="synth_intel_alm -family cyclonev",
    luts=("MISTRAL_NOT", *(f"MISTRAL_ALUT{inputs}" for inputs in (2, 3, 4, 5, 6)), "MISTRAL_ALUT_ARITH"),
    lut_inputs=6,
    ff="MISTRAL_FF",
    rams={"MISTRAL_MLAB": "MISTRAL_MLAB", "MISTRAL_M10K": "MISTRAL_M10K"},
    block_ram="MISTRAL_M10K",
    is_staged=False,
)

FAMILIES = {family.name: family for family in (_ECP5, _ICE40, _MACHXO3, _NEXUS, _GOWIN, _XC7, _CYCLONE_V)}

PLACED_FAMILIES = tuple(name for name, family in FAMILIES.items() if family.placement is not None)
"""Those with a frequency."""


def _with_parity(bits: int, widest: int) -> tuple[tuple[int, int], ...]:
    """Return the shapes of a memory of so many bits, words from a bit to `widest`; from bytes on, a bit more each."""
    widths = (1 << power for power in range(widest.bit_length()))
    return tuple((bits // width, width + width // 8) for width in widths)


_M10K = ((8192, 1), (4096, 2), (2048, 5), (1024, 10), (512, 20), (256, 40))

DEVICES = {
    "LFE5U-25F": BlockRam(56, _with_parity(16384, 32)),
    "LFE5U-85F": BlockRam(208, _with_parity(16384, 32)),
    "iCE40HX8K": BlockRam(32, tuple((4096 // bits, bits) for bits in (2, 4, 8, 16))),
    "LCMXO3LF-6900C": BlockRam(26, _with_parity(8192, 16)),
    "LIFCL-40": BlockRam(84, _with_parity(16384, 32)),
    "GW2A-18C": BlockRam(46, _with_parity(16384, 32)),
    "XC7A100T": BlockRam(270, _with_parity(16384, 32)),
    "5CSEBA6": BlockRam(557, _M10K),
}
"""Device -> its block RAMs; of XC7A100T, the halves."""
