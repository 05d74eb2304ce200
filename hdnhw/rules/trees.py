"""Trees of routes to every destination of a graph: shortest ones, and ones that go up and then down."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.kernels import kernel

__all__ = ["Trees", "distance_sums", "short_trees", "shortest_classes", "up_down_trees"]

Short = npt.NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Trees:
    """Shortest routes; arrays of shape (num_terminals, num_nodes), destination first.

    Attributes
    ----------
    port : ndarray of int16
        That a node takes, -1 at the destination.
    hops : ndarray of int16
        Of the distance.
    descents : ndarray of int16
        How often the route goes down in the order of channels from the node on.
    load : ndarray of int64, shape (num_nodes, ports)
        Routes between terminals through each channel.
    """

    port: Short
    hops: Short
    descents: Short
    load: npt.NDArray[np.int64]


@kernel("int64(int32[:, ::1], int64, int16[::1], int64[::1])")
def _search(neighbors: Any, dst: int, hops: Any, order: Any) -> Any:
    """Fill the distances from a node and the order in which a breadth-first search reaches the others."""
    hops[:] = -1
    hops[dst] = 0
    order[0] = dst
    start, end = 0, 1
    while start < end:
        node = order[start]
        start += 1
        for port in range(neighbors.shape[1]):
            other = neighbors[node, port]
            if other >= 0 and hops[other] < 0:
                hops[other] = hops[node] + 1
                order[end] = other
                end += 1
    return end


@kernel("void(int32[:, ::1], int64[::1])")
def _sum_distances(neighbors: Any, sums: Any) -> None:
    """Fill the sum of the distances from every node."""
    nodes = neighbors.shape[0]
    hops, order = np.empty(nodes, np.int16), np.empty(nodes, np.int64)
    for node in range(nodes):
        _search(neighbors, node, hops, order)
        for other in range(nodes):
            sums[node] += hops[other]


def distance_sums(table: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the sum of the distances from every node, shape (num_nodes,)."""
    sums = np.zeros(len(table), np.int64)
    _sum_distances(table, sums)
    return sums


@kernel("void(int32[:, ::1], int64, int64[::1], int16[::1], int64[::1], int64, int64[:, ::1])")
def _add_load(neighbors: Any, terminals: int, order: Any, port_of: Any, flow: Any, sign: int, load: Any) -> None:
    """Add or take away what the terminals send to the first node of an order, the farthest node first."""
    flow[:] = 0
    flow[:terminals] = sign
    for place in range(len(order) - 1, 0, -1):
        node = order[place]
        load[node, port_of[node]] += flow[node]
        flow[neighbors[node, port_of[node]]] += flow[node]


@kernel(
    "void(int32[:, ::1], int64[:, ::1], int64, int64, int64, int16[:, ::1], int16[:, ::1], int16[:, ::1], "
    "int64[:, ::1])"
)
def _short_trees(
    neighbors: Any,
    rank: Any,
    terminals: int,
    by_load: int,
    sweeps: int,
    port_of: Any,
    hops: Any,
    descents: Any,
    load: Any,
) -> None:
    """Fill trees, destination by destination: of ports on shortest routes, the one of least descents and load."""
    nodes, ports = neighbors.shape
    order, flow, weight = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for turn in range(sweeps * terminals):
        dst = turn % terminals
        _search(neighbors, dst, hops[dst], order)
        if turn >= terminals:
            _add_load(neighbors, terminals, order, port_of[dst], flow, -1, load)
        port_of[dst, dst], descents[dst, dst], weight[dst] = -1, 0, 0
        for place in range(1, nodes):
            node = order[place]
            found, fewest, least = -1, 0, 0
            for step in range(ports):
                port = (step + dst) % ports
                other = neighbors[node, port]
                if other < 0 or hops[dst, other] != hops[dst, node] - 1:
                    continue
                down = descents[dst, other]
                if other != dst and rank[other, port_of[dst, other]] < rank[node, port]:
                    down += 1
                cost = weight[other] + load[node, port] * load[node, port]
                first, second = (cost, down) if by_load else (down, cost)
                if found < 0 or first < fewest or (first == fewest and second < least):
                    found, fewest, least = port, first, second
                    descents[dst, node], weight[node] = down, cost
            port_of[dst, node] = found
        _add_load(neighbors, terminals, order, port_of[dst], flow, 1, load)


def short_trees(
    table: npt.NDArray[np.int32], rank: npt.NDArray[np.int64], terminals: int, *, by_load: bool, sweeps: int
) -> Trees:
    """Return trees of shortest routes.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` returns it.
    rank : ndarray of int64, shape (num_nodes, ports)
        The place of each channel in an order.
    terminals : int
        Destinations, the first nodes.
    by_load : bool
        Whether the load of the channels comes before the descents.
    sweeps : int
        How often every tree is made, each time with the load of the others.
    """
    shape = terminals, len(table)
    port, hops, descents = (np.zeros(shape, np.int16) for _ in range(3))
    load = np.zeros(table.shape, np.int64)
    _short_trees(table, rank, terminals, int(by_load), sweeps, port, hops, descents, load)
    return Trees(port, hops, descents, load)


