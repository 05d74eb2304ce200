"""Embeddings: places, routes, dilation and congestion counted anew."""

from collections import Counter

import networkx
import pytest

from hdnhw.collectives.embedding import embed
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from tests.conftest import each
from tests.topology.test_hamiltonian import SPECS, tuples_of
from tests.topology.test_hamiltonian import neighbors_of as beside

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
    network = build(text)
    return networkx.Graph(
        [(node, other) for node in range(network.num_nodes) for other in network.neighbors(node).values()]
    )


def check(found, on, of):
    """Count dilation and congestion anew on the graphs of a host and a guest."""
    nodes = found.nodes.tolist()
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


@each(("host", "guest", "way", "most"), CASES)
def test_an_embedding_is_what_it_says(host, guest, way, most):
    found = embed(build(host), build(guest))
    check(found, graph(host), graph(guest))
    assert found.way == way
    assert most is None or found.dilation <= most


@each("host", [text for text in SPECS if 8 <= build(text).num_nodes <= 700])
def test_rings_meshes_trees_and_hypercubes(host):
    """On networks that are built by the papers' definition, see :mod:`tests.topology.test_hamiltonian`."""
    network = build(host)
    size, tuples = network.num_nodes, tuples_of(network)
    numbers = {node: number for number, node in enumerate(tuples)}
    supers = [level.super_node_factors for level in network.levels]
    edges = [(own, numbers[other]) for node, own in numbers.items() for other in beside(network.factors, supers, node)]
    on, half = networkx.Graph(edges), max(side for side in range(1, size) if size % side == 0 and side * side <= size)
    tree = [[(node - 1) // 2, node] for node in range(1, size - 1)]
    guests, bounds = {"torus": size, "mesh": f"{half}, {size // half}", "graph": tree}, {"torus": 1}
    if all(factor.is_edge for factor in network.factors):
        guests["cube"], most = size.bit_length() - 1, 2 * len(network.levels) + 1
        bounds |= {"mesh": most, "graph": 2 * most, "cube": most} if network.is_nested else {}
    for kind, sides in guests.items():
        guest = f"{kind}({sides})"
        found = embed(network, build(guest))
        check(found, on, graph(guest))
        assert found.dilation <= bounds.get(kind, size)


def test_the_better_way_is_chosen():
    host, guest = build("rdn(cube(2), 1)"), build("torus(4, 8)")
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
        embed(build(host), build(guest), way)
