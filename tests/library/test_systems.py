"""Systems of AXI4 blocks: files and their faults, places by traffic, address maps, and bursts in a simulator."""

import json
import re
import subprocess
import tomllib
from dataclasses import replace
from functools import cache, reduce
from itertools import permutations
from pathlib import Path

import fdt
import jschon
import numpy as np
import pytest
import yaml
from amaranth.hdl import Const
from peakrdl_cheader.exporter import CHeaderExporter
from systemrdl import RDLCompiler

import hdnhw
from hdnhw.endpoints.axi4 import accesses, lanes, requester, streams
from hdnhw.endpoints.axi4.accesses import AccessPlayer
from hdnhw.endpoints.axi4.bench import MemoryBench
from hdnhw.endpoints.axi4.emitted_map import device_tree, system_rdl
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi4.spec_blocks import KINDS, Block
from hdnhw.endpoints.axi4.splitter import BurstSplitter
from hdnhw.fpga.tools import ToolError
from hdnhw.library.system_file import EXAMPLE, SCHEMA_FILE, read_system, schema
from hdnhw.library.systems import placed
from hdnhw.networks.parse import parse
from hdnhw.networks.placing import place
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.support.manifest import top_ports
from hdnhw.verilog.component import fabric_component
from hdnhw.verilog.fabric import check_place, emit_fabric, write_fabric
from tests.verilog.frontends import elaborate, is_of

SYSTEM = EXAMPLE.format(schema=SCHEMA_FILE, file="soc.toml", name="soc", kinds="")


@pytest.fixture
def soc(tmp_path):
    """Return ``soc(text)``: the path of a file with this text."""

    def soc(text=SYSTEM):
        path = tmp_path / "soc.toml"
        path.write_text(text)
        return path

    return soc


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('name = "soc"', 'name = "soc', 3, "Illegal character"),
        ("outstanding = 8", "outstanding = 3", 8, "outstanding must be a power of two from 1 to 16, not 3"),
        ("outstanding = 8", "outstandin = 8", 8, "there is no 'outstandin' (did you mean outstanding?)"),
        ("outstanding = 8", 'crossbar = "both"', 8, "crossbar must be one of crosspoint, output, not 'both'"),
        ('# network = "torus(2, 3)"', 'network = "torus(2, x)"', 4, "x"),
        ("# address_width = 32", "address_width = 31", 21, "addresses of ram go up to 0x800fffff, beyond the 31 bits"),
        ('kind = "axi4-manager"      #', 'kind = "axi4-master" #', 12, "kind must be one of axi4-manager, axi4-sub"),
        ("data_width = 64\nid", "data_width = 65\nid", 13, "data_width must be a power of two from 8 to 1024 bits"),
        ("id_width = 4", "id_widht = 4", 14, "there is no 'id_widht'"),
        ("ram = 8", "rom = 8", 15, "there is no 'rom'"),
        ("ram = 8", "ram = -8", 15, "traffic to ram must be"),
        ('name = "dma"', 'name = "cpu"', 17, "two blocks are named 'cpu'"),
        ('name = "dma"', 'name = "DMA"', 18, "name must be small letters"),
        ('"1M"', '"1T"', 25, "ranges must have a base such as"),
        ('"1M"', '"24K"', 25, "ranges must have sizes that are powers of two from 4096 bytes, not 0x6000"),
        ("0x8000_0000", "0x8000_1000", 25, "ranges must have bases that are multiples of their sizes, not 0x80001000"),
        ("0x8000_0000", "0x1000_0000", 27, "have the address 0x10000000 in common"),
        ('kind = "axi4-subordinate"', 'kind = "axi4-manager"', 25, "ranges must not be given for an axi4-manager"),
        ('clock = "slow"', 'clock = "slow clock"', 30, "clock must be small letters"),
        ("# node = 3", "data_width = 16", 32, "data_width must be 32 or 64 bits for AXI4-Lite, not 16"),
        ("# node = 3", "node = -1", 32, "node must be 0 to 1023, not -1"),
        ("# node = 3", "id_width = 2", 32, "id_width must not be given for an axi4-lite-subordinate"),
        ('name = "uart"', 'name = "aclk"', 28, "name must not be that of a clock, reset or monitor, 'aclk'"),
        ('"1M" }', '"1M" }, { base = 0x8000_0000_8000_0000, size = "1M" }', 25, "these differ in 64"),
        ('"4K" }', '"4K" }, { base = 0x1000_0000, size = "4K" }', 27, "uart and uart have the address 0x10000000"),
        ('name = "soc"', "# a separator of lines in Unicode: \u2028\nnom = 1", 4, "there is no 'nom'"),
        ("# address_width = 32", "user_width = 65", 5, "user_width must be 0 to 64 bits, not 65"),
        ("# node = 3", "reset = 1", 32, "reset must be True or False, not 1"),
        (
            "# node = 3",
            'to = "ram"',
            32,
            "to must not be given for an axi4-lite-subordinate: only an axi-stream-source",
        ),
        (
            'name = "dma"\nkind = "axi4-manager"',
            f'name = "dma"\nkind = "{KINDS[4]}"',
            17,
            "the source dma must have a sink",
        ),
        (
            'name = "dma"\nkind = "axi4-manager"',
            f'name = "dma"\nto = "ram"\nkind = "{KINDS[4]}"',
            19,
            "to must be the name of a stream's sink, not 'ram'",
        ),
        (
            'name = "uart"\nkind = "axi4-lite-',
            f'name = "uart"\nkind = "{KINDS[5]}" # "',
            31,
            "ranges must not be given",
        ),
        (
            'name = "dma"\nkind = "axi4-manager"',
            f'name = "dma"\nkind = "{KINDS[5]}"',
            17,
            "sink dma must have a source",
        ),
    ],
)
def test_each_fault_of_a_file_is_refused_with_its_line(soc, old, new, line, says):
    assert SYSTEM.count(old) == 1
    with pytest.raises(SpecError, match=re.escape(says)) as refused:
        read_system(soc(SYSTEM.replace(old, new)))
    assert re.match(rf".*soc\.toml:{line}: ", str(refused.value)), refused.value
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("# node = 3", "node = 4", "node of uart must be below the 4 of cube(2), not 4"),
        ("outstanding = 8", "flit_width = 32", "flit_width must be at least the 64 bits of cpu, not 32"),
        ("# network", "network = 'torus(3)' #", "network must have 4 to 1024 nodes for these blocks"),
    ],
)
def test_what_does_not_go_together_is_refused(soc, old, new, says):
    text = SYSTEM.replace(old, new).replace("# network", 'network = "cube(2)" #')
    with pytest.raises(SpecError, match=re.escape(says)):
        hdnhw.system(soc(text))


