"""How long an all-gather of long vectors takes at least, on any network, and spanning trees that take no longer.

Every node has a vector, all of one length, and every node must get all of them. A channel carries one word per cycle,
all channels at once, and vectors may be split. If S is a set of nodes, but not all, the words of S must leave it: with
one word a node that takes ``|S| / (channels that leave S)`` cycles. The largest of these quotients, over all S, is the
least time, for spanning trees can be packed so that no channel has to carry more [1]_, [2]_. The set is found by
maximum flows: every node must be able to receive ``time`` times what a channel carries in a cycle, and so on, from all
nodes at once; if one cannot, a minimum cut is a set with a larger quotient, and is tried next (Newton's method). So all
figures are exact.

A reduce-scatter sends the sums of blocks where an all-gather sends blocks, over the same trees and against their
direction, as each edge is a channel in both directions. What S has to get from outside is a sum for each of its nodes,
so that the bound is the same, and so is the least time.

References
----------
.. [1] J. Edmonds, Edge-disjoint branchings, in Combinatorial Algorithms, 1973.
.. [2] L. Zhao et al., ForestColl: throughput-optimal collective communications on heterogeneous network fabrics, 2024.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.topology.metrics import table_distances
from hdnhw.topology.symmetry import symmetry

MOST_SEARCHED = 1 << 12
"""Nodes of a network whose symmetry is searched for, so that one node an orbit is enough."""

Table = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Packing:
    """Spanning trees of a network, as many from each node, each for an equal part of the node's vector.

    Attributes
    ----------
    table : ndarray of int32, shape (nodes, ports)
        Node behind each port, -1 where there is none.
    ports : ndarray of int16, shape (trees, nodes, nodes)
        ``ports[tree, source, node]`` is the port of `node` over which it hears of `source`; -1 where they are the same.
    """

    table: Table
    ports: npt.NDArray[np.int16]

    @property
    def trees(self) -> int:
        """Trees from each node."""
        return len(self.ports)

    @property
    def loads(self) -> Integers:
        """Trees that use the channel into each node over each port, shape (nodes, ports)."""
        nodes, ports = self.table.shape
        into = np.arange(nodes) * ports + self.ports
        return np.bincount(into[self.ports >= 0], minlength=nodes * ports).reshape(nodes, ports)

    @property
    def load(self) -> int:
        """Most trees that use one channel."""
        return int(self.loads.max())

    @property
    def time(self) -> Fraction:
        """Cycles a word of the vectors, if long ones are sent along the trees."""
        return Fraction(self.load, self.trees)

    @property
    def depths(self) -> Integers:
        """Hops from the source to each node in each tree, shape (trees, nodes, nodes).

        Raises
        ------
        ValueError
            If a port does not exist, or a node does not hear of a source.
        """
        nodes = np.arange(len(self.table))
        above = np.where(self.ports < 0, nodes, self.table[nodes, self.ports])
        if above.min() < 0 or not np.array_equal((above == nodes).all(axis=0), nodes[:, None] == nodes):
            raise ValueError("a node lacks the port over which it has to hear of a source")
        at, depths = np.broadcast_to(nodes, above.shape), np.zeros(above.shape, np.int64)
        for _ in nodes:
            depths += at != nodes[:, None]
            at = np.take_along_axis(above, at, axis=2)
        if (at != nodes[:, None]).any():
            raise ValueError("a node does not hear of a source: its ports lead in a circle")
        return depths


def allgather_time(table: Table, *, terminals: bool = False) -> Fraction:
    """Return the least cycles that an all-gather or reduce-scatter takes for each word of a node's vector.

    Of a reduce-scatter the word is one of a block, of which each vector has one for each node.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it.
    terminals : bool
        Whether vectors start and end behind terminals that let in and out one word per cycle, as on a fabric. The least
        time is then N - 1 on every connected network: a terminal lets in no more, and any cut is one channel or more.

    Raises
    ------
    ValueError
        If the network is not connected, or of one node.

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> for spec in ("torus(9)", "cube(4)", "torus(4, 8)", "rdn(cube(3), 1)", "hsn(2, cube(2))"):
    ...     print(spec, allgather_time(neighbor_table(build(spec))))
    torus(9) 4
    cube(4) 15/4
    torus(4, 8) 31/4
    rdn(cube(3), 1) 127/4
    hsn(2, cube(2)) 15/2
    """
    nodes, degrees = len(table), (table >= 0).sum(axis=1)
    if nodes < 2 or table_distances(table, 0).min() < 0:
        raise ValueError("vectors are exchanged among two nodes or more, of a connected network")
    tails, port = np.nonzero(table >= 0)
    heads, ends = table[tails, port].astype(np.int64), np.arange(nodes)
    if terminals:
        tails, heads = np.concatenate([tails, ends, ends + nodes]), np.concatenate([heads, ends + nodes, ends])
        ends = ends + nodes
    time = Fraction(nodes - 1, 1 if terminals else int(degrees.min()))
    for sink in ends[_orbit_nodes(table)]:
        while (longer := _longer(tails, heads, ends, int(sink), time)) is not None:
            time = longer
    return time


def allreduce_bound(table: Table) -> Fraction:
    """Return cycles that an all-reduce takes at least for each word of a node's vector, if words are not mixed.

    A word on a channel may depend on the words at one place of the vectors only, the sum of some nodes' for example.
    Then all channels together carry at least 2 (N - 1) words for each place: N - 1 until some node knows the sum, as
    every other node must have sent something, and after that one more to each of the N - 1 others. On a network whose
    nodes have equally many ports and whose least time of an all-gather is (N - 1) / ports, a reduce-scatter and then an
    all-gather meet it. Whatever is sent, a node must get as many words as the vector has. What could be gained by
    mixing words of several places is not known here.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> table = neighbor_table(build("cube(3)"))
    >>> allreduce_bound(table), 2 * allgather_time(table) / 8
    (Fraction(7, 12), Fraction(7, 12))
    """
    degrees = (table >= 0).sum(axis=1)
    return max(Fraction(2 * len(table) - 2, int(degrees.sum())), Fraction(1, int(degrees.min())))


def shortest_time(table: Table) -> Fraction:
    """Return the least cycles that an all-gather along trees of shortest routes takes for each word of a vector.

    Each node chooses by itself: it hears of a source over a port that leads nearer to it, over whichever of these. So
    that no port gets too much is a flow for each node, from sets of ports to ports.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a connected network.
    """
    return _shortest_time(table, _distances(table))


def _shortest_time(table: Table, distance: Integers) -> Fraction:
    time = Fraction(len(table) - 1, int((table >= 0).sum(axis=1).min()))
    for node in _orbit_nodes(table):
        sets, _, counts = _sets(table, distance, int(node))
        while (longer := _longer_at(sets, counts, time)) is not None:
            time = longer
    return time


def _distances(table: Table) -> Integers:
    return np.stack([table_distances(table, node) for node in range(len(table))])


def shortest_packing(table: Table) -> Packing:
    """Return trees of shortest routes that load the fullest channel as little as such trees can.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a connected network.

    Returns
    -------
    Packing
        Whose time is :func:`shortest_time`. That may be more than :func:`allgather_time`: on ``ccc(3)`` 9, not 23 / 3.

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> packing = shortest_packing(neighbor_table(build("rdn(cube(2), 1)")))
    >>> packing.trees, packing.load, packing.time, int(packing.depths.max())
    (3, 31, Fraction(31, 3), 6)
    """
    nodes, distance = len(table), _distances(table)
    time = _shortest_time(table, distance)
    ports = np.full((time.denominator, nodes, nodes), -1, np.int16)
    for node in range(nodes):
        sets, set_of, counts = _sets(table, distance, node)
        flow = _flow_at(sets, counts, time)[0]
        for number, (own, count) in enumerate(zip(sets, counts, strict=True)):
            shares = [flow[1 + number, 1 + len(sets) + port] for port in np.flatnonzero(own)]
            ports[:, set_of == number, node] = np.repeat(np.flatnonzero(own), shares).reshape(-1, count)
    return Packing(table, ports)


def _sets(table: Table, distance: Integers, node: int) -> tuple[npt.NDArray[np.bool_], Integers, Integers]:
    """Return sets of ports that lead nearer to some source, which set is each source's, and how often each is."""
    nearer = (distance[table[node]] < distance[node]).T & (table[node] >= 0)
    others = np.arange(len(table)) != node
    sets, inverse, counts = np.unique(nearer[others], axis=0, return_inverse=True, return_counts=True)
    set_of = np.full(len(table), -1, np.int64)
    set_of[others] = inverse.reshape(-1)
    return sets, set_of, counts


