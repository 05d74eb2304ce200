"""What is counted of the packets and messages that leave in a window of cycles, each in one pass over them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, array_of

__all__ = ["count_messages", "count_taken", "ends_messages", "longest_latencies"]

Cycles = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]

_I32, _I64 = array_of(np.int32), array_of(np.int64)
_taken = Function("tally_taken", _I32, _I32, array_of(np.bool_), Number, Number, Number, _I64, _I64, Number)
_longest = Function("tally_longest", _I32, _I32, _I32, Number, Number, Number, _I64)
_messages = Function("tally_messages", *(_I32,) * 4, *(Number,) * 3, _I64, _I64, array_of(np.float64), Number, _I64)


def ends_messages(
    message: npt.NDArray[Any], tail: npt.NDArray[Any], missing: npt.NDArray[Any], latest: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """Note packets that have left, and tell with which of them a message has left whole: they come in any order.

    Parameters
    ----------
    message, tail : ndarray of integers, shape (packets,)
        The place of each packet's message in the next two, and the cycle in which its tail was taken.
    missing, latest : ndarray of integers, shape (messages,)
        How many packets of each message have not left, and the latest tail of those that have: they are updated.
    """
    np.subtract.at(missing, message, 1)
    np.maximum.at(latest, message, tail)
    is_last: npt.NDArray[np.bool_] = (missing[message] == 0) & (latest[message] == tail)
    return is_last


def count_taken(
    source: Cycles,
    taken: Cycles,
    arrived: npt.NDArray[np.bool_],
    start: int,
    stop: int,
    of_source: Integers,
    batches: Integers,
) -> None:
    """Count the packets taken in an interval: for each source those taken where they should be.

    `batches`, axes (2, batch), has those of each of equal parts of the interval: taken where they should be, elsewhere.
    """
    _taken(*_whole(source, taken), arrived, len(taken), start, stop, of_source, batches, batches.shape[1])


def longest_latencies(born: Cycles, head: Cycles, tail: Cycles, start: int, stop: int) -> tuple[int, int, int]:
    """Return how many messages were created in an interval, and the greatest latency from creation, and from the head.

    Of none these are 0.
    """
    found = np.empty(3, np.int64)
    _longest(*_whole(born, head, tail), len(born), start, stop, found)
    messages, latency, network = found.tolist()
    return messages, latency, network


def count_messages(
    born: Cycles,
    head: Cycles,
    tail: Cycles,
    hops: Cycles,
    start: int,
    stop: int,
    histograms: tuple[Integers, Integers],
    batches: npt.NDArray[np.float64],
) -> tuple[int, int]:
    """Add the messages created in an interval to the histograms of both latencies.

    Return the sum of their hops, and of the squares of these.

    `batches`, axes (2, batch), has the messages of each of equal parts of the interval, and the sum of their latencies.
    """
    sums = np.empty(2, np.int64)
    columns = _whole(born, head, tail, hops)
    _messages(*columns, len(born), start, stop, *histograms, batches, batches.shape[1], sums)
    crossed, squares = sums.tolist()
    return crossed, squares


def _whole(*columns: Cycles) -> tuple[Cycles, ...]:
    return tuple(map(np.ascontiguousarray, columns))
