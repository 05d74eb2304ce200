"""HDN paper, section 2: what is symmetric, and whether the dual-construction is unique."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import permutations

import numpy as np
import numpy.typing as npt

from hdnhw.claims.claim import Case, Claim, Finding, judge
from hdnhw.claims.families import compare, dual_net, dual_nets
from hdnhw.claims.hdn_networks import torus_nets, torus_spec
from hdnhw.topology import metrics
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.orbits import representatives
from hdnhw.topology.symmetry import Symmetry, symmetry

MOST = 1100
"""Nodes of the networks whose automorphisms are searched for."""

COMPARED = 400_000
"""Nodes of those in which distances from several nodes are compared."""

EXPANDED = ("complete(2)", "complete(3)", "cube(2)", "complete(4)", "torus(5)", "complete(5)", "torus(2, 3)")
"""Symmetric graphs that are expanded."""

Table = npt.NDArray[np.int32]


def _orbits(network: DualNetwork) -> Symmetry:
    found = symmetry(metrics.neighbor_table(network))
    assert found is not None, "networks of this size are searched"
    return found


def node_symmetric() -> Finding:
    """Find the orbits of the nodes of small networks."""
    cases = []
    for network in dual_nets(MOST):
        orbits = int(_orbits(network).node_orbit.max()) + 1
        nested = network.is_nested
        cases.append(compare(network, "1 orbit", f"{orbits} orbit{'s' * (orbits > 1)}", condition=nested))
    return judge(cases, condition="SN^i is contained in SN^(i-1) for all i > 1")


def table1_node_symmetric() -> Finding:
    """Compare the distances from a node of each known orbit, in those networks of Table 1 that are not too large."""
    cases = []
    for sizes in torus_nets():
        network = dual_net(torus_spec(sizes))
        sources = representatives(network)
        assert sources is not None, "there are at most 260 orbits"
        if network.num_nodes <= COMPARED or len(sources) == 1:
            histograms = (
                {tuple(one) for one in metrics.orbit_histograms(network, sources)} if len(sources) > 1 else {()}
            )
            alike = "all alike" if len(histograms) == 1 else f"{len(histograms)} kinds at least"
            cases.append(compare(network, "all alike", alike, condition=network.is_nested))
    return judge(cases, condition="SN^2 is contained in SN^1")


def edge_symmetric() -> Finding:
    """Find the orbits of the edges of small networks."""
    cases = []
    for network in dual_nets(MOST):
        orbits = int(_orbits(network).edge_orbit.max()) + 1
        cases.append(compare(network, "1 orbit", f"{orbits} orbit{'s' * (orbits > 1)}"))
    found = judge(cases)
    symmetric = ", ".join(case.network for case in cases if case.holds)
    return replace(found, computed=f"{found.computed}: {symmetric}")


def _renumbered(base: DualNetwork, order: tuple[int, ...]) -> Table:
    """Return RDN(B, 1) with the nodes of cluster 0 of class 0 linked to the clusters of class 1 in another order."""
    table = metrics.neighbor_table(dual_net(f"rdn({base.spec}, 1)"))
    nodes, first = base.num_nodes, base.num_nodes**2
    for node, cluster in enumerate(order):
        table[node, -1] = first + cluster * nodes
        table[first + cluster * nodes, -1] = node
    return table


def _kinds(base: DualNetwork, orders: Iterator[tuple[int, ...]]) -> set[tuple[int, int, int]]:
    """Return what tells expanded graphs apart: automorphisms, orbits of nodes and of edges; until there are two."""
    kinds: set[tuple[int, int, int]] = set()
    for order in orders:
        found = symmetry(_renumbered(base, order))
        assert found is not None, "networks of this size are searched"
        kinds.add((found.order, int(found.node_orbit.max()) + 1, int(found.edge_orbit.max()) + 1))
        if len(kinds) > 1:
            break
    return kinds


def unique() -> Finding:
    """Expand small graphs with every order in which one cluster can be linked to those of the other class."""
    cases = []
    for text in EXPANDED:
        base = dual_net(text)
        kinds = _kinds(base, permutations(range(base.num_nodes)))
        by_id = _kinds(base, iter([tuple(range(base.num_nodes))]))
        alike = "one graph" if len(kinds) == 1 else "graphs that differ"
        complete = all(factor.kind == "complete" for factor in base.factors) and len(base.factors) == 1
        cases.append(
            Case(
                network=f"{text} of {base.num_nodes} nodes",
                nodes=base.num_nodes,
                published="one graph",
                computed=f"{alike}, orbits of nodes {sorted(orbits for _, orbits, _ in kinds)}",
                holds=alike == "one graph",
                corrected=all(orbits == 1 for _, orbits, _ in by_id),
                condition=complete,
            )
        )
    corrected = "with cross-edges between equal IDs, (0, U, V) and (1, V, U), the graph is one, and node-symmetric"
    return judge(cases, of="base graphs", condition="G is complete", corrected=corrected)


PRODUCTS = (
    "torus(2, 3)",
    "torus(3, 4)",
    "torus(2, 3, 5)",
    "product(complete(4), torus(5))",
    "product(cube(2), complete(3), torus(4))",
    "product(torus(2, 3), ghc(2, 5))",
)
"""Of cycles, edges and complete graphs, like and unlike."""


def products() -> Finding:
    """Find the orbits of the nodes of products of symmetric factors."""
    networks = [dual_net(text) for text in PRODUCTS]
    return judge([compare(network, 1, int(_orbits(network).node_orbit.max()) + 1) for network in networks])


_claim = partial(Claim, "HDN")


CLAIMS = (
    _claim("abstract, sections 1, 2", "symmetry of nodes", "the HDN is node-symmetric", node_symmetric, "E2"),
    _claim("abstract, on Table 1", "symmetry of nodes", "the HDN is node-symmetric", table1_node_symmetric, "E2"),
    _claim("abstract", "symmetry of edges", "the HDN is edge-symmetric", edge_symmetric, "E2"),
    _claim("section 2", "a product of symmetric graphs", "is symmetric", products),
    _claim("section 2", "the graph expanded from a symmetric G", "unique and symmetric", unique, "E15"),
)
