"""What is counted of the messages of a load, and of their packets, in the core; with several ranks, in all of them."""

import weakref
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, Pointer, array_of, optional
from hdnhw.model.flows import Flows
from hdnhw.support.ranks import ranks
from hdnhw.traffic.load import Messages

Integers = npt.NDArray[np.int64]

_I64 = array_of(np.int64)
_make = Function("ledger_make", Number, Number, result=Pointer)
_free = Function("ledger_free", Pointer)
_add = Function("ledger_add", Pointer, *(Number,) * 3, optional(np.int64), Number, result=Number)
_stop = Function("ledger_stop", Pointer, Number, Number)
_ended = Function("ledger_ended", Pointer, _I64)
_read = Function("ledger_read", Pointer, Number, _I64, _I64)
_taken = Function("ledger_taken", Pointer, Number, _I64)
_histogram = Function("ledger_histogram", Pointer, Number, Number, optional(np.int64), result=Number)
_enter = Function(
    "ledger_enter",
    *(Pointer, Number, *(_I64,) * 5, Number, array_of(np.int32), array_of(np.bool_), Number),
    result=Number,
)

NUMBERS, SERIES = 10, 5


@dataclass(frozen=True, eq=False)
class Told:
    """What there is of a tally.

    Attributes
    ----------
    created, packets, packet_squares, flits : int
        Messages created in its interval, their packets, the squares of these, and their flits.
    delivered, stranded : int
        How many of them have left, at their destination and elsewhere.
    waited : int
        Sum of the latencies of the delivered, from creation to the last tail.
    hops, hop_squares : int
        Channels that their last packets have crossed, and the squares of these.
    digest : int
        Alike where the messages created are: their cycles from the first of the interval, sources and destinations.
    offered, arrived, elsewhere, messages, latencies : ndarray of int64, shape (parts,)
        Of each equal part of the interval: packets created, taken at their destination and elsewhere; messages that
        were created in it and are delivered, and the sum of their latencies.
    """

    created: int
    packets: int
    packet_squares: int
    flits: int
    delivered: int
    stranded: int
    waited: int
    hops: int
    hop_squares: int
    digest: int
    offered: Integers
    arrived: Integers
    elsewhere: Integers
    messages: Integers
    latencies: Integers

    @property
    def left(self) -> int:
        """Messages of the interval that have left, wherever."""
        return self.delivered + self.stranded


class Ledger:
    """Where a fabric enters the messages of a load.

    Parameters
    ----------
    nodes, threads : int
        Of the fabric.

    Attributes
    ----------
    pointer : int
        Of it in the core.
    """

    def __init__(self, nodes: int, threads: int) -> None:
        self._nodes, self._kept, self.pointer = nodes, list[Any](), _made(_make(nodes, threads))
        weakref.finalize(self, _free, self.pointer)

    def tally(self, start: int, stop: int, parts: int, flows: Flows | None = None) -> "Tally":
        """Count the messages created from cycle `start` on, before `stop`; by flows, too, if there are some.

        Cycles before the next one have been counted only as far as packets are taken behind it that have left.
        """
        counts = None if flows is None else flows.counts
        self._kept.append(counts)
        number = _add(self.pointer, start, stop, parts, counts, 0 if flows is None else flows.nodes)
        return Tally(self, _counted(number), parts, self._nodes, counts)

    def ended(self) -> tuple[int, int]:
        """Return how many messages have arrived since the beginning, and the sum of their latencies."""
        found = np.empty(2, np.int64)
        _ended(self.pointer, found)
        messages, waited = ranks().total(found).tolist()
        return messages, waited

    def enter(self, limit: int, messages: Messages, left: npt.NDArray[np.int32], home: npt.NDArray[np.bool_]) -> None:
        """Enter messages that were created, and packets that left up to cycle `limit`, `home` or elsewhere."""
        columns = messages.cycle, messages.source, messages.destination, messages.packets, messages.flits
        rows = np.ascontiguousarray(left)
        if _enter(self.pointer, limit, *columns, len(messages.cycle), rows, home, len(rows)):
            raise MemoryError


class Tally:
    """Counts of an interval, see :meth:`Ledger.tally`."""

    def __init__(self, ledger: Ledger, number: int, parts: int, nodes: int, flows: Integers | None) -> None:
        self._ledger, self._number, self._parts, self._nodes, self._flows = ledger, number, parts, nodes, flows

    def stop(self, cycle: int) -> None:
        """End the interval before a cycle, as if it had been said in time."""
        _stop(self._ledger.pointer, self._number, cycle)

    def read(self) -> Told:
        """Return what has been counted."""
        numbers, series = np.split(np.zeros(NUMBERS + SERIES * self._parts, np.int64), [NUMBERS])
        _read(self._ledger.pointer, self._number, numbers, series)
        ranks().total(numbers.base)
        names = [field.name for field in fields(Told)]
        return Told(**dict(zip(names, (*numbers.tolist(), *series.reshape(SERIES, -1)), strict=True)))

    def taken(self) -> Integers:
        """Return how many packets of each source were taken at their destination in the interval, shape (nodes,)."""
        found = np.zeros(self._nodes, np.int64)
        _taken(self._ledger.pointer, self._number, found)
        ranks().total(found)
        return found

    def end(self) -> None:
        """Let there be in the flows, if there are some, what all ranks have counted, as nothing is any more."""
        if self._flows is not None:
            ranks().total(self._flows[:2])
            ranks().most(self._flows[2])

    def histogram(self, *, from_head: bool = False) -> Integers:
        """Return at index c how many delivered took c cycles from creation, or from the acceptance of the head."""
        length = np.array([_histogram(self._ledger.pointer, self._number, from_head, None)])
        found = np.zeros(max(1, *ranks().most(length).tolist()), np.int64)
        _histogram(self._ledger.pointer, self._number, from_head, found)
        ranks().total(found)
        return found


def _made(pointer: int | None) -> int:
    if pointer is None:
        raise MemoryError
    return pointer


def _counted(number: int) -> int:
    if number < 0:
        raise MemoryError
    return number
