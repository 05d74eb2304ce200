"""Broadcast among dead nodes and channels: what is alive and can be reached gets the message.

In each step as many nodes as possible that lack the message get it from neighbors that have it, one each: a maximum
matching. Of those that have it, nodes with the most hops still ahead of them choose first.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hdnhw.topology.faults import Faults

Table = npt.NDArray[np.int32]


@dataclass(frozen=True)
class LiveBroadcast:
    """A broadcast, step by step.

    Attributes
    ----------
    steps : tuple of tuples of (int, int)
        In each step the senders and the nodes that they send to.
    live : int
        Nodes that are not dead.
    eccentricity : int
        Most hops from the root to a live node, over live channels.
    """

    steps: tuple[tuple[tuple[int, int], ...], ...]
    live: int
    eccentricity: int

    @property
    def reached(self) -> int:
        """Nodes that have the message in the end, the root among them."""
        return 1 + sum(map(len, self.steps))

    @property
    def lower_bound(self) -> int:
        """Steps that any broadcast to these nodes takes: the farthest one is so far, and holders can but double."""
        return max(self.eccentricity, (self.reached - 1).bit_length())


def live_broadcast(table: Table, faults: Faults, root: int) -> LiveBroadcast:
    """Return a broadcast from a live node; a node sends to one neighbor in a step.

    Parameters
    ----------
    table : ndarray of int32, shape (nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it.
    faults : Faults
    root : int
        A live node.
    """
    dead = faults.all_channels(table)
    beside = [
        [int(other) for other, is_dead in zip(row, lost, strict=True) if other >= 0 and not is_dead]
        for row, lost in zip(table, dead, strict=True)
    ]
    hops, below = _search(beside, root)
    holders, steps = {root}, []
    active = [root]
    while len(holders) < len(hops):
        lacking = {node: [other for other in beside[node] if other not in holders] for node in active}
        offers = {node: others for node, others in lacking.items() if others}
        matched = _matching(offers, below)
        steps.append(tuple(sorted((sender, node) for node, sender in matched.items())))
        holders |= matched.keys()
        active = [*offers, *matched]
    return LiveBroadcast(tuple(steps), int((~faults.nodes).sum()), max(hops.values()))


def _search(beside: list[list[int]], root: int) -> tuple[dict[int, int], dict[int, int]]:
    """Return the hops to each node that is reached, and how many more there are from it on shortest routes."""
    hops, order = {root: 0}, [root]
    for node in order:
        for other in beside[node]:
            if other not in hops:
                hops[other] = hops[node] + 1
                order.append(other)
    below = dict.fromkeys(order, 0)
    for node in reversed(order):
        ahead = [below[other] + 1 for other in beside[node] if hops[other] == hops[node] + 1]
        below[node] = max(ahead, default=0)
    return hops, below


def _matching(offers: dict[int, list[int]], below: dict[int, int]) -> dict[int, int]:
    """Return who sends to each node, for as many nodes as possible (Kuhn), those with the most hops ahead first."""
    sender: dict[int, int] = {}

    def assign(node: int, seen: set[int]) -> bool:
        for other in sorted(offers[node], key=lambda other: -below[other]):
            if other not in seen:
                seen.add(other)
                if other not in sender or assign(sender[other], seen):
                    sender[other] = node
                    return True
        return False

    for node in sorted(offers, key=lambda node: -below[node]):
        assign(node, set())
    return sender
