"""Injection processes: in which cycles which nodes get a message to send."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from math import inf

from hdnhw.support.errors import SpecError
from hdnhw.traffic.expression import read_expression


@dataclass(frozen=True)
class Injection:
    """A Markov-modulated process: bursts and silences of geometric length in turn; in a burst, messages at random.

    Attributes
    ----------
    peak : float
        Probability of a message, a sender and cycle of a burst.
    on : float
        Share of the cycles that is of bursts: 1 for one burst that does not end.
    burst, silence : float
        Mean lengths in cycles. A burst has at least one cycle.

    References
    ----------
    Dally and Towles, Principles and Practices of Interconnection Networks, section 24.2.2.
    """

    peak: float
    on: float = 1.0
    burst: float = inf
    silence: float = 0.0


def _on_off(burst: float, peak: float = 1.0, *, rate: float, message_flits: float) -> Injection:
    """Make bursts of a mean of `burst` cycles with `peak` flits per cycle."""
    if not 1 <= burst < inf:
        raise SpecError(f"on_off burst must be at least 1 cycle, not {burst}")
    if not rate <= peak <= 1:
        raise SpecError(f"on_off peak must be at least the rate {rate} and at most 1 flit per cycle, not {peak}")
    if rate in (0, peak):
        return _bernoulli(rate=rate, message_flits=message_flits)
    return Injection(peak / message_flits, rate / peak, burst, burst * (peak - rate) / rate)


def _bernoulli(*, rate: float, message_flits: float) -> Injection:
    """Make messages with the same probability in every cycle, whatever happened before."""
    return Injection(rate / message_flits)


PROCESSES: dict[str, Callable[..., Injection]] = {"bernoulli": _bernoulli, "on_off": _on_off}
"""What makes each process, by its name."""


def peak_rate(text: str) -> float:
    """Return the highest rate that a process can have, flits a sender and cycle.

    Examples
    --------
    >>> peak_rate("on_off(50, 0.9)"), peak_rate("bernoulli")
    (0.9, 1.0)
    """
    name, arguments = read_expression(text, PROCESSES, "injection")
    given = dict(zip(signature(PROCESSES[name]).parameters, arguments, strict=False))
    return float(given.get("peak", 1.0))


def parse_injection(text: str, *, rate: float, message_flits: float) -> Injection:
    """Read a process: ``bernoulli``, or ``on_off(BURST, PEAK)`` with a mean burst in cycles and flits a cycle in it.

    Parameters
    ----------
    text : str
    rate : float
        Flits a sender and cycle, 0 to 1.
    message_flits : float
        Flits that a message has in the mean as packets.

    Raises
    ------
    SpecError
        If it is none, or a parameter is out of range.
    """
    if not 0 <= rate <= 1:
        raise SpecError(f"rate must be 0 to 1 flits per node per cycle, not {rate}")
    name, arguments = read_expression(text, PROCESSES, "injection")
    return PROCESSES[name](*arguments, rate=rate, message_flits=message_flits)
