"""Metrics of a network: breadth-first search, and the papers' closed forms beside it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log2

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, array_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network
from hdnhw.topology.orbits import representatives
from hdnhw.topology.recursive import RecursiveDualNetwork

CHUNK = 1 << 16
"""Nodes handled at once by the vectorized search."""

FEW_ENTRIES = 1 << 20
"""Of a table that is made for a single search."""

MOST_LEVELS = 256
"""After so many levels the rest is searched in one go, with a table: rings are as deep as they are large."""

ONE_BY_ONE = 16
"""How much longer a pair takes when one node is searched from than when 64 are."""


MOST_BASE = 1 << 12
"""Most nodes of a base that is searched for the diameter of dual-nets over it."""

MAX_ENTRIES = 1 << 28
"""Most entries of a table of neighbors, a GiB of them."""

_SEARCH = array_of(np.int32), array_of(np.int32), Number, Number
_go_on = Function("search_go_on", array_of(np.int32), Number, Number, *_SEARCH, result=Number)
_reach = Function("search_reach", array_of(np.int64), Number, *_SEARCH, result=Number)


def neighbor_table(network: Network) -> npt.NDArray[np.int32]:
    """Return the neighbors of every node.

    Returns
    -------
    ndarray of int32, shape (num_nodes, ports)
        Node number behind each port, -1 where a node lacks the port.

    Raises
    ------
    SpecError
        If the table would be too large.
    """
    if network.num_ports > MAX_ENTRIES:
        raise SpecError(
            f"{network.spec} has {network.num_ports} ports in all; tables are made of at most {MAX_ENTRIES}"
        )
    table = np.empty((network.num_nodes, len(network.ports)), dtype=np.int32)
    for start in range(0, network.num_nodes, CHUNK):
        nodes = np.arange(start, min(start + CHUNK, network.num_nodes), dtype=np.int64)
        for port, column in _neighbor_columns(network, nodes):
            table[start : start + len(nodes), port] = column
    return table


def _neighbor_columns(network: Network, nodes: npt.NDArray[np.int64]) -> list[tuple[int, npt.NDArray[np.int64]]]:
    digits = network.decode(nodes)
    return [
        (port, np.where(network.has_port(digits, port), network.encode_from(nodes, digits, moved), -1))
        for port, moved in ((port, network.move(digits, port)) for port in range(len(network.ports)))
    ]


def distances_from(
    network: Network,
    source: int,
    progress: Callable[[int], None] | None = None,
    *,
    table: npt.NDArray[np.int32] | None = None,
) -> npt.NDArray[np.int32]:
    """Return the distance of every node from `source`, hops, by breadth-first search.

    Parameters
    ----------
    network : Network
    source : int
    progress : callable, optional
        Called with the number of nodes reached so far: in the end and, of large networks without a table, once a level.
    table : ndarray, optional
        What :func:`neighbor_table` returns, if it is at hand: searches from more than one node are faster with it, a
        single one needs less memory without.

    Returns
    -------
    ndarray of int32, shape (num_nodes,)
    """
    distance = np.full(network.num_nodes, -1, dtype=np.int32)
    distance[network.check_node(source)] = 0
    queue = np.empty(network.num_nodes, dtype=np.int32)
    queue[0] = source
    start, end, hops = 0, 1, 0
    most_levels = MOST_LEVELS if network.num_ports <= MAX_ENTRIES else network.num_nodes
    if network.num_ports <= FEW_ENTRIES:
        most_levels = 0
    while table is None and start < end:
        if hops == most_levels:
            table = neighbor_table(network)
            break
        hops, last = hops + 1, end
        for first in range(start, last, CHUNK):
            frontier = queue[first : min(first + CHUNK, last)].astype(np.int64)
            for _, column in _neighbor_columns(network, frontier):
                end = _reach(column, len(column), distance, queue, end, hops)
        start = last
        if progress:
            progress(end)
    if table is not None:
        end = _go_on(table, *table.shape, distance, queue, start, end)
        if progress:
            progress(end)
    return distance


def switch_table(network: Network, table: npt.NDArray[np.int32]) -> npt.NDArray[np.int32] | None:
    """Return the neighbors of switches among the switches, from 0 on; None if every node has a terminal.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> network = build("concentrated(torus(3), 2)")
    >>> switch_table(network, neighbor_table(network))[:, :2].tolist()
    [[1, 2], [2, 0], [0, 1]]
    """
    first = network.num_terminals
    if first == network.num_nodes:
        return None
    return np.where(table[first:] < first, -1, table[first:] - first).astype(np.int32)


def table_distances(table: npt.NDArray[np.int32], source: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the distance of every node from `source`, hops, in any graph given by the neighbors of its nodes.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`neighbor_table` returns it.
    source : int or sequence of int
        Of several nodes, the distance from the nearest counts.

    Returns
    -------
    ndarray of int64, shape (num_nodes,)
        -1 for nodes that cannot be reached.
    """
    distance, frontier, hops = np.full(len(table), -1, np.int64), np.atleast_1d(source), 0
    while len(frontier):
        distance[frontier] = hops
        others = np.unique(table[frontier])
        frontier, hops = others[(others >= 0) & (distance[others] < 0)], hops + 1
    return distance


