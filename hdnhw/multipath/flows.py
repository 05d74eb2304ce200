"""Paths between two nodes, or two sets of nodes, that share no other node, together as short as possible.

A flow of least cost, one shortest path at a time in what is left of the network [1]_. A node is two states, in and out,
so that a path through a node in use can only take its place.

References
----------
.. [1] J. W. Suurballe, Disjoint paths in a network, Networks 4 (1974).
"""

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, array_of

Table = npt.NDArray[np.int32]

_find = Function("search_paths", array_of(np.int32), *(Number,) * 4, array_of(np.int32), array_of(np.int32))


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
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> shortest_disjoint_paths(neighbor_table(build("mesh(2, 3)")), 0, 5)
    [[0, 1, 2, 5], [0, 3, 4, 5]]
    """
    if source == target:
        raise ValueError(f"paths must be between two nodes, not from {source} to itself")
    after, before = np.full(len(table), -1, np.int32), np.full(len(table), -1, np.int32)
    direct = bool((table[source] == target).any())
    _find(table, *table.shape, source, target, after, before)
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
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> shortest_linkage(neighbor_table(build("mesh(2, 3)")), [0, 5], [2, 3])
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


def fault_of_paths(
    neighbors: Callable[[int], Collection[int]], source: int, target: int, paths: Sequence[Sequence[int]]
) -> str | None:
    """Return why these are not paths between two nodes that share no other, or None if they are.

    Parameters
    ----------
    neighbors : callable
        From a node to its neighbors.
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
