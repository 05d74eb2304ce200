"""Cubes, star and Petersen graph against their definitions on plain bits and permutations, and networkx."""

from itertools import permutations, product

import networkx as nx
import numpy as np
import pytest

from hdnhw.networks.build import build
from hdnhw.networks.parse import parse
from hdnhw.rules.plan import plan
from hdnhw.support.errors import SpecError
from hdnhw.topology import metrics
from tests.conftest import each

SPECS = [
    *(f"folded_cube({n})" for n in range(2, 6)),
    *(f"crossed_cube({n})" for n in range(1, 7)),
    *(f"ccc({n})" for n in range(3, 6)),
    *("reduced_cube(1, 1)", "reduced_cube(2, 1)", "reduced_cube(2, 2)", "reduced_cube(3, 2)"),
    *(f"star({n})" for n in range(2, 6)),
    "petersen()",
    *("debruijn(2, 2)", "debruijn(2, 5)", "debruijn(3, 3)", "debruijn(4, 3)", "debruijn(3, 4)"),
    *("kautz(2, 2)", "kautz(2, 5)", "kautz(4, 2)", "kautz(3, 3)", "kautz(4, 3)", "kautz(3, 4)"),
    *("metacube(1, 2)", "metacube(2, 1)", "exchanged_cube(1, 3)", "exchanged_cube(3, 2)", "exchanged_cube(2, 2)"),
    *("butterfly(3)", "butterfly(4)", "wk(2, 3)", "wk(4, 1)", "wk(3, 3)", "wk(4, 3)"),
    *("hypernet(3, 1)", "hypernet(2, 2)", "hypernet(2, 4)", "hypernet(3, 2)", "hypernet(4, 2)", "hypernet(3, 3)"),
]


def graph_of(text):
    network = build(text)
    return network, nx.Graph(
        (node, other) for node in range(network.num_nodes) for other in network.neighbors(node).values()
    )


def edges(graph):
    return {frozenset(edge) for edge in graph.edges}


def related(one, other):
    """Whether two pairs of bits are pair-related (Efe, 1992)."""
    return (one, other) in {(0b00, 0b00), (0b10, 0b10), (0b01, 0b11), (0b11, 0b01)}


def are_crossed(n, u, v):
    """Whether u and v are adjacent in CQ_n by Efe's definition."""
    top = (u ^ v).bit_length() - 1
    if top < 0 or (top % 2 and (u ^ v) >> (top - 1) & 1):
        return False
    return all(related(u >> low & 3, v >> low & 3) for low in range(0, top - top % 2, 2)) and top < n


@pytest.mark.parametrize("n", range(2, 6))
def test_folded_cube(n):
    _, graph = graph_of(f"folded_cube({n})")
    expected = {frozenset((u, u ^ flip)) for u in range(1 << n) for flip in [*(1 << bit for bit in range(n)), 2**n - 1]}
    assert edges(graph) == expected


@pytest.mark.parametrize("n", range(1, 7))
def test_crossed_cube(n):
    _, graph = graph_of(f"crossed_cube({n})")
    assert edges(graph) == {frozenset((u, v)) for u in range(1 << n) for v in range(u) if are_crossed(n, u, v)}


@pytest.mark.parametrize("n", [3, 4])
def test_cube_connected_cycles(n):
    _, graph = graph_of(f"ccc({n})")
    expected = set()
    for word in range(1 << n):
        for place in range(n):
            node = word * n + place
            expected |= {
                frozenset((node, word * n + (place + 1) % n)),
                frozenset((node, (word ^ 1 << place) * n + place)),
            }
    assert edges(graph) == expected


@pytest.mark.parametrize("n", range(3, 8))
def test_packets_go_the_shorter_way_up_a_ring_of_ccc(n):
    """Up from a lower place to a higher one; all others go down, so that no class has a cycle."""
    rule = plan(f"ccc({n})").rule
    network = rule.network
    for place, wanted in product(range(n), repeat=2):
        cur, dst = network.decode(place), network.decode(wanted)
        hops, away = 0, abs(wanted - place)
        while (hop := rule.next_hop(cur, dst)) is not None:
            cur, hops = network.move(cur, hop[0]), hops + 1
        assert (cur, hops) == (dst, min(away, n - away) if wanted > place else away)


