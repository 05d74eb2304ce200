"""The network against a naive builder (docs/networks.md), the dual-cube paper's rule and networkx."""

from functools import reduce
from itertools import combinations, product
from math import prod

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.networks.build import build
from tests.conftest import each

CALLS = {"cycle": "torus", "path": "mesh", "complete": "ghc"}


def text_of(factors, super_nodes=()):
    """Return the spec string of a dual-net, or of a product if there are no levels."""
    base = f"product({', '.join(f'{CALLS[kind]}({size})' for kind, size in factors)})"
    return f"hdn({base}, {[list(inside) for inside in super_nodes]})" if super_nodes else base


def size_of(factors, super_nodes):
    nodes = prod(size for _, size in factors)
    for inside in super_nodes:
        nodes = 2 * nodes * nodes // prod(factors[index][1] for index in inside)
    return nodes


def factor_moves(index, kind, size, digit):
    """Yield (port name, neighbor's digit) of one digit."""
    if size == 2:
        yield f"dim{index}", 1 - digit
    elif kind == "complete":
        for step in range(1, size):
            yield f"dim{index}_by{step}", (digit + step) % size
    elif kind == "cycle":
        yield f"dim{index}_plus", (digit + 1) % size
        yield f"dim{index}_minus", (digit - 1) % size
    else:
        yield from [(f"dim{index}_plus", digit + 1)] * (digit + 1 < size)
        yield from [(f"dim{index}_minus", digit - 1)] * (digit > 0)


def naive_base(factors):
    """Return the digraph of a product; edges carry their port name, nodes their digits."""
    nodes = list(product(*(range(size) for _, size in factors)))
    graph = nx.DiGraph()
    for number, digits in enumerate(nodes):
        graph.add_node(number, digits=digits)
        for index, (kind, size) in enumerate(factors):
            for port, digit in factor_moves(index, kind, size, digits[index]):
                graph.add_edge(number, nodes.index((*digits[:index], digit, *digits[index + 1 :])), port=port)
    return graph