def _flow_at(sets: npt.NDArray[np.bool_], counts: Integers, time: Fraction) -> tuple[Any, npt.NDArray[np.bool_], bool]:
    """Return how a node hears `time.denominator` parts of each source, a minimum cut, and whether it hears all."""
    number, port = np.nonzero(sets)
    amount, end = counts * time.denominator, 1 + len(sets) + sets.shape[1]
    tails = np.concatenate([np.zeros(len(sets), np.int64), 1 + number, 1 + len(sets) + np.arange(sets.shape[1])])
    heads = np.concatenate([1 + np.arange(len(sets)), 1 + len(sets) + port, np.full(sets.shape[1], end)])
    room = np.concatenate([amount, np.full(len(number), amount.sum()), np.full(sets.shape[1], time.numerator)])
    value, flow, near = max_flow(tails, heads, room, end + 1, 0, end)
    return flow, near, value == int(amount.sum())


def _longer_at(sets: npt.NDArray[np.bool_], counts: Integers, time: Fraction) -> Fraction | None:
    """Return the time that some ports of a node take for what must come over them if it is more than `time`."""
    _, near, enough = _flow_at(sets, counts, time)
    if enough:
        return None
    return Fraction(int(counts[near[1 : 1 + len(sets)]].sum()), int(near[1 + len(sets) : -1].sum()))


