"""The wrappers of a fabric: as tools read them, and run beside the fabric that they are around."""

import re
import shutil
import subprocess

import pytest

from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.fpga.harness import ports_of
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec
from tests.verilog import beside, readers


@pytest.fixture(scope="module", params=readers.VARIANTS)
def wrapped(request, tmp_path_factory):
    """Return each fabric in turn with its wrappers, and the folder that it is in."""
    folder = tmp_path_factory.mktemp("wrapped")
    fabric = readers.emitted(request.param, wrapper=True)
    write_fabric(fabric, folder)
    return fabric, folder


def test_tools_have_nothing_to_say(wrapped):
    assert readers.said_of_wrappers(*wrapped) == []


CONSTANTS = (
    "NODES",
    "ADDRESS_WIDTH",
    "FLIT_WIDTH",
    "PACKET_LENGTH",
    "MAX_FRAME",
    "S_AXIS_TDATA_WIDTH",
    "HEADER_SRC_OFFSET",
    "KIND_GRANT",
    "REGISTER_CONTROL",
    "REGISTER_NODE_BASE",
    "NODE_REGISTER_ADDRESS",
)
VALUES = (5, 3, 16, 6, 64, 16, 3, 2, 28, 0x40000, 20)
"""Of the fabric with holes between its addresses, as the pages and decisions say."""


@pytest.fixture(scope="module")
def holes(tmp_path_factory):
    """Return the folder of a fabric some of whose addresses name no node."""
    folder = tmp_path_factory.mktemp("holes")
    endpoints = AxiStreamSpec(max_frame=64)
    spec = fabric_spec("torus(5)", flit_width=16, packet_length=6, endpoints=endpoints)
    fabric = emit_fabric(spec, top="noc", wrapper=True)
    write_fabric(fabric, folder)
    expected = dict(zip(CONSTANTS, VALUES, strict=True))
    return folder, expected | {f"of_{node}": fabric.machine.address.of_node(node) for node in range(5)}


def test_constants_in_verilog(holes):
    folder, expected = holes
    shown = [f'$display("{name} %0d", NOC_AXI_{name});' for name in CONSTANTS]
    shown += [f'$display("of_{n} %0d", NOC_AXI_ADDRESS_OF_NODE[{n}*NOC_AXI_ADDRESS_WIDTH +: 3]);' for n in range(5)]
    bench = '`include "noc_axi.svh"\n  initial begin\n' + "\n".join(shown) + "\n$finish;\nend\n"
    assert beside.run(f"module bench;\n{bench}endmodule\n", [], folder) == expected


@pytest.mark.skipif("ghdl" not in readers.PRESENT, reason="no GHDL for this processor")
def test_constants_in_vhdl(holes):
    folder, expected = holes
    shown = [f'report "{name} " & integer\'image({name});' for name in CONSTANTS]
    shown += [f'report "of_{n} " & integer\'image(to_integer(unsigned(ADDRESS_OF_NODE({n}))));' for n in range(5)]
    libraries = "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\nuse work.noc_axi_pkg.all;\n"
    process = "begin process begin\n" + "\n".join(shown) + "\nwait; end process; end architecture;\n"
    text = f"{libraries}entity bench is end entity;\narchitecture a of bench is\n{process}"
    (folder / "bench.vhd").write_text(text)
    ghdl = shutil.which("ghdl", path=readers.BESIDE)
    subprocess.run([ghdl, "-a", "noc_axi_pkg.vhd", "bench.vhd"], cwd=folder, check=True)
    done = subprocess.run([ghdl, "--elab-run", "bench"], cwd=folder, capture_output=True, text=True, check=True)
    found = re.findall(r"note\): (\w+) (\d+)$", done.stdout + done.stderr, re.MULTILINE)
    assert {name: int(value) for name, value in found} == expected


def test_manifest_names_the_wrappers_and_an_emission_without_removes_them(tmp_path):
    spec = fabric_spec("complete(2)", packet_length=1, flit_width=1)
    fabric, bare = emit_fabric(spec, wrapper=True), emit_fabric(spec)
    wrappers = ["fabric.svh", "fabric_wrap.sv", "fabric_flat.v", "fabric_pkg.vhd", "fabric_vhdl.vhd"]
    assert fabric.manifest["files"] == ["fabric.sv", *wrappers, "fabric.core"]
    entry = fabric.manifest["wrappers"]
    assert [entry["constants"], entry["packed"]["file"], entry["flat"]["file"], *entry["vhdl"]["files"]] == wrappers
    for kind, name in (("packed", "module"), ("flat", "module")):
        assert f"\nmodule {entry[kind][name]} (" in fabric.files[entry[kind]["file"]]
    assert list(fabric.verilog) == ["fabric.sv"]
    (tmp_path / "mine.vhd").touch()
    for one in (fabric, bare):
        write_fabric(one, tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {*one.files, "mine.vhd"}
    assert "wrappers" not in bare.manifest


def broken(fabric):
    """Return the packed wrapper as module ``broken``, in which two outputs are exchanged, of nodes if need be."""
    wrapper = fabric.manifest["wrappers"]["packed"]
    text = fabric.files[wrapper["file"]].replace(f"module {wrapper['module']} (", "module broken (")
    changed = re.sub(r"(\w+_0_(?:t|aw)?ready\(\w+)\[0\]", r"\1[1]", text)
    changed = re.sub(r"(\w+_1_(?:t|aw)?ready\(\w+)\[1\]", r"\1[0]", changed)
    for one, other in (("received", "wrong"), ("cpu_awready", "cpu_arready")):
        changed = changed.replace(f".{one}({one})", f".{one}({other})")
        changed = changed.replace(f".{other}({other})", f".{other}({one})")
    return changed


def in_verilog(fabric, folder):
    """Return the wrapper in VHDL as GHDL makes Verilog of it."""
    entity = fabric.manifest["wrappers"]["vhdl"]["entity"]
    files = [path.name for path in readers.vhdl_files(fabric, folder)]
    command = [shutil.which("ghdl", path=readers.BESIDE), "--synth", "--std=93", "-Wno-binding", "--out=verilog"]
    done = subprocess.run([*command, *files, "-e", entity], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_wrappers_do_what_the_fabric_does(wrapped):
    fabric, folder = wrapped
    wrappers = fabric.manifest["wrappers"]
    modules = [wrappers["packed"]["module"], wrappers["flat"]["module"]]
    texts = {"broken.sv": broken(fabric)}
    if "ghdl" in readers.PRESENT:
        modules.append(wrappers["vhdl"]["entity"])
        texts["converted.v"] = in_verilog(fabric, folder)
    for name, text in texts.items():
        (folder / name).write_text(text)
    pins = beside.wrapper_pins(ports_of(fabric.files[f"{fabric.top}.sv"], fabric.top))
    moved, faults = beside.compare(
        fabric,
        [beside.Beside(name, pins) for name in (*modules, "broken")],
        [wrappers["packed"]["file"], wrappers["flat"]["file"], *texts],
        folder,
    )
    assert moved > 100
    assert faults.pop("broken") > 0
    assert faults == dict.fromkeys(modules, 0)
