"""That no node is two operations ahead of one that it sends to: what a node has heard of when it ends an operation.

A packet says that its sender has begun the operation, and all nodes of which the sender had heard by then. A node that
ends an operation only after all nodes to which it may ever send have begun it sends nothing in operation n + 2 that
comes before operation n has ended there: it has ended n + 1, so the other has begun that. Of the operations of several
engines at a node this holds for those of each by themselves: what stands between two of them only takes time.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.executor import ScheduleError

Integers = npt.NDArray[np.signedinteger[Any]]
Pairs = tuple[Integers, Integers]
"""Who sends, and to whom."""

Heard = npt.NDArray[np.uint8]
"""Of which nodes each node knows that they have begun an operation: shape (nodes, nodes // 8 + 1), eight to a byte."""


def heard_at_first(nodes: int) -> Heard:
    """Return what nodes know when they begin an operation: each of itself alone."""
    every = np.arange(nodes)
    heard = np.zeros((nodes, nodes // 8 + 1), np.uint8)
    heard[every, every >> 3] = 1 << (every & 7)
    return heard


def check_heard(heard: Mapping[str, Heard], pairs: Iterable[Pairs]) -> None:
    """Check that a node that ends an operation knows of all nodes that it sends to in any that they have begun it.

    Parameters
    ----------
    heard : dict of str to Heard
        By the name of the operation, at its end.
    pairs : iterable of Pairs
        Of all operations.

    Raises
    ------
    ScheduleError
        If that is not so.
    """
    senders, receivers = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    for operation, known in heard.items():
        if not (known[senders, receivers >> 3] >> (receivers & 7) & 1).all():
            raise ScheduleError(f"{operation}: a node may end before one that it sends to has begun")


def check_lead(operations: Mapping[str, Sequence[Pairs]], nodes: int) -> None:
    """Check that whatever comes first, a node ends an operation after all nodes that it sends to in any have begun it.

    Parameters
    ----------
    operations : dict of str to sequence of Pairs
        By the name of the operation, for each step who sends a packet to whom.
    nodes : int

    Raises
    ------
    ScheduleError
        If that is not so.
    """
    heard = {operation: _heard_after(steps, nodes) for operation, steps in operations.items()}
    check_heard(heard, chain.from_iterable(operations.values()))


def _heard_after(steps: Sequence[Pairs], nodes: int) -> Heard:
    """Return what nodes know after some steps."""
    heard = heard_at_first(nodes)
    for senders, receivers in steps:
        np.bitwise_or.at(heard, receivers, heard[senders])
    return heard
