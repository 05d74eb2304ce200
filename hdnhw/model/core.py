"""A fabric and its terminals in the core: what :mod:`hdnhw.model.fabric` runs.

With several ranks the core of each has some of the nodes; what is told here is of all.
"""

import ctypes
import weakref
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, Pointer, array_of, optional, place_of
from hdnhw.core.rule import CoreRule
from hdnhw.core.traffic import CoreTraffic
from hdnhw.model.tally import Ledger
from hdnhw.support.ranks import ranks

Words = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]

_NUMBERS = (
    *("nodes", "ports", "vc_bits", "lane_bits", "first_vc", "address_bits", "rounds", "early"),
    *("length", "sample", "update", "late", "ejection_cycles", "offset", "injection", "gapless"),
    *("ejection_slots", "injection_buffers", "ejection_buffers", "gap", "stall", "hold"),
    *("scheme", "drawn", "counting", "threads", "part_nodes", "ranks", "rank"),
)
_ARRAYS = (
    *("address", "neighbors", "flips", "mirror", "room", "latency", "credit_latency", "interval"),
    *("dead", "odd", "several", "hangs", "drawn_nodes", "drawn_targets", "generators"),
)
_BYTES = ("dead", "odd", "several", "hangs")


class _Machine(ctypes.Structure):
    """``Machine`` of ``hdnhw/core/src/machine.hpp``."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in _NUMBERS),
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        *((name, ctypes.c_void_p) for name in ("rule", "exchange", "parcels")),
    )


_I32, _I64 = array_of(np.int32), array_of(np.int64)
_make = Function("fabric_make", Pointer, Pointer, result=Number)
_free = Function("fabric_free", Pointer)
_advance = Function(
    "fabric_advance", Pointer, _I64, _I32, _I32, _I32, optional(np.int32), Number, Number, Number, result=Number
)
_load = Function("fabric_load", Pointer, Pointer, Number, Pointer, result=Number)
_rows = Function("fabric_rows", Pointer, optional(np.int32), result=Number)
_found = Function("fabric_found", Pointer, optional(np.int32), result=Number)
_waiting = Function("fabric_waiting", Pointer, optional(np.int32), result=Number)
_farthest = Function("fabric_farthest", Pointer, _I32, result=Number)
_credits = Function("fabric_credits", Pointer, _I32, Number)
_set_credits = Function("fabric_set_credits", Pointer, _I32)
_put = Function("fabric_put", *(Pointer,), *(Number,) * 4)
_step = Function("fabric_step", *(Pointer,), *(Number,) * 3)
_numbers = Function("fabric_numbers", Pointer, _I64)
_sources = Function("fabric_sources", Pointer, _I64, _I32, _I32)
_sinks = Function("fabric_sinks", Pointer, _I64, _I64)
_counts = Function("fabric_counts", Pointer, _I64, _I64, _I64, _I64)

PACKET_WORDS = 7

DESTINATION, CREATED, HEAD_CYCLE, TAG, HOPS, TAIL_CYCLE, NODE = range(PACKET_WORDS)
"""Words of a packet that has left: packed destination, -1 if that is no node; cycle before which it was not offered;
cycle in which its head flit was accepted; a number that its sender gave it; channels that it has crossed; the cycle of
its tail, and where it came out."""

WHERE, AT, QUEUE, WAY, PLACE, BY = range(5, 11)
"""Words of a packet that has not left, behind its first five: head cycle -1 before it is accepted; where it is, and the
node; of a queue which, by which way it goes on, and how many are before it; and the place among the drawn nodes of the
one that it goes by, -1 less that if it has been there."""

WAITING, QUEUED, CROSSING, LEAVING, LOST = range(5)
"""Where: at its source, in a queue of a router, on a channel, in an ejection buffer, or dropped."""

ANYWHERE, AT_HOME, NOWHERE = range(3)
"""Where sinks may pause before a packet: everywhere, at its destination alone, or not at all."""


class Arrivals(NamedTuple):
    """Packets when their sources get them to send, sorted by cycle: packed destination, -1 if impossible, and tag."""

    cycle: Integers
    node: Words
    destination: Words
    tag: Words

    @classmethod
    def of(cls, cycle: Any, node: Any, destination: Any, tag: Any) -> "Arrivals":
        """Return packets of columns of any integers."""
        words = (np.ascontiguousarray(column, np.int32) for column in (node, destination, tag))
        return cls(np.ascontiguousarray(cycle, np.int64), *words)


class CoreMachine:
    """A machine for the core.

    Parameters
    ----------
    rule : CoreRule
    given
        The members of ``Machine``: numbers, and arrays or None; all but what is of the ranks.

    Attributes
    ----------
    nodes, ports, queues, vcs, counting : int
        Queues are those of a router, virtual channels those that the numbers of queues have room for.
    pointer : int
        Of ``Machine`` in the core, which lives as long as this object.
    """

    def __init__(self, rule: CoreRule, **given: Any) -> None:
        self._kept: list[Any] = [rule]
        own = ranks()
        given |= {"ranks": own.size, "rank": own.rank}
        machine = self._machine = _Machine(
            rule=rule.pointer, exchange=own.exchange, parcels=ctypes.addressof(own.parcels)
        )
        for name in _NUMBERS:
            setattr(machine, name, int(given[name]))
        for name in _ARRAYS:
            array = given[name]
            if array is not None:
                dtype = np.uint8 if name in _BYTES else np.uint32 if name == "generators" else np.int32
                array = np.ascontiguousarray(array, dtype)
                self._kept.append(array)
            setattr(machine, name, place_of(array))
        self.nodes, self.ports, self.queues = machine.nodes, machine.ports, (machine.ports + 1) << machine.vc_bits
        self.vcs, self.counting = 1 << machine.vc_bits, machine.counting
        self.pointer = ctypes.addressof(machine)


class CoreFabric:
    """A fabric in the core."""

    def __init__(self, machine: CoreMachine) -> None:
        self._kept: list[Any] = [machine]
        self._nodes, self._ports, self._queues = machine.nodes, machine.ports, machine.queues
        self._vcs, self._counting = machine.vcs, machine.counting
        self._ranks = ranks()
        self._told: dict[str, int] | None = None  # the numbers of all ranks, until it goes on
        made = ctypes.c_void_p()
        checked(_make(machine.pointer, ctypes.addressof(made)))
        self._pointer = made.value
        weakref.finalize(self, _free, made.value)

    def load(self, traffic: CoreTraffic, first: int, ledger: Ledger) -> None:
        """Let sources get messages, whose cycle 0 is `first`, and enter them in a ledger: only others are told then."""
        self._kept += [traffic, ledger]
        checked(_load(self._pointer, traffic.pointer, first, ledger.pointer))

    def advance(self, arrivals: Arrivals, pace: Words | None, packets: int, limit: int) -> Words:
        count = len(arrivals.cycle)
        code = _advance(self._pointer, *arrivals, pace, count, packets, limit)
        if self._ranks.error is not None:
            raise self._ranks.error
        checked(code)
        self._told = None
        columns = np.empty((PACKET_WORDS, _rows(self._pointer, None)), np.int32)
        _rows(self._pointer, columns)
        return self._of_all(columns.T)

    def found(self) -> Words:
        rows = np.empty((_found(self._pointer, None), 11), np.int32)
        _found(self._pointer, rows)
        return self._of_all(rows)

    def waiting(self) -> Words:
        """Return the rows of :meth:`found` of the heads of queues that wait for a packet buffer of another router."""
        if self._ranks.size > 1:  # none knows of the credits that come from others
            return waiting_of(self.found(), self.credits(coming=True), self._ports * self._vcs)
        rows = np.empty((_waiting(self._pointer, None), 11), np.int32)
        _waiting(self._pointer, rows)
        return rows

    def farthest(self) -> Words | None:
        """Return the first row of :meth:`found` of those that have crossed most channels; None if there is none."""
        row = np.empty((1, 11), np.int32)
        rows = self._of_all(row[: _farthest(self._pointer, row)])
        if not len(rows):
            return None
        first: Words = rows[np.lexsort((rows[:, WHERE] == CROSSING, -rows[:, HOPS]))[0]]
        return first

    def _of_all(self, rows: Words) -> Words:
        gathered: Words = self._ranks.gather(rows)
        return gathered

    def credits(self, *, coming: bool = False) -> Words:
        """Return the packet buffers that may be sent to, axes (node, way); with those of which news is `coming`."""
        free = np.zeros((self._nodes, self._queues), np.int32)
        _credits(self._pointer, free, coming)
        self._sum(free)
        return free

    def set_credits(self, credits: Words) -> None:
        """Let routers have other :meth:`credits`."""
        _set_credits(self._pointer, np.ascontiguousarray(credits, np.int32))

    def put(self, node: int, queue: int, way: int, tag: int) -> None:
        """Put a packet that goes out by a way into a queue of a router, for the next :meth:`step`."""
        _put(self._pointer, node, queue, way, tag)

    def step(self, node: int, slot: int, *, starts_epoch: bool) -> None:
        """Let a router by itself allocate once: what it sends is gone, and no credit comes back."""
        _step(self._pointer, node, slot, starts_epoch)

    def numbers(self) -> dict[str, int]:
        if self._told is not None:
            return self._told
        words = np.empty(8, np.int64)
        _numbers(self._pointer, words)
        if self._ranks.size > 1:
            of_all = self._ranks.table(words)
            words = np.concatenate([of_all.max(axis=0)[:3], of_all.sum(axis=0)[3:]])
        names = ("cycle", "slot", "ended", "sent", "lost", "left", "offered", "holds")
        told = dict(zip(names, words.tolist(), strict=True))
        self._told = told if self._ranks.size > 1 else None
        return told

    def sources(self) -> tuple[Integers, Words, Words]:
        dropped, sending, position = np.zeros(self._nodes, np.int64), *np.zeros((2, self._nodes), np.int32)
        _sources(self._pointer, dropped, sending, position)
        self._sum(dropped, sending, position)
        return dropped, sending, position

    def sinks(self) -> tuple[Integers, Integers]:
        tag, taken = np.zeros((2, self._nodes), np.int64)
        _sinks(self._pointer, tag, taken)
        self._sum(tag, taken)
        return tag, taken

    def counts(self) -> tuple[Integers, Integers, Integers, Integers]:
        nodes = self._nodes * bool(self._counting)
        sent = np.zeros((nodes, self._ports + 2, self._vcs), np.int64)
        stalled = np.zeros((nodes, self._ports + 2), np.int64)
        held, most = np.zeros((2, nodes, self._queues), np.int64)
        _counts(self._pointer, sent, stalled, held, most)
        self._sum(sent, stalled, held, most)
        return sent, stalled, held, most

    def _sum(self, *arrays: Any) -> None:
        """Let arrays, in which each rank has what is of its nodes, and zeros, have that of all."""
        for array in arrays:
            self._ranks.total(array)


def waiting_of(found: Words, free: Words, local: int) -> Words:
    """Return what :meth:`CoreFabric.waiting` is of packets found, buffers free and coming, and the way of ejection."""
    heads = found[(found[:, WHERE] == QUEUED) & (found[:, PLACE] == 0) & (found[:, WAY] < local)]
    waiting: Words = heads[free[heads[:, AT], heads[:, WAY]] == 0]
    return waiting


def checked(code: int) -> None:
    """Raise an error unless a function of the core has done its work."""
    if code == 1:
        raise MemoryError("a simulation needs more memory than there is")
    if code:
        raise RuntimeError("the core has failed")
