"""Disjoint-path paper, sections 2 and 3.1: what it repeats of the network and of its routing, and the two lemmas."""

from collections.abc import Callable
from itertools import pairwise
from math import prod

from hdnhw.papers.claim import Case, Claim, Finding, judge
from hdnhw.routing.algorithm1 import algorithm1_route
from hdnhw.routing.faults import case_of, clusters_of
from hdnhw.spec import parse
from hdnhw.topology import metrics
from hdnhw.topology.dualnet import DualNetwork, dual_network
from hdnhw.topology.network import build
from hdnhw.topology.symmetry import Symmetry, symmetry

__all__ = ["CLAIMS", "EXAMPLE", "FAMILY", "diameters", "disjoint_claim", "dual"]

EXAMPLE = "hdn(cube(3), [[2], [0, 1, 2]])"
"""The network of section 4: the 3-cube, k = 2, S = {2, 8}."""

FAMILY = (
    "hdn(cube(1), [[0]])",
    "rdn(cube(1), 1)",
    "hdn(cube(2), [[0, 1]])",
    "hdn(cube(2), [[0]])",
    "hdn(cube(1), [[0], [0]])",
    "rdn(torus(3), 1)",
    "rdn(cube(2), 1)",
    "hdn(cube(1), [[0], []])",
    "hdn(cube(3), [[0, 1]])",
    "rdn(complete(4), 1)",
    "hdn(cube(1), [[], [0]])",
    "hdn(cube(3), [[2]])",
    "hdn(cube(2), [[0, 1], [0]])",
    "rdn(cube(1), 2)",
    "hdn(cube(2), [[0], [0, 1]])",
    "rdn(cube(3), 1)",
    "hdn(torus(3, 5), [[0]])",
)
"""All kinds of super-nodes, from the smallest network on: nested and not, one cluster a class and several."""


def dual(spec: str) -> DualNetwork:
    """Return the dual-net of a spec."""
    return dual_network(build(parse(spec)), "a claim")


def diameters(network: DualNetwork) -> tuple[int, list[int]]:
    """Return D(B) and the D(SN^i), level 1 first."""
    return sum(factor.diameter for factor in network.factors), [
        sum(network.factors[factor].diameter for factor in level.super_node_factors) for level in network.levels
    ]


def _sizes(network: DualNetwork) -> tuple[int, list[int]]:
    """Return N_0 and the s_i."""
    return prod(factor.size for factor in network.factors), [
        prod(network.factors[factor].size for factor in level.super_node_factors) for level in network.levels
    ]


def size_formula() -> Finding:
    """Compare the closed form of the size with networks."""
    cases = []
    for spec in (*FAMILY, EXAMPLE):
        network = dual(spec)
        base, sizes = _sizes(network)
        top, k = (2 * base) ** 2 ** len(sizes), len(sizes)
        published = top / (2 * prod(sizes))
        corrected = top / (2 * prod(size**2 ** (k - level) for level, size in enumerate(sizes, start=1)))
        nodes = network.num_nodes
        cases.append(
            Case(
                network=spec,
                nodes=nodes,
                published=f"{published:g}",
                computed=nodes,
                holds=published == nodes,
                corrected=corrected == nodes,
                condition=prod(sizes[:-1]) == 1,
            )
        )
    return judge(cases, condition="s_i = 1 for all i < k", corrected="n_k = (2 n_0)^(2^k) / (2 prod s_i^(2^(k-i)))")


def degree() -> Finding:
    """Count the neighbours of all nodes."""
    cases = []
    for spec in (*FAMILY, EXAMPLE):
        network = dual(spec)
        published = sum(factor.degree for factor in network.factors) + len(network.levels)
        found = {len(set(row)) for row in metrics.neighbor_table(network).tolist()}
        cases.append(
            Case(
                network=spec,
                nodes=network.num_nodes,
                published=published,
                computed=sorted(found),
                holds=found == {published},
            )
        )
    return judge(cases)


def diameter() -> Finding:
    """Search the networks and compare their diameters with the formula."""
    cases = []
    for spec in (*FAMILY, EXAMPLE):
        network = dual(spec)
        found, formula = metrics.summarise_distances(network).diameter, metrics.diameter_formula(network)
        cases.append(
            Case(
                network=spec,
                nodes=network.num_nodes,
                published=formula,
                computed=found,
                holds=found == formula,
                corrected=found == metrics.diameter_corrected(network),
                condition=bool(network.levels[0].cluster),
            )
        )
    return judge(cases, condition="s_1 < |B|", corrected="D_1 = D_0 + 1 if s_1 = |B|, else as printed, level by level")


def symmetric_nodes() -> Finding:
    """Find the orbits of nodes."""
    return _symmetric("node", condition="SN^k is inside SN^(k-1), and so on down to SN^1")


def symmetric_edges() -> Finding:
    """Find the orbits of edges."""
    return _symmetric("edge", condition=None)


def _symmetric(what: str, *, condition: str | None) -> Finding:
    cases = []
    for spec in (*FAMILY, EXAMPLE):
        network = dual(spec)
        found = symmetry(metrics.neighbor_table(network))
        assert isinstance(found, Symmetry)
        orbits = int((found.node_orbit if what == "node" else found.edge_orbit).max()) + 1
        cases.append(
            Case(
                network=spec,
                nodes=network.num_nodes,
                published="1 orbit",
                computed=f"{orbits} orbits of {what}s",
                holds=orbits == 1,
                condition=network.is_nested,
            )
        )
    return judge(cases, condition=condition)


