"""Embeddings: places, routes, dilation and congestion counted anew."""

from collections import Counter

import networkx
import pytest

from hdnhw.collectives.embedding import embed
from hdnhw.networks.build import build
from hdnhw.networks.parse import parse
from hdnhw.support.errors import SpecError
from tests.conftest import each

TREE = networkx.balanced_tree(2, 3)
CASES = [
    ("dualcube(3)", "torus(32)", "cycle", 1),
    ("dualcube(3)", "cube(5)", "cube", 3),
    ("dualcube(3)", f"graph({[list(edge) for edge in TREE.edges]})", "cube", 6),
    ("dualcube(4)", "mesh(8, 16)", "cube", 3),
    ("rdn(cube(2), 1)", "torus(4, 8)", "cube", 3),
    ("rdn(cube(2), 1)", "mesh(5, 6)", "cycle", None),
    ("rdn(cube(1), 2)", "cube(7)", "cube", 5),
    ("hdn(cube(2), [[0], [0]])", "cube(8)", "cube", 5),
    ("hdn(cube(2), [[0], [0, 1]])", "torus(128)", "cycle", 1),
    ("hdn(cube(1), [[], [0]])", "cube(6)", "cube", None),
    ("rdn(torus(3, 3), 1)", "torus(162)", "cycle", 1),
    ("rdn(complete(3), 1)", "petersen()", "cycle", None),
    ("hsn(3, cube(1))", "cube(3)", "cube", None),
]
"""Host, guest, the way that is chosen, and the most dilation that is proved."""


def graph(text):
    network = build(parse(text))
    return networkx.Graph(
        [(node, other) for node in range(network.num_nodes) for other in network.neighbors(node).values()]
    )


@each(("host", "guest", "way", "most"), CASES)
def test_an_embedding_is_what_it_says(host, guest, way, most):
    found, on, of = embed(build(parse(host)), build(parse(guest))), graph(host), graph(guest)
    nodes = found.nodes.tolist()
    assert found.way == way
    assert len(set(nodes)) == len(of) == len(nodes)
    assert {frozenset(edge) for edge in found.routes} == {frozenset(edge) for edge in of.edges}
    loads = Counter()
    for (one, other), route in found.routes.items():
        assert (route[0], route[-1]) == (nodes[one], nodes[other])
        assert networkx.is_simple_path(on, route)
        loads.update(frozenset(route[place : place + 2]) for place in range(len(route) - 1))
    lengths = [len(route) - 1 for route in found.routes.values()]
    assert (found.dilation, found.congestion) == (max(lengths), max(loads.values()))
    assert found.mean_dilation == pytest.approx(sum(lengths) / len(lengths))
    assert most is None or found.dilation <= most


def test_the_better_way_is_chosen():
    host, guest = build(parse("rdn(cube(2), 1)")), build(parse("torus(4, 8)"))
    figures = {way: (embed(host, guest, way).dilation, embed(host, guest, way).congestion) for way in ("cube", "cycle")}
    assert figures["cube"] < figures["cycle"]
    assert (embed(host, guest).dilation, embed(host, guest).congestion) == figures["cube"]


@pytest.mark.parametrize(
    ("host", "guest", "way", "message"),
    [
        ("cube(2)", "torus(5)", None, r"at most the nodes of its host, 4; torus\(5\) has 5"),
        ("star(4)", "torus(5)", None, r"a host is a product, .* or an HSN over cubes, not star\(4\)"),
        ("star(4)", "torus(5)", "cube", r"for dual-nets and HSNs over cubes, not star\(4\)"),
        ("mesh(3, 3)", "torus(5)", None, r"no Hamiltonian cycle of mesh\(3, 3\) is known"),
        ("dualcube(3)", "mesh(5, 6)", "cube", r"mesh\(5, 6\) takes a hypercube of 64 nodes; dualcube\(3\) has 32"),
        ("cube(2)", "graph([[0, 1], [1, 2], [2, 3]])", "cube", r"takes a hypercube of 8 nodes; cube\(2\) has 4"),
        ("dualcube(3)", "petersen()", "cube", r"products and trees are numbered .*; petersen\(\) is neither"),
        ("cube(21)", "torus(5)", None, r"a host has at most 1048576 nodes; cube\(21\) has 2097152"),
        ("cube(17)", "cube(15)", None, r"a guest has 1 to 131072 edges; cube\(15\) has 245760"),
    ],
)
def test_what_is_refused(host, guest, way, message):
    with pytest.raises(SpecError, match=message):
        embed(build(parse(host)), build(parse(guest)), way)
