"""Networks by arithmetic: digits, ports and neighbours of products and dual-nets, with no tables.

A node is a tuple of mixed-radix digits, most significant first; a level-k node of HDN(B, k, S) holds, from the top,
the class bit c_k, the digits of the cluster id U_k, and then the digits of a level-(k-1) node; the base digits come
last (papers/README.md section 0, from the HDN paper, section 2). Every operation works on Python integers and, digit
by digit, on numpy integer arrays alike, so one definition serves a single node and a search over millions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from operator import index
from typing import Any, SupportsIndex

from hdnhw.spec import DualCube, DualNet, Factor, NetworkSpec, Product, cube

__all__ = ["Level", "Network", "Port", "build"]

ADDRESS = re.compile(r"[0-9]{1,4000}([./][0-9]{1,4000})*")
"""What :meth:`Network.parse_node` reads; :class:`int` refuses longer runs of digits."""

Digits = tuple[Any, ...]
"""Digits of one node (ints) or of many (integer arrays of one shape)."""


@dataclass(frozen=True)
class Port:
    """One network port, the same on every router that has it.

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

    name: str
    opposite: int
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


def _factor_ports(position: int, factor: Factor, first: int) -> list[Port]:
    name = f"dim{position}"
    if factor.is_edge:
        return [Port(name, first, 0, position, 1)]
    if factor.kind == "complete":
        last = factor.size - 1
        return [Port(f"{name}_by{step}", first + last - step, 0, position, step) for step in range(1, last + 1)]
    return [Port(f"{name}_plus", first + 1, 0, position, 1), Port(f"{name}_minus", first, 0, position, -1)]


class Network:
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
    ports : tuple of Port
        Base ports in factor order, then the cross-edges from level 1 up.
    num_nodes : int
    """

    def __init__(self, spec: NetworkSpec) -> None:
        self.spec = spec
        base, super_nodes = _parts(spec)
        self.factors = base.factors
        self.radices, self.levels = _layout([factor.size for factor in base.factors], super_nodes)
        ports: list[Port] = []
        for position, factor in enumerate(base.factors):
            ports += _factor_ports(position, factor, len(ports))
        for level in range(1, len(super_nodes) + 1):
            ports.append(Port(f"cross{level}", len(ports), level, -1, 0))
        self.ports = tuple(ports)
        self.num_nodes = prod(self.radices)

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
        """Whether the network is node-symmetric: symmetric factors and nested super-nodes (papers/README.md, E2)."""
        return all(factor.is_symmetric for factor in self.factors) and self.is_nested

    def decode(self, node: Any) -> Digits:
        """Return the digits of node number `node`."""
        digits = []
        for radix in reversed(self.radices):
            digits.append(node % radix)
            node = node // radix
        return self._renumber(tuple(reversed(digits)))

    def encode(self, digits: Digits) -> Any:
        """Return the node number of `digits`."""
        node: Any = 0
        for digit, radix in zip(self._renumber(digits), self.radices, strict=True):
            node = node * radix + digit
        return node

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

    def check_node(self, node: SupportsIndex) -> int:
        """Return `node` as an int, or raise TypeError or ValueError if it is not a node number."""
        if isinstance(node, bool) or not isinstance(node, SupportsIndex):
            raise TypeError(f"node must be an integer, not {node!r}")
        number = index(node)
        if not 0 <= number < self.num_nodes:
            raise ValueError(f"node of {self.spec} must be 0 to {self.num_nodes - 1}, not {number}")
        return number

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
        if description.level or self.factors[description.factor].kind != "path":
            return digits[0] >= 0
        digit = digits[self.base_digits[description.factor]]
        size = self.factors[description.factor].size
        if size == 2:
            return digit >= 0
        return digit < size - 1 if description.step == 1 else digit > 0

    def neighbors(self, node: int) -> dict[str, int]:
        """Return port name -> neighbour's node number, for the ports that `node` has."""
        digits = self.decode(self.check_node(node))
        return {
            port.name: self.encode(self.move(digits, number))
            for number, port in enumerate(self.ports)
            if self.has_port(digits, number)
        }

    def format_node(self, node: int) -> str:
        """Return the structured address of `node`: ``c2.U2/c1.U1/b0.b1``, each U_j one number.

        Examples
        --------
        >>> from hdnhw.spec import parse
        >>> build(parse("rdn(cube(3), 1)")).format_node(77)
        '1.1/1.0.1'
        """
        digits = self.decode(self.check_node(node))
        parts = []
        for level in reversed(self.levels):
            cluster = 0
            for position in level.cluster:
                cluster = cluster * self.radices[position] + digits[position]
            parts.append(f"{digits[level.class_digit]}.{cluster}")
        parts.append(".".join(str(digits[position]) for position in self.base_digits))
        return "/".join(parts)

    def parse_node(self, text: str) -> int:
        """Read a node number or a structured address, as :meth:`format_node` prints it.

        Raises
        ------
        ValueError
            If the text is neither, or names no node. Only ASCII digits, dots and slashes are read.
        """
        if ADDRESS.fullmatch(text) is None:
            example = self.format_node(0)
            raise ValueError(f"node must be a number or an address such as {example}, not {text!r}")
        if text.isdigit():
            return self.check_node(int(text))
        parts = [[int(item) for item in part.split(".")] for part in text.split("/")]
        digits = self._digits_of_parts(parts)
        if digits is None:
            last = self.format_node(self.num_nodes - 1)
            raise ValueError(f"node address of {self.spec} must be {self.format_node(0)} to {last}, not {text!r}")
        return int(self.encode(digits))

    def _digits_of_parts(self, parts: list[list[int]]) -> Digits | None:
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
        inside = all(0 <= digit < radix for digit, radix in zip(digits, self.radices, strict=True))
        return tuple(digits) if inside else None


def _parts(spec: NetworkSpec) -> tuple[Product, tuple[tuple[int, ...], ...]]:
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


def build(spec: NetworkSpec) -> Network:
    """Return the network that `spec` names."""
    return Network(spec)
