"""Disjoint-path paper, section 3: distributed paths to a given node, and how often Base_routing is called."""

from collections.abc import Callable, Sequence
from itertools import permutations
from math import prod

from hdnhw.claims.claim import Case, Finding, judge
from hdnhw.claims.disjoint_networks import disjoint_claim
from hdnhw.claims.disjoint_paths import networks_with_fans, super_nodes_of
from hdnhw.claims.families import compare, dual_net, dual_nets
from hdnhw.claims.literal.algorithm1 import base_routing_calls
from hdnhw.claims.literal.disjoint import base_fan, fan, literal_routes
from hdnhw.claims.words import by_order
from hdnhw.multipath.disjoint import short_routes
from hdnhw.multipath.flows import fault_of_paths
from hdnhw.multipath.nest import nest_of
from hdnhw.multipath.path_faults import case_of, clusters_of
from hdnhw.topology.dualnet import DualNetwork

MOST = 140
"""Nodes of the networks in which calls are counted."""

MOST_ENDS = 200
"""Of the nodes of a cluster that Algorithm 5 is run to."""

SOURCES = 8
"""From which they are counted, to all nodes."""


def _is_fan(network: DualNetwork, end: int, paths: list[list[int]]) -> bool:
    """Return whether they are d0 paths that share their first node only, one of them to `end`, to as many super-nodes.

    Paths to other nodes must leave the super-node of the first one, as its own cross-edge is a path, too.
    """
    nest = nest_of(network)

    def door(node: int) -> tuple[int, ...]:
        return nest.super_node(1, nest.cut(0, network.decode(node))[1])

    doors = [door(path[-1]) for path in paths]
    away = all(door(path[0]) != door(path[-1]) for path in paths if path[-1] != end)
    enough = len(paths) == len(network.ports) - len(network.levels)
    return enough and _are_apart(paths, doors) and away and any(path[-1] == end for path in paths)


def _are_apart(paths: list[list[int]], doors: Sequence[object]) -> bool:
    """Return whether paths share their first node only, and no two of what they lead to are the same."""
    inner = [node for path in paths for node in path[1:]]
    return len(set(inner)) == len(inner) and paths[0][0] not in inner and len(set(doors)) == len(doors)


def _reached(name: str, nodes: int, published: str, fails: Sequence[int], ends: Sequence[int]) -> Case:
    """Return the case of a network in which the paths to some nodes are not as published."""
    computed = f"not to {len(fails)} of {len(ends)} nodes"
    return Case(name, nodes, published, computed, holds=not fails)


def algorithm4() -> Finding:
    """Run Algorithm 4 from the first node of a base network to every node of it, itself included."""
    cases, table = [], []
    for network in networks_with_fans():
        size, row = prod(factor.size for factor in network.factors), {"network": str(network.spec)}
        for same, ends in ((True, [0]), (False, range(1, size))):
            fails = [end for end in ends if not _is_fan(network, end, base_fan(network, 0, end))]
            which = "v = u" if same else "v not u"
            cases.append(_reached(f"{network.spec}, {which}", network.num_nodes, "d_0 paths", fails, ends))
            row[which] = f"{len(ends) - len(fails)} of {len(ends)}"
        table.append(row)
    return judge(cases, of="networks, each with v = u and with v not u", table=table)


def _is_wide_fan(network: DualNetwork, end: int, paths: list[list[int]]) -> bool:
    """Return whether they are d0 + k paths that share the first node only, one to `end`, others to as many clusters."""
    doors = [cluster for path in paths if path[-1] != end for cluster in clusters_of(network, path[-1:])]
    return len(paths) == len(network.ports) == len(doors) + 1 and _are_apart(paths, doors)


