"""Nodes of a dual-net as nested tuples of digits, and walks between them: what builds paths by address arithmetic.

A node of level j is the tail of a node's digits that starts with the class bit c_j: (c_j, U_j, a node of level j - 1).
A node of level 0 is the base digits alone. What happens inside a cluster touches no digit before the tail.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from hdnhw.spec import Factor
from hdnhw.topology.dualnet import DualNetwork

Node = tuple[int, ...]
"""Digits of a node of some level."""

Walk = tuple[Node, ...]
"""Nodes one hop apart, both ends included."""

Move = tuple[int, int]
"""A port: a factor and what is added to its digit, or -1 and the level of a cross-edge."""


@dataclass(frozen=True, eq=False)
class Nest:
    """The levels of a network."""

    network: DualNetwork

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Position of the first digit of a node of each level, level 0 first."""
        return (self.network.base_digits[0], *(level.class_digit for level in self.network.levels))

    def inside(self, level: int, factor: int) -> bool:
        """Whether a factor of the base is in SN^level."""
        return factor in self.network.levels[level - 1].super_node_factors

    def split(self, level: int, node: Node) -> tuple[int, Node, Node]:
        """Return class bit, cluster id and inner part of a node of `level`."""
        end = 1 + len(self.network.levels[level - 1].cluster)
        return node[0], node[1:end], node[end:]

    def super_node(self, level: int, inner: Node) -> Node:
        """Return the id of the super-node SN^level of a node of level - 1."""
        start = self.starts[level - 1]
        return tuple(inner[position - start] for position in self.network.levels[level - 1].super_node)

    def in_super_node(self, level: int, inner: Node, name: Node) -> Node:
        """Return the node of level - 1 at the place of `inner` in the super-node SN^level of that id."""
        start, digits = self.starts[level - 1], list(inner)
        for position, digit in zip(self.network.levels[level - 1].super_node, name, strict=True):
            digits[position - start] = digit
        return tuple(digits)

    def cross(self, level: int, node: Node) -> Node:
        """Return the other end of the cross-edge of `level` of a node of that level or of a higher one."""
        head, tail = self.cut(level, node)
        class_bit, cluster, inner = self.split(level, tail)
        other = self.super_node(level, inner)
        return (*head, 1 - class_bit, *other, *self.in_super_node(level, inner, cluster))

    def cut(self, level: int, node: Node) -> tuple[Node, Node]:
        """Return the digits before the part of `level`, and that part."""
        place = len(node) - (len(self.network.radices) - self.starts[level])
        return node[:place], node[place:]

    def digit(self, node: Node, factor: int) -> int:
        """Return a base digit."""
        return node[factor - len(self.network.factors)]

    def put(self, node: Node, factor: int, digit: int) -> Node:
        """Return `node` with another base digit."""
        place = len(node) + factor - len(self.network.factors)
        return (*node[:place], digit, *node[place + 1 :])

    def moves(self, level: int, factors: Iterable[int]) -> list[Move]:
        """Return the ports along `factors` and over the cross-edges up to `level`."""
        moves = []
        for factor in factors:
            kind = self.network.factors[factor]
            steps = range(1, kind.size) if kind.kind == "complete" or kind.is_edge else (1, -1)
            moves += [(factor, step) for step in steps]
        return moves + [(-1, lower) for lower in range(1, level + 1)]

    def neighbor(self, node: Node, move: Move) -> Node:
        """Return the node that a port leads to."""
        factor, step = move
        if factor < 0:
            return self.cross(step, node)
        return self.put(node, factor, (self.digit(node, factor) + step) % self.network.factors[factor].size)

    def walk(self, level: int, start: Node, goal: Node, free: Collection[int] = ()) -> Walk:
        """Return the hop-by-hop route between two nodes of `level`, where base digits of `free` need not be reached.

        It is that of a rule whose modes are all f (docs/networks.md). It visits no node twice and, where the
        super-nodes are nested, is shortest.
        """
        return _walk(self, level, start, goal, tuple(free))


@lru_cache(maxsize=16)
def nest_of(network: DualNetwork) -> Nest:
    """Return the levels of a network; walks in it are remembered for as long as this is."""
    return Nest(network)


@lru_cache(maxsize=1 << 14)
def _walk(nest: Nest, level: int, start: Node, goal: Node, free: tuple[int, ...]) -> Walk:
    if level == 0:
        return _base_walk(nest, start, goal, free)
    class_bit, cluster, inner = nest.split(level, start)
    goal_class, goal_cluster, goal_inner = nest.split(level, goal)
    if class_bit == goal_class and cluster == goal_cluster:
        head = start[: len(start) - len(inner)]
        return tuple(head + node for node in _walk(nest, level - 1, inner, goal_inner, free))
    if class_bit == goal_class:
        return (start, *_walk(nest, level, nest.cross(level, start), goal, free))
    head = start[: len(start) - len(inner)]
    door = nest.in_super_node(level, goal_inner, goal_cluster)
    inside = nest.network.levels[level - 1].super_node_factors
    first = tuple(head + node for node in _walk(nest, level - 1, inner, door, inside))
    return first + _walk(nest, level, nest.cross(level, first[-1]), goal, free)


def _base_walk(nest: Nest, start: Node, goal: Node, free: tuple[int, ...]) -> Walk:
    walk = [start]
    for factor, kind in enumerate(nest.network.factors):
        if factor not in free:
            walk += [nest.put(walk[-1], factor, digit) for digit in factor_walk(kind, start[factor], goal[factor])]
    return tuple(walk)


def factor_walk(factor: Factor, start: int, end: int) -> list[int]:
    """Return the digits after `start` on the shorter way to `end` in a complete graph or a cycle."""
    if factor.kind == "complete":
        return [end] if start != end else []
    ahead = (end - start) % factor.size
    step, hops = (1, ahead) if 2 * ahead <= factor.size else (-1, factor.size - ahead)
    return [(start + step * hop) % factor.size for hop in range(1, hops + 1)]
