"""Where blocks go: those with the heaviest traffic between them on the nearest nodes."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

MOST_ROUNDS = 50
"""Rounds of exchanges after which a placement is taken as it is."""


def place(
    distances: npt.NDArray[np.int64], traffic: npt.NDArray[np.float64], fixed: Mapping[int, int]
) -> tuple[list[int], float]:
    """Choose a node for each block, and return the nodes and the sum of traffic times hops.

    Blocks are placed one after the other, next the one with the most traffic to those that are placed. Then blocks move
    to free nodes, or change places, as long as that is better: a local optimum.

    Parameters
    ----------
    distances : ndarray of int, shape (nodes, nodes)
        Hops between nodes.
    traffic : ndarray of float, shape (blocks, blocks)
        Between blocks, both ways together: symmetric, with zeros on its diagonal.
    fixed : mapping of int to int
        Nodes of blocks that have one already; several may be at one node, others get one for themselves.

    Examples
    --------
    >>> line = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    >>> traffic = np.array([[0, 1, 9], [1, 0, 0], [9, 0, 0]], float)
    >>> place(line, traffic, {0: 3})
    ([3, 1, 2], 11.0)
    """
    count, nodes = len(traffic), len(distances)
    at = np.array([fixed.get(block, -1) for block in range(count)])
    while (at < 0).any():
        open_, done = np.flatnonzero(at < 0), np.flatnonzero(at >= 0)
        pull = traffic[open_][:, done].sum(axis=1) if len(done) else traffic[open_].sum(axis=1)
        block = open_[pull.argmax()]
        free = np.setdiff1d(np.arange(nodes), at)
        cost = distances[free][:, at[done]] @ traffic[block, done] if len(done) else distances[free].sum(axis=1)
        at[block] = free[cost.argmin()]
    moves = [block for block in range(count) if block not in fixed]
    for _ in range(MOST_ROUNDS):
        before = at.copy()
        for block in moves:
            _improve(at, block, moves, distances, traffic)
        if (at == before).all():
            break
    return at.tolist(), _cost(at, distances, traffic)


def _improve(
    at: npt.NDArray[np.int64],
    block: int,
    moves: list[int],
    distances: npt.NDArray[np.int64],
    traffic: npt.NDArray[np.float64],
) -> None:
    """Move a block to the free node, or to that of another one which takes its place, that is best."""
    free = np.setdiff1d(np.arange(len(distances)), at)
    best, least = at, _cost(at, distances, traffic) - 1e-9
    for other in [*free.tolist(), *(-1 - one for one in moves if one > block)]:
        tried = at.copy()
        if other >= 0:
            tried[block] = other
        else:
            tried[[block, -1 - other]] = at[[-1 - other, block]]
        if (cost := _cost(tried, distances, traffic)) < least:
            best, least = tried, cost
    at[:] = best


def _cost(at: npt.NDArray[np.int64], distances: npt.NDArray[np.int64], traffic: npt.NDArray[np.float64]) -> float:
    return float((traffic * distances[np.ix_(at, at)]).sum() / 2)
