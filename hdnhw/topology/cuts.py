"""Bisections: the fewest edges between two halves of a network, proved where a bound or a search can.

Cuts begin with eigenvectors of the Laplacian, random halves and, on dual-nets, a construction; each is improved by
swaps. That none is smaller follows from the flow bound or, in small networks, from a mixed-integer program.

References
----------
.. [1] B. W. Kernighan and S. Lin, An efficient heuristic procedure for partitioning graphs, Bell System Technical
   Journal 49 (1970).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, diags_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.flow import least_load
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.network import Network

__all__ = ["Bisection", "best_cut", "bisection", "cut_edges", "known_halves"]

SEARCH_NODES, QUICK_NODES = 64, 32
"""Most nodes of a network in which a smaller cut is searched for: in ten seconds, or in one."""

QUICK_FLOWS = 1 << 13
"""Variables of the flow bound's program for which a second is enough."""

SEARCH_TREE = 500
"""Nodes of the search tree after which it is given up."""

STARTS = 64
"""Random halves that are improved, at most."""

PAIRS = 1 << 24
"""Pairs of nodes over all of them; so large networks have fewer, and one at least."""

PATIENCE = 1000
"""Swaps in a row that do not make a cut smaller than it was."""

EIGENVECTORS, RESTARTS = 4, 100
"""Eigenvectors that cuts begin with, and attempts to make them better; long thin networks may have fewer."""

TOLERANCE = 1e-6
"""By which the solver's flow may be too small."""

OPTIMAL, INFEASIBLE = 0, 2
"""Status of a program that has been solved, of :func:`scipy.optimize.milp`."""

Table = npt.NDArray[np.int32]
Half = npt.NDArray[np.bool_]
_TABLE = types.Array(types.int32, 2, "C")
_HALF = types.Array(types.boolean, 1, "C")
_GAINS = types.Array(types.int64, 1, "C")


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


def bisection(table: Table, starts: Sequence[Half] = (), *, quick: bool = False) -> Bisection:
    """Cut a network into halves with as few edges between them as can be found, and say how few there must be.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a simple graph.
    starts : sequence of ndarray of bool
        Halves that are known, for example :func:`known_halves`.
    quick : bool
        Look for a proof for about a second, not for ten. The cut is the same, unless a search finds a smaller one.

    Returns
    -------
    Bisection

    Examples
    --------
    >>> from hdnhw.spec import parse
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.topology.network import build
    >>> found = bisection(neighbor_table(build(parse("rdn(torus(6), 1)"))))
    >>> found.edges, found.exact
    (12, True)
    """
    inside = best_cut(table, starts)
    edges, parity = cut_edges(table, inside), _parity(table)
    at_least, search_nodes = _flow_cut(table, quick), QUICK_NODES if quick else SEARCH_NODES
    at_least += 0 if parity is None else (at_least - parity) % 2
    while at_least < edges and len(table) <= search_nodes:
        smaller, ended = _search(table, edges - (1 if parity is None else 2))
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


