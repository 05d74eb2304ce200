"""Bisections: the fewest edges between two halves of a network, proved where a bound or a search can.

Cuts begin with slow waves on the network, random halves and, on dual-nets, a construction; each is improved by
swaps. That none is smaller follows from a bound that the caller knows, the spectral bound, the flow bound or, in small
networks, from a mixed-integer program.

References
----------
.. [1] B. W. Kernighan and S. Lin, An efficient heuristic procedure for partitioning graphs, Bell System Technical
   Journal 49 (1970).
.. [2] M. Fiedler, Algebraic connectivity of graphs, Czechoslovak Mathematical Journal 23 (1973).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, array_of
from hdnhw.topology.flow import least_load
from hdnhw.topology.graph import Network
from hdnhw.topology.levels import LeveledNetwork
from hdnhw.topology.metrics import neighbor_table

SEARCH_NODES, QUICK_NODES = 64, 32
"""Most nodes of a network in which a smaller cut is searched for: in ten seconds, or in one."""

QUICK_FLOWS = 1 << 13
"""Variables of the flow bound's program for which a second is enough."""

STARTS = 64
"""Random halves that are improved, at most."""

PAIRS, WAVE_PAIRS = 1 << 24, 1 << 26
"""Pairs of nodes over all of them, and over all waves of a kind; so large networks have fewer, and one at least."""

PATIENCE = 1000
"""Swaps in a row that do not make a cut smaller than it was."""

SWEEPS, WAVES = (16, 64, 256, 1024), 16
"""How often heights are made those of their neighborhood; the waves of each kind that cuts begin with, at most."""

MOST_UNSMOOTHED = 16
"""Most nodes of a network whose cuts do not begin with waves."""

HEIGHT, MOST_SCALED = 1 << 30, 1 << 32
"""Largest height; heights below the second can be multiplied by it in 64 bits."""

SPECTRAL_NODES, SPECTRAL_BITS, SPECTRAL_MARGIN = 1024, 23, 1e-6
"""Most nodes for which the spectral bound is worked out; bits behind the point of its integers, which fit into 64 with
so many nodes; what the eigenvalue is lowered by so that its matrix has a root."""

TOLERANCE = 1e-6
"""By which the solver's flow may be too small."""

Table = npt.NDArray[np.int32]
Half = npt.NDArray[np.bool_]

_TABLE = array_of(np.int32), Number, Number
_smooth = Function("cuts_smooth", *_TABLE, array_of(np.int64), *(Number,) * 3)
_swap = Function("cuts_swap", *_TABLE, array_of(np.bool_), Number)


@dataclass(frozen=True)
class Bisection:
    """A cut of a network into halves; of an odd number of nodes, one half has one more.

    Attributes
    ----------
    edges : int
        Edges from one half to the other.
    at_least : int
        What any such cut has, proved.
    inside : ndarray of bool, shape (num_nodes,)
        One of the halves.
    """

    edges: int
    at_least: int
    inside: Half

    @property
    def exact(self) -> bool:
        """Whether it is proved that no cut has fewer edges."""
        return self.edges == self.at_least


def bisection(table: Table, starts: Sequence[Half] = (), *, at_least: int = 0, quick: bool = False) -> Bisection:
    """Cut a network into halves with as few edges between them as can be found, and say how few there must be.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a simple graph.
    starts : sequence of ndarray of bool
        Halves that are known, for example :func:`known_halves`.
    at_least : int
        What is proved already, for example :func:`hdnhw.topology.cut_bound.known_bound`.
    quick : bool
        Look for a proof for about a second, not for ten. The cut is the same, unless a search finds a smaller one.

    Returns
    -------
    Bisection

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> found = bisection(neighbor_table(build("rdn(torus(6), 1)")))
    >>> found.edges, found.exact
    (12, True)
    """
    inside = best_cut(table, starts)
    edges, parity = cut_edges(table, inside), _parity(table)
    search_nodes = QUICK_NODES if quick else SEARCH_NODES
    if at_least < edges:
        at_least = max(at_least, spectral_cut(table))
    if at_least < edges:
        at_least = max(at_least, _flow_cut(table, quick))
    at_least += 0 if parity is None else (at_least - parity) % 2
    while at_least < edges and len(table) <= search_nodes:
        from hdnhw.topology.cut_search import search_cut

        smaller, ended = search_cut(table, edges - (1 if parity is None else 2))
        if smaller is None:
            at_least = edges if ended else at_least
            break
        inside, edges = smaller, cut_edges(table, smaller)
    return Bisection(edges, at_least, inside)