@pytest.mark.parametrize(("k", "m"), [(1, 1), (2, 1), (2, 2), (3, 2)])
def test_reduced_cube(k, m):
    _, graph = graph_of(f"reduced_cube({k}, {m})")
    expected = set()
    for node in range(1 << k + 2**m):
        selected = (node & (1 << k) - 1) >> (k - m)
        expected |= {frozenset((node, node ^ 1 << bit)) for bit in [*range(k), k + selected]}
    assert edges(graph) == expected


@pytest.mark.parametrize("n", range(2, 6))
def test_star(n):
    _, graph = graph_of(f"star({n})")
    symbols = list(permutations(range(n)))
    expected = set()
    for number, one in enumerate(symbols):
        for place in range(1, n):
            other = list(one)
            other[0], other[place] = one[place], one[0]
            expected.add(frozenset((number, symbols.index(tuple(other)))))
    assert edges(graph) == expected


def test_petersen():
    _, graph = graph_of("petersen()")
    assert nx.is_isomorphic(graph, nx.petersen_graph())


@pytest.mark.parametrize("text", SPECS)
def test_figures(text):
    network, graph = graph_of(text)
    degrees = {degree for _, degree in graph.degree}
    assert metrics.num_edges(network) == graph.number_of_edges()
    assert metrics.degree_bounds(network) == (min(degrees), max(degrees))
    assert metrics.diameter_formula(network) in (nx.diameter(graph), None)
    assert metrics.diameter_corrected(network) is None
    profiles = {tuple(metrics.distance_histogram(network, node)) for node in graph}
    assert network.node_symmetric == (len(profiles) == 1 and not text.startswith(("crossed_cube(5", "crossed_cube(6")))


@pytest.mark.parametrize("n", [4, 5])
def test_symmetry_of_crossed_cubes(n):
    """Kulasinghe and Bettayeb: every node can be moved to every other one up to n = 4, and not beyond."""
    network, graph = graph_of(f"crossed_cube({n})")
    marked = [nx.set_node_attributes(copy, {node: "here"}, "mark") or copy for node in graph for copy in [graph.copy()]]
    same = nx.algorithms.isomorphism.categorical_node_match("mark", "")
    assert network.node_symmetric == all(nx.is_isomorphic(marked[0], other, same) for other in marked[1:])


@pytest.mark.parametrize("text", SPECS)
def test_ports_and_addresses(text):
    network, _ = graph_of(text)
    table = metrics.neighbor_table(network)
    nodes = np.arange(network.num_nodes)
    assert np.array_equal(network.encode(network.decode(nodes)), nodes)
    assert len(network.digit_names) == len(set(network.digit_names)) == len(network.radices)
    assert network.port_sets == {tuple(np.flatnonzero(row >= 0).tolist()) for row in table}
    assert network.is_regular == (len({sum(row >= 0) for row in table}) == 1)
    for index, port in enumerate(network.ports):
        having = nodes[table[:, index] >= 0]
        assert table[table[having, index], port.opposite].tolist() == having.tolist()
        assert network.port_count(index) == len(having)
        assert [network.neighbors(node).get(port.name, -1) for node in nodes.tolist()] == table[:, index].tolist()
    for node in nodes.tolist():
        assert network.parse_node(network.format_node(node)) == node


@pytest.mark.parametrize(
    ("text", "node", "address"),
    [
        ("folded_cube(3)", 6, "1.1.0"),
        ("crossed_cube(4)", 6, "0.1.1.0"),
        ("ccc(3)", 20, "1.1.0/2"),
        ("reduced_cube(2, 1)", 13, "1.1/0.1"),
        ("star(4)", 9, "1.2.3.0"),
        ("petersen()", 7, "1.2"),
        ("debruijn(3, 3)", 5, "0.1.2"),
        ("kautz(2, 3)", 5, "1.2.1"),
        ("metacube(1, 2)", 20, "1/0.1/0.0"),
        ("exchanged_cube(1, 2)", 13, "1/1.0/1"),
        ("butterfly(3)", 20, "1.1.0/2"),
        ("wk(3, 2)", 5, "1.2"),
        ("hypernet(3, 2)", 13, "0.1/1.0.1"),
    ],
)
def test_addresses_look_so(text, node, address):
    assert build(text).format_node(node) == address


