"""Products, and dual-nets over them, by arithmetic, with no tables."""

from itertools import product
from math import prod
from typing import Any

from hdnhw.spec import DualCube, DualNet, Factor, Product
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Digits, Network
from hdnhw.topology.levels import DualPort, LeveledNetwork, cross_ports, lay_out

MAX_KINDS = 3**8
"""Most kinds of routers by their ports: inner ones, and those at the ends of each path."""


def _factor_ports(position: int, factor: Factor, first: int) -> list[DualPort]:
    name = f"dim{position}"
    if factor.is_edge:
        return [DualPort(name, first, 0, position, 1)]
    if factor.kind == "complete":
        last = factor.size - 1
        return [DualPort(f"{name}_by{step}", first + last - step, 0, position, step) for step in range(1, last + 1)]
    return [DualPort(f"{name}_plus", first + 1, 0, position, 1), DualPort(f"{name}_minus", first, 0, position, -1)]


class DualNetwork(LeveledNetwork):
    """A product network (no levels) or a hierarchical dual-net built on one.

    Attributes
    ----------
    spec : NetworkSpec
    factors : tuple of Factor
        The factors of the base network.
    radices : tuple of int
        Radix of each digit of a node, most significant first.
    levels : tuple of Level
        ``levels[j - 1]`` describes level j.
    ports : tuple of DualPort
        Base ports in factor order, then the cross-edges from level 1 up.
    num_nodes : int
    """

    spec: Product | DualNet | DualCube

    def __init__(self, spec: Product | DualNet | DualCube) -> None:
        self.spec = spec
        base, super_nodes = _parts(spec)
        self.factors, self.base_width = base.factors, len(base.factors)
        self.radices, self.levels = lay_out(base.radices, super_nodes)
        ports: list[DualPort] = []
        for position, factor in enumerate(base.factors):
            ports += _factor_ports(position, factor, len(ports))
        self.ports = (*ports, *cross_ports(len(ports), len(super_nodes)))

    @property
    def node_symmetric(self) -> bool:
        """Whether it is node-symmetric: symmetric factors and nested super-nodes (docs/papers/errata.md, E2)."""
        return all(factor.is_symmetric for factor in self.factors) and self.is_nested

    @property
    def diameter_formula(self) -> int:
        """The papers' closed form ``D_j = 2 D_(j-1) - D(SN^j) + 2`` (HDN paper, Theorem 1).

        It is the true diameter unless a level has one cluster a class (``SN^1 = B``); see
        :func:`hdnhw.topology.metrics.diameter_corrected`.
        """
        diameter = sum(factor.diameter for factor in self.factors)
        for level in self.levels:
            diameter = 2 * diameter - sum(self.factors[factor].diameter for factor in level.super_node_factors) + 2
        return diameter

    def decode(self, node: Any) -> Digits:
        """Return the digits of node number `node`."""
        return self._renumber(super().decode(node))

    def encode(self, digits: Digits) -> Any:
        """Return the node number of `digits`."""
        return super().encode(self._renumber(digits))

    def parse_node(self, text: str) -> int:
        """See :meth:`Network.parse_node`; of a dual-cube the binary address of its paper is read, too: all its bits."""
        if isinstance(self.spec, DualCube) and len(text) == len(self.radices) and set(text) <= {"0", "1"}:
            return int(text, 2)
        return super().parse_node(text)

    def paper_address(self, node: int) -> str:
        """See :meth:`Network.paper_address`; of a dual-cube the binary one that :meth:`parse_node` reads."""
        return f"{node:0{len(self.radices)}b}" if isinstance(self.spec, DualCube) else super().paper_address(node)

    def encode_from(self, node: Any, digits: Digits, moved: Digits) -> Any:
        """Return the node number of `moved`, given that of `digits`."""
        return super().encode_from(node, self._renumber(digits), self._renumber(moved))

    def _renumber(self, digits: Digits) -> Digits:
        """Swap the two fields of a class-1 dual-cube node, which keeps its node id in the middle; its own inverse."""
        if not isinstance(self.spec, DualCube) or not self.levels:
            return digits
        (level,) = self.levels
        result, in_class_1 = list(digits), digits[level.class_digit]
        for one, other in zip(level.cluster, level.super_node, strict=True):
            difference = (digits[one] - digits[other]) * in_class_1
            result[one], result[other] = digits[one] - difference, digits[other] + difference
        return tuple(result)

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`, which must exist (see :meth:`has_port`)."""
        description = self.ports[port]
        if description.level:
            return self.cross(digits, description.level)
        position = self.base_digits[description.factor]
        moved = (digits[position] + description.step) % self.radices[position]
        return (*digits[:position], moved, *digits[position + 1 :])

    def has_port(self, digits: Digits, port: int) -> Any:
        """Return whether the node has an edge behind `port`; only the ends of a path lack one."""
        description = self.ports[port]
        if description.level or self._is_edge_or_ring(description.factor):
            return digits[0] >= 0
        digit = digits[self.base_digits[description.factor]]
        size = self.factors[description.factor].size
        return digit < size - 1 if description.step == 1 else digit > 0

    def port_count(self, port: int) -> int:
        """Return how many nodes have `port`."""
        description = self.ports[port]
        if description.level or self._is_edge_or_ring(description.factor):
            return self.num_nodes
        size = self.factors[description.factor].size
        return self.num_nodes // size * (size - 1)

    def _is_edge_or_ring(self, factor: int) -> bool:
        return self.factors[factor].kind != "path" or self.factors[factor].is_edge

    @property
    def port_sets(self) -> frozenset[tuple[int, ...]]:
        """The distinct sets of ports that nodes have: only the ends of a path lack one.

        Raises
        ------
        SpecError
            If there are too many to list.
        """
        ends = [
            (0,) if self._is_edge_or_ring(index) else (0, 1, factor.size - 1)
            for index, factor in enumerate(self.factors)
        ]
        kinds = prod(map(len, ends))
        if kinds > MAX_KINDS:
            raise SpecError(f"a network must have at most {MAX_KINDS} kinds of routers; {self.spec} has {kinds}")
        upper = (0,) * self.base_digits[0]
        return frozenset(
            tuple(port for port in range(len(self.ports)) if self.has_port((*upper, *digits), port))
            for digits in product(*ends)
        )


def _parts(spec: Product | DualNet | DualCube) -> tuple[Product, tuple[tuple[int, ...], ...]]:
    if isinstance(spec, Product):
        return spec, ()
    return spec.base, spec.super_nodes


def dual_network(network: Network, what: str) -> DualNetwork:
    """Return `network` if it is a product or a dual-net over one.

    Raises
    ------
    SpecError
        If it is another one; `what` says what needs levels and factors.
    """
    if not isinstance(network, DualNetwork):
        raise SpecError(f"{what} is for products and dual-nets over them; {network.spec} is neither")
    return network
