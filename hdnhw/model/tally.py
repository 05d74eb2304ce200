"""What is counted of the packets and messages that leave in a window of cycles, each in one pass over them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.kernels import kernel

__all__ = ["count_messages", "count_taken", "ends_messages", "longest_latencies"]

_CYCLES = "int32[:], int32[:], int32[:]"


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


@kernel("void(int32[:], int32[:], boolean[:], int64, int64, int64[::1], int64[:, ::1])")
def count_taken(source: Any, taken: Any, arrived: Any, start: Any, stop: Any, of_source: Any, batches: Any) -> Any:
    """Count the packets taken in an interval: for each source those taken where they should be.

    `batches`, axes (2, batch), has those of each of equal parts of the interval: taken where they should be, elsewhere.
    """
    parts = batches.shape[1]
    for packet in range(len(taken)):
        if start <= taken[packet] < stop:
            batch = (taken[packet] - start) * parts // (stop - start)
            if arrived[packet]:
                of_source[source[packet]] += 1
                batches[0, batch] += 1
            else:
                batches[1, batch] += 1


@kernel(f"UniTuple(int64, 3)({_CYCLES}, int64, int64)")
def longest_latencies(born: Any, head: Any, tail: Any, start: Any, stop: Any) -> Any:
    """Return how many messages were created in an interval, and the greatest latency from creation, and from the head.

    Of none these are 0.
    """
    messages, latency, network = 0, 0, 0
    for message in range(len(born)):
        if start <= born[message] < stop:
            messages += 1
            latency = max(latency, tail[message] - born[message])
            network = max(network, tail[message] - head[message])
    return messages, latency, network


@kernel(f"UniTuple(int64, 2)({_CYCLES}, int32[:], int64, int64, int64[::1], int64[::1], float64[:, ::1])")
def count_messages(
    born: Any, head: Any, tail: Any, hops: Any, start: Any, stop: Any, latency: Any, network: Any, batches: Any
) -> Any:
    """Add the messages created in an interval to the histograms of both latencies.

    Return the sum of their hops, and of the squares of these.

    `batches`, axes (2, batch), has the messages of each of equal parts of the interval, and the sum of their latencies.
    """
    crossed, squares, parts = 0, 0, batches.shape[1]
    for message in range(len(born)):
        if start <= born[message] < stop:
            cycles = tail[message] - born[message]
            latency[cycles] += 1
            network[tail[message] - head[message]] += 1
            batch = (born[message] - start) * parts // (stop - start)
            batches[0, batch] += 1
            batches[1, batch] += cycles
            crossed += hops[message]
            squares += hops[message] * hops[message]
    return crossed, squares