@pytest.mark.parametrize("wrong", ["0.1.2", "0.1.2.2", "0.1/2.3", "1.2.3.4"])
def test_what_is_no_permutation(wrong):
    with pytest.raises(ValueError, match=r"^node address of star\(4\) must be 0\.1\.2\.3 to 3\.2\.1\.0, not "):
        build("star(4)").parse_node(wrong)


@pytest.mark.parametrize(
    ("text", "radices"),
    [
        ("torus(2, 3)", (2, 3)),
        ("folded_cube(3)", (2, 2, 2)),
        ("crossed_cube(2)", (2, 2)),
        ("ccc(3)", (2, 2, 2, 3)),
        ("reduced_cube(2, 1)", (2, 2, 2, 2)),
        ("star(4)", (4, 3, 2)),
        ("petersen()", (2, 5)),
    ],
)
def test_radices(text, radices):
    assert parse(text).radices == build(text).radices == radices


REFUSED = [
    ("star(0)", "star size must be at least 2, not 0"),
    ("star(19)", "star(19) needs 64 address bits; at most 60 are allowed"),
    ("ccc(2)", "ccc dimension must be at least 3, not 2"),
    ("ccc(60)", "ccc(60) needs 66 address bits; at most 60 are allowed"),
    ("folded_cube(1)", "folded_cube dimension must be at least 2, not 1"),
    ("crossed_cube(61)", "crossed_cube dimension must be at most 60, not 61"),
    ("reduced_cube(2, 3)", "reduced_cube selector bits must be 1 to 2, its dimension, not 3"),
    ("reduced_cube(6, 6)", "reduced_cube(6, 6) needs 70 address bits; at most 60 are allowed"),
    ("reduced_cube(2)", "reduced_cube must be reduced_cube(K, M), not 1 argument"),
    ("petersen(3)", "petersen must be petersen(), not 1 argument"),
    ("debruijn(1, 3)", "debruijn letters must be at least 2, not 1"),
    ("debruijn(2, 61)", "debruijn dimension must be at most 60, not 61"),
    ("debruijn(5, 21)", "debruijn(5, 21) needs 63 address bits; at most 60 are allowed"),
    ("kautz(3, 1)", "kautz dimension must be at least 2, not 1"),
    ("kautz(2049, 2)", "kautz(2049, 2) has 4098 ports per node; at most 4096 are allowed"),
    ("kautz(2)", "kautz must be kautz(D, N), not 1 argument"),
    ("metacube(0, 3)", "metacube dimension must be at least 1, not 0"),
    ("metacube(2, 15)", "metacube(2, 15) needs 62 address bits; at most 60 are allowed"),
    ("metacube(60, 1)", "metacube(60, 1) needs 1152921504606847036 address bits; at most 60 are allowed"),
    ("exchanged_cube(0, 3)", "exchanged_cube field bits must be at least 1, not 0"),
    ("exchanged_cube(30, 30)", "exchanged_cube(30, 30) needs 61 address bits; at most 60 are allowed"),
    ("butterfly(2)", "butterfly dimension must be at least 3, not 2"),
    ("butterfly(55)", "butterfly(55) needs 61 address bits; at most 60 are allowed"),
    ("wk(1, 3)", "wk nodes of a level must be at least 2, not 1"),
    ("wk(4097, 1)", "wk(4097, 1) has 4097 ports per node; at most 4096 are allowed"),
    ("wk(4, 31)", "wk(4, 31) needs 62 address bits; at most 60 are allowed"),
    ("hypernet(1, 2)", "hypernet dimension must be at least 2, not 1"),
    ("hypernet(3, 0)", "hypernet levels must be at least 1, not 0"),
    ("hypernet(2, 61)", "hypernet level count must be at most 60, not 61"),
    ("hypernet(2, 60)", "hypernet(2, 60) needs 61 address bits; at most 60 are allowed"),
    ("hypernet(9, 4)", "hypernet(9, 4) needs 61 address bits; at most 60 are allowed"),
    ("hypernet(60, 60)", "hypernet(60, 60) needs 33434723633598562365 address bits; at most 60 are allowed"),
    ("hypernet(3)", "hypernet must be hypernet(D, LEVELS), not 1 argument"),
]


@each(("text", "message"), REFUSED)
def test_refused(text, message):
    with pytest.raises(SpecError) as caught:
        parse(text)
    assert str(caught.value) == f"spec {text!r}: column 1: {message}"
