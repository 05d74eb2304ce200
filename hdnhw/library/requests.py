"""Requests and replies on the cycle-accurate model."""

from typing import Any, Unpack

from hdnhw.library.options import MachineOptions, NetworkLike, check_integers, fabric_of
from hdnhw.library.result import Result
from hdnhw.progress import ProgressBar


def requests(
    spec: NetworkLike,
    *,
    window: int = 4,
    requests: int = 1000,
    pattern: str = "uniform",
    request_length: int | None = None,
    reply_length: int | None = None,
    service: int = 0,
    think: int = 0,
    seed: int = 1,
    threads: int = 1,
    **machine: Unpack[MachineOptions],
) -> Result:
    """Measure how many requests are answered, and how fast, when no node has more than a window of them under way.

    A closed loop: a node sends its next request when a reply has come, so that a slow network is offered less. Nodes
    take what comes to them at once, and keep requests and replies outside the network.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    window : int
        Requests of a node without a reply, at most.
    requests : int
        Of each node in all.
    pattern : str
        To whom they go, see :func:`hdnhw.simulate`.
    request_length, reply_length : int, optional
        Flits (default: one packet).
    service, think : int
        Cycles from the last flit of a request to its reply, and from that of a reply to the next request.
    seed : int
        Of the random numbers.
    threads : int
        That share the routers: worth it from ten thousands of routers on. The result is the same.
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

    numbers: dict[str, Any] = {
        "window": window,
        "request_length": request_length,
        "reply_length": reply_length,
        "service": service,
        "think": think,
        "seed": seed,
    }
    check_integers(requests=requests, threads=threads, **numbers)
    load = RequestSpec(count=requests, pattern=pattern, **numbers)
    with ProgressBar() as progress:
        fabric = fabric_of(spec, None, machine)
        return Result(measure_requests(fabric, load, threads=threads, progress=progress.show))
