"""Families of networks that are routed by tables, against what their papers say and what networkx knows."""

from itertools import product

import networkx
import numpy as np
import pytest

import hdnhw
from hdnhw.networks.build import build
from hdnhw.networks.parse import parse
from hdnhw.support.errors import SpecError
from hdnhw.topology.places import layout
from tests.conftest import each


def graph_of(text):
    network = build(text)
    return network, hdnhw.Network(network.spec).to_networkx()


@pytest.mark.parametrize("q", [3, 4, 5, 7, 8, 9])
def test_slim_fly(q):
    _, graph = graph_of(f"slim_fly({q})")
    delta = {0: 0, 1: 1, 3: -1}[q % 4]
    assert len(graph) == 2 * q * q
    assert {degree for _, degree in graph.degree} == {(3 * q - delta) // 2}
    assert networkx.diameter(graph) == 2


def test_the_slim_fly_of_50_nodes_is_the_graph_of_hoffman_and_singleton():
    _, graph = graph_of("slim_fly(5)")
    assert networkx.is_isomorphic(graph, networkx.hoffman_singleton_graph())


@pytest.mark.parametrize(("a", "h"), [(1, 3), (2, 1), (4, 2), (3, 2)])
def test_dragonfly(a, h):
    _, graph = graph_of(f"dragonfly({a}, {h})")
    assert len(graph) == a * (a * h + 1)
    assert {degree for _, degree in graph.degree} == {a - 1 + h}
    groups = networkx.quotient_graph(graph, lambda one, other: one // a == other // a)
    assert networkx.density(groups) == 1
    between = [edge for edge in graph.edges if edge[0] // a != edge[1] // a]
    assert len(between) == len(groups) * (len(groups) - 1) // 2
    assert networkx.diameter(graph) <= 3


def test_jellyfish():
    (_, one), (_, other), (_, again) = (graph_of(f"jellyfish(20, 3, {seed})") for seed in (1, 2, 1))
    assert {degree for _, degree in one.degree} == {3}
    assert networkx.is_connected(one)
    assert set(one.edges) == set(again.edges) != set(other.edges)
    assert str(parse("jellyfish(20, 3)")) == "jellyfish(20, 3, 1)"


@pytest.mark.parametrize("k", [2, 4, 6])
def test_fat_tree(k):
    network, graph = graph_of(f"fat_tree({k})")
    nodes = k**3 // 4
    assert (network.num_terminals, len(graph)) == (nodes, nodes + 5 * k * k // 4)
    degrees = dict(graph.degree)
    assert {degrees[node] for node in range(nodes)} == {1}
    assert {degrees[node] for node in range(nodes, len(graph))} == {k}
    assert networkx.diameter(graph) == 6
    half = [(node, "s") for node in range(nodes // 2)], [(node, "t") for node in range(nodes // 2, nodes)]
    graph.add_edges_from([*half[0], *half[1]])
    networkx.set_edge_attributes(graph, 1, "capacity")
    for node, end in (*half[0], *half[1]):
        graph.edges[node, end]["capacity"] = 1
    assert networkx.maximum_flow_value(graph, "s", "t") == nodes // 2


def test_concentrated():
    network, graph = graph_of("concentrated(torus(3, 4), 2)")
    assert (network.num_terminals, len(graph)) == (24, 36)
    assert {graph.degree[node] for node in range(24)} == {1}
    assert [sorted(set(graph[24 + switch]) & set(range(24))) for switch in range(12)] == [
        [2 * switch, 2 * switch + 1] for switch in range(12)
    ]
    assert networkx.is_isomorphic(graph.subgraph(range(24, 36)), networkx.grid_graph([3, 4], periodic=True))


@each(
    ("nucleus", "levels"),
    [
        ("bus(4)", 2),
        ("bus(3)", 3),
        ("bus(2)", 4),
        ("concentrated(cube(1), 2)", 2),
        ("fat_tree(2)", 3),
        ("hsn(2, bus(2))", 2),
    ],
)
def test_swapped_over_a_nucleus_with_switches(nucleus, levels):
    """By the paper's definition: X_l .. X_1, with swaps of two nodes of nuclei that are not equal."""
    below, inner = graph_of(nucleus)
    network, graph = graph_of(f"hsn({levels}, {nucleus})")
    size, defined = below.num_terminals, networkx.Graph()
    for upper in product(range(size), repeat=levels - 1):
        defined.add_edges_from(((*upper, one), (*upper, other)) for one, other in inner.edges)
        for own, place in product(range(size), range(levels - 1)):
            there = (*upper[:place], own, *upper[place + 1 :], upper[place])
            defined.add_edges_from([((*upper, own), there)] * (there != (*upper, own)))
    nodes = sorted(defined, key=lambda node: (node[-1] >= size, node))
    assert network.num_terminals == size**levels
    assert {frozenset(edge) for edge in graph.edges} == {frozenset(map(nodes.index, edge)) for edge in defined.edges}


def test_a_nucleus_stands_around_its_switch():
    places = layout(build("hsn(2, bus(4))")).places
    for nucleus in range(4):
        apart = np.linalg.norm(places[16:] - places[4 * nucleus : 4 * nucleus + 4].mean(axis=0), axis=1)
        assert apart.argmin() == nucleus


def test_a_bus():
    network, graph = graph_of("bus(5)")
    assert (network.num_terminals, str(network.spec)) == (5, "bus(5)")
    assert networkx.is_isomorphic(graph, networkx.star_graph(5))
    assert graph.degree[5] == 5


def test_flattened_butterfly():
    assert str(parse("flattened_butterfly(4, 3)")) == "concentrated(ghc(4, 4), 4)"


@each(
    ("text", "message"),
    [
        ("slim_fly(6)", "slim_fly q must be a prime power from 3 to 64, not 6"),
        ("slim_fly(15)", "slim_fly q must be a prime power from 3 to 64, not 15"),
        ("jellyfish(5, 3)", "jellyfish degree must be below its size, their product even, not 3 and 5"),
        ("fat_tree(5)", "fat_tree ports must be an even number, 64 at most, not 5"),
        ("dragonfly(64, 64)", "has 16650208 edges; networks that are lists of edges have at most 524288"),
        ("bus(1)", "bus nodes must be at least 2, not 1"),
        ("bus(4097)", "bus nodes must be at most 4096, not 4097"),
        ("concentrated(4, 4)", "concentrated must be over a network, not 4"),
        ("graph(3)", "graph must be the name of a file, or a list of edges such as"),
        ("graph([[0, 1], [2]])", "graph must be the name of a file, or a list of edges such as"),
        ("graph([[0, -1]])", "graph node must be at least 0, not -1"),
        ("graph('none.edges')", "file 'none.edges': cannot be read: No such file or directory"),
    ],
)
def test_specs_that_are_refused(text, message):
    with pytest.raises(SpecError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_switches_of_switches():
    with pytest.raises(SpecError, match=r"must be over a network whose nodes all have terminals; fat_tree\(4\) has"):
        build("concentrated(fat_tree(4), 2)")
    with pytest.raises(SpecError, match=r"^hsn\(40, bus\(4\)\) is too large: tables of it would have more than"):
        build("hsn(40, bus(4))")


def test_a_graph_that_its_file_no_longer_is(tmp_path):
    file = tmp_path / "net.edges"
    file.write_text("0 1\n1 2\n")
    spec = parse(f"graph({str(file)!r})")
    file.write_text("0 1\n1 2\n0 2\n")
    assert build(spec).neighbors(0) == {"port0": 1}
    assert spec != parse(f"graph({str(file)!r})")
    assert str(spec) == f"graph({str(file)!r})"


def test_a_graph_of_edges():
    spec = parse("graph([[5, 9], [9, 7], [7, 9]])")
    assert parse(str(spec)) == spec
    assert str(spec) == "graph([[5, 9], [7, 9]])"
    network = build(spec)
    assert (network.parse_node("9"), network.paper_address(1), network.num_nodes) == (2, "7", 3)