def _longer(tails: Integers, heads: Integers, ends: Integers, sink: int, time: Fraction) -> Fraction | None:
    """Return the time of a set of nodes without `sink` if it is more than `time`, None if there is no such set."""
    count = int(max(tails.max(), heads.max())) + 1
    starts = np.full(len(ends), count)
    room = np.concatenate([np.full(len(tails), time.numerator), np.full(len(ends), time.denominator)])
    value, _, near = max_flow(
        np.concatenate([tails, starts]), np.concatenate([heads, ends]), room, count + 1, count, sink
    )
    if value == len(ends) * time.denominator:
        return None
    return Fraction(int(near[ends].sum()), int((near[tails] & ~near[heads]).sum()))


def max_flow(
    tails: Integers, heads: Integers, room: Integers, count: int, source: int, sink: int
) -> tuple[int, Any, npt.NDArray[np.bool_]]:
    """Return the value of a maximum flow, the flow, and the source's side of a minimum cut."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    graph = coo_array((room.astype(np.int32), (tails, heads)), shape=(count, count)).tocsr()
    found = maximum_flow(graph, source, sink)
    left = graph - found.flow
    left.eliminate_zeros()
    near = np.zeros(count, bool)
    near[breadth_first_order(left, source, return_predecessors=False)] = True
    return int(found.flow_value), found.flow, near


def _orbit_nodes(table: Table) -> Integers:
    """Return one node an orbit of the network's automorphisms, or all nodes if these are not known."""
    found = symmetry(table) if len(table) <= MOST_SEARCHED else None
    return np.arange(len(table)) if found is None else np.unique(found.node_orbit, return_index=True)[1]
