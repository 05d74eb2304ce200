"""Two bridges back to back: whatever the wires do, packets come once and in order."""

import random
from typing import Any

import pytest

from hdnhw.rtl.bridge.frame import LinkFormat
from hdnhw.sim.links import FAULTS, LinkBench, LinkRun, LinkSpec, Stage
from hdnhw.support.errors import SpecError
from hdnhw.verilog.verilog import module_text

TORUS: dict[str, Any] = {"network": "torus(5, 5)", "ports": (0, 1), "arrivals": (1, 0)}
"""Two channels, of two virtual channels each, that lead to each other."""

MESH: dict[str, Any] = {"network": "mesh(4, 4)", "ports": (0, 1), "arrivals": (1, 0)}
"""Likewise, of one each."""

ROUGH = Stage(2500, load=0.4, room=0.7, pace=0.9, stalls=0.1, faults=dict.fromkeys(FAULTS, 0.002) | {"spoils": 0.05})

DRAIN = Stage(8000, load=0.0)
"""Long enough for a link that is down, with all buffers full."""

SPECS = [
    LinkSpec(network="cube(3)", ports=(0,)),
    LinkSpec(**TORUS),
    LinkSpec(),
    *(LinkSpec(options={"packet_length": length, "flit_width": 16}, word_width=16, **MESH) for length in (1, 2, 4, 5)),
    *(LinkSpec(options={"packet_length": 16, "switching": "cut-through"}, ahead=(ahead,)) for ahead in (0, 8)),
    *(LinkSpec(word_width=width) for width in (8, 12)),
    LinkSpec(options={"packet_length": 256, "flit_width": 8}, word_width=8),
    LinkSpec(options={"crc": True}, word_width=40),
    *(
        LinkSpec(options=options)
        for options in (
            {"crc": True},
            {"queueing": "voq"},
            {"channel_latency": "2"},
            {"packet_length": 3, "buffers": 1},
            {"flit_width": 64, "ram": "distributed"},
        )
    ),
    LinkSpec(network="torus(5, 5)", ports=(0, 0, 1, 1), arrivals=(3, 2, 1, 0), options={"lanes": 2}),
    LinkSpec(options={"packet_length": 1, "flit_width": 64}, word_width=64),
]


def check(run: LinkRun, *, since: int = 0) -> None:
    """Check that all came, once and in order, but for what was sent before a cycle."""
    assert (run.wrong, run.disordered, run.missing(0, since), run.missing(1, since)) == (0, 0, 0, 0)
    assert [side["up"] for side in run.seen[-1]] == [1, 1]
    assert all(len(packets) > 0 for side in run.came for packets in side.values())


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_all_comes_once_and_in_order(spec: LinkSpec) -> None:
    run = LinkBench(spec).run([Stage(600, load=0.5), ROUGH, DRAIN])
    check(run)
    assert sum(run.happened.values()) > 10
    assert all(side["damaged"] and side["resent"] and not side["lost"] for side in run.seen[-1])


@pytest.mark.parametrize("spec", [LinkSpec(), LinkSpec(**TORUS)], ids=str)
def test_the_wires_may_go_away(spec: LinkSpec) -> None:
    """All words of one side, or of both, are dropped; or nothing moves for long."""
    busy = Stage(400, load=0.7, room=0.7)
    for gone in (Stage(6000, away=(0,)), Stage(6000, away=(0, 1)), Stage(300, away=(1,)), Stage(9000, pace=0.0)):
        run = LinkBench(spec).run([busy, gone, busy, DRAIN])
        check(run)
        hears = [gone.cycles < 4096 or (gone.pace > 0 and 1 - side not in gone.away) for side in (0, 1)]
        assert [bool(side["up"]) for side in run.seen[1]] == hears
        assert not any(side["lost"] for side in run.seen[-1])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spec", [LinkSpec(), LinkSpec(**TORUS)], ids=str)
