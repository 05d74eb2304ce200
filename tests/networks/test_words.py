"""De Bruijn and Kautz graphs, metacubes, butterflies, WK-recursive networks and hypernets, by other definitions."""

from itertools import combinations, product

import networkx as nx
import pytest

from hdnhw.networks.build import build
from tests.conftest import each


def edges_of(text, name=lambda _, node: node):
    network = build(text)
    return {
        frozenset((name(network, node), name(network, other)))
        for node in range(network.num_nodes)
        for other in network.neighbors(node).values()
    }


def word(network, node):
    return tuple(map(int, network.format_node(node).split(".")))


def fields(network, node):
    return tuple(int(part.replace(".", ""), 2) for part in network.format_node(node).split("/"))


def shifts(digraph, n):
    """Return the edges of the (n - 1)-th line digraph, between words, without loops and directions."""
    words = nx.relabel_nodes(digraph, {node: (node,) for node in digraph})
    for _ in range(n - 1):
        words = nx.relabel_nodes(nx.line_graph(words), lambda edge: (*edge[0], edge[1][-1]))
    return {frozenset(edge) for edge in words.edges if edge[0] != edge[1]}


@each(("d", "n"), [(2, 2), (2, 5), (3, 2), (3, 3), (4, 3), (3, 4)])
def test_kautz_and_de_bruijn_graphs_are_line_digraphs(d, n):
    complete = nx.complete_graph(d + 1, nx.DiGraph)
    assert edges_of(f"kautz({d}, {n})", word) == shifts(complete, n)
    loops = nx.DiGraph(product(range(d), repeat=2))
    assert edges_of(f"debruijn({d}, {n})", word) == shifts(loops, n)


@each(("d", "n"), [(2, 6), (3, 4), (5, 2)])
def test_de_bruijn_graphs_by_multiplication(d, n):
    size = d**n
    expected = {frozenset((node, (d * node + letter) % size)) for node in range(size) for letter in range(d)}
    assert edges_of(f"debruijn({d}, {n})") == {edge for edge in expected if len(edge) == 2}


@each(("d", "n"), [(2, 2), (2, 4), (3, 3)])
def test_kautz_graphs_by_multiplication(d, n):
    """Imase and Itoh, A design for directed graphs with minimum diameter, 1983."""
    size = d**n + d ** (n - 1)
    expected = nx.Graph((node, (-d * node - step) % size) for node in range(size) for step in range(1, d + 1))
    expected.remove_edges_from(list(nx.selfloop_edges(expected)))
    assert nx.is_isomorphic(nx.Graph(map(tuple, edges_of(f"kautz({d}, {n})"))), expected)


@each(("k", "m"), [(1, 1), (1, 4), (2, 1), (2, 2), (3, 1)])
def test_metacube(k, m):
    bits = k + m * 2**k
    expected = set()
    for node in range(1 << bits):
        own = node >> m * 2**k
        flips = [*range(m * own, m * own + m), *range(bits - k, bits)]
        expected |= {frozenset((node, node ^ 1 << flip)) for flip in flips}
    assert edges_of(f"metacube({k}, {m})") == expected
    if k == 1:
        assert edges_of(f"dualcube({m + 1})") == expected


@each(("s", "t"), [(1, 1), (1, 3), (3, 2), (3, 3)])
def test_exchanged_cube(s, t):
    """General biswapped networks: copies of the s-cube, named by nodes of the t-cube, and the other way round."""
    cubes = [nx.convert_node_labels_to_integers(nx.hypercube_graph(size), ordering="sorted") for size in (s, t)]
    expected = nx.Graph()
    for own, copies in (cubes, cubes[::-1]):
        for copy, (one, other) in product(copies, own.edges):
            ends = [((node, copy, 0) if own is cubes[0] else (copy, node, 1)) for node in (one, other)]
            expected.add_edge(*ends)
    expected.add_edges_from(((a, b, 0), (a, b, 1)) for a, b in product(*cubes))

    assert edges_of(f"exchanged_cube({s}, {t})", fields) == set(map(frozenset, expected.edges))
    if s == t:
        turned = {frozenset(c << 2 * s | b << s | a for a, b, c in edge) for edge in expected.edges}
        assert edges_of(f"dualcube({s + 1})") == turned


@each("n", [3, 4, 5])
def test_butterfly(n):
    """Along a ring of the cube-connected cycles, or across and along."""
    cycles = build(f"ccc({n})")
    ports = [cycles.neighbors(node) for node in range(cycles.num_nodes)]
    along = {frozenset((node, own["ring_plus"])) for node, own in enumerate(ports)}
    across = {frozenset((node, ports[own["cross"]]["ring_plus"])) for node, own in enumerate(ports)}
    assert edges_of(f"butterfly({n})") == along | across
    assert len(along | across) == 2 * n * 2**n


@each(("d", "levels"), [(2, 4), (3, 1), (3, 3), (4, 3), (5, 2)])
def test_wk_recursive(d, levels):
    """A level joins corner j of copy i to corner i of copy j; corner i of copy i is a corner of the whole."""
    edges, corners = set(), [()] * d
    for _ in range(levels):
        within = {frozenset((copy, *end) for end in edge) for copy in range(d) for edge in edges}
        joined = {frozenset(((i, *corners[j]), (j, *corners[i]))) for i, j in combinations(range(d), 2)}
        edges, corners = within | joined, [(i, *corner) for i, corner in enumerate(corners)]
    assert edges_of(f"wk({d}, {levels})", word) == edges


@each(("d", "levels"), [(2, 1), (2, 2), (2, 5), (3, 3), (4, 2)])
def test_hypernet(d, levels):
    """By lists of what external links are left: of half of them, one joins any two copies, and one of a copy is open.

    N is that of Hwang and Ghosh (1987). Huang and Chen (1999) have d disjoint paths between any two nodes, and no more.
    """
    edges = {frozenset({(node,), (node ^ 1 << bit,)}) for node in range(1 << d) for bit in range(d)}
    left = [(node,) for node in range(1 << d)]
    for _ in range(levels - 1):
        used, rest = left[::2], left[1::2]
        copies = range(len(used))
        within = {frozenset((copy, *end) for end in edge) for copy in copies for edge in edges}
        joined = {frozenset({(i, *used[j]), (j, *used[i])}) for i, j in combinations(copies, 2)}
        edges, left = within | joined, [(copy, *end) for copy in copies for end in rest]
    text = f"hypernet({d}, {levels})"
    assert edges_of(text, fields) == edges
    graph = nx.Graph(map(tuple, edges))
    assert len(graph) == build(text).num_nodes == 2 ** (2 ** (levels - 1) * (d - 2) + levels + 1)
    assert {degree for _, degree in graph.degree} == {d, d + (levels > 1)}
    assert (nx.node_connectivity(graph) == d) == (d > 2 or levels == 1)


@pytest.mark.parametrize("wrong", ["0.0.1", "0.1", "0.1.3", "0.1.0/0"])
def test_what_is_no_word(wrong):
    with pytest.raises(ValueError, match=r"^node address of kautz\(2, 3\) must be 0\.1\.2 to 2\.1\.0, not "):
        build("kautz(2, 3)").parse_node(wrong)