@pytest.mark.filterwarnings("ignore:Please use rfc3986:DeprecationWarning")
def test_the_schema_takes_what_is_right_and_refuses_what_is_not(tmp_path):
    hdnhw.system(tmp_path / "soc.toml", new=True)
    jschon.create_catalog("2020-12")
    known = jschon.JSONSchema(json.loads((tmp_path / SCHEMA_FILE).read_text()))
    assert known.validate().valid
    assert schema() == known.value

    def is_right(text):
        return known.evaluate(jschon.JSON(tomllib.loads(text))).valid

    assert is_right((tmp_path / "soc.toml").read_text())
    assert is_right((Path(__file__).parents[2] / "examples" / "system" / "soc.toml").read_text())
    for old, new in (
        ("id_width", "id_widht"),
        ("outstanding = 8", "outstanding = 0"),
        ("ram = 8", "ram = -8"),
        ("64", "2"),
    ):
        assert not is_right(SYSTEM.replace(old, new)), new


def test_a_file_is_not_written_over(soc):
    with pytest.raises(SpecError, match="is there already"):
        hdnhw.system(soc(), new=True)


@pytest.mark.parametrize(("file", "name"), [("my-soc.toml", "mysoc"), ("new.toml", "soc"), ("3d.toml", "soc")])
def test_an_example_has_a_name_that_a_module_may_have(tmp_path, file, name):
    hdnhw.system(tmp_path / "other.toml", new=True)
    hdnhw.system(tmp_path / file, new=True)
    assert hdnhw.system(tmp_path / file).name == name


def test_managers_stand_beside_what_they_use_most(soc):
    machine, hops = placed(read_system(soc()))
    made = {block.name: block.node for block in machine.endpoints.blocks}
    assert 1 <= hops < 1.1
    assert bin(made["cpu"] ^ made["ram"]).count("1") == 1
    assert len({*made.values()}) == 4