def distance_histogram(network: Network, source: int) -> list[int]:
    """Return how many nodes with a terminal lie at each distance 0, 1, ... from `source`."""
    return [int(count) for count in np.bincount(distances_from(network, source)[: network.num_terminals])]


@dataclass(frozen=True)
class DistanceSummary:
    """Distances of a network, found by breadth-first search; those of nodes that have a terminal.

    Attributes
    ----------
    diameter : int or None
        Hops; None if the network is too large to search from every node that can differ from the others.
    average_distance : Fraction or None
        Mean over ordered pairs u != v, hops; None likewise.
    histogram : tuple of int
        Nodes at distance 0, 1, ... from node 0.
    """

    diameter: int | None
    average_distance: Fraction | None
    histogram: tuple[int, ...]


def pair_histogram(network: Network, progress: Callable[[int], None] | None = None) -> list[int]:
    """Return how many ordered pairs lie at each distance 0, 1, ..., searching from 64 sources at once."""
    histogram: list[int] = []
    terminals = network.num_terminals
    for _, hops, reached in _searches(neighbor_table(network), terminals, progress):
        if hops == len(histogram):
            histogram.append(0)
        histogram[hops] += int(np.bitwise_count(reached[:terminals]).sum())
    return histogram[: 1 + max(hops for hops, pairs in enumerate(histogram) if pairs)]


def partner_distances(
    network: Network, partners: Sequence[npt.NDArray[np.int64]], progress: Callable[[int], None] | None = None
) -> list[npt.NDArray[np.int64]]:
    """Return the distance of every node from its partner, hops, searching from 64 nodes at once.

    Parameters
    ----------
    network : Network
    partners : sequence of ndarray of int64, shape (num_nodes,)
        The partner of each node; of several choices, each by itself.
    progress : callable, optional
        Called with the number of nodes from which has been searched.

    Returns
    -------
    list of ndarray of int64, shape (num_nodes,)
    """
    distances = [np.zeros(network.num_nodes, np.int64) for _ in partners]
    for sources, hops, reached in _searches(neighbor_table(network), network.num_nodes, progress):
        for partner, distance in zip(partners, distances, strict=True):
            is_reached = reached[partner[sources]] >> np.arange(len(sources), dtype=np.uint64) & np.uint64(1)
            distance[sources[is_reached == 1]] = hops
    return distances


