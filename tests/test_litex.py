"""The module for LiteX: its interfaces; tests/verilog/test_frontends.py joins every port, examples move data."""

import json

import pytest
from litex.build.altera import AlteraPlatform
from litex.build.generic_platform import GenericPlatform, Pins, Subsignal
from litex.build.xilinx import XilinxPlatform
from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCMini
from litex.soc.interconnect import axi
from migen import ClockDomain, Instance

from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.litex import NetworkOnChip
from hdnhw.support.errors import SpecError
from hdnhw.support.manifest import top_ports
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec

FABRICS = {
    "bare": fabric_spec("mesh(3)", packet_length=2, flit_width=120, dead_pins=True, crc=True),
    "axi": fabric_spec("torus(5)", endpoints=AxiStreamSpec(max_frame=64, tuser_width=3)),
    "axi4": fabric_spec("cube(1)", flit_width=64, endpoints=AxiMemorySpec(memory_bits=14), monitor=True),
}


def test_streams_are_those_of_the_manifest(tmp_path):
    write_fabric(emit_fabric(FABRICS["bare"]), tmp_path)
    noc = NetworkOnChip(None, tmp_path)
    assert [len(getattr(noc, name)) for name in ("inject", "eject", "dropped", "dead", "lost", "errors", "bad")] == [
        3
    ] * 7
    assert (len(noc.inject[0].data), len(noc.eject[2].data), len(noc.eject[2].last)) == (120, 120, 1)
    assert not hasattr(noc, "bus")


def test_axi_streams_are_of_litex(tmp_path):
    write_fabric(emit_fabric(FABRICS["axi"]), tmp_path)
    noc = NetworkOnChip(None, tmp_path, clock_domain="fast")
    assert [len(getattr(noc.s_axis[4], name)) for name in ("data", "keep", "dest", "user", "last")] == [32, 4, 3, 3, 1]
    assert [len(getattr(noc.m_axis[0], name)) for name in ("data", "keep", "id", "user", "last")] == [32, 4, 3, 3, 1]
    assert (noc.bus.data_width, noc.bus.address_width, noc.bus.clock_domain) == (32, 32, "fast")


@pytest.fixture(scope="module")
def of_memories(tmp_path_factory):
    """Return the folder of a fabric with AXI4 endpoints."""
    folder = tmp_path_factory.mktemp("memories")
    write_fabric(emit_fabric(FABRICS["axi4"]), folder)
    return folder


def test_axi4_is_of_litex(of_memories):
    noc = NetworkOnChip(None, of_memories, clock_domain="fast")
    assert len(noc.s_axi) == len(noc.m_axi) == 2
    for one, widths in ((noc.s_axi[1], (64, 32, 4)), (noc.m_axi[1], (64, 14, 1))):
        assert (one.data_width, one.address_width, one.id_width, one.clock_domain) == (*widths, "fast")
    assert (noc.monitor.data_width, noc.monitor.address_width, noc.monitor.clock_domain) == (32, 32, "fast")


@pytest.fixture(scope="module")
def clocked(tmp_path_factory):
    """Return the folder of a fabric of two nodes that have clocks of their own."""
    folder = tmp_path_factory.mktemp("clocked")
    write_fabric(emit_fabric(FABRICS["axi4"], node_clocks=True), folder)
    return folder


def test_nodes_are_in_their_domains(clocked):
    noc = NetworkOnChip(None, clocked, node_domains=["east", "west"])
    assert [one.clock_domain for one in (*noc.s_axi, *noc.m_axi)] == ["east", "west"] * 2
    (instance,) = noc.get_fragment().specials
    clocks = {item.name: item.expr.cd for item in instance.items if item.name.startswith("aclk")}
    assert clocks == {"aclk": "sys", "aclk_0": "east", "aclk_1": "west"}
    resets = {item.name: item.expr.operands[0].cd for item in instance.items if item.name.startswith("aresetn")}
    assert resets == {"aresetn": "sys", "aresetn_0": "east", "aresetn_1": "west"}


def test_crossings_are_constrained(clocked):
    names = [str(clocked / f"fabric_axi4_clocks.{suffix}") for suffix in ("xdc", "sdc")]
    vivado, quartus = XilinxPlatform("xc7a35t", [], toolchain="vivado"), AlteraPlatform("5CEBA4F23C7", [])
    for platform in (vivado, quartus):
        NetworkOnChip(platform, clocked, node_domains=["east", "west"])
    assert [path for path, *_ in vivado.sources if not path.endswith(".sv")] == [names[0]]
    assert quartus.toolchain.additional_qsf_commands == [f"set_global_assignment -name SDC_FILE {names[1]}"]
    assert all(path.endswith(".sv") for path, *_ in quartus.sources)


