"""Every kind of fabric in a design in every language and framework, with all of its ports joined; three minutes.

A cell of the matrix is the kind of endpoints, whether each node has a clock, whether there are wrappers, and the
language or framework. It is joined when slang elaborates it and every port that the manifest names is joined to
something of its own, or refused in one line. As a program it prints the matrix; it ends with status 1 if a cell is
neither.
"""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import yaml
from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from litex.build.generic_platform import GenericPlatform
from litex.gen import LiteXModule
from migen import ClockDomain
from pyslang import ast, driver

from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.fpga.harness import ports_of
from hdnhw.fusesoc import generate
from hdnhw.library.options import fabric_of
from hdnhw.litex import NetworkOnChip
from hdnhw.spec import FabricSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.support.manifest import top_ports
from hdnhw.verilog.component import fabric_component
from hdnhw.verilog.fabric import ONE_CHIP, EmittedFabric, emit_fabric, write_fabric
from hdnhw.verilog.verilog import module_text
from hdnhw.verilog.yosys import run_scripts

NODES, LINKS = 2, 2
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "none": (
        "--dead-pins --crc --flit-width 120 --packet-length 2",
        {"dead_pins": True, "crc": True, "flit_width": 120, "packet_length": 2},
    ),
    "none, gapless": ("--gapless-packets", {"gapless_packets": True}),
    "axi-stream": (
        "--endpoints axi-stream --max-frame 64 --tuser-width 3",
        {"endpoints": AxiStreamSpec(max_frame=64, tuser_width=3)},
    ),
    "axi4": ("--endpoints axi4", {"endpoints": AxiMemorySpec()}),
    "collective": ("--endpoints collective", {"endpoints": CollectiveSpec()}),
    "relay": ("--endpoints relay --dead-pins", {"endpoints": RelaySpec(), "dead_pins": True}),
    "exchange": ("--endpoints exchange --at-once", {"endpoints": ExchangeSpec(at_once=True)}),
    "chip": ("--chips dim0=2,dim1=2 --link-width 16", {}),
    "chip, pins": ("--chips dim0=2,dim1=2 --link parallel --link-width 16 --crc", {"crc": True}),
    "chip, axi4": ("--chips dim0=2,dim1=2 --endpoints axi4", {"endpoints": AxiMemorySpec()}),
}
"""Endpoints of the fabrics, or chips -> options that ask for them, and those of the spec."""

CUTS = {
    "chip": ChipOptions(chips="dim0=2,dim1=2", link_width=16),
    "chip, pins": ChipOptions(chips="dim0=2,dim1=2", link="parallel", link_width=16),
    "chip, axi4": ChipOptions(chips="dim0=2,dim1=2"),
}
"""Of chips, how the network is cut; each has as many places as the other fabrics have nodes."""

_STREAMS_ALONE = "node clocks are for terminals that are streams alone, not for"
REFUSED = {
    ("none, gapless", True): "node clocks do not go with gapless packets: a flit may come a cycle later from another "
    "clock",
    ("collective", True): f"{_STREAMS_ALONE} collective engines",
    ("exchange", True): f"{_STREAMS_ALONE} generators of a total exchange",
    **dict.fromkeys(product(CUTS, [True]), "node clocks do not go with chips: all nodes of a chip have its clock"),
}
"""Endpoints and whether each node has a clock -> what is said in place of a fabric, by every front-end."""

