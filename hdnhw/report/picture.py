"""A picture of a network as SVG: one line an edge, bent where a straight one would run through a node."""

import re

import numpy as np
import numpy.typing as npt

from hdnhw.report.layout import RADIUS, layout
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.network import Network

__all__ = ["Edge", "curve", "edges_of", "network_svg"]

MARGIN = 24

CLASS_COLORS = ("#1f6f8b", "#b5533c", "#5d7f35", "#80558c")
"""Of nodes, by their classes."""

INNER = 'stroke="#333"'
OUTER = ("#9aa5ab", "#c9a25f", "#86a873")
"""Edges in a cluster; colours of those between clusters, level by level."""

BENDS = (0.0, *(sign * share for share in (0.02, 0.04, 0.06, 0.09, 0.12, 0.16, 0.2, 0.25, 0.3) for sign in (1, -1)))
"""How far an edge may be bent, as a share of its length: the first that meets no node, or else that meets fewest."""

TRIES = 4096
"""Bends that are tried, times the nodes of the network; seven at least."""

CLEAR = RADIUS + 1
"""Distance that an edge keeps from a third node's middle."""

STEPS = 20
"""Points of a bent edge that are looked at."""

Points = npt.NDArray[np.float64]
Edge = tuple[int, int, str, float]
"""Two nodes, the port that joins them, and how far the edge is bent."""


def network_svg(network: Network) -> str:
    """Draw a network.

    Dual-nets have class 0 of each level above and class 1 below, clusters in rows; nuclei of swapped networks stand as
    the nodes of a nucleus do; products of several factors are grids. A node bears its number.
    """
    block = layout(network)
    places = block.places + MARGIN
    edges = edges_of(network, places)
    drawn = np.concatenate([curve(places[one], places[other], bend) for one, other, _, bend in edges])
    left, top = np.minimum(0, np.floor(drawn.min(axis=0)) - RADIUS)
    size = np.maximum(np.array([block.width, block.height]) + 2 * MARGIN, np.ceil(drawn.max(axis=0)) + RADIUS)
    width, height = size - (left, top)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" '
        'font-family="sans-serif">',
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" fill="white"/>',
    ]
    parts += [_edge(places[one], places[other], port, bend) for one, other, port, bend in edges]
    for node, (x, y) in enumerate(places):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="{_color(network, node)}"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 3:.1f}" font-size="8" text-anchor="middle" fill="white">{node}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _edge(start: Points, end: Points, port: str, bend: float) -> str:
    (x1, y1), (x2, y2) = start, end
    if not bend:
        return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {_stroke(port)}/>'
    x, y = _control(start, end, bend)
    return f'<path d="M{x1:.1f} {y1:.1f}Q{x:.1f} {y:.1f} {x2:.1f} {y2:.1f}" fill="none" {_stroke(port)}/>'


def edges_of(network: Network, places: Points) -> list[Edge]:
    """Return every edge once, those between clusters first, so that the others are drawn above them."""
    found = [
        (node, other, port, _bend(places, node, other))
        for node in range(network.num_nodes)
        for port, other in network.neighbors(node).items()
        if other > node
    ]
    return sorted(found, key=lambda edge: _stroke(edge[2]) == INNER)


def _stroke(port: str) -> str:
    """Return how the edges of a port are drawn; ports between clusters have names with a level or none."""
    match = re.fullmatch(r"(cross|swap|complement)(\d*)", port)
    if match is None:
        return INNER
    kind, level = match.groups()
    place = 1 if kind == "complement" else int(level or 1) - (kind == "swap") - 1
    return f'stroke="{OUTER[place % len(OUTER)]}" stroke-width="0.8"'


def _color(network: Network, node: int) -> str:
    """Return the colour of a node, by the classes of the lowest two levels."""
    if not isinstance(network, DualNetwork):
        return CLASS_COLORS[0]
    digits = network.decode(node)
    classes = [digits[level.class_digit] for level in network.levels[:2]]
    return CLASS_COLORS[sum(bit << place for place, bit in enumerate(classes))]


def _bend(places: Points, one: int, other: int) -> float:
    """Return how far an edge is bent, as a share of its length, so that it meets as few nodes as can be."""
    start, end = places[one], places[other]
    reach = max(BENDS) * float(np.hypot(*(end - start))) + CLEAR
    near = ((places > np.minimum(start, end) - reach) & (places < np.maximum(start, end) + reach)).all(axis=1)
    near[[one, other]] = False
    thirds = places[near]
    met = []
    for bend in BENDS[: max(7, TRIES // len(places))]:
        points = curve(start, end, bend)
        met.append(int((_distances(thirds, points) < CLEAR).sum()))
        if met[-1] == 0:
            break
    return BENDS[met.index(min(met))]


def _control(start: Points, end: Points, bend: float) -> Points:
    """Return the control point of a bent edge, whose middle is half as far away from the straight line."""
    across = np.array([start[1] - end[1], end[0] - start[0]])
    return (start + end) / 2 + 2 * bend * across


def curve(start: Points, end: Points, bend: float) -> Points:
    """Return points of an edge from one end to the other."""
    share = np.linspace(0, 1, STEPS if bend else 2)[:, None]
    return (1 - share) ** 2 * start + 2 * share * (1 - share) * _control(start, end, bend) + share**2 * end


def _distances(nodes: Points, points: Points) -> Points:
    """Return the distance of each node from a line through `points`."""
    start, step = points[:-1], np.diff(points, axis=0)
    offset = nodes[:, None] - start[None]
    share = np.clip((offset * step).sum(axis=2) / (step**2).sum(axis=1), 0, 1)
    return np.asarray(np.hypot(*np.moveaxis(offset - share[:, :, None] * step, 2, 0)).min(axis=1, initial=np.inf))
