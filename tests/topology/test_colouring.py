"""Two colours."""

import networkx as nx
import numpy as np

from hdnhw.networks.build import build
from hdnhw.networks.parse import parse
from hdnhw.topology.colouring import two_colours
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
def test_there_are_two_colours_if_there_is_no_odd_cycle(text):
    table = neighbor_table(build(parse(text)))
    odd = two_colours(table)
    edges = [(node, int(other)) for node, row in enumerate(table) for other in row if other >= 0]
    assert (odd is not None) == nx.is_bipartite(nx.Graph(edges))
    if odd is not None:
        assert not odd[0]
        assert all(odd[one] != odd[other] for one, other in edges)


def test_the_networks_above_are_of_both_kinds():
    found = [two_colours(neighbor_table(build(parse(text)))) is None for text in NETWORKS]
    assert 4 <= np.sum(found) <= len(found) - 4
