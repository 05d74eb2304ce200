"""Spanning trees that make the best of any network's channels, grown channel by channel.

Trees are begun at every node, as many as wanted, and one channel after the other is added to one of them, or to some
that are still equal, as long as all that are not finished can be [1]_: into any set of nodes that they have not reached
there must lead channels enough. A maximum flow says to how many trees a channel may be added.

References
----------
.. [1] L. Lovasz, On two minimax theorems in graph theory, J. Combinatorial Theory B 21 (1976).
.. [2] L. Zhao et al., ForestColl: throughput-optimal collective communications on heterogeneous network fabrics, 2024.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hdnhw.topology.packing import Packing, Table, allgather_time, max_flow, shortest_packing, shortest_time


@dataclass(frozen=True, eq=False)
class _Tree:
    """So many equal trees of one source, some of whose nodes are reached.

    Attributes
    ----------
    copies : int
    ports : ndarray of int16, shape (nodes,)
        Port over which each node hears of the source; -1 if it does not yet.
    order : tuple of int
        Nodes that are reached, in the order in which they were.
    """

    copies: int
    ports: npt.NDArray[np.int16]
    order: tuple[int, ...]


class _Growth:
    """What is left of the channels while trees grow.

    Attributes
    ----------
    left : ndarray of int, shape (nodes, ports)
        How many trees may still use the channel into each node over each port.
    waiting : ndarray of int, shape (nodes,)
        Trees of each node that are not begun.
    """

    def __init__(self, table: Table, time: Fraction) -> None:
        self._table = table
        self._heads, self._ports = np.nonzero(table >= 0)
        self._tails = table[self._heads, self._ports]
        self.left = np.where(table >= 0, time.numerator, 0).astype(np.int64)
        self.waiting = np.full(len(table), time.denominator)

    def trees_of(self, source: int) -> list[_Tree]:
        """Grow all trees of a source, and take from the channels what they use."""
        unreached = np.full(len(self._table), -1, np.int16)
        growing, grown = [_Tree(int(self.waiting[source]), unreached, (source,))], []
        self.waiting[source] = 0
        while growing:
            tree = growing.pop()
            if len(tree.order) == len(self._table):
                grown.append(tree)
            else:
                growing += self._grow(tree, growing)
        return grown

    def _grow(self, tree: _Tree, others: Sequence[_Tree]) -> list[_Tree]:
        """Add a channel from the first node that allows one; return the trees without it, if any, and those with it."""
        reached = np.isin(np.arange(len(self._table)), tree.order)
        for node in tree.order:
            for other in self._table[node]:
                if other < 0 or reached[other]:
                    continue
                port = int(np.flatnonzero(self._table[other] == node)[0])
                copies = self._room(tree, node, int(other), port, others)
                if copies:
                    self.left[other, port] -= copies
                    ports = tree.ports.copy()
                    ports[other] = port
                    with_it = _Tree(copies, ports, (*tree.order, int(other)))
                    rest = tree.copies - copies
                    return [_Tree(rest, tree.ports, tree.order), with_it] if rest else [with_it]
        raise ValueError("the trees wanted are more than the channels of the network can carry")

    def _room(self, tree: _Tree, node: int, other: int, port: int, others: Sequence[_Tree]) -> int:
        """Return how many of a tree's copies may get the channel from `node` to `other`.

        A set with `other` and without `node` needs a channel into it for each copy of a tree that has not reached it.
        """
        most = min(tree.copies, int(self.left[other, port]))
        if not most:
            return 0
        nodes, wanted = len(self._table), int(self.waiting.sum()) + sum(one.copies for one in others)
        source, starts = nodes, np.flatnonzero(self.waiting)
        tails = [self._tails, np.full(len(starts) + 1, source)]
        heads = [self._heads, starts, np.array([node])]
        unlimited = np.array([wanted + int(self.left[other].sum()) + 1])
        room = [self.left[self._heads, self._ports], self.waiting[starts], unlimited]
        for number, one in enumerate(others, start=nodes + 1):
            tails += [np.array([source]), np.full(len(one.order), number)]
            heads += [np.array([number]), np.array(one.order)]
            room += [np.array([one.copies]), np.full(len(one.order), one.copies)]
        count = nodes + 1 + len(others)
        value = max_flow(np.concatenate(tails), np.concatenate(heads), np.concatenate(room), count, source, other)[0]
        return min(most, value - wanted)


def grown_packing(table: Table, time: Fraction) -> Packing:
    """Return trees along which an all-gather takes `time` for each word of a vector.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a simple graph.
    time : Fraction
        As :func:`hdnhw.topology.packing.allgather_time` gives it, or more.

    Raises
    ------
    ValueError
        If no trees take so little.
    """
    growth, nodes = _Growth(table, time), len(table)
    ports = np.full((time.denominator, nodes, nodes), -1, np.int16)
    for source in range(nodes):
        trees = growth.trees_of(source)
        ports[:, source] = np.repeat([tree.ports for tree in trees], [tree.copies for tree in trees], axis=0)
    return Packing(table, ports)


def best_packing(table: Table) -> Packing:
    """Return trees along which an all-gather takes the least time: of shortest routes if such trees do, else grown.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a connected simple graph.

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> [str(best_packing(neighbor_table(build(spec))).time) for spec in ("cube(4)", "ccc(3)")]
    ['15/4', '23/3']
    """
    least = allgather_time(table)
    return shortest_packing(table) if shortest_time(table) == least else grown_packing(table, least)
