"""RDN paper, sections I and II: the recursive dual-net, Theorems 1 and 2, Table I, node IDs."""

from dataclasses import replace
from functools import partial
from math import ceil, isqrt
from time import perf_counter
from typing import Any

import numpy as np

from hdnhw.claims.claim import Claim, Finding, Verdict, judge
from hdnhw.claims.families import compare, dual_net, recursive_dual_nets
from hdnhw.claims.hdn_tables import searched_sizes
from hdnhw.claims.literal.algorithm1 import algorithm1_lengths
from hdnhw.networks.build import build
from hdnhw.networks.parse import parse
from hdnhw.topology import metrics
from hdnhw.topology.cut_bound import known_bound
from hdnhw.topology.cuts import best_cut, bisection, cut_edges, known_halves
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.orbits import representatives
from hdnhw.topology.symmetry import symmetry

MOST, SMALL = 33_000, 700
"""Nodes of networks that are searched; of those whose automorphisms are."""

PROVED, CUT = ("complete(2)", "complete(3)", "cube(2)", "complete(4)", "torus(5)", "complete(5)", "torus(6)"), 2500
"""Base graphs with k = 1 of which the least cut is proved; nodes of networks that are cut at random, too."""

TABLE1 = """
cube(10)                  1024  10  10   2.00
rdn(torus(5, 5), 1)       1250   5  10   1.46
rdn(torus(3, 3, 3), 1)    1458   7   8   1.43
torus(10, 10, 10)         1000   6  15   2.11
cube(22)               4194304  22  22   2.00
rdn(torus(5, 5), 2)    3125000   6  22   1.30
rdn(torus(3, 3, 3), 2) 4251528   8  18   1.18
torus(160, 160, 160)   4096000   6 240  11.20
"""
"""Spec, n, d, D and CR as printed."""


def _base(network: DualNetwork) -> tuple[int, int, int]:
    """Return n_0, d_0 and D_0."""
    base = dual_net(str(parse(str(network.spec).removeprefix("rdn(").rsplit(",", 1)[0])))
    return searched_sizes(base)


def size() -> Finding:
    """Count nodes."""
    return judge(
        [
            compare(
                network, (2 * _base(network)[0]) ** 2 ** len(network.levels) // 2, len(metrics.neighbor_table(network))
            )
            for network in recursive_dual_nets(MOST)
        ]
    )


def degree() -> Finding:
    """Count the neighbors of every node."""
    cases = []
    for network in recursive_dual_nets(MOST):
        table = np.sort(metrics.neighbor_table(network), axis=1)
        found = {int(count) for count in 1 + (np.diff(table, axis=1) > 0).sum(axis=1)}
        cases.append(compare(network, {_base(network)[1] + len(network.levels)}, found))
    return judge(cases)


def _theorem_diameter(network: DualNetwork) -> int:
    k = len(network.levels)
    return (_base(network)[2] + 2 << k) - 2


def diameter() -> Finding:
    """Search."""
    networks = recursive_dual_nets(MOST)
    return judge([compare(network, _theorem_diameter(network), searched_sizes(network)[2]) for network in networks])


def _least_cut(network: DualNetwork) -> tuple[int, bool]:
    """Return the edges of the best cut, and whether there is a proof that there is none better."""
    table, (half,), bound = metrics.neighbor_table(network), known_halves(network), known_bound(network)
    if len(network.levels) == 1 and str(network.spec).removeprefix("rdn(").removesuffix(", 1)") in PROVED:
        found = bisection(table, [half], at_least=bound)
        return found.edges, found.exact
    assert 2 * half.sum() == network.num_nodes or network.num_nodes <= CUT, "large ones are cut as they are"
    edges = cut_edges(table, half if network.num_nodes > CUT else best_cut(table, [half]))
    return edges, edges == bound