def test_blocks_of_a_system_are_of_litex(tmp_path):
    ranges = {"ranges": [[0, 0x1000]]}
    blocks = (
        {"name": "cpu", "kind": "axi4-manager", "node": 0, "data_width": 64, "id_width": 2, "reset": True},
        {"name": "cpu_rom", "kind": "axi4-lite-subordinate", "node": 0, **ranges, "clock": "slow"},
        {"name": "sync", "kind": "axi-stream-source", "node": 1, "clock": "slow"},
        {"name": "audio", "kind": "axi-stream-sink", "node": 1},
    )
    endpoints = AxiMemorySpec(memory_bits=12, outstanding=1, user_width=5, blocks=blocks)
    spec = fabric_spec("cube(1)", flit_width=64, gapless_packets=True, endpoints=endpoints)
    fabric = emit_fabric(spec, top="noc")
    write_fabric(fabric, tmp_path)
    noc = NetworkOnChip(None, tmp_path, clock_domain="fast")
    cpu, rom, source, sink = (noc.blocks[one["name"]] for one in blocks)
    assert {name: [(one.origin, one.size) for one in own] for name, own in noc.regions.items()} == {
        "cpu_rom": [(0, 0x1000)]
    }
    assert {*noc.blocks} == {"cpu", "cpu_aresetn", "cpu_rom", "sync", "audio"}
    assert (cpu.data_width, cpu.id_width, len(cpu.ar.user), cpu.clock_domain) == (64, 2, 5, "fast")
    assert (type(rom), rom.data_width, rom.address_width, rom.clock_domain) == (axi.AXILiteInterface, 32, 32, "slow")
    assert (len(source.data), len(source.dest), source.clock_domain, sink.clock_domain) == (32, 1, "slow", "fast")
    (instance,) = noc.get_fragment().specials
    joined = {item.name: item.expr for item in instance.items if isinstance(item, Instance.Input | Instance.Output)}
    assert joined.keys() == top_ports(fabric.manifest).keys()
    assert (joined["aclk"].cd, joined["aclk_slow"].cd) == ("fast", "slow")
    assert (joined["cpu_rom_araddr"], joined["cpu_araddr"]) == (rom.ar.addr, cpu.ar.addr)
    assert (joined["sync_tvalid"], joined["cpu_aresetn"]) == (source.valid, noc.blocks["cpu_aresetn"])


@pytest.mark.parametrize("domains", [None, ["east"], "ew"])
def test_each_node_needs_a_domain(domains, clocked):
    with pytest.raises(SpecError, match=r"^node_domains must name a clock domain for each of 2 nodes, not "):
        NetworkOnChip(None, clocked, node_domains=domains)


@pytest.mark.parametrize(
    ("port", "message"),
    [
        ({}, "node_domains are for fabrics with --node-clocks; this one has a clock for all nodes"),
        ({"wire_N_on": 1}, "port wire_0_on of fabric_axi4 is of no interface of LiteX"),
        ({"s_axi_N_awatop": 6}, "port 's_axi_0_awatop' of fabric_axi4 is no signal of LiteX's AXIInterface"),
        ({"s_axi_N_awprot": 2}, "port 's_axi_0_awprot' of fabric_axi4 has 2 bits, but LiteX's 3"),
        ({"s_axil_wid": 1}, "port 's_axil_wid' of fabric_axi4 is no signal of LiteX's AXILiteInterface"),
    ],
)
def test_what_is_not_known_is_refused(port, message, of_memories, tmp_path):
    manifest = json.loads((of_memories / "manifest.json").read_text())
    manifest["endpoints"]["ports"] |= {name: {"direction": "input", "width": width} for name, width in port.items()}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SpecError, match=f"^{message}$"):
        NetworkOnChip(None, tmp_path, node_domains=None if port else ["east", "west"])


class Clocks(LiteXModule):
    """The only domain of a system."""

    def __init__(self, platform):
        self.cd_sys = ClockDomain()
        self.comb += [self.cd_sys.clk.eq(platform.request("clk")), self.cd_sys.rst.eq(platform.request("rst"))]


def test_a_system_has_the_registers_on_its_bus(tmp_path):
    write_fabric(emit_fabric(FABRICS["axi"]), tmp_path)
    serial = ("serial", 0, Subsignal("tx", Pins(1)), Subsignal("rx", Pins(1)))
    platform = GenericPlatform("any", [("clk", 0, Pins(1)), ("rst", 0, Pins(1)), serial], name="soc")
    soc = SoCMini(platform, clk_freq=100_000_000)
    soc.crg = Clocks(platform)
    soc.add_uartbone("serial")
    soc.noc = NetworkOnChip(platform, tmp_path)
    soc.bus.add_slave("noc", soc.noc.bus, SoCRegion(origin=0x40000000, size=0x80000))
    soc.finalize()
    text = str(platform.get_verilog(soc, name="soc"))
    assert "fabric_axi fabric_axi(" in text
    assert ".s_axil_araddr   (ar_payload_addr[18:0])" in text
    assert soc.bus.regions["noc"].origin == 0x40000000
