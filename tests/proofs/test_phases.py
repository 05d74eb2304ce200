"""Proofs about long channels: registers too many or too few, and routers whose slots begin at another time."""

import re
from dataclasses import replace

import pytest

from hdnhw.proofs.phases import prove_phases
from hdnhw.proofs.wiring import prove_wiring
from hdnhw.verilog.fabric import emit_fabric
from tests.proofs.changed import changed
from tests.specs import fabric_spec

LINE = "hdn(cube(1), [[]])"
LONG = "long_channel_2_cross1"


def emitted(text=LINE, **options):
    return emit_fabric(fabric_spec(text, **options))


@pytest.fixture(scope="module")
def half():
    """Cross-edges of half a slot, and pins that say what is dead."""
    return emitted(channel_latency="cross1=5", dead_pins=True)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (LINE, {"channel_latency": "cross1=5", "dead_pins": True, "crc": True}),
        (LINE, {"channel_latency": "dim0=30,cross1=9", "packet_length": 4}),
        (LINE, {"channel_latency": "3", "switching": "cut-through"}),
        (LINE, {"switching": "cut-through"}),
        (LINE, {}),
        ("mesh(3)", {"channel_latency": "7", "packet_length": 1}),
        ("torus(3, 2)", {"channel_latency": "4", "queueing": "voq"}),
    ],
)
def test_what_is_emitted_is_proved(text, options):
    fabric = emitted(text, **options)
    network = fabric.machine.network
    for finding in (prove_phases(fabric), prove_wiring(fabric)):
        assert (finding.answer, finding.why) == ("proved", "")
    edges = sum(len(network.neighbors(node)) for node in range(network.num_nodes))
    assert prove_phases(fabric).cases == edges


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (r"^    data_1 <= data_0;", "    data_1 <= i__data;", "has 3 and 4 registers"),
        (r"^    dead_2 <= dead_1;", "    dead_2 <= dead_0;", "has 3 and 4 registers"),
        (r"^    vc_0 <= i__vc;", "    vc_0 <= !i__vc;", "o__vc does not come from registers alone"),
        (r"^    data_2 <= data_1;", "    data_2 <= {data_1[0], data_1[31:1]};", "o__data does not come from"),
        (r"(credit_1.next  = )credit_0;", r"\1credit_2;", "does not come from registers alone"),
        (r"^    if \(rst\) begin\n( *\\o__valid.next  =)", r"    if (1'b0) begin\n\1", "o__valid is not reset"),
        (r"(fabric_router router_6 \((?:\n.*?)*?\.odd\()1'h1", r"\g<1>1'h0", "router_1 sends by cross1 comes 4"),
        (r"(fabric_router router_1 \((?:\n.*?)*?\.odd\()1'h0", r"\g<1>1'h1", "router_0 sends by dim0 comes 4"),
    ],
)
def test_another_channel_is_refuted(half, pattern, becomes, said):
    finding = prove_phases(changed(half, pattern, becomes))
    assert finding.answer == "refuted"
    assert re.search(said, finding.why), finding.why


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (rf"({LONG} \((?:\n.*?)*?\.i__data\()channel_2_", r"\1channel_0_", "router_2.cross1_o__data is not joined to"),
        (rf"({LONG} \((?:\n.*?)*?\.o__credit\()\w+", r"\1 2'h0", f"{LONG}.o__credit is not joined to"),
        (rf"({LONG} \((?:\n.*?)*?\.rst\()rst", r"\g<1>1'h0", f"{LONG}.rst is not the port rst"),
        (rf"({LONG} \((?:\n.*?)*?\.dead_i\()\w+", r"\g<1>dead_0[0]", f"{LONG}.dead_i is not whether"),
        (r"(router_6 \((?:\n.*?)*?\.dead_i\(\{ )\w+", r"\g<1>dead_6[1]", r"router_6.dead_i\[1\] is not whether"),
        (rf"fabric_channel {LONG} ", "fabric_channel other ", f"no instance {LONG} of fabric_channel"),
    ],
)
def test_another_wire_is_refuted(half, pattern, becomes, said):
    finding = prove_wiring(changed(half, pattern, becomes))
    assert finding.answer == "refuted"
    assert re.search(said, finding.why), finding.why


@pytest.fixture(scope="module")
def late():
    """Reset through registers."""
    return emitted(channel_latency="cross1=5", reset_registers=2)


def test_a_reset_through_registers_is_proved(late):
    for finding in (prove_phases(late), prove_wiring(late)):
        assert (finding.answer, finding.why) == ("proved", "")


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (r"assign o = row\[1\];", "assign o = row[0];", "fabric_reset has 1 registers, not 2"),
        (r"row <= \{ row\[0\], rst \};", "row <= { row[0], ready_i };", "o does not come from registers alone"),
        (r"row <= \{ row\[0\], rst \};", "row <= { row[0], 1'h0 };", "o does not come from registers alone"),
        (r"assign ready_o = ready_i & not_1;", "assign ready_o = ready_i;", "ready_o is not ready_i without reset"),
        (r"assign not_1 = ~ row\[1\];", "assign not_1 = ~ row[0];", "ready_o is not ready_i without reset"),
        (r"(fabric_router router_3 \((?:\n.*?)*?\.rst\()late_3", r"\1rst", "router_3.rst is not joined to reset_3.o"),
        (r"(fabric_ejection ejection_3 \((?:\n.*?)*?\.rst\()late_3", r"\1rst", "ejection_3.rst is not joined to"),
        (rf"({LONG} \((?:\n.*?)*?\.rst\()late_2", r"\1rst", f"{LONG}.rst is not joined to reset_2.o"),
        (r"(fabric_reset reset_3 \((?:\n.*?)*?\.rst\()rst", r"\1late_2", "reset_3.rst is not the port rst"),
        (
            r"(fabric_router router_3 \((?:\n.*?)*?\.inject__ready\()ready_3",
            r"\1inject_3_ready",
            "router_3.inject__ready is",
        ),
    ],
)
def test_another_reset_is_refuted(late, pattern, becomes, said):
    fabric = changed(late, pattern, becomes)
    found = [finding for finding in (prove_phases(fabric), prove_wiring(fabric)) if finding.answer == "refuted"]
    assert re.search(said, found[0].why), found


def test_a_machine_whose_channels_do_not_agree_is_refuted():
    """The text is as the machine has it, and the machine is wrong: a register less than half a slot."""
    fabric = emitted(channel_latency="cross1=5")
    channels = fabric.machine.channels
    fabric.machine.__dict__["channels"] = replace(channels, stages=(0, 3))
    try:
        text = changed(fabric, r"^    o__(\w+) <= (\w+)_2;$", r"    o__\1 <= \2_1;", 0)
        assert prove_phases(text).answer == "refuted"
    finally:
        fabric.machine.__dict__["channels"] = channels


def test_a_channel_that_is_a_slot_too_long_is_refuted():
    """Its phases agree, but packets take longer than the manifest says."""
    fabric, longer = emitted(channel_latency="cross1=5"), emitted(channel_latency="cross1=13")
    start = "module fabric_channel("
    text, of_longer = fabric.text, longer.text[longer.text.index(start) :]
    begin = text.index(start)
    text = text[:begin] + of_longer[: of_longer.index("endmodule")] + text[text.index("endmodule", begin) :]
    finding = prove_phases(replace(fabric, files={**fabric.files, "fabric.sv": text}))
    assert (finding.answer, finding.why) == ("refuted", "channels by cross1 have 12 registers, not 4")
