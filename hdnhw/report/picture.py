"""A picture of a one-level dual-net as SVG: clusters of both classes side by side, one line an edge."""

from math import cos, pi, sin

from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.network import Network

__all__ = ["network_svg"]

CLUSTER = 130
"""Side of the square in which a cluster is drawn, pixels."""

MARGIN = 24
TILT = 0.3
"""Radians by which a cluster is turned, so that no edge runs through a third node."""
CLASS_COLORS = ("#1f6f8b", "#b5533c")


def _inner_place(network: DualNetwork, inner: int, size: int) -> tuple[float, float]:
    """Place a node of a cluster on a circle, in Gray-code order where it is a cube, so that most edges are short."""
    order = inner if any(factor.size != 2 for factor in network.factors) else _gray_rank(inner)
    angle = 2 * pi * (order + 0.5) / size - pi / 2 + TILT
    radius = CLUSTER * 0.34
    return CLUSTER / 2 + radius * cos(angle), CLUSTER / 2 + radius * sin(angle)


def _gray_rank(code: int) -> int:
    rank = 0
    while code:
        rank ^= code
        code >>= 1
    return rank


def network_svg(network: Network) -> str:
    """Draw a dual-net of one level; class 0 above, class 1 below, cluster ids from left to right.

    Raises
    ------
    ValueError
        If the network does not have exactly one level.
    """
    if not isinstance(network, DualNetwork) or len(network.levels) != 1:
        raise ValueError(f"picture must be of a dual-net with one level, not of {network.spec}")
    (level,) = network.levels
    size = 1
    for factor in network.factors:
        size *= factor.size
    clusters = network.num_nodes // (2 * size)
    gap = 2.2 * CLUSTER

    def place(node: int) -> tuple[float, float]:
        digits = network.decode(node)
        cluster = inner = 0
        for position in level.cluster:
            cluster = cluster * network.radices[position] + digits[position]
        for position in network.base_digits:
            inner = inner * network.radices[position] + digits[position]
        x, y = _inner_place(network, inner, size)
        return MARGIN + cluster * CLUSTER + x, MARGIN + digits[level.class_digit] * gap + y

    width, height = 2 * MARGIN + clusters * CLUSTER, 2 * MARGIN + gap + CLUSTER
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif">',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
    ]
    for node in range(network.num_nodes):
        for name, other in network.neighbors(node).items():
            if other > node:
                (x1, y1), (x2, y2) = place(node), place(other)
                stroke = 'stroke="#9aa5ab" stroke-width="0.8"' if name.startswith("cross") else 'stroke="#333"'
                parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {stroke}/>')
    for node in range(network.num_nodes):
        x, y = place(node)
        color = CLASS_COLORS[network.decode(node)[level.class_digit]]
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{color}"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 3:.1f}" font-size="8" text-anchor="middle" fill="white">{node}</text>')
    return "\n".join([*parts, "</svg>\n"])
