"""Values of a hypercube in the nodes of an HSN of cubes.

Value g of the hypercube, g = X_l .. X_1, is in node g at first. A dimension of X_1 is a link of the nucleus. For one of
X_i all values cross the swaps of level i, those in leaders keeping still; then X_i stands where X_1 was, and a link of
the nucleus is that dimension. Over a divisor M_l = 2^j, X_l and the last j bits of X_1 change places at the top.

References
----------
.. [1] HSN paper, sections 2.2 and 3.1, Theorem 3.1.
"""

import numpy as np

from hdnhw.collectives.cube_machine import CubeMachine, Integers
from hdnhw.topology.swapped import SwappedNetwork


class SwapMachine(CubeMachine):
    """Nodes with one value each, and where the digits of the values' numbers stand.

    Parameters
    ----------
    host : SwappedNetwork
        An HSN of cubes, or a variant of one.
    values : ndarray of int64, shape (nodes,)
    """

    def __init__(self, host: SwappedNetwork, values: Integers) -> None:
        super().__init__(host, values)
        self.size, self.top = host.nucleus.num_nodes, host.spec.top
        self.width = len(host.nucleus.ports)
        self.order = list(range(host.spec.levels))
        self.has_part = False  # whether X_1 holds what of a divisor's X_l there is, in place of its own last bits

    def group(self, bit: int) -> int:
        """Return the level of a dimension, 0 being that of X_1."""
        return bit // self.width

    def _is_part(self, place: int) -> bool:
        return place == len(self.order) - 1 and self.top < self.size

    def swap(self, place: int) -> None:
        """Exchange all values over the swaps that lead from X_1 to a place, 1 being that of X_2."""
        own = self.at % self.size % (self.top if self._is_part(place) else self.size)
        self.bring(np.flatnonzero(self.at // self.size**place % self.size != own), self.width + place - 1)
        if self._is_part(place):
            self.has_part = not self.has_part
        else:
            self.order[0], self.order[place] = self.order[place], self.order[0]

    def reach(self, bit: int) -> None:
        """Bring the digit of a dimension's level to the nuclei, by one swap if it is elsewhere.

        The digit of a divisor goes back first: it stands in a part of X_1.
        """
        level = self.group(bit)
        if self._is_part(level):
            if not self.has_part:
                self.swap(level)
            return
        self._bring_back()
        if self.order[0] != level:
            self.swap(self.order.index(level))

    def _bring_back(self) -> None:
        if self.has_part:
            self.swap(len(self.order) - 1)

    def home(self) -> None:
        """Bring all values to where they were at first, a digit a swap, and one more for each other cycle of digits."""
        self._bring_back()
        while self.order != sorted(self.order):
            wrong = next(place for place in reversed(range(len(self.order))) if self.order[place] != place)
            self.swap(self.order[0] or wrong)
