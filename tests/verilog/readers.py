"""Emitted Verilog of all kinds, read by every tool that there is: nothing to say; five minutes.

As a program it prints a line a fabric; where any tool has something to say it prints that and ends with status 1.
slang, Verilator and Yosys come with the environment, and GHDL on some processors; Icarus and verible take part where
they are installed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.fpga.harness import ports_of
from hdnhw.sim.tools import verilator_home
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric, write_fabric
from tests.specs import fabric_spec

BLOCKS = (
    {"name": "cpu", "kind": "axi4-manager", "node": 0, "data_width": 64},
    {"name": "uart", "kind": "axi4-lite-subordinate", "node": 1, "ranges": [[0, 0x1000]]},
    {"name": "camera", "kind": "axi-stream-source", "node": 2, "data_width": 8},
    {"name": "screen", "kind": "axi-stream-sink", "node": 3, "reset": True},
)
SYSTEM = AxiMemorySpec(memory_bits=12, outstanding=1, blocks=BLOCKS)

VARIANTS = {
    "plain": fabric_spec("hdn(cube(1), [[0]])"),
    "several shapes": fabric_spec("mesh(2, 3)", flit_width=8, crossbar="output"),
    "virtual output queues": fabric_spec("rdn(cube(1), 1)", queueing="voq", buffers=8),
    "check bits": fabric_spec("mesh(3)", crc=True, dead_pins=True),
    "dead pins": fabric_spec("cube(2)", dead_pins=True),
    "cut-through": fabric_spec("cube(2)", switching="cut-through"),
    "channel registers": fabric_spec("cube(2)", channel_latency="2"),
    "block RAM": fabric_spec("torus(5)", ram="block"),
    "distributed RAM": fabric_spec("torus(5)", ram="distributed"),
    "one flit": fabric_spec("rdn(cube(1), 1)", packet_length=1),
    "four flits": fabric_spec("rdn(cube(1), 1)", packet_length=4),
    "AXI4-Stream": fabric_spec("cube(1)", endpoints=AxiStreamSpec(max_frame=64)),
    "AXI4": fabric_spec("torus(3)", endpoints=AxiMemorySpec()),
    "AXI4, bytes": fabric_spec("cube(1)", packet_length=16, flit_width=8, endpoints=AxiMemorySpec(outstanding=1)),
    "system": fabric_spec("cube(2)", flit_width=64, packet_length=4, gapless_packets=True, endpoints=SYSTEM),
    "relays": fabric_spec("cube(2)", dead_pins=True, endpoints=RelaySpec()),
    "collective engines": fabric_spec("hdn(cube(1), [[]])", endpoints=CollectiveSpec()),
    "generators": fabric_spec("hdn(cube(1), [[]])", endpoints=ExchangeSpec()),
    "generators at once": fabric_spec("cube(2)", endpoints=ExchangeSpec(at_once=True)),
}
"""One of each kind of text that `emit` writes."""

NODE_CLOCKS = {name: spec for name, spec in VARIANTS.items() if name in ("plain", "AXI4-Stream", "AXI4", "relays")}
VARIANTS |= {f"{name}, node clocks": spec for name, spec in NODE_CLOCKS.items()}


def emitted(name: str, *, initial: bool = True, wrapper: bool = False) -> EmittedFabric:
    """Return a variant."""
    return emit_fabric(VARIANTS[name], initial=initial, wrapper=wrapper, node_clocks=has_clocks(name))


def has_clocks(name: str) -> bool:
    """Return whether each node of a variant has its own clock."""
    return name.endswith("node clocks")


STYLE = ("DECLFILENAME", "PROCASSINIT", "UNUSEDSIGNAL")
"""Verilator's warnings of what is no fault: several modules in a file, initial values, signals that nothing reads."""

SLANG = """
import sys
from pyslang import driver
one = driver.Driver()
one.addStandardArgs()
ready = one.parseCommandLine(" ".join(["slang", *sys.argv[1:]])) and one.processOptions() and one.parseAllSources()
if ready:
    compilation = one.createCompilation()
    one.reportCompilation(compilation, True)
    one.runAnalysis(compilation)
sys.exit(not (ready and one.reportDiagnostics(True)))
"""
"""pyslang brings slang as a library alone."""


@dataclass(frozen=True)
class Tool:
    """A tool that reads Verilog.

    Attributes
    ----------
    command : callable
        Files and the name of the top level -> the command that reads them.
    ignored : str
        Regular expression: lines that are no complaints.
    """

    command: Callable[[Sequence[str], str], Sequence[str]]
    ignored: str = r"$^"

    def said(self, sources: Sequence[Path], top: str) -> list[str]:
        """Return the complaints about files in one folder, and the status if it is not 0."""
        environment = os.environ | {"VERILATOR_ROOT": str(verilator_home()), "PATH": BESIDE}
        command = self.command([path.name for path in sources], top)
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, check=False, cwd=sources[0].parent
        )
        said = [line for line in (done.stdout + done.stderr).splitlines() if not re.search(self.ignored, line)]
        return said + [f"status {done.returncode}"] * bool(done.returncode)


