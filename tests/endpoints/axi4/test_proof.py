"""Bursts through AXI4 endpoints: those of emitted ones come out whole, those of changed ones do not."""

from functools import partial

import pytest

from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.proofs.endpoints import prove_endpoints
from tests.proofs.changed import SECONDS, SMALL, answers, changed, check_refuted, emitted

pytestmark = pytest.mark.usefixtures("answers_of_this_run")

NARROW = {"network": "cube(2)", "packet_length": 4}
"""Of machines with short words, as these make a circuit large."""

prove_bursts = partial(prove_endpoints, properties=["bursts"])


@pytest.mark.parametrize(
    ("network", "options", "endpoints"),
    [
        ("cube(2)", {"packet_length": 4, "flit_width": 16}, {"outstanding": 2, "id_width": 1, "memory_bits": 14}),
        (SMALL, {}, {}),
        ("torus(4, 4)", {"packet_length": 8, "flit_width": 64}, {"id_width": 2}),
    ],
)
def test_bursts_of_what_is_emitted_come_out_whole(network, options, endpoints):
    fabric = emitted(AxiMemorySpec(**endpoints), network, **options)
    assert answers(prove_bursts(fabric, seconds=SECONDS)) == {("bounded", "")}


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (  # nothing leaves: seen in the last cycle of the schedule alone
            r"(\\sender.flits.o__valid  <=) .*;",
            r"\1 1'h0;",
            "a burst has not been answered in the end",
        ),
        (  # one word of all is changed on its way back
            r"(\\reads.words_0 \[.*\] <=) (.*);",
            r"\1 (\2) ^ ((\2) == 8'hef);",
            "what is read is not what is there",
        ),
        (  # and one that is written
            r"(\\writes.buffer.words \[.*\] <=) (.*);",
            r"\1 (\2) ^ ((\2) == 16'hbeef);",
            "what is written is changed",
        ),
        (  # strobes are all set
            r"(\\player.data.o__payload  <=) (.*);",
            r"\1 \2 | 19'h30000;",
            "strobes are changed",
        ),
        (  # a burst never wraps
            r"(\\writes.splitter.turns  <=) .*;",
            r"\1 1'h0;",
            "strobes are changed|what is written is changed",
        ),
        (  # what the memory reads is given in another order
            r"(= \\reads.words_0 \[\{ \\reads.oldest_\d+ , )(.*)( \}\];)",
            r"\1~\2\3",
            "what is read is not what is there",
        ),
    ],
)
def test_a_changed_burst_is_refuted(pattern, becomes, said):
    fabric = emitted(AxiMemorySpec(outstanding=2, id_width=1, memory_bits=14), **NARROW, flit_width=16)
    check_refuted(prove_bursts(changed(fabric, pattern, becomes), seconds=SECONDS), said)


@pytest.mark.parametrize(
    "change",
    [
        (r"(\\writes.splitter_cut  <=) .*;", r"\1 1'h0;"),  # a beat that does not write all its lanes cuts no part
        (r"(\\writes.whole  <=) .*;", r"\1 2'h1;"),  # one that writes a lane of two does
        (r"(\\player.last  <=) .*;", r"\1 2'h3;"),  # the last beat has all lanes
        (r"(\\player.fixed  <=) .*;", r"\1 1'h1;"),  # narrow beats of a part have the same lanes
    ],
)
def test_changed_strobes_are_refuted(change):
    fabric = emitted(
        AxiMemorySpec(outstanding=2, id_width=1, memory_bits=14), "cube(2)", packet_length=8, flit_width=16
    )
    check_refuted(prove_bursts(changed(fabric, *change), seconds=SECONDS), "strobes are changed")


def test_a_schedule_that_leaves_its_memories_is_undecided():
    fabric = emitted(AxiMemorySpec(id_width=1, memory_bits=14), **NARROW, flit_width=16)
    queued = changed(fabric, r"(\\receiver.requests.passes  <=) .*;", r"\1 1'h0;")
    broken = changed(queued, r"(\\receiver.requests.flits \[)(.*)(\] <=)", r"\1~(\2)\3")
    (found,) = prove_bursts(broken, seconds=SECONDS)
    assert (found.answer, found.why) == ("undecided", "more words of a memory are written than the rig has")
