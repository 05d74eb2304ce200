"""Spanning trees from every node that an address names: which port leads to a source, by digits alone.

A family has some trees with weights, and each source sends the part of its vector that is a tree's weight along it. A
family is *balanced* if each node hears as much over each port, of all sources together: (n - 1) / d vectors, on n nodes
of degree d. No trees take less. Edges, rings and complete graphs have balanced families; so have products of networks
that have one, and dual-nets over them, by the weight of a single choice. Over such a nucleus an HSN has a family that
takes (N - 1) / d, d the degree of the nucleus, which is the least, as leaders have no more ports
(docs/results/07-long-vectors.md has the proofs).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product
from math import prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hdnhw.spec import Factor
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Digits, Network
from hdnhw.topology.levels import Level
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.packing import Packing
from hdnhw.topology.swapped import SwappedNetwork

GOLDEN = (5**0.5 - 1) / 2
"""Whose multiples, modulo 1, are spread evenly."""

Ports = npt.NDArray[np.int64]


class TreeFamily(Protocol):
    """Spanning trees from each node of a network, or of the part of one that some digits make.

    Attributes
    ----------
    nodes, degree : int
    weights : tuple of Fraction
        Part of a vector that is sent along each tree; they add up to 1.
    """

    @property
    def nodes(self) -> int: ...
    @property
    def degree(self) -> int: ...
    @property
    def weights(self) -> tuple[Fraction, ...]: ...

    def ports(self, tree: int, source: Digits, node: Digits) -> Ports:
        """Return the port over which a node, given by arrays of digits, hears of a source; -1 if it is the source."""
        ...


@dataclass(frozen=True)
class _Alone:
    """A single node."""

    nodes: int = 1
    degree: int = 0
    weights: tuple[Fraction, ...] = (Fraction(1),)

    def ports(self, tree: int, source: Digits, node: Digits) -> Ports:
        return np.full(np.broadcast_shapes(*(np.shape(digit) for digit in (*source, *node))), -1 - 0 * tree)


@dataclass(frozen=True)
class _FactorTrees:
    """Shortest routes of an edge, ring or complete graph; to the opposite node of an even ring in either direction.

    Attributes
    ----------
    factor : Factor
    place : int
        Position of its digit.
    first : int
        Its first port.
    """

    factor: Factor
    place: int
    first: int

    @property
    def nodes(self) -> int:
        return self.factor.size

    @property
    def degree(self) -> int:
        return {"complete": self.nodes - 1}.get(self.factor.kind, 1 if self.factor.is_edge else 2)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        halves = self.degree == 2 and self.factor.kind != "complete" and self.nodes % 2 == 0
        return (Fraction(1, 2),) * 2 if halves else (Fraction(1),)

    def ports(self, tree: int, source: Digits, node: Digits) -> Ports:
        ahead = (source[self.place] - node[self.place]) % self.nodes
        if self.factor.is_edge or self.factor.kind == "complete":
            step = ahead - 1
        else:
            step = (2 * ahead + tree > self.nodes) * 1
        return np.where(ahead == 0, -1, self.first + step)


@dataclass(frozen=True)
class _Both:
    """Two families of a product; where a node differs from the source in both, the last hop is in one of them."""

    one: TreeFamily
    other: TreeFamily

    @property
    def nodes(self) -> int:
        return self.one.nodes * self.other.nodes

    @property
    def degree(self) -> int:
        return self.one.degree + self.other.degree

    @property
    def weights(self) -> tuple[Fraction, ...]:
        share = Fraction(self.one.degree * (self.nodes - 1), self.degree) - (self.one.nodes - 1)
        last = share / ((self.one.nodes - 1) * (self.other.nodes - 1))
        return _products((last, 1 - last), self.one.weights, self.other.weights)

    def ports(self, tree: int, source: Digits, node: Digits) -> Ports:
        rest, second = divmod(tree, len(self.other.weights))
        in_other, first = divmod(rest, len(self.one.weights))
        one, other = self.one.ports(first, source, node), self.other.ports(second, source, node)
        return np.where(other < 0, one, np.where(one < 0, other, other if in_other else one))


@dataclass(frozen=True)
class _DualTrees:
    """A level of a dual-net whose super-nodes are single nodes of the network below.

    Attributes
    ----------
    below : TreeFamily
        Of a cluster.
    level : Level
    cross : int
        The port of the cross-edge.
    """

    below: TreeFamily
    level: Level
    cross: int

    @property
    def nodes(self) -> int:
        return 2 * self.below.nodes**2

    @property
    def degree(self) -> int:
        return self.below.degree + 1

    @property
    def weights(self) -> tuple[Fraction, ...]:
        size = self.below.nodes
        share = Fraction(self.nodes - 1, self.degree) - (2 * size - 1)
        last = share / (size - 1) ** 2 if size > 1 else Fraction(1)
        return _products((last, 1 - last), self.below.weights)

    def ports(self, tree: int, source: Digits, node: Digits) -> Ports:
        inside, inner = divmod(tree, len(self.below.weights))
        apart = source[self.level.class_digit] != node[self.level.class_digit]
        aligned, is_elsewhere = list(source), apart & False
        for cluster, place in zip(self.level.cluster, self.level.super_node, strict=True):
            aligned[place] = np.where(apart, source[cluster], source[place])
            is_elsewhere = is_elsewhere | (node[cluster] != source[cluster])
        below = self.below.ports(inner, tuple(aligned), node)
        back = np.where(below < 0, self.cross, below if inside else self.cross)
        return np.where(apart, np.where(below < 0, self.cross, below), np.where(is_elsewhere, back, below))


@dataclass(frozen=True)
class _SwapTrees:
    """The routes of section 2.3 of the HSN paper, in the nuclei along the trees of the nucleus."""

    network: SwappedNetwork
    nucleus: TreeFamily

    @property
    def nodes(self) -> int:
        return self.network.num_nodes

    @property
    def degree(self) -> int:
        return self.nucleus.degree

    @property
    def weights(self) -> tuple[Fraction, ...]:
        return self.nucleus.weights

    def ports(self, tree: int, source: Digits, node: Digits) -> Ports:
        places, own = self.network.places, self.network.places[1]
        come = [source[place] for place in own]
        swap = np.full(np.shape(source[0] + node[0]), -1)
        for level in range(self.network.spec.levels, 1, -1):
            unlike = reduce(np.logical_or, (source[place] != node[place] for place in places[level]))
            come = [np.where(unlike, source[place], digit) for place, digit in zip(places[level], come, strict=True)]
            swap = np.where(unlike, len(self.network.nucleus.ports) + level - 2, swap)
        inner = self.nucleus.ports(tree, tuple(come), tuple(node[place] for place in own))
        return np.where(inner < 0, swap, inner)


def tree_family(network: Network) -> TreeFamily:
    """Return the trees of a product, a nested dual-net over one, or an HSN over either of them.

    Raises
    ------
    SpecError
        If the network is another one, or has the paths of a mesh, diameter links or a top digit over a divisor.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> family = tree_family(build("rdn(cube(2), 1)"))
    >>> [str(weight) for weight in family.weights], family.nodes, family.degree
    (['5/27', '5/27', '17/54', '17/54'], 32, 3)
    """
    if isinstance(network, SwappedNetwork) and not (
        network.spec.diameter_links or network.spec.complement_links or network.is_cut
    ):
        inner = network.nucleus
        if isinstance(inner, DualNetwork) and _is_regular(inner):
            return _SwapTrees(network, _dual_family(inner, len(inner.levels), range(len(inner.factors))))
    elif isinstance(network, DualNetwork) and _is_regular(network):
        return _dual_family(network, len(network.levels), range(len(network.factors)))
    raise SpecError(
        "trees by digits are for products of edges, rings and complete graphs, nested dual-nets over them and HSNs "
        f"over either, without diameter links or divisor; {network.spec} is none of them"
    )


def _is_regular(network: DualNetwork) -> bool:
    """Return whether super-nodes are nested, and no factor is a path."""
    return network.is_nested and all(factor.kind != "path" or factor.is_edge for factor in network.factors)


def _dual_family(network: DualNetwork, level: int, factors: Sequence[int]) -> TreeFamily:
    """Return the family of a level of a nested dual-net over some of its factors."""
    first = {port.factor: number for number, port in reversed(list(enumerate(network.ports)))}
    inside = network.levels[level - 1].super_node_factors if level else tuple(factors)
    parts: list[TreeFamily] = [
        _FactorTrees(network.factors[factor], network.base_digits[factor], first[factor])
        for factor in factors
        if factor in inside
    ]
    if level:
        below = _dual_family(network, level - 1, [factor for factor in factors if factor not in inside])
        cross = next(number for number, port in enumerate(network.ports) if port.level == level)
        parts.append(_DualTrees(below, network.levels[level - 1], cross))
    return reduce(_Both, parts) if parts else _Alone()


def _products(*weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(prod(chosen, start=Fraction(1)) for chosen in product(*weights))


def every_tree(network: Network, family: TreeFamily) -> Packing:
    """Return all trees of a family, not weighted, as ports between all pairs of nodes."""
    nodes = np.arange(network.num_nodes)
    digits = network.decode(nodes)
    source, node = tuple(digit[:, None] for digit in digits), tuple(digit[None, :] for digit in digits)
    ports = [family.ports(tree, source, node).astype(np.int16) for tree in range(len(family.weights))]
    return Packing(neighbor_table(network), np.stack(ports))


def digit_packing(network: Network, parts: int) -> Packing:
    """Return trees by digits for vectors cut into so many parts: as many of each tree as its weight says, rounded.

    A node may hear of each part as in any of the trees, since all lead nearer to the source. Where rounding begins is
    different for each pair of nodes, by their numbers, so that it evens out over the sources.

    Parameters
    ----------
    network : Network
        As for :func:`tree_family`.
    parts : int
        :attr:`hdnhw.topology.packing.Packing.time` comes nearer to the best the more there are.
    """
    family = tree_family(network)
    ends, packing = np.cumsum([float(weight) for weight in family.weights]), every_tree(network, family)
    nodes = np.arange(network.num_nodes)
    begin = (nodes[:, None] + nodes) * GOLDEN % 1
    chosen = np.searchsorted(ends[:-1], (np.arange(parts)[:, None, None] + begin) / parts, side="right")
    return Packing(packing.table, np.take_along_axis(packing.ports, chosen, axis=0))