def test_a_placement_is_as_good_as_the_best_of_all():
    """Of few blocks; fixed ones stay."""
    rng = np.random.default_rng(7)
    ring = np.array([[min((a - b) % 6, (b - a) % 6) for b in range(6)] for a in range(6)])
    worse = 0
    for _ in range(20):
        half = np.triu(rng.integers(0, 9, (4, 4)), 1).astype(float)
        traffic = half + half.T
        nodes, cost = place(ring, traffic, {0: 2})
        assert nodes[0] == 2
        assert len({*nodes}) == 4
        every = [(2, *rest) for rest in permutations([0, 1, 3, 4, 5], 3)]
        least = min((traffic * ring[np.ix_(one, one)]).sum() / 2 for one in every)
        assert cost == pytest.approx((traffic * ring[np.ix_(nodes, nodes)]).sum() / 2)
        assert cost <= 1.3 * least
        worse += cost > least
    assert worse <= 4


def test_what_is_written_beside_the_verilog(soc, tmp_path):
    """Each block stands in the picture; what is not asked for again is removed."""
    both = (f'name = "{name}"' for name in ("cpu", "ram"))
    text = reduce(lambda text, name: text.replace(name, f"{name}\nnode = 1"), both, SYSTEM)
    file, folder = soc(text), tmp_path / "out"
    plain = {Path(one).name for one in hdnhw.system(file, output=folder).files}
    blocks = hdnhw.system(file).blocks
    shown = re.findall(r"bold\">([\w ]+)<", (folder / "soc.svg").read_text())
    assert "cpu ram" in shown
    assert sorted(" ".join(shown).split()) == sorted(block["name"] for block in blocks)
    more = {Path(one).name for one in hdnhw.system(file, output=folder, wrapper=True, readable=True).files}
    assert more - plain == {
        "soc_readable.txt",
        *(f"soc_system{end}" for end in (".svh", "_wrap.sv", "_flat.v", "_pkg.vhd", "_vhdl.vhd")),
    }
    hdnhw.system(file, output=folder, no_initial=True)
    assert {path.name for path in folder.iterdir()} == plain
    assert "initial" not in (folder / "soc_system.sv").read_text()


def test_the_map_is_read_back_by_its_own_tools(soc, tmp_path):
    text = SYSTEM.replace('size = "1M" }', 'size = "1M" }, { base = 0x9000_0000, size = "8K" }')
    hdnhw.system(soc(text), output=tmp_path / "out")
    compiler = RDLCompiler()
    compiler.compile_file(str(tmp_path / "out" / "soc.rdl"))
    found = {one.inst_name: (one.absolute_address, one.size) for one in compiler.elaborate().top.children()}
    assert found == {
        "uart_mem": (0x1000_0000, 0x1000),
        "ram_mem_0": (0x8000_0000, 0x10_0000),
        "ram_mem_1": (0x9000_0000, 0x2000),
    }
    tree = fdt.parse_dts("/dts-v1/;\n" + (tmp_path / "out" / "soc.dtsi").read_text())
    nodes = fdt.parse_dtb(tree.to_dtb(version=17)).get_node("/soc").nodes
    assert {node.name: [*node.get_property("reg")] for node in nodes} == {
        "uart@10000000": [0x1000_0000, 0x1000],
        "ram@80000000": [0x8000_0000, 0x10_0000, 0x9000_0000, 0x2000],
    }
    header, program = tmp_path / "soc.h", tmp_path / "soc.c"
    CHeaderExporter().export(compiler.elaborate().top, path=str(header))
    asserts = [f'_Static_assert(offsetof(soc_t, {name}) == {at}, "");' for name, (at, _) in found.items()]
    program.write_text("\n".join(["#include <stddef.h>", '#include "soc.h"', *asserts, ""]))
    subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", program], check=True)


def test_a_map_has_each_name_once_and_sizes_of_more_than_a_cell():
    blocks = [
        Block(name="a", kind="axi4-subordinate", ranges=((0x0, 0x1000), (0x2000, 0x1000))),
        Block(name="a_1", kind="axi4-subordinate", ranges=((0x8000, 0x1000),)),
    ]
    names = re.findall(r"(\w+) @", system_rdl("soc", tuple(blocks)))
    assert sorted(names) == ["a_1_mem", "a_mem_0", "a_mem_1"]
    whole = Block(name="ram", kind="axi4-subordinate", ranges=((0, 1 << 32),))
    assert "reg = <0x0 0x0 0x1 0x0>;" in device_tree("soc", (whole,), 32)


def system_of(*blocks, **options):
    endpoints = AxiMemorySpec(memory_bits=12, outstanding=1, blocks=blocks, **options)
    return FabricSpec(network=parse("cube(1)"), gapless_packets=True, endpoints=endpoints)


