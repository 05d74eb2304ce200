"""Paths between two nodes, or two sets of nodes, that share no other node, together as short as possible.

A flow of least cost, one shortest path at a time in what is left of the network [1]_. A node is two states, in and out,
so that a path through a node in use can only take its place.

References
----------
.. [1] J. W. Suurballe, Disjoint paths in a network, Networks 4 (1974).
"""

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.kernels import kernel

__all__ = ["fault_of_linkage", "fault_of_paths", "shortest_disjoint_paths", "shortest_linkage"]

Table = npt.NDArray[np.int32]

FAR = 1 << 30


def shortest_disjoint_paths(table: Table, source: int, target: int) -> list[list[int]]:
    """Return the most paths that share no other node, of the least total length.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a simple graph.
    source, target : int
        Two nodes.

    Returns
    -------
    list of list of int
        The nodes of each path, `source` first and `target` last; the shortest path first.

    Examples
    --------
    >>> from hdnhw.spec import parse
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.topology.network import build
    >>> shortest_disjoint_paths(neighbor_table(build(parse("mesh(2, 3)"))), 0, 5)
    [[0, 1, 2, 5], [0, 3, 4, 5]]
    """
    if source == target:
        raise ValueError(f"paths must be between two nodes, not from {source} to itself")
    after, before = np.full(len(table), -1, np.int32), np.full(len(table), -1, np.int32)
    direct = bool((table[source] == target).any())
    while _augment(table, source, target, after, before):
        pass
    paths = [[source, target]] if direct else []
    for first in np.flatnonzero(before == source):
        path = [source, int(first)]
        while path[-1] != target:
            path.append(int(after[path[-1]]))
        paths.append(path)
    return sorted(paths, key=lambda path: (len(path), path))


def shortest_linkage(table: Table, sources: Sequence[int], targets: Sequence[int]) -> list[list[int]]:
    """Return the most paths from a set of nodes to another that share no node, of the least total length.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        See :func:`shortest_disjoint_paths`.
    sources, targets : sequence of int
        Nodes of each set. One source, or one target, is an end of all paths, which then share it; a node of both sets
        is a path of its own.

    Returns
    -------
    list of list of int
        The nodes of each path; the shortest path first.

    Examples
    --------
    >>> from hdnhw.spec import parse
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.topology.network import build
    >>> shortest_linkage(neighbor_table(build(parse("mesh(2, 3)"))), [0, 5], [2, 3])
    [[0, 3], [5, 2]]
    """
    nodes, ports = table.shape
    whole = np.full((nodes + 2, max(ports + 1, len(sources))), -1, np.int32)
    whole[:nodes, :ports] = table
    whole[list(targets), ports] = nodes + 1
    whole[nodes, : len(sources)] = sources
    one_source, one_target = len(sources) == 1, len(targets) == 1
    ends = sources[0] if one_source else nodes, targets[0] if one_target else nodes + 1
    return [path[not one_source : len(path) - (not one_target)] for path in shortest_disjoint_paths(whole, *ends)]


@kernel("boolean(int32[:, ::1], int64, int64, int32[::1], int32[::1])")
def _augment(table: Table, source: int, target: int, after: Any, before: Any) -> bool:
    """Add a path of least cost; the channel from `source` to `target` stays out of it."""
    nodes, ports = table.shape
    cost, parent = np.full(2 * nodes, FAR, np.int32), np.full(2 * nodes, -1, np.int32)
    waiting, queue = np.zeros(2 * nodes, np.bool_), np.empty(2 * nodes, np.int32)
    head, size = 0, 1
    queue[0] = 2 * source + 1
    cost[queue[0]] = 0
    while size:
        state = queue[head]
        head, size = (head + 1) % len(queue), size - 1
        waiting[state] = False
        for port in range(-1, ports if state % 2 else 0):
            other, step = _next(table, source, target, after, before, state, port)
            if other < 0 or cost[state] + step >= cost[other]:
                continue
            cost[other], parent[other] = cost[state] + step, state
            if not waiting[other] and other != 2 * target:
                waiting[other] = True
                queue[(head + size) % len(queue)] = other
                size += 1
    if cost[2 * target] == FAR:
        return False
    _take(2 * target, 2 * source + 1, parent, after, before)
    return True


@kernel(inline="always")
def _next(table: Table, source: int, target: int, after: Any, before: Any, state: int, port: int) -> tuple[int, int]:
    """Return the state behind a port, or for port -1 that inside the node or against its path, and the cost; or -1."""
    node = state // 2
    used = before[node] >= 0
    if port < 0:
        if state % 2 == used:
            return state ^ 1, 0
        return (2 * before[node] + 1, -1) if used and before[node] != source else (-1, 0)
    to = table[node, port]
    if to < 0 or to == source or before[to] == node or after[node] == to or (node == source and to == target):
        return -1, 0
    return 2 * to, 1


@kernel("void(int64, int64, int32[::1], int32[::1], int32[::1])")
def _take(end: int, start: int, parent: Any, after: Any, before: Any) -> None:
    """Take back the channels that a path runs against, then add those that it runs along."""
    for adding in range(2):
        state = end
        while state != start:
            previous = parent[state]
            node, other = previous // 2, state // 2
            if node != other and state % 2 == 1 and not adding:
                after[other] = before[node] = -1
            if node != other and state % 2 == 0 and adding:
                if node != start // 2:
                    after[node] = other
                if other != end // 2:
                    before[other] = node
            state = previous


def fault_of_paths(
    neighbors: Callable[[int], Collection[int]], source: int, target: int, paths: Sequence[Sequence[int]]
) -> str | None:
    """Return why these are not paths between two nodes that share no other, or None if they are.

    Parameters
    ----------
    neighbors : callable
        From a node to its neighbours.
    source, target : int
    paths : sequence of sequence of int
        The nodes of each.
    """
    for path in paths:
        if len(path) < 2 or path[0] != source or path[-1] != target:
            return f"{path} does not lead from {source} to {target}"
    if sum(len(path) == 2 for path in paths) > 1:
        return f"two paths over the edge from {source} to {target}"
    return _fault_of_nodes(neighbors, {source, target}, paths)


def fault_of_linkage(
    neighbors: Callable[[int], Collection[int]],
    sources: Sequence[int],
    targets: Sequence[int],
    paths: Sequence[Sequence[int]],
) -> str | None:
    """Return why these are not paths between nodes of two sets that share no node, or None if they are.

    Parameters are those of :func:`fault_of_paths`. One source, or one target, is an end of all paths.
    """
    for ends, place in ((sources, 0), (targets, -1)):
        own = [path[place] for path in paths]
        if not set(own) <= set(ends) or (len(ends) > 1 and len(set(own)) < len(own)):
            return f"the paths do not {'end' if place else 'begin'} at {ends}, one each"
    shared = {ends[0] for ends in (sources, targets) if len(ends) == 1}
    return _fault_of_nodes(neighbors, shared, paths)


def _fault_of_nodes(
    neighbors: Callable[[int], Collection[int]], ends: Collection[int], paths: Sequence[Sequence[int]]
) -> str | None:
    """Return where paths leave the edges of a network, or share a node, which their ends `ends` may."""
    seen: set[int] = set()
    for path in paths:
        for one, other in pairwise(path):
            if other not in neighbors(one):
                return f"no edge from {one} to {other}"
        inner = [node for place, node in enumerate(path) if place not in (0, len(path) - 1) or node not in ends]
        if len({*inner, *ends}) < len(inner) + len(ends):
            return f"{path} visits a node twice"
        if shared := seen.intersection(inner):
            return f"two paths over {min(shared)}"
        seen.update(inner)
    return None
