"""HDN paper, section 1: the hierarchical dual-net beside the Roadrunner, fat trees that are joined completely."""

from math import ceil

import numpy as np
import numpy.typing as npt

from hdnhw.claims.claim import Claim, Finding, judge
from hdnhw.claims.families import compare, dual_net
from hdnhw.claims.hdn_networks import torus_nets, torus_spec
from hdnhw.networks.build import build
from hdnhw.topology import metrics
from hdnhw.topology.dualnet import DualNetwork

MOST = 2000
"""Nodes of the HDNs, at most."""


def joined_fat_trees(ports: int, clusters: int) -> tuple[npt.NDArray[np.int32], int]:
    """Join fat trees, each two by one link between nodes that have no other such link.

    Parameters
    ----------
    ports : int
        Of a switch; a fat tree has ports^3 / 4 nodes.
    clusters : int
        At most one more than a fat tree has nodes.

    Returns
    -------
    table : ndarray of int32
        Neighbors of all nodes and switches, -1 where there is none: those of a fat tree, the nodes first, after those
        of the fat tree before it. Node t of cluster i has a link to node C - 2 - t of cluster i + 1 + t, modulo C.
    nodes : int
        Of a fat tree.
    """
    network = build(f"fat_tree({ports})")
    tree, nodes = metrics.neighbor_table(network), network.num_terminals
    first = np.arange(clusters)[:, None] * len(tree)
    inside = np.where(tree < 0, -1, tree + first[:, :, None])
    place = np.arange(clusters - 1)
    across = np.full((clusters, len(tree), 1), -1)
    across[:, : clusters - 1, 0] = (first // len(tree) + 1 + place) % clusters * len(tree) + clusters - 2 - place
    return np.concatenate([inside, across], axis=2).reshape(clusters * len(tree), -1).astype(np.int32), nodes


def _beside(network: DualNetwork) -> tuple[dict[str, object], bool]:
    """Return what HDN and Roadrunner of as many nodes have, and whether the HDN is better in all that is said."""
    ports = next(ports for ports in range(2, 64, 2) if (ports**3 // 4 + 1) * ports**3 // 4 >= network.num_nodes)
    clusters = max(2, ceil(network.num_nodes / (ports**3 // 4)))
    table, nodes = joined_fat_trees(ports, clusters)
    ends = (np.arange(clusters)[:, None] * (len(table) // clusters) + np.arange(nodes)).ravel()
    hops = np.array([metrics.table_distances(table, source)[ends] for source in range(nodes)])
    alike = len(np.unique(np.sort(hops, axis=1), axis=0)) == 1
    own = metrics.num_edges(network) / network.num_nodes, metrics.summarize_distances(network).diameter
    other = int((table >= 0).sum()) / 2 / len(ends), int(hops.max())
    symmetric = metrics.node_symmetric(network)
    row = {"network": str(network.spec), "nodes": network.num_nodes, "links per node": f"{own[0]:.2f}", "D": own[1]}
    row |= {"symmetric": symmetric, "fat trees": f"{clusters} of {ports} ports", "their nodes": len(ends)}
    row |= {"their switches": len(table) - len(ends), "their links per node": f"{other[0]:.2f}", "their D": other[1]}
    better = bool(symmetric) and not alike and own[0] < other[0] and own[1] is not None and own[1] <= other[1]
    return row | {"nodes alike": alike}, better


def beside_fat_trees() -> Finding:
    """Search HDNs of Table 1, and as many nodes in fat trees that are joined completely."""
    networks = [dual_net(torus_spec(sizes)) for sizes in torus_nets()]
    cases, rows = [], []
    for network in networks:
        if network.num_nodes <= MOST:
            row, better = _beside(network)
            rows.append(row)
            cases.append(
                compare(
                    network,
                    "symmetric, fewer links, D no larger",
                    ", ".join(f"{name} {cell}" for name, cell in list(row.items())[2:]),
                    holds=better,
                    condition=len(network.levels) == 1,
                )
            )
    return judge(cases, condition="k = 1", table=rows)


CLAIMS = (
    Claim(
        paper="HDN",
        where="section 1",
        claim="the HDN compared to the Roadrunner, clusters that are fat trees and joined completely",
        published="symmetric, a small number of links, and a short diameter",
        check=beside_fat_trees,
        reading=f"HDNs of Table 1 with up to {MOST:,} nodes, beside fat trees of the fewest ports that have as many, "
        "with one link between each two; links are those of nodes and of switches, over the nodes",
    ),
)
