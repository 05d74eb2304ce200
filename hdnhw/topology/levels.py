"""The levels of dual-nets, whatever network they start from: where digits stand, cross-edges, addresses.

A level-k node of HDN(B, k, S) holds, from the top, the class bit c_k, the digits of the cluster id U_k, and then the
digits of a level-(k-1) node; the digits of B come last (docs/networks.md, from the HDN paper, section 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from hdnhw.topology.graph import Digits, Network, Port


@dataclass(frozen=True)
class DualPort(Port):
    """One port of a product or dual-net.

    Attributes
    ----------
    name : str
        ``cross1`` (cross-edge of level 1); ``dim0`` (single edge), ``dim0_plus`` and ``dim0_minus`` (cycle or path),
        ``dim0_by2`` (complete graph: to the digit two further on); or as a base that is no product names it.
    opposite : int
        Index of the port on which the neighbor sees the same edge.
    level : int
        0 for a base port, j for the cross-edge of level j.
    factor : int
        Factor index of a base port, -1 for a cross-edge and for a base that is no product.
    step : int
        What a base port adds to its digit, modulo the factor's size; 0 where there is no factor.
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


def lay_out(sizes: Sequence[int], super_nodes: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], tuple[Level, ...]]:
    """Return the radices of the digits of a dual-net and its levels, from those of the base and its super-nodes.

    Positions are counted from the least significant end while levels are added on top.
    """
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


def cross_ports(first: int, levels: int) -> list[DualPort]:
    """Return the ports of the cross-edges from level 1 up, the first of which has index `first`."""
    return [DualPort(f"cross{level}", first + level - 1, level, -1, 0) for level in range(1, levels + 1)]


class LeveledNetwork(Network):
    """A dual-net on some base network; a base network alone has no levels.

    Attributes
    ----------
    levels : tuple of Level
        ``levels[j - 1]`` describes level j.
    ports : tuple of DualPort
        Those of the base, then the cross-edges from level 1 up.
    base_width : int
        Digits of a base node.
    """

    levels: tuple[Level, ...]
    ports: tuple[DualPort, ...]
    base_width: int

    @property
    def base_digits(self) -> range:
        """Positions of the base digits, factor 0 first."""
        return range(len(self.radices) - self.base_width, len(self.radices))

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

    def cross(self, digits: Digits, number: int) -> Digits:
        """Return the digits of the node at the other end of the cross-edge of level `number`."""
        level, result = self.levels[number - 1], list(digits)
        result[level.class_digit] = 1 - digits[level.class_digit]
        for cluster, inner in zip(level.cluster, level.super_node, strict=True):
            result[cluster], result[inner] = digits[inner], digits[cluster]
        return tuple(result)

    def address_of(self, digits: Digits) -> list[list[int]]:
        """Return the numbers of the address ``c2.U2/c1.U1/b0.b1``, each U_j one number."""
        parts = []
        for level in reversed(self.levels):
            cluster = 0
            for position in level.cluster:
                cluster = cluster * self.radices[position] + digits[position]
            parts.append([digits[level.class_digit], cluster])
        return [*parts, *self.base_address_of(digits[self.base_digits[0] :])]

    def digits_at(self, parts: list[list[int]]) -> Digits | None:
        """Return the digits at a structured address, or None if there are none."""
        upper, base = parts[: len(self.levels)], self.base_digits_at(parts[len(self.levels) :])
        if len(upper) != len(self.levels) or any(len(part) != 2 for part in upper) or base is None:
            return None
        digits = [0] * len(self.radices)
        for level, (class_bit, cluster) in zip(reversed(self.levels), upper, strict=True):
            digits[level.class_digit] = class_bit
            for position in reversed(level.cluster):
                cluster, digits[position] = divmod(cluster, self.radices[position])
            if cluster:
                return None
        digits[self.base_digits[0] :] = base
        return tuple(digits)

    def base_address_of(self, digits: Digits) -> list[list[int]]:
        """Return the parts of an address that stand for a base node: one, of its digits."""
        return [list(digits)]

    def base_digits_at(self, parts: list[list[int]]) -> Digits | None:
        """Return the digits of the base node at the last parts of an address, or None if they do not fit."""
        return tuple(parts[0]) if [len(part) for part in parts] == [self.base_width] else None
