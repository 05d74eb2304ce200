"""Claims of the HDN paper about networks, against figures worked out by hand."""

import pytest

from hdnhw.claims import hdn_networks
from hdnhw.claims.claim import Verdict


def test_the_size_of_a_square():
    """HDN(K2, 1, {0}) is a square, HDN(K2, 2, {0}{0}) two classes of two: 16 nodes, not 4^4 / (2 * 2 * 2)."""
    found = hdn_networks.size_formula()
    assert found.verdict == Verdict.PARTLY
    assert found.counterexample == "hdn(complete(2), [[0], [0]]): 32 published, 16 computed"
    assert found.corrected is not None


def test_one_cluster_a_class(monkeypatch):
    monkeypatch.setattr(hdn_networks, "MOST", 100)
    found = hdn_networks.diameter()
    assert found.verdict == Verdict.PARTLY
    assert found.counterexample == "hdn(complete(2), [[0]]): 3 published, 2 computed"
    assert found.corrected.startswith("D_k as printed, but D_1 = D_0 + 1")


@pytest.mark.parametrize(
    "check", [hdn_networks.recurrence, hdn_networks.degree, hdn_networks.clusters, hdn_networks.super_node_sizes]
)
def test_what_the_construction_says(check):
    assert check().verdict == Verdict.HOLDS


def test_a_cycle_of_two_nodes():
    found = hdn_networks.torus_degree()
    assert found.verdict == Verdict.PARTLY
    assert found.counterexample == "torus(2, 3, 5), C2 counted once: 6 published, 5 computed"
    assert found.corrected.startswith("5, 6 and 7")


def test_growth_and_range():
    assert hdn_networks.growth().verdict == hdn_networks.range_of_sizes().verdict == Verdict.HOLDS
    assert hdn_networks.range_of_sizes().computed.startswith("72 sizes from 60 to 6480000")
    found = hdn_networks.growth_rate()
    assert (found.verdict, found.elsewhere) == (Verdict.MISPRINT, "Table 2")


def test_a_wrong_cell_is_found(monkeypatch):
    assert hdn_networks.table1().verdict == Verdict.HOLDS
    monkeypatch.setattr(hdn_networks, "TABLE1", hdn_networks.TABLE1.replace(" 240\n", " 241\n"))
    found = hdn_networks.table1()
    assert found.counterexample == "hdn(torus(2, 3, 5), [[0, 1, 2], [0, 1, 2]]): 241 published, 240 computed"


def test_searches_of_table_1(monkeypatch):
    monkeypatch.setattr(hdn_networks, "torus_nets", lambda: [(30,), (15,), (30, 30), (10, 15), (5, 10)])
    found = hdn_networks.table1_diameters()
    assert found.verdict == Verdict.PARTLY
    assert found.counterexample == "hdn(torus(2, 3, 5), [[0, 1, 2]]): 6 published, 5 computed"
    assert [row["D computed"] for row in found.table] == [5, 7, 8, 13, 15]
    assert [row["sources"] for row in found.table] == [1, 1, 1, 5, 4]
    assert (found.search["nodes"], found.search["spec"]) == (25920, "hdn(torus(2, 3, 5), [[2], [0, 2]])")


def test_the_other_end_of_a_cross_edge(monkeypatch):
    monkeypatch.setattr(hdn_networks, "MOST", 32)
    found = hdn_networks.cross_edge_index()
    assert (found.verdict, found.corrected) == (Verdict.MISPRINT, "(1 - C, SN, U, N)")
    table = hdn_networks.metrics.neighbor_table
    monkeypatch.setattr(hdn_networks.metrics, "neighbor_table", lambda network: table(network)[:, ::-1])
    assert hdn_networks.cross_edge_index().verdict == Verdict.FALSE
