"""Requests and replies on the cycle-accurate model."""

from dataclasses import dataclass
from typing import Unpack

from hdnhw.library.asked import asks, seed_option, threads_option
from hdnhw.library.options import MachineOptions, NetworkLike, fabric_of
from hdnhw.library.result import Result
from hdnhw.progress import ProgressBar
from hdnhw.spec.options import Options, Size, Text, option

MOST_WINDOW, MOST_REQUESTS, MOST_FLITS, MOST_CYCLES = 1 << 12, 1 << 20, 1 << 20, 1 << 20
"""Requests in flight and in all per node, flits of a message, and cycles of service or thought."""


@dataclass(frozen=True, kw_only=True)
class RequestOptions(Options):
    """Options of the command ``requests``."""

    window: int = option(4, Size, "maximum requests in flight per node", metavar="W", least=1, most=MOST_WINDOW)
    requests: int = option(1000, Size, "requests per node in all", metavar="N", least=1, most=MOST_REQUESTS)
    pattern: str = option("uniform", Text, "where requests go: a pattern of simulate")
    request_length: int | None = option(
        None, Size, "flits per request (default: one packet)", metavar="F", least=1, most=MOST_FLITS
    )
    reply_length: int | None = option(
        None, Size, "flits per reply (default: one packet)", metavar="F", least=1, most=MOST_FLITS
    )
    service: int = option(
        0, Size, "cycles from the last flit of a request to its reply", metavar="C", least=0, most=MOST_CYCLES
    )
    think: int = option(
        0,
        Size,
        "cycles from the last flit of a reply to the next request",
        metavar="C",
        least=0,
        most=MOST_CYCLES,
    )
    seed: int = seed_option(1)
    threads: int = threads_option("ten thousand")


@asks
def requests(spec: NetworkLike, *, asked: RequestOptions, **machine: Unpack[MachineOptions]) -> Result:
    """Measure how many requests are answered, and how fast, when no node has more than a window of them under way.

    A closed loop: a node sends its next request when a reply has come, so that a slow network is offered less. Nodes
    take what comes to them at once, and keep requests and replies outside the network.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked
    machine
        See :class:`hdnhw.MachineOptions`.

    Returns
    -------
    Result
        ``request_rate``, requests answered a node and cycle; ``accepted_rate``, flits a node and cycle; ``round_trip``,
        cycles from a request to its reply; docs/simulation.md describes the rest.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.requests("cube(1)", window=1, requests=100)
    >>> found.round_trip["mean"], round(64 * found.request_rate, 2)
    (63.0, 1.0)
    """
    from hdnhw.model.requests import measure_requests
    from hdnhw.traffic.requests import RequestSpec

    load = dict(vars(asked))
    count, threads = load.pop("requests"), load.pop("threads")
    with ProgressBar() as progress:
        fabric = fabric_of(spec, None, machine)
        asks_for = RequestSpec(count=count, **load)
        return Result(measure_requests(fabric, asks_for, threads=threads, progress=progress.show))