def cuts() -> Finding:
    """Cut networks into halves; those count in which a cut is smaller than claimed, or proved the least."""
    bases = (
        *PROVED,
        "torus(2, 3)",
        "cube(3)",
        "torus(7)",
        "torus(3, 3)",
        "torus(2, 5)",
        "torus(5, 5)",
        "torus(3, 3, 3)",
    )
    cases, rows = [], []
    for network in recursive_dual_nets(MOST, bases=bases):
        published = ceil(network.num_nodes / 4)
        edges, proved = _least_cut(network)
        row = {"network": str(network.spec), "nodes": network.num_nodes, "published": published, "cut": edges}
        rows.append({**row, "says": "less" if edges < published else "as claimed" if proved else "nothing"})
        if proved or edges < published:
            case = compare(network, published, edges)
            cases.append(replace(case, corrected=_is_below_cluster(network, edges, published)))
    found = judge(
        cases,
        corrected="at most n_(k-1) times that of RDN^(k-1) where n_(k-1) is even; so for k >= 2 less than claimed",
    )
    others = f"; of {len(rows) - len(cases)} others no proof" if len(cases) < len(rows) else ""
    return replace(found, computed=found.computed + others, table=rows)


def _is_below_cluster(network: DualNetwork, edges: int, published: int) -> bool:
    """Return whether a cut has at most so many edges as the clusters of one class have, each cut in halves."""
    k, base = len(network.levels), str(network.spec).removeprefix("rdn(").rsplit(",", 1)[0]
    cluster = dual_net(f"rdn({base}, {k - 1})" if k > 1 else base)
    if cluster.num_nodes % 2:
        return k == 1 or edges < published
    table = metrics.neighbor_table(cluster)
    inner = cut_edges(table, best_cut(table, known_halves(cluster)))
    return edges <= cluster.num_nodes * inner and (k == 1 or edges < published)


def symmetric() -> Finding:
    """Find the orbits of the nodes: all automorphisms of small networks, those of the construction of others."""
    cases = []
    for network in recursive_dual_nets(MOST):
        if network.num_nodes <= SMALL:
            found = symmetry(metrics.neighbor_table(network))
            orbits = None if found is None else int(found.node_orbit.max()) + 1
        else:
            orbits = len(representatives(network) or ())
        cases.append(compare(network, 1, orbits))
    return judge(cases)


