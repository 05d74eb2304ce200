"""Claims of the HDN paper about symmetry."""

import numpy as np

from hdnhw.claims import hdn_symmetry
from hdnhw.claims.claim import Verdict
from hdnhw.claims.families import dual_net


def test_nodes_of_nested_networks_only(monkeypatch):
    """Figure 3 of the paper itself, HDN(2-cube, 2, {2, 4}), has four kinds of nodes."""
    monkeypatch.setattr(hdn_symmetry, "MOST", 130)
    found = hdn_symmetry.node_symmetric()
    assert found.verdict == Verdict.PARTLY
    assert found.counterexample == "hdn(complete(2), [[], [0]]): 1 orbit published, 4 orbits computed"
    assert hdn_symmetry._orbits(dual_net("hdn(cube(2), [[0], [0, 1]])")).node_orbit.max() + 1 == 4


def test_products(monkeypatch):
    assert hdn_symmetry.products().verdict == Verdict.HOLDS
    monkeypatch.setattr(hdn_symmetry, "PRODUCTS", ("torus(2, 3)", "mesh(3, 3)"))
    assert hdn_symmetry.products().counterexample == "mesh(3, 3): 1 published, 3 computed"


def test_edges_of_cubes_only(monkeypatch):
    monkeypatch.setattr(hdn_symmetry, "MOST", 130)
    found = hdn_symmetry.edge_symmetric()
    assert found.verdict == Verdict.FALSE
    assert found.counterexample == "hdn(complete(3), [[0]]): 1 orbit published, 2 orbits computed"


def test_large_networks_by_distances(monkeypatch):
    monkeypatch.setattr(hdn_symmetry, "torus_nets", lambda: [(15,), (15, 30), (30, 15), (10, 6)])
    found = hdn_symmetry.table1_node_symmetric()
    assert (found.verdict, found.computed[:20]) == (Verdict.PARTLY, "holds on 2 of 4 netw")


def test_a_square_can_be_expanded_in_two_ways(monkeypatch):
    monkeypatch.setattr(hdn_symmetry, "EXPANDED", ("complete(3)", "cube(2)"))
    found = hdn_symmetry.unique()
    assert found.verdict == Verdict.PARTLY
    assert found.counterexample.startswith("cube(2) of 4 nodes: one graph published, graphs that differ")
    assert found.corrected is not None


def test_renumbering_keeps_one_edge_a_pair_of_clusters():
    table = hdn_symmetry._renumbered(dual_net("cube(2)"), (1, 0, 2, 3))
    nodes = np.arange(32)
    assert (table[table[:, -1], -1] == nodes).all()
    assert len({(node // 4, int(other) // 4) for node, other in enumerate(table[:, -1])}) == 32
