"""The Verilog with AXI4 endpoints against its manifest, and what the proof of their packets rests on."""

import re

import pytest

import hdnhw
from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.fpga.harness import ports_of
from hdnhw.library.options import fabric_of
from hdnhw.machine.flit import FlitFormat
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric

FABRICS = {
    "words": ("torus(3)", {}, {}),
    "bytes": ("cube(1)", {"flit_width": 8, "packet_length": 16}, {"outstanding": 1, "id_width": 1}),
    "wide": ("cube(2)", {"flit_width": 1024, "packet_length": 3}, {"memory_bits": 48, "outstanding": 16}),
}


def emitted(name, **options):
    text, sizes, endpoints = FABRICS[name]
    return emit_fabric(FabricSpec(network=parse(text), endpoints=AxiMemorySpec(**endpoints), **sizes), **options)


@pytest.mark.parametrize(
    ("options", "length", "width", "gapless"),
    [
        ({}, 4, 64, True),
        ({"node_clocks": True}, 4, 64, False),
        ({"memory_bits": 48}, 8, 64, True),
        ({"flit_width": 128}, 4, 128, True),
        ({"flit_width": 32}, 8, 32, True),
        ({"switching": "cut-through"}, 8, 64, True),
        ({"packet_length": 6, "gapless_packets": False}, 6, 64, False),
    ],
)
def test_a_machine_has_the_defaults_of_its_endpoints(tmp_path, options, length, width, gapless):
    made = hdnhw.emit("cube(1)", tmp_path, endpoints="axi4", **options)
    assert (made.packet_length, made.flit_width, made.gapless_packets) == (length, width, gapless)


@pytest.mark.parametrize(
    ("text", "outstanding"), [("torus(4, 4)", 16), ("torus(3, 6)", 16), ("cube(6)", 8), ("cube(9)", 1)]
)
def test_the_queue_of_a_memory_does_not_grow_with_the_nodes(text, outstanding):
    assert fabric_of(text, "axi4", {}).endpoints.outstanding == outstanding
    assert fabric_of(text, "axi4", {"outstanding": 2}).endpoints.outstanding == 2


@pytest.mark.parametrize("name", FABRICS)
def test_manifest_names_every_port(name):
    fabric = emitted(name)
    endpoints, nodes = fabric.manifest["endpoints"], range(fabric.manifest["routers"])
    declared = {
        port.name: ("input" if port.is_input else "output", port.width)
        for port in ports_of(fabric.files["fabric_axi4.sv"], "fabric_axi4")
    }
    assert declared == {
        re.sub(r"_N(?=_|$)", f"_{node}", pattern): (port["direction"], port["width"])
        for pattern, port in endpoints["ports"].items()
        for node in nodes
    }
    memory = fabric.machine.endpoint_format
    assert declared["s_axi_0_awaddr"] == ("input", endpoints["address_bits"])
    assert endpoints["address_bits"] == memory.flits.address_width + endpoints["memory_bits"]
    assert declared["m_axi_0_awaddr"] == ("output", endpoints["memory_bits"])
    assert declared["s_axi_0_rdata"] == ("output", memory.flits.flit_width)
    assert endpoints["packet"]["kinds"] == {"write": 0, "read": 1, "written": 2, "data": 3}
    assert endpoints["packet"]["data_flits"] == memory.payload_flits


@pytest.mark.parametrize("name", FABRICS)
def test_every_packet_has_its_place(name):
    """Flits are taken in every cycle, and the queue holds all requests that can be under way."""
    fabric = emitted(name)
    unit = fabric.files["fabric_axi4.sv"].split("endmodule")[0]
    assert re.search(r"assign eject__ready = 1'h1;", unit)
    words = int(re.search(r"\\receiver\.requests\.flits +\[(\d+):0\]", unit)[1]) + 1
    memory, nodes = fabric.machine.endpoint_format, fabric.manifest["routers"]
    assert words >= 2 * memory.tags * nodes * memory.flits.packet_length


@pytest.mark.parametrize("width", [8, 32, 128, 1024])
@pytest.mark.parametrize("length", [3, 8, 16, 64])
def test_a_packet_holds_as_many_beats_as_fit(width, length):
    flits = FlitFormat(width, 4, length)
    try:
        memory = MemoryFormat(flits, AxiMemorySpec())
    except SpecError:
        assert width == 8
        assert length < 16
        return
    assert memory.header_flits + memory.payload_flits <= length
    more = memory._fields(memory.payload_flits + 1)
    assert sum(more.values()) > (length - memory.payload_flits - 1) * width
    assert list(memory.header_fields)[:2] == ["dst", "kind"]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"flit_width": 24}, "flit_width must be a power of two from 8 to 1024 bits for AXI4 endpoints, not 24"),
        ({"flit_width": 4}, "flit_width must be a power of two from 8 to 1024 bits for AXI4 endpoints, not 4"),
        ({"packet_length": 2}, "packet_length must be at least 3 flits, not 2: the header of AXI4 endpoints takes 2"),
        ({"crc": True}, "a crc is for fabrics of bare streams.*"),
    ],
)
def test_what_does_not_fit(sizes, message):
    with pytest.raises(SpecError, match=f"^{message}$"):
        emit_fabric(FabricSpec(network=parse("cube(2)"), endpoints=AxiMemorySpec(), **sizes))


def test_the_kind_is_in_the_head_flit():
    with pytest.raises(SpecError, match="at least 10 bits for the head flits of AXI4 endpoints, not 8"):
        MemoryFormat(FlitFormat(8, 8, 64), AxiMemorySpec())
