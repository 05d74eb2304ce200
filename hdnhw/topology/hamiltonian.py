"""Hamiltonian cycles of products of graphs, and of dual-nets over them (docs/results/09-embeddings.md)."""

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from hdnhw.spec import Factor
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork

Integers = npt.NDArray[np.int64]

POOL, ATTEMPTS = 16, 32
"""Cycles that a cluster may have, and choices for all clusters, where they are joined two by two."""

Joint = tuple[int, int, int, int]
"""A cluster of class 0, one of class 1, and two places in a super-node."""


def hamiltonian_cycle(network: DualNetwork) -> Integers:
    """Return the nodes of a network in the order of a Hamiltonian cycle; of two nodes it is their edge.

    Of a product it is made factor by factor, and of a dual-net level by level. Factors that are in all super-nodes
    are a product with the rest. Where super-nodes are single nodes, the cycle is in closed form: that of the
    clusters, less an edge each, in a round in which clusters of the two classes take turns. So it is wherever
    super-nodes are nested. Elsewhere cycles of clusters are joined two by two: an edge in a super-node of each makes
    way for two cross-edges between them. Cycles of the clusters are drawn, with a fixed seed, until this joins all.

    Parameters
    ----------
    network : DualNetwork
        A product or a dual-net over one.

    Returns
    -------
    ndarray of int64, shape (nodes,)

    Raises
    ------
    SpecError
        If there is none, as of a product of paths of odd lengths, or none is found.
    """
    maker = _Maker(network)
    found = maker.cycle(range(network.base_width), [frozenset(level.super_node_factors) for level in network.levels])
    if found is None:
        raise SpecError(f"no Hamiltonian cycle of {network.spec} is known")
    return np.asarray(network.encode(tuple(found.T)), np.int64)


def factor_order(factors: Sequence[Factor]) -> tuple[Integers, bool]:
    """Return the nodes of a product in an order in which neighbors follow each other, and whether its ends are too.

    Parameters
    ----------
    factors : sequence of Factor
        One or more.

    Returns
    -------
    ndarray of int64, shape (nodes, factors)
        Digits of the nodes.
    bool
    """
    order, is_closed = np.arange(factors[0].size)[:, None], factors[0].is_edge or factors[0].kind != "path"
    for factor in factors[1:]:
        one, other, closes = len(order), factor.size, factor.kind != "path"
        if one % 2 == 0:
            places = _comb(one, other)
        elif other % 2 == 0:
            places = _comb(other, one)[:, ::-1]
        elif is_closed and closes:
            places = _two_odd_cycles(one, other) if one >= other else _two_odd_cycles(other, one)[:, ::-1]
        elif closes:
            places = _odd_cycle_and_path(other, one)[:, ::-1]
        else:
            places = _odd_cycle_and_path(one, other) if is_closed else _rows(one, other)
        is_closed |= closes or one % 2 == 0 or other % 2 == 0
        order = np.column_stack([order[places[:, 0]], places[:, 1]])
    return order, is_closed


