"""HDN paper, section 2: sizes, degrees and diameters, Tables 1 and 2."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import log10, prod
from time import perf_counter

import numpy as np

from hdnhw.claims.claim import Claim, Finding, Verdict, judge
from hdnhw.claims.families import compare, dual_net, dual_nets
from hdnhw.claims.words import by_word
from hdnhw.topology import metrics
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.orbits import automorphisms, keeps_edges, representatives

ONCE, TWICE = "once", "twice"
"""How often the edge of a cycle of 2 nodes counts in a degree: in the simple graph, and in the paper."""

COUNTS = f"networks with C2 counted {ONCE} and {TWICE}"
C2_TWICE = f"the edge of a cycle of 2 nodes counts {TWICE}"

MOST = 2100
"""Nodes of the small networks that are searched."""

SUPER_NODES = {1: [], 2: [0], 3: [1], 5: [2], 6: [0, 1], 10: [0, 2], 15: [1, 2], 30: [0, 1, 2]}
"""Factor indices of the super-nodes of the torus 2 x 3 x 5, by their size."""

TABLE1 = """
1800 900 600 360 300 180 120 60
6480000 3240000 2160000 1296000 1080000 648000 432000 216000
1620000 810000 540000 324000 270000 162000 108000 54000
720000 360000 240000 144000 120000 72000 48000 24000
259200 129600 86400 51840 43200 25920 17280 8640
180000 90000 60000 36000 30000 18000 12000 6000
64800 32400 21600 12960 10800 6480 4320 2160
28800 14400 9600 5760 4800 2880 1920 960
7200 3600 2400 1440 1200 720 480 240
"""
"""As printed: k = 1, then k = 2 with a row for each s_1 and a column for each s_2."""


def torus_nets() -> list[tuple[int, ...]]:
    """Return the (s_1) and (s_1, s_2) of Table 1 in its order."""
    return [(size,) for size in SUPER_NODES] + list(product(SUPER_NODES, repeat=2))


def torus_spec(sizes: tuple[int, ...]) -> str:
    """Return the spec of the network with these s_i."""
    return f"hdn(torus(2, 3, 5), {[SUPER_NODES[size] for size in sizes]})"


def table1() -> Finding:
    """Count the nodes of all networks of Table 1."""
    cases = []
    for sizes, printed in zip(torus_nets(), map(int, TABLE1.split()), strict=True):
        network = dual_net(torus_spec(sizes))
        cases.append(compare(network, printed, network.num_nodes))
    return judge(cases)


def size_formula() -> Finding:
    """Compare the closed form of the size with networks from the smallest up, and with those of Table 1."""
    cases = []
    for network in [*dual_nets(MOST), *(dual_net(torus_spec(sizes)) for sizes in torus_nets())]:
        sizes = sizes_of_super_nodes(network)
        k, start = len(sizes), 2 * prod(factor.size for factor in network.factors)
        published = Fraction(start**2**k, 2 * prod(sizes))
        corrected = Fraction(start**2**k, 2 * prod(size**2 ** (k - level) for level, size in enumerate(sizes, start=1)))
        bottom = prod(sizes[:-1]) == 1
        cases.append(compare(network, published, network.num_nodes, corrected=corrected, condition=bottom))
    return judge(
        cases,
        condition="s_i = 1 for all i < k",
        corrected="n_k = (2 n_0)^(2^k) / (2 prod s_i^(2^(k-i)))",
    )


def sizes_of_super_nodes(network: DualNetwork) -> list[int]:
    """Return the s_i of a dual-net, level 1 first."""
    return [prod(network.factors[factor].size for factor in level.super_node_factors) for level in network.levels]


def recurrence() -> Finding:
    """Count the nodes of a level from those below."""
    cases = []
    for network in dual_nets(MOST):
        nodes = prod(factor.size for factor in network.factors)
        for size in sizes_of_super_nodes(network):
            nodes = 2 * nodes * nodes // size
        cases.append(compare(network, nodes, len(metrics.neighbor_table(network))))
    return judge(cases)


def degree() -> Finding:
    """Count the neighbors of every node."""
    cases = []
    for network in dual_nets(MOST):
        table = np.sort(metrics.neighbor_table(network), axis=1)
        distinct = 1 + (np.diff(table, axis=1) > 0).sum(axis=1)
        published = sum(factor.degree for factor in network.factors) + len(network.levels)
        cases.append(compare(network, published, published if (distinct == published).all() else sorted({*distinct})))
    return judge(cases)


def torus_degree() -> Finding:
    """Count the neighbors in the torus 2 x 3 x 5 and in the dual-nets on it, and the edge of C2 once and twice."""
    cases = []
    for spec, published in (("torus(2, 3, 5)", 6), (torus_spec((30,)), 7), (torus_spec((30, 30)), 8)):
        network = dual_net(spec)
        simple = len(set(network.neighbors(0).values()))
        for count, degree in {ONCE: simple, TWICE: metrics.degree_paper(network)}.items():
            case = compare(network, published, degree, corrected=published - (count == ONCE))
            cases.append(replace(case, network=f"{spec}, C2 counted {count}", condition=count == TWICE))
    return judge(cases, of=COUNTS, condition=C2_TWICE, corrected="5, 6 and 7 in the simple graph")


def clusters() -> Finding:
    """Follow the cross-edges of the highest level from every super-node."""
    cases = []
    for network in dual_nets(MOST):
        size, table = sizes_of_super_nodes(network)[-1], metrics.neighbor_table(network)
        level, digits = network.levels[-1], network.decode(np.arange(network.num_nodes))
        named = [[digits[place] for place in places] for places in (level.cluster, level.super_node)]
        radices = [network.radices[place] for place in level.cluster]
        zero = np.zeros(network.num_nodes, dtype=np.int64)
        cluster, super_node = (np.ravel_multi_index(some, radices) if some else zero for some in named)
        class_bit, count = digits[level.class_digit], prod(radices)
        here, there = (class_bit * count + cluster) * count + super_node, table[:, -1]
        links = np.unique(np.stack([here, here[there]]), axis=1, return_counts=True)
        joined = len(np.unique((class_bit * count + cluster) * count + cluster[there]))
        holds = (links[1] == size).all() and len(links[1]) == joined == 2 * count**2
        holds = holds and bool((class_bit[there] != class_bit).all())
        cases.append(compare(network, f"{size} links", f"{size} links" if holds else "others"))
    return judge(cases)


def diameter() -> Finding:
    """Search small networks from a node of each orbit."""
    cases = []
    for network in dual_nets(20 * MOST):
        published, computed = network.diameter_formula, metrics.summarize_distances(network).diameter
        corrected, below = metrics.diameter_corrected(network), bool(network.levels[0].cluster)
        cases.append(compare(network, published, computed, corrected=corrected, condition=below))
    return judge(
        cases,
        condition="SN^1 is not B",
        corrected="D_k as printed, but D_1 = D_0 + 1 where SN^1 = B: there is one cluster a class then",
    )


def table1_diameters() -> Finding:
    """Search all networks of Table 1, each from a node of every orbit."""
    cases, rows, searches = [], [], []
    for sizes in torus_nets():
        network = dual_net(torus_spec(sizes))
        some = np.random.default_rng(network.num_nodes).integers(network.num_nodes, size=500)
        assert all(keeps_edges(network, move, some) for move in automorphisms(network)), "orbits are known"
        start, sources = perf_counter(), representatives(network)
        assert sources is not None, "there are at most 260 orbits"
        computed = max(map(len, metrics.orbit_histograms(network, sources))) - 1
        searches.append((network.num_nodes, str(network.spec), round(perf_counter() - start, 2)))
        published, corrected = network.diameter_formula, metrics.diameter_corrected(network)
        cases.append(compare(network, published, computed, corrected=corrected, condition=sizes[0] < 30))
        s_2 = sizes[1] if len(sizes) > 1 else "-"
        row = {"s_1": sizes[0], "s_2": s_2, "nodes": network.num_nodes, "sources": len(sources)}
        rows.append({**row, "D published": published, "D computed": computed})
    found = judge(cases, condition="s_1 < 30", corrected="D_k as printed, but D_1 = D_0 + 1 where s_1 = 30")
    nodes, spec, seconds = max(searches)
    return replace(
        found,
        computed=f"{found.computed}; searched from a node of every orbit",
        table=rows,
        search={"spec": spec, "nodes": nodes, "seconds": seconds},
    )


def range_of_sizes() -> Finding:
    """Sort the sizes of Table 1 by their magnitudes."""
    sizes = sorted(dual_net(torus_spec(sizes)).num_nodes for sizes in torus_nets())
    decades = {int(log10(size)) for size in sizes}

    def judged(limit: float) -> Finding:
        ends = all(any(unit <= size < unit * limit for size in sizes) for unit in (100, 1_000_000))
        return Finding(
            computed=f"{len(set(sizes))} sizes from {sizes[0]} to {sizes[-1]}, some of every magnitude between",
            verdict=Verdict.HOLDS if ends and decades >= {2, 3, 4, 5, 6} else Verdict.FALSE,
        )

    return by_word("several", judged)


def super_node_sizes() -> Finding:
    """Multiply the sizes of every set of factors of the torus 2 x 3 x 5."""
    network = dual_net("torus(2, 3, 5)")
    some = (chosen for count in range(4) for chosen in combinations(network.radices, count))
    return judge([compare(network, [1, 2, 3, 5, 6, 10, 15, 30], sorted(map(prod, some)))], of="base networks")


def growth() -> Finding:
    """Count the nodes of the recursive dual-nets on the 3-cube."""
    networks = [dual_net(f"rdn(cube(3), {k})") for k in (1, 2, 3)]
    return judge(
        [compare(network, 2**bits, network.num_nodes) for network, bits in zip(networks, (7, 15, 31), strict=True)]
    )


def growth_rate() -> Finding:
    """Compare the growth that section 2 names with the nodes, and with what Table 2 says of them."""
    cases = []
    for base, k in product(("complete(2)", "torus(3)", "cube(2)", "cube(3)"), (1, 2, 3)):
        network = dual_net(f"rdn({base}, {k})")
        rate = (2 * dual_net(base).num_nodes) ** 2**k
        cases.append(compare(network, rate, network.num_nodes, corrected=rate // 2))
    return judge(cases, corrected="(2m)^(2^k) / 2", elsewhere="Table 2")


def cross_edge_index() -> Finding:
    """Follow the cross-edges of the top level, and compare class, cluster, super-node and node in it of both ends."""
    cases = []
    for network in dual_nets(MOST):
        top = network.levels[-1]
        here = network.decode(np.arange(network.num_nodes))
        there = network.decode(metrics.neighbor_table(network)[:, -1].astype(np.int64))
        swapped = dict(zip((*top.cluster, *top.super_node), (*top.super_node, *top.cluster), strict=True))
        right = all(
            bool((there[place] == here[swapped.get(place, place)]).all())
            for place in range(len(here))
            if place != top.class_digit
        )
        kept = here[top.class_digit] == there[top.class_digit]
        found = "C" if kept.all() else "1 - C" if not kept.any() else "either"
        case = compare(network, "(C, SN, U, N)", f"({found}, SN, U, N)" if right else "another")
        cases.append(replace(case, corrected=right and found == "1 - C"))
    place = "Figure 1 and the text before it: to a cluster of the other class"
    return judge(cases, corrected="(1 - C, SN, U, N)", elsewhere=place)


_claim = partial(Claim, "HDN")


CLAIMS = (
    _claim(
        "Table 1", "nodes of HDN(B, 1, S) and HDN(B, 2, S), B the torus 2 x 3 x 5", "72 cells, 60 to 6,480,000", table1
    ),
    _claim(
        "section 2",
        "networks of several hundreds to several millions of nodes (Table 1)",
        "several hundreds to several millions",
        range_of_sizes,
        reading="some are several hundreds, some several millions, and some in each decade between; smaller ones do no "
        "harm",
    ),
    _claim("section 2", "sizes of the RDN on a 3-cube, k = 1, 2, 3", "2^7, 2^15, 2^31", growth),
    _claim("section 2", "how fast the RDN grows", "(2m)^(2^k)", growth_rate, reading="as its number of nodes"),
    _claim(
        "section 2",
        "sizes of super-nodes on factors of 2, 3 and 5 nodes",
        "1, 2, 3, 5, 2x3, 2x5, 3x5, 2x3x5",
        super_node_sizes,
    ),
    _claim("section 2", "nodes of a level from those below", "N_i = 2 N_(i-1)^2 / s_i", recurrence),
    _claim(
        "abstract, Theorem 1, Theorem 3, Table 2",
        "number of nodes in closed form",
        "n_k = (2 n_0)^(2^k) / (2 prod s_i)",
        size_formula,
        "E1",
    ),
    _claim(
        "Figure 1",
        "links from a super-node of level i, all to one super-node; one pair of super-nodes a pair of clusters",
        "s_i, to a distinct cluster of the other class",
        clusters,
    ),
    _claim("abstract, Theorem 1, Table 2", "degree", "d_0 + k", degree),
    _claim(
        "section 2",
        "degree of the torus 2 x 3 x 5, of HDN(B, 1, S) and HDN(B, 2, S) on it",
        "6, 7 and 8",
        torus_degree,
        "E10",
    ),
    _claim("Theorem 1", "diameter", "D_k = 2^k D(B) - sum_(j < k) 2^j D(SN^(k-j)) + 2^(k+1) - 2", diameter, "E8"),
    _claim(
        "Theorem 1 on Table 1", "diameters of all networks of Table 1", "D_k as in Theorem 1", table1_diameters, "E8"
    ),
    _claim(
        "section 2", "the other end of a cross-edge of level k from (C, U, SN, N)", "(C, SN, U, N)", cross_edge_index
    ),
)
