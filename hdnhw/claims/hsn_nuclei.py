"""HSN paper, sections 4.1, 5.1 and 5.2: degrees and diameters with nuclei of one kind; what claims have in common."""

from dataclasses import replace
from functools import partial
from itertools import product
from math import log2

from hdnhw.claims.claim import Case, Claim, Finding, judge
from hdnhw.claims.families import compare
from hdnhw.claims.words import by_order, grown
from hdnhw.collectives.guest import host_of
from hdnhw.networks.build import build
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import degree_bounds, distances_from, neighbor_table, pair_histogram
from hdnhw.topology.swapped import SwappedNetwork

MOST_NODES = 4096
"""Of networks that are searched from every node."""

FOLDED = [(levels, k) for levels, k in product(range(2, 7), range(2, 7)) if levels * k <= 12]
"""Levels and dimensions of the HSNs of folded cubes of up to :data:`MOST_NODES` nodes."""

FOLDED_LEVELS = (2, 3, 4, 5, 6, 8, 16, 32)
"""Of the HSNs of folded cubes whose diameters are compared with half of log2 N."""

MOST_DIGITS = 10
"""Of an address, where they are compared with each other."""


claim_of = partial(Claim, "HSN")


def network_of(text: str) -> SwappedNetwork:
    """Return the HSN that a spec names."""
    return host_of(build(text), "a claim of the HSN paper")


def diameter_of(network: Network) -> int:
    """Return the diameter, by breadth-first search from every node."""
    return len(pair_histogram(network)) - 1


def edges_of(network: Network) -> set[tuple[int, int]]:
    """Return the edges, the lower node first."""
    table = neighbor_table(network)
    return {
        (min(one, int(other)), max(one, int(other))) for one, row in enumerate(table) for other in row if other >= 0
    }


def complete_nuclei() -> Finding:
    """Search HSN(l, K_M): degree, diameter, and the hypercube of the same size."""
    cases = []
    for size, levels in product(range(2, 17), range(2, 7)):
        if size**levels <= MOST_NODES:
            for links in ("", ", diameter_links=True") if size >= 4 else ("",):
                network = network_of(f"hsn({levels}, complete({size}){links})")
                found, below = diameter_of(network), log2(network.num_nodes)
                exact = found == 2 * levels - 1 if not links else found <= 2 * levels - 1
                right = degree_bounds(network)[1] == size + levels - 2 and exact
                cases.append(
                    compare(
                        network,
                        f"{2 * levels - 1}, below {below:.2f}" if size >= 4 else 2 * levels - 1,
                        found,
                        holds=right and (size < 4 or found < below),
                    )
                )
    return judge(cases)


def mesh_degrees() -> Finding:
    """Compare the degree of HSNs of meshes with sides of 2 nodes and more."""
    cases = []
    for dimensions, levels in product((1, 2, 3), (2, 3)):
        for sides in product((2, 3, 4), repeat=dimensions):
            network = network_of(f"hsn({levels}, mesh({', '.join(map(str, sides))}))")
            if list(sides) == sorted(sides) and network.num_nodes <= 50_000:
                published = levels + 2 * dimensions - 1
                cases.append(compare(network, published, degree_bounds(network)[1], condition=min(sides) > 2))
    return judge(cases, condition="all sides have 3 nodes or more")


