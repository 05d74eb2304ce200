"""Traffic in the core: the messages of nodes, by random numbers that are looked up."""

import ctypes
import weakref
from enum import IntEnum
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, Pointer, array_of, place_of

Integers = npt.NDArray[np.int64]


class Target(IntEnum):
    """How destinations are chosen, as ``hdnhw/core/src/traffic.hpp`` has them."""

    TABLE, BLOCK, HOTSPOT, NEXT_GROUP, OTHER_CLASS, MATRIX = range(6)


_NUMBERS = ("nodes", "senders", "lengths", "target", "size", "hots", "phases", "key")
_REALS = ("share", "peak", "on", "burst", "silence")
_ARRAYS = {
    "sender": np.int32,
    "table": np.int32,
    "place": np.int32,
    "at": np.int32,
    "flits": np.int64,
    "up_to": np.float64,
    "hot": np.int32,
    "until": np.int64,
    "row": np.int64,
    "column": np.int32,
    "length": np.int64,
    "within": np.float64,
}


class _Traffic(ctypes.Structure):
    """``Traffic`` of ``hdnhw/core/src/traffic.hpp``."""

    _fields_ = (
        *((name, ctypes.c_uint64 if name == "key" else ctypes.c_int64) for name in _NUMBERS),
        *((name, ctypes.c_double) for name in _REALS),
        *((name, ctypes.c_void_p) for name in _ARRAYS),
    )


_I64 = array_of(np.int64)
_make = Function("traffic_make", Pointer, result=Pointer)
_free = Function("traffic_free", Pointer)
_draw = Function("traffic_draw", Pointer, Number, result=Number)
_take = Function("traffic_take", Pointer, Number, _I64)
_destinations = Function("traffic_destinations", Pointer, _I64, _I64, Number, _I64)


def key_of(seed: int | tuple[int, ...]) -> int:
    """Return the key of the random numbers of a seed."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


class CoreTraffic:
    """The messages of nodes from cycle 0 on.

    Parameters
    ----------
    given
        Members of ``Traffic`` of ``hdnhw/core/src/traffic.hpp`` by name; one message in every cycle of every sender for
        those that are left out.
    """

    def __init__(self, **given: Any) -> None:
        given = {"peak": 1.0, "on": 1.0, "burst": inf, "flits": [1], "up_to": [1.0]} | given
        arrays = {name: np.ascontiguousarray(given.pop(name), kind) for name, kind in _ARRAYS.items() if name in given}
        counted = {"senders": "sender", "lengths": "flits", "hots": "hot", "phases": "until"}
        sizes = {count: len(arrays[name]) for count, name in counted.items() if name in arrays}
        places = {name: place_of(array) for name, array in arrays.items()}
        self._arrays, self._traffic = arrays, _Traffic(**given, **sizes, **places)
        self._cycle, self._made = 0, 0

    @property
    def pointer(self) -> int:
        """Of ``Traffic`` in the core, which lives as long as this object."""
        return ctypes.addressof(self._traffic)

    def destinations(self, source: Integers, number: Integers) -> Integers:
        """Return the destination of each message of a source and number, shape (messages,)."""
        found = np.empty(len(source), np.int64)
        _destinations(self.pointer, source, number, len(source), found)
        return found

    def window(self, cycles: int) -> Integers:
        """Return the messages of the next so many cycles, in the order of time and then of senders.

        Returns
        -------
        ndarray of int64, axes (4, message)
            Cycle from that window's first, source, destination, flits.

        Raises
        ------
        MemoryError
        """
        if not self._made:
            self._made = _make(self.pointer) or 0
            weakref.finalize(self, _free, self._made)
        count = _draw(self._made, cycles) if self._made else -1
        if count < 0:
            raise MemoryError
        messages = np.empty((4, count), np.int64)
        _take(self._made, self._cycle, messages)
        self._cycle += cycles
        return messages
