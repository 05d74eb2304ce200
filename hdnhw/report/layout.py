"""Where the nodes of a network stand in a picture: clusters in clusters, as its addresses are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import cos, pi, prod, sin

import numpy as np
import numpy.typing as npt

from hdnhw.spec import Factor
from hdnhw.topology.cubes import CubeCyclesNetwork, ReducedCubeNetwork
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.network import Network
from hdnhw.topology.petersen import PetersenNetwork
from hdnhw.topology.star import StarNetwork
from hdnhw.topology.swapped import SwappedNetwork

__all__ = ["RADIUS", "Block", "layout"]

RADIUS = 9
"""Of a node, pixels."""

CLUSTER = 130
"""Least side of the square in which a cluster stands, pixels."""

RING, SPACE, PITCH = 0.34 * CLUSTER, 46, 56
"""Least radius of a ring; least distance of its nodes along it; that of the nodes of a grid."""

CLASS_GAP = 1.2 * CLUSTER
"""Between the classes of a level, where its cross-edges are, at least; a third of their width."""

LEVEL_GAP = 0.5 * CLUSTER
"""Between dual-nets that are clusters of a higher level."""

TILT = 0.3
"""Radians by which a ring is turned, so that fewer edges run through a third node."""

ROW = 16
"""Clusters beside each other, at most."""

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
    """

    places: Places
    width: float
    height: float


def layout(network: Network) -> Block:
    """Return the block of a network, its nodes in the order of their numbers."""
    match network:
        case DualNetwork():
            return _dual(network)
        case SwappedNetwork():
            return _swapped(network)
        case CubeCyclesNetwork():
            return _turned(_nested(_grid((EDGE,) * network.spec.n), _ring(range(network.spec.n))), network)
        case ReducedCubeNetwork():
            return _nested(_grid((EDGE,) * 2**network.spec.m), _product((EDGE,) * network.spec.k))
        case StarNetwork():
            return _star(network)
        case PetersenNetwork():
            outer = _ring(range(5), 2 * RING, -pi / 5)
            center = np.array([outer.width, outer.height]) / 2
            places = np.concatenate([outer.places, center + (outer.places - center) / 2])
            return Block(places, outer.width, outer.height)
        case _:
            return _product((EDGE,) * len(network.radices))


def _product(factors: Sequence[Factor]) -> Block:
    """Return a ring for one factor, and for small cubes, in Gray-code order for short edges; else a grid."""
    nodes = prod(factor.size for factor in factors)
    if len(factors) <= 3 and all(factor.is_edge for factor in factors):
        return _ring([_gray_rank(node) for node in range(nodes)])
    if len(factors) == 1 and factors[0].kind != "path":
        return _ring(range(nodes))
    return _grid(factors)


def _gray_rank(code: int) -> int:
    rank = 0
    while code:
        rank ^= code
        code >>= 1
    return rank


def _ring(ranks: Sequence[int], least: float = RING, tilt: float = TILT) -> Block:
    """Place node i as the ranks[i]-th of a ring."""
    radius = max(least, SPACE * len(ranks) / (2 * pi))
    side = 2 * radius + CLUSTER - 2 * RING
    angles = [2 * pi * (rank + 0.5) / len(ranks) - pi / 2 + tilt for rank in ranks]
    places = np.array([(side / 2 + radius * cos(angle), side / 2 + radius * sin(angle)) for angle in angles])
    return Block(places, side, side)


def _grid(factors: Sequence[Factor]) -> Block:
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


def _nested(outer: Block, inner: Block) -> Block:
    """Place a copy of `inner` where each node of `outer` stands, as far apart as is needed."""
    gap = np.abs(outer.places[:, None] - outer.places[None])[np.triu_indices(len(outer.places), 1)]
    size = np.array([inner.width, inner.height])
    with np.errstate(divide="ignore"):
        scale = (size / gap).min(axis=1).max(initial=0)
    centers = (outer.places - outer.places.min(axis=0)) * scale
    places = (centers[:, None] + inner.places[None]).reshape(-1, 2)
    return Block(places, *(centers.max(axis=0) + size).tolist())


def _dual(network: DualNetwork) -> Block:
    """Return the clusters of each level in a row for each class, class 0 above."""
    block = _product(network.factors)
    for place, level in enumerate(network.levels):
        clusters = prod(network.radices[position] for position in level.cluster)
        block = _classes(block, clusters, gap=LEVEL_GAP if place else 0)
    digits = np.array([network.decode(node) for node in range(network.num_nodes)])
    index = reduce(lambda number, place: number * network.radices[place] + digits[:, place], range(digits.shape[1]), 0)
    return Block(block.places[index], block.width, block.height)


def _classes(block: Block, clusters: int, gap: float) -> Block:
    rows = -(-clusters // ROW)
    columns = -(-clusters // rows)
    width, height = block.width + gap, block.height + gap
    lower = rows * height + max(CLASS_GAP, columns * width / 3)
    corners = [
        (place % columns * width, place // columns * height + half * lower)
        for half in range(2)
        for place in range(clusters)
    ]
    places = (np.array(corners)[:, None] + block.places[None]).reshape(-1, 2)
    return Block(places, columns * width - gap, lower + rows * height - gap)


def _swapped(network: SwappedNetwork) -> Block:
    """Return nuclei that stand as the nodes of a nucleus do, level by level."""
    nucleus, top = layout(network.nucleus), network.spec.top
    block = nucleus
    for _ in range(network.spec.levels - 2):
        block = _nested(nucleus, block)
    return _nested(nucleus if top == network.nucleus.num_nodes else _ring(range(top)), block)


def _turned(block: Block, network: CubeCyclesNetwork) -> Block:
    """Turn each ring of cube-connected cycles to where its other edges are short."""
    size = network.spec.n
    rings = block.places.reshape(-1, size, 2)
    centers = rings.mean(axis=1, keepdims=True)
    steps = pi / 2 + np.arange(72) * pi / 36
    turned = np.empty_like(rings)
    for ring, center in enumerate(centers):
        others = [network.neighbors(ring * size + node)["cross"] // size for node in range(size)]
        choices = []
        for angle in steps:
            for sense in (1, -1):
                angles = angle + sense * 2 * pi * np.arange(size) / size
                choices.append(center + RING * np.stack([np.cos(angles), np.sin(angles)], axis=1))
        lengths = [np.hypot(*(choice - centers[others, 0]).T).sum() for choice in choices]
        turned[ring] = choices[int(np.argmin(lengths))]
    return Block(turned.reshape(-1, 2), block.width, block.height)


def _star(network: StarNetwork) -> Block:
    """Return star graphs of one symbol less in a ring, by the symbol in the last place; hexagons at last."""
    block = _ring([0, 1, 3, 2, 4, 5]) if network.spec.n > 2 else _ring(range(2))
    for size in range(4, network.spec.n + 1):
        block = _nested(_ring(range(size)), block)
    symbols = [network.symbols(network.decode(node)) for node in range(network.num_nodes)]
    return Block(block.places[[_place_of(own) for own in symbols]], block.width, block.height)


def _place_of(symbols: list[int]) -> int:
    """Return the number of a permutation among those sorted by their last symbols."""
    index = 0
    rest = sorted(symbols)
    for symbol in reversed(symbols):
        index = index * len(rest) + rest.index(symbol)
        rest.remove(symbol)
    return index
