"""Sections IV to VI of the RDN paper: what is known without the checks, and that they can fail."""

import json

import pytest

from hdnhw.collective.cost import Cost
from hdnhw.papers import rdn_collectives, rdn_comparison, rdn_counts
from hdnhw.papers.claim import Verdict
from hdnhw.papers.families import dual_net

RDN1 = "rdn(cube(3), 1)"


@pytest.fixture(autouse=True)
def few_networks(monkeypatch):
    two = ("rdn(cube(1), 1)", "rdn(torus(3), 1)")
    monkeypatch.setattr(rdn_collectives, "FEW", two)
    monkeypatch.setattr(rdn_collectives, "RDNS", two)
    monkeypatch.setattr(rdn_collectives, "RDN2", RDN1)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (rdn_collectives.broadcast_bound, Verdict.HOLDS),
        (rdn_collectives.theorem3, Verdict.HOLDS),
        (rdn_collectives.allgather_recurrence, Verdict.HOLDS),
        (rdn_collectives.exchange_recurrence, Verdict.HOLDS),
        (rdn_collectives.identities, Verdict.HOLDS),
        (rdn_collectives.theorem5, Verdict.MISPRINT),
        (rdn_collectives.theorem6, Verdict.MISPRINT),
        (rdn_comparison.three_cube, Verdict.HOLDS),
        (rdn_comparison.gather_steps, Verdict.MISPRINT),
    ],
)
def test_verdicts(check, verdict):
    found = check()
    assert found.verdict == verdict
    json.dumps(found.table)


@pytest.mark.parametrize(
    ("operation", "words"),
    [("scatter", 127), ("allgather", 135), ("exchange", 63 + 192 + 127 + 192)],
)
def test_recurrences_by_hand(operation, words):
    assert rdn_counts.recurrence(dual_net(RDN1), operation) == Cost(8, words)


def test_theorem_4_is_half_too_much():
    found = rdn_collectives.theorem4()
    assert (found.verdict, found.table[-1]["published"]) == (Verdict.MISPRINT, "8 t_s + 191 t_w")
    assert found.table[-1]["computed"] == "8 t_s + 127 t_w"


def test_the_pseudo_code_informs_72_of_128_nodes():
    found = rdn_collectives.algorithm1()
    assert found.verdict == Verdict.MISPRINT
    row = next(row for row in found.table if row["nodes"] == 128)
    assert (row["fewest informed"], row["sources that inform all"]) == (72, 16)
    for row in found.table:
        assert row["sources that inform all"] == row["sources with s_1 = s_2 at every level"]


def test_right_senders_from_the_start(monkeypatch):
    literal = rdn_collectives.literal_broadcast
    monkeypatch.setattr(rdn_collectives, "literal_broadcast", lambda *args, **_: literal(*args, right_senders=True))
    assert rdn_collectives.algorithm1().verdict == Verdict.HOLDS


def test_a_correction_that_does_not_help(monkeypatch):
    literal = rdn_collectives.literal_broadcast
    monkeypatch.setattr(rdn_collectives, "literal_broadcast", lambda *args, **_: literal(*args))
    found = rdn_collectives.algorithm1()
    assert (found.verdict, found.corrected) == (Verdict.FALSE, None)


def test_an_impossible_time(monkeypatch):
    monkeypatch.setattr(rdn_comparison, "RDN2", "rdn(cube(2), 1)")
    monkeypatch.setattr(rdn_comparison, "TABLE2", "All2All_P 7+448 8+512 5+80 6+96")
    found = rdn_comparison.table2_exchange()
    assert found.verdict == Verdict.FALSE
    assert found.counterexample == "rdn(cube(2), 1): 6 t_s + 96 t_w published, at least 104 t_w computed"
    assert found.corrected.startswith("8 t_s + 560 t_w and 6 t_s + 104 t_w")
    monkeypatch.setattr(rdn_comparison, "TABLE2", "All2All_P 7+448 8+560 5+80 6+104")
    assert rdn_comparison.table2_exchange().verdict == Verdict.HOLDS


def test_the_fewest_steps_of_a_broadcast():
    specs = ["complete(5)", "torus(6)", "cube(3)"]
    assert [rdn_collectives._least_steps(dual_net(spec)) for spec in specs] == [3, 3, 3]