def cut_edges(table: Table, inside: Half) -> int:
    """Return how many edges lead from `inside` to the rest."""
    return int((inside[:, None] & ~inside[table] & (table >= 0)).sum())


def _flow_cut(table: Table, quick: bool) -> int:
    """Return the least number of edges over which half the messages of a total exchange can be sent."""
    nodes, flow = len(table), least_load(table, most_flows=QUICK_FLOWS if quick else None)
    return 0 if flow is None else ceil((nodes // 2) * ((nodes + 1) // 2) / flow.reached * (1 - TOLERANCE))


def spectral_cut(table: Table) -> int:
    """Return how many edges any cut into halves has at least by the second eigenvalue of the Laplacian; 0 if not known.

    A cut of the n nodes into a and b has lambda_2 a b / n edges at least [2]_.

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> spectral_cut(neighbor_table(build("slim_fly(5)")))
    63
    """
    nodes = len(table)
    gap = spectral_gap(table, np.ones(nodes, np.int64))
    if gap is None:
        return 0
    return max(0, ceil((gap[0] - gap[1]) * (nodes // 2) * ((nodes + 1) // 2) / nodes))


def spectral_gap(table: Table, weight: npt.NDArray[np.int64]) -> tuple[Fraction, Fraction] | None:
    """Return t and r such that x'L x >= t x'W x - r x'x where the sum of W x is 0; None if none is known.

    L is the Laplacian, W the diagonal of the weights, of which some are positive; t is next to the second eigenvalue of
    L to W. That is found in floating point. The rest is shown in integers: L - t W + c w w', with c times the sum of
    weights not below t, is R R' and what rounding leaves, whose row sums are not above r.
    """
    nodes, total = len(table), int(weight.sum())
    if not 2 <= nodes <= SPECTRAL_NODES:
        return None
    laplacian = np.zeros((nodes, nodes), dtype=np.int64)
    for ports in table.T:
        there = np.flatnonzero(ports >= 0)
        np.add.at(laplacian, (there, ports[there]), -1)
    laplacian[np.diag_indices(nodes)] = -laplacian.sum(axis=1)
    second = _second_eigenvalue(laplacian.astype(float), weight.astype(float))
    unit = 1 << SPECTRAL_BITS
    least = int((second - SPECTRAL_MARGIN) * unit) * unit
    if least <= 0:
        return None
    # Of the rest of the space nothing is lost: c w w' is as much above 0 there as L - t W is below.
    exact = laplacian * unit**2 - least * np.diag(weight) + (least // total + unit) * np.outer(weight, weight)
    root = np.rint(np.linalg.cholesky(exact / unit**2) * unit).astype(np.int64)
    rest = int(np.abs(exact - root @ root.T).sum(axis=1).max())
    return Fraction(least, unit**2), Fraction(rest, unit**2)


def _second_eigenvalue(laplacian: npt.NDArray[np.float64], weight: npt.NDArray[np.float64]) -> float:
    """Return the second eigenvalue of the Laplacian to weights; nodes without weight are where that makes it least."""
    free = weight == 0
    if free.any():
        across = laplacian[np.ix_(~free, free)]
        try:
            within = np.linalg.solve(laplacian[np.ix_(free, free)], across.T)
        except np.linalg.LinAlgError:
            return 0.0
        laplacian = laplacian[np.ix_(~free, ~free)] - across @ within
    scale = np.sqrt(weight[~free])
    values = np.linalg.eigvalsh(laplacian / np.outer(scale, scale))
    return float(values[1]) if len(values) > 1 else 0.0


def _parity(table: Table) -> int | None:
    """Return the remainder of a cut by 2, if all degrees have the same; a side's add up to it and twice its edges."""
    odd = (table >= 0).sum(axis=1) % 2
    return int(odd[0]) * (len(table) // 2) % 2 if odd.all() or not odd.any() else None


def best_cut(table: Table, starts: Sequence[Half] = ()) -> Half:
    """Return the best of many halves improved by swaps; the same one every time.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        Neighbors, as often as there are edges to them; -1 for none.
    starts : sequence of ndarray of bool
        Halves to begin with, besides those that are made here; they need not be balanced.
    """
    best = None
    for start in (*starts, *halves_to_improve(table)):
        inside = np.ascontiguousarray(start)
        _swap(table, *table.shape, inside, PATIENCE)
        edges = cut_edges(table, inside)
        if best is None or edges < best[0]:
            best = edges, inside
    assert best is not None, "there is one start at least"
    return best[1]


def halves_to_improve(table: Table) -> Iterator[Half]:
    """Yield halves that a search for a cut begins with."""
    yield from _smooth_halves(table)
    yield from _other_halves(len(table))


def _other_halves(nodes: int) -> Iterator[Half]:
    """Yield the lower numbers, then halves at random."""
    yield np.arange(nodes) < nodes // 2
    generator = np.random.default_rng(nodes)
    for _ in range(max(1, min(STARTS, PAIRS // nodes**2))):
        yield generator.permutation(nodes) < nodes // 2


def _smooth_halves(table: Table) -> Iterator[Half]:
    """Yield the upper halves of slow waves on a network: random heights, each node's made that of its neighborhood.

    That is power iteration towards the eigenvectors of the Laplacian, stopped at several scales. It is in integers:
    eigenvectors of a symmetric network are not determined, and differ from one processor to another.
    """
    nodes = len(table)
    if nodes <= MOST_UNSMOOTHED:
        return
    for sweeps, number in product(SWEEPS, range(max(1, min(WAVES, WAVE_PAIRS // nodes**2)))):
        heights = np.random.default_rng([nodes, sweeps, number]).integers(-HEIGHT, HEIGHT, nodes)
        _smooth(table, *table.shape, heights, sweeps, HEIGHT, MOST_SCALED)
        yield np.argsort(np.argsort(heights, kind="stable"), kind="stable") < nodes // 2


def known_halves(network: Network) -> list[Half]:
    """Return the halves of a dual-net that cut no cross-edge of the highest level, else none.

    Half of the clusters of class 1 are inside, and so are the nodes of class 0 from which cross-edges lead to them. So
    what is cut are the clusters of class 0, all along the best cut of their super-nodes (docs/papers/errata.md, E5).
    """
    if not isinstance(network, LeveledNetwork) or not network.levels:
        return []
    return [_crossless_half(neighbor_table(network), len(network.ports) - 1)]


def _crossless_half(table: Table, port: int) -> Half:
    """Return the half whose border has no edge of `port`, the cross-edges of the highest level."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes = len(table)
    within = np.delete(table, port, axis=1)
    src, column = np.nonzero(within >= 0)
    links = coo_array((np.ones(len(src)), (src, within[src, column])), shape=(nodes, nodes))
    cluster = connected_components(links, directed=False)[1]
    class_0 = np.isin(cluster, cluster[table[cluster == cluster[table[0, port]], port]])
    names, name = np.unique(cluster[table[:, port]], return_inverse=True)
    first = np.flatnonzero(cluster == cluster[0])
    ids, rank = np.unique(name[first], return_inverse=True)
    members = first[np.argsort(rank, kind="stable")].reshape(len(ids), -1)
    others = np.where(within[members] >= 0, np.searchsorted(ids, name[within[members]]), -1)
    others = np.where(others == np.arange(len(ids))[:, None, None], -1, others)
    half = best_cut(np.ascontiguousarray(others.reshape(len(ids), -1), dtype=np.int32))
    named = np.isin(np.arange(len(names)), ids[half])
    return np.where(class_0, named[name], np.isin(cluster, names[named]))
