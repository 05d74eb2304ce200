"""What stands in the nodes of a picture, and how large a node is for it."""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

from hdnhw.topology.graph import Network

LABELS = ("number", "address")

FONT, LINE = 10, 11
"""Size of the letters in a node, and distance of its lines, pixels."""

LEAST = 10
"""Least radius of a node, pixels."""

FAMILY = "Arial, 'Liberation Sans', Helvetica, sans-serif"
"""Fonts of one width."""

WIDE, NARROW = 0.57, 0.3
"""Widths of a digit or letter, and of a dot, slash or blank, as shares of the size of the letters; at most."""

HALF, PAD = 0.375 * FONT, 0.8
"""Half the height of a digit; least space beside a line."""

LONG = 7
"""Letters of a label that may stand in two lines without a slash in it."""

Lines = tuple[str, ...]


def label_of(network: Network, node: int, how: str) -> str:
    """Return the number of a node, or its address in the digits of its paper.

    Parameters
    ----------
    network : Network
    node : int
    how : str
        One of :data:`LABELS`. An address is that of :meth:`hdnhw.topology.graph.Network.paper_address`: binary for a
        dual-cube, a digit a nucleus for an HSN whose nucleus has at most ten nodes.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> [label_of(build(text), 9, "address") for text in ("dualcube(3)", "hsn(3, cube(2))", "rdn(cube(2), 1)")]
    ['01001', '021', '0.2/0.1']
    """
    return str(node) if how == "number" else network.paper_address(node)


def text_width(text: str, size: float) -> float:
    """Return the most pixels that a line of text takes."""
    return size * sum(NARROW if letter in "./ " else WIDE for letter in text)


def most_lines(label: str) -> int:
    """Return in how many lines a label may stand."""
    return max(1 + label.count("/"), 2 if len(label) >= LONG else 1)


def in_lines(label: str, count: int) -> Lines:
    """Return a label in so many lines, or fewer, the longest as short as can be.

    It is broken behind slashes, or dots if it has no slashes; without either, between any two digits.
    """
    mark = next((mark for mark in "/." if mark in label), "")
    parts = re.findall(f"[^{mark}]+{re.escape(mark)}?" if mark else ".", label)
    while len(parts) > count:
        joined = [len(one) + len(other) for one, other in pairwise(parts)]
        place = joined.index(min(joined))
        parts[place : place + 2] = ["".join(parts[place : place + 2])]
    return tuple(parts)


def radii(texts: Sequence[Lines]) -> tuple[float, float]:
    """Return the half axes of the ellipse, one for all nodes, that each text has room in; a circle if it can be."""
    most = max(map(len, texts))
    down = LEAST if most == 1 else most * LINE / 2 + 4.5
    across = float(LEAST)
    for lines in texts:
        for place, line in enumerate(lines):
            edge = abs(place - (len(lines) - 1) / 2) * LINE + HALF
            across = max(across, (text_width(line, FONT) / 2 + PAD) / sqrt(1 - (edge / down) ** 2))
    return across, down
