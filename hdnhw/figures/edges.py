"""The edges of a picture: each bent as far as it takes to pass by the other nodes."""

import numpy as np
import numpy.typing as npt

from hdnhw.topology.graph import Network
from hdnhw.topology.places import RADIUS

COARSE = (0.02, 0.04, 0.06, 0.09, 0.12, 0.16, 0.2, 0.25, 0.3)
FINE = (0.01, 0.03, 0.05, 0.075, 0.105, 0.14, 0.18, 0.225)
BENDS = (0.0, *(sign * share for share in (*COARSE, *FINE) for sign in (1, -1)))
"""How far an edge may be bent inwards, as a share of its length: the first that meets no node, or else fewest."""

TRIES = 4096
"""Bends that are tried, times the nodes of the network; seven at least."""

CLEAR = RADIUS + 1
"""Distance that an edge keeps from a third node's middle."""

STEPS = 20
"""Points of a bent edge that are looked at."""

Points = npt.NDArray[np.float64]
Edge = tuple[int, int, str, float]
"""Two nodes, the port that joins them, and how far the edge is bent to the right of the way from one to the other."""


def edges_of(network: Network, places: Points) -> list[Edge]:
    """Return every edge once."""
    return [
        (node, other, port, _bend(places, node, other))
        for node in range(network.num_nodes)
        for port, other in network.neighbors(node).items()
        if other > node
    ]


def _bend(places: Points, one: int, other: int) -> float:
    """Return how far an edge is bent, as a share of its length, so that it meets as few nodes as can be.

    Of two bends as large, the one towards the middle of the network comes first.
    """
    start, end = places[one], places[other]
    reach = max(BENDS) * float(np.hypot(*(end - start))) + CLEAR
    near = ((places > np.minimum(start, end) - reach) & (places < np.maximum(start, end) + reach)).all(axis=1)
    near[[one, other]] = False
    thirds = places[near]
    met = []
    inwards = 1 if (places.mean(axis=0) - start) @ (control(start, end, 1) - (start + end) / 2) >= 0 else -1
    bends = [inwards * bend for bend in BENDS[: max(7, TRIES // len(places))]]
    for bend in bends:
        points = curve(start, end, bend)
        met.append(int((_distances(thirds, points) < CLEAR).sum()))
        if met[-1] == 0:
            break
    return bends[met.index(min(met))]


def control(start: Points, end: Points, bend: float) -> Points:
    """Return the control point of a bent edge, whose middle is half as far away from the straight line."""
    across = np.array([start[1] - end[1], end[0] - start[0]])
    return (start + end) / 2 + 2 * bend * across


def curve(start: Points, end: Points, bend: float, points: int = 0) -> Points:
    """Return points of an edge from one end to the other, so many or as many as its shape needs."""
    share = np.linspace(0, 1, points or (STEPS if bend else 2))[:, None]
    return (1 - share) ** 2 * start + 2 * share * (1 - share) * control(start, end, bend) + share**2 * end


def _distances(nodes: Points, points: Points) -> Points:
    """Return the distance of each node from a line through `points`."""
    start, step = points[:-1], np.diff(points, axis=0)
    offset = nodes[:, None] - start[None]
    share = np.clip((offset * step).sum(axis=2) / (step**2).sum(axis=1), 0, 1)
    return np.asarray(np.hypot(*np.moveaxis(offset - share[:, :, None] * step, 2, 0)).min(axis=1, initial=np.inf))