def test_a_reset_loses_only_what_was_under_way(spec: LinkSpec, seed: int) -> None:
    """Of one side or both, in any state of the link, and while the wires are rough or away."""
    rng = random.Random(seed)
    stages = [Stage(rng.choice([200, 600]))]
    for _ in range(12):
        kind = rng.choice(["quiet", "rough", "away"])
        stages.append(
            Stage(
                rng.choice([1, 5, 20, 60, 200, 700]),
                load=rng.choice([0.3, 1.0]),
                room=rng.choice([0.3, 1.0]),
                faults=dict.fromkeys(FAULTS, 0.005 * (kind == "rough")),
                away=(rng.randrange(2),) if kind == "away" else (),
                resets=rng.choice([(), (0,), (1,), (0, 1)]),
            )
        )
    run = LinkBench(spec).run(
        [*stages, Stage(2500), Stage(500), Stage(4500, load=0.0)], delay=rng.choice([1, 20, 90]), seed=seed
    )
    check(run, since=run.begun[-2])


def test_what_waits_for_a_buffer_outlives_a_reset_of_the_other_side() -> None:
    """And so does what waits for a router; what is lost beside what the other side had taken is counted."""
    spec = LinkSpec()
    run = LinkBench(spec).run([Stage(6000, holds=("0,0",)), Stage(1, load=0.0, resets=(1,)), DRAIN])
    assert (run.wrong, run.disordered) == (0, 0)
    lost, buffers = (
        run.seen[-1][0]["lost"],
        LinkFormat(spec.machine, spec.ports, spec.arrivals, spec.word_width).buffers,
    )
    assert 0 < lost <= run.missing(0) <= lost + 2 * buffers + 2
    waiting = [place for place, cycle in enumerate(run.sent[0]["0,0"]) if cycle < run.begun[1]][-1]
    assert waiting in [place for _, place in run.came[1]["0,0"]]
    assert len(run.came[0]["0,0"]) >= buffers


@pytest.mark.parametrize("spec", [LinkSpec(), LinkSpec(**TORUS)], ids=str)
def test_no_queue_waits_for_another(spec: LinkSpec) -> None:
    """A router that takes nothing of one queue stops no other one; and what it leaves is not overwritten."""
    noise = Stage(3000, holds=("0,0",), faults={"noise": 0.1})
    run = LinkBench(spec).run([Stage(4000, holds=("0,0",)), Stage(3000, holds=("0,0",)), noise, DRAIN])
    check(run)
    for came in run.came:
        per_queue = {
            queue: sum(run.begun[1] <= cycle < run.begun[2] for cycle, _ in packets) for queue, packets in came.items()
        }
        assert per_queue.pop("0,0") == 0
        assert sum(per_queue.values()) > 0.5 * 3000 / 8


@pytest.mark.parametrize("damaged", [0.0, 0.02])
@pytest.mark.parametrize("spec", [LinkSpec(), LinkSpec(**TORUS)], ids=str)
def test_packets_get_nine_tenths_of_the_wires(spec: LinkSpec, damaged: float) -> None:
    """Over a round trip of 200 words; two thirds with one frame in 50 damaged."""
    run = LinkBench(spec).run([Stage(1500), Stage(6000, faults={"spoils": damaged})], delay=90)
    for came in run.came:
        words = 8 * sum(cycle >= run.begun[1] for packets in came.values() for cycle, _ in packets)
        assert words > (0.65 if damaged else 0.9) * 6000
    assert bool(run.happened) == bool(damaged)


