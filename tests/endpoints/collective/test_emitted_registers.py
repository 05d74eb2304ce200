"""The Verilog with engines for operations in registers, as other tools read it, and what the manifest says of it."""

import re

import pytest

from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.spec import REGISTER_OPERATIONS
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec


def spec_of(text, *, operations=REGISTER_OPERATIONS, operators=("sum", "min", "and"), numbers="int8", **sizes):
    engines = CollectiveSpec(operations=operations, operators=operators, numbers=numbers)
    return fabric_spec(text, endpoints=engines, **sizes)


@pytest.fixture(scope="module")
def fabric():
    """Return a fabric with holes in its addresses, on which a node gets from another than it sends to."""
    return emit_fabric(spec_of("hdn(torus(3), [[0]])", packet_length=3, flit_width=8))


def test_tools_have_nothing_to_say(fabric, complaints, tmp_path):
    sources = [path for path in write_fabric(fabric, tmp_path) if path.suffix == ".sv"]
    assert complaints(sources, "fabric_collective") == []


def test_manifest_is_the_machine(fabric):
    endpoints, text = fabric.manifest["endpoints"], fabric.files["fabric_collective.sv"]
    assert re.findall(r"^module ([^\s(]+)", text, re.MULTILINE) == ["fabric_collective_engine", "fabric_collective"]
    assert endpoints["operations"] == list(REGISTER_OPERATIONS)
    assert (endpoints["operators"], endpoints["numbers"]) == (["sum", "min", "and"], "int8")
    assert endpoints["registers"][0] == "result"  # a node's own vector goes straight into what is first made of it
    assert endpoints["packets"] == 3  # a ring in two steps, and a crossing
    assert list(endpoints["packet"]["header"]) == ["dst", "packet", "parity"]
    assert endpoints["ports"]["operation_N_payload"]["width"] == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"numbers": "int16"}, "flit_width must be a multiple of 16 bits for int16, not 8"),
        ({"packet_length": 1}, "packet_length must be at least 2 flits, not 1: the header of collective engines"),
    ],
)
def test_what_cannot_be(options, message):
    with pytest.raises(SpecError, match=f"^{re.escape(message)}"):
        emit_fabric(spec_of("cube(2)", **{"packet_length": 4, "flit_width": 8} | options))