def folded_nuclei() -> Finding:
    """Take HSN(l, FQ_k): its degree is k + l, its diameter half of log2 N and something of the order of l more."""
    cases, quotients = [], []
    for levels, k in product(FOLDED_LEVELS, range(2, 7)):
        degree, diameter = k + levels, (k + 1) // 2 * levels + levels - 1
        if k * levels <= 12:
            network = network_of(f"hsn({levels}, folded_cube({k}))")
            nucleus = degree_bounds(network.nucleus)[1], diameter_of(network.nucleus)
            assert nucleus == (k + 1, (k + 1) // 2), "the folded cube"
            degree, diameter = degree_bounds(network)[1], diameter_of(network)
        more = diameter - levels * k / 2
        cases.append(
            Case(
                network=f"hsn({levels}, folded_cube({k}))",
                nodes=2 ** (levels * k),
                published=f"degree {k + levels}, of the order of {levels} above {levels * k / 2:g}",
                computed=f"degree {degree}, {more:g} above",
                holds=degree == k + levels,
            )
        )
        quotients.append({"above": more / levels})
    found = by_order(cases, quotients)
    return replace(found, computed=f"{found.computed}; {grown('l', FOLDED_LEVELS)}")


def _complement_hops(levels: int, k: int) -> tuple[SwappedNetwork, int]:
    """Return HSN(l, FQ_k), and the distance of a node to its complement where it is largest."""
    network = network_of(f"hsn({levels}, folded_cube({k}))")
    last = network.num_nodes - 1
    return network, max(int(distances_from(network, node)[last - node]) for node in range(network.num_nodes))


def complement_hops() -> Finding:
    """Search for the complement of a node that is farthest from it, where the nucleus is folded."""
    cases, table = [], []
    for levels, k in FOLDED:
        network, hops = _complement_hops(levels, k)
        table.append({"l": levels, "k": k, "hops": hops})
        cases.append(compare(network, levels, hops))
    return judge(cases, table=table)


def complement_grows() -> Finding:
    """See whether the hops to the complement grow with l for each k, as those of a folded hypercube do not."""
    found = {(levels, k): _complement_hops(levels, k) for levels, k in FOLDED if levels * k <= MOST_DIGITS}
    cases = []
    for (levels, k), (network, hops) in found.items():
        if (levels - 1, k) in found:
            below = found[levels - 1, k][1]
            case = compare(network, f"more than {below}", hops)
            cases.append(replace(case, holds=hops > below))
    return judge(cases)


def folded_below(*, cube: bool) -> Finding:
    """Compare the diameter of folded HSNs with that of a hypercube, or of the HSN of folded cubes."""
    cases = []
    for levels, k in product((2, 3, 4, 5), range(1, 7)):
        if levels * k <= 12 and (cube or k > 1):
            network = network_of(f"folded_hsn({levels}, {k})")
            other = levels * k if cube else diameter_of(network_of(f"hsn({levels}, folded_cube({k}))"))
            found = diameter_of(network)
            cases.append(
                Case(
                    network=str(network.spec),
                    nodes=network.num_nodes,
                    published=f"below {other}",
                    computed=found,
                    holds=found < other,
                    corrected=found <= other,
                    condition=k > 1 if cube else k % 2 == 1,
                )
            )
    corrected = None if cube else "never above it"
    return judge(cases, condition="k > 1" if cube else "k is odd", corrected=corrected)


def folded_below_cube() -> Finding:
    """Compare the diameter of folded HSNs with that of a hypercube."""
    return folded_below(cube=True)


def folded_below_nuclei() -> Finding:
    """Compare the diameter of folded HSNs with that of the HSN of folded cubes."""
    return folded_below(cube=False)


def cube_in_folded() -> Finding:
    """See whether every edge of HSN(l, Q_k) is one of HSN(l, FQ_k)."""
    cases = []
    for levels, k in [(2, 2), (2, 3), (3, 2), (2, 4), (3, 3)]:
        inner = edges_of(network_of(f"hsn({levels}, cube({k}))"))
        network = network_of(f"hsn({levels}, folded_cube({k}))")
        cases.append(compare(network, len(inner), len(inner & edges_of(network))))
    return judge(cases)


CLAIMS = (
    claim_of(
        "section 4.1",
        "degree and diameter of HSN(l, K_M), with diameter links no more; below the hypercube's diameter for M >= 4",
        "M + l - 2, 2 l - 1",
        complete_nuclei,
    ),
    claim_of("section 5.1", "node degree of HSN(l, M_n)", "l + 2 n - 1", mesh_degrees),
    claim_of(
        "section 5.2",
        "HSN(l, FQ_k): degree and diameter, those of FQ_k being k + 1 and ceil(k / 2)",
        "k + l, (log2 N) / 2 + Theta(l)",
        folded_nuclei,
        reading="searched up to 4,096 nodes; beyond, the diameter is that of Theorem 2.1",
    ),
    claim_of("section 5.2", "HSN(l, Q_k) is a subgraph of HSN(l, FQ_k)", "all edges", cube_in_folded),
    claim_of(
        "section 5.2",
        "emulation of a complementary link on HSN(l, FQ_k)",
        "l steps",
        complement_hops,
        reading="l steps are exactly l hops to the complement, of the node that is farthest from it",
    ),
    claim_of(
        "section 5.2",
        "emulation of a complementary link on HSN(l, FQ_k) is not efficient",
        "not in a constant number of steps",
        complement_grows,
        reading="with one more level the complement is farther away, of the node that is farthest from it",
    ),
    claim_of("section 5.2", "diameter of folded HSN(l, Q_k) and of the hypercube", "below", folded_below_cube, "E16"),
    claim_of("section 5.2", "diameter of folded HSN(l, Q_k) and of HSN(l, FQ_k)", "below", folded_below_nuclei, "E16"),
)
