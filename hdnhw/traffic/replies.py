"""Requests and replies: a node has at most a window of requests without a reply, as a processor with its misses has.

References
----------
.. [1] Dally and Towles, Principles and Practices of Interconnection Networks, section 23.1: open and closed loop.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hdnhw.spec.requests import RequestSpec
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Network
from hdnhw.traffic.demand import Classes, read_pattern
from hdnhw.traffic.patterns import parse_pattern
from hdnhw.traffic.trace import Trace

MOST_MESSAGES = 1 << 25
"""Requests and replies of all nodes."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Requests:
    """Requests and replies as messages of which each waits for the one before it.

    Attributes
    ----------
    trace : Trace
    request, reply : ndarray of int64, shape (requests,)
        Places in the trace of each request and of its reply.
    """

    trace: Trace
    request: Integers
    reply: Integers


def make_requests(network: Network, spec: RequestSpec, packet_length: int) -> Requests:
    """Make the messages.

    The window is so many chains a node: request, reply, request and so on. The messages are in turns, in each of which
    every chain has a request and then every chain its reply; in the last turn there may be fewer chains.

    Raises
    ------
    SpecError
        If the network cannot carry the pattern, or there are too many messages.
    """
    asked = read_pattern(spec.pattern)
    if isinstance(asked, Classes):
        raise SpecError(f"{asked} has phases or classes, which requests have not")
    pattern = parse_pattern(asked, network)
    window = min(spec.window, spec.requests)
    total = 2 * len(pattern.senders) * spec.requests
    if total > MOST_MESSAGES:
        raise SpecError(f"requests and replies must be at most {MOST_MESSAGES} in all, not {total}")
    turns = [min(window, spec.requests - done) for done in range(0, spec.requests, window)]
    senders, numbers = len(pattern.senders), np.arange(spec.requests)
    ends = pattern.destinations(np.tile(pattern.senders, spec.requests), np.repeat(numbers, senders), spec.seed)
    source, destination, before, first = [], [], [], 0
    for turn, chains in enumerate(turns):
        asking = np.tile(pattern.senders, chains)
        asked = ends[turn * window * senders :][: len(asking)]
        places = first + np.arange(len(asking))
        source += [asking, asked]
        destination += [asked, asking]
        before += [places - window * len(pattern.senders) if turn else np.full(len(asking), -1), places]
        first += 2 * len(asking)
    is_reply = np.repeat(np.tile([False, True], len(turns)), np.repeat(turns, 2) * len(pattern.senders))
    lengths = [packet_length if flits is None else flits for flits in (spec.request_length, spec.reply_length)]
    waits_for = np.concatenate(before)
    trace = Trace(
        form="requests",
        cycle=np.zeros(total, np.int64),
        source=np.concatenate(source),
        destination=np.concatenate(destination),
        flits=np.where(is_reply, lengths[1], lengths[0]),
        first=np.searchsorted(waits_for[waits_for >= 0], np.arange(total + 1)),
        dependent=np.flatnonzero(waits_for >= 0),
        delay=np.where(is_reply, spec.service, spec.think),
    )
    return Requests(trace, np.flatnonzero(~is_reply), np.flatnonzero(is_reply))
