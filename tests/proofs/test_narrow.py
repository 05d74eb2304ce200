"""Proofs about narrow channels: what is emitted is proved, and a channel that does anything else is refuted."""

import re
from dataclasses import replace

import pytest

from hdnhw.proofs.delivery import prove_delivery
from hdnhw.proofs.finding import BARE, verdict
from hdnhw.proofs.phases import prove_phases
from hdnhw.proofs.wiring import prove_wiring
from hdnhw.verilog.fabric import emit_fabric
from tests.proofs.changed import changed
from tests.specs import fabric_spec

LINE = "hdn(cube(1), [[]])"
SECONDS = 100.0


def emitted(**options):
    return emit_fabric(fabric_spec(LINE, **options))


def answers(fabric, bits):
    """Return what is found of the narrow channels of a fabric, of the first of each group of bits that are alike."""
    parts = ["narrow channel", *(f"narrow channel, bit {bit}" for bit in bits)]
    found = [one for one in prove_delivery(fabric, seconds=SECONDS, parts=parts) if one.part in parts]
    return [(one.module, one.part, one.answer, one.cases) for one in found]


@pytest.fixture(scope="module")
def small():
    return emitted(channel_width="cross1=4", flit_width=8, packet_length=2, buffers=2)


@pytest.mark.parametrize(
    ("options", "groups"),
    [
        ({"channel_width": "cross1=4", "flit_width": 8, "packet_length": 2, "buffers": 2}, {0: 4, 4: 4}),
        ({"channel_width": "cross1=16"}, {0: 16, 16: 16}),
        (
            {
                "channel_width": "cross1=13",
                "packet_length": 4,
                "crc": True,
                "channel_latency": "cross1=6",
                "buffers": 2,
            },
            {0: 10, 10: 10, 20: 10, 30: 10},
        ),
    ],
)
def test_what_is_emitted_is_proved(options, groups):
    """Bits are alike that are in one piece of a flit; a bit of each is looked at."""
    fabric = emitted(**options)
    due = [("fabric_channel", f"narrow channel, bit {bit}", "proved", count) for bit, count in groups.items()]
    assert answers(fabric, groups) == due
    assert {(one.answer, one.why) for one in (prove_phases(fabric), prove_wiring(fabric))} == {("proved", "")}


def test_each_width_has_a_module_that_is_proved():
    fabric = emitted(channel_width="dim0=3,cross1=4", flit_width=8, packet_length=2, buffers=2)
    modules = {module for module, _, answer, _ in answers(fabric, (0, 3, 4, 6)) if answer == "proved"}
    assert modules == {"fabric_channel_0", "fabric_channel_1"}


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (r"\{ 4'h0, pieces\[7:4\] \}", "{ 4'h0, ~pieces[7:4] }", "a flit comes out changed"),
        (r"(queue\[queue_write_addr\] <= \{ vc, i__data)", r"\1 ^ level", "a flit comes out changed"),
        (r"(\\held.next  = )\w+", r"\g<1>1'h1", "a flit that is due does not come out, or one that is not"),
        (r"(\\level.next  = 3'h)0", r"\g<1>1", "a flit that is due does not come out, or one that is not"),
        (r"(\\begins.next  = )and_\w+", r"\1takes", "the virtual channel changes within a packet"),
        (r"(\\goes_on.next  = 1'h)0", r"\g<1>1", "a flit that is due does not come out, or one that is not"),
        (r"(\\sent_vc.next  = )read__data\[8\]", r"\1vc", "the virtual channel changes|by another virtual channel"),
        (r"^ *if \(begins\) begin\n( *\\o__vc.next.*\n) *end", r"\1", "the virtual channel changes"),
        (r"(assign i__credit = )o__credit", r"\1o__credit ^ {2{held}}", "a credit comes that was not given"),
    ],
)
def test_another_channel_is_refuted(small, pattern, becomes, said):
    parts = ("narrow channel, bit 0", "narrow channel, bit 4", "narrow channel")
    found = list(prove_delivery(changed(small, pattern, becomes), seconds=SECONDS, parts=parts))
    assert "refuted" in {one.answer for one in found}
    assert re.search(said, " ".join(one.why for one in found)), found


def test_a_register_too_few_on_the_wires_is_refuted():
    """It is a whole cycle, and so in another phase than that in which the receiver looks."""
    fabric = emitted(channel_width="cross1=4", channel_latency="cross1=3", flit_width=8, packet_length=2, buffers=2)
    assert answers(fabric, (0, 4))[0][2] == "proved"
    sooner = changed(fabric, r"^    begins_1 <= .*;", "    begins_1 <= begins;")
    assert answers(sooner, (0, 4))[0][2] == "refuted"


def test_credits_that_are_not_whole_slots_from_packets_are_refuted():
    fabric = emitted(channel_width="cross1=16")
    channels = fabric.machine.channels
    fabric.machine.__dict__["channels"] = replace(channels, credit_stages=(0, 0))
    try:
        finding = prove_phases(fabric)
    finally:
        fabric.machine.__dict__["channels"] = channels
    assert (finding.answer, finding.why) == ("refuted", "channels and credits by cross1 are not whole slots apart")


def test_a_fabric_is_not_proved_whose_narrow_channels_are_not():
    answered = [(name, "proved") for name in BARE]
    assert verdict(answered)["proved"]
    assert not verdict([*answered, ("delivery", "undecided")])["proved"]
