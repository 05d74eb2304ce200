"""Disjoint-path paper, section 3: distributed paths to a given node, and how often Base_routing is called."""

from math import prod

from hdnhw.papers.claim import Case, Finding, judge
from hdnhw.papers.disjoint_networks import disjoint_claim
from hdnhw.papers.disjoint_paths import networks_with_fans
from hdnhw.papers.families import compare, dual_nets
from hdnhw.routing.algorithm1 import base_routing_calls
from hdnhw.routing.disjoint_literal import base_fan
from hdnhw.routing.nest import nest_of
from hdnhw.topology.dualnet import DualNetwork

__all__ = ["CLAIMS"]

MOST = 140
"""Nodes of the networks in which calls are counted."""

SOURCES = 8
"""From which they are counted, to all nodes."""


def _is_fan(network: DualNetwork, end: int, paths: list[list[int]]) -> bool:
    """Return whether they are d0 paths that share their first node only, one of them to `end`, to as many super-nodes.

    Paths to other nodes must leave the super-node of the first one, as its own cross-edge is a path, too.
    """
    nest, inner = nest_of(network), [node for path in paths for node in path[1:]]

    def door(node: int) -> tuple[int, ...]:
        return nest.super_node(1, nest.cut(0, network.decode(node))[1])

    doors = [door(path[-1]) for path in paths]
    away = all(door(path[0]) != door(path[-1]) for path in paths if path[-1] != end)
    apart = len(set(inner)) == len(inner) and paths[0][0] not in inner and len(set(doors)) == len(doors)
    enough = len(paths) == len(network.ports) - len(network.levels)
    return enough and apart and away and any(path[-1] == end for path in paths)


def algorithm4() -> Finding:
    """Run Algorithm 4 from the first node of a base network to every node of it, itself included."""
    cases, table = [], []
    for network in networks_with_fans():
        size, row = prod(factor.size for factor in network.factors), {"network": str(network.spec)}
        for same, ends in ((True, [0]), (False, range(1, size))):
            fails = [end for end in ends if not _is_fan(network, end, base_fan(network, 0, end))]
            which = "v = u" if same else "v not u"
            cases.append(
                Case(
                    network=f"{network.spec}, {which}",
                    nodes=network.num_nodes,
                    published="d_0 paths",
                    computed=f"not to {len(fails)} of {len(ends)} nodes",
                    holds=not fails,
                )
            )
            row[which] = f"{len(ends) - len(fails)} of {len(ends)}"
        table.append(row)
    return judge(cases, of="networks, each with v = u and with v not u", table=table)


def calls() -> Finding:
    """Count the calls of Base_routing of Algorithm 1, over all pairs the most."""
    cases = []
    for network in dual_nets(MOST):
        k, nodes = len(network.levels), network.num_nodes
        sources = range(0, nodes, max(1, nodes // SOURCES))
        most = max(base_routing_calls(network, src, dst) for src in sources for dst in range(nodes))
        cases.append(compare(network, 2**k, most, corrected=2 ** (k + 1) - 1))
    return judge(cases, corrected="2^(k+1) - 1: two calls of the level below and one in the super-node, at each level")


CLAIMS = (
    disjoint_claim(
        "Algorithm 4, Figure 6",
        "distributed paths of u, one of them ended at v, which may be u itself in Algorithm 5",
        "d_0 paths to d_0 super-nodes",
        algorithm4,
        "E6",
        "from the first node to all of its base network; choices as in Algorithm 6; the paths share u only",
    ),
    disjoint_claim(
        "Theorem 4, proof",
        "calls of Base_routing by HDN_routing",
        "2^k",
        calls,
        reading=f"the most of any pair from {SOURCES} nodes of each network, calls with nothing to route included",
    ),
)
