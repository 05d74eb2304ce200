"""The hop-by-hop rule against the design's pseudo-code, the reference figures, Algorithm 1 and networkx."""

import json
from collections import defaultdict
from itertools import permutations, product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pytest

from hdnhw.claims.literal.algorithm1 import algorithm1_route
from hdnhw.networks.build import build
from hdnhw.rules.hop import check_modes, default_modes, hop_rule
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import neighbor_table

REFERENCE = Path(__file__).parents[1] / "reference" / "networks.json"
INSTANCES = [
    instance
    for instance in json.loads(REFERENCE.read_text())["instances"]
    if "routing_memoryless" in instance and instance["n"] <= 1024
]


class Node(NamedTuple):
    """A node of level j >= 1; one of level 0 is a plain tuple of digits, None where a digit was removed."""

    c: int
    cluster: Any
    inner: Any


def base_of(x):
    return base_of(x.inner) if isinstance(x, Node) else x


def with_base(x, digits):
    return x._replace(inner=with_base(x.inner, digits)) if isinstance(x, Node) else digits


def without(x, inside):
    return with_base(x, tuple(None if f in inside else digit for f, digit in enumerate(base_of(x))))


def filled(x, other):
    """Return x with its removed digits taken from `other`."""
    pairs = zip(base_of(x), base_of(other), strict=True)
    return with_base(x, tuple(theirs if digit is None else digit for digit, theirs in pairs))


def equal_on(care, x, y):
    """Return whether x and y differ in no digit but base digits outside `care`."""
    ignored = set(range(len(base_of(x)))) - care
    return without(x, ignored) == without(y, ignored)