def test_each_module_is_there_once_whatever_blocks_are_named():
    spec = system_of(
        {"name": "a", "kind": "axi4-manager", "node": 0},
        {"name": "b", "kind": "axi4-subordinate", "node": 0, "ranges": [[0, 0x1000]]},
        {"name": "a_b", "kind": "axi4-manager", "node": 1},
        {"name": "crossing", "kind": "axi4-subordinate", "node": 1, "ranges": [[0x1000, 0x1000]], "clock": "slow"},
    )
    fabric = emit_fabric(spec, top="soc")
    units = fabric.endpoints.units
    found = re.findall(r"^module (\w+)", fabric.files["soc_system.sv"], re.MULTILINE)
    assert units == ["soc_system_node"]  # both nodes are alike
    assert sorted(found) == sorted([*units, "soc_system_crossing", "soc_system"])
    with pytest.raises(SpecError, match="written as Verilog alone"):
        fabric_component(spec)


def test_a_design_joins_all_ports_by_the_file_of_wires(tmp_path):
    spec = system_of(
        {"name": "cpu", "kind": "axi4-manager", "node": 0, "clock": "fast", "reset": True},
        {"name": "ram", "kind": "axi4-subordinate", "node": 0, "ranges": [[0, 0x1000]]},
        {"name": "mic", "kind": "axi-stream-source", "node": 2},
        {"name": "adc", "kind": "axi-stream-source", "node": 1, "clock": "fast"},
        {"name": "audio", "kind": "axi-stream-sink", "node": 1},
    )
    fabric = emit_fabric(replace(spec, network=parse("torus(3)")), top="noc")
    write_fabric(fabric, tmp_path)
    clocks = "aclk", "aresetn", "aclk_fast", "aresetn_fast"
    lines = [f"module chip (input {', '.join(clocks)});", '`include "noc_system_wires.svh"', "noc_system noc (.*);"]
    streams = fabric.manifest["endpoints"]["streams"]
    assert streams == {"sources": {"mic": 0, "adc": 1}, "sinks": {"audio": 0}}
    lines += [
        'if (MIC_TID != 0 || ADC_TID != 1 || AUDIO_TDEST != 0) $error("a stream has another number");',
        "endmodule",
    ]
    (tmp_path / "chip.sv").write_text("\n".join(lines))
    files = [tmp_path / name for name in ("noc.sv", "noc_system.sv", "chip.sv")]
    compilation, found = elaborate(files, "chip", f"-Wextra -Werror -I{tmp_path}"), []
    compilation.getRoot().visit(lambda one: found.append(one) if is_of(one, "noc_system") else None)
    joined = {one.port.name for one in found[0].portConnections if one.expression is not None}
    assert joined == top_ports(fabric.manifest).keys()
    core = yaml.safe_load((tmp_path / "noc.core").read_text().removeprefix("CAPI=2:\n"))
    assert core["filesets"]["rtl"]["files"][0] == {"noc_system_wires.svh": {"is_include_file": True}}
    assert {"noc_system_wires.svh", "noc.rdl", "noc.dtsi"} <= check_place(tmp_path, top="noc")


def test_the_test_of_a_system_knows_the_room_of_its_ranges():
    """No address is of nobody where the ranges are all; and bursts of wide blocks need more."""
    ram = {"name": "ram", "kind": "axi4-subordinate", "node": 0, "ranges": [[0, 0x1000]]}
    cpus = [{"name": f"cpu_{node}", "kind": "axi4-manager", "node": node, "data_width": 1024} for node in range(2)]
    spec = system_of(ram, *cpus, address_width=12)
    whole = MemoryBench.of(emit_fabric(replace(spec, flit_width=1024), top="soc"))
    case = whole.make_case(bursts=200, seed=1)
    assert not any(whole.response(burst, 0) == 3 for one in case["threads"][0] for burst in one)
    cpus += [{**cpus[0], "name": f"cpu_{node}", "node": node} for node in (2, 3)]
    spec = replace(system_of(ram, *cpus, address_width=12), network=parse("cube(2)"), flit_width=1024)
    with pytest.raises(SpecError, match="ranges must have at least 6144 bytes for the test of this system, not 4096"):
        MemoryBench.of(emit_fabric(spec, top="soc"))


