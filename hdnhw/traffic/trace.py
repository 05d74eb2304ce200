"""Recorded traffic: which messages are sent, when, and which of them wait for others to arrive."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.support.errors import SpecError
from hdnhw.traffic.lengths import MOST_FLITS

Integers = npt.NDArray[np.int64]

COLUMNS = ("cycle", "source", "destination", "flits")

LAST_CYCLE = (1 << 31) - 1
"""Of a trace: packets in the model are rows of 32-bit words."""


@dataclass(frozen=True, eq=False)
class Trace:
    """Messages; a source sends those of one cycle in this order.

    Attributes
    ----------
    form : str
        Of the file: ``text``, ``parquet`` or ``netrace``; or ``exchange`` or ``requests``.
    cycle : ndarray of int64, shape (messages,)
        Cycle before which the message is not offered.
    source, destination : ndarray of int64, shape (messages,)
        Nodes.
    flits : ndarray of int64, shape (messages,)
    first : ndarray of int64, shape (messages + 1,)
        For message m wait ``dependent[first[m]]`` to ``dependent[first[m + 1] - 1]``, all of them greater than m.
    dependent : ndarray of int64, shape (dependencies,)
        Messages that are not offered before others have arrived.
    whole : bool
        Whether these are all messages of the file.
    delay : ndarray of int64, shape (messages,), or None
        Cycles that pass before a message is offered when the last one that it waits for has arrived; None for none.
    """

    form: str
    cycle: Integers
    source: Integers
    destination: Integers
    flits: Integers
    first: Integers
    dependent: Integers
    whole: bool = True
    delay: Integers | None = None

    def __len__(self) -> int:
        return len(self.cycle)


def make_trace(
    form: str,
    columns: Mapping[str, npt.NDArray[Any]],
    *,
    nodes: int,
    place: Callable[[int], str],
    dependencies: tuple[Integers, Integers] | None = None,
    whole: bool = True,
) -> Trace:
    """Make a trace of the columns of a file.

    Parameters
    ----------
    form : str
    columns : mapping
        Arrays of any integer type: cycle, source, destination and flits.
    nodes : int
        Of the network.
    place : callable
        Says where a message stands, for errors.
    dependencies : tuple of ndarray of int64, optional
        The members ``first`` and ``dependent``; if omitted, no message waits for another.
    whole : bool

    Raises
    ------
    SpecError
        If a value is out of range.
    """
    node, ranges = (0, nodes - 1), {"cycle": (0, LAST_CYCLE), "flits": (1, MOST_FLITS)}
    for name in COLUMNS:
        least, most = ranges.get(name, node)
        wrong = np.flatnonzero((columns[name] < least) | (columns[name] > most))
        if len(wrong):
            what = f"{name} must be" if name in ranges else f"{name} must be a node of this network,"
            raise SpecError(f"{place(int(wrong[0]))}: {what} {least} to {most}, not {columns[name][wrong[0]]}")
    cycle, source, destination, flits = (columns[name].astype(np.int64) for name in COLUMNS)
    first, dependent = dependencies or (np.zeros(len(cycle) + 1, np.int64), np.zeros(0, np.int64))
    return Trace(form, cycle, source, destination, flits, first, dependent, whole)
