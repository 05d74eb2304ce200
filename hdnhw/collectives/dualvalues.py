"""Values of a hypercube of 2r - 1 dimensions in the nodes of the dual-cube F_r, and what brings its dimensions about.

Value g is in node g at first. Nodes of class 0 have the links of the lowest r - 1 dimensions, nodes of class 1 those of
the next r - 1, and all that of the highest, the cross-edge. For the dimensions that one class has, the values of the
other cross over to it; then each node there has two values, and a dimension is a step with both. What lies in one node
differs in the highest dimension alone: meanwhile that one needs no link.

References
----------
.. [1] Dual-cube paper, section 2, and section 5, (2) and (3), which leave embeddings and algorithms to be found.
"""

import numpy as np

from hdnhw.collectives.cube_machine import PRIME, Combine, CubeMachine, Integers
from hdnhw.spec import DualCube, SpecError
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.network import Network

__all__ = ["DualCubeMachine"]

ABSENT = -1


class DualCubeMachine(CubeMachine):
    """Nodes of a dual-cube with their values, and which class has them.

    Raises
    ------
    SpecError
        If the network is no dual-cube.
    """

    def __init__(self, network: Network, values: Integers) -> None:
        if not isinstance(network.spec, DualCube):
            raise SpecError(f"values in two classes of clusters are those of a dual-cube, not of {network.spec}")
        self._width, self._table = network.spec.r - 1, neighbor_table(network).astype(np.int64)
        self._nodes = np.arange(network.num_nodes)
        self._top = 2 * self._width
        self._kinds, self._inner = self._nodes >> self._top, self._nodes & (1 << self._top) - 1
        self._held = np.full((2, len(self._nodes)), ABSENT)  # by the highest bit of a value's number, and by node
        self._held[self._kinds, self._nodes] = values
        self._at: int | None = None  # the class that has all values; None: each its own

    @property
    def values(self) -> Integers:
        """The value of each node, all being at home."""
        values: Integers = self._held[self._kinds, self._nodes]
        return values

    def group(self, bit: int) -> int:
        """Return 0 or 1, the class that has the links of a dimension, or 2 for the highest."""
        return 2 if bit == self._top else bit // self._width

    def _cross(self, moved: list[int]) -> None:
        """Send the values of these classes over the cross-edges, all of a class."""
        self._held[moved] = self._held[moved][:, self._table[:, -1]]
        self.exchange_steps += 1
        self.words += len(moved)

    def _gather(self, kind: int) -> None:
        if self._at != kind:
            self._cross([1 - kind] if self._at is None else [0, 1])
            self._at = kind

    def home(self) -> None:
        """Bring all values to where they were at first."""
        if self._at is not None:
            self._cross([1 - self._at])
            self._at = None

    def combine(self, bit: int, rule: Combine) -> None:
        """Exchange the values of a dimension, and let every node compute."""
        if bit < self._top:
            kind, port = self.group(bit), self._width - 1 - bit % self._width
            self._gather(kind)
            here = self._nodes[self._kinds == kind]
            received = self._held[:, self._table[here, port]]
            self._held[:, here] = rule(self._held[:, here], received, self._numbers(here), bit)
            self.dimension_steps, self.words = self.dimension_steps + 1, self.words + 2
        elif self._at is None:
            received = self.values[self._table[:, -1]]
            self._held[self._kinds, self._nodes] = rule(self.values, received, self._nodes, bit)
            self.dimension_steps, self.words = self.dimension_steps + 1, self.words + 1
        else:
            here = self._nodes[self._kinds == self._at]
            own = self._held[:, here]
            self._held[:, here] = rule(own, own[::-1], self._numbers(here), bit)

    def multiply(self, other: "DualCubeMachine") -> None:
        """Multiply each value by the other machine's."""
        assert self._at == other._at, "factors meet in one node"
        self._held = np.where(self._held == ABSENT, ABSENT, self._held * other._held % PRIME)

    def _numbers(self, here: Integers) -> Integers:
        """Return the numbers of both values of nodes that have two."""
        numbers: Integers = self._inner[here] | np.array([[0], [1 << self._top]])
        return numbers
