"""Where the nodes of a network stand in a picture: clusters in clusters, as its addresses are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, prod, sin

import numpy as np
import numpy.typing as npt

from hdnhw.spec import Factor
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Network

RADIUS = 9
"""Of a node, pixels."""

CLUSTER = 130
"""Least side of the square in which a cluster stands, pixels."""

RING, SPACE, PITCH = 0.34 * CLUSTER, 46, 56
"""Least radius of a ring; least distance of its nodes along it; that of the nodes of a grid."""

TILT = 0.3
"""Radians by which a ring is turned, so that fewer edges run through a third node."""

Places = npt.NDArray[np.float64]
EDGE = Factor("complete", 2)


@dataclass(frozen=True)
class Block:
    """Nodes in a rectangle whose upper left corner is at 0, 0.

    Attributes
    ----------
    places : ndarray, shape (nodes, 2)
        Pixels to the right and downwards.
    width, height : float
    tilt : float
        Radians by which it was turned, see :func:`straight`.
    """

    places: Places
    width: float
    height: float
    tilt: float = 0.0


def layout(network: Network) -> Block:
    """Return the block of a network, its nodes in the order of their numbers, as its family places them.

    Raises
    ------
    SpecError
        If the family has no layout.
    """
    place = network.family.layout
    if place is None:
        raise SpecError(f"no picture is known for {network.spec}: its network family has no layout")
    block: Block = place(network)
    return block


def of_factors(factors: Sequence[Factor]) -> Block:
    """Return a ring for one factor, and for small cubes, in Gray-code order for short edges; else a grid."""
    nodes = prod(factor.size for factor in factors)
    if len(factors) <= 3 and all(factor.is_edge for factor in factors):
        return ring([_gray_rank(node) for node in range(nodes)])
    if len(factors) == 1 and factors[0].kind != "path":
        return ring(range(nodes))
    return grid(factors)


def _gray_rank(code: int) -> int:
    rank = 0
    while code:
        rank ^= code
        code >>= 1
    return rank


def ring(ranks: Sequence[int], least: float = RING, tilt: float = TILT) -> Block:
    """Place node i as the ranks[i]-th of a ring."""
    radius = max(least, SPACE * len(ranks) / (2 * pi))
    side = 2 * radius + CLUSTER - 2 * RING
    angles = [2 * pi * (rank + 0.5) / len(ranks) - pi / 2 + tilt for rank in ranks]
    places = np.array([(side / 2 + radius * cos(angle), side / 2 + radius * sin(angle)) for angle in angles])
    return Block(places, side, side, tilt)


def straight(block: Block) -> Block:
    """Return a block turned back by its tilt."""
    middle, (x, y) = np.array([block.width, block.height]) / 2, (cos(block.tilt), sin(block.tilt))
    return Block((block.places - middle) @ np.array([[x, -y], [y, x]]) + middle, block.width, block.height)


def grid(factors: Sequence[Factor]) -> Block:
    """Place the last factor to the right and the one before it downwards; grids of the others beside and below.

    A third factor of two nodes is drawn aslant, as the depth of a box.
    """
    box, places = np.zeros(2), np.zeros((1, 2))
    for place, factor in enumerate(reversed(factors)):
        axis = place % 2
        if place == 2 and factor.size == 2:
            step = np.array([0.42, -0.42]) * PITCH
        else:
            step = np.zeros(2)
            step[axis] = PITCH + box[axis] + (0.4 * PITCH if place > 1 else 0)
            step[1 - axis] = 0.3 * PITCH if place > 1 else 0
        shifts = np.arange(factor.size)[:, None] * step
        places = (shifts[:, None] + places[None]).reshape(-1, 2)
        places -= places.min(axis=0)
        box = places.max(axis=0)
    frame = CLUSTER / 2 - RING
    return Block(places + frame, *(box + 2 * frame).tolist())


def nested(outer: Block, inner: Block) -> Block:
    """Place a copy of `inner` where each node of `outer` stands, as far apart as is needed."""
    gap = np.abs(outer.places[:, None] - outer.places[None])[np.triu_indices(len(outer.places), 1)]
    size = np.array([inner.width, inner.height])
    with np.errstate(divide="ignore"):
        scale = (size / gap).min(axis=1).max(initial=0)
    centers = (outer.places - outer.places.min(axis=0)) * scale
    places = (centers[:, None] + inner.places[None]).reshape(-1, 2)
    return Block(places, *(centers.max(axis=0) + size).tolist())
