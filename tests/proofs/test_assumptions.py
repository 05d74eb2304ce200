"""What rigs take for granted is claimed elsewhere: each row of the page's table is broken once, and is not proved."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from hdnhw.proofs.delivery import prove_delivery
from hdnhw.proofs.prove import prove_routing
from hdnhw.proofs.registers import prove_registers
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"
SMALL, HOLES = "hdn(cube(1), [[]])", "rdn(torus(3), 1)"
CHECKED, DEAD = {"crc": True}, {"dead_pins": True}
ROUTE = r"(  assign \\dim0.route.dst  = .*)"
TO_DIM0 = r"assign \\allocator\S+  = \\allocator.queues_0__way_0 +"

BROKEN = {
    "a register moves with the rising edge of `clk`": (
        {},
        r"@\(posedge (\\cross1\.clk )\)",
        r"@(negedge \1)",
        "",
        r"fabric_router\.\S+ is clocked by the falling edge",
    ),
    "a net has one driver": (
        {},
        ROUTE,
        r"\1\n  assign \\dim0.route.dst = \\cross1.route.dst ;",
        "",
        "found and reported|has failed",
    ),
    "a text has one meaning": (
        {},
        ROUTE,
        r"`ifdef FORMAL\n\1\n`endif",
        "",
        "it has '`ifdef'",
    ),
    "clock and reset are those of the top level": (
        {},
        r"\.rst\(rst\)",
        ".rst(clk)",
        "",
        "_0.rst is not the port rst",
    ),
    "a router has the address of its node": (
        {},
        r"\.address\(3'h1\)",
        ".address(3'h5)",
        "",
        "router_1.address is not 0x1",
    ),
    "each input has a route unit": (
        {},
        r"\\dim0.route.dst(?= )",
        r"\\dim0.route.to",
        "",
        "there is no such route unit",
    ),
    "a route unit reads the address of its router": (
        {},
        r"(assign \\dim0.route.cur  = )[^;]*;",
        r"\1\\dim0.route.dst ;",
        "",
        "",
    ),
    "a route unit reads the flit that comes in": (
        {},
        r"(route.dst  = \\dim0.channel__data )\[2:0\]",
        r"\1[3:1]",
        "",
        "dim0_i__data in the same cycle",
    ),
    "a route unit says what the rule does, a cycle later": (
        {},
        r"(assign \\dim0.route.gate\S*  = \\dim0.route.cur \[2\]) == ",
        r"\1 != ",
        "",
        r"from \S+ to \S+ it (takes|names)",
    ),
    "an address of no node is called impossible": (
        {"network": HOLES},
        r"(\\dim0_plus.route.possible.next  = ).*?;",
        r"\g<1>1'h1;",
        "",
        r"address 0x\w+ is none of a node, and it says the opposite",
    ),
    "a channel joins two neighbors": (
        {},
        r"\.dim0_i__valid\(\w+\)",
        ".dim0_i__valid(inject_0_valid)",
        "",
        "is not joined to router_0.dim0_i__valid",
    ),
    "both ends of a channel agree that it is dead": (
        DEAD,
        r"\.dead_o\(\{ (\w+), (\w+) \}\)",
        r".dead_o({ \2, \1 })",
        "",
        r"\.dead_o\[0\] is not whether that channel is dead",
    ),
    "both ends of a channel agree on its phase": (
        {"channel_latency": "cross1=5"},
        r"(o__data <= )data_2;",
        r"\1data_1;",
        "",
        "has 3 and 4 registers on its ways",
    ),
    "the top level has the counters of its routers": (
        DEAD,
        r"\.lost\(lost_1\)",
        ".lost(lost_2)",
        "",
        "router_1.lost is not the port lost_1",
    ),
    "neighbors send what there is room for": (
        {},
        rf"({TO_DIM0})& \\allocator\S*available ",
        r"\1 ",
        "switch",
        "without a credit",
    ),
    "neighbors send whole packets, in their phase": (
        {},
        r"(\\dim0_o__valid.next  = allocator_valid_)0;",
        r"\g<1>1;",
        "switch",
        "",
    ),
    "neighbors give a credit for each packet": (
        {},
        r"(assign dim0_i__credit =) (\\\S+) ;",
        r"\1 ~\2 ;",
        "switch",
        "is told to send",
    ),
    "queues offer the way of their first packet": (
        {},
        r"(assign \\dim0.decisions_1.pop  = [^;]*);",
        r"\1 | \\dim0.at [5];",
        "queue of dim0, virtual channel 1",
        "",
    ),
    "what queues give is their first packet": (
        {},
        r"if \(\\cross1.write_en \)",
        "if (1'h0)",
        "queue of cross1, virtual channel 0, bit 0",
        "a packet leaves its buffer changed",
    ),
    "the switch takes what is offered, no more": (
        {},
        r"(assign \\dim0.queues__pop  =) ",
        r"\1 ~",
        "switch",
        "is told to send",
    ),
    "the router knows which buffers ahead are free": (
        {},
        r"(assign \\allocator.credits_0_0.or_2  = )\\allocator.credits_0_0.give ",
        r"\1 1'h0",
        "switch",
        "the router is wrong about room ahead",
    ),
    "the router knows what its pins say is dead": (
        DEAD,
        r"dead_ahead <= dead_o;",
        r"dead_ahead <= dead_o & { 2{ \\allocator.at [0] } };",
        "switch",
        "what is dead ahead is taken in wrongly",
    ),
    "an ejection buffer gives a credit for each packet": (
        {},
        r"(assign and_122 = do_take) & is_tail",
        r"\1",
        "ejection buffer",
        "a credit is given for ",
    ),
    "a flit is called wrong if its check bits are": (
        CHECKED,
        r"(dim0.checker.parity_1  = \^ {[^;]*)\\dim0.checker.data \[0\], ",
        r"\1",
        "check bits of dim0",
        "a flit is called wrong that is not, or right",
    ),
    "injection makes the check bits of a flit": (
        CHECKED,
        r"(injection.parity_9  = \^ {[^;]*)\\injection.inject__payload \[0\], ",
        r"\1",
        "check bits of injection",
        "check bits are made that are not those of the flit",
    ),
    "one bit of a flit stands for all": (
        {},
        r"(dim0_o__data.next  = )(mux_\d+) \|",
        r"\1{ \2[31:5], \2[3], \2[4], \2[2:0] } |",
        "switch, bit 3",
        "dim0 changes what ",
    ),
    "a memory is read and written in one place": (
        {},
        r"(?=  assign \\dim0.route.dst )",
        "  wire seen;\n  assign seen = ^ \\\\dim0.flits [3];\n",
        "queue of dim0, virtual channel 0",
        "uses dim0.flits in more than one way|was found 2 times",
    ),
}
"""What is taken for granted -> options of a machine, what is changed in its text, which part then fails, and why."""


def rows():
    """Return the rows of the table: what is taken for granted -> the property that claims it."""
    found = re.findall(r"^\| ([^|]*) \| `(\w+)` \|$", PAGE.read_text(), re.MULTILINE)
    return dict(found)


@cache
def emitted(network=SMALL, **options):
    return emit_fabric(fabric_spec(network, **options))


def test_every_row_of_the_table_is_broken_here():
    assert [*rows()] == [*BROKEN]


@pytest.mark.parametrize("assumed", BROKEN)
def test_what_is_broken_is_not_proved(assumed):
    options, pattern, becomes, part, said = BROKEN[assumed]
    fabric = emitted(**options)
    text, count = re.subn(pattern, becomes, fabric.text, count=0 if "each input" in assumed else 1)
    assert count
    broken, name = replace(fabric, files={**fabric.files, "fabric.sv": text}), rows()[assumed]
    if name == "registers":
        found = prove_registers(broken)
    elif name == "delivery":
        found = list(prove_delivery(broken, seconds=100.0, parts=[part]))
    else:
        found = [one for one in prove_routing(broken) if one.property == name]
    wrong = [one for one in found if one.answer != "proved"]
    assert {one.answer for one in wrong} == {"undecided" if "memory" in assumed else "refuted"}
    assert any(re.search(said, one.why) for one in wrong), wrong