def _rows(rows: int, columns: int) -> Integers:
    """Return a grid row by row, every other one backwards."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    return np.column_stack([row, np.where(row % 2 == 0, column, columns - 1 - column)])


def _comb(rows: int, columns: int) -> Integers:
    """Return a cycle through a grid of an even number of rows: out and back without column 0, home along it."""
    home = np.column_stack([np.arange(rows)[::-1], np.zeros(rows, np.int64)])
    return np.concatenate([_rows(rows, columns - 1) + np.array([0, 1]), home])


def _odd_cycle_and_path(cycle: int, path: int) -> Integers:
    """Return a cycle through the product of both, of odd lengths: row by row without column 0, home along it."""
    home = np.column_stack([np.zeros(path, np.int64), np.arange(path)[::-1]])
    return np.concatenate([_rows(path, cycle - 1)[:, ::-1] + np.array([1, 0]), home])


def _two_odd_cycles(rows: int, columns: int) -> Integers:
    """Return a cycle through the product of two cycles of odd lengths, the longer one first.

    In each row the other cycle is gone round, forwards or backwards, which moves the column in which the next row
    begins by one; so many times each that it ends where it began.
    """
    row, step = np.divmod(np.arange(rows * columns), columns)
    way = np.where(2 * np.arange(rows) < rows + columns, 1, -1)
    start = np.concatenate([[0], -np.cumsum(way)])
    return np.column_stack([row, (start[row] + way[row] * step) % columns])


def _round(inner: Integers, shift: int) -> Integers:
    """Return a cycle of a level whose super-nodes are single nodes, from that of its clusters, h.

    The clusters of class 0 are visited in the order h(0), h(1), ..., and those of class 1 between them in the order
    h(shift), h(shift + 1), ... A cluster is entered at the node that is named as the cluster before it is, and left at
    that named as the next one: neighbors on h, so that it goes all the way round.
    """
    nodes = len(inner)
    turn, kind, step = np.unravel_index(np.arange(2 * nodes**2), (nodes, 2, nodes))
    cluster = np.where(kind == 0, turn, turn + shift)
    entered = np.where(kind == 0, turn + shift - 1, turn)
    return np.column_stack([kind, inner[cluster % nodes], inner[(entered - step) % nodes]])


class _Maker:
    """Makes cycles of parts of a network: the digits of the nodes, shape (nodes, digits)."""

    def __init__(self, network: DualNetwork) -> None:
        self._factors, self._random = network.factors, np.random.default_rng(0)

    def cycle(self, base: Sequence[int], levels: Sequence[frozenset[int]], *, drawn: bool = False) -> Integers | None:
        """Return a cycle of the dual-net over some of the factors, with these super-nodes; any one if it is drawn."""
        if not levels:
            return self._product(base, drawn=drawn)
        common = frozenset.intersection(*levels)
        if common and not (drawn and self._random.integers(2)):
            rest = [factor for factor in base if factor not in common]
            found = self.cycle(rest, [level - common for level in levels], drawn=drawn)
            return None if found is None else self._multiply(found, rest, sorted(common), drawn=drawn)
        if levels[-1]:
            return self._joined(base, levels)
        inner = self.cycle(base, levels[:-1], drawn=drawn)
        return None if inner is None else _round(inner, int(self._random.integers(len(inner))) if drawn else 0)

    def _product(self, base: Sequence[int], *, drawn: bool) -> Integers | None:
        if not base:
            return np.zeros((1, 0), np.int64)
        found, is_closed = self._order(base, drawn=drawn)
        return found if is_closed else None

    def _order(self, base: Sequence[int], *, drawn: bool) -> tuple[Integers, bool]:
        """Return :func:`factor_order` of some factors; if it is drawn, of their orders and turns any one."""
        order = self._random.permutation(len(base)) if drawn else np.arange(len(base))
        factors = [self._factors[base[place]] for place in order]
        found, is_closed = factor_order(factors)
        if drawn:
            sizes = [factor.size for factor in factors]
            found = (found + self._random.integers(sizes)) % sizes
        return found[:, np.argsort(order)], is_closed

    def _multiply(self, cycle: Integers, rest: Sequence[int], common: Sequence[int], *, drawn: bool) -> Integers:
        """Return a cycle of the product with factors whose digits stand among those of the base."""
        beside, _ = self._order(common, drawn=drawn)
        places = _comb(len(cycle), len(beside))
        first = int(self._random.integers(len(cycle))) if drawn else 0
        digits = np.column_stack([cycle[places[:, 0] - first], beside[places[:, 1]]])
        ahead = cycle.shape[1] - len(rest)
        return digits[:, [*range(ahead), *(ahead + np.argsort([*rest, *common]))]]

    def _joined(self, base: Sequence[int], levels: Sequence[frozenset[int]]) -> Integers | None:
        first = self.cycle(base, levels[:-1])
        if first is None:
            return None
        ahead = first.shape[1] - len(base)
        inside = [ahead + place for place, factor in enumerate(base) if factor in levels[-1]]
        clusters, pool = _Clusters(first, inside), [first]
        for attempt in range(ATTEMPTS):
            if attempt < POOL:
                drawn = self.cycle(base, levels[:-1], drawn=True)
                pool += [] if drawn is None else [drawn]
            chosen = self._random.integers(len(pool), size=2 * clusters.count) if attempt else [0] * 2 * clusters.count
            found = clusters.joined([pool[choice] for choice in chosen], self._random)
            if found is not None:
                return found
        return None


class _Clusters:
    """Clusters of a level, whose cycles are joined in super-nodes of several nodes.

    Parameters
    ----------
    inner : ndarray of int64
        The digits of the nodes of a cluster, in any order.
    inside : sequence of int
        Digits of a node in its super-node; the others name it.
    """

    def __init__(self, inner: Integers, inside: Sequence[int]) -> None:
        self._radices = tuple(inner.max(axis=0) + 1)
        self._inside = list(inside)
        self._outside = [place for place in range(inner.shape[1]) if place not in inside]
        self.count, self._size = prod(self._of(self._outside)), len(inner)

    def _of(self, places: Sequence[int]) -> tuple[int, ...]:
        return tuple(int(self._radices[place]) for place in places)

    def joined(self, cycles: Sequence[Integers], random: np.random.Generator) -> Integers | None:
        """Return the digits of a cycle through all clusters, made of one of each, or None if they cannot be joined."""
        joints = self._joints(cycles, random)
        return self._walk(cycles, joints) if len(joints) == len(cycles) - 1 else None

    def _joints(self, cycles: Sequence[Integers], random: np.random.Generator) -> list[Joint]:
        """Return any tree of joints: places that follow each other in both cycles, in the super-nodes that face."""
        known, joints, root = [self._edges(cycle) for cycle in cycles], list[Joint](), list(range(len(cycles)))

        def top(cluster: int) -> int:
            while root[cluster] != cluster:
                cluster = root[cluster]
            return cluster

        for pair in random.permutation(self.count**2).tolist():
            one, other = divmod(pair, self.count)
            ends = top(one), top(self.count + other)
            common = known[one].get(other, set()) & known[self.count + other].get(one, set())
            if common and ends[0] != ends[1]:
                root[ends[0]] = ends[1]
                joints.append((one, other, *min(common)))
        return joints

    def _edges(self, cycle: Integers) -> dict[int, set[tuple[int, int]]]:
        """Return by super-node the places in it that follow each other in a cycle."""
        found: dict[int, set[tuple[int, int]]] = {}
        nodes = list(zip(self._number(cycle, self._outside), self._number(cycle, self._inside), strict=True))
        for (super_node, place), (following, other) in zip(nodes, [*nodes[1:], nodes[0]], strict=True):
            if super_node == following:
                found.setdefault(super_node, set()).add((min(place, other), max(place, other)))
        return found

    def _number(self, nodes: Integers, places: Sequence[int]) -> list[int]:
        """Return the numbers that some digits of nodes make."""
        number = np.zeros(len(nodes), np.int64)
        for place in places:
            number = number * self._radices[place] + nodes[:, place]
        return number.tolist()

    def _walk(self, cycles: Sequence[Integers], joints: Sequence[Joint]) -> Integers:
        """Return the cycle that is left when cross-edges take the place of the edges that they join."""
        beside = [list[int]() for _ in range(len(cycles) * self._size)]
        for cluster, cycle in enumerate(cycles):
            nodes = [cluster * self._size + number for number in self._number(cycle, range(cycle.shape[1]))]
            for one, other in zip(nodes, [*nodes[1:], nodes[0]], strict=True):
                beside[one].append(other)
                beside[other].append(one)
        for one, other, *places in joints:
            near = [one * self._size + self._node(other, place) for place in places]
            far = [(self.count + other) * self._size + self._node(one, place) for place in places]
            for here, across in ((near, far), (far, near)):
                for end in (0, 1):
                    beside[here[end]].remove(here[1 - end])
                    beside[here[end]].append(across[end])
        order = [-1, 0]
        while len(order) <= len(beside):
            one, other = beside[order[-1]]
            order.append(other if one == order[-2] else one)
        return np.column_stack(np.unravel_index(order[1:], (2, *self._of(self._outside), *self._radices)))

    def _node(self, super_node: int, place: int) -> int:
        """Return the number of a node in its cluster."""
        digits = np.zeros(len(self._radices), np.int64)
        digits[self._outside] = np.unravel_index(super_node, self._of(self._outside))
        digits[self._inside] = np.unravel_index(place, self._of(self._inside))
        return int(np.ravel_multi_index(digits, self._radices))
