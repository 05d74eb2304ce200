"""What rigs take for granted of a text is looked at: clocks, drivers, language."""

import re
from dataclasses import replace

import pytest

from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.proofs.registers import prove_registers
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

SMALL = fabric_spec("hdn(cube(1), [[]])")


@pytest.fixture(scope="module")
def small():
    return emit_fabric(SMALL)


@pytest.mark.parametrize("node_clocks", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"crc": True, "dead_pins": True, "packet_length": 2},
        {"queueing": "voq", "ram": "distributed"},
        {"switching": "cut-through"},
        {"endpoints": AxiStreamSpec()},
        {"endpoints": AxiMemorySpec()},
        {"endpoints": RelaySpec()},
    ],
    ids=str,
)
def test_what_is_emitted_is_proved(options, node_clocks):
    fabric = emit_fabric(replace(SMALL, **options), node_clocks=node_clocks)
    found = prove_registers(fabric)
    assert [(one.module, one.answer, one.why) for one in found] == [(name, "proved", "") for name in fabric.verilog]
    assert found[0].cases > 50


def test_engines_and_texts_without_initial_values_are_proved():
    spec = replace(SMALL, endpoints=CollectiveSpec())
    assert {one.answer for one in prove_registers(emit_fabric(spec, initial=False))} == {"proved"}


ROUTE = r"(  assign \\dim0.route.dst  = .*)"
EDGE = r"@\(posedge (\\cross1\.clk )\)"


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (r"(assign \\dim0.decisions_0.clk  = )\\dim0.clk ;", r"\1\\dim0.rst ;", r"is not clocked by clk"),
        (
            r"(assign \\allocator.credits_0_0.clk  = \\allocator.clk )",
            r"\1 & \\allocator.class_slot [0]",
            r"is not clocked by clk",
        ),
        (EDGE, r"@(posedge \1, posedge rst)", r"fabric_router\.\S+ is a \$|yosys has failed"),
        (
            r"always @\(posedge \\cross1.clk \)( begin\n +if)",
            r"always @*\1",
            r"is a \$dlatch|is written without a clock|has failed",
        ),
        (ROUTE, r"  // synopsys translate_off\n\1", "it has '//'"),
        (ROUTE, r"(* full_case *)\n\1", "it has the attribute full_case"),
        (ROUTE, r"\1\n  initial force \\dim0.route.dst = 0;", "it has 'force'"),
        (ROUTE, r"\1\n  initial $finish;", r"it has '\$finish'"),
        (r"always @\(posedge clk\)", "always @(posedge clk) #1", "it has '#'"),
    ],
)
def test_what_has_another_meaning_is_refuted(small, pattern, becomes, said):
    text, count = re.subn(pattern, becomes, small.files["fabric.sv"], count=1)
    assert count == 1
    (found,) = prove_registers(replace(small, files={**small.files, "fabric.sv": text}))
    assert found.answer == "refuted"
    assert re.search(said, found.why)
