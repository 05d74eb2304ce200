"""Bisections of networks with switches: the fewest edges between halves of the terminals, wherever switches are.

A terminal with a single link, a leaf, is drawn into its switch first. What is left is the core, whose nodes weigh as
many terminals as they hold. Take a cut of T terminals into a <= b that cuts the links of t leaves. With these on the
sides of their switches it is a cut of the core with t edges less, and at least a - t terminals on either side. A bound
of such cuts that is concave in a - t is least at an end: without cut leaves, or with as many as there can be.

References
----------
.. [1] B. Towles and W. J. Dally, Worst-case traffic for oblivious routing functions, Proc. SPAA 2002: the load of a
   channel under any permutation.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import ceil

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, array_of
from hdnhw.topology.cut_bound import known_bound
from hdnhw.topology.cuts import (
    QUICK_FLOWS,
    QUICK_NODES,
    SEARCH_NODES,
    TOLERANCE,
    Bisection,
    Half,
    Table,
    best_cut,
    bisection,
    cut_edges,
    halves_to_improve,
    known_halves,
    spectral_gap,
)
from hdnhw.topology.flow import least_load
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import table_distances

SPLIT_NODES, SPLIT_WORK = 2048, 1 << 30
"""Of the bound by permutations: most nodes of the core, and most pairs of its nodes with terminals times its edges."""

SHARES, MOST_PATHS = 1 << 30, 1 << 15
"""Units in which a share of a packet is counted, and most shortest paths between two nodes."""

LACKING = 1 << 40
"""What a cut costs for each terminal that is on the wrong side and is no leaf."""

Bound = Callable[[int], Fraction]
"""Returns how many edges a cut of the core has at least, of the fewer terminals on a side; concave."""

_TABLE, _HOLDS = (array_of(np.int32), Number, Number), (array_of(np.int64), array_of(np.int64), Number)
_shift = Function("cuts_shift", *_TABLE, *_HOLDS, array_of(np.bool_), result=Number)


def network_bisection(network: Network, table: Table) -> Bisection:
    """Cut a network, with its neighbor table, into halves of its terminals, see :func:`hdnhw.topology.cuts.bisection`.

    They are all its nodes if it has no switches.
    """
    if network.num_terminals < network.num_nodes:
        return terminal_bisection(table, network.num_terminals, quick=True)
    return bisection(table, known_halves(network), at_least=known_bound(network), quick=True)


def terminal_bisection(table: Table, terminals: int, *, quick: bool = False) -> Bisection:
    """Cut a network into halves of its terminals with as few edges between them as can be found, and say the least.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a connected simple graph.
    terminals : int
        The first so many nodes are terminals, the others switches, which may be on either side.
    quick : bool
        See :func:`hdnhw.topology.cuts.bisection`.

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> found = terminal_bisection(neighbor_table(build("fat_tree(4)")), 16)
    >>> found.edges, found.exact, int(found.inside[:16].sum())
    (8, True, 8)
    """
    core = _Core(table, terminals)
    inside = core.whole(_best(core))
    edges = cut_edges(table, inside)
    at_least = terminals // 2 if np.count_nonzero(core.weight) == 1 else 0  # leaves of one switch
    for bound in (_permutation_bound, _spectral_bound, partial(_flow_bound, quick=quick)):
        if at_least < edges:
            at_least = max(at_least, core.least(bound(core)))
    while at_least < edges and len(table) <= (QUICK_NODES if quick else SEARCH_NODES):
        from hdnhw.topology.cut_search import search_cut

        smaller, ended = search_cut(table, edges - 1, terminals)
        if smaller is None:
            at_least = edges if ended else at_least
            break
        inside, edges = smaller, cut_edges(table, smaller)
    return Bisection(edges, at_least, inside)


@dataclass(frozen=True)
class _Core:
    """A network whose leaves are drawn into their switches."""

    whole_table: Table
    terminals: int

    @cached_property
    def _leaf(self) -> Half:
        """Which nodes are leaves."""
        degree = (self.whole_table >= 0).sum(axis=1)
        single: Half = (np.arange(len(degree)) < self.terminals) & (degree == 1)
        return single & ~single[self._link]

    @cached_property
    def _link(self) -> npt.NDArray[np.int64]:
        """A node behind each node."""
        return np.asarray(self.whole_table.max(axis=1), np.int64)

    @cached_property
    def home(self) -> npt.NDArray[np.int64]:
        """The node of the core in which each node is."""
        number = np.cumsum(~self._leaf) - 1
        return np.asarray(np.where(self._leaf, number[self._link], number), np.int64)

    @cached_property
    def table(self) -> Table:
        """Neighbors in the core."""
        rows = self.whole_table[~self._leaf]
        there = (rows >= 0) & ~self._leaf[rows]
        return np.ascontiguousarray(np.where(there, self.home[rows], -1), np.int32)

    @cached_property
    def leaves(self) -> npt.NDArray[np.int64]:
        """Leaves in each node of the core."""
        return np.asarray(np.bincount(self.home[self._leaf], minlength=len(self.table)), np.int64)

    @cached_property
    def weight(self) -> npt.NDArray[np.int64]:
        """Terminals in each node of the core."""
        return np.asarray(np.bincount(self.home[: self.terminals], minlength=len(self.table)), np.int64)

    def least(self, bound: Bound | None) -> int:
        """Return the fewest edges of a cut into halves of the terminals by a bound of cuts of the core."""
        if bound is None:
            return 0
        half = self.terminals // 2
        cut = min(half, int(self.leaves.sum()))
        return max(0, ceil(min(bound(half), cut + bound(half - cut))))

    def whole(self, inside: Half) -> Half:
        """Return the cut of the network that a cut of the core makes, balanced by leaves."""
        found = np.asarray(inside[self.home])
        surplus = int(found[: self.terminals].sum()) - self.terminals // 2
        heavy = surplus > 0
        wrong = max(0, surplus - self.terminals % 2) if heavy else -surplus
        moved = np.flatnonzero(self._leaf & (found == heavy))[:wrong]
        assert len(moved) == wrong, "there are leaves to balance it"
        found[moved] ^= True
        return found


def _best(core: _Core) -> Half:
    """Return the best of many cuts of the core, improved node by node; leaves will balance it."""
    best = None
    for start in _starts(core):
        inside = np.ascontiguousarray(start)
        cost = _improve(core, inside)
        if best is None or cost < best[0]:
            best = cost, inside
    assert best is not None, "there is one start at least"
    return best[1]


def _improve(core: _Core, inside: Half) -> int:
    """Improve a cut of the core and return its cost: edges and what balance costs."""
    wrong = int(_shift(core.table, *core.table.shape, core.weight, core.leaves, LACKING, inside))
    return cut_edges(core.table, inside) + wrong


def _starts(core: _Core) -> Iterator[Half]:
    """Yield cuts: none, the first half of the terminals, the best one of as many nodes, and what that begins with."""
    yield np.zeros(len(core.table), np.bool_)
    yield np.cumsum(core.weight) <= core.terminals // 2
    yield best_cut(core.table)
    yield from halves_to_improve(core.table)


def _flow_bound(core: _Core, quick: bool) -> Bound | None:
    """Return the bound by a total exchange: m (T - m) messages cross a cut each way."""
    flow = least_load(core.table, weight=core.weight, most_flows=QUICK_FLOWS if quick else None)
    if flow is None:
        return None
    share = Fraction((1 - TOLERANCE) / flow.reached)
    return lambda least: least * (core.terminals - least) * share


def _spectral_bound(core: _Core) -> Bound | None:
    """Return the bound by the least second eigenvalue of the Laplacian, of nodes that have their weights.

    For a cut with m terminals on one side take the vector of (T - m) / T there and -m / T here: its energy is the edges
    of the cut, and the square of its length is m (T - m) / T in weights.
    """
    gap = spectral_gap(core.table, core.weight)
    if gap is None:
        return None
    second, rest = gap
    return lambda least: second * least * (core.terminals - least) / core.terminals - rest * len(core.table)


def _permutation_bound(core: _Core) -> Bound | None:
    """Return the bound by permutations: m packets cross a cut, one a terminal, on equal shares of all shortest routes.

    No channel carries more than all its sources send over it, or all its destinations get [1]_.
    """
    nodes, ends = len(core.table), np.flatnonzero(core.weight)
    edges = [(node, int(other)) for node, row in enumerate(core.table) for other in row if other > node]
    if nodes > SPLIT_NODES or len(edges) * len(ends) ** 2 > SPLIT_WORK:
        return None
    distance = np.stack([table_distances(core.table, node) for node in range(nodes)])
    paths = None if distance.min() < 0 else _shortest_paths(core.table, distance)
    if paths is None:
        return None
    weight, from_end, paths_from = core.weight[ends], distance[ends], paths[ends]
    apart, ways, most = from_end[:, ends], paths_from[:, ends], 0
    for one, other in edges:  # what goes the other way is as much, with source and destination exchanged
        on = from_end[:, one, None] + 1 + from_end[None, :, other] == apart
        units = -(-SHARES * paths_from[:, one, None] * paths_from[None, :, other] // ways) * on
        most = max(most, min(int(weight @ units.max(axis=1)), int(weight @ units.max(axis=0))))
    return lambda least: Fraction(SHARES * least, most)


def _shortest_paths(table: Table, distance: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
    """Return how many shortest paths lead from node to node; None if there are too many to count with."""
    paths = np.eye(len(table), dtype=np.int64)
    for hops in range(1, int(distance.max()) + 1):
        for port in table.T:
            before = (distance == hops) & (port >= 0) & (distance[:, port] == hops - 1)
            paths += np.where(before, paths[:, port], 0)
        if paths.max() > MOST_PATHS:
            return None
    return paths
