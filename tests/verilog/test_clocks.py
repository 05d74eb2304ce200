"""The top level whose terminals have clocks of their own: its manifest, and its constraints against the registers."""

import hashlib
import os
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from functools import cache

import pytest

from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.fpga.harness import ports_of
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec

FABRICS = {
    "bare": fabric_spec("mesh(3)", packet_length=4, crc=True, dead_pins=True),
    "axi": fabric_spec("torus(3)", endpoints=AxiStreamSpec(max_frame=64)),
    "relay": fabric_spec("cube(2)", dead_pins=True, endpoints=RelaySpec()),
}
TOPS = {"bare": "fabric", "axi": "fabric_axi", "relay": "fabric_relay"}


@cache
def emitted(name):
    return emit_fabric(FABRICS[name], node_clocks=True)


@pytest.fixture(params=FABRICS)
def name(request):
    """Return the name of each fabric in turn."""
    return request.param


def test_all_but_the_top_level_is_as_without_clocks(name):
    fabric, plain = emitted(name), emit_fabric(FABRICS[name])
    assert {file: text for file, text in fabric.verilog.items() if "_clocks" not in file} == plain.verilog
    top = f"{TOPS[name]}_clocks"
    names = [*plain.verilog, f"{top}.sv", "fabric.core", f"{top}.xdc", f"{top}.sdc"]
    assert fabric.manifest["files"] == names
    assert fabric.manifest["top"] == fabric.top == top
    assert f"toplevel: {top}" in fabric.files["fabric.core"]
    own = {"top", "files", "modules", "clocks"}
    assert {key: value for key, value in fabric.manifest.items() if key not in own} == {
        key: value for key, value in plain.manifest.items() if key not in own
    }


def test_manifest_names_every_port_of_the_top_level(name):
    fabric, clocks = emitted(name), emitted(name).manifest["clocks"]
    declared = {
        port.name: ("input" if port.is_input else "output", port.width)
        for port in ports_of(fabric.files[clocks["file"]], fabric.top)
    }
    named = {
        re.sub(r"_N(?=_|$)", f"_{node}", pattern): (port["direction"], port["width"])
        for pattern, port in clocks["ports"].items()
        for node in range(fabric.manifest["routers"])
    }
    assert declared == named
    digest = hashlib.sha256(fabric.files[clocks["file"]].encode()).hexdigest()
    assert clocks["digest"] == f"sha256:{digest}"
    assert clocks["streams"] == (["s_axis", "m_axis"] if name == "axi" else ["inject", "eject"])


def test_one_crossing_a_node(name):
    fabric, clocks = emitted(name), emitted(name).manifest["clocks"]
    text = fabric.files[clocks["file"]]
    assert re.findall(r"^module ([^\s(]+)", text, re.MULTILINE) == [clocks["crossing_module"], fabric.top]
    found = re.findall(rf"^  {clocks['crossing_module']} crossing_(\d+) \(", text, re.MULTILINE)
    assert sorted(map(int, found)) == list(range(fabric.manifest["routers"]))


def test_constraints_name_the_registers_that_cross(name):
    """What they say is from another clock is what the other clock writes, and all of it."""
    fabric, clocks = emitted(name), emitted(name).manifest["clocks"]
    crossing = fabric.files[clocks["file"]].split("\nendmodule")[0]
    # Two pointers of two streams, two resets, and whether each side has stopped.
    check_crossings(fabric, crossing, "crossing_0", flops=8, memories=2)


def test_constraints_name_what_crosses_in_the_wires_of_a_chip():
    cut = ChipOptions(chips="dim0=2", link="parallel")
    fabric = emit_fabric(fabric_spec("torus(4)"), cut=cut)
    (wires,) = re.findall(r"^module fabric_chip_wires.*?^endmodule", fabric.files["fabric_chip.sv"], re.DOTALL | re.M)
    # Two pointers a way, two resets and whether each side has stopped, a way too.
    check_crossings(fabric, wires, "wires_0", flops=12, memories=2)
    assert fabric.manifest["chips"]["constraints"] == ["fabric_chip_pins.xdc", "fabric_chip_pins.sdc"]
    resets = {f"wires_0/{name}_reset_near" for name in ("wire", "far")}
    for suffix, ends in (("xdc", "_reg[0]"), ("sdc", "")):
        (line,) = re.findall("^set_false_path.*", fabric.files[f"fabric_chip_pins.{suffix}"], re.MULTILINE)
        cells = {name + ends for name in resets}
        assert matched(line, cells, "near") == cells