def _parity(table: Table) -> int | None:
    """Return the remainder of a cut by 2, if all degrees have the same; a side's add up to it and twice its edges."""
    odd = (table >= 0).sum(axis=1) % 2
    return int(odd[0]) * (len(table) // 2) % 2 if odd.all() or not odd.any() else None


def best_cut(table: Table, starts: Sequence[Half] = ()) -> Half:
    """Return the best of many halves improved by swaps; the same one every time.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        Neighbours, as often as there are edges to them; -1 for none.
    starts : sequence of ndarray of bool
        Halves to begin with, besides those that are made here; they need not be balanced.
    """
    best = None
    for start in (*starts, *_spectral_halves(table), *_other_halves(len(table))):
        inside = np.ascontiguousarray(start)
        while _improve(table, inside, PATIENCE):
            pass
        edges = cut_edges(table, inside)
        if best is None or edges < best[0]:
            best = edges, inside
    assert best is not None, "there is one start at least"
    return best[1]


def _other_halves(nodes: int) -> Iterator[Half]:
    """Yield the lower numbers, then halves at random."""
    yield np.arange(nodes) < nodes // 2
    generator = np.random.default_rng(nodes)
    for _ in range(max(1, min(STARTS, PAIRS // nodes**2))):
        yield generator.permutation(nodes) < nodes // 2


def _spectral_halves(table: Table) -> Iterator[Half]:
    """Yield the upper half of each of the slowest ways in which a network swings."""
    nodes = len(table)
    if nodes <= 4 * EIGENVECTORS:
        return
    src, port = np.nonzero(table >= 0)
    adjacency = coo_array((np.ones(len(src)), (src, table[src, port])), shape=(nodes, nodes)).tocsr()
    degree = adjacency.sum(axis=1)
    start = np.random.default_rng(nodes).random(nodes)
    shifted = adjacency + diags_array(2 * degree.max() - degree)
    try:
        values, vectors = eigsh(shifted, EIGENVECTORS + 1, which="LA", v0=start, maxiter=RESTARTS)
    except ArpackNoConvergence as error:
        values, vectors = error.eigenvalues, error.eigenvectors
    for place in np.argsort(values)[::-1][1:]:
        rank = np.argsort(np.argsort(vectors[:, place], kind="stable"), kind="stable")
        yield rank < nodes // 2


@njit(types.int64(_HALF, _GAINS, _HALF, types.boolean), cache=True)
def _pick(inside, gain, locked, half):  # type: ignore[no-untyped-def]
    """Return the node of one half that gains most by moving."""
    best = -1
    for node in range(len(inside)):
        if inside[node] == half and not locked[node] and (best < 0 or gain[node] > gain[best]):
            best = node
    return best


@njit(types.void(_TABLE, _HALF, _GAINS, types.int64), cache=True)
def _move(table, inside, gain, node):  # type: ignore[no-untyped-def]
    inside[node] = not inside[node]
    gain[node] = -gain[node]
    for other in table[node]:
        if other >= 0:
            gain[other] += -2 if inside[other] == inside[node] else 2


@njit(types.int64(_TABLE, _HALF, types.int64), cache=True)
def _improve(table, inside, patience):  # type: ignore[no-untyped-def]
    """Balance a cut, then swap nodes pair by pair, each once, as far as it pays; return by how much it did."""
    nodes = len(inside)
    gain, locked = np.zeros(nodes, np.int64), np.zeros(nodes, np.bool_)
    for node in range(nodes):
        for other in table[node]:
            if other >= 0:
                gain[node] += 1 if inside[other] != inside[node] else -1
    surplus = 2 * inside.sum() - nodes
    while abs(surplus) > 1:
        _move(table, inside, gain, _pick(inside, gain, locked, surplus > 0))
        surplus += -2 if surplus > 0 else 2
    moved = np.empty(nodes, np.int64)
    total, best, swaps, kept = 0, 0, 0, 0
    while swaps < nodes // 2 and swaps < kept + patience:
        for half in range(2):
            node = _pick(inside, gain, locked, half == 0)
            locked[node] = True
            total += gain[node]
            moved[2 * swaps + half] = node
            _move(table, inside, gain, node)
        swaps += 1
        if total > best:
            best, kept = total, swaps
    for place in range(2 * kept, 2 * swaps):
        inside[moved[place]] ^= True
    return best


def known_halves(network: Network) -> list[Half]:
    """Return the halves of a dual-net that cut no cross-edge of the highest level, else none.

    Half of the clusters of class 1 are inside, and so are the nodes of class 0 from which cross-edges lead to them. So
    what is cut are the clusters of class 0, all along the best cut of their super-nodes (papers/README.md, E5).
    """
    if not isinstance(network, DualNetwork) or not network.levels:
        return []
    return [_crossless_half(neighbor_table(network), len(network.ports) - 1)]


def _crossless_half(table: Table, port: int) -> Half:
    """Return the half whose border has no edge of `port`, the cross-edges of the highest level."""
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


def _search(table: Table, most: int) -> tuple[Half | None, bool]:
    """Search for a cut of at most so many edges; say whether the search came to its end.

    Between a node and the half that it is not in, each path is cut; summed up over the paths of a tree that is a row
    that makes the program's bound almost that of the flow.
    """
    nodes = len(table)
    src, port = np.nonzero(table > np.arange(nodes)[:, None])
    dst, edges = table[src, port], len(src)
    here, place = np.tile(np.arange(edges), 3), np.concatenate([src, dst, nodes + np.arange(edges)])
    one = np.ones(edges)

    def rows(first: int, second: int, cut: int) -> coo_array:
        return coo_array(
            (np.concatenate([first * one, second * one, cut * one]), (here, place)), (edges, nodes + edges)
        )

    count = np.repeat([1.0, 0.0], [nodes, edges])[None]
    trees = _tree_rows(table, src, dst)
    limits = [
        LinearConstraint(rows(1, -1, -1), -np.inf, 0),
        LinearConstraint(rows(-1, 1, -1), -np.inf, 0),
        LinearConstraint(rows(1, 1, -1), 0, np.inf),
        LinearConstraint(rows(1, 1, 1), -np.inf, 2),
        LinearConstraint(count, nodes // 2, (nodes + 1) // 2),
        LinearConstraint(1 - count, -np.inf, most),
        LinearConstraint(trees, nodes // 2, np.inf),
    ]
    solved = milp(
        1 - count[0],
        integrality=count[0],
        bounds=Bounds(0, np.arange(nodes + edges) > 0),
        constraints=limits,
        options={"node_limit": SEARCH_TREE},
    )
    found = None if solved.x is None else solved.x[:nodes] > 0.5
    return found, solved.status in (OPTIMAL, INFEASIBLE)


def _tree_rows(table: Table, src: npt.NDArray[Any], dst: npt.NDArray[Any]) -> coo_array:
    """Return, for a breadth-first tree of each node, the nodes behind each edge, at most half of all."""
    nodes, edges = len(table), len(src)
    graph = coo_array((np.ones(edges), (src, dst)), shape=(nodes, nodes)).tocsr()
    edge_of = {pair: nodes + edge for edge, pair in enumerate(zip(src.tolist(), dst.tolist(), strict=True))}
    result = np.zeros((nodes, nodes + edges))
    for root in range(nodes):
        order, parent = breadth_first_order(graph, root, directed=False)
        behind = np.ones(nodes, np.int64)
        for node in order[:0:-1].tolist():
            up = int(parent[node])
            behind[up] += behind[node]
            result[root, edge_of[min(up, node), max(up, node)]] = min(behind[node], nodes // 2)
    return coo_array(result)
