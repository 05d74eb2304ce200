"""Lengths of messages: how many flits a terminal sends at a time, and the packets that carry them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hdnhw.support.errors import SpecError
from hdnhw.traffic.expression import read_expression

MOST_FLITS = 1 << 20
"""Flits of the longest message."""

Integers = npt.NDArray[np.int64]


def packets_of(flits: Integers, packet_length: int) -> Integers:
    """Return how many packets carry messages of so many flits; the last one is padded.

    Examples
    --------
    >>> packets_of(np.array([1, 8, 9]), 8).tolist()
    [1, 1, 2]
    """
    return -(-flits // packet_length)


@dataclass(frozen=True, eq=False)
class Lengths:
    """A distribution of message lengths.

    Attributes
    ----------
    flits : ndarray of int64, shape (lengths,)
    shares : ndarray of float64, shape (lengths,)
        Probability of each length; they sum to 1.
    """

    flits: Integers
    shares: npt.NDArray[np.float64]

    def draw(self, count: int, rng: np.random.Generator) -> Integers:
        """Return the flits of `count` messages."""
        if len(self.flits) == 1:
            return np.repeat(self.flits, count)
        return rng.choice(self.flits, count, p=self.shares)

    def mean_packets(self, packet_length: int) -> float:
        """Return the packets that a message becomes in the mean."""
        return float(packets_of(self.flits, packet_length) @ self.shares)


def _checked(flits: int | float) -> int:
    if not isinstance(flits, int) or not 1 <= flits <= MOST_FLITS:
        raise SpecError(f"length of a message must be an integer of 1 to {MOST_FLITS} flits, not {flits!r}")
    return flits


def _fixed(flits: int) -> Lengths:
    return Lengths(np.array([_checked(flits)]), np.ones(1))


def _uniform(least: int, most: int) -> Lengths:
    """Draw every length from `least` to `most` with the same probability."""
    if _checked(least) > _checked(most):
        raise SpecError(f"lengths uniform must go from the shorter to the longer, not from {least} to {most}")
    flits = np.arange(least, most + 1)
    return Lengths(flits, np.full(len(flits), 1 / len(flits)))


def _mix(*parts: float) -> Lengths:
    """Draw each length with its share: lengths and shares in turn."""
    if not parts or len(parts) % 2:
        raise SpecError(f"lengths mix takes (length, share, length, share, ...), not {len(parts)} arguments")
    for share in parts[1::2]:
        if not 0 < share < np.inf:
            raise SpecError(f"share of a length must be above 0, not {share}")
    shares = np.array(parts[1::2], dtype=np.float64)
    return Lengths(np.array([_checked(flits) for flits in parts[::2]]), shares / shares.sum())


DISTRIBUTIONS: dict[str, Callable[..., Lengths]] = {"fixed": _fixed, "uniform": _uniform, "mix": _mix}
"""What makes each distribution, by its name."""


def parse_lengths(text: str) -> Lengths:
    """Read lengths in flits: a number, ``uniform(LEAST, MOST)``, or ``mix(LENGTH, SHARE, LENGTH, SHARE, ...)``.

    Shares are relative to their sum.

    Raises
    ------
    SpecError
        If it is none of these, or a length is out of range.

    Examples
    --------
    >>> parse_lengths("mix(1, 1, 9, 1)").mean_packets(8)
    1.5
    """
    number = text.strip()
    expression = f"fixed({number})" if number.isdecimal() else text
    name, arguments = read_expression(expression, DISTRIBUTIONS, "lengths", also="a number or ")
    return DISTRIBUTIONS[name](*arguments)
