"""The FuseSoC core file, as FuseSoC reads and runs it."""

import os
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.support.processes import Budget
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec

SPECS = {
    "noc": fabric_spec("hdn(cube(1), [[0]])", packet_length=2, flit_width=8),
    "fabric": fabric_spec("complete(2)", packet_length=4, endpoints=AxiStreamSpec(max_frame=16)),
}
"""Name of the fabric -> its spec: one bare, one with endpoints."""
SECONDS = 120
"""Of CPU time, far more than FuseSoC takes."""
SOURCES = {"noc": ["noc.sv"], "fabric": ["fabric.sv", "fabric_axi.sv"]}
TOPS = {"noc": "noc", "fabric": "fabric_axi"}

USER = """CAPI=2:
name: "user:design:chip:1.0"
filesets:
  rtl:
    files: [chip.sv]
    file_type: systemVerilogSource
    depend: ["hdnhw:fabric:noc"]
targets:
  default: &default
    filesets: [rtl]
    toplevel: chip
  lint:
    <<: *default
    flow: lint
    flow_options: {tool: verilator}
"""
CHIP = """module chip (input clk, input rst, output [15:0] dropped);
  noc network (.clk(clk), .rst(rst), .dropped_0(dropped)
    {pins}
  );
endmodule
"""


@pytest.fixture(scope="module", params=["noc", "fabric"])
def name(request):
    """Return the name of each fabric in turn."""
    return request.param


@pytest.fixture
def library(name, tmp_path):
    """Return the folder of an emitted fabric."""
    write_fabric(emit_fabric(SPECS[name], top=name), tmp_path / "library")
    return tmp_path / "library"


def fusesoc(library, *arguments):
    """Run FuseSoC on a folder of cores as docs say, with no configuration of the user's; return what it said."""
    homes = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    environment = os.environ | dict.fromkeys(homes, str(library.parent))
    tools = str(Path(sys.executable).with_name("hdnhw-tools"))
    command = [tools, "fusesoc", "--cores-root", str(library), *arguments]
    done = Budget(SECONDS).run(command, env=environment, cwd=library.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def setup(library, name, target):
    """Let FuseSoC make the build tree of a target; return what it hands to the tool, and the tree."""
    tree = library.parent / target
    fusesoc(library, "run", "--setup", f"--target={target}", f"--work-root={tree}", f"hdnhw:fabric:{name}")
    (description,) = tree.glob("*.eda.yml")
    return yaml.safe_load(description.read_text()), tree


def test_fusesoc_lists_the_core(library, name):
    said = fusesoc(library, "core", "show", f"hdnhw:fabric:{name}")
    assert f"hdnhw:fabric:{name}:{version('hdnhw')}" in said
    assert f"{SPECS[name].network}: " in said
    assert all(f"\n{target}" in said for target in ("default", "lint", "synth"))


@pytest.mark.parametrize("target", ["lint", "synth"])
def test_fusesoc_hands_the_verilog_to_the_tool(library, name, target):
    design, tree = setup(library, name, target)
    assert design["toplevel"] == TOPS[name]
    files = design["files"]
    assert [Path(file["name"]).name for file in files] == SOURCES[name]
    assert {file["file_type"] for file in files} == {"systemVerilogSource"}
    for file in files:
        assert (tree / file["name"]).read_bytes() == (library / Path(file["name"]).name).read_bytes()


def test_synth_is_yosys_for_ecp5(library, name):
    _, tree = setup(library, name, "synth")
    script = (tree / "edalize_yosys_template.tcl").read_text() + (tree / "edalize_yosys_procs.tcl").read_text()
    assert "synth_ecp5" in script
    assert TOPS[name] in script
    places = [script.index(f"/{source}") for source in SOURCES[name]]
    assert places == sorted(places)


def test_lint_runs_and_has_nothing_to_say(library, name):
    said = fusesoc(library, "run", "--target=lint", f"--work-root={library.parent / 'lint'}", f"hdnhw:fabric:{name}")
    assert "verilator -f" in said
    assert "Warning" not in said


def test_a_design_can_depend_on_it(tmp_path):
    fabric = emit_fabric(SPECS["noc"], top="noc")
    library = tmp_path / "library"
    write_fabric(fabric, library)
    nodes = range(fabric.manifest["routers"])
    widths = {name: port["width"] for name, port in fabric.manifest["ports"].items() if port["direction"] == "input"}
    inputs = [(port.replace("_N", f"_{node}"), width) for port, width in widths.items() for node in nodes]
    pins = [f", .{port}({width}'d0)" for port, width in inputs if "_" in port]
    outputs = [name for name, port in fabric.manifest["ports"].items() if port["direction"] == "output"]
    ports = [port.replace("_N", f"_{node}") for port in outputs for node in nodes]
    pins += [f", .{port}()" for port in ports if port != "dropped_0"]
    (library / "chip.sv").write_text(CHIP.format(pins="\n    ".join(pins)))
    (library / "chip.core").write_text(USER)
    said = fusesoc(library, "run", "--target=lint", f"--work-root={tmp_path / 'lint'}", "user:design:chip")
    assert "Warning" not in said
    (tool,) = (tmp_path / "lint").glob("*.vc")
    assert tool.read_text().index("/noc.sv") < tool.read_text().index("/chip.sv")


def test_a_line_of_text_is_quoted(emitted):
    core = yaml.safe_load(emitted("two levels").files["fabric.core"].removeprefix("CAPI=2:\n"))
    assert core["description"] == "Network on chip hdn(cube(1), [[0], [0]]): 16 routers"
    assert core["name"] == emitted("two levels").manifest["core"]


def test_wrappers_come_with_the_core(tmp_path):
    library, flags = tmp_path / "library", {False: [], True: ["--flag", "vhdl"]}
    write_fabric(emit_fabric(SPECS["noc"], top="noc", wrapper=True), library)
    for vhdl, flag in flags.items():
        tree = tmp_path / f"tree-{vhdl}"
        fusesoc(library, "run", "--setup", "--tool=verilator", *flag, f"--work-root={tree}", "hdnhw:fabric:noc")
        (description,) = tree.glob("*.eda.yml")
        files = yaml.safe_load(description.read_text())["files"]
        assert [(Path(file["name"]).name, file["file_type"]) for file in files] == [
            ("noc.sv", "systemVerilogSource"),
            ("noc.svh", "systemVerilogSource"),
            ("noc_wrap.sv", "systemVerilogSource"),
            ("noc_flat.v", "verilogSource"),
            *[("noc_pkg.vhd", "vhdlSource"), ("noc_vhdl.vhd", "vhdlSource")] * vhdl,
        ]
        assert files[1]["is_include_file"]


@pytest.mark.parametrize(("tool", "suffix", "file_type"), [("vivado", "xdc", "xdc"), ("quartus", "sdc", "SDC")])
def test_constraints_of_crossings_go_to_their_tool(tool, suffix, file_type, tmp_path):
    write_fabric(emit_fabric(SPECS["noc"], top="noc", node_clocks=True), tmp_path / "library")
    tree = tmp_path / "tree"
    fusesoc(tmp_path / "library", "run", "--setup", f"--tool={tool}", f"--work-root={tree}", "hdnhw:fabric:noc")
    (description,) = tree.glob("*.eda.yml")
    files = yaml.safe_load(description.read_text())["files"]
    assert [(Path(file["name"]).name, file["file_type"]) for file in files] == [
        ("noc.sv", "systemVerilogSource"),
        ("noc_clocks.sv", "systemVerilogSource"),
        (f"noc_clocks.{suffix}", file_type),
    ]
