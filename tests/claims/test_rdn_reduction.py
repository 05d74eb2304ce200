"""Reduction and prefix sums on RDNs."""

import pytest

from hdnhw.claims import rdn_reduction
from hdnhw.claims.claim import Verdict


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(rdn_reduction, "SPECS", rdn_reduction.SPECS[:4])


@pytest.mark.parametrize("claim", rdn_reduction.CLAIMS, ids=lambda claim: claim.check.__name__)
def test_what_holds(claim):
    found = claim.check()
    assert found.verdict == Verdict.HOLDS
    assert [(row["nodes"], row["steps"]) for row in found.table] == [(8, 4), (32, 6), (128, 10), (128, 8)]


def test_values_combined_in_the_wrong_order(monkeypatch):
    after = rdn_reduction._after
    monkeypatch.setattr(rdn_reduction._Nodes, "_base", lambda _, total: (total, total))
    assert rdn_reduction.reduction().verdict == Verdict.FALSE
    monkeypatch.undo()
    monkeypatch.setattr(rdn_reduction, "SPECS", rdn_reduction.SPECS[:1])
    monkeypatch.setattr(rdn_reduction, "_after", lambda first, second: after(second, first))
    assert rdn_reduction.prefix_sums().verdict == Verdict.FALSE
