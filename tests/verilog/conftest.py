"""Fabrics that several tests look at, each emitted once."""

from functools import cache

import pytest

from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

FABRICS = {
    "two classes": fabric_spec("rdn(cube(1), 1)", packet_length=4),
    "two levels": fabric_spec("hdn(cube(1), [[0], [0]])", modes="OO", packet_length=3),
    "several shapes": fabric_spec("mesh(2, 3)", flit_width=8),
    "holes": fabric_spec("torus(5)", packet_length=2, flit_width=3),
    "one flit, one slot": fabric_spec("hdn(cube(1), [[0]])", packet_length=1, buffers=1),
    "three classes": fabric_spec("hsn(3, cube(1))", packet_length=2),
    "two nodes": fabric_spec("complete(2)", packet_length=1, flit_width=1),
    "check bits": fabric_spec("mesh(3)", packet_length=2, flit_width=120, dead_pins=True, crc=True),
}

_emitted = cache(emit_fabric)


@pytest.fixture
def emitted():
    """Return a function that returns a fabric by its name here."""
    return lambda name: _emitted(FABRICS[name])


@pytest.fixture(params=FABRICS)
def machine(request):
    """Return the spec of each fabric in turn."""
    return FABRICS[request.param]


@pytest.fixture
def fabric(machine):
    """Return each fabric in turn, emitted."""
    return _emitted(machine)
