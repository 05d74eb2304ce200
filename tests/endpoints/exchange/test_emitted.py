"""The Verilog with generators, as other tools read it, and what is refused."""

import re

import pytest

from hdnhw.endpoints.exchange.emitted import EmittedGenerators
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.machine.machine import make_machine
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec

FABRICS = {
    "holes": ("hdn(torus(3), [[0]])", {"buffers": 4, "flit_width": 10}, False),
    "at once": ("ghc(3, 5)", {"packet_length": 1, "flit_width": 80}, True),
}


@pytest.fixture(params=["holes", "at once"])
def sources(request, tmp_path):
    """Write the Verilog of each fabric in turn; return its two files."""
    text, sizes, at_once = FABRICS[request.param]
    spec = fabric_spec(text, endpoints=ExchangeSpec(at_once=at_once), **sizes)
    return [path for path in write_fabric(emit_fabric(spec), tmp_path) if path.suffix == ".sv"]


def test_tools_have_nothing_to_say(sources, complaints):
    assert complaints(sources, "fabric_exchange") == []


def emitted(text, *, at_once=False, **sizes):
    spec = fabric_spec(text, endpoints=ExchangeSpec(at_once=at_once), **sizes)
    return EmittedGenerators(make_machine(spec), "top", {})


def test_modules_are_three_and_generators_one_a_node():
    verilog = emitted("rdn(cube(1), 1)", buffers=4).text
    modules = re.findall(r"^module ([^\s(]+)", verilog, re.MULTILINE)
    assert modules == ["top_exchange_generator", "top_exchange_control", "top_exchange"]
    assert len(re.findall(r"^  top_exchange_generator ", verilog, re.MULTILINE)) == 8


@pytest.mark.parametrize(
    ("text", "sizes", "message"),
    [
        (
            "rdn(cube(1), 1)",
            {"buffers": 2},
            "buffers must be at least 4 packets a port for a timetable, not 2: use at_once",
        ),
        (
            "mesh(2, 3)",
            {"lanes": 2, "buffers": 2},
            "buffers must be at least 4 packets a port for a timetable, not 2: use at_once",
        ),
        ("torus(3)", {"buffers": 2, "packet_length": 1}, "buffers must be at least 8 packets a port for a timetable"),
        ("rdn(cube(1), 1)", {"buffers": 4, "channel_latency": "9"}, "buffers must be at least 8 packets a port for a"),
        (
            "rdn(cube(1), 1)",
            {"channel_latency": "cross1=5"},
            "a timetable is of whole slots, and channel_latency='cross1=5' puts routers half a slot apart: use at_once",
        ),
        (
            "rdn(cube(1), 1)",
            {"switching": "cut-through", "packet_length": 16},
            "a timetable is of whole slots, and switching='cut-through' puts routers half a slot apart: use at_once",
        ),
        (
            "rdn(cube(1), 1)",
            {"channel_width": "cross1=16", "packet_length": 4},
            "a timetable is of packets that take a slot of each channel, and with channel_width some take several: use",
        ),
        (
            "mesh(2, 3)",
            {},
            "no timetable is the same at all nodes of mesh(2, 3), where routes depend on where they start",
        ),
        ("rdn(cube(1), 1)", {"flit_width": 5}, "flit_width must be at least 6 for a total exchange's addresses, not 5"),
        ("cube(11)", {}, "a timetable is for at most 1024 nodes; cube(11) has 2048: use at_once"),
    ],
)
def test_what_cannot_be(text, sizes, message):
    with pytest.raises(SpecError, match=f"^{re.escape(message)}"):
        assert emitted(text, **sizes).slots
