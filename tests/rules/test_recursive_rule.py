"""The rule of dual-nets over networks that are no products: every pair, against searches and the papers' recursion."""

from dataclasses import replace
from itertools import product

import networkx as nx
import pytest

from hdnhw.networks.build import build
from hdnhw.rules.hop import check_modes, hop_rule
from hdnhw.rules.plan import plan, prove
from hdnhw.rules.statistics import routing_statistics
from hdnhw.support.errors import RuleError, SpecError
from hdnhw.topology import metrics

# Whether the rule of the base is shortest, and the virtual channels of each port in mode f.
BASES = {
    "star(3)": (True, (4, 4, 2)),
    "petersen()": (True, (4, 4, 4, 2)),
    "folded_cube(2)": (True, (2, 2, 2, 2)),
    "crossed_cube(3)": (True, (4, 4, 4, 2)),
    "reduced_cube(1, 1)": (False, (4, 2, 2)),
    "hcn(1)": (False, (4, 2, 2)),
}


@pytest.mark.parametrize("base", BASES)
def test_every_pair(base, lengths_of):
    """HDN paper, Algorithm 1, with the routes of the base's own rule inside a cluster."""
    shortest, num_vcs = BASES[base]
    made, inner = plan(f"rdn({base}, 1)"), lengths_of(plan(base))
    n = build(base).num_nodes

    def hops(src, dst):
        (kind, cluster, node), (other, to_cluster, to_node) = ((at // n**2, at // n % n, at % n) for at in (src, dst))
        if kind != other:
            return inner[node, to_cluster] + 1 + inner[cluster, to_node]
        across = 0 if cluster == to_cluster else 2 + inner[cluster, to_cluster]
        return across + inner[node, to_node]

    found = lengths_of(made)
    assert found == {pair: hops(*pair) for pair in product(range(2 * n * n), repeat=2)}
    assert (made.modes, made.num_vcs, made.proof.method, made.proof.acyclic) == ("f", num_vcs, "exhaustive", True)
    assert made.rule.is_shortest == shortest
    distances = [metrics.distances_from(made.network, node).tolist() for node in range(2 * n * n)]
    excess = max(hops - distances[src][dst] for (src, dst), hops in found.items())
    assert (excess == 0) == shortest
    assert routing_statistics(made).max_hops == max(found.values())


@pytest.mark.parametrize(
    ("text", "modes"), [("rdn(star(3), 1)", "O"), ("rdn(star(2), 2)", "OO"), ("rdn(star(2), 2)", "ff")]
)
def test_other_modes(text, modes, lengths_of):
    made = plan(text, modes)
    lengths = lengths_of(made)
    distances = [metrics.distances_from(made.network, node).tolist() for node in range(made.network.num_nodes)]
    assert made.proof.acyclic
    assert made.rule.is_shortest == (modes == "ff")
    assert all(hops >= distances[src][dst] for (src, dst), hops in lengths.items())
    assert (modes == "ff") == all(hops == distances[src][dst] for (src, dst), hops in lengths.items())


def test_the_same_as_over_a_product():
    """star(2) is the edge cube(1)."""
    one, other = plan("rdn(star(2), 2)"), plan("rdn(cube(1), 2)")
    pairs = list(product(range(0, 128, 11), range(0, 128, 2)))
    assert [one.rule.route(*pair) for pair in pairs] == [other.rule.route(*pair) for pair in pairs]
    assert one.num_vcs == other.num_vcs


def test_dependencies_against_networkx():
    """The graph built by following every route, hop by hop, with the interpreted rule."""
    rule, graph = hop_rule(build("rdn(star(3), 1)")), nx.DiGraph()
    for src, dst in product(range(72), repeat=2):
        nx.add_path(graph, rule.route(src, dst))
    proof = prove(rule).proof
    assert nx.is_directed_acyclic_graph(graph)
    assert (proof.channels, proof.edges) == (graph.number_of_nodes(), graph.number_of_edges())


@pytest.mark.parametrize("text", ["rdn(star(3), 1)", "rdn(petersen(), 1)", "rdn(folded_cube(2), 1)"])
def test_each_bit_of_the_class_is_needed(text):
    """Negative control: without the class of the level, or without those of the base where it has some."""
    rule = hop_rule(build(text))
    for bit in range(len(rule.vc)):
        rest = (*rule.vc[:bit], *rule.vc[bit + 1 :]) or (rule.circuit.constant(0),)
        broken = replace(rule, vc=rest, num_vcs=tuple(max(1, vcs // 2) for vcs in rule.num_vcs))
        with pytest.raises(RuleError, match=r"can deadlock: \d+ virtual channels wait in a cycle"):
            prove(broken)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rdn(petersen(), 2)", "routing of rdn(petersen(), 2) is not proved deadlock-free: it has 80000 nodes, and "),
        ("rdn(hcn(5), 1)", "routing of rdn(hcn(5), 1) is not proved deadlock-free: it has 2097152 nodes, and "),
    ],
)
def test_what_is_too_large_to_enumerate(text, message):
    with pytest.raises(SpecError) as caught:
        plan(text)
    assert str(caught.value) == f"{message}dependencies are enumerated up to 8192"


def test_modes_are_for_each_level():
    network = build("rdn(star(3), 2)")
    assert check_modes(network, None) == "Of"
    with pytest.raises(
        SpecError, match=r"^modes of rdn\(star\(3\), 2\) must be 2 letters f or O, level 2 first, not 'f'$"
    ):
        check_modes(network, "f")
