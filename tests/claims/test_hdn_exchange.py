"""Section 4 of the HDN paper: what is known without the checks, and that they can fail."""

import json
from fractions import Fraction

import pytest

from hdnhw.claims import hdn_exchange
from hdnhw.claims.claim import Verdict
from hdnhw.claims.families import dual_net
from hdnhw.collectives.cost import Cost

TWO = ("rdn(cube(1), 1)", "hdn(cube(2), [[0]])")


@pytest.fixture(autouse=True)
def few_networks(monkeypatch):
    monkeypatch.setattr(hdn_exchange, "SMALL", TWO)
    monkeypatch.setattr(hdn_exchange, "FAMILY", TWO)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (hdn_exchange.delivers, Verdict.HOLDS),
        (hdn_exchange.first_stage, Verdict.HOLDS),
        (hdn_exchange.third_stage, Verdict.MISPRINT),
        (hdn_exchange.inner_stages, Verdict.PARTLY),
        (hdn_exchange.base_square, Verdict.MISPRINT),
        (hdn_exchange.argument, Verdict.MISPRINT),
        (hdn_exchange.within_theorem3, Verdict.PARTLY),
        (hdn_exchange.figure2, Verdict.PARTLY),
    ],
)
def test_verdicts(check, verdict):
    found = check()
    assert found.verdict == verdict
    json.dumps(found.table)


def test_theorem_3_on_a_ring_of_eight():
    # Algorithm 2 on C8, by hand: 4 words cross, 4 in clusters of two, all 8 cross, 4 in clusters; 16 are published.
    found = hdn_exchange.theorem3()
    assert found.counterexample.startswith("rdn(cube(1), 1), split sum: 4 t_s + 16 t_w, or 4 t_s + 16 t_w")
    assert found.counterexample.endswith("4 t_s + 20 t_w computed")
    assert found.corrected == hdn_exchange.CORRECTED
    assert [row["least words"] for row in found.table] == [16, 40]


def test_theorem_3_is_exact_where_super_nodes_are_pairs():
    found = hdn_exchange.theorem3()
    assert found.verdict == Verdict.PARTLY
    ring, pairs = found.table
    assert {ring[f"split {split}"] for split in ("sum", "destination", "source")} == {"4 t_s + 20 t_w"}
    assert (pairs["split destination"], pairs["split source"]) == (pairs["published"],) * 2 == ("6 t_s + 48 t_w",) * 2
    assert pairs["split sum"] == "6 t_s + 56 t_w"


def test_a_wrong_correction_is_not_handed_back(monkeypatch):
    monkeypatch.setattr(hdn_exchange, "corrected_formula", lambda _: Cost(1, 1))
    assert hdn_exchange.theorem3().corrected is None


def test_a_right_formula_holds(monkeypatch):
    right = hdn_exchange.corrected_formula
    monkeypatch.setattr(hdn_exchange, "paper_formula", lambda network, _: right(network))
    monkeypatch.setattr(hdn_exchange, "ONE_N", ())
    assert hdn_exchange.theorem3().verdict == hdn_exchange.within_theorem3().verdict == Verdict.HOLDS


def test_less_than_the_sum_of_distances(monkeypatch):
    # On 18 nodes of RDN(C3, 1): one at 0, 3 at 1, 4 at 2, ... 45 in all; Theorem 3 has 2 x 18 + 4 x 3/2 = 42.
    monkeypatch.setattr(hdn_exchange, "FAMILY", (*TWO, "rdn(torus(3), 1)"))
    found = hdn_exchange.against_least()
    assert found.counterexample == "rdn(torus(3), 1): 6 t_s + 42 t_w published, at least 45 t_w computed"


def test_the_letter_of_theorem_3():
    favorable, letter = hdn_exchange._theorem3(dual_net("hdn(cube(2), [[0]])"))
    assert (favorable, letter) == (Cost(6, 48), Cost(6, Fraction(80)))


def test_much_less_links_are_half_of_them(monkeypatch):
    """128 nodes of degree 4 beside the 7-cube; 2,048 of degree 4 beside the 11-cube."""
    monkeypatch.setattr(hdn_exchange, "LARGER", ("rdn(cube(3), 1)", "rdn(cube(2), 2)"))
    found = hdn_exchange.longer_with_fewer_links()
    assert (found.verdict, found.turned) == (Verdict.PARTLY, "holds with 1, false with 4")
    assert found.computed == "holds on 1 of 4 networks: where there are 2,048 nodes or more, and only there"
    monkeypatch.setattr(hdn_exchange, "_least", lambda _: 0)
    assert hdn_exchange.longer_with_fewer_links().verdict == Verdict.FALSE
