"""Two colors."""

import networkx as nx
import numpy as np

from hdnhw.networks.build import build
from hdnhw.topology.coloring import two_colors
from hdnhw.topology.metrics import neighbor_table
from tests.conftest import each

NETWORKS = [
    "rdn(cube(3), 1)",
    "hdn(cube(2), [[], [0]])",
    "hdn(torus(2, 3), [[0]])",
    "torus(4, 6)",
    "torus(4, 5)",
    "mesh(3, 5)",
    "complete(2)",
    "complete(3)",
    "petersen()",
    "star(4)",
    "dualcube(3)",
    "ccc(3)",
    "ccc(4)",
    "folded_cube(3)",
    "folded_cube(4)",
    "hsn(2, cube(2))",
]


@each("text", NETWORKS)
def test_there_are_two_colors_if_there_is_no_odd_cycle(text):
    table = neighbor_table(build(text))
    odd = two_colors(table, np.ones(table.shape[1], np.bool_))
    edges = [(node, int(other)) for node, row in enumerate(table) for other in row if other >= 0]
    assert (odd is not None) == nx.is_bipartite(nx.Graph(edges))
    if odd is not None:
        assert not odd[0]
        assert all(odd[one] != odd[other] for one, other in edges)


def test_the_networks_above_are_of_both_kinds():
    tables = [neighbor_table(build(text)) for text in NETWORKS]
    found = [two_colors(table, np.ones(table.shape[1], np.bool_)) is None for table in tables]
    assert 4 <= np.sum(found) <= len(found) - 4


@each("text", NETWORKS)
@each("seed", range(4))
def test_ends_of_some_channels_differ_and_of_others_agree(text, seed):
    """Edges that agree are contracted: there is a coloring if what is left has no odd cycle, and no loop."""
    network = build(text)
    table, rng = neighbor_table(network), np.random.default_rng(seed)
    differ = rng.random(table.shape[1]) < 0.5
    for number, port in enumerate(network.ports):
        differ[port.opposite] = differ[number]
    joined, apart = nx.empty_graph(len(table)), []
    for node, row in enumerate(table.tolist()):
        for port, other in enumerate(row):
            if other >= 0 and differ[port]:
                apart.append((node, other))
            elif other >= 0:
                joined.add_edge(node, other)
    part = {node: number for number, nodes in enumerate(nx.connected_components(joined)) for node in nodes}
    left = nx.Graph([(part[one], part[other]) for one, other in apart])
    found = two_colors(table, differ)
    assert (found is not None) == nx.is_bipartite(left)
    if found is not None:
        assert all(found[one] != found[other] for one, other in apart)
        assert all(found[one] == found[other] for one, other in joined.edges)