def test_a_packet_alone_takes_few_cycles_beside_the_wires() -> None:
    spec, delay = LinkSpec(), 50
    run = LinkBench(spec).run([Stage(500, load=0.0), Stage(5000, load=0.02), DRAIN], delay=delay)
    link = LinkFormat(spec.machine, spec.ports, spec.arrivals, spec.word_width)
    frame = link.header_words + link.packet_words + link.check_words
    times = sorted(cycle - sent - delay - frame for sent, cycle in run.times())
    assert len(times) > 10
    assert times[len(times) // 2] <= 2 * 15


@pytest.mark.parametrize(
    ("options", "kinds", "message"),
    [
        (
            {"switching": "cut-through"},
            {},
            "bridges do not go with switching='cut-through' of packets of fewer than 16 flits",
        ),
        ({}, {"ports": ()}, "ports must be some of the network's 0 to 1, not"),
        ({}, {"ports": (2,)}, "ports must be some of the network's 0 to 1, not"),
        ({}, {"arrivals": (1,)}, "arrivals and ahead must have one number for each of 1 ports"),
        ({}, {"ahead": (0, 0)}, "arrivals and ahead must have one number for each of 1 ports"),
        ({}, {"word_width": 7}, "word_width must be 8 to 32 bits, those of a flit, not 7"),
        ({}, {"word_width": 33}, "word_width must be 8 to 32 bits, those of a flit, not 33"),
        ({}, {"ports": (0, 1), "arrivals": (1, 1)}, "arrivals and ahead must have one number for each of 2 ports"),
    ],
)
def test_what_cannot_be_bridged_is_refused(options: dict[str, Any], kinds: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        _ = LinkSpec(options=options, **kinds).bridge


def test_a_side_that_is_loaded_anew_is_not_taken_for_the_one_before() -> None:
    """An FPGA begins with the same epoch whenever it is loaded: here both sides do at each reset."""
    spec = LinkSpec()
    text, before = module_text(spec.bridge, "bridge", flatten=True), r"<= \session.signal.next [15:0];"
    assert text.count(before) == 1
    gone = (0, 1)
    run = LinkBench(spec, text=text.replace(before, "<= 16'h0000;")).run(
        [
            Stage(400),
            Stage(6000, away=gone),
            Stage(1, away=gone, resets=(1,)),
            Stage(50, away=gone),
            Stage(2500),
            Stage(400),
            DRAIN,
        ]
    )
    check(run, since=run.begun[-2])
    assert run.seen[-1][0]["lost"] > 0


def test_a_header_that_names_a_full_queue_spoils_no_other_frame() -> None:
    """At low load the frame behind a damaged one is often the one that is sent again."""
    full = ("0,0",)
    hurt = Stage(3000, load=0.08, holds=full, faults={"noise": 0.05})
    check(LinkBench(LinkSpec()).run([Stage(4000, holds=full), hurt, hurt, DRAIN], delay=1))


def test_a_side_that_was_reset_is_known_by_its_epoch_alone() -> None:
    """It has heard of the other side before that hears of it."""
    run = LinkBench(LinkSpec()).run(
        [Stage(400), Stage(1, away=(1,), resets=(1,)), Stage(6000, away=(1,)), Stage(2500), Stage(400), DRAIN]
    )
    check(run, since=run.begun[-2])


@pytest.mark.parametrize("first", [700, 1200, 1700])
def test_credits_begin_anew_with_a_side_that_was_reset(first: int) -> None:
    """However many packets had gone to it: its buffers fill, and are not overwritten."""
    held = Stage(5000, holds=("0,0", "0,1"))
    run = LinkBench(LinkSpec()).run([Stage(first), Stage(1, resets=(1,)), held, Stage(2000), Stage(400), DRAIN])
    check(run, since=run.begun[2] + 600)


def test_no_credit_is_lost_on_rough_wires() -> None:
    """Each queue has its share of the rate when they are sound again."""
    run = LinkBench(LinkSpec()).run([ROUGH, ROUGH, Stage(3000), Stage(4000)])
    for came in run.came:
        shares = [8 * sum(cycle >= run.begun[3] for cycle, _ in packets) / 4000 for packets in came.values()]
        assert all(share > 0.4 for share in shares), shares