def _slang(files: Sequence[str], top: str) -> list[str]:
    return [sys.executable, "-c", SLANG, "-Wextra", "--top", top, *files]


def _verilator(files: Sequence[str], top: str) -> list[str]:
    style = [f"-Wno-{rule}" for rule in STYLE]
    return [
        str(verilator_home() / "bin" / "verilator_bin"),
        "--lint-only",
        "-Wall",
        *style,
        "--top-module",
        top,
        *files,
    ]


def _yosys(files: Sequence[str], top: str) -> list[str]:
    script = f"read_verilog -sv {' '.join(files)}; hierarchy -check -top {top}; proc; check -assert"
    return [sys.executable, "-m", "hdnhw.fpga.yosys", "-q", "-p", script]


def _icarus(files: Sequence[str], top: str) -> list[str]:
    return ["iverilog", "-g2012", "-s", top, "-o", os.devnull, *files]


def _ghdl(_: Sequence[str], top: str) -> list[str]:
    return ["ghdl", "-s", "--std=93", f"{top}.vhd"]


def _ghdl_all(files: Sequence[str], standard: str) -> list[str]:
    return ["ghdl", "-a", f"--std={standard}", "--workdir=.", f"--work=work{standard}", *files]


TOOLS = {
    "slang": Tool(_slang),
    "verilator": Tool(_verilator, ignored=r"^- "),
    "yosys": Tool(_yosys),
    "iverilog": Tool(_icarus, ignored="sorry: constant selects in always_"),
    "ghdl": Tool(_ghdl),
    "verible-verilog-syntax": Tool(lambda files, _: ["verible-verilog-syntax", *files]),
}
"""By name. Icarus 11 evaluates an always_comb block more often than it must, and says so."""

BESIDE = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
"""The path, with the programs of the environment first."""

PRESENT = [name for name in TOOLS if name in ("slang", "verilator", "yosys") or shutil.which(name, path=BESIDE)]
"""Those of the environment, and those that are installed beside it; GHDL comes with it on some processors alone."""


def component(text: str, top: str) -> str:
    """Return a VHDL package with the component by which a design in VHDL instantiates a module of Verilog."""
    ports = [
        f"{port.name} : {'in' if port.is_input else 'out'} std_logic_vector({port.width - 1} downto 0)"
        for port in ports_of(text, top)
    ]
    head = (
        f"library ieee;\nuse ieee.std_logic_1164.all;\npackage {top}_pkg is\n  component {top} is\n    port (\n      "
    )
    return head + ";\n      ".join(ports) + "\n    );\n  end component;\nend package;\n"


def said_of(sources: Sequence[Path], top: str) -> list[str]:
    """Return what the tools have to say of the files of a fabric; GHDL reads names and types of its ports."""
    sources[0].with_name(f"{top}.vhd").write_text(component(sources[-1].read_text(), top))
    return [f"{name}: {line}" for name in PRESENT for line in TOOLS[name].said(sources, top)]


def said_of_wrappers(fabric: EmittedFabric, folder: Path) -> list[str]:
    """Return what the tools have to say of the wrappers of a fabric that is in a folder, each with what it is for."""
    wrappers, sources, said = fabric.manifest["wrappers"], [folder / name for name in fabric.verilog], []
    for kind in ("packed", "flat"):
        files, top = [*sources, folder / wrappers[kind]["file"]], wrappers[kind]["module"]
        said += [f"{name}: {line}" for name in PRESENT if name != "ghdl" for line in TOOLS[name].said(files, top)]
    include = f'`include "{wrappers["constants"]}"\n'
    for name, text in (
        ("constants.sv", f"package constants;\n{include}endpackage\nmodule user;\nendmodule\n"),
        ("constants.v", f"module user;\n{include}endmodule\n"),
    ):
        (folder / name).write_text(text)
        said += [f"slang: {line}" for line in TOOLS["slang"].said([folder / name], "user")]
    if "ghdl" in PRESENT:
        for standard in ("93", "08"):
            said += [f"ghdl: {line}" for line in Tool(_ghdl_all).said(vhdl_files(fabric, folder), standard)]
    return said


def vhdl_files(fabric: EmittedFabric, folder: Path) -> list[Path]:
    """Return the wrapper of a fabric in VHDL, in the order in which it is read."""
    return [folder / name for name in fabric.manifest["wrappers"]["vhdl"]["files"]]


def main() -> int:
    """Let every tool read every variant; return the exit status."""
    faults = 0
    for name, initial in product(VARIANTS, (True, False)):
        fabric = emitted(name, initial=initial, wrapper=True)
        with tempfile.TemporaryDirectory() as folder:
            sources = [path for path in write_fabric(fabric, Path(folder)) if path.name in fabric.verilog]
            said = said_of(sources, fabric.top) + said_of_wrappers(fabric, Path(folder))
        print(
            f"{name:24} {'' if initial else '--no-initial':12}  {len(said)} complaints of {', '.join(PRESENT)}",
            *said,
            sep="\n  ",
            flush=True,
        )
        faults += bool(said)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
