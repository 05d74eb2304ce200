"""Values of a hypercube in the nodes of a network, and the steps that bring its dimensions about."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["MOST_VALUES", "PRIME", "Combine", "CubeMachine", "Integers", "Program"]

MOST_VALUES = 1 << 20
"""Nodes of a run."""

PRIME = 998244353
"""119 * 2^23 + 1: values are numbers modulo it; transforms are exact, and products of two values fit 64 bits."""

Integers = npt.NDArray[np.int64]
Combine = Callable[[Integers, Integers, Integers, int], Integers]
"""Takes the own values, the partners', their numbers g and the bit of g that is the dimension; returns new values."""

Program = Sequence[tuple[int, Combine]]
"""Dimensions, as bits of g, in their order, and what is done in each."""


class CubeMachine(ABC):
    """Nodes with their values: value g is in node g at first.

    Attributes
    ----------
    dimension_steps, exchange_steps : int
        Steps so far with which a dimension was done, and with which values were only brought elsewhere.
    words : int
        Values that a node sent, at most, in each of these steps, added up.
    """

    dimension_steps = exchange_steps = words = 0

    @property
    @abstractmethod
    def values(self) -> Integers:
        """The value of each node, shape (nodes,), all being at home."""

    @abstractmethod
    def group(self, bit: int) -> int:
        """Return which dimensions can be done without values that are brought elsewhere in between, as a number."""

    @abstractmethod
    def home(self) -> None:
        """Bring all values to where they were at first."""

    @abstractmethod
    def combine(self, bit: int, rule: Combine) -> None:
        """Exchange the values of a dimension, and let every node compute."""

    @abstractmethod
    def multiply(self, other: Any) -> None:
        """Multiply each value by the one of the same number in a machine on the same network, which is in its node."""

    def run(self, program: Program, swaps: str) -> None:
        """Run steps in their order; swaps "paper": all is home before another group begins, and in the end."""
        for _, steps in groupby(program, lambda step: self.group(step[0])):
            for bit, rule in steps:
                self.combine(bit, rule)
            if swaps == "paper":
                self.home()
