"""Frames around the clusters of a network, as its addresses make them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Frame(NamedTuple):
    """A rectangle around a cluster.

    Attributes
    ----------
    depth : int
        Parts of an address that its nodes have in common.
    label : str
        These parts.
    box : ndarray, shape (4,)
        Left, top, right and bottom.
    nodes : int
    """

    depth: int
    label: str
    box: npt.NDArray[np.float64]
    nodes: int


def frames_of(addresses: Sequence[str], places: npt.NDArray[np.float64], depth: int, pad: float) -> list[Frame]:
    """Return a frame around the nodes whose addresses begin with the same parts, `pad` away from their middles."""
    members: dict[str, list[int]] = {}
    for node, address in enumerate(addresses):
        members.setdefault("/".join(address.split("/")[:depth]), []).append(node)
    return [
        Frame(
            depth, label, np.array([*(places[nodes].min(axis=0) - pad), *(places[nodes].max(axis=0) + pad)]), len(nodes)
        )
        for label, nodes in members.items()
    ]


def apart(frames: Sequence[Frame]) -> bool:
    """Return whether no two frames meet."""
    boxes = np.array([frame.box for frame in frames])
    left, top, right, bottom = boxes.T
    meet = (left[:, None] < right) & (left < right[:, None]) & (top[:, None] < bottom) & (top < bottom[:, None])
    return int(meet.sum()) == len(frames)
