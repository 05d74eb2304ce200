"""The Verilog with relays, as other tools read it, and the manifest against it."""

import re
from functools import cache

import pytest

from hdnhw.endpoints.relay.format import RelayFormat
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.machine.flit import FlitFormat
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec

FABRICS = {
    "one flit, one slot": ("torus(5)", {"packet_length": 1}, {"relay_buffers": 1, "timeout": 512}),
    "dead pins": (
        "complete(3)",
        {"packet_length": 3, "flit_width": 40, "dead_pins": True},
        {"waypoints": 3, "relay_queues": 2},
    ),
}


def spec_of(name):
    text, sizes, endpoints = FABRICS[name]
    return fabric_spec(text, endpoints=RelaySpec(**endpoints), **sizes)


@cache
def emitted(name):
    return emit_fabric(spec_of(name))


@pytest.fixture(params=["one flit, one slot", "dead pins"])
def fabric(request):
    """Return each fabric in turn."""
    return emitted(request.param)


def test_tools_have_nothing_to_say(fabric, complaints, tmp_path):
    sources = [path for path in write_fabric(fabric, tmp_path) if path.suffix == ".sv"]
    assert [path.name for path in sources] == ["fabric.sv", "fabric_relay.sv"]
    assert complaints(sources, "fabric_relay") == []


def test_the_top_level_has_the_ports_of_the_manifest(fabric):
    endpoints, text = fabric.manifest["endpoints"], fabric.files["fabric_relay.sv"]
    assert re.findall(r"^module ([^\s(]+)", text, re.MULTILINE) == ["fabric_relay_unit", "fabric_relay"]
    body = text[text.index("module fabric_relay(") :]
    found = re.findall(r"^  (input|output) (?:\[(\d+):0\] )?\\?(\w+) ?;$", body, re.MULTILINE)
    due = {}
    for node in range(fabric.manifest["routers"]):
        for name, port in endpoints["ports"].items():
            due[re.sub("_N", f"_{node}", name)] = (port["direction"], port["width"])
    assert {name: (direction, int(top or 0) + 1) for direction, top, name in found} == due
    assert set(endpoints["ports"]) - set(fabric.manifest["ports"]) == {"counts_N"}
    assert ("dead_N" in endpoints["ports"]) == fabric.manifest["dead_pins"]
    names = ["stranded", "expired", "unreserved", "refused", "untold", "astray"]
    fields = {name: {"offset": 16 * place, "width": 16} for place, name in enumerate(names)}
    assert endpoints["ports"]["counts_N"]["fields"] == fields


@pytest.mark.parametrize("name", FABRICS)
def test_manifest_names_the_packet(name):
    spec, fabric = spec_of(name), emitted(name)
    endpoints = fabric.manifest["endpoints"]
    packets = RelayFormat(FlitFormat(spec.flit_width, fabric.machine.address.width, spec.packet_length), spec.endpoints)
    assert (endpoints["type"], fabric.manifest["top"]) == ("relay", "fabric_relay")
    assert endpoints["packet"]["header"] == packets.header_positions
    assert endpoints["packet"]["payload"] == {"head_offset": packets.header_width, "width": packets.payload_width}
    assert endpoints["packet"]["kinds"] == {"data": 0, "request": 1, "grant": 2, "notice": 3}
    assert {name: endpoints[name] for name in ("waypoints", "relay_buffers", "relay_queues", "timeout", "notices")} == {
        "waypoints": spec.endpoints.waypoints,
        "relay_buffers": spec.endpoints.relay_buffers,
        "relay_queues": spec.endpoints.relay_queues,
        "timeout": spec.endpoints.timeout,
        "notices": 16,
    }


def test_relays_are_one_module_with_an_address_each(fabric):
    text, address = fabric.files["fabric_relay.sv"], fabric.machine.plan.address
    found = re.findall(r"^  fabric_relay_unit relay_(\d+) \(\n    \.address\((\d+)'h(\w+)\)", text, re.MULTILINE)
    assert sorted((int(node), int(width), int(value, 16)) for node, width, value in found) == [
        (node, address.width, address.of_node(node)) for node in range(fabric.manifest["routers"])
    ]


def test_what_does_not_fit():
    with pytest.raises(SpecError, match=r"^flit_width must be at least the 12 header bits of relays, not 11$"):
        emit_fabric(fabric_spec("cube(3)", flit_width=11, endpoints=RelaySpec()))
