"""Claims of the disjoint-path paper: verdicts that are known, and what changes them."""

import pytest

from hdnhw.papers import disjoint_faults, disjoint_networks, disjoint_paths
from hdnhw.papers.claim import Verdict
from hdnhw.papers.disjoint import CLAIMS
from hdnhw.papers.families import dual_net


@pytest.fixture
def small(monkeypatch):
    """Few networks, pairs and trials."""
    monkeypatch.setattr(disjoint_networks, "MOST", 36)
    monkeypatch.setattr(disjoint_paths, "MOST", 64)
    monkeypatch.setattr(disjoint_paths, "SAMPLE", 25)
    monkeypatch.setattr(disjoint_faults, "PAIRS", 40)
    monkeypatch.setattr(disjoint_faults, "TRIALS", 4000)
    for made in (disjoint_faults._paths, disjoint_faults._points):
        made.cache_clear()
    yield
    for made in (disjoint_faults._paths, disjoint_faults._points):
        made.cache_clear()


def test_every_check_is_its_own():
    assert len({claim.check for claim in CLAIMS}) == len(CLAIMS) > 25
    assert {claim.paper for claim in CLAIMS} == {"DISJ"}


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (disjoint_networks.example, Verdict.HOLDS),
        (disjoint_networks.lemmas, Verdict.HOLDS),
        (disjoint_paths.figure4, Verdict.HOLDS),
        (disjoint_paths.algorithm3, Verdict.MISPRINT),
        (disjoint_paths.enough_super_nodes, Verdict.PARTLY),
        (disjoint_paths.existence, Verdict.HOLDS),
        (disjoint_paths.case_b, Verdict.FALSE),
        (disjoint_paths.fan_length, Verdict.FALSE),
        (disjoint_paths.theorem4_solved, Verdict.MISPRINT),
        (disjoint_faults.clusters_used, Verdict.HOLDS),
        (disjoint_faults.clusters_c, Verdict.MISPRINT),
        (disjoint_faults.figure13, Verdict.HOLDS),
    ],
)
@pytest.mark.usefixtures("small")
def test_verdicts(check, verdict):
    assert check().verdict == verdict


@pytest.mark.usefixtures("small")
def test_the_third_cluster_is_the_correction_of_case_c():
    found = disjoint_paths.case_c()
    assert found.verdict == Verdict.FALSE
    assert "third cluster" in found.corrected
    assert {row["third cluster"] for row in found.table} == {"1.00"}


def test_bounds_of_the_example_by_hand():
    """D(B) = 3, D(SN^1) = 1, D(SN^2) = 3, D_1 = 2 * 3 - 1 + 2 = 7, D(Q) = 7 - 3 = 4."""
    bounds = disjoint_paths._bounds(dual_net(disjoint_networks.EXAMPLE))
    assert bounds == {
        "printed": 8 * 3 - 3 * 1 - 3 + 12 + 4 - 2,
        "solved": 8 * 3 - 3 * 1 - 12 + 12 + 4 - 2,
        "line above": 3 * 4 + 2 * 3 - 3 + 2 * 2 + 4,
        "with SN^1": 2 * (3 - 1 + 3) + 3 * 4 + 2 + 3,
    }


@pytest.mark.usefixtures("small")
def test_a_wrong_maker_of_paths_is_found(monkeypatch):
    monkeypatch.setattr(disjoint_paths, "disjoint_routes", disjoint_paths._printed)
    assert disjoint_paths.existence().verdict == Verdict.FALSE