def _searches(
    table: npt.NDArray[np.int32], num_sources: int, progress: Callable[[int], None] | None
) -> Iterator[tuple[npt.NDArray[np.int64], int, npt.NDArray[np.uint64]]]:
    """Yield sources, at most 64 of the first ones, and hops: and for each node, bit by bit, which are so far away.

    Every node holds one 64-bit word with a bit a source, set when the search from that source has reached it.
    """
    n = len(table)
    nodes = np.arange(n, dtype=np.int32)
    columns = [np.where(table[:, port] < 0, nodes, table[:, port]) for port in range(table.shape[1])]
    for first in range(0, num_sources, 64):
        sources = np.arange(first, min(first + 64, num_sources))
        reached = np.zeros(n, dtype=np.uint64)
        reached[sources] = np.uint64(1) << np.arange(len(sources), dtype=np.uint64)
        seen, hops = reached, 0
        while reached.any():
            yield sources, hops, reached
            grown = seen.copy()
            for column in columns:
                grown |= seen[column]
            reached, seen, hops = grown ^ seen, grown, hops + 1
        if progress:
            progress(first + len(sources))


def summarize_distances(
    network: Network, *, budget: int = 1 << 30, progress: Callable[[float], None] = lambda _: None
) -> DistanceSummary:
    """Search from every node that can differ from the others.

    A product or dual-net is searched from one node of each known orbit, and a node-symmetric network from one. Any
    other is searched from every node while it has at most `budget` ordered pairs; beyond, only the histogram of node 0
    is known. Pairs searched from one node at a time count as :data:`ONE_BY_ONE` each.

    Parameters
    ----------
    network : Network
    budget : int
    progress : callable
        Called with the share that is done.
    """
    n, sources = network.num_nodes, _sources(network)
    if sources is not None and (len(sources) == 1 or len(sources) * n * ONE_BY_ONE <= min(budget, n * n)):
        histograms = orbit_histograms(network, sources, progress)
        own, histogram = histograms[0], _pairs_of(sources, histograms)
    else:
        own = distance_histogram(network, 0)
        if n * n > budget:
            return DistanceSummary(None, None, tuple(own))
        histogram = pair_histogram(network, lambda searched: progress(searched / n))
    total, terminals = sum(hops * count for hops, count in enumerate(histogram)), network.num_terminals
    return DistanceSummary(len(histogram) - 1, Fraction(total, terminals * (terminals - 1)), tuple(own))


def _sources(network: Network) -> list[tuple[int, int]] | None:
    """Return nodes to search from, 0 first, and how many nodes each stands for; None if that is not known."""
    if network.node_symmetric:
        return [(0, network.num_nodes)]
    return representatives(network) if isinstance(network, DualNetwork) else None


def orbit_histograms(
    network: Network, sources: Sequence[tuple[int, int]], progress: Callable[[float], None] = lambda _: None
) -> list[list[int]]:
    """Return how many nodes lie at each distance from each of `sources`, (node, nodes that are like it)."""
    table = neighbor_table(network) if len(sources) > 1 else None
    result: list[list[int]] = []

    def tell(reached: int) -> None:
        progress((len(result) + reached / network.num_nodes) / len(sources))

    for source, _ in sources:
        result.append([int(count) for count in np.bincount(distances_from(network, source, tell, table=table))])
    return result


def _pairs_of(sources: Sequence[tuple[int, int]], histograms: Sequence[Sequence[int]]) -> list[int]:
    """Return how many ordered pairs lie at each distance."""
    total = [0] * max(map(len, histograms))
    for (_, size), histogram in zip(sources, histograms, strict=True):
        for hops, count in enumerate(histogram):
            total[hops] += size * count
    return total


def node_symmetric(network: Network, *, budget: int = 1 << 24) -> bool | None:
    """Return whether the network is node-symmetric, or None where that is not known.

    Where no theorem says, networks of at most `budget` ordered pairs are searched until two nodes have distances
    that differ.
    """
    if network.node_symmetric is not None or network.num_nodes**2 > budget:
        return network.node_symmetric
    own = distance_histogram(network, 0)
    differs = any(distance_histogram(network, node) != own for node in range(1, network.num_nodes))
    return False if differs else None


def degree_bounds(network: Network) -> tuple[int, int]:
    """Return the least and the largest degree of a node of the simple graph."""
    if not isinstance(network, DualNetwork):
        degrees = [len(ports) for ports in network.port_sets]
        return min(degrees), max(degrees)
    least = most = len(network.levels)
    for factor in network.factors:
        least += 1 if factor.kind == "path" else factor.degree
        most += factor.degree
    return least, most


