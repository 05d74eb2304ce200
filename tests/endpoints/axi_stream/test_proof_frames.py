"""Frames through AXI4-Stream endpoints: those of emitted ones come out whole, those of changed ones do not."""

from functools import partial

import pytest

from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.proofs.endpoints import prove_endpoints
from hdnhw.proofs.finding import verdict
from tests.proofs.changed import SECONDS, SMALL, answers, changed, check_refuted, emitted

pytestmark = pytest.mark.usefixtures("answers_of_this_run")

NARROW = {"network": "cube(2)", "packet_length": 4}
"""Of machines with short words, as these make a circuit large."""

prove_frames = partial(prove_endpoints, properties=["frames"])


@pytest.mark.parametrize(
    ("network", "options", "endpoints"),
    [
        ("cube(2)", {"packet_length": 4, "flit_width": 8}, {"max_frame": 16}),
        (SMALL, {}, {}),
        ("mesh(2, 2)", {"packet_length": 16, "flit_width": 16}, {"tuser_width": 8, "tuser": "last"}),
        ("torus(4, 4)", {"packet_length": 2, "flit_width": 64}, {"max_frame": 64}),
        ("rdn(cube(3), 1)", {"packet_length": 4}, {"max_frame": 64}),
    ],
)
def test_frames_of_what_is_emitted_come_out_whole(network, options, endpoints):
    fabric = emitted(AxiStreamSpec(**endpoints), network, **options)
    assert answers(prove_frames(fabric, seconds=SECONDS)) == {("bounded", "")}


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (  # nothing leaves: seen in the last cycle of the schedule alone
            r"(assign inject__valid =) .*;",
            r"\1 1'h0;",
            "a frame has not come out in the end",
        ),
        (  # one word of all is changed
            r"(\\receiver.data \[.*\] <=) (.*);",
            r"\1 (\2) ^ ((\2) == 8'hbe);",
            "data of a transfer are changed",
        ),
        (  # what the buffer knows of a frame
            r"(\\buffer.frames.entries \[.*\] <=) (.*);",
            r"\1 (\2) ^ 2;",
            "",
        ),
        (  # the next packet of a frame is another one
            r"(\\receiver.links.words \[)(.*)(\] <=)",
            r"\1(\2) ^ 1\3",
            "",
        ),
        (  # all sources have one frame that is being put together
            r"(= \\receiver.partials.words \[)(.*)(\];)",
            r"\g<1>3'd0\3",
            "",
        ),
        (  # a packet that is whole is called another one
            r"(\\receiver.queue.entries \[.*\] <=) (.*);",
            r"\1 (\2) ^ 1;",
            "",
        ),
    ],
)
def test_a_changed_frame_is_refuted(pattern, becomes, said):
    fabric = emitted(AxiStreamSpec(max_frame=16), **NARROW, flit_width=8)
    check_refuted(prove_frames(changed(fabric, pattern, becomes), seconds=SECONDS), said)


def test_what_is_bounded_is_named_beside_what_is_proved():
    assert verdict([("route", "proved"), ("frames", "bounded")]) == {"proved": True, "bounded": ["frames"]}
    assert verdict([("route", "bounded")]) == {"proved": False}
    assert verdict([("route", "proved"), ("frames", "undecided")]) == {"proved": False}
    assert verdict([("frames", "bounded"), ("frames", "refuted")])["proved"] is False