def algorithm5() -> Finding:
    """Run Algorithm 5 from the first node of each network to the others of its cluster."""
    cases = []
    for network in networks_with_fans():
        ends = range(1, min(MOST_ENDS, network.num_nodes // (2 * super_nodes_of(network, len(network.levels)))))
        fails = [end for end in ends if not _is_wide_fan(network, end, fan(network, 0, end=end))]
        cases.append(_reached(str(network.spec), network.num_nodes, "d_0 + k paths", fails, ends))
    return judge(cases)


def calls() -> Finding:
    """Count the calls of Base_routing of Algorithm 1, over all pairs the most."""
    cases = []
    for network in dual_nets(MOST):
        k, nodes = len(network.levels), network.num_nodes
        sources = range(0, nodes, max(1, nodes // SOURCES))
        most = max(base_routing_calls(network, src, dst) for src in sources for dst in range(nodes))
        cases.append(compare(network, 2**k, most, corrected=2 ** (k + 1) - 1))
    return judge(cases, corrected="2^(k+1) - 1: two calls of the level below and one in the super-node, at each level")


DIMENSIONS = {1: (2, 4, 8, 16, 24), 2: (2, 4, 8, 12)}
"""Of the cubes over which the hops of paths are counted, by the levels."""


def steps() -> Finding:
    """Count the hops of all disjoint paths to a node far away, of least total length: each costs a step at least."""
    cases, quotients = [], []
    for levels, dimensions in DIMENSIONS.items():
        found = [_far(dual_net(f"rdn(cube({dimension}), {levels})")) for dimension in dimensions]
        least, least_corrected = found[0][1] / found[0][2], found[0][1] / found[0][3]
        for network, hops, published, corrected in found:
            quotients.append({"hops": hops / published / least})
            case = Case(
                network=str(network.spec),
                nodes=network.num_nodes,
                published=f"O({published}) hops",
                computed=f"{hops}, {quotients[-1]['hops']:.1f} times as many of these as over cube(2)",
                holds=True,
                corrected=hops <= 2 * least_corrected * corrected,
            )
            cases.append(case)
    more = "not less than (d_0 + k) (D(B) + 1) 2^k, as the paths have so many hops"
    return by_order(cases, quotients, corrected=more)


def _far(network: DualNetwork) -> tuple[DualNetwork, int, int, int]:
    """Return hops to the node of the same class in which all other digits differ, and what they are compared with."""
    classes = {level.class_digit for level in network.levels}
    far = network.encode(tuple(int(place not in classes) for place in range(len(network.radices))))
    paths, bound = short_routes(network, 0, far), len(network.ports) * 2 ** len(network.levels)
    return network, sum(len(path) - 1 for path in paths), bound, bound * (len(network.factors) + 1)


PICTURED = "hdn(cube(3), [[2]])"
"""The network of Figures 5 and 7 to 9: the 3-cube, s_1 = 2."""


def figure4_ends() -> Finding:
    """Run Algorithm 2 on the torus of Figure 4: where its paths end, from each node of one base network."""
    network = dual_net("hdn(torus(2, 3, 5), [[2]])")
    cases = []
    for node in range(30):
        paths = fan(network, node, own_edge=False)
        ends = sorted(len(path) - 2 for path in paths)
        doors = {path[-1] // 30 for path in paths}
        cases.append(
            _pictured(network, node, "5 super-nodes, 3 of them next to u", (len(doors), ends.count(1)), (5, 3))
        )
    return judge(cases, of="nodes")


def figure5() -> Finding:
    """Run Algorithm 3, with the path over u's own cross-edge, from each node."""
    network = dual_net(PICTURED)
    found = [{path[-1] // 8 for path in fan(network, node)} for node in range(network.num_nodes)]
    others = [set(range(4, 8)) if node < 32 else set(range(4)) for node in range(network.num_nodes)]
    cases = [
        _pictured(network, node, "all 4 clusters of the other class", doors, other)
        for node, (doors, other) in enumerate(zip(found, others, strict=True))
    ]
    return judge(cases, of="nodes")


def figure7() -> Finding:
    """Run Algorithm 6 on all pairs of Case A: the clusters that its paths visit."""
    return _clusters(
        "A", lambda counts: counts[:3] == [1, 1, 1] and counts[3] > 1, "3 paths inside the cluster, 1 outside"
    )


def figure8() -> Finding:
    """Run Algorithm 6 on all pairs of Case B: whether its paths share no node but the ends."""

    def look(network: DualNetwork, ends: tuple[int, int], paths: list[list[int]]) -> tuple[str, bool]:
        fault = fault_of_paths(lambda node: network.neighbors(node).values(), *ends, paths)
        return f"{len(paths)} paths, {fault or 'disjoint'}", len(paths) == 4 and fault is None

    return _on_pairs("B", look, "4 disjoint paths")


def figure9() -> Finding:
    """Run Algorithm 6 on all pairs of Case C: the clusters that its paths visit."""
    return _clusters("C", lambda counts: counts == [3] * 4, "4 paths, each joined in a cluster of the other class")


def _clusters(case: str, is_pictured: Callable[[list[int]], bool], published: str) -> Finding:
    def look(network: DualNetwork, _ends: tuple[int, int], paths: list[list[int]]) -> tuple[str, bool]:
        counts = sorted(len(clusters_of(network, path)) for path in paths)
        return f"clusters {counts}", len(counts) == 4 and is_pictured(counts)

    return _on_pairs(case, look, published)


Look = Callable[[DualNetwork, tuple[int, int], list[list[int]]], tuple[str, bool]]
"""Takes a network, two nodes and paths; returns what the paths are, and whether they are as published."""


def _on_pairs(case: str, look: Look, published: str) -> Finding:
    """Run Algorithm 6 on all pairs of a case."""
    network = dual_net(PICTURED)
    cases = []
    for src, dst in permutations(range(network.num_nodes), 2):
        if case_of(network, src, dst) == case:
            computed, holds = look(network, (src, dst), literal_routes(network, src, dst))
            name = f"{network.format_node(src)} to {network.format_node(dst)}"
            cases.append(Case(name, network.num_nodes, published, computed, holds=holds))
    return judge(cases, of="pairs, all there are")


def _pictured(network: DualNetwork, node: int, published: str, found: object, said: object) -> Case:
    return Case(f"{network.spec}, node {node}", network.num_nodes, published, str(found), holds=found == said)


CLAIMS = (
    disjoint_claim(
        "Figure 4",
        "where the paths of Algorithm 2 end in the torus 2 x 3 x 5 with super-nodes of 5",
        "5 super-nodes, 3 of them by one hop",
        figure4_ends,
    ),
    disjoint_claim(
        "Figure 5",
        "clusters to which the distributed paths of a node of HDN(3-cube, 1, {2}) lead",
        "all 4 of the other class",
        figure5,
        reading="with the path over u's own cross-edge, as drawn",
    ),
    disjoint_claim(
        "Figure 7",
        "disjoint paths of Case A on HDN(3-cube, 1, {2})",
        "3 inside the cluster and 1 over the cross-edges of u and v",
        figure7,
        reading="choices as in Algorithm 6",
    ),
    disjoint_claim(
        "Figure 8",
        "disjoint paths of Case B on HDN(3-cube, 1, {2}), joined over cross-edges",
        "4, one of them by a dispersion node in the cluster of v",
        figure8,
        reading="choices as in Algorithm 6",
    ),
    disjoint_claim(
        "Figure 9",
        "disjoint paths of Case C on HDN(3-cube, 1, {2})",
        "each of the 4 joined in a cluster of the other class",
        figure9,
        reading="choices as in Algorithm 6",
    ),
    disjoint_claim(
        "Algorithm 4, Figure 6",
        "distributed paths of u, one of them ended at v, which may be u itself in Algorithm 5",
        "d_0 paths to d_0 super-nodes",
        algorithm4,
        "E6",
        "from the first node to all of its base network; choices as in Algorithm 6; the paths share u only",
    ),
    disjoint_claim(
        "Algorithm 5",
        "distributed paths of u, one of them ended at a pre-assigned node v of its cluster",
        "d_0 + k paths, the others to as many clusters",
        algorithm5,
        "E6",
        f"from the first node to the others of its cluster, {MOST_ENDS - 1} at most; Algorithm 4 with a case for "
        "v = u; choices as in Algorithm 6; the paths share u only",
    ),
    disjoint_claim(
        "abstract, Theorem 4",
        "time to find d_0 + k disjoint paths",
        "O((d_0 + k) 2^k), where those of B take O(d_0^2)",
        steps,
        reading="a path costs a step a hop at least; B the d-cube, S empty, k = 1 with d up to 24, and "
        "k = 2 with d up to 12; of the correction, the quotient is at most twice that of d = 2",
    ),
    disjoint_claim(
        "Theorem 4, proof",
        "calls of Base_routing by HDN_routing",
        "2^k",
        calls,
        reading=f"the most of any pair from {SOURCES} nodes of each network, calls with nothing to route included",
    ),
)
