"""Values of a hypercube in the nodes of a network, moved over its edges to bring the hypercube's dimensions about."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from itertools import groupby

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.executor import ScheduleError
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table

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
    """Nodes with their values, a node for each number g of a hypercube.

    Parameters
    ----------
    network : Network
    values : ndarray of int64, shape (nodes,)
        By their numbers g.
    first : ndarray of int64, shape (nodes,), optional
        The node of each value at first and in the end; by default node g.

    Attributes
    ----------
    values : ndarray of int64, shape (nodes,)
    at : ndarray of int64, shape (nodes,)
        The node in which each value is.
    dimension_steps, exchange_steps : int
        Steps so far with which a dimension was done, and with which values were only brought elsewhere.
    words : int
        Values that a node sent, at most, in each of these steps, added up.
    """

    def __init__(self, network: Network, values: Integers, first: Integers | None = None) -> None:
        self.network = network
        self.numbers = np.arange(network.num_nodes)
        self.first = self.numbers if first is None else first
        self.values, self.at = values, self.first.copy()
        self.dimension_steps = self.exchange_steps = self.words = 0

    @cached_property
    def table(self) -> Integers:
        """The nodes behind the ports of each; where values are placed alone, nobody asks."""
        return neighbor_table(self.network).astype(np.int64)

    @abstractmethod
    def group(self, bit: int) -> Hashable:
        """Return the same for dimensions that can be done without values that are brought elsewhere in between."""

    @abstractmethod
    def reach(self, bit: int) -> None:
        """Bring values to where those of a dimension are in neighbors, or in one node."""

    @abstractmethod
    def home(self) -> None:
        """Bring all values to where they were at first."""

    @property
    def is_home(self) -> bool:
        """Whether all values are where they were at first."""
        return bool((self.at == self.first).all())

    def combine(self, bit: int, rule: Combine) -> None:
        """Exchange the values of a dimension, and let every node compute."""
        self.reach(bit)
        partners = self.numbers ^ (1 << bit)
        self.exchange(partners)
        self.values = rule(self.values, self.values[partners], self.numbers, bit)

    def exchange(self, partners: Integers) -> None:
        """Send each value to the node of its partner, over an edge, or nowhere if that is the own one.

        Raises
        ------
        ScheduleError
            If there is no edge, or a node would send over two ports.
        """
        apart = np.flatnonzero(self.at != self.at[partners])
        if not len(apart):
            return
        here, there = self.at[apart], self.at[partners][apart]
        is_behind = self.table[here] == there[:, None]
        if not is_behind.any(axis=1).all():
            raise ScheduleError(f"on {self.network.spec}: a value and its partner are not in neighbors")
        ends = np.unique(np.stack([here, there], axis=1), axis=0)
        if len(ends) != len(np.unique(here)):
            raise ScheduleError(f"on {self.network.spec}: a node sends over two ports in a step")
        self.dimension_steps, self.words = self.dimension_steps + 1, self.words + int(np.bincount(here).max())

    def bring(self, moving: Integers, port: int) -> None:
        """Move the values of these numbers over a port of their nodes, in a step of its own that does no dimension."""
        self.move(moving, port)
        self.exchange_steps += 1

    def move(self, moving: Integers, port: int) -> None:
        """Move the values of these numbers over a port of their nodes.

        Raises
        ------
        ScheduleError
            If a node lacks the port.
        """
        here = self.at[moving]
        self.at[moving] = self.table[here, port]
        if (self.at[moving] < 0).any():
            raise ScheduleError(f"on {self.network.spec}: a node sends over a port that it lacks")
        self.words += int(np.bincount(here).max(initial=0))

    def multiply(self, other: "CubeMachine") -> None:
        """Multiply each value by the one of the same number in a machine on the same network, which is in its node."""
        assert (self.at == other.at).all(), "factors meet in one node"
        self.values = self.values * other.values % PRIME

    def run(self, program: Program, swaps: str) -> None:
        """Run steps in their order; swaps "paper": all is home before another group begins, and in the end."""
        for _, steps in groupby(program, lambda step: self.group(step[0])):
            for bit, rule in steps:
                self.combine(bit, rule)
            if swaps == "paper":
                self.home()