def cluster_pairs() -> Finding:
    """Count the cross-edges of level k between clusters of type 0 and of type 1."""
    cases = []
    for network in recursive_dual_nets(MOST):
        inner = _cluster_size(network)
        nodes = np.arange(inner * inner)
        pairs = np.unique(nodes // inner * inner + metrics.neighbor_table(network)[nodes, -1] // inner - inner)
        cases.append(compare(network, inner**2, len(pairs)))
    return judge(cases)


def _cluster_size(network: DualNetwork) -> int:
    """Return the nodes of a cluster of the highest level."""
    return isqrt(network.num_nodes // 2)


def cross_edges() -> Finding:
    """Split every node's number into (u_0, u_1, u_2), level by level, and follow its cross-edges."""
    cases = []
    for network in recursive_dual_nets(MOST):
        table, inner, right = metrics.neighbor_table(network), _cluster_size(network), True
        nodes = np.arange(network.num_nodes)
        for port in reversed(range(len(network.ports))[-len(network.levels) :]):
            above, node = np.divmod(nodes, 2 * inner * inner)
            kind, (cluster, own) = node // inner**2, np.divmod(node % inner**2, inner)
            other = ((2 * above + 1 - kind) * inner + own) * inner + cluster
            others = np.delete(table, port, axis=1)
            right &= bool((table[:, port] == other).all() and (others != other[:, None]).all())
            inner = isqrt(inner // 2)
        cases.append(compare(network, True, right))
    return judge(cases)


def example_id() -> Finding:
    """Read the ID of the example."""
    return judge([compare(network := dual_net("rdn(complete(3), 1)"), 14, network.parse_node("1.1/2"))], of="examples")


def routing() -> Finding:
    """Compare the longest routes of the routing algorithm with the bound and with the diameter."""
    cases = []
    for network in recursive_dual_nets(MOST):
        longest = int(algorithm1_lengths(network, [0]).max())
        cases.append(compare(network, _theorem_diameter(network), longest))
    found = judge(cases)
    return replace(found, computed=f"{found.computed}, and is reached")


def _table1() -> list[tuple[str, tuple[str, ...]]]:
    lines = [line.rsplit(maxsplit=4) for line in TABLE1.strip().splitlines()]
    return [(spec, tuple(printed)) for spec, *printed in lines]


def _searched(spec: str) -> tuple[tuple[int, int, int], dict[str, Any]]:
    """Return nodes, degree and diameter, and the record of the search."""
    start = perf_counter()
    sizes = searched_sizes(build(spec))
    return sizes, {"spec": spec, "nodes": sizes[0], "seconds": round(perf_counter() - start, 2)}


def table1() -> Finding:
    """Search all networks of Table I."""
    cases, rows, searches = [], [], []
    for spec, printed in _table1():
        sizes, search = _searched(spec)
        computed = (*map(str, sizes), f"{metrics.cost_ratio(*sizes):.2f}")
        cases.append(compare(build(spec), printed, computed))
        names = ("n", "d", "D", "CR")
        row = {"network": spec} | {f"{name} published": value for name, value in zip(names, printed, strict=True)}
        rows.append(row | {f"{name} computed": value for name, value in zip(names, computed, strict=True)})
        searches.append(search)
    dual = [search for search in searches if search["spec"].startswith("rdn")]
    return replace(judge(cases), table=rows, search=max(dual, key=lambda search: search["nodes"]))


def abstract_example() -> Finding:
    """Search the example of section I."""
    sizes, search = _searched("rdn(torus(5, 5), 2)")
    holds = sizes[0] > 3_000_000 and sizes[1:] == (6, 22)
    computed = f"{sizes[0]} nodes, degree {sizes[1]}, diameter {sizes[2]}"
    return Finding(computed=computed, verdict=Verdict.HOLDS if holds else Verdict.FALSE, search=search)


def cube_ratio() -> Finding:
    """Compute the ratio of hypercubes."""
    networks = [build(f"cube({n})") for n in range(1, 21)]
    return judge([compare(network, 2, metrics.cost_ratio(*searched_sizes(network))) for network in networks])


def _ratio(spec: str) -> float:
    """Return CR by the closed form of the diameter, which Table I is searched for."""
    network = dual_net(spec)
    return metrics.cost_ratio(network.num_nodes, metrics.degree_bounds(network)[1], network.diameter_formula)


def better() -> Finding:
    """Compare the RDNs of Table I with the cube and the torus beside them, and small ones with a cube, which has 2."""
    specs = [spec for spec, _ in _table1()]
    cases = []
    for cube, *rdns, torus in (specs[:4], specs[4:]):
        limit = min(_ratio(cube), _ratio(torus))
        for spec in rdns:
            ratio, network = _ratio(spec), dual_net(spec)
            case = compare(network, f"less than {limit:.2f}", f"{ratio:.2f}")
            cases.append(replace(case, holds=ratio < limit))
    found, small = judge(cases), recursive_dual_nets(MOST)
    ratios = {str(network.spec): metrics.cost_ratio(*searched_sizes(network)) for network in small}
    not_below = ", ".join(f"{spec} has {ratio:.2f}" for spec, ratio in ratios.items() if ratio >= 2)
    return replace(found, computed=f"{found.computed}; of {len(small)} small RDNs beside, all below 2 but {not_below}")


_claim = partial(Claim, "RDN")


CLAIMS = (
    _claim(
        "section I", "RDN of two levels on the 5-ary 2-cube", "over 3 million nodes, 6 links, D = 22", abstract_example
    ),
    _claim("Theorem 1", "number of nodes", "(2 n_0)^(2^k) / 2", size),
    _claim("Theorem 1", "degree of every node", "d_0 + k", degree),
    _claim("Theorem 1", "diameter", "2^k D_0 + 2^(k+1) - 2", diameter),
    _claim("Theorem 1", "bisection bandwidth", "ceil((2 n_0)^(2^k) / 8)", cuts, "E5"),
    _claim("section II", "symmetry", "the RDN is a symmetric network", symmetric),
    _claim("section II", "edges between C_i^0 and C_j^1", "one for each pair", cluster_pairs),
    _claim("section II", "cross-edges of level k by IDs", "iff u_0 != v_0, u_1 = v_2, u_2 = v_1", cross_edges),
    _claim("section II", "ID of node (1, 1, 2), n_0 = 3", "14", example_id),
    _claim("section II", "CR of an n-cube", "2, regardless of its size", cube_ratio),
    _claim("Table I", "n, d, D and CR of eight networks", "1,000 to 4,251,528 nodes", table1),
    _claim(
        "section II",
        "CR of RDNs in Table I",
        "better than hypercube and 3D tori in all cases",
        better,
        reading="of the networks in Table I, as the sentence begins with what the table shows",
    ),
    _claim("Theorem 2", "steps of routing", "at most 2^k D_0 + 2^(k+1) - 2", routing),
)
