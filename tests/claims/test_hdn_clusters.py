"""Fat trees that are joined completely, beside the HDN."""

import networkx as nx
import pytest

from hdnhw.claims import hdn_clusters
from hdnhw.claims.claim import Verdict


def test_each_two_fat_trees_have_one_link():
    """Seventeen fat trees of 16 nodes, each node with a link to another tree; 13 = 6 + 1 + 6 hops."""
    table, nodes = hdn_clusters.joined_fat_trees(4, 17)
    graph = nx.Graph((node, int(other)) for node, row in enumerate(table) for other in row if other >= 0)
    assert (nodes, len(graph), graph.number_of_edges()) == (16, 17 * 36, 17 * 48 + 17 * 16 // 2)
    across = [(u // 36, v // 36) for u, v in graph.edges if u // 36 != v // 36]
    assert len({frozenset(pair) for pair in across}) == len(across) == 17 * 16 // 2
    assert max(graph.degree(node) for node in range(16)) == 2
    ends = [node for node in graph if node % 36 < 16]
    hops = nx.single_source_shortest_path_length(graph, 0)
    assert max(hops[node] for node in ends) == 13


def test_what_is_said_holds_for_one_level(monkeypatch):
    monkeypatch.setattr(hdn_clusters, "MOST", 250)
    found = hdn_clusters.beside_fat_trees()
    assert (found.verdict, len(found.table)) == (Verdict.PARTLY, 4)
    assert "where k = 1, and only there" in found.computed


@pytest.mark.parametrize(("name", "value"), [("node_symmetric", False), ("num_edges", 10**6)])
def test_an_hdn_that_is_worse_is_found(monkeypatch, name, value):
    monkeypatch.setattr(hdn_clusters, "MOST", 100)
    monkeypatch.setattr(hdn_clusters.metrics, name, lambda _: value)
    assert hdn_clusters.beside_fat_trees().verdict == Verdict.FALSE
