"""Swapped networks against the words of the HSN paper, section 2, read on plain numbers."""

from itertools import product

import networkx as nx
import numpy as np
import pytest

from hdnhw.networks.build import build
from hdnhw.topology import metrics
from tests.conftest import each

SPECS = [
    "hsn(2, mesh(4))",
    "hsn(2, cube(2))",
    "hsn(3, complete(3))",
    "hsn(2, ghc(2, 3), diameter_links=True)",
    "hsn(3, torus(3), diameter_links=True)",
    "hsn(2, mesh(3), diameter_links=True)",
    "hsn(2, star(3))",
    "hsn(2, petersen())",
    "hsn(2, folded_cube(2), diameter_links=True)",
    "hsn(2, product(mesh(3), cube(1)))",
    "hsn(2, cube(3), top=4)",
    "hsn(3, torus(2, 3), top=3)",
    "hsn(2, mesh(6), top=2)",
    "hsn(2, mesh(2, 6), top=4)",
    "hsn(2, torus(3, 4), top=3)",
    "hsn(2, crossed_cube(3))",
    "hsn(2, ccc(3), top=3)",
    "hsn(2, reduced_cube(1, 1))",
    "hsn(2, hdn(cube(2), [[0]]))",
    "hsn(2, rdn(cube(1), 1), diameter_links=True)",
    "hsn(2, rdn(torus(3), 1), top=6)",
    "hsn(2, dualcube(2))",
    "hsn(2, graph([[0, 1], [1, 2], [1, 3]]))",
    "hsn(3, hsn(2, cube(1)))",
    "hsn(2, hcn(1), top=2)",
    "hsn(2, rdn(kautz(2, 2), 1))",
    "hcn(1)",
    "hcn(3)",
    "hfn(2)",
    "hcn3(2)",
    "folded_hsn(2, 1)",
    "folded_hsn(2, 2)",
    "folded_hsn(3, 2)",
]


def edges(network):
    return {frozenset((node, other)) for node in range(network.num_nodes) for other in network.neighbors(node).values()}


def naive_edges(spec):
    """Return the edges by the paper's words; X_l is the most significant digit of a node."""
    nucleus, levels, top = build(spec.nucleus), spec.levels, spec.top
    size, found = nucleus.num_nodes, set()

    def number(x):
        result = x[levels]
        for level in range(levels - 1, 0, -1):
            result = result * size + x[level]
        return result

    for values in product(range(top), *[range(size)] * (levels - 1)):
        x = dict(zip(range(levels, 0, -1), values, strict=True))
        ends = [x | {1: other} for other in nucleus.neighbors(x[1]).values()]
        for level in range(2, levels + 1):
            quotient, rest = divmod(x[1], top if level == levels else size)
            if rest != x[level]:
                there = quotient * top + x[level] if level == levels else x[level]
                ends.append(x | {level: rest, 1: there})
            elif spec.diameter_links and 2 * x[1] != size - 1:
                ends.append(x | {level: size - 1 - x[level], 1: size - 1 - x[1]})
        if spec.complement_links:
            ends.append({level: size - 1 - value for level, value in x.items()})
        found |= {frozenset((number(x), number(end))) for end in ends}
    return found


@each("text", SPECS)
def test_the_papers_words(text):
    network = build(text)
    assert edges(network) == naive_edges(network.spec)
    assert metrics.num_edges(network) == len(edges(network))


@each("text", SPECS)
def test_ports_and_their_sets(text):
    network = build(text)
    table = metrics.neighbor_table(network)
    assert len({port.name for port in network.ports}) == len(network.ports)
    assert {tuple(np.flatnonzero(row >= 0).tolist()) for row in table} == network.port_sets
    for index, port in enumerate(network.ports):
        assert network.port_count(index) == np.count_nonzero(table[:, index] >= 0)
        for node in np.flatnonzero(table[:, index] >= 0).tolist():
            assert table[table[node, index], port.opposite] == node


@each("text", SPECS)
def test_addresses(text):
    network = build(text)
    texts = [network.format_node(node) for node in range(network.num_nodes)]
    assert [network.parse_node(one) for one in texts] == list(range(network.num_nodes))
    assert len(network.digit_names) == len(set(network.digit_names)) == len(network.radices)
    for wrong in ("0.0.0.0.0.0", "9/0", "0/9", "0/0/0/0"):
        with pytest.raises(ValueError, match=r"^node address of "):
            network.parse_node(wrong)


def test_addresses_of_a_divisor_and_of_permutations():
    assert build("hsn(3, torus(2, 3), top=3)").format_node(2 * 36 + 5 * 6 + 4) == "2/1.2/1.1"
    assert build("hsn(2, mesh(2, 6), top=4)").format_node(3 * 12 + 7) == "3/1.1"
    assert build("hsn(2, star(3))").format_node(9) == "0.2.1/1.2.0"


def test_addresses_of_nuclei_that_have_several_parts():
    assert build("hsn(2, ccc(3))").format_node(24 * (3 * 5 + 2) + 3 * 6 + 1) == "1.0.1/2/1.1.0/1"
    assert build("hsn(2, dualcube(2))").format_node(8 * 6 + 3) == "1.1/0/0.1/1"
    assert build("hsn(2, ccc(3), top=12)").format_node(24 * 11 + 3 * 6 + 1) == "11/1.1.0/1"


def test_a_complement_that_a_swap_leads_to_has_one_port():
    network = build("folded_hsn(2, 2)")
    assert network.neighbors(0b0110) == {"dim0": 0b0100, "dim1": 0b0111, "swap2": 0b1001}
    assert network.neighbors(0b0101) == {"dim0": 0b0111, "dim1": 0b0100, "complement": 0b1010}


@pytest.mark.parametrize(
    "text",
    [
        one
        for one in SPECS
        if "top" not in one and "links" not in one and one[1:3] == "sn" and "reduced" not in one and "graph" not in one
    ],
)
def test_diameter_without_links(text):
    """HSN paper, Theorem 2.1."""
    network = build(text)
    assert nx.diameter(nx.Graph(map(tuple, edges(network)))) == metrics.diameter_formula(network)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_diameter_of_the_hierarchical_cubic_network(n):
    network = build(f"hcn({n})")
    assert metrics.summarize_distances(network).diameter == n + (n + 1) // 3 + 1 <= metrics.diameter_formula(network)
    assert metrics.diameter_formula(build("folded_hsn(2, 2)")) is None
