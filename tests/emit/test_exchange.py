"""The Verilog with generators, as other tools read it, and what is refused."""

import re

import pytest

from hdnhw.emit.exchange import exchange_verilog
from hdnhw.emit.fabric import emit_fabric
from hdnhw.routing.plan import plan
from hdnhw.spec import FabricSpec, SpecError, parse

FABRICS = {
    "holes": ("hdn(torus(3), [[0]])", {"buffers": 4, "flit_width": 10}, False),
    "at once": ("ghc(3, 5)", {"packet_length": 1, "flit_width": 80}, True),
}


@pytest.fixture(params=FABRICS)
def sources(request, tmp_path):
    """Write the Verilog of each fabric in turn; return its two files."""
    text, sizes, at_once = FABRICS[request.param]
    spec = FabricSpec(network=parse(text), **sizes)
    fabric = emit_fabric(spec)
    around = exchange_verilog(fabric.plan, spec, top="fabric", at_once=at_once)
    for name, verilog in (("fabric.sv", fabric.files["fabric.sv"]), ("fabric_exchange.sv", around)):
        (tmp_path / name).write_text(verilog)
    return [tmp_path / "fabric.sv", tmp_path / "fabric_exchange.sv"]


def test_verilator_and_yosys_have_nothing_to_say(sources, complaints):
    assert complaints(sources, "fabric_exchange") == []


def verilog_of(text, *, at_once=False, **sizes):
    spec = FabricSpec(network=parse(text), **sizes)
    return exchange_verilog(plan(spec.network, spec.modes, spec.lanes), spec, top="top", at_once=at_once)


def test_modules_are_three_and_generators_one_a_node():
    verilog = verilog_of("rdn(cube(1), 1)", buffers=4)
    modules = re.findall(r"^module ([^\s(]+)", verilog, re.MULTILINE)
    assert modules == ["top_exchange_generator", "top_exchange_control", "top_exchange"]
    assert len(re.findall(r"^  top_exchange_generator ", verilog, re.MULTILINE)) == 8


@pytest.mark.parametrize(
    ("text", "sizes", "message"),
    [
        ("rdn(cube(1), 1)", {}, "buffers must be at least 4 packets a port for a timetable, not 2: use --at-once"),
        ("mesh(2, 3)", {"lanes": 2}, "buffers must be at least 4 packets a port for a timetable, not 2: use --at-once"),
        ("torus(3)", {"buffers": 2, "packet_length": 1}, "buffers must be at least 8 packets a port for a timetable"),
        (
            "mesh(2, 3)",
            {},
            "no timetable is the same at all nodes of mesh(2, 3), where routes depend on where they start",
        ),
        ("rdn(cube(1), 1)", {"flit_width": 5}, "flit width must be at least 6 for a total exchange's addresses, not 5"),
        ("cube(11)", {}, "a timetable is for at most 1024 nodes; cube(11) has 2048: use --at-once"),
    ],
)
def test_what_cannot_be(text, sizes, message):
    with pytest.raises(SpecError, match=f"^{re.escape(message)}"):
        verilog_of(text, **sizes)