class PseudoCode:
    """``hop(j, x, t, care)`` with its phase bits as the design gives it, on numbers of docs/networks.md."""

    def __init__(self, factors, super_nodes, modes):
        self.factors, self.super_nodes = factors, [set(inside) for inside in super_nodes]
        self.mode = dict(zip(range(len(modes), 0, -1), modes, strict=True))
        self.everything = set(range(len(factors)))
        self.nodes = list(product(*(range(size) for _, size in factors)))
        for inside in self.super_nodes:
            outside = [size for f, (_, size) in enumerate(factors) if f not in inside]
            clusters = {}
            for number, x in enumerate(self.nodes):
                place = 0
                for f, (_, size) in enumerate(factors):
                    place = place if f in inside else place * size + base_of(x)[f]
                upper = number // prod(size for _, size in factors)
                clusters[upper * prod(outside) + place] = without(x, inside)
            names = [clusters[number] for number in range(len(clusters))]
            self.nodes = [Node(c, cluster, inner) for c in (0, 1) for cluster in names for inner in self.nodes]

    def hop(self, j, x, t, care, ph):
        """Return None where x matches, ("cross", j), or (factor, digit, wanted digit)."""
        if j == 0:
            return next(((f, x[f], t[f]) for f in sorted(care) if x[f] != t[f]), None)
        return (self.fast if self.mode[j] == "f" else self.ordered)(j, x, t, care, ph)

    def fast(self, j, x, t, care, ph):
        (c, u, i), (tc, v, target) = x, t
        inside = self.super_nodes[j - 1]
        if c == tc and u == v:
            ph[j] = 1
            return self.hop(j - 1, i, target, care, ph)
        ph[j] = 0
        if c == tc:
            return "cross", j
        h = self.hop(j - 1, i, filled(v, target), self.everything - inside, ph)
        if h is None:
            ph[j], h = 1, ("cross", j)
        return h

    def ordered(self, j, x, t, care, ph):
        (c, u, i), (tc, v, target) = x, t
        inside = self.super_nodes[j - 1]
        x_name, y_name = without(i, inside), without(target, inside)
        ok_n = equal_on(care & inside, with_base((), base_of(i)), with_base((), base_of(target)))
        if c == tc:
            ok_act, ok_pas, want, cr = equal_on(care, x_name, y_name), u == v, target, care - inside
        else:
            ok_act, ok_pas = x_name == v, equal_on(care, u, y_name)
            want, cr = filled(v, target), self.everything - inside
        ok_0, ok_1 = (ok_act, ok_pas) if c == 0 else (ok_pas, ok_act)
        ph[j] = 0
        if c == 0:
            if not ok_0:
                return self.hop(j - 1, i, want, cr | (care & inside if tc == 0 and ok_1 else set()), ph)
            if not ok_1 or tc == 1:
                return "cross", j
            return None if ok_n else self.hop(j - 1, i, want, cr | (care & inside), ph)
        if not ok_0:
            return "cross", j
        if not ok_1 or not ok_n:
            return self.hop(j - 1, i, want, cr | (care & inside), ph)
        if tc == 0:
            ph[j] = 1
            return "cross", j
        return None

    def base_hop(self, f, x, t):
        """Return the port name of the hop from digit x towards t, and the class bit where the ring has one."""
        kind, n = self.factors[f]
        if n == 2:
            return f"dim{f}", []
        if kind == "complete":
            return f"dim{f}_by{(t - x) % n}", []
        plus, minus = (t - x) % n, (x - t) % n
        forward = t > x if kind == "path" else plus < minus or (plus == minus and x % 2 == 0)
        name = f"dim{f}_{'plus' if forward else 'minus'}"
        if kind == "path" or n < 5:
            return name, []
        return name, [int(t >= n // 2)]

    def decide(self, x, t):
        """Return (port name, class) of the hop, or None."""
        ph = {}
        found = self.hop(len(self.super_nodes), x, t, self.everything, ph)
        if found is None:
            return None
        m = found[1] if found[0] == "cross" else 0
        levels = [j for j in range(len(self.super_nodes), m, -1) if self.mode[j] == "f"]
        if m == 0:
            # What is in the super-nodes of all levels up to j moves after the last crossing of j alone: no bit.
            levels = [j for j in levels if not all(found[0] in inside for inside in self.super_nodes[:j])]
            port, half = self.base_hop(*found)
            bits = [ph[j] for j in levels] + half
        else:
            port = f"cross{m}"
            # Where a class is one cluster, it is left only once.
            one_cluster = m == 1 and self.super_nodes[0] == self.everything
            bits = [ph[j] for j in levels] + ([] if one_cluster else [ph[m]])
        return port, int("".join(map(str, bits)) or "0", 2)


def pseudo_code_of(network, modes):
    factors = [(factor.kind, factor.size) for factor in network.factors]
    return PseudoCode(factors, [level.super_node_factors for level in network.levels], modes)


ONE_LEVEL = [
    "hdn(cube(2), [[]])",
    "hdn(cube(2), [[1]])",
    "hdn(cube(2), [[0, 1]])",
    "hdn(torus(3), [[]])",
    "hdn(torus(4), [[]])",
    "hdn(torus(5), [[]])",
    "hdn(torus(6), [[]])",
    "hdn(torus(5), [[0]])",
    "hdn(complete(4), [[]])",
    "hdn(product(torus(5), complete(3), torus(2)), [[0, 2]])",
    "hdn(product(torus(2), torus(6)), [[0]])",
]
TWO_LEVELS = [
    "hdn(cube(1), [[], []])",
    "hdn(cube(1), [[], [0]])",
    "hdn(cube(1), [[0], []])",
    "hdn(cube(1), [[0], [0]])",
    "hdn(cube(2), [[0], [0, 1]])",
    "hdn(cube(2), [[0, 1], [1]])",
    "hdn(cube(2), [[0, 1], []])",
    "hdn(cube(2), [[0, 1], [0, 1]])",
    "hdn(cube(2), [[0], [1]])",
    "hdn(torus(3), [[0], []])",
    "hdn(torus(4), [[0], []])",
    "hdn(torus(5), [[0], [0]])",
    "hdn(torus(5), [[0], []])",
    "hdn(torus(6), [[0], [0]])",
    "hdn(complete(3), [[], [0]])",
    "hdn(torus(3, 2), [[1], [0, 1]])",
    "hdn(product(complete(3), torus(5)), [[0, 1], [0, 1]])",
]
THREE_LEVELS = ["hdn(cube(1), [[0], [0], [0]])", "hdn(cube(1), [[0], [0], []])", "hdn(cube(1), [[0], [], [0]])"]
FLAT = [
    "cube(3)",
    "torus(4, 3)",
    "torus(5, 6)",
    "mesh(4, 2, 3)",
    "ghc(3, 4)",
    "product(mesh(3), complete(3), torus(6))",
]
DECIDED = [
    (text, "".join(modes))
    for k, texts in enumerate([FLAT, ONE_LEVEL, TWO_LEVELS, THREE_LEVELS])
    for text in texts
    for modes in product("fO", repeat=k)
]


@pytest.mark.parametrize(("text", "modes"), DECIDED)
def test_rule_is_the_pseudo_code(text, modes, every_hop):
    network = build(text)
    rule = hop_rule(network, modes)
    code = pseudo_code_of(network, modes)
    n = network.num_nodes
    assert len(code.nodes) == n
    names = [port.name for port in network.ports]
    port, vc = every_hop(rule)
    assert (vc < np.array([*rule.num_vcs, 1])[port])[port >= 0].all()
    for pair in range(0, n * n, 1 if n <= 72 else n * n // 2500 | 1):
        src, dst = divmod(pair, n)
        found = None if port[src, dst] < 0 else (names[port[src, dst]], vc[src, dst])
        assert found == code.decide(code.nodes[src], code.nodes[dst]), (src, dst)


def test_next_hop_is_what_every_hop_tells(every_hop):
    rule = hop_rule(build("hdn(torus(5), [[0], []])"), "Of")
    network = rule.network
    port, vc = every_hop(rule)
    for pair in range(0, network.num_nodes**2, 29):
        src, dst = divmod(pair, network.num_nodes)
        step = rule.next_hop(network.decode(src), network.decode(dst))
        assert step == (None if src == dst else (port[src, dst], vc[src, dst]))


def all_distances(network):
    graph = nx.Graph((node, other) for node in range(network.num_nodes) for other in network.neighbors(node).values())
    distances = np.empty((network.num_nodes, network.num_nodes), dtype=np.int64)
    for src, lengths in nx.all_pairs_shortest_path_length(graph):
        distances[src, list(lengths)] = list(lengths.values())
    return distances


def all_lengths(network, port):
    """Follow every route at once; every hop must be an edge, and every route must end at its destination."""
    n = network.num_nodes
    table = neighbor_table(network)
    everywhere = np.arange(n)
    at = np.repeat(everywhere[:, None], n, axis=1)
    lengths = np.zeros((n, n), dtype=np.int64)
    for _ in range(n):
        taken = port[at, everywhere]
        if (taken < 0).all():
            break
        lengths += taken >= 0
        at = np.where(taken < 0, at, table[at, taken])
        assert at.min() >= 0
    assert (at == everywhere).all()
    return lengths


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance["spec"])
def test_reference_figures(instance, every_hop):
    network = build(instance["spec"])
    lengths = all_lengths(network, every_hop(hop_rule(network, "f" * len(network.levels)))[0])
    distances = all_distances(network)
    apart = ~np.eye(network.num_nodes, dtype=bool)
    stretch = lengths[apart] / distances[apart]
    figures = {
        "nonmin_frac": (lengths > distances)[apart].mean(),
        "worst_stretch": stretch.max(),
        "worst_abs": (lengths - distances).max(),
        "mean_stretch": stretch.mean(),
        "mean_len": lengths[apart].mean(),
        "max_len": lengths.max(),
    }
    expected = {name: instance["routing_memoryless"][name] for name in figures}
    assert figures == pytest.approx(expected, rel=0, abs=6e-7)
    assert instance["routing_vectors"]
    for vector in instance["routing_vectors"]:
        pair = vector["src"], vector["dst"]
        assert (lengths[pair], distances[pair]) == (vector["memoryless"], vector["bfs"])


@pytest.mark.parametrize("text", ONE_LEVEL + TWO_LEVELS)
def test_never_longer_than_algorithm_1(text, every_hop):
    network = build(text)
    n = network.num_nodes
    lengths = all_lengths(network, every_hop(hop_rule(network, "f" * len(network.levels)))[0])
    for pair in range(0, n * n, max(1, n * n // 5000) | 1):
        src, dst = divmod(pair, n)
        assert lengths[src, dst] <= len(algorithm1_route(network, src, dst)) - 1


@pytest.mark.parametrize(
    "text", FLAT + ONE_LEVEL + TWO_LEVELS + THREE_LEVELS[:2] + [f"dualcube({r})" for r in (1, 2, 4)]
)
def test_shortest_for_one_level_and_nested_super_nodes(text, every_hop):
    network = build(text)
    k = len(network.levels)
    lengths, distances = all_lengths(network, every_hop(hop_rule(network, "f" * k))[0]), all_distances(network)
    if k <= 1 or network.is_nested:
        assert np.array_equal(lengths, distances)
    else:
        assert (lengths >= distances).all()
        assert (lengths > distances).any()


@pytest.mark.parametrize("text", FLAT + ONE_LEVEL + TWO_LEVELS + THREE_LEVELS)
def test_every_route_ends_in_default_modes(text, every_hop):
    network = build(text)
    lengths = all_lengths(network, every_hop(hop_rule(network))[0])
    assert np.array_equal(lengths == 0, np.eye(network.num_nodes, dtype=bool))


def test_route_tells_its_hops():
    network = build("rdn(torus(5), 1)")
    rule = hop_rule(network)
    src, dst = network.parse_node("0.0/0"), network.parse_node("0.3/3")
    hops = [(network.format_node(node), network.ports[port].name, vc) for node, port, vc in rule.route(src, dst)]
    # Class 2 phase + half on the ring: 3 is in the upper one; the crossings are the first and the last.
    assert hops == [
        ("0.0/0", "cross1", 0),
        ("1.0/0", "dim0_minus", 1),
        ("1.0/4", "dim0_minus", 1),
        ("1.0/3", "cross1", 1),
        ("0.3/0", "dim0_minus", 3),
        ("0.3/4", "dim0_minus", 3),
    ]
    assert rule.route(7, 7) == []


@pytest.mark.parametrize("n", range(5, 14))
def test_each_class_of_a_ring_leaves_out_a_channel_and_most_channels_carry_both(n):
    rule, used = hop_rule(build(f"torus({n})")), defaultdict(set)
    for src, dst in permutations(range(n), 2):
        hops = rule.route(src, dst)
        assert len(hops) == min((dst - src) % n, (src - dst) % n)
        assert len({vc for _, _, vc in hops}) == 1
        for node, port, vc in hops:
            used[port, vc].add(node)
    assert all(len(nodes) < n for nodes in used.values())
    for port in range(2):
        assert len(used[port, 0] & used[port, 1]) >= n - 3


@pytest.mark.parametrize("r", [2, 4])
def test_dualcube_is_routed_like_the_dual_net_it_is(r):
    ours, other = (hop_rule(build(text)) for text in (f"dualcube({r})", f"rdn(cube({r - 1}), 1)"))
    for src in range(0, ours.network.num_nodes, 3):
        for dst in range(0, ours.network.num_nodes, 5):
            ends = [other.network.encode(ours.network.decode(node)) for node in (src, dst)]
            assert [hop[1:] for hop in ours.route(src, dst)] == [hop[1:] for hop in other.route(*ends)]


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("torus(4, 4)", ""),
        ("rdn(cube(2), 1)", "f"),
        ("dualcube(3)", "f"),
        ("rdn(cube(1), 3)", "OOf"),
        ("hdn(cube(2), [[0, 1]])", "O"),
        ("hdn(cube(2), [[0, 1], [0, 1]])", "fO"),
        ("hdn(cube(2), [[0, 1], [], []])", "OfO"),
        ("hdn(cube(2), [[0], [0, 1]])", "Of"),
    ],
)
def test_default_modes(text, modes):
    network = build(text)
    assert default_modes(network) == check_modes(network, None) == hop_rule(network).modes == modes


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("rdn(cube(2), 1)", ""),
        ("rdn(cube(2), 1)", "ff"),
        ("rdn(cube(2), 1)", "o"),
        ("rdn(cube(2), 1)", "F"),
        ("rdn(cube(1), 2)", "f O"),
        ("rdn(cube(1), 2)", "f0"),
    ],
)
def test_modes_that_do_not_fit(text, modes):
    network = build(text)
    k = len(network.levels)
    letters = "one letter f or O" if k == 1 else f"{k} letters f or O, level {k} first"
    message = f"modes of {network.spec} must be {letters}, not {modes!r}"
    for refuse in (check_modes, hop_rule):
        with pytest.raises(SpecError) as caught:
            refuse(network, modes)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "torus(4, 4)",
        "torus(5, 3)",
        "mesh(3, 2)",
        "rdn(cube(2), 1)",
        "hdn(torus(2, 3), [[1]])",
        "hdn(cube(1), [[], [0]])",
    ],
)
def test_a_lane_is_the_parity_of_the_destination(text, every_hop):
    network = build(text)
    one, two = hop_rule(network), hop_rule(network, lanes=2)
    (ports, classes), (same_ports, vcs) = every_hop(one), every_hop(two)
    parity = np.array([sum(network.decode(dst)) % 2 for dst in range(network.num_nodes)])
    moves = ports >= 0
    assert (ports == same_ports).all()
    assert (vcs == 2 * classes + parity)[moves].all()
    assert two.num_vcs == tuple(2 * count for count in one.num_vcs)


@pytest.mark.parametrize("lanes", [-1, 0, 3, 4])
def test_lanes_that_cannot_be(lanes):
    with pytest.raises(SpecError, match=rf"^lanes must be 1 or 2, not {lanes}$"):
        hop_rule(build("cube(2)"), lanes=lanes)
