"""Values of a hypercube in the nodes of a dual-net over a hypercube, and what brings its dimensions about.

The number g of a node at level j has, from the top, the class, the bits of the cluster and those of the node in it; in
class 1 the bits of the cluster and those of the super-node change places. So a cross-edge is the dimension of its
class, the lower bits of a node are those of its number in a cluster of class 0, and the next ones have their links in
clusters of class 1. Bits of SN^j are the same in both and have links in all clusters. For the dimensions of one class
the values of the other cross over to it: then each node there has two values, at level k up to 2^k, and a dimension is
a step with all of them. What lies in one node differs in classes alone: meanwhile these need no link.

So it is where super-nodes are nested (a dual-cube is the case of one level and SN^1 of one node). Elsewhere the bits of
SN^j change places below; there numbers are those of the nodes, and a dimension takes the steps of a total exchange that
its messages need.

References
----------
.. [1] Dual-cube paper, section 2, and section 5, (2) and (3), which leave embeddings and algorithms to be found; RDN
   paper (rdn-collectives), section VII, (3).
"""

from collections.abc import Hashable

import numpy as np

from hdnhw.collectives.cube_machine import CubeMachine, Integers
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import ScheduleError
from hdnhw.rules.arrays import ARRAY_OPERATIONS
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Digits

APART = -1
"""Of a level at which the values are in both classes."""


class DualMachine(CubeMachine):
    """Nodes of a dual-net with nested super-nodes, with their values, and which class has them at each level."""

    def __init__(self, network: DualNetwork, values: Integers) -> None:
        self._levels, self._base = network.levels, network.base_digits
        self._first_cross = len(network.ports) - len(network.levels)
        digits = network.decode(np.arange(network.num_nodes))
        self._classes = [np.asarray(digits[level.class_digit]) for level in self._levels]
        width, self._bits, self._kept = network.base_width, [network.base_width], [frozenset[int]()]
        for level in self._levels:
            self._kept.append(frozenset(width - 1 - factor for factor in level.super_node_factors))
            self._bits.append(2 * self._bits[-1] - len(self._kept[-1]) + 1)
        numbers = sum(bit << place for place, bit in enumerate(self._number(len(self._levels), digits)))
        super().__init__(network, values, np.argsort(numbers))
        self._state = [APART] * (len(self._levels) + 1)  # by level: the class that has all values of a cluster
        self._before: dict[int, Integers] = {}  # by level: where they were

    def _number(self, level: int, digits: Digits) -> list[Integers]:
        """Return the bits of the number of a node of a level, the lowest first."""
        if level == 0:
            return [digits[place] for place in reversed(self._base)]
        layout, other = self._levels[level - 1], list(digits)
        for cluster, place in zip(layout.cluster, layout.super_node, strict=True):
            other[place] = digits[cluster]
        own, there, in_class_1 = (
            self._number(level - 1, digits),
            self._number(level - 1, tuple(other)),
            digits[layout.class_digit] == 1,
        )
        low = [np.where(in_class_1, beside, bit) for bit, beside in zip(own, there, strict=True)]
        high = [np.where(in_class_1, bit, beside) for bit, beside in zip(own, there, strict=True)]
        return [
            *low,
            *(bit for place, bit in enumerate(high) if place not in self._kept[level]),
            digits[layout.class_digit],
        ]

    def _place(self, bit: int) -> tuple[tuple[tuple[int, int], ...], int]:
        """Return the class that has the links of a dimension, level by level from the top, and the level it is of.

        That is 0 if it is a link of the base; otherwise it is the class of that level.
        """
        needs: list[tuple[int, int]] = []
        for level in range(len(self._levels), 0, -1):
            inner = self._bits[level - 1]
            if bit in self._kept[level]:
                break
            if bit == self._bits[level] - 1:
                return tuple(needs), level
            needs.append((level, int(bit >= inner)))
            if bit >= inner:
                bit = [place for place in range(inner) if place not in self._kept[level]][bit - inner]
        return tuple(needs), 0

    def group(self, bit: int) -> Hashable:
        """Return the classes that have the links of a dimension, and the level whose class it is."""
        return self._place(bit)

    def reach(self, bit: int) -> None:
        """Bring all values of a cluster to the class that has the links of a dimension, level by level from the top.

        So where values are in both classes at a level they are so at all levels below.
        """
        needs, _ = self._place(bit)
        for level, kind in needs:
            if self._state[level] != kind:
                self._spread(level - 1)
                self._gather(level, kind)

    def _gather(self, level: int, kind: int) -> None:
        moving = self.numbers
        if self._state[level] == APART:
            self._before[level] = self.at.copy()
            moving = np.flatnonzero(self._classes[level - 1][self.at] != kind)
        self.bring(moving, self._first_cross + level - 1)
        self._state[level] = kind

    def _spread(self, top: int) -> None:
        """Bring the values of both classes back, from level 1 to `top`."""
        for level in range(1, top + 1):
            if self._state[level] != APART:
                self.bring(np.flatnonzero(self.at != self._before[level]), self._first_cross + level - 1)
                self._state[level] = APART

    def home(self) -> None:
        """Bring all values to where they were at first."""
        self._spread(len(self._levels))


class RoutedMachine(CubeMachine):
    """Nodes of a dual-net, with the values of their own numbers, which go to their partners by a total exchange."""

    def __init__(self, network: DualNetwork, values: Integers) -> None:
        super().__init__(network, values)
        self._schedule = exchange_schedule(network)

    def group(self, _bit: int) -> Hashable:
        """Return the same for all: values are home after each dimension."""
        return None

    def reach(self, bit: int) -> None:
        """Leave the values: each goes all the way to its partner."""

    def home(self) -> None:
        """Leave the values where they are: the copies that were sent are used up."""

    def exchange(self, partners: Integers) -> None:
        """Send each value to its partner's node, in the steps of a total exchange in which any is sent.

        Raises
        ------
        ScheduleError
            If one does not arrive.
        """
        schedule, inputs = self._schedule, dict[str, Integers]()
        for name, nodes in (("src", self.first), ("dst", self.first[partners])):
            inputs |= {f"{name}{place}": digit for place, digit in enumerate(self.network.decode(nodes))}
        for step in schedule.steps:
            inputs |= {f"own{place}": digit for place, digit in enumerate(self.network.decode(self.at))}
            conditions = schedule.circuit.run([send.when for send in step.sends], inputs.__getitem__, ARRAY_OPERATIONS)
            sent = [np.flatnonzero(np.broadcast_to(when, len(self.at))) for when in conditions]
            for send, moving in zip(step.sends, sent, strict=True):
                self.move(moving, send.port)
            if any(map(len, sent)):
                is_base = step.stage.startswith("dim")
                self.dimension_steps += is_base
                self.exchange_steps += not is_base
        if (self.at != self.first[partners]).any():
            raise ScheduleError(f"on {self.network.spec}: a value does not get to its partner")
        self.at = self.first.copy()