@kernel("void(int32[:, ::1], int64[:, ::1], int64, int16[:, ::1], int16[:, ::1], int16[:, ::1], int16[:, ::1])")
def _classes(neighbors: Any, rank: Any, most: int, port_of: Any, hops: Any, descents: Any, classes: Any) -> None:
    """Fill classes: of every second pair of destinations as low as can be, of the others as high."""
    terminals, nodes = port_of.shape
    order = np.empty(nodes, np.int64)
    for dst in range(terminals):
        for node in range(nodes):
            classes[dst, node] = 0 if dst & 2 else most - descents[dst, node]
        if not dst & 2:
            continue
        _search(neighbors, dst, hops[dst], order)
        for place in range(nodes - 1, 0, -1):
            node = order[place]
            other = neighbors[node, port_of[dst, node]]
            if other != dst:
                down = rank[other, port_of[dst, other]] < rank[node, port_of[dst, node]]
                classes[dst, other] = max(classes[dst, other], classes[dst, node] + down)


def shortest_classes(table: npt.NDArray[np.int32], rank: npt.NDArray[np.int64], trees: Trees) -> Short:
    """Return the class of every hop, which goes up where the route goes down in the order; shape of the trees.

    Routes to half of the destinations use the lowest classes they can, those to the others the highest.
    """
    classes = np.zeros(trees.port.shape, np.int16)
    _classes(table, rank, int(trees.descents.max()), trees.port, trees.hops, trees.descents, classes)
    return classes


@kernel("int64(int32[:, ::1], int64[::1], int64[::1], int64, int64[::1], int64[::1])")
def _ways(neighbors: Any, height: Any, from_top: Any, dst: int, far: Any, order: Any) -> Any:
    """Fill the hops from every node: down where only that leads to `dst`, else up and then down.

    Returns how many of the nodes, which stand first in `order`, have a way down.
    """
    far[:] = -1
    far[dst], order[0] = 0, dst
    start, end = 0, 1
    while start < end:
        node = order[start]
        start += 1
        for port in range(neighbors.shape[1]):
            other = neighbors[node, port]
            if other >= 0 and height[other] > height[node] and far[other] < 0:
                far[other] = far[node] + 1
                order[end] = other
                end += 1
    below = end
    for node in from_top:
        if far[node] >= 0:
            continue
        for port in range(neighbors.shape[1]):
            other = neighbors[node, port]
            if other < 0 or height[other] < height[node] or far[other] < 0:
                continue
            if far[node] < 0 or far[other] + 1 < far[node]:
                far[node] = far[other] + 1
        order[end] = node
        end += 1
    return below


@kernel("int64(int32[:, ::1], int64[::1], int64[::1], int64, int16[:, ::1], int64[:, ::1])")
def _up_down(neighbors: Any, height: Any, from_top: Any, terminals: int, port_of: Any, load: Any) -> Any:
    """Fill trees, of equally long ways by the least load of the next channel; return hops in all, -1 if one is none."""
    nodes, ports = neighbors.shape
    far, order, descends = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    total = 0
    for dst in range(terminals):
        below = _ways(neighbors, height, from_top, dst, far, order)
        if far.min() < 0:
            return -1
        total += far[:terminals].sum()
        port_of[dst, dst], descends[:] = -1, 0
        descends[order[:below]] = 1
        for place in range(1, nodes):
            node, found = order[place], -1
            for step in range(ports):
                port = (step + dst) % ports
                other = neighbors[node, port]
                if other < 0 or far[other] != far[node] - 1:
                    continue
                if (height[other] < height[node]) != descends[node] or descends[other] < descends[node]:
                    continue
                if found < 0 or load[node, port] < load[node, found]:
                    found = port
            port_of[dst, node] = found
        for source in range(terminals):
            node = source
            while node != dst:
                load[node, port_of[dst, node]] += 1
                node = neighbors[node, port_of[dst, node]]
    return total


def up_down_trees(
    table: npt.NDArray[np.int32], height: npt.NDArray[np.int64], terminals: int
) -> tuple[Short, tuple[int, int]] | None:
    """Return the port of every node to every destination, so that no route goes up after it has gone down.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
    height : ndarray of int64, shape (num_nodes,)
        All different.
    terminals : int

    Returns
    -------
    (ndarray of int16, shape (terminals, num_nodes), (int, int)) or None
        Ports, -1 at the destination; and the hops of all routes between terminals and the load of the fullest channel.
        None if there is no such way from some node.
    """
    port, load = np.zeros((terminals, len(table)), np.int16), np.zeros(table.shape, np.int64)
    from_top = np.argsort(-height, kind="stable").astype(np.int64)
    hops = _up_down(table, np.ascontiguousarray(height, np.int64), from_top, terminals, port, load)
    return None if hops < 0 else (port, (int(hops), int(load.max())))
