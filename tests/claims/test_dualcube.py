"""Claims of the dual-cube paper."""

import pytest

from hdnhw.claims import dualcube, dualcube_routing
from hdnhw.claims.claim import Verdict


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(dualcube_routing, "PAIRS", 4)
    monkeypatch.setattr(dualcube_routing, "ROUTED", 4)
    monkeypatch.setattr(dualcube_routing, "LARGE", 6)
    monkeypatch.setattr(dualcube_routing, "CUT", 4)


@pytest.mark.parametrize("module", [dualcube, dualcube_routing])
def test_what_holds(module):
    wrong = {claim.check.__name__ for claim in module.CLAIMS if claim.check().verdict != Verdict.HOLDS}
    assert (
        wrong
        == {
            dualcube: {"one_bit", "eight_links", "cubic_diameter"},
            dualcube_routing: {"diameter", "average", "broadcast"},
        }[module]
    )


@pytest.mark.parametrize(
    ("check", "verdict", "counterexample"),
    [
        (dualcube.one_bit, Verdict.FALSE, "F_2: 12 pairs, 12 edges published, 12 pairs, 8 edges computed"),
        (dualcube.eight_links, Verdict.FALSE, "F_8: eight thousands published, 32768 computed"),
        (dualcube.cubic_diameter, Verdict.FALSE, "hcn(2): about 0.75 published, 1.00 computed"),
        (dualcube_routing.diameter, Verdict.PARTLY, "F_1: 2 published, 1 computed"),
        (dualcube_routing.broadcast, Verdict.PARTLY, "F_1: 2 published, 1 computed"),
        (dualcube_routing.average, Verdict.MISPRINT, "F_3: 2 published, 3.25 computed"),
    ],
)
def test_errata(check, verdict, counterexample):
    """F_2 is a ring of eight, F_1 one edge; the 3-cube has 12 pairs of nodes that differ in one bit."""
    found = check()
    assert (found.verdict, found.counterexample) == (verdict, counterexample)
    assert found.corrected is not None


def test_f_2_is_a_ring_of_eight():
    assert dualcube.links_of(2).tolist() == [
        [1, 4],
        [0, 5],
        [3, 6],
        [2, 7],
        [6, 0],
        [7, 1],
        [4, 2],
        [5, 3],
    ]


def test_a_broadcast_that_turns_back(monkeypatch):
    """A node that is told twice, or tells before it knows."""
    steps = dualcube_routing._broadcast(3, 0)
    assert (len(steps), sum(map(len, steps))) == (6, 31)
    monkeypatch.setattr(dualcube_routing, "_broadcast", lambda *_: [*steps, [(0, 1)]])
    assert dualcube_routing._receipts(3, 0) == (7, False)
    monkeypatch.setattr(dualcube_routing, "_broadcast", lambda *_: steps[::-1])
    assert dualcube_routing._receipts(3, 0) == (6, False)


def test_a_construction_with_a_link_too_few():
    edges = dualcube_routing._four_times({(0, 1)}, 2)
    assert edges == {(u, v) for u, row in enumerate(dualcube.links_of(2).tolist()) for v in row if u < v}
    assert dualcube_routing._four_times(set(), 2) < edges


def test_figure_5_has_a_step_for_every_node():
    rows = dualcube_routing.figure5().table
    assert [row["nodes"] for row in rows] == [1, 2, 4, 6, 6, 12]
    assert sorted(" ".join(row["receivers"] for row in rows).split()) == [f"{node:05b}" for node in range(1, 32)]


def test_a_figure_that_is_not_the_text(monkeypatch):
    steps = dualcube_routing._broadcast(3, 0)
    monkeypatch.setattr(dualcube_routing, "_broadcast", lambda *_: [*steps[:4], steps[5], steps[4]])
    assert dualcube_routing.figure5().verdict == Verdict.FALSE
    monkeypatch.setattr(dualcube, "ORIGIN_PROCESSORS", 1)
    assert dualcube.origin().verdict == Verdict.FALSE
    links = dualcube.links_of(4)
    monkeypatch.setattr(dualcube, "links_of", lambda _: links[::-1])
    assert dualcube.figure3().verdict == Verdict.FALSE