BLOCKS = (
    {"name": "cpu", "kind": "axi4-manager", "node": 0, "id_width": 2, "reset": True},
    {"name": "host", "kind": "axi4-lite-manager", "node": 1, "clock": "slow", "reset": True},
    {
        "name": "ram",
        "kind": "axi4-subordinate",
        "data_width": 16,
        "node": 1,
        "ranges": [[0x80000, 0x8000], [0x8000, 0x8000]],
        "reset": True,
    },
    {"name": "uart", "kind": "axi4-lite-subordinate", "node": 0, "ranges": [[0x4000, 0x1000]], "reset": True},
)
STREAMS = (
    {"name": "cpu", "kind": "axi4-manager", "node": 0, "id_width": 2, "reset": True},
    {"name": "show", "kind": "axi-stream-sink", "node": 0, "data_width": 16, "reset": True},
    {"name": "cam", "kind": "axi-stream-source", "node": 1, "data_width": 8, "reset": True, "clock": "slow"},
    {"name": "ram", "kind": "axi4-subordinate", "node": 1, "ranges": [[0x8000, 0x8000]], "reset": True},
    {"name": "mic", "kind": "axi-stream-source", "node": 2, "to": "show"},
    {"name": "disk", "kind": "axi-stream-sink", "node": 2},
    {"name": "log", "kind": "axi-stream-sink", "node": 3},
)


SYSTEMS = {"bursts": (BLOCKS, "cube(1)", 64), "frames": (STREAMS, "cube(2)", 32)}


@cache
def bench(system="bursts", bits=20):
    blocks, network, width = SYSTEMS[system]
    endpoints = AxiMemorySpec(memory_bits=bits, id_width=2, outstanding=2, user_width=2, blocks=blocks)
    spec = FabricSpec(network=parse(network), flit_width=width, gapless_packets=True, endpoints=endpoints)
    return MemoryBench.of(emit_fabric(spec, top="soc"))


@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
def test_bursts_and_frames_of_a_system_come_out_whole(name, resets):
    """Two blocks a node, of all kinds, widths and clocks, two ranges, addresses of nobody; and blocks reset alone."""
    system = bench(name)
    verdict = system.run_case(system.make_case(bursts=300, seed=1, resets=resets)).verdict
    assert verdict.passed, verdict
    assert verdict.refused
    assert bool(verdict.frames) == (name == "frames")
    assert bool(verdict.ended) == bool(verdict.resets) == resets


def test_sinks_that_take_nothing_stop_no_burst():
    system = bench("frames")
    verdict = system.run_case(system.make_case(bursts=200, seed=3, hold=10**6)).verdict
    assert verdict.lost_frames
    assert replace(verdict, lost_frames=0).passed, verdict


DECODED, BEHIND = BurstSplitter._elaborate_node, lanes.behind
FIELDS = requester.place_fields

FAULTS = {
    "beats of a byte": (lanes, "behind", lambda m, channel, at, _size: BEHIND(m, channel, at, Const(0, 3))),
    "lane of another beat": (lanes, "chosen_from", lambda words, _lane: words[0]),
    "access to the first lane": (accesses, "chosen_from", lambda words, _lane: words[0]),
    "size of the wide port": (AccessPlayer, "_size", lambda _self, burst: burst.size),
    "the other node": (BurstSplitter, "_elaborate_node", lambda *given: (DECODED(*given)[0], ~DECODED(*given)[1])),
    "no address is refused": (BurstSplitter, "_elaborate_node", lambda *given: (Const(1), DECODED(*given)[1])),
    "base left out": (Block, "window", property(lambda _self: 16)),
}
OF_STREAMS = {
    "no attributes": (requester, "place_fields", lambda memory: FIELDS(memory)[:5]),
    "frames to no sink": (streams, "below", lambda *_: Const(1)),
}


def is_seen(system, case):
    system.build.make()
    try:
        return not system.run_case(case).verdict.passed
    except ToolError:
        return True  # a memory of the bench is asked for what it does not have


@pytest.mark.parametrize("name", [*FAULTS, *OF_STREAMS])
def test_each_planted_fault_is_seen(monkeypatch, name):
    system = "frames" if name in OF_STREAMS else "bursts"
    right = bench(system)
    case = right.make_case(bursts=150 if system == "bursts" else 400, seed=4, resets=system == "frames")
    place, what, wrong = (FAULTS | OF_STREAMS)[name]
    with monkeypatch.context() as changed:
        changed.setattr(place, what, wrong)
        fabric = bench.__wrapped__(system, 16 if name == "base left out" else 20).fabric
    assert fabric.files["soc_system.sv"] != right.fabric.files["soc_system.sv"]
    other = MemoryBench.of(replace(right.fabric, files=fabric.files))
    assert is_seen(other, case)
