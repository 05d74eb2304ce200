"""Claims of the RDN paper about the network."""

import pytest

from hdnhw.claims import rdn_networks
from hdnhw.claims.claim import Verdict


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(rdn_networks, "MOST", 2048)


@pytest.mark.parametrize(
    "check",
    ["size", "degree", "diameter", "symmetric", "cluster_pairs", "cross_edges", "example_id", "routing", "better"],
)
def test_what_holds(check):
    assert getattr(rdn_networks, check)().verdict == Verdict.HOLDS


def test_a_ring_of_six(monkeypatch):
    """Half of the clusters of class 1, and half of each cluster of class 0 along two edges: 12 edges."""
    monkeypatch.setattr(rdn_networks, "PROVED", ("complete(2)", "torus(6)"))
    found = rdn_networks.cuts()
    assert found.verdict == Verdict.FALSE
    assert found.counterexample == "rdn(torus(6), 1): 18 published, 12 computed"
    assert found.corrected.startswith("at most n_(k-1) times")
    says = {row["network"]: row["says"] for row in found.table}
    assert (says["rdn(complete(2), 1)"], says["rdn(torus(6), 1)"]) == ("as claimed", "less")
    assert says["rdn(cube(3), 1)"] == "as claimed"


def test_an_octagon_is_no_better_than_a_cube():
    """RDN(K2, 1) is a ring of eight: degree 2, diameter 4, log2 8 = 3."""
    found = rdn_networks.better()
    assert found.verdict == Verdict.HOLDS
    assert found.computed.endswith("all below 2 but rdn(complete(2), 1) has 2.00")


def test_table_1_and_a_wrong_cell(monkeypatch):
    rows = rdn_networks.TABLE1.splitlines()
    monkeypatch.setattr(rdn_networks, "TABLE1", "\n".join(rows[:5]))
    found = rdn_networks.table1()
    assert (found.verdict, found.search["nodes"]) == (Verdict.HOLDS, 1458)
    monkeypatch.setattr(rdn_networks, "TABLE1", "\n".join(rows[:5]).replace("1.43", "1.44"))
    assert rdn_networks.table1().verdict == Verdict.FALSE