def check_crossings(fabric, text, cell, *, flops, memories):
    """Check what constraints say of the registers of a cell that take values from another clock."""
    clock_of, sources = registers(text)
    crosses = {
        register: source
        for register, source in sources.items()
        if source in clock_of and clock_of[source] != clock_of[register]
    }
    of_memories = {register: source for register, source in crosses.items() if source.endswith("words")}
    of_flops = crosses.keys() - of_memories.keys()
    assert (len(of_memories), len(of_flops)) == (memories, flops)
    xdc, sdc = (fabric.files[f"{fabric.top}.{suffix}"] for suffix in ("xdc", "sdc"))
    for lines, suffix in ((xdc, "_reg"), (sdc, "")):
        near, data = ({f"{cell}/{register}{suffix}[0]" for register in each} for each in (of_flops, of_memories))
        assert matched(lines, near | data, "near") == near
        assert matched(lines, near | data, "payload") == data
    everything = {f"{cell}/{register}_reg[0]" for register in clock_of}
    named = set().union(*(matched(xdc, everything, kind) for kind in ("code", "asks", "stop", "words")))
    assert {f"{cell}/{source}_reg[0]" for source in crosses.values()} == named


def registers(text):
    """Return the clock of each register and memory, and the register or memory that it takes its value from."""
    plain = re.sub(r"\\(\S+) ", r"\1", text)
    written = r"always @\(posedge (?:[\w.]+\.)?(\w+_clk|clk_i)\)(?: begin)?\s+(?:if \(\S+\)\s+)?(\S+?)(?:\[\S+\])? <="
    clock_of = {register: clock for clock, register in re.findall(written, plain)}
    sources = dict(re.findall(r"^    (\S+) <= (\S+);$", plain, re.MULTILINE))
    reads = dict(re.findall(r"assign (\S+)\.read__data = (\S+?)\[", plain))
    sources |= {f"{queue}.payload": memory for queue, memory in reads.items()}
    return clock_of, sources


def matched(text, names, kind):
    """Return those of some cells that the patterns with a word in them match."""
    patterns = {pattern for pattern in re.findall(r"\*(?:crossing|wires)_[^\s}]+", text) if kind in pattern}
    assert patterns
    return {name for name in names if any(fnmatchcase(name.replace("[0]", ""), each) for each in patterns)}


def test_synchronizers_are_marked_for_the_placer(name):
    text = emitted(name).files[emitted(name).manifest["clocks"]["file"]]
    marked = re.findall(r'\(\* ASYNC_REG = "TRUE" \*\)\n  reg (?:\[\d+:0\] )?\\?(\S+)', text)
    assert len(marked) == 16
    assert all(re.search(r"_(near|seen)$", register) for register in marked)


def test_a_fabric_of_one_clock_takes_its_place(tmp_path):
    write_fabric(emitted("axi"), tmp_path)
    assert (tmp_path / "fabric_axi_clocks.xdc").exists()
    write_fabric(emit_fabric(FABRICS["axi"]), tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"fabric.sv", "fabric_axi.sv", "fabric.core", "manifest.json"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"endpoints": CollectiveSpec()},
            "node clocks are for terminals that are streams alone, not for collective engines",
        ),
        (
            {"endpoints": ExchangeSpec()},
            "node clocks are for terminals that are streams alone, not for generators of a total exchange",
        ),
        (
            {"gapless_packets": True},
            "node clocks do not go with gapless packets: a flit may come a cycle later from another clock",
        ),
    ],
)
def test_what_does_not_go_with_node_clocks(options, message):
    with pytest.raises(SpecError, match=f"^{message}$"):
        emit_fabric(fabric_spec("hdn(cube(1), [[]])", **options), node_clocks=True)


@pytest.mark.parametrize("options", ["--node-clocks", "--node-clocks --endpoints axi4", "--endpoints collective"])
def test_the_text_does_not_depend_on_how_python_orders_sets(options, tmp_path):
    folders = [tmp_path / seed for seed in ("1", "2")]
    for folder in folders:
        line = [sys.executable, "-m", "hdnhw", "emit", "rdn(cube(1), 1)", "-o", str(folder), *options.split()]
        subprocess.run(line, check=True, env=os.environ | {"PYTHONHASHSEED": folder.name}, stdout=subprocess.DEVNULL)
    one, other = ({path.name: path.read_text() for path in folder.iterdir()} for folder in folders)
    assert one == other
