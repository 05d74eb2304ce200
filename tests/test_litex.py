"""The module for LiteX: every port of a fabric is joined, with its direction and width; examples/litex moves frames."""

import pytest
from litex.build.generic_platform import GenericPlatform, Pins, Subsignal
from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCMini
from migen import ClockDomain, Instance

from hdnhw.flow.harness import ports_of
from hdnhw.litex import NetworkOnChip
from hdnhw.spec import AxiStreamSpec, CollectiveSpec, ExchangeSpec, FabricSpec, RelaySpec, parse
from hdnhw.verilog.fabric import emit_fabric, write_fabric

FABRICS = {
    "bare": FabricSpec(network=parse("mesh(3)"), packet_length=2, flit_width=120, dead_pins=True, crc=True),
    "gapless": FabricSpec(network=parse("cube(1)"), gapless_packets=True),
    "axi": FabricSpec(network=parse("torus(5)"), endpoints=AxiStreamSpec(max_frame=64, tuser_width=3)),
    "relays": FabricSpec(network=parse("cube(1)"), endpoints=RelaySpec()),
    "engines": FabricSpec(network=parse("hdn(cube(1), [[]])"), endpoints=CollectiveSpec()),
    "generators": FabricSpec(network=parse("cube(1)"), endpoints=ExchangeSpec(at_once=True)),
}


class Platform:
    """What takes the sources of a design."""

    def __init__(self):
        self.sources = []

    def add_source(self, path):
        self.sources.append(path)


@pytest.mark.parametrize("name", FABRICS)
def test_every_port_is_joined(name, tmp_path):
    fabric = emit_fabric(FABRICS[name], top="noc", wrapper=True)
    write_fabric(fabric, tmp_path)
    platform = Platform()
    noc = NetworkOnChip(platform, tmp_path)
    assert platform.sources == [str(tmp_path / file) for file in fabric.verilog]
    (instance,) = noc.get_fragment().specials
    joined = {item.name: (isinstance(item, Instance.Input), len(item.expr)) for item in instance.items}
    ports = ports_of(fabric.files[f"{fabric.top}.sv"], fabric.top)
    assert instance.of == fabric.top
    assert joined == {port.name: (port.is_input, port.width) for port in ports}


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
