"""Disjoint-path paper, sections 2 and 3.1: what it repeats of the HDN paper, the lemmas, and the simulated network."""

from functools import partial

from hdnhw.claims import hdn_networks, hdn_routing, hdn_symmetry
from hdnhw.claims.claim import Case, Claim, Finding, judge
from hdnhw.claims.families import compare, dual_net, dual_nets
from hdnhw.claims.literal.algorithm1 import algorithm1_route
from hdnhw.multipath.path_faults import case_of, clusters_of
from hdnhw.topology import metrics

EXAMPLE = "hdn(cube(3), [[2], [0, 1, 2]])"
"""The network of section 4: the 3-cube, k = 2, S = {2, 8}."""

MOST = 140
"""Nodes of the networks in which clusters on routes are counted."""


def example() -> Finding:
    """Build the two networks of the simulation."""
    networks = [dual_net("hdn(cube(3), [[2]])"), dual_net(EXAMPLE)]
    found = [(network.num_nodes, metrics.summarize_distances(network).diameter) for network in networks]
    return judge([compare(*three) for three in zip(networks, ((64, 7), (1024, 13)), found, strict=True)])


def lemmas() -> Finding:
    """Count the clusters on the routes of Algorithm 1 from eight nodes of each network."""
    cases = []
    for network in dual_nets(MOST):
        nodes, most = network.num_nodes, {"A": 0, "B": 0, "C": 0}
        for src in range(0, nodes, max(1, nodes // 8)):
            for dst in range(nodes):
                case = case_of(network, src, dst)
                clusters = len(clusters_of(network, algorithm1_route(network, src, dst)))
                most[case] = max(most[case], clusters)
        cases.append(
            Case(
                network=str(network.spec),
                nodes=nodes,
                published="2 and 3 clusters",
                computed=f"{most['B']} and {most['C']} clusters",
                holds=most["B"] <= 2 and most["C"] <= 3,
            )
        )
    return judge(cases)


disjoint_claim = partial(Claim, "DISJ")


CLAIMS = (
    disjoint_claim(
        "abstract, Theorem 1",
        "number of nodes in closed form",
        "(2 N_0)^(2^k) / (2 prod s_i)",
        hdn_networks.size_formula,
        "E1",
    ),
    disjoint_claim("Theorem 1", "degree", "d_0 + k", hdn_networks.degree),
    disjoint_claim(
        "Theorem 1",
        "diameter",
        "D_k = 2^k D(B) - sum_(j < k) 2^j D(SN^(k-j)) + 2^(k+1) - 2",
        hdn_networks.diameter,
        "E8",
    ),
    disjoint_claim("abstract", "symmetry of nodes", "the HDN is node symmetric", hdn_symmetry.node_symmetric, "E2"),
    disjoint_claim("abstract", "symmetry of edges", "the HDN is edge symmetric", hdn_symmetry.edge_symmetric, "E2"),
    disjoint_claim("section 2", "the graph expanded from a symmetric G", "unique", hdn_symmetry.unique, "E15"),
    disjoint_claim("section 2", "nodes of RDN(8, k), k = 1, 2, 3", "2^7, 2^15, 2^31", hdn_networks.growth),
    disjoint_claim("section 3.1", "Algorithm 1", "finds a shortest path", hdn_routing.shortest, "E3"),
    disjoint_claim(
        "Theorem 2",
        "routes of Algorithm 1",
        "at most 2^k R(B) - sum_(j < k) 2^j R(SN^(k-j)) + 2^(k+1) - 2 steps",
        hdn_routing.bound,
        "E3",
    ),
    disjoint_claim(
        "Lemmas 1, 2",
        "clusters that a path can do with, between clusters of two classes and between two of a class",
        "2 and 3",
        lemmas,
        reading="as the routes of Algorithm 1 show it, from eight nodes of each network to all",
    ),
    disjoint_claim(
        "section 4", "nodes and diameters of HDN(3-cube, 1, {2}) and HDN(3-cube, 2, {2, 8})", "64, 7; 1024, 13", example
    ),
)
