"""The FPGA families that a design is measured on: devices, options, and what their cells are called."""

from dataclasses import dataclass
from typing import Any

__all__ = ["DEVICES", "FAMILIES", "BlockRam", "Family"]


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
class Family:
    """One family, by its largest open device.

    Attributes
    ----------
    name, device, speed : str
        Speed is the grade, ``hx`` for the fast iCE40.
    frequency : float
        Target of place-and-route unless told otherwise, MHz; beyond what routers reach, so that it never rests.
    settings : tuple of str
        Yosys commands before synthesis.
    synthesis : str
        Yosys's command for it.
    place : tuple of str
        Options of nextpnr in any case.
    inside : tuple of str
        Options for a design without pins; empty if nextpnr has none for the family.
    outside : tuple of str
        Options for a design with pins.
    global_buffer : str
        Verilog of a buffer from ``{i}`` to a global net ``{o}``; empty if nextpnr finds for itself what needs one.
    comb : str
        nextpnr's name of the site of a lookup table.
    lut, ff : str
        Yosys's name of the lookup table; the first letters of its flip-flops' names.
    rams : dict
        Yosys's name of each memory cell -> the name in results.
    block_ram : str
        The name of its block RAM there.
    """

    name: str
    device: str
    speed: str
    frequency: float
    settings: tuple[str, ...]
    synthesis: str
    place: tuple[str, ...]
    inside: tuple[str, ...]
    outside: tuple[str, ...]
    global_buffer: str
    comb: str
    lut: str
    ff: str
    rams: dict[str, str]
    block_ram: str

    @property
    def tool(self) -> str:
        """The place-and-route tool, see :mod:`hdnhw.flow.tools`."""
        return f"nextpnr-{self.name}"

    def script(self, top: str, *, flat: bool) -> str:
        """Return the Yosys commands that synthesise a design; one that is not `flat` has many instances of a module.

        Such a design is flattened behind the mapping of memories, so that coarse logic and memories are worked on once
        a module. With 16 routers the cells are the same as of one flattened at once, in less than half the time, which
        otherwise grows faster than the number of routers.
        """
        synthesise = f"{self.synthesis} -top {top}"
        modules = f"{synthesise} -noflatten -run begin:map_gates"
        steps = [synthesise] if flat else [modules, "flatten", "opt", "opt_clean", f"{synthesise} -run map_gates:"]
        return "".join(f"{step}\n" for step in (*self.settings, *steps))

    def count(self, cells: dict[str, int]) -> dict[str, Any]:
        """Return ``lut4``, ``ff`` and ``ram_cells`` of a module from the number of its cells of each type."""
        return {
            "lut4": cells.get(self.lut, 0),
            "ff": sum(count for kind, count in cells.items() if kind.startswith(self.ff)),
            "ram_cells": {shown: cells.get(kind, 0) for kind, shown in self.rams.items()},
        }


FAMILIES = {
    family.name: family
    for family in (
        Family(
            name="ecp5",
            device="LFE5U-85F",
            speed="6",
            frequency=300.0,
            settings=("scratchpad -set abc9.D 1600",),
            synthesis="synth_ecp5 -abc9",
            place=("--85k", "--speed", "6", "--package", "CABGA381"),
            inside=("--out-of-context",),
            outside=("--lpf-allow-unconstrained",),
            global_buffer="DCCA global_buffer(.CLKI({i}), .CLKO({o}), .CE(1'b1))",
            comb="TRELLIS_COMB",
            lut="LUT4",
            ff="TRELLIS_FF",
            rams={"TRELLIS_DPR16X4": "TRELLIS_DPR16X4", "DP16KD": "DP16KD"},
            block_ram="DP16KD",
        ),
        Family(
            name="ice40",
            device="iCE40HX8K",
            speed="hx",
            frequency=300.0,
            settings=(),
            synthesis="synth_ice40 -abc9 -device hx",
            place=("--hx8k", "--package", "ct256"),
            inside=(),
            outside=(),
            global_buffer="",
            comb="ICESTORM_LC",
            lut="SB_LUT4",
            ff="SB_DFF",
            rams={"SB_RAM40_4K": "ICESTORM_RAM"},
            block_ram="ICESTORM_RAM",
        ),
    )
}

_DP16KD = tuple((16384 // bits, bits + bits // 8) for bits in (1, 2, 4, 8, 16, 32))
"""Shapes of ECP5's: from bytes on, a bit more each."""

_SB_RAM40_4K = tuple((4096 // bits, bits) for bits in (2, 4, 8, 16))

DEVICES = {
    "LFE5U-25F": BlockRam(56, _DP16KD),
    "LFE5U-85F": BlockRam(208, _DP16KD),
    "iCE40HX8K": BlockRam(32, _SB_RAM40_4K),
}
"""Device -> its block RAMs."""