GHDL = shutil.which("ghdl", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
"""GHDL comes with the environment on some processors."""


class BrokenError(Exception):
    """A cell is not as it must be."""


def spec_of(kind: str, *, clocks: bool = False) -> FabricSpec:
    """Return a fabric of two nodes, or of four chips of two, with the defaults of the command."""
    options = dict(KINDS[kind][1])
    return fabric_of(network_of(kind), options.pop("endpoints", None), options, node_clocks=clocks)


def network_of(kind: str) -> str:
    return "cube(3)" if kind in CUTS else f"cube({NODES - 1})"


@cache
def _emitted(
    spec: FabricSpec, top: str, initial: bool, wrapper: bool, node_clocks: bool, cut: ChipOptions, assertions: bool
) -> EmittedFabric:
    asked = {"wrapper": wrapper, "node_clocks": node_clocks, "assertions": assertions}
    return emit_fabric(spec, top=top, initial=initial, cut=cut, **asked)


def emit_once(
    spec: FabricSpec,
    *,
    top: str,
    initial: bool = True,
    wrapper: bool = False,
    node_clocks: bool = False,
    cut: ChipOptions = ONE_CHIP,
    assertions: bool = False,
) -> EmittedFabric:
    """Return a fabric as text; that which the generator makes is also another cell's."""
    return _emitted(spec, top, initial, wrapper, node_clocks, cut, assertions)


def emitted(kind: str, clocks: bool, wrapper: bool) -> EmittedFabric:
    """Return the fabric of a cell."""
    return emit_once(
        spec_of(kind, clocks=clocks), top="noc", wrapper=wrapper, node_clocks=clocks, cut=CUTS.get(kind, ONE_CHIP)
    )


def expected(manifest: Mapping[str, Any]) -> dict[str, tuple[bool, int]]:
    """Return all ports of the top level as the manifest has them: whether each is an input, and bits."""
    return {
        re.sub(r"_[NPK](?=_|$)", f"_{number}", pattern): (port["direction"] == "input", port["width"])
        for pattern, port in top_ports(manifest).items()
        for number in range(_count(manifest, pattern))
    }


def _count(manifest: Mapping[str, Any], pattern: str) -> int:
    """Return how many ports a pattern stands for."""
    found = re.search(r"_([NPK])(?=_|$)", pattern)
    return {"N": manifest["routers"], "P": NODES, "K": LINKS}[found[1]] if found else 1


def elaborate(files: Sequence[Path], chip: str, options: str = "-Wextra -Werror") -> Any:
    """Return what slang makes of a design whose top level is `chip`: a compilation.

    Raises
    ------
    BrokenError
        If it has anything to say, which it prints.
    """
    slang = driver.Driver()
    slang.addStandardArgs()
    line = f"slang {options} --top {chip} {' '.join(map(str, files))}"
    if not (slang.parseCommandLine(line) and slang.processOptions() and slang.parseAllSources()):
        raise BrokenError(f"slang does not read {[path.name for path in files]}")
    compilation = slang.createCompilation()
    slang.reportCompilation(compilation, True)
    if not slang.reportDiagnostics(True):
        raise BrokenError(f"slang refuses {[path.name for path in files]}")
    return compilation


def check_joined(compilation: Any, fabric: EmittedFabric) -> None:
    """Raise BrokenError unless all ports of the fabric in a design are joined, each to something of its own."""
    found: list[Any] = []
    compilation.getRoot().visit(lambda one: found.append(one) if is_of(one, fabric.top) else None)
    if len(found) != 1:
        raise BrokenError(f"{len(found)} instances of {fabric.top}")
    joined, names = {}, list[str]()
    for connection in found[0].portConnections:
        port, value = connection.port, connection.expression
        if value is None:
            raise BrokenError(f"{port.name} is open")
        joined[port.name] = port.direction == ast.ArgumentDirection.In, port.type.bitWidth
        target = value.left if value.kind == ast.ExpressionKind.Assignment else value  # of outputs
        names.append(str(target.syntax).strip())
    _must_be(joined, expected(fabric.manifest))
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise BrokenError(f"joined to several ports: {twice}")


def is_of(one: Any, module: str) -> bool:
    """Return whether a symbol is an instance of a module."""
    return isinstance(one, ast.InstanceSymbol) and one.definition.name == module


def _is_clocked(name: str) -> bool:
    return re.fullmatch(r"(clk|aclk|rst|aresetn)(_\d+)?", name) is not None


def _must_be(found: Mapping[str, Any], must: Mapping[str, Any]) -> None:
    wrong = {name for name in {*found, *must} if found.get(name) != must.get(name)}
    if wrong:
        raise BrokenError(f"not as in the manifest: {sorted(wrong)}")


def in_verilog(fabric: EmittedFabric, folder: Path, *, plain: bool) -> None:
    """Instantiate the top level by the names of the manifest; or take the wrapper as the design."""
    sources = [folder / name for name in fabric.verilog]
    if "wrappers" in fabric.manifest:
        wrapper = fabric.manifest["wrappers"]["flat" if plain else "packed"]
        text, name = (folder / wrapper["file"]).read_text(), wrapper["module"]
    else:
        ports = expected(fabric.manifest)
        declared = [f"{'input' if one else 'output'} wire [{bits - 1}:0] {name}" for name, (one, bits) in ports.items()]
        joined = [f".{name}({name})" for name in ports]
        name = "chip"
        text = f"module chip ({', '.join(declared)});\n  {fabric.top} noc ({', '.join(joined)});\nendmodule\n"
    version = "1364-2005" if plain else "1800-2017"
    design = folder / "design.v"
    design.write_text(f'`begin_keywords "{version}"\n{text}`end_keywords\n')
    check_joined(elaborate([*sources, design], name), fabric)


def in_vhdl(fabric: EmittedFabric, folder: Path) -> None:
    """Instantiate the top level as a component; or take the wrapper as the design. GHDL makes Verilog of it."""
    if "wrappers" in fabric.manifest:
        names, entity = fabric.manifest["wrappers"]["vhdl"]["files"], fabric.manifest["wrappers"]["vhdl"]["entity"]
    else:
        names, entity = ["outside.vhd"], "outside"
        (folder / "outside.vhd").write_text(_chip_in_vhdl(fabric))
    command = [str(GHDL), "--synth", "--std=93", "-Wno-binding", "--out=verilog", *names, "-e", entity]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        raise BrokenError(f"GHDL refuses {names}: {done.stderr}")
    (folder / "ghdl.v").write_text(done.stdout)
    sources = [folder / name for name in fabric.verilog]
    check_joined(elaborate([*sources, folder / "ghdl.v"], entity, ""), fabric)


def _chip_in_vhdl(fabric: EmittedFabric) -> str:
    ports = expected(fabric.manifest)
    declared = ";\n".join(
        f"  {name} : {'in' if one else 'out'} {f'std_logic_vector({bits - 1} downto 0)' if bits > 1 else 'std_logic'}"
        for name, (one, bits) in ports.items()
    )
    joined = ", ".join(f"{name} => {name}" for name in ports)
    return (
        f"library ieee;\nuse ieee.std_logic_1164.all;\nentity outside is port (\n{declared});\nend entity;\n"
        f"architecture structure of outside is\ncomponent {fabric.top} is port (\n{declared});\nend component;\n"
        f"begin\n  network_in_verilog : {fabric.top} port map ({joined});\nend architecture;\n"
    )


class Design(wiring.Component):
    """A user's design in Amaranth, which has nothing but a fabric."""

    def __init__(self, fabric: Any) -> None:
        self.fabric = fabric
        super().__init__(dict(fabric.signature.members.items()))

    def elaborate(self, _: Any) -> Module:
        m = Module()
        m.submodules.noc = self.fabric
        inner = self.fabric.signature.flatten(self.fabric)
        for (_, member, one), (_, _, other) in zip(self.signature.flatten(self), inner, strict=True):
            m.d.comb += Value.cast(other).eq(one) if member.flow == wiring.In else Value.cast(one).eq(other)
        return m


def pins_of(manifest: Mapping[str, Any]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the ports of such a design, by those of the fabric, and what clocks and resets are joined to."""
    joined, pins = dict[str, str](), dict[str, list[str]]()
    for pattern in top_ports(manifest):  # fields of a payload stand in order there, the lowest first
        for node in range(_count(manifest, pattern)):
            port = re.sub(r"_[NPK](?=_|$)", f"_{node}", pattern)
            if _is_clocked(port):
                domain = f"node_{node}_" if "_N" in pattern else ""
                joined[f"{domain}{'clk' if 'clk' in port else 'rst'}"] = f"!{port}" if "aresetn" in port else port
                continue
            found = re.fullmatch(r"([sm]_axi(?:s_\d+_t|_\d+_(?:aw|ar|w|b|r)))(valid|ready)?(?:\w+)?", port)
            pin = f"{found[1].removesuffix('_t')}_{found[2] or 'payload'}" if found else port
            pins.setdefault(pin, []).append(port)
    return pins, joined


def in_amaranth(kind: str, clocks: bool, folder: Path) -> None:
    """Elaborate the component: its members are the ports of the manifest, those of a payload together."""
    design = folder / "chip.sv"
    fabric = fabric_component(spec_of(kind, clocks=clocks), node_clocks=clocks, cut=CUTS.get(kind, ONE_CHIP))
    design.write_text(module_text(Design(fabric), "chip", flatten=False))
    manifest = emitted(kind, clocks, False).manifest
    ports, (pins, joined) = expected(manifest), pins_of(manifest)
    must = {pin: (ports[names[0]][0], sum(ports[name][1] for name in names)) for pin, names in pins.items()}
    found = {port.name: (port.is_input, port.width) for port in ports_of(design.read_text(), "chip")}
    _must_be(found, must | dict.fromkeys(joined, (True, 1)))
    elaborate([design], "chip")


class Chip(LiteXModule):
    """A design in LiteX, which has nothing but a fabric, and clocks of nodes if it wants them."""

    def __init__(self, platform: Any, folder: Path, clocks: bool) -> None:
        self.cd_sys = ClockDomain()
        domains = [f"node_{node}" for node in range(NODES)] if clocks else []
        for name in domains:
            setattr(self, f"cd_{name}", ClockDomain(name))
        self.noc = NetworkOnChip(platform, folder, node_domains=domains or None)


def in_litex(fabric: EmittedFabric, folder: Path) -> None:
    """Let LiteX make Verilog of a design, and take the sources that it asks for."""
    platform = GenericPlatform("any", [], name="chip")
    chip = Chip(platform, folder, "clocks" in fabric.manifest)
    design = folder / "chip.v"
    platform.get_verilog(chip, name="chip").write(str(design))
    check_joined(
        elaborate([*(Path(path) for path, *_ in platform.sources), design], "chip", "--timescale 1ns/1ps"), fabric
    )


def in_fusesoc(fabric: EmittedFabric, kind: str, folder: Path) -> None:
    """Elaborate what the core lists; with wrappers it is that of the generator, which always makes them.

    It lists all files, and the manifest the modules of all of them.
    """
    manifest = fabric.manifest
    if "wrappers" in manifest:
        shutil.rmtree(folder)
        folder.mkdir()
        generate_core(kind, "clocks" in manifest, folder)
        manifest = json.loads((folder / "manifest.json").read_text())
    core = yaml.safe_load((folder / "noc.core").read_text().removeprefix("CAPI=2:\n"))
    taken = [
        one for one in core["filesets"] if re.search(rf"\b{one}\b", " ".join(core["targets"]["default"]["filesets"]))
    ]
    files = [
        next(iter(one)) if isinstance(one, dict) else one for name in taken for one in core["filesets"][name]["files"]
    ]
    _must_be(dict.fromkeys(files, True), dict.fromkeys({*manifest["files"]} - {"noc.core", *_beside(manifest)}, True))
    top = manifest["wrappers"]["packed"]["module"] if "wrappers" in manifest else core["targets"]["default"]["toplevel"]
    sources = [folder / name for name in files if name.endswith((".sv", ".v"))]
    compilation = elaborate(sources, top)
    if "wrappers" in manifest:
        check_joined(compilation, fabric)
    in_vhdl = {manifest["wrappers"]["vhdl"][name] for name in ("package", "entity")} if "wrappers" in manifest else ()
    defined = {one.name for one in compilation.getDefinitions()}
    in_system = {"noc_system", "noc_system_wire"}
    _must_be(dict.fromkeys(defined, True), dict.fromkeys({*manifest["modules"]} - {*in_vhdl} - in_system, True))


def _beside(manifest: Mapping[str, Any]) -> set[str]:
    """Return the files of chips that are for simulators alone, or for a chip that is the top level of an FPGA."""
    pins = {name for name in manifest["files"] if name.startswith(f"{manifest['top']}_io.")}
    return {*pins, manifest["chips"]["system"]["file"]} if "chips" in manifest else pins


def generate_core(kind: str, clocks: bool, folder: Path) -> None:
    """Run the generator of FuseSoC in a folder; raise SpecError with what it says if it refuses."""
    options = KINDS[kind][0] + " --node-clocks" * clocks
    parameters = {"spec": network_of(kind), "name": "noc", "options": options}
    (folder / "asked.yml").write_text(yaml.safe_dump({"vlnv": "user:chip:noc:1.0", "parameters": parameters}))
    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = generate.main("asked.yml")
    if status:
        raise SpecError(said.getvalue().rstrip("\n").removeprefix("hdnhw: "))


def of_fabric(join: Callable[[EmittedFabric, Path], None]) -> Callable[[str, bool, bool, Path], None]:
    """Return a front-end that takes a fabric as it is emitted to a folder."""

    def run(kind: str, clocks: bool, wrapper: bool, folder: Path) -> None:
        fabric = emitted(kind, clocks, wrapper)
        write_fabric(fabric, folder)
        join(fabric, folder)

    return run


def _fusesoc(kind: str, clocks: bool, wrapper: bool, folder: Path) -> None:
    if wrapper and (kind, clocks) in REFUSED:
        generate_core(kind, clocks, folder)
    of_fabric(lambda fabric, place: in_fusesoc(fabric, kind, place))(kind, clocks, wrapper, folder)


FRONT_ENDS: dict[str, Callable[[str, bool, bool, Path], None]] = {
    "SystemVerilog": of_fabric(lambda fabric, folder: in_verilog(fabric, folder, plain=False)),
    "Verilog": of_fabric(lambda fabric, folder: in_verilog(fabric, folder, plain=True)),
    **({"VHDL": of_fabric(in_vhdl)} if GHDL else {}),
    "Amaranth": lambda kind, clocks, _, folder: in_amaranth(kind, clocks, folder),
    "LiteX": of_fabric(in_litex),
    "FuseSoC": _fusesoc,
}
"""Name -> what joins a fabric there, with wrappers or without, and looks at what comes of it in a folder."""

CELLS = [
    (kind, clocks, wrapper, name)
    for kind, clocks, wrapper, name in product(KINDS, (False, True), (False, True), FRONT_ENDS)
    if name != "Amaranth" or not (wrapper or kind in ("chip, pins", "chip, axi4"))
]
"""Endpoints or chips, whether each node has a clock, whether there are wrappers, and the front-end.

Amaranth has no wrappers, and no component of a chip with pins or endpoints.
"""


@cache
def _printed(scripts: tuple[str, ...]) -> list[str]:
    return run_scripts(scripts)


def printed(scripts: Sequence[str]) -> list[str]:
    """Return what Yosys prints for scripts; most cells of a fabric have the same."""
    return _printed(tuple(scripts))


def forget() -> None:
    """Emit fabrics anew from here on."""
    _emitted.cache_clear()


def outcome(kind: str, clocks: bool, wrapper: bool, front_end: str) -> str:
    """Return ``joined`` or ``refused``, or what is wrong with a cell."""
    with (
        tempfile.TemporaryDirectory() as name,
        mock.patch("hdnhw.verilog.verilog.run_scripts", printed),
        mock.patch("hdnhw.verilog.fabric.emit_fabric", emit_once),
    ):
        try:
            FRONT_ENDS[front_end](kind, clocks, wrapper, Path(name))
        except SpecError as error:
            must = REFUSED.get((kind, clocks))
            return "refused" if str(error) == must else f"refused by {str(error)!r}"
        except BrokenError as error:
            return str(error)
    return "joined" if (kind, clocks) not in REFUSED else "not refused"


def main() -> int:
    """Print the matrix; return the exit status."""
    outcomes = {cell: outcome(*cell) for cell in CELLS}
    print(f"{'endpoints':15}{'clocks':8}{'wrapper':9}" + "".join(f"{name:15}" for name in FRONT_ENDS))
    for kind, clocks, wrapper in product(KINDS, (False, True), (False, True)):
        row = [outcomes.get((kind, clocks, wrapper, name), "-") for name in FRONT_ENDS]
        shown = "".join(f"{one if len(one) < 12 else 'broken':15}" for one in row)
        print(f"{kind:15}{'node' if clocks else 'one':8}{'with' if wrapper else 'without':9}{shown}".rstrip())
    broken = {cell: one for cell, one in outcomes.items() if one not in ("joined", "refused")}
    for cell, one in broken.items():
        print(*cell, one, sep=": ")
    counted = Counter(outcomes.values())
    print(f"{counted['joined']} cells joined, {counted['refused']} refused, {len(broken)} broken")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