def degree_paper(network: Network) -> int:
    """Return the degree as the HDN paper counts it: a cycle of two nodes has two edges (docs/papers/errata.md, E10)."""
    most = degree_bounds(network)[1]
    if not isinstance(network, DualNetwork):
        return most
    return most + sum(factor.kind == "cycle" and factor.size == 2 for factor in network.factors)


def cost_ratio(nodes: int, degree: int, diameter: int) -> float:
    """Return CR = (d + D) / log2 n, 2 for a hypercube (RDN paper, section II).

    Examples
    --------
    >>> f"{cost_ratio(1250, 5, 10):.2f}"
    '1.46'
    """
    return (degree + diameter) / log2(nodes)


def weighted_cost_ratio(nodes: int, degree: int, diameter: int, degree_weight: float = 0.5) -> float:
    """Return CR_w = (w1 d + w2 D) / log2 n, w1 + w2 = 1, 1 for a hypercube (HDN paper, section 2).

    The paper counts a cycle of two nodes as two edges (see :func:`degree_paper`).

    Examples
    --------
    >>> f"{weighted_cost_ratio(1800, 7, 10):.2f}"
    '0.79'
    """
    return (degree_weight * degree + (1 - degree_weight) * diameter) / log2(nodes)


def num_edges(network: Network) -> int:
    """Return the number of edges of the simple graph."""
    return sum(network.port_count(port) for port in range(len(network.ports))) // 2


def diameter_formula(network: Network) -> int | None:
    """Return the diameter in hops by the closed form of the literature, or None where there is none.

    See ``diameter_formula`` of the network's class for what it is and where it holds.
    """
    return network.diameter_formula


def diameter_corrected(network: Network) -> int | None:
    """Return the closed-form diameter with ``D_1 = D_0 + 1`` where ``SN^1 = B`` (docs/papers/errata.md, E8), else None.

    Over a base that is no product it is that of the RDN paper, of the base's diameter by a search (up to
    :data:`MOST_BASE` nodes).
    """
    if isinstance(network, RecursiveDualNetwork) and network.base.num_nodes <= MOST_BASE:
        inner = summarize_distances(network.base).diameter
        return None if inner is None else network.diameter_over(inner)
    if not isinstance(network, DualNetwork):
        return None
    diameter = sum(factor.diameter for factor in network.factors)
    for level in network.levels:
        if not level.cluster:
            diameter += 1
        else:
            inside = sum(network.factors[factor].diameter for factor in level.super_node_factors)
            diameter = 2 * diameter - inside + 2
    return diameter


def _factor_average(size: int, kind: str) -> Fraction:
    """Return a factor's mean distance over all ordered pairs, u = v included."""
    if kind == "complete":
        total = size * (size - 1)
    elif kind == "cycle":
        total = size * (size * size // 4)
    else:
        total = size * (size * size - 1) // 3
    return Fraction(total, size * size)


def nested_average_distance(network: Network) -> Fraction | None:
    """Return the closed-form average distance over ordered pairs u != v, or None where none is known.

    ``a_j = 2 a_(j-1) - a(SN^j) + 3/2 - 1/m_j`` over all pairs, for nested S (docs/results/01-total-exchange.md).
    """
    if not isinstance(network, DualNetwork) or not network.is_nested:
        return None
    averages = [_factor_average(factor.size, factor.kind) for factor in network.factors]
    average = sum(averages, Fraction(0))
    size = 1
    for factor in network.factors:
        size *= factor.size
    for level in network.levels:
        inside, s = Fraction(0), 1
        for position in level.super_node_factors:
            inside += averages[position]
            s *= network.factors[position].size
        clusters = size // s
        average = 2 * average - inside + Fraction(3, 2) - Fraction(1, clusters)
        size = 2 * size * clusters
    return average * Fraction(size, size - 1)
