"""The Verilog with engines that are joined, as other tools read it, and what the manifest says of it."""

import re

import pytest

from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec

OPERATIONS = ("gather", "allreduce", "barrier", "scan")


def spec_of(text, *, operations=OPERATIONS, numbers="int8", **sizes):
    engines = CollectiveSpec(operations=operations, operators=("sum", "min"), numbers=numbers)
    return fabric_spec(text, endpoints=engines, **sizes)


@pytest.fixture(scope="module")
def fabric():
    """Return a fabric on which the two kinds of packets have headers of two lengths."""
    return emit_fabric(spec_of("torus(3)", packet_length=4, flit_width=8))


def test_tools_have_nothing_to_say(fabric, complaints, tmp_path):
    sources = [path for path in write_fabric(fabric, tmp_path) if path.suffix == ".sv"]
    assert complaints(sources, "fabric_collective") == []


def test_manifest_is_the_machine(fabric):
    endpoints, text = fabric.manifest["endpoints"], fabric.files["fabric_collective.sv"]
    assert re.findall(r"^module ([^\s(]+)", text, re.MULTILINE) == ["fabric_collective_engine", "fabric_collective"]
    assert endpoints["operations"] == list(OPERATIONS)
    messages, registers = endpoints["messages"], endpoints["registers"]
    assert messages["operations"] == ["gather", "allreduce"]
    assert registers["operations"] == ["scan"]
    assert messages["packet"]["header"]["kind"] == registers["packet"]["header"]["kind"] == {"offset": 2, "width": 1}
    assert (messages["packet"]["data_flits"], registers["packet"]["data_flits"]) == (2, 3)
    assert endpoints["barrier"] == {"rounds": 1, "cycles": 2}
    assert endpoints["ports"]["operation_N_payload"]["fields"]["operator"] == {"offset": 2, "width": 1}


def test_registers_with_a_barrier_alone_need_no_kind():
    endpoints = emit_fabric(spec_of("cube(1)", operations=("scan", "barrier"))).manifest["endpoints"]
    assert endpoints["operations"] == ["barrier", "scan"]
    assert "messages" not in endpoints
    assert list(endpoints["registers"]["packet"]["header"]) == ["dst", "packet", "parity"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"flit_width": 2, "packet_length": 16, "numbers": "int8", "operations": ("broadcast", "exscan")},
            "flit_width must be a multiple of 8 bits for int8, not 2",
        ),
        (
            {"flit_width": 8, "packet_length": 2},
            "packet_length must be at least 3 flits, not 2: the header of collective engines takes 2",
        ),
    ],
)
def test_what_cannot_be(options, message):
    with pytest.raises(SpecError, match=f"^{re.escape(message)}"):
        emit_fabric(spec_of("torus(3)", **options))