def naive_level(inner_graph, base, factors, inside, level):
    """Return HDN(B, j, S) from HDN(B, j - 1, S) by section 0's formulas."""
    size, base_size = len(inner_graph), len(base)
    s = prod(factors[index][1] for index in inside)
    clusters = size // s

    def parts(inner):
        digits = base.nodes[inner % base_size]["digits"]
        outside, n = 0, 0
        for index, (_, radix) in enumerate(factors):
            if index in inside:
                n = n * radix + digits[index]
            else:
                outside = outside * radix + digits[index]
        return (inner // base_size) * (base_size // s) + outside, n

    join = {parts(inner): inner for inner in range(size)}
    assert sorted(join) == list(product(range(clusters), range(s)))
    graph = nx.DiGraph()
    for c, cluster, inner in product(range(2), range(clusters), range(size)):
        index = (c * clusters + cluster) * size + inner
        for _, other, port in inner_graph.out_edges(inner, data="port"):
            graph.add_edge(index, index - inner + other, port=port)
        super_node, n = parts(inner)
        across = ((1 - c) * clusters + super_node) * size + join[cluster, n]
        graph.add_edge(index, across, port=f"cross{level}")
    return graph


def naive(factors, super_nodes):
    graph = base = naive_base(factors)
    for level, inside in enumerate(super_nodes, start=1):
        graph = naive_level(graph, base, factors, inside, level)
    return graph


def naive_address(factors, super_nodes, node):
    """Return ``c2.U2/c1.U1/b0.b1`` of a node."""
    parts = []
    for level in range(len(super_nodes), 0, -1):
        size = size_of(factors, super_nodes[: level - 1])
        clusters = size // prod(factors[index][1] for index in super_nodes[level - 1])
        upper, node = divmod(node, size)
        parts.append(".".join(str(part) for part in divmod(upper, clusters)))
    digits = list(product(*(range(size) for _, size in factors)))[node]
    return "/".join([*parts, ".".join(str(digit) for digit in digits)])


def labeled(network):
    """Return {(node, neighbor): port name} as hdnhw tells it."""
    return {
        (node, neighbor): port
        for node in range(network.num_nodes)
        for port, neighbor in network.neighbors(node).items()
    }


def edges(network):
    return {frozenset(pair) for pair in labeled(network)}


def subsets(factors):
    return [inside for size in range(len(factors) + 1) for inside in combinations(range(len(factors)), size)]


BASES = [
    [("cycle", 2)],
    [("complete", 3)],
    [("cycle", 4)],
    [("cycle", 5)],
    [("complete", 5)],
    [("complete", 2)] * 2,
    [("complete", 2)] * 3,
    [("cycle", 2), ("cycle", 3)],
    [("cycle", 3), ("complete", 4)],
    [("complete", 4), ("path", 2)],
    [("cycle", 2), ("complete", 2), ("cycle", 3)],
]
SMALL = [
    (factors, super_nodes)
    for factors in BASES
    for k in range(4)
    for super_nodes in product(subsets(factors), repeat=k)
    if size_of(factors, super_nodes) <= 600
]


@st.composite
def random_specs(draw):
    sizes = draw(st.lists(st.integers(2, 7), min_size=1, max_size=3))
    k = draw(st.sampled_from([1, 2, 3, 0]))
    kinds = ["cycle", "complete"] if k else ["cycle", "complete", "path"]
    factors = [(draw(st.sampled_from(kinds)), size) for size in sizes]
    super_nodes = []
    for _ in range(k):
        inside = tuple(sorted(draw(st.sets(st.integers(0, len(factors) - 1)))))
        if size_of(factors, [*super_nodes, inside]) <= 600:
            super_nodes.append(inside)
    return factors, tuple(super_nodes)


RANDOM = random_specs()


@pytest.mark.parametrize("factors", BASES, ids=text_of)
def test_every_small_network_is_the_naive_one(factors):
    specs = [spec for spec in SMALL if spec[0] is factors]
    assert len(specs) > 2
    for _, super_nodes in specs:
        reference = nx.get_edge_attributes(naive(factors, super_nodes), "port")
        assert labeled(build(text_of(factors, super_nodes))) == reference, super_nodes


@given(RANDOM)
def test_random_network_is_the_naive_one(spec):
    network = build(text_of(*spec))
    assert network.num_nodes == size_of(*spec)
    assert labeled(network) == nx.get_edge_attributes(naive(*spec), "port")


@pytest.mark.parametrize("r", range(1, 6))
def test_dualcube_obeys_the_papers_binary_rule(r):
    top = 2 * r - 1
    expected = set()
    for u in range(1 << top):
        class_bit = u >> (top - 1)
        for i in range(1, top + 1):
            if i == top or class_bit == (i >= r):
                expected.add(frozenset((u, u ^ (1 << (i - 1)))))
    assert edges(build(f"dualcube({r})")) == expected


@pytest.mark.parametrize("r", range(2, 5))
def test_dualcube_is_a_relabelled_recursive_dual_net(r):
    ours, other = (build(text) for text in (f"dualcube({r})", f"rdn(cube({r - 1}), 1)"))
    number = {node: other.encode(ours.decode(node)) for node in range(ours.num_nodes)}
    assert sorted(number.values()) == list(range(other.num_nodes))
    assert {(number[u], number[v]): port for (u, v), port in labeled(ours).items()} == labeled(other)


@pytest.mark.parametrize("base", ["cube(2)", "torus(5)", "ghc(3, 2)"])
def test_one_level_is_the_biswapped_network_of_the_base(base):
    cluster, network = build(base), build(f"rdn({base}, 1)")
    size = cluster.num_nodes
    node = {
        (side, copy, p): (side * size + copy) * size + p for side, copy, p in product((0, 1), range(size), range(size))
    }
    inner = {frozenset((node[side, copy, u], node[side, copy, v])) for side, copy, _ in node for u, v in edges(cluster)}
    swaps = {frozenset((node[0, copy, p], node[1, p, copy])) for copy, p in product(range(size), repeat=2)}
    assert edges(network) == inner | swaps


def mixed_radix(sizes, digits):
    return reduce(lambda number, part: number * part[0] + part[1], zip(sizes, digits, strict=True), 0)


def networkx_grid(sizes, *, periodic):
    grid = nx.grid_graph(sizes[::-1], periodic=periodic)
    return {frozenset(mixed_radix(sizes, node) for node in edge) for edge in grid.edges}


def networkx_product(*graphs):
    total, *others = graphs
    for graph in others:
        pairs = nx.cartesian_product(total, graph)
        total = nx.relabel_nodes(pairs, {(one, other): one * len(graph) + other for one, other in pairs})
    return {frozenset(edge) for edge in total.edges}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cube(1)", networkx_product(nx.complete_graph(2))),
        ("cube(5)", {frozenset(mixed_radix([2] * 5, node) for node in edge) for edge in nx.hypercube_graph(5).edges}),
        ("mesh(3, 5)", networkx_grid([3, 5], periodic=False)),
        ("mesh(2, 3, 4)", networkx_grid([2, 3, 4], periodic=False)),
        ("torus(4, 3)", networkx_grid([4, 3], periodic=True)),
        ("torus(2, 3, 5)", networkx_grid([2, 3, 5], periodic=True)),
        ("torus(7)", networkx_product(nx.cycle_graph(7))),
        ("complete(6)", networkx_product(nx.complete_graph(6))),
        ("ghc(3, 4)", networkx_product(nx.complete_graph(3), nx.complete_graph(4))),
        (
            "product(mesh(3), torus(4), complete(4), cube(2))",
            networkx_product(
                nx.path_graph(3), nx.cycle_graph(4), nx.complete_graph(4), nx.complete_graph(2), nx.complete_graph(2)
            ),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_product_is_networkx_product(text, expected):
    assert edges(build(text)) == expected


@given(RANDOM)
def test_back_through_the_opposite_port(spec):
    network = build(text_of(*spec))
    for node in range(network.num_nodes):
        digits = network.decode(node)
        for index, port in enumerate(network.ports):
            if network.has_port(digits, index):
                there = network.move(digits, index)
                assert there != digits
                assert network.has_port(there, port.opposite)
                assert network.move(there, port.opposite) == digits
                assert network.ports[port.opposite].opposite == index


def test_ports_in_order():
    ports = build("hdn(product(torus(2, 5), complete(4)), [[0], []])").ports
    told = [(port.name, port.opposite, port.level, port.factor, port.step) for port in ports]
    assert told == [
        ("dim0", 0, 0, 0, 1),
        ("dim1_plus", 2, 0, 1, 1),
        ("dim1_minus", 1, 0, 1, -1),
        ("dim2_by1", 5, 0, 2, 1),
        ("dim2_by2", 4, 0, 2, 2),
        ("dim2_by3", 3, 0, 2, 3),
        ("cross1", 6, 1, -1, 0),
        ("cross2", 7, 2, -1, 0),
    ]


def test_digits_in_order():
    network = build("hdn(torus(2, 3, 5), [[1], [0, 1]])")
    names = "c2 u2_0 u2_1 u2_2 u2_3 c1 u1_0 u1_1 b0 b1 b2"
    assert network.digit_names == tuple(names.split())
    assert network.radices == (2, 2, 2, 5, 5, 2, 2, 5, 2, 3, 5)
    assert [network.radices[position] for position in network.base_digits] == [2, 3, 5]


@given(RANDOM)
def test_number_and_address_round_trips(spec):
    network = build(text_of(*spec))
    for node in range(network.num_nodes):
        digits = network.decode(node)
        assert all(0 <= digit < radix for digit, radix in zip(digits, network.radices, strict=True))
        assert network.encode(digits) == node
        address = network.format_node(node)
        assert address == naive_address(*spec, node)
        assert network.parse_node(address) == network.parse_node(str(node)) == node


def test_dualcube_address_has_the_cluster_id_first():
    network = build("dualcube(4)")
    for node in range(network.num_nodes):
        upper, lower = node >> 3 & 7, node & 7
        cluster, inner = (lower, upper) if node >> 6 else (upper, lower)
        bits = ".".join(f"{inner:03b}")
        assert network.format_node(node) == f"{node >> 6}.{cluster}/{bits}"
        assert network.parse_node(network.format_node(node)) == node
        assert network.encode(network.decode(node)) == node


@pytest.mark.parametrize("text", ["hdn(torus(2, 3, 5), [[1]])", "mesh(3, 4)", "dualcube(3)"])
def test_arrays_are_handled_like_single_nodes(text):
    network = build(text)
    nodes = np.arange(network.num_nodes)
    digits = network.decode(nodes)
    assert np.array_equal(np.transpose(digits), [network.decode(node) for node in range(network.num_nodes)])
    assert np.array_equal(network.encode(digits), nodes)
    for port in range(len(network.ports)):
        present = [bool(network.has_port(network.decode(node), port)) for node in range(network.num_nodes)]
        assert np.array_equal(network.has_port(digits, port), present)


def test_widest_numbers_are_exact():
    network = build("rdn(cube(1), 4)")
    last = network.num_nodes - 1
    assert network.num_nodes == 1 << 31
    assert network.encode(network.decode(last)) == last
    assert network.parse_node(network.format_node(last)) == last
    assert build("torus(1073741824, 1073741824)").neighbors(0)["dim0_minus"] == (1 << 60) - (1 << 30)


@pytest.mark.parametrize(
    ("text", "nested", "symmetric"),
    [
        ("hdn(cube(3), [[0, 1], [1], []])", True, True),
        ("hdn(cube(3), [[1], [0, 1]])", False, False),
        ("hdn(cube(3), [[0], [1], []])", False, False),
        ("hdn(cube(3), [[0, 1], [], [0]])", False, False),
        ("rdn(torus(3), 2)", True, True),
        ("dualcube(3)", True, True),
        ("product(cube(1), mesh(3))", True, False),
        ("product(cube(1), mesh(2))", True, True),
    ],
)
def test_nested_and_symmetric(text, nested, symmetric):
    network = build(text)
    assert (network.is_nested, network.node_symmetric) == (nested, symmetric)


@pytest.mark.parametrize("node", [-1, 128, 1 << 70])
def test_node_number_out_of_range(node):
    network = build("rdn(cube(3), 1)")
    message = f"node of rdn(cube(3), 1) must be 0 to 127, not {node}"
    for method in (network.check_node, network.neighbors, network.format_node):
        with pytest.raises(ValueError, match="must be 0 to 127") as caught:
            method(node)
        assert str(caught.value) == message
    assert [network.check_node(0), network.check_node(127)] == [0, 127]


@pytest.mark.parametrize("node", [True, False, 3.0, "3", None, np.array([3])])
def test_node_number_of_another_type(node):
    network = build("rdn(cube(3), 1)")
    for method in (network.check_node, network.neighbors, network.format_node):
        with pytest.raises(TypeError, match="integer"):
            method(node)
    with pytest.raises(TypeError, match=r"^node must be an integer, not True$"):
        network.check_node(True)


def test_node_number_becomes_a_plain_integer():
    node = build("rdn(cube(3), 1)").check_node(np.int32(5))
    assert (node, type(node)) == (5, int)


SHAPE = "node of rdn(cube(3), 1) must be 0 to 127 or an address such as 0.0/0.0.0, not "
RANGE = "node address of rdn(cube(3), 1) must be 0.0/0.0.0 to 1.7/1.1.1, not "


@each(
    ("text", "message"),
    [
        ("", SHAPE + "''"),
        ("zero", SHAPE + "'zero'"),
        ("0.0/0.0.", SHAPE + "'0.0/0.0.'"),
        ("0.0//0.0.0", SHAPE + "'0.0//0.0.0'"),
        ("1.5e3", SHAPE + "'1.5e3'"),
        ("\N{SUPERSCRIPT TWO}", SHAPE + "'\N{SUPERSCRIPT TWO}'"),
        ("\N{FULLWIDTH DIGIT ONE}.0/0.0.0", SHAPE + "'\N{FULLWIDTH DIGIT ONE}.0/0.0.0'"),
        ("1_0", SHAPE + "'1_0'"),
        ("+1", SHAPE + "'+1'"),
        (" 1", SHAPE + "' 1'"),
        ("1\n", SHAPE + "'1\\n'"),
        ("0. 1/0.0.0", SHAPE + "'0. 1/0.0.0'"),
        ("0.1_0/0.0.0", SHAPE + "'0.1_0/0.0.0'"),
        ("1" * 5000, SHAPE + repr("1" * 5000)),
        ("128", "node of rdn(cube(3), 1) must be 0 to 127, not 128"),
        ("011", SHAPE.replace("127", "127 without leading zeros,") + "'011'"),
        ("-1", SHAPE + "'-1'"),
        ("0.0.0", RANGE + "'0.0.0'"),
        ("0/0.0.0", RANGE + "'0/0.0.0'"),
        ("0.0/0.0", RANGE + "'0.0/0.0'"),
        ("0.0/0.0/0.0.0", RANGE + "'0.0/0.0/0.0.0'"),
        ("2.0/0.0.0", RANGE + "'2.0/0.0.0'"),
        ("0.8/0.0.0", RANGE + "'0.8/0.0.0'"),
        ("0.-1/0.0.0", SHAPE + "'0.-1/0.0.0'"),
        ("0.0/0.0.2", RANGE + "'0.0/0.0.2'"),
        ("0.0/-1.0.0", SHAPE + "'0.0/-1.0.0'"),
    ],
)
def test_address_that_names_no_node(text, message):
    with pytest.raises(ValueError, match="node") as caught:
        build("rdn(cube(3), 1)").parse_node(text)
    assert str(caught.value) == message


def test_the_binary_address_of_a_dual_cube():
    network = build("dualcube(3)")
    assert [network.parse_node(text) for text in ("00011", "10011", "11111", "0", "31")] == [3, 19, 31, 0, 31]
    assert network.neighbors(network.parse_node("10011"))["cross1"] == network.parse_node("00011")
    for text in ("0011", "00012", "000011"):
        with pytest.raises(ValueError, match="without leading zeros"):
            network.parse_node(text)


def test_one_cluster_a_class_has_cluster_0_alone():
    network = build("hdn(cube(2), [[0, 1]])")
    assert network.format_node(7) == "1.0/1.1"
    assert network.parse_node("1.0/1.1") == 7
    with pytest.raises(ValueError, match=r"must be 0\.0/0\.0 to 1\.0/1\.1, not '1\.1/1\.1'"):
        network.parse_node("1.1/1.1")
