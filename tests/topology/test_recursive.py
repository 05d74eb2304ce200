"""Dual-nets over networks that are no products, against the RDN paper's words and formulas."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyadd, polymul

from hdnhw.networks.build import build
from hdnhw.networks.parse import parse
from hdnhw.spec import DualNet, RecursiveDualNet
from hdnhw.support.errors import SpecError
from hdnhw.topology import metrics
from hdnhw.topology.connectivity import node_connectivity
from hdnhw.topology.symmetry import symmetry
from tests.conftest import each

# A spec, the base as it is built alone, and the levels above it.
SMALL = [
    ("rdn(star(3), 1)", "star(3)", 1),
    ("rdn(petersen(), 1)", "petersen()", 1),
    ("rdn(crossed_cube(3), 1)", "crossed_cube(3)", 1),
    ("rdn(folded_cube(3), 1)", "folded_cube(3)", 1),
    ("rdn(reduced_cube(1, 1), 1)", "reduced_cube(1, 1)", 1),
    ("rdn(hcn(2), 1)", "hcn(2)", 1),
    ("rdn(folded_hsn(2, 1), 1)", "folded_hsn(2, 1)", 1),
    ("hdn(petersen(), [[]])", "petersen()", 1),
    ("rdn(star(2), 2)", "star(2)", 2),
    ("rdn(rdn(star(3), 1), 1)", "star(3)", 2),
    ("rdn(rdn(star(2), 1), 1)", "star(2)", 2),
    ("rdn(hdn(cube(2), [[0]]), 1)", "hdn(cube(2), [[0]])", 1),
    ("rdn(rdn(cube(1), 1), 1)", "rdn(cube(1), 1)", 1),
    ("rdn(ccc(3), 1)", "ccc(3)", 1),
    ("rdn(star(4), 1)", "star(4)", 1),
]
each_small = each(("text", "base", "levels"), SMALL)


def neighbors_of(text):
    network = build(text)
    return [sorted(network.neighbors(node).values()) for node in range(network.num_nodes)]


def dual_construction(graph):
    """RDN paper, section II: (u_0, u_1, u_2) in lexicographical order; cross-edges iff u_1 = v_2, u_2 = v_1."""
    n = len(graph)
    return [
        sorted([(kind * n + cluster) * n + other for other in graph[node]] + [((1 - kind) * n + node) * n + cluster])
        for kind in range(2)
        for cluster in range(n)
        for node in range(n)
    ]


@each_small
def test_the_papers_construction(text, base, levels):
    graph = neighbors_of(base)
    for _ in range(levels):
        graph = dual_construction(graph)
    assert neighbors_of(text) == graph


@each_small
def test_the_papers_formulas(text, base, levels):
    network, inner = build(text), build(base)
    found, below = metrics.summarize_distances(network), metrics.summarize_distances(inner)
    degree = metrics.degree_bounds(inner)[0]
    assert network.num_nodes == (2 * inner.num_nodes) ** 2**levels // 2
    assert metrics.degree_bounds(network) == (degree + levels, degree + levels)
    assert metrics.num_edges(network) * 2 == network.num_nodes * (degree + levels)
    assert found.diameter == metrics.diameter_corrected(network) == 2**levels * below.diameter + 2 ** (levels + 1) - 2
    assert network.is_regular


@pytest.mark.parametrize(
    ("text", "base", "levels"), [row for row in SMALL if row[0] not in ("rdn(star(4), 1)", "rdn(ccc(3), 1)")]
)
def test_distances_from_those_of_the_base(text, base, levels):
    """Both parts of an address are routed in; to another cluster there are two cross-edges, to the other class one."""
    inner = build(base)
    pairs, nodes = np.array(metrics.pair_histogram(inner)), inner.num_nodes
    for _ in range(levels):
        to_others = pairs.copy()
        to_others[0] -= nodes
        ways = polyadd(polyadd([nodes], polymul([0, 0, 1], to_others)), polymul([0, 1], pairs))
        pairs, nodes = 2 * polymul(pairs, ways).astype(int), 2 * nodes**2
    network = build(text)
    assert metrics.pair_histogram(network) == pairs.tolist()
    average = Fraction(int(pairs @ np.arange(len(pairs))), nodes * (nodes - 1))
    assert metrics.summarize_distances(network).average_distance == average


@pytest.mark.parametrize("text", ["rdn(star(3), 1)", "rdn(petersen(), 1)", "rdn(folded_cube(3), 1)", "rdn(hcn(2), 1)"])
def test_symmetry_by_search(text):
    network = build(text)
    table = metrics.neighbor_table(network)
    found = symmetry(table)
    assert network.node_symmetric in (None, found.node_symmetric)
    assert metrics.node_symmetric(network) == found.node_symmetric == (text != "rdn(hcn(2), 1)")
    assert node_connectivity(table, found) == len(network.ports)


@each_small
def test_addresses(text, base, levels):
    network = build(text)
    for node in range(0, network.num_nodes, 1 + network.num_nodes // 500):
        address = network.format_node(node)
        assert address.count("/") == levels + build(base).format_node(0).count("/")
        assert network.parse_node(address) == node
        assert network.encode(network.decode(node)) == node
    assert len(set(network.digit_names)) == len(network.radices)


def test_addresses_end_as_the_base_writes_them():
    network = build("rdn(star(4), 2)")
    assert network.format_node(network.num_nodes - 1) == "1.1151/1.23/3.2.1.0"
    for wrong in (
        "0.0/0.0/0.1.1.2",
        "0.0/0.1.2.3",
        "0.1152/0.0/0.1.2.3",
        "2.0/0.0/0.1.2.3",
        "0.0/0.0/0/0.1.2.3",
        "0.0/0.0",
    ):
        with pytest.raises(ValueError, match=r"^node address of rdn\(star\(4\), 2\) must be 0\.0/0\.0/0\.1\.2\.3 to "):
            network.parse_node(wrong)


@each(
    ("text", "canonical", "kind"),
    [
        ("rdn(star(4), 2)", "rdn(star(4), 2)", RecursiveDualNet),
        ("hdn(star(4), [[], []])", "rdn(star(4), 2)", RecursiveDualNet),
        ("rdn(rdn(star(4), 1), 1)", "rdn(star(4), 2)", RecursiveDualNet),
        ("rdn(rdn(cube(2), 1), 1)", "rdn(cube(2), 2)", DualNet),
        ("rdn(hdn(cube(2), [[0]]), 2)", "hdn(cube(2), [[0], [], []])", DualNet),
        ("rdn(hdn(cube(2), [[]]), 1)", "rdn(cube(2), 2)", DualNet),
        ("hdn(rdn(cube(2), 1), [[1, 0]])", "hdn(cube(2), [[], [0, 1]])", DualNet),
        ("rdn(dualcube(3), 1)", "rdn(cube(2), 2)", DualNet),
    ],
)
def test_levels_go_on(text, canonical, kind):
    spec = parse(text)
    assert (str(spec), type(spec), parse(canonical)) == (canonical, kind, spec)


@each(
    ("text", "regular"),
    [
        *((text, True) for text, _, _ in SMALL),
        *(("hcn(1)", True), ("mesh(2, 2)", True), ("mesh(3, 2)", False), ("hsn(2, cube(2))", False), ("hfn(2)", False)),
        *(("hsn(3, complete(3))", False), ("hsn(2, complete(3), diameter_links=True)", False)),
    ],
)
def test_regular_by_counting(text, regular):
    network = build(text)
    degrees = (metrics.neighbor_table(network) >= 0).sum(axis=1)
    assert network.is_regular == (degrees.min() == degrees.max()) == regular


@each(
    ("text", "message"),
    [
        (
            "rdn(hsn(2, cube(2)), 1)",
            "rdn base must be regular; nodes of hsn(2, cube(2)) differ in their number of edges",
        ),
        (
            "rdn(hsn(29, cube(1)), 1)",
            "rdn base must be regular; nodes of hsn(29, cube(1)) differ in their number of edges",
        ),
        ("hdn(mesh(3), [[]])", "hdn base must be regular; factor 0 of mesh(3) is a path of 3 nodes"),
        ("hdn(star(3), [[0]])", "hdn super-node of level 1 must be [], one node, as star(3) is no product; not [0]"),
        (
            "hdn(star(3), [])",
            "hdn super-nodes must be a list with one list of factor indices a level, for example [[0], []]",
        ),
        ("rdn(petersen(), 4)", "rdn(petersen(), 4) needs 79 address bits; at most 60 are allowed"),
        ("rdn(rdn(star(3), 3), 1)", "rdn(star(3), 4) needs 63 address bits; at most 60 are allowed"),
        ("rdn(rdn(cube(3), 3), 1)", "rdn(cube(3), 4) needs 63 address bits; at most 60 are allowed"),
        ("rdn(petersen(), 0)", "rdn level count must be at least 1, not 0"),
    ],
)
def test_refused(text, message):
    with pytest.raises(SpecError) as caught:
        parse(text)
    assert str(caught.value) == f"spec {text!r}: column 1: {message}"
