"""Requests and replies on the cycle-accurate model."""

from typing import Annotated, Any

from hdnhw.library.asked import asks
from hdnhw.library.options import MachineOptions, NetworkLike, fabric_of
from hdnhw.library.result import Result
from hdnhw.spec.requests import RequestSpec
from hdnhw.support.progress import ProgressBar


@asks
def requests(spec: NetworkLike, *, asked: RequestSpec, **machine: Annotated[Any, MachineOptions]) -> Result:
    """Measure the rate and round-trip time of requests and replies, with a window of requests per node.

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
        ``request_rate``, requests answered per node per cycle; ``accepted_rate``, flits per node per cycle;
        ``round_trip``, cycles from a request to its reply; docs/simulation.md describes the rest.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.requests("cube(1)", window=1, requests=100)
    >>> found.round_trip["mean"], round(64 * found.request_rate, 2)
    (63.0, 1.0)
    """
    from hdnhw.measurement.closed_loop import measure_requests

    with ProgressBar() as progress:
        return Result(measure_requests(fabric_of(spec, None, machine), asked, progress=progress.show))
