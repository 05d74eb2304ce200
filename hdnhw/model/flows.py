"""Latency by flow: of the messages from one node to another, how many there were and how long they took."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from hdnhw.support.columns import check_columns, write_columns
from hdnhw.support.errors import SpecError

MOST_FLOW_NODES = 1 << 11
"""Of a network whose flows are told apart: there are as many as pairs of nodes."""

Integers = npt.NDArray[np.int64]


class Flows:
    """Latencies of messages by source and destination, in cycles from creation to the last tail.

    Parameters
    ----------
    nodes : int
        With a terminal.

    Attributes
    ----------
    nodes : int
    counts : ndarray of int64, axes (3, flow)
        Of source s and destination d at ``s * nodes + d``: how many messages, the sum of their latencies, the longest.

    Raises
    ------
    SpecError
        If there are too many nodes.
    """

    def __init__(self, nodes: int) -> None:
        if nodes > MOST_FLOW_NODES:
            raise SpecError(f"flows are told apart on at most {MOST_FLOW_NODES} nodes, not {nodes}")
        self.nodes = nodes
        self.clear()

    def clear(self) -> None:
        """Forget all messages."""
        self.counts = np.zeros((3, self.nodes * self.nodes), np.int64)


def check_flows(path: Path) -> None:
    """Raise SpecError unless :func:`write_flows` can write a file of this name."""
    check_columns("flows", path)


def write_flows(flows: Flows, path: Path) -> None:
    """Write a row for each pair of nodes that had messages, in the order of sources and then of destinations.

    Columns are ``source``, ``destination``, ``messages``, and of their latencies, in cycles, ``mean`` and ``max``.
    """
    flow = np.flatnonzero(flows.counts[0])
    messages, total, most = flows.counts[:, flow]
    columns = {
        "source": flow // flows.nodes,
        "destination": flow % flows.nodes,
        "messages": messages,
        "mean": total / messages,
        "max": most,
    }
    write_columns(columns, path)