def example() -> Finding:
    """Build the two networks of the simulation."""
    cases = []
    for spec, nodes, most in (("hdn(cube(3), [[2]])", 64, 7), (EXAMPLE, 1024, 13)):
        network = dual(spec)
        found = network.num_nodes, metrics.summarise_distances(network).diameter
        cases.append(
            Case(network=spec, nodes=nodes, published=(nodes, most), computed=found, holds=found == (nodes, most))
        )
    return judge(cases)


def recursive_sizes() -> Finding:
    """Build the recursive dual-nets of the 3-cube."""
    cases = []
    for k, power in ((1, 7), (2, 15), (3, 31)):
        nodes = dual(f"rdn(cube(3), {k})").num_nodes
        cases.append(
            Case(
                network=f"rdn(cube(3), {k})",
                nodes=nodes,
                published=f"2^{power}",
                computed=nodes,
                holds=nodes == 2**power,
            )
        )
    return judge(cases)


def shortest() -> Finding:
    """Compare Algorithm 1 with breadth-first search on all pairs."""
    cases = []
    for spec in FAMILY:
        network = dual(spec)
        longer, pairs = 0, 0
        for src in range(network.num_nodes):
            distance = metrics.distances_from(network, src)
            hops = [len(algorithm1_route(network, src, dst)) - 1 for dst in range(network.num_nodes)]
            longer += sum(hop > least for hop, least in zip(hops, distance.tolist(), strict=True))
            pairs += len(hops) - 1
        cases.append(
            Case(
                network=spec,
                nodes=network.num_nodes,
                published="0 pairs longer",
                computed=f"{longer} of {pairs} pairs longer",
                holds=longer == 0,
                condition=network.is_nested,
            )
        )
    return judge(cases, condition="super-nodes are nested")


def theorem2() -> Finding:
    """Compare the longest route of Algorithm 1 with Theorem 2, from 32 nodes of large networks."""
    cases = []
    for spec in (*FAMILY, "hdn(cube(2), [[], [0, 1]])", EXAMPLE):
        network = dual(spec)
        nodes = network.num_nodes
        sources = range(0, nodes, max(1, nodes // 32))
        most = max(len(algorithm1_route(network, src, dst)) - 1 for src in sources for dst in range(nodes))
        bound = network.diameter_formula
        added = [
            sum(network.factors[factor].diameter for factor in upper - lower)
            for lower, upper in pairwise(set(level.super_node_factors) for level in network.levels)
        ]
        cases.append(
            Case(
                network=spec,
                nodes=nodes,
                published=f"at most {bound}",
                computed=most,
                holds=most <= bound,
                condition=max(added, default=0) <= 1,
            )
        )
    return judge(cases, condition="the diameter of SN^k - SN^(k-1) is at most 1")


def lemmas() -> Finding:
    """Count the clusters on the routes of Algorithm 1."""
    cases = []
    for spec in FAMILY:
        network, nodes = dual(spec), dual(spec).num_nodes
        most = {"A": 0, "B": 0, "C": 0}
        for src in range(0, nodes, max(1, nodes // 16)):
            for dst in range(nodes):
                case = case_of(network, src, dst)
                clusters = len(clusters_of(network, algorithm1_route(network, src, dst)))
                most[case] = max(most[case], clusters)
        cases.append(
            Case(
                network=spec,
                nodes=nodes,
                published="2 and 3 clusters",
                computed=f"{most['B']} and {most['C']} clusters",
                holds=most["B"] <= 2 and most["C"] <= 3,
            )
        )
    return judge(cases)


def disjoint_claim(
    where: str, claim: str, published: str, check: Callable[[], Finding], erratum: str | None = None
) -> Claim:
    """Return a claim of the disjoint-path paper."""
    return Claim(paper="DISJ", where=where, claim=claim, published=published, check=check, erratum=erratum)


CLAIMS = (
    disjoint_claim(
        "abstract, Theorem 1",
        "number of nodes in closed form",
        "(2 N_0)^(2^k) / (2 prod s_i)",
        size_formula,
        "E1",
    ),
    disjoint_claim("Theorem 1", "degree of every node", "d_0 + k", degree),
    disjoint_claim(
        "Theorem 1",
        "diameter",
        "D_k = 2^k D(B) - sum_(j=0)^(k-1) 2^j D(SN^(k-j)) + 2^(k+1) - 2",
        diameter,
        "E8",
    ),
    disjoint_claim("abstract", "the HDN is node symmetric", "1 orbit of nodes", symmetric_nodes, "E2"),
    disjoint_claim("abstract", "the HDN is edge symmetric", "1 orbit of edges", symmetric_edges, "E2"),
    disjoint_claim("section 2", "nodes of RDN(8, k) from the 3-cube, k = 1, 2, 3", "2^7, 2^15, 2^31", recursive_sizes),
    disjoint_claim("section 3.1", "Algorithm 1 finds a shortest path", "on every pair", shortest, "E3"),
    disjoint_claim(
        "Theorem 2",
        "hops of Algorithm 1",
        "at most 2^k R(B) - sum_(j=0)^(k-1) 2^j R(SN^(k-j)) + 2^(k+1) - 2",
        theorem2,
        "E3",
    ),
    disjoint_claim(
        "Lemmas 1, 2",
        "clusters that a path needs, clusters of two classes and two clusters of a class",
        "2 and 3",
        lemmas,
    ),
    disjoint_claim(
        "section 4", "nodes and diameters of HDN(3-cube, 1, {2}) and HDN(3-cube, 2, {2, 8})", "64, 7; 1024, 13", example
    ),
)
