"""Claims of the HDN paper about quotient graphs, re-indexing and Algorithm 1."""

import numpy as np
import pytest

from hdnhw.claims import hdn_routing
from hdnhw.claims.claim import Verdict
from hdnhw.claims.families import dual_net
from hdnhw.topology.metrics import neighbor_table


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(hdn_routing, "SEARCHED", 300)
    monkeypatch.setattr(hdn_routing, "QUOTIENTS", 300)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("check", "verdict", "counterexample"),
    [
        ("quotients", Verdict.PARTLY, "hdn(complete(2), [[], [0]]): 3 published, 2 computed"),
        ("shortest", Verdict.PARTLY, "hdn(complete(2), [[], [0]]): all routes shortest published, "),
        (
            "simple_reindexing",
            Verdict.PARTLY,
            "hdn(cube(2), [[0], [1]]): one to one published, not one to one computed",
        ),
        ("super_node_range", Verdict.MISPRINT, "hdn(complete(2), [[], [0]]): 2 published, 4 computed"),
        ("table1_bound", Verdict.HOLDS, None),
        ("difference", Verdict.HOLDS, None),
        ("serial_numbers", Verdict.HOLDS, None),
    ],
)
def test_verdicts(check, verdict, counterexample):
    found = getattr(hdn_routing, check)()
    assert found.verdict == verdict
    assert (found.counterexample or "").startswith(counterexample or "")


def test_the_step_of_the_proof_of_theorem_2_that_is_wrong():
    found = hdn_routing.inner_calls()
    assert found.verdict == Verdict.PARTLY
    assert found.counterexample == "hdn(cube(2), [[], [0, 1]]): at most 4 hops published, 5 computed"


def test_theorem_2(monkeypatch):
    """On the 2-cube with single nodes, then whole clusters, as super-nodes: 14 hops where 12 are promised."""
    monkeypatch.setattr(hdn_routing, "SEARCHED", 600)
    found = hdn_routing.bound()
    assert found.verdict == Verdict.PARTLY
    assert found.counterexample == "hdn(cube(2), [[], [0, 1]]): at most 12 hops published, 14 computed"
    assert found.corrected is not None


def test_table_4():
    found = hdn_routing.table4()
    assert (found.verdict, found.counterexample) == (
        Verdict.MISPRINT,
        "(1, 4, 2, 3): (19, 0) published, (19, 2) computed",
    )
    assert all(row["serial / 15"] == row["published"] for row in found.table)
    assert "super-nodes of degrees [3, 4, 5] where C3 x C5 has 4" in found.computed


def test_a_table_that_follows_the_text(monkeypatch):
    """N^1 = 3 is b0 = 1, b1 = 0; so SN^2 = (1, 4, 1) = 19 and N^2 = (0, 2) = 2."""
    monkeypatch.setattr(hdn_routing, "PRINTED", {(1, 4, 2, 3): (19, 2), (0, 0, 2, 2): (0, 12)})
    assert hdn_routing.table4().verdict == Verdict.HOLDS


def test_the_example():
    assert hdn_routing.example().verdict == Verdict.HOLDS


def test_a_ring_of_pairs():
    """A ring of six with opposite nodes made one is a triangle; each is within one hop of every pair."""
    table = neighbor_table(dual_net("torus(6)"))
    assert hdn_routing._quotient_distances(table, np.arange(6) % 3) == (1, 1)
    assert hdn_routing._quotient_distances(table, np.arange(6)) == (3, 3)
