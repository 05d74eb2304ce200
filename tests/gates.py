"""Emitted Verilog with a line for each gate, for tests that change one."""

from unittest import mock

from hdnhw.spec import FabricSpec
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric
from hdnhw.verilog.folding import without_marks


def emit_gates(spec: FabricSpec) -> EmittedFabric:
    """Emit a fabric with the lines of Yosys, which tests/verilog/test_folding.py compares with what is emitted.

    Each gate is a place for a fault, and its name stays when something else is read elsewhere, so that lists hold.
    """
    with mock.patch("hdnhw.verilog.verilog.folded", lambda text, _: without_marks(text)):
        return emit_fabric(spec)
