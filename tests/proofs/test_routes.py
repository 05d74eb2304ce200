"""Proofs about route units of the emitted text: they hold for what is emitted, and not where a gate is changed."""

import re
from dataclasses import replace

import numpy as np
import pytest

from hdnhw.proofs.netlist import ForeignInputError, Netlist
from hdnhw.proofs.prove import prove_routing
from hdnhw.proofs.routes import HopTable, prove_arrival, rule_table
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.plan import plan
from hdnhw.verilog.fabric import emit_fabric
from tests.proofs.changed import changed
from tests.specs import fabric_spec

SMALL = fabric_spec("hdn(cube(1), [[]])")


def answers(fabric):
    return {(one.property, one.part): one for one in prove_routing(fabric)}


@pytest.fixture(scope="module")
def small():
    return emit_fabric(SMALL)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("hdn(cube(1), [[]])", {}),
        ("rdn(torus(3), 1)", {"packet_length": 4}),
        ("hdn(cube(2), [[0]])", {"switching": "cut-through", "gapless_packets": True}),
        ("mesh(2, 3)", {"dead_pins": True, "crc": True}),
        ("torus(5)", {"lanes": 2, "queueing": "voq"}),
        ("hsn(2, cube(2))", {}),
    ],
)
def test_what_is_emitted_is_proved(text, options):
    spec = fabric_spec(text, **options)
    findings = prove_routing(emit_fabric(spec))
    assert {one.answer for one in findings} == {"proved"}
    made = plan(spec.network, lanes=options.get("lanes", 1))
    ahead = options.get("switching") == "cut-through"  # inputs look a router ahead, and injection does both
    units = sum(len(shape.ports) + (2 if ahead else 1) for shape in made.shapes)
    assert sum(one.property == "route" for one in findings) == units
    assert [one.property for one in findings][-3:] == ["arrival", "wiring", "phases"]


@pytest.mark.parametrize(
    "text", ["hdn(torus(2, 3), [[0, 1]])", "rdn(cube(2), 1)", "torus(5, 5)", "star(4)", "mesh(2, 3)"]
)
def test_the_rule_is_that_of_the_plan(text):
    """The plan has its own function, of pairs."""
    made = plan(text)
    table, address = rule_table(made), [made.address.of_node(node) for node in range(made.network.num_nodes)]
    for cur, here in enumerate(address):
        for dst, there in enumerate(address):
            hop = made.plain_route(here, there)
            port, vc = hop & (1 << VC_SHIFT) - 1, hop >> VC_SHIFT
            assert (table.port[cur, dst], table.vc[cur, dst]) == (port, 0 if cur == dst else vc)


def test_a_changed_gate_is_refuted_with_a_pair(small):
    gate = r"(assign \\dim0.route.gate\S*  = \\dim0.route.cur \[2\]) == "
    found = answers(changed(small, gate, r"\1 != "))
    wrong = [part for part, one in found.items() if one.answer == "refuted"]
    assert wrong == [("route", "dim0.route")]
    assert re.search(r"from \S+ to \S+ it (takes|names)", found["route", "dim0.route"].why)


READ = r"(assign \\dim0.route.dst  = )(\\dim0.channel__data )\[2:0\];"


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (READ, r"\1{ \2[0], \2[2:1] };", "dim0_i__data in the same cycle"),
        (READ, r"\1cross1_i__data[2:0];", "dim0_i__data in the same cycle"),
        (
            READ,
            r"\1later;\n  reg [2:0] later;\n  always @(posedge clk) later <= dim0_i__data[2:0];",
            "dim0_i__data in the same cycle",
        ),
        (r"\\dim0.route.dst(?= )", r"\\dim0.route.to", "there is no such route unit"),
    ],
)
def test_a_unit_whose_destination_is_another_is_refuted(small, pattern, becomes, said):
    count = 1 if pattern == READ else 0
    text = re.sub(pattern, becomes, small.files["fabric.sv"], count=count)
    assert text != small.files["fabric.sv"]
    found = answers(replace(small, files={**small.files, "fabric.sv": text}))
    assert {part for part, one in found.items() if one.answer == "refuted"} == {("route", "dim0.route")}
    assert said in found["route", "dim0.route"].why


def test_packets_are_followed_by_the_hops_of_the_text(small):
    gate = r"(assign \\injection.route.gate\S*  = \\injection.route.cur \[2\]) == "
    found = answers(changed(small, gate, r"\1 != "))
    assert found["route", "injection.route"].answer == "refuted"
    assert all(one.answer == "refuted" for (name, _), one in found.items() if name == "arrival")


def test_an_output_that_comes_later_is_refuted(small):
    """A register more in front of one of a unit's outputs."""
    gate = re.search(r"assign \\dim0.route.take  = \{ (\S+) ,", small.files["fabric.sv"])[1].replace("\\", "\\\\")
    late = f"reg late; always @(posedge clk) late <= {gate} ;\n"
    found = answers(
        changed(small, r"assign \\dim0.route.take  = \{ \S+ ,", f"{late}assign \\\\dim0.route.take  = {{ late,")
    )
    assert "do not come 1 cycles after" in found["route", "dim0.route"].why


def test_a_unit_that_reads_something_else_is_refuted(small):
    gate = r"(assign \\dim0.route.gate\S*  = \\dim0.route.cur \[2\]) == (\S+ \[\d\])"
    found = answers(changed(small, gate, r"\1 == inject__valid"))
    assert "it depends on inject__valid" in found["route", "dim0.route"].why


def test_an_address_of_a_node_that_is_called_impossible_is_refuted():
    fabric = emit_fabric(fabric_spec("rdn(torus(3), 1)"))
    found = answers(changed(fabric, r"(\\dim0_plus.route.possible.next  = ).*?;", r"\g<1>1'h0;"))
    assert re.fullmatch(
        r"address 0x\w+ is one of a node, and it says the opposite", found["route", "dim0_plus.route"].why
    )


def test_hops_that_go_round_are_found():
    """A rule that sends every packet on by port 0 gets nowhere on a ring, but to the next node."""
    made = plan("torus(5)")
    table = HopTable(np.where(np.eye(5, dtype=bool), 2, 0).astype(np.uint8), np.zeros((5, 5), np.uint8))
    assert "the distance is" in prove_arrival(made, {0: table}, ["r"]).why
    never = HopTable(np.zeros((5, 5), np.uint8), table.vc)
    assert "never gets to" in prove_arrival(made, {0: never}, ["r"]).why


def test_a_cone_that_feeds_itself():
    text = "module m(input clk, input d, output q);\n  reg \\u.q = 0;\n  wire \\u.d ;\n  assign \\u.d = d ^ \\u.q ;\n"
    text += "  always @(posedge clk) \\u.q <= \\u.d ;\n  assign q = \\u.q ;\nendmodule\n"
    netlist = Netlist(text, "m", ("d", "q"))
    with pytest.raises(ForeignInputError, match="depends on itself"):
        netlist.cone(netlist.names["q"], moving=netlist.names["d"])
