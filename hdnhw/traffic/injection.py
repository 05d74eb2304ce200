"""Injection processes: in which cycles which nodes get a message to send, a window of cycles at a time.

A process draws as much as there are messages or bursts, not as there are nodes and cycles.
"""

from collections.abc import Callable
from inspect import signature
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hdnhw.spec import SpecError
from hdnhw.traffic.expression import read_expression

__all__ = ["Bernoulli", "Injection", "OnOff", "parse_injection", "peak_rate"]

Integers = npt.NDArray[np.int64]


class Injection(Protocol):
    """A process that creates messages."""

    def window(self, cycles: int) -> tuple[Integers, Integers]:
        """Return (cycle, sender) of the messages created in the next `cycles` cycles, in the order of cycles.

        Cycles count from the beginning of the window, senders from 0. No sender appears twice in a cycle.
        """


def _successes(trials: int, probability: float, rng: np.random.Generator) -> Integers:
    """Return the numbers of the trials that succeed, sorted: by the geometric gaps between them."""
    found: list[Integers] = []
    at = -1
    while True:
        left = trials - 1 - at
        expected = left * probability
        gaps = rng.geometric(probability, int(expected + 4 * expected**0.5 + 16))
        np.cumsum(gaps, out=gaps)
        gaps += at
        if gaps[-1] >= trials:
            found.append(gaps[: np.searchsorted(gaps, trials)])
            return found[0] if len(found) == 1 else np.concatenate(found)
        found.append(gaps)
        at = int(gaps[-1])


class Bernoulli:
    """A message with the same probability in every cycle, whatever happened before.

    Parameters
    ----------
    senders : int
    probability : float
        Of a message, a sender and cycle.
    rng : numpy.random.Generator
    """

    def __init__(self, senders: int, probability: float, rng: np.random.Generator) -> None:
        self._senders, self._probability, self._rng = senders, probability, rng

    def window(self, cycles: int) -> tuple[Integers, Integers]:
        """See :meth:`Injection.window`."""
        if self._probability == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        created = _successes(cycles * self._senders, self._probability, self._rng)
        cycle = created // self._senders
        return cycle, created - cycle * self._senders


class OnOff:
    """A Markov-modulated process: bursts and silences of geometric length; a burst is Bernoulli.

    Parameters
    ----------
    senders : int
    probability : float
        Mean of messages, a sender and cycle.
    peak : float
        Of a message in a cycle of a burst.
    burst : float
        Mean length of a burst, cycles, at least 1.
    rng : numpy.random.Generator

    References
    ----------
    Dally and Towles, Principles and Practices of Interconnection Networks, section 24.2.2.
    """

    def __init__(
        self, senders: int, probability: float, *, peak: float, burst: float, rng: np.random.Generator
    ) -> None:
        self._peak, self._rng = peak, rng
        share = probability / peak
        # Mean lengths of silences, which may be 0, and of bursts; without the one the other lasts for ever.
        self._means = (burst * (1 - share) / share if share else np.inf, burst if share < 1 else np.inf)
        self._on = rng.random(senders) < share
        self._until = np.zeros(senders, np.int64)
        self._until += self._lengths(self._on)

    def _lengths(self, on: npt.NDArray[np.bool_]) -> Integers:
        lengths = np.full(len(on), np.iinfo(np.int64).max // 2)
        for state, mean in enumerate(self._means):
            if np.isfinite(mean):
                chosen, least = np.flatnonzero(on == bool(state)), state
                lengths[chosen] = self._rng.geometric(1 / (1 + mean - least), len(chosen)) - 1 + least
        return lengths

    def window(self, cycles: int) -> tuple[Integers, Integers]:
        """See :meth:`Injection.window`."""
        sender, first, length = self._bursts(cycles)
        ends = np.cumsum(length)
        created = _successes(int(ends[-1]) if len(ends) else 0, self._peak, self._rng)
        burst = np.searchsorted(ends, created, side="right")
        cycle, who = first[burst] + created - (ends[burst] - length[burst]), sender[burst]
        order = np.argsort(cycle, kind="stable")
        return cycle[order], who[order]

    def _bursts(self, cycles: int) -> tuple[Integers, Integers, Integers]:
        """Advance all senders by a window; return sender, first cycle and length of the bursts in it."""
        parts: list[tuple[Integers, Integers]] = []
        since = np.zeros(len(self._on), np.int64)
        moving = np.arange(len(self._on))
        while moving.size:
            bursting = moving[self._on[moving]]
            parts.append((bursting, np.stack([since[bursting], np.minimum(self._until[bursting], cycles)])))
            moving = moving[self._until[moving] < cycles]
            since[moving] = self._until[moving]
            self._on[moving] ^= True
            self._until[moving] += self._lengths(self._on[moving])
        self._until -= cycles
        sender = np.concatenate([who for who, _ in parts])
        first, end = np.concatenate([span for _, span in parts], axis=1)
        return sender, first, end - first


def _on_off(
    burst: float, peak: float = 1.0, *, senders: int, rate: float, message_flits: float, rng: np.random.Generator
) -> Injection:
    """Make bursts of a mean of `burst` cycles with `peak` flits a cycle."""
    if not 1 <= burst < np.inf:
        raise SpecError(f"on_off burst must be at least 1 cycle, not {burst}")
    if not rate <= peak <= 1:
        raise SpecError(f"on_off peak must be at least the rate {rate} and at most 1 flit a cycle, not {peak}")
    return OnOff(senders, rate / message_flits, peak=peak / message_flits, burst=burst, rng=rng)


def _bernoulli(*, senders: int, rate: float, message_flits: float, rng: np.random.Generator) -> Injection:
    return Bernoulli(senders, rate / message_flits, rng)


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


def parse_injection(
    text: str, *, senders: int, rate: float, message_flits: float, rng: np.random.Generator
) -> Injection:
    """Read a process: ``bernoulli``, or ``on_off(BURST, PEAK)`` with a mean burst in cycles and flits a cycle in it.

    Parameters
    ----------
    text : str
    senders : int
    rate : float
        Flits a sender and cycle, 0 to 1.
    message_flits : float
        Flits that a message has in the mean as packets.
    rng : numpy.random.Generator

    Raises
    ------
    SpecError
        If it is none, or a parameter is out of range.
    """
    if not 0 <= rate <= 1:
        raise SpecError(f"rate must be 0 to 1 flits a node and cycle, not {rate}")
    name, arguments = read_expression(text, PROCESSES, "injection")
    return PROCESSES[name](*arguments, senders=senders, rate=rate, message_flits=message_flits, rng=rng)
