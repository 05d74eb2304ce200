"""Two boards and the cable between them under Verilator: both pass over a sound cable, and see what a bad one does."""

import re

import pytest

from hdnhw.boards.verilated import PAIR, hear_pair, self_test_sources
from hdnhw.spec.chips import ChipOptions
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

DUE = 2 * 3
"""Packets that each board of a ring of four nodes sends, and gets."""

TRAFFIC = (
    r"total exchange: (\d+) packets sent, (\d+) received, (\d+) lost, (\d+) misrouted, (\d+) corrupted, \d+ cycles"
)
LINK = r"link: (\d+) frames damaged, (\d+) sent again, (\d+) packets lost"


FAULTS = {"errors": 32, "cut": 2, "stuck": 1, "forged": 1}
"""Plusargs -> bits: words hurt, of 2^32; which cables are cut; whether a data wire is stuck; whether node 0 gets the
packet of node 2 a second time in place of that of node 1."""


def head(dst: int, src: int) -> int:
    """Return the packet from one node of the ring to another: one flit of 16 bits."""
    number = (dst - src) % 4 - 1
    return (~number & 15) << 12 | number << 4 | src << 2 | dst


def changed(text: str, module: str, faults: tuple[str, ...], changes: dict[str, str]) -> str:
    """Return Verilog with other text in a module, which reads some faults from plusargs."""
    start = text.index(f"\nmodule {module}(" if f"\nmodule {module}(" in text else f"module {module} (")
    begin = text.index(";", start) + 1
    before, own = text[:begin], text[begin:]
    for old, new in changes.items():
        assert own.count(old) == 1, old
        own = own.replace(old, new)
    read = "".join(
        f'\n  reg [{FAULTS[name] - 1}:0] {name};\n  initial if (!$value$plusargs("{name}=%d", {name})) {name} = 0;'
        for name in faults
    )
    return before + read + own


@pytest.fixture(scope="module")
def ring() -> dict[str, str]:
    """Return a ring on two boards, in whose cable and chips plusargs choose faults."""
    cut = ChipOptions(chips="dim0=2", link="parallel", link_width=8)
    fabric = emit_fabric(fabric_spec("torus(4)", packet_length=1, flit_width=16), cut=cut)
    sources = self_test_sources(fabric, packets=1)
    changes = {}
    for board in range(2):
        far = f"pins_{1 - board}_far[7:0]"
        changes[f".link__data_i({far})"] = f".link__data_i({far} | {{5'd0, stuck, 2'd0}})"
        cable = f".clk_i(clk_{board}_near)"
        changes[f".errors(32'd0), .cut(1'b0), {cable}"] = f".errors(errors), .cut(cut[{board}]), {cable}"
    pair = changed(sources[f"{PAIR}.sv"], PAIR, ("errors", "cut", "stuck"), changes)
    words = "eject_0_payload"
    forged = f"forged && taken[15:0] == 16'd{head(0, 1)} ? {{1'b1, 16'd{head(0, 2)}}} : taken"
    changes = {f"  wire [16:0] {words};": f"  wire [16:0] taken;\n  assign {words} = {forged};"}
    chip = changed(
        sources["fabric_chip.sv"], fabric.top, ("forged",), changes | {f".{words}({words})": f".{words}(taken)"}
    )
    return sources | {f"{PAIR}.sv": pair, "fabric_chip.sv": chip}


def assert_reported(text: str, board: int) -> tuple[list[int], list[int]]:
    """Check what every report has, and return the counts of packets and of the link."""
    title, traffic, link, verdict = text.splitlines()
    assert title == f"hdnhw self-test: torus(4), 4 routers, board {board} of 2, 1 flits of 16 bits, run 1"
    packets, frames = re.fullmatch(TRAFFIC, traffic), re.fullmatch(LINK, link)
    assert packets is not None
    assert frames is not None
    assert verdict in ("PASS", "FAIL")
    return [int(one) for one in packets.groups()], [int(one) for one in frames.groups()]


def test_both_boards_pass_over_a_sound_cable(ring: dict[str, str]) -> None:
    for board, text in enumerate(hear_pair(ring)):
        assert assert_reported(text, board) == ([DUE, DUE, 0, 0, 0], [0, 0, 0])
        assert text.endswith("\nPASS\n")


def test_flipped_bits_are_counted_and_nothing_is_lost(ring: dict[str, str]) -> None:
    damaged, resent = 0, 0
    for board, text in enumerate(hear_pair(ring, plusargs=[f"+errors={2**32 // 10}"])):
        packets, frames = assert_reported(text, board)
        assert packets == [DUE, DUE, 0, 0, 0]
        assert text.endswith("\nPASS\n")
        damaged, resent = damaged + frames[0], resent + frames[1]
        assert not frames[2]
    assert damaged > 3
    assert resent > 0


@pytest.mark.parametrize("fault", ["stuck", "cut"])
def test_a_cable_that_is_broken_fails_both_boards(ring: dict[str, str], fault: str) -> None:
    """A data wire is stuck, or the wires one way are cut: packets pass within each board alone."""
    for board, text in enumerate(hear_pair(ring, plusargs=[f"+{fault}=1"])):
        packets, (damaged, _, _) = assert_reported(text, board)
        assert packets == [DUE, DUE - 4, 4, 0, 0]
        assert text.endswith("\nFAIL\n")
        assert (damaged > 0) == (fault == "stuck")


def test_one_packet_lost_and_another_doubled_is_reported(ring: dict[str, str]) -> None:
    verdicts = []
    for board, text in enumerate(hear_pair(ring, plusargs=["+forged=1"])):
        assert assert_reported(text, board) == ([DUE, DUE, 0, 0, 0], [0, 0, 0])
        verdicts.append(text.splitlines()[-1])
    assert verdicts == ["FAIL", "PASS"]
