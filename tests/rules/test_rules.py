"""Rules of swapped networks and other graphs against breadth-first search and the papers' words."""

import re
from collections import Counter
from dataclasses import replace
from itertools import permutations, product

import networkx as nx
import numpy as np
import pytest

from hdnhw.circuits.circuit import Circuit
from hdnhw.circuits.step import class_of, count
from hdnhw.networks.build import build
from hdnhw.rules.compiled import core_rule
from hdnhw.rules.hop import check_modes, hop_rule
from hdnhw.rules.plan import plan, prove
from hdnhw.rules.ranking import prove_ranks_grow
from hdnhw.rules.statistics import routing_statistics
from hdnhw.support.errors import RuleError, SpecError
from hdnhw.topology import metrics

SHORTEST = [
    *("folded_cube(2)", "folded_cube(3)", "folded_cube(4)"),
    *("crossed_cube(1)", "crossed_cube(3)", "crossed_cube(4)"),
    *("star(2)", "star(3)", "star(4)"),
    *(text for text in ("crossed_cube(6)", "star(6)")),
    "petersen()",
    *("exchanged_cube(1, 3)", "exchanged_cube(3, 2)", "exchanged_cube(2, 2)"),
]
SWAPPED = [
    "hsn(2, cube(2))",
    "hsn(3, complete(3))",
    "hsn(2, mesh(3))",
    "hsn(2, torus(5))",
    "hsn(2, ghc(2, 3), diameter_links=True)",
    "hsn(2, star(3))",
    "hsn(2, petersen())",
    "hsn(2, folded_cube(2))",
    "hsn(2, crossed_cube(3))",
    "hsn(2, rdn(cube(1), 1))",
    "hcn(2)",
    "hcn3(1)",
]
OVER_A_DIVISOR = [
    "hsn(2, cube(3), top=2)",
    "hsn(3, cube(2), top=2)",
    "hsn(2, mesh(6), top=2)",
    "hsn(2, star(3), top=2)",
    "hsn(2, ccc(3), top=3)",
    "hsn(2, hdn(cube(2), [[0]]), top=4)",
    "hsn(2, reduced_cube(1, 1))",
]
# Most hops, worst stretch and virtual channels of each port.
OTHERS = {
    "ccc(3)": (7, 2.0, (2, 2, 2)),
    "ccc(4)": (10, 3.0, (2, 2, 2)),
    "reduced_cube(2, 1)": (6, 5 / 3, (2, 2, 1)),
    "reduced_cube(3, 2)": (12, 2.0, (2, 2, 2, 1)),
    "folded_hsn(2, 1)": (2, 1.0, (2, 1, 2)),
    "folded_hsn(3, 2)": (5, 2.5, (3, 3, 1, 1, 2)),
}


def distances_of(network):
    return [metrics.distances_from(network, node).tolist() for node in range(network.num_nodes)]


@pytest.mark.parametrize("text", SHORTEST)
def test_shortest_routes(text, lengths_of):
    made = plan(text)
    distances = distances_of(made.network)
    assert made.rule.is_shortest
    assert made.proof.acyclic
    assert all(hops == distances[src][dst] for (src, dst), hops in lengths_of(made).items())


@pytest.mark.parametrize("text", [*SWAPPED, *OVER_A_DIVISOR, *OTHERS])
def test_proved_and_delivered(text, lengths_of):
    made = plan(text)
    distances = distances_of(made.network)
    lengths = lengths_of(made)
    assert (made.modes, made.rule.is_shortest, made.proof.method, made.proof.acyclic) == ("", False, "exhaustive", True)
    assert all(hops >= distances[src][dst] for (src, dst), hops in lengths.items())
    statistics = routing_statistics(made)
    assert statistics.max_hops == max(lengths.values())
    if text in OTHERS:
        most, worst, num_vcs = OTHERS[text]
        assert (statistics.max_hops, made.num_vcs) == (most, num_vcs)
        assert statistics.worst_stretch == pytest.approx(worst)


@pytest.mark.parametrize("text", ["cube(1)", "rdn(cube(2), 1)", "fat_tree(4)", "torus(5, 3)"])
def test_statistics_are_those_of_all_routes(text):
    made = plan(text)
    table, load = metrics.neighbor_table(made.network), Counter()
    pairs = list(permutations(range(made.network.num_terminals), 2))
    routes = {pair: made.rule.route(*pair) for pair in pairs}
    for route in routes.values():
        load.update((node, port) for node, port, _ in route)
    distance = np.array([metrics.table_distances(table, src)[dst] for src, dst in pairs])
    hops = np.array([len(routes[pair]) for pair in pairs])
    found, most = routing_statistics(made), max(load.values())
    assert (found.pairs, found.exhaustive, found.max_channel_load) == (len(pairs), True, most)
    assert (found.max_hops, found.worst_excess) == (hops.max(), (hops - distance).max())
    assert found.nonminimal_fraction == pytest.approx((hops > distance).mean())
    assert (found.mean_hops, found.mean_stretch) == pytest.approx((hops.mean(), (hops / distance).mean()))
    assert found.worst_stretch == pytest.approx((hops / distance).max())
    assert found.saturation_bound == pytest.approx((made.network.num_terminals - 1) / most)


