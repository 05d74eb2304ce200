"""Products and dual-nets by arithmetic, with no tables.

A level-k node of HDN(B, k, S) holds, from the top, the class bit c_k, the digits of the cluster id U_k, and then the
digits of a level-(k-1) node; the base digits come last (docs/networks.md, from the HDN paper, section 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from math import prod
from typing import Any

from hdnhw.spec import DualCube, DualNet, Factor, Product, SpecError, cube
from hdnhw.topology.graph import Digits, Network, Port

__all__ = ["DualNetwork", "DualPort", "Level", "dual_network"]


MAX_KINDS = 3**8
"""Most kinds of routers by their ports: inner ones, and those at the ends of each path."""


@dataclass(frozen=True)
class DualPort(Port):
    """One port of a product or dual-net.

    Attributes
    ----------
    name : str
        ``dim0`` (single edge), ``dim0_plus`` and ``dim0_minus`` (cycle or path), ``dim0_by2`` (complete graph: to the
        digit two further on), ``cross1`` (cross-edge of level 1).
    opposite : int
        Index of the port on which the neighbour sees the same edge.
    level : int
        0 for a base port, j for the cross-edge of level j.
    factor : int
        Factor index of a base port, -1 for a cross-edge.
    step : int
        What a base port adds to its digit, modulo the factor's size; 0 for a cross-edge.
    """

    level: int
    factor: int
    step: int


@dataclass(frozen=True)
class Level:
    """Where the digits of one dual-net level stand in a node's digit tuple.

    Attributes
    ----------
    class_digit : int
        Position of the class bit c_j.
    cluster : tuple of int
        Positions of the digits of the cluster id U_j.
    super_node : tuple of int
        Positions of the inner digits that name the super-node, in the order of `cluster`.
    super_node_factors : tuple of int
        Factor indices of SN^j.
    """

    class_digit: int
    cluster: tuple[int, ...]
    super_node: tuple[int, ...]
    super_node_factors: tuple[int, ...]


def _factor_ports(position: int, factor: Factor, first: int) -> list[DualPort]:
    name = f"dim{position}"
    if factor.is_edge:
        return [DualPort(name, first, 0, position, 1)]
    if factor.kind == "complete":
        last = factor.size - 1
        return [DualPort(f"{name}_by{step}", first + last - step, 0, position, step) for step in range(1, last + 1)]
    return [DualPort(f"{name}_plus", first + 1, 0, position, 1), DualPort(f"{name}_minus", first, 0, position, -1)]


class DualNetwork(Network):
    """A product network (no levels) or a hierarchical dual-net built on one.

    Parameters
    ----------
    spec : NetworkSpec

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
    ports: tuple[DualPort, ...]

    def __init__(self, spec: Product | DualNet | DualCube) -> None:
        self.spec = spec
        base, super_nodes = _parts(spec)
        self.factors = base.factors
        self.radices, self.levels = _layout([factor.size for factor in base.factors], super_nodes)
        ports: list[DualPort] = []
        for position, factor in enumerate(base.factors):
            ports += _factor_ports(position, factor, len(ports))
        for level in range(1, len(super_nodes) + 1):
            ports.append(DualPort(f"cross{level}", len(ports), level, -1, 0))
        self.ports = tuple(ports)

    @property
    def base_digits(self) -> range:
        """Positions of the base digits, factor 0 first."""
        return range(len(self.radices) - len(self.factors), len(self.radices))

    @cached_property
    def digit_names(self) -> tuple[str, ...]:
        """One name a digit: ``c2`` (class bit), ``u2_0`` (cluster id of level 2), ``b0`` (base digit)."""
        names = [f"b{position - self.base_digits[0]}" for position in range(len(self.radices))]
        for level, layout in enumerate(self.levels, start=1):
            names[layout.class_digit] = f"c{level}"
            for order, position in enumerate(layout.cluster):
                names[position] = f"u{level}_{order}"
        return tuple(names)

    @property
    def is_nested(self) -> bool:
        """Whether SN^k is a subset of SN^(k-1), and so on down to SN^1."""
        sets = [set(level.super_node_factors) for level in self.levels]
        return all(upper <= lower for lower, upper in pairwise(sets))

    @property
    def node_symmetric(self) -> bool:
        """Whether the network is node-symmetric: symmetric factors and nested super-nodes (docs/errata.md, E2)."""
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

    def encode_from(self, node: Any, digits: Digits, moved: Digits) -> Any:
        """Return the node number of `moved`, given that of `digits`."""
        return super().encode_from(node, self._renumber(digits), self._renumber(moved))

    def _renumber(self, digits: Digits) -> Digits:
        """Swap the two fields of a class-1 dual-cube node, which keeps its node id in the middle; its own inverse."""
        if not isinstance(self.spec, DualCube):
            return digits
        (level,) = self.levels
        result, in_class_1 = list(digits), digits[level.class_digit]
        for one, other in zip(level.cluster, level.super_node, strict=True):
            difference = (digits[one] - digits[other]) * in_class_1
            result[one], result[other] = digits[one] - difference, digits[other] + difference
        return tuple(result)

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbour behind `port`, which must exist (see :meth:`has_port`)."""
        description, result = self.ports[port], list(digits)
        if description.level == 0:
            position = self.base_digits[description.factor]
            result[position] = (digits[position] + description.step) % self.radices[position]
            return tuple(result)
        level = self.levels[description.level - 1]
        result[level.class_digit] = 1 - digits[level.class_digit]
        for cluster, inner in zip(level.cluster, level.super_node, strict=True):
            result[cluster], result[inner] = digits[inner], digits[cluster]
        return tuple(result)

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

    def address_of(self, digits: Digits) -> list[list[int]]:
        """Return the numbers of the address ``c2.U2/c1.U1/b0.b1``, each U_j one number."""
        parts = []
        for level in reversed(self.levels):
            cluster = 0
            for position in level.cluster:
                cluster = cluster * self.radices[position] + digits[position]
            parts.append([digits[level.class_digit], cluster])
        return [*parts, [digits[position] for position in self.base_digits]]

    def digits_at(self, parts: list[list[int]]) -> Digits | None:
        """Return the digits at a structured address, or None if there are none."""
        *upper, base = parts
        if len(upper) != len(self.levels) or len(base) != len(self.factors) or any(len(part) != 2 for part in upper):
            return None
        digits = [0] * len(self.radices)
        for level, (class_bit, cluster) in zip(reversed(self.levels), upper, strict=True):
            digits[level.class_digit] = class_bit
            for position in reversed(level.cluster):
                cluster, digits[position] = divmod(cluster, self.radices[position])
            if cluster:
                return None
        for position, digit in zip(self.base_digits, base, strict=True):
            digits[position] = digit
        return tuple(digits)


def _parts(spec: Product | DualNet | DualCube) -> tuple[Product, tuple[tuple[int, ...], ...]]:
    if isinstance(spec, Product):
        return spec, ()
    if isinstance(spec, DualNet):
        return spec.base, spec.super_nodes
    return cube(spec.r - 1), ((),)


def _layout(sizes: Sequence[int], super_nodes: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], tuple[Level, ...]]:
    """Lay out the digits: positions counted from the least significant end while levels are added on top."""
    radices = list(sizes)
    levels: list[tuple[int, list[int], list[int], tuple[int, ...]]] = []
    for super_node in super_nodes:
        prefix = len(radices) - len(sizes)
        outside = [prefix + factor for factor in range(len(sizes)) if factor not in super_node]
        super_node_positions = [*range(prefix), *outside]
        added = 1 + len(super_node_positions)
        radices = [2, *(radices[position] for position in super_node_positions), *radices]
        levels = [
            (digit + added, [p + added for p in cluster], [p + added for p in inner], factors)
            for digit, cluster, inner, factors in levels
        ]
        inner = [position + added for position in super_node_positions]
        levels.append((0, list(range(1, added)), inner, tuple(super_node)))
    layouts = tuple(Level(digit, tuple(cluster), tuple(inner), factors) for digit, cluster, inner, factors in levels)
    return tuple(radices), layouts


def dual_network(network: Network, what: str) -> DualNetwork:
    """Return `network` if it is a product or dual-net.

    Raises
    ------
    SpecError
        If it is another one; `what` says what needs levels and factors.
    """
    if not isinstance(network, DualNetwork):
        raise SpecError(f"{what} is for products and dual-nets; {network.spec} is neither")
    return network
