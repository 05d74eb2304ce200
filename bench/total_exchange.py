"""Total exchange in the fewest start-ups, on every dual-net (docs/results/01-total-exchange.md); minutes.

The steps of docs/results/01-total-exchange.md are put together from edges, and it is seen whom they reach and in how
many hops, with no line of hdnhw.collectives. hdnhw's own schedule, its messages moved one by one, has to take the same.
"""

import argparse
from collections.abc import Sequence
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from hdnhw.claims.families import BASES, dual_net, dual_nets
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import neighbor_table, pair_histogram, table_distances
from hdnhw.topology.orbits import representatives

Array = npt.NDArray[np.int64]
Step = tuple[int, int]
"""A factor and which of its two matchings, or -1 and the level of a cross-edge."""

EVEN = (
    "complete(2)",
    "cube(2)",
    "torus(4)",
    "cube(3)",
    "torus(6)",
    "torus(2, 4)",
    "torus(2, 6)",
    "torus(8)",
    "torus(10)",
)
"""Bases of edges and cycles of even length."""

SMALLEST = "hdn(complete(2), [[], [0]])"
"""The smallest of their networks that is not nested."""

FEW = 1152
"""Nodes of networks of which the steps are followed from every node."""

NEVER = 10_000


def steps_of(network: DualNetwork) -> list[Step]:
    """Return W_k: within the clusters, across, within them without the first steps of SN^k, and across."""
    base = [(number, turn % 2) for number, factor in enumerate(network.factors) for turn in range(factor.size // 2)]
    steps = base
    for level, layout in enumerate(network.levels, start=1):
        first = [step for step in base if step[0] not in layout.super_node_factors]
        steps = [*steps, (-1, level), *first, *steps[len(base) :], (-1, level)]
        if not layout.cluster:
            del steps[-1]
    return steps


def partners_of(network: DualNetwork, step: Step) -> Array:
    """Return with whom each node exchanges in a step; it is checked that these are neighbors, in pairs."""
    names, table = [port.name for port in network.ports], neighbor_table(network)
    number, turn = step
    if number < 0:
        partners = table[:, names.index(f"cross{turn}")]
    elif network.factors[number].is_edge:
        partners = table[:, names.index(f"dim{number}")]
    else:
        digit = network.decode(np.arange(network.num_nodes))[network.base_digits[number]]
        plus, minus = (table[:, names.index(f"dim{number}_{way}")] for way in ("plus", "minus"))
        partners = np.where((digit + turn) % 2 == 0, plus, minus)
    assert np.array_equal(partners[partners], np.arange(network.num_nodes)), network.spec
    return partners.astype(np.int64)


def least_hops(partners: Sequence[Array], sources: Array, nodes: int) -> Array:
    """Return in how many hops these steps can bring a message from each source to each node; NEVER if they cannot."""
    hops = np.where(sources[:, None] == np.arange(nodes), 0, NEVER)
    for partner in partners:
        hops = np.minimum(hops, hops[:, partner] + 1)
    return hops


def average_of(network: DualNetwork) -> Fraction:
    """Return b_k."""
    averages = [Fraction(factor.size // 2, 2) for factor in network.factors]
    average, size = sum(averages, Fraction(0)), prod(factor.size for factor in network.factors)
    for layout in network.levels:
        clusters = size // prod(network.factors[number].size for number in layout.super_node_factors)
        inside = sum((averages[number] for number in layout.super_node_factors), Fraction(0))
        average = 2 * average - inside + Fraction(3, 2) - Fraction(1, clusters)
        size *= 2 * clusters
    return average


def distances(network: DualNetwork) -> tuple[int, int]:
    """Return the diameter, and the most nodes at that distance from a node."""
    table, sources = neighbor_table(network), representatives(network)
    assert sources is not None, network.spec
    found = [np.bincount(table_distances(table, source)) for source, _ in sources]
    diameter = max(map(len, found)) - 1
    return diameter, max(int(counts[diameter]) for counts in found if len(counts) > diameter)


def is_even(network: DualNetwork) -> bool:
    """Return whether all factors are edges or cycles of even length."""
    return all(factor.is_edge or (factor.kind == "cycle" and factor.size % 2 == 0) for factor in network.factors)


def check(network: DualNetwork, *, most_nodes: int = 4096) -> tuple[int, int, Fraction]:
    """Check the theorem on a network of even factors: return start-ups, words, and the bound on words.

    On larger networks messages of 24 nodes are moved, not of all.
    """
    histogram, nodes = pair_histogram(network), network.num_nodes
    partners = [partners_of(network, step) for step in steps_of(network)]
    drawn = np.random.default_rng(1).choice(nodes, min(nodes, 24), replace=False)
    words = nodes * average_of(network)
    assert len(partners) == len(histogram) - 1, network.spec
    hops = least_hops(partners, np.arange(nodes) if nodes <= FEW else drawn, nodes)
    assert (hops.sum(axis=1) <= words).all(), network.spec
    sources = range(nodes) if nodes <= most_nodes else [int(node) for node in drawn]
    counted = execute(exchange_schedule(network), sources=sources)
    assert counted.startups == len(partners), network.spec
    assert counted.total_words == len(sources) * words, network.spec
    sent = counted.sent.sum(axis=2)
    assert (sent == sent[:, :1]).all() or nodes > most_nodes, network.spec
    bound = Fraction(sum(hop * pairs for hop, pairs in enumerate(histogram)), nodes)
    assert bound == words or not network.is_nested, network.spec
    return counted.startups, int(words), bound


def fewest_words(network: DualNetwork, startups: int) -> Fraction | None:
    """Return the least mean words of a node in so many steps, each of one kind of edge for all nodes, if they do."""
    kinds = [partners_of(network, step) for step in dict.fromkeys(steps_of(network))]
    found: list[Fraction] = []

    def extend(hops: Array, last: int, left: int) -> None:
        if not left and hops.max() < NEVER:
            found.append(Fraction(int(hops.sum()), network.num_nodes))
        for kind, partner in enumerate(kinds) if left else ():
            if kind != last:
                extend(np.minimum(hops, hops[:, partner] + 1), kind, left - 1)

    extend(least_hops([], np.arange(network.num_nodes), network.num_nodes), -1, startups)
    return min(found, default=None)


def drawn(count: int, nodes: int) -> list[DualNetwork]:
    """Return some networks of two or three levels that are not nested, the smallest first."""
    every = [network for network in dual_nets(nodes, bases=EVEN) if not network.is_nested]
    chosen = np.random.default_rng(1).choice(len(every), min(count, len(every)), replace=False)
    return [every[number] for number in sorted(chosen)]


def main() -> None:
    """Print one line for each check."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=FEW, help="of the largest networks of which all are looked at")
    parser.add_argument("--drawn", type=int, default=40, help="networks that are not nested, of up to --most-nodes")
    parser.add_argument("--most-nodes", type=int, default=8192)
    options = parser.parse_args()
    even = dual_nets(options.nodes, bases=EVEN)
    for network in [*even, *drawn(options.drawn, options.most_nodes)]:
        startups, words, bound = check(network)
        print(
            f"{network.spec!s:44} {network.num_nodes:6} {startups:4} t_s + {words} t_w, bound {float(bound):g}",
            flush=True,
        )
    nested = sum(network.is_nested for network in even)
    print("start-ups the diameter, words as the theorem says, the same of every node in every step: on")
    print(f"{nested} nested networks, {len(even) - nested} that are not, and {options.drawn} drawn that are not")
    for startups in (9, 10):
        least = fewest_words(dual_net(SMALLEST), startups)
        assert least is not None
        print(f"{SMALLEST}, one kind of edge per step: {startups} t_s + {float(least):g} t_w at least")
    bases = [*dict.fromkeys((*BASES, *EVEN, "torus(7)", "product(complete(3), torus(4))", "ghc(2, 3)", "ghc(3, 4)"))]
    for is_nested in (True, False):
        kind = [network for network in dual_nets(options.nodes, bases=bases) if network.is_nested == is_nested]
        one = [distances(network)[1] == 1 for network in kind]
        alike = sum(found == is_even(network) for found, network in zip(one, kind, strict=True))
        name = "nested" if is_nested else "not nested"
        print(f"{name}: {len(kind)} networks, one antipode on {sum(one)}, if and only if even on {alike}")


if __name__ == "__main__":
    main()