@pytest.mark.parametrize("text", SWAPPED)
def test_the_papers_recursion(text, lengths_of):
    """HSN paper, section 2.3: T_R(l) = T_R(l - 1) + (nucleus route to Y_l) + 1, nothing where X_l = Y_l."""
    made = plan(text)
    spec, nucleus = made.network.spec, build(made.network.spec.nucleus)
    distances, size = distances_of(nucleus), nucleus.num_nodes

    def hops(src, dst, levels):
        if levels == 1:
            return distances[src][dst]
        (x, inner), (y, target) = divmod(src, size ** (levels - 1)), divmod(dst, size ** (levels - 1))
        if x == y:
            return hops(inner, target, levels - 1)
        first = inner % size
        return distances[first][y] + 1 + hops(inner - first + x, target, levels - 1)

    assert all(count == hops(src, dst, spec.levels) for (src, dst), count in lengths_of(made).items())
    diameter = metrics.diameter_formula(made.network)
    assert routing_statistics(made).max_hops <= diameter
    own = plan(spec.nucleus).num_vcs
    assert made.num_vcs == (*(spec.levels if vcs == 1 else made.num_vcs[0] for vcs in own), *[1] * (spec.levels - 1))


def test_classes_of_a_swapped_network_are_its_levels():
    rule = hop_rule(build("hsn(3, cube(2))"))
    for src, dst in product(range(0, 64, 5), range(64)):
        x = [src >> 4, src >> 2 & 3, src & 3]
        for node, port, vc in rule.route(src, dst):
            digits = [node >> 4, node >> 2 & 3, node & 3]
            highest = next(index for index in range(3) if digits[index] != [dst >> 4, dst >> 2 & 3, dst & 3][index])
            assert vc == (highest if port < 2 else 0)
            assert port in (0, 1, 3 - highest)
        assert x[0] == src >> 4


def test_diameter_links_carry_nothing():
    made = plan("hcn(2)")
    (shape,) = made.shapes
    assert shape.ports == (0, 1, 2)
    leaders = [node for node in range(16) if node >> 2 == node & 3]
    address = made.address.of_node(np.arange(16))
    assert (core_rule(made.rule).decide(address[leaders, None], address) & 0xFF != 2).all()


BROKEN = [
    *("hsn(2, cube(2))", "ccc(3)", "reduced_cube(2, 1)", "star(3)", "crossed_cube(3)", "petersen()"),
    "exchanged_cube(1, 2)",
]


@pytest.mark.parametrize("text", BROKEN)
def test_one_class_can_deadlock(text):
    """Negative control: the same routes without their classes."""
    rule = hop_rule(build(text))
    broken = replace(rule, vc=(rule.circuit.constant(0),), num_vcs=(1,) * len(rule.take))
    with pytest.raises(RuleError, match=r"can deadlock: \d+ virtual channels wait in a cycle"):
        prove(broken)


@pytest.mark.parametrize("text", ["folded_cube(3)", "hsn(2, cube(2))"])
def test_lanes(text):
    one, two = plan(text), plan(text, lanes=2)
    assert two.proof.acyclic
    assert two.proof.channels > one.proof.channels
    assert all(vcs <= 2 * before for vcs, before in zip(two.num_vcs, one.num_vcs, strict=True))


def test_what_has_no_rule():
    text = "hsn(2, mesh(2, 6), top=4)"
    message = f"no table-free routing rule is known for {text}: 4 top clusters are not counted by whole digits of "
    with pytest.raises(SpecError) as caught:
        hop_rule(build(text))
    assert str(caught.value) == message + "mesh(2, 6)"
    assert plan(text).proof.acyclic


def test_what_is_too_large_to_enumerate():
    network = build("hsn(4, cube(4))")
    with pytest.raises(SpecError, match=r"^routing of hsn\(4, cube\(4\)\) is not proved deadlock-free: it has 65536 "):
        plan(network.spec)
    with pytest.raises(SpecError, match=r"^a proof by ranks is for products and dual-nets over them; star"):
        prove_ranks_grow(hop_rule(build("star(3)")))


@pytest.mark.parametrize("text", ["ccc(3)", "cube(2)"])
def test_modes_are_for_dual_nets(text):
    network = build(text)
    assert check_modes(network, None) == check_modes(network, "") == ""
    with pytest.raises(SpecError, match=f"^modes are for dual-nets of one level or more; {re.escape(text)} is none$"):
        hop_rule(network, "f")


def test_dependencies_against_networkx():
    """The graph built by following every route, hop by hop, with the interpreted rule."""
    network = build("star(3)")
    rule, graph = hop_rule(network), nx.DiGraph()
    for src, dst in product(range(6), repeat=2):
        nx.add_path(graph, rule.route(src, dst))
    proof = prove(rule).proof
    assert nx.is_directed_acyclic_graph(graph)
    assert (proof.channels, proof.edges) == (graph.number_of_nodes(), graph.number_of_edges())


def test_counts_and_classes():
    circuit = Circuit()
    bits = [circuit.input(f"cur{place}", 2) for place in range(3)]
    total = count(circuit, bits)
    outputs = [total, *class_of(circuit, total, 3)]
    for values in product(range(2), repeat=3):
        inputs = {f"cur{place}": value for place, value in enumerate(values)}
        number, high, low = circuit.run(outputs, inputs.__getitem__)
        assert number == sum(values)
        assert not number or 2 * high + low == number - 1
    assert (total + circuit.constant(0)).index == (circuit.constant(0) + total).index == total.index
