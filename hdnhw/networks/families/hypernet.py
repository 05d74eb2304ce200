"""Hypernets of cubelets: hypercubes each node of which has one link more, joined completely, level by level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import check_address, check_level_count, dimension, integer
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, flip, own_inverses

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class Hypernet(NetworkSpec, maker="hypernet"):
    """The (d, h)-hypernet.

    Attributes
    ----------
    d : int
        Dimension of a cubelet, at least 2.
    levels : int
        h; with one, it is the cubelet.
    """

    d: int
    levels: int

    @property
    def bits(self) -> int:
        """Bits of a node: there are ``2^(2^(h - 1) (d - 2) + h + 1)`` nodes."""
        return (self.d - 2 << self.levels - 1) + self.levels + 1

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node: all are bits."""
        return (2,) * self.bits


def hypernet(d: int, levels: int) -> Hypernet:
    """Make the hypernet of 2^(2^(h - 1) (d - 2) + h + 1) nodes, of degree d + 1 at most (Hwang and Ghosh, 1987)."""
    made = Hypernet(dimension("hypernet", d, 2), integer(levels, "hypernet levels", 1))
    check_level_count("hypernet", made.levels)
    check_address(str(made), made.bits)
    return made


class HypernetNetwork(Network):
    """The hypernet: ``dimJ`` flips bit J of a node of a cubelet, ``up`` leads to another subnet.

    By the definition each node of a cubelet has one external link. Where a network of level l - 1 has E of these left,
    that of level l is E/2 copies of it, and half of the links of each lead to the other copies, one to each; of this
    half one is left over, for input and output. Here there is no port for that, nor for links of levels above `levels`.

    The definition is at second hand; its number of nodes is that of [1]_, and with two levels diameter and connectivity
    are those of [2]_. Which half is used, and in which order, is a choice: every other link in the order of the nodes,
    and the j-th of copy i leads to the i-th of copy j. So a node that ends in 0 has a link of level 2, one that ends in
    01 of level 3, in 011 of level 4: ``up`` exchanges the number of the copy with the first of the bits after it.

    References
    ----------
    .. [1] Hwang and Ghosh, "Hypernet: a communication-efficient architecture for constructing massively parallel
       computers", 1987.
    .. [2] Huang and Chen, "Combinatorial properties of two-level hypernet networks", 1999.
    """

    spec: Hypernet

    def __init__(self, spec: Hypernet) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = own_inverses([*(f"dim{place}" for place in range(spec.d)), *["up"] * (spec.levels > 1)])

    @property
    def digit_names(self) -> tuple[str, ...]:
        """``c3_0`` (the first bit of which copy it is in level 3), ..., ``b0`` (the first one in a cubelet)."""
        fields = zip([*(f"c{level}_" for level in range(self.spec.levels, 1, -1)), "b"], self.groups, strict=True)
        return tuple(f"{name}{bit}" for name, size in fields for bit in range(size))

    @property
    def node_symmetric(self) -> bool:
        """Above one level degrees differ."""
        return self.spec.levels == 1

    @property
    def diameter_formula(self) -> int | None:
        """The diameter, d, and ``2 d + 1`` with two levels (Huang and Chen, 1999)."""
        return (self.spec.d, 2 * self.spec.d + 1, None)[min(self.spec.levels, 3) - 1]

    @property
    def groups(self) -> tuple[int, ...]:
        """The numbers of the copies, that of the highest level first, then the node of the cubelet."""
        d, levels = self.spec.d, self.spec.levels
        return (*((d - 2 << level - 2) + 1 for level in range(levels, 1, -1)), d)

    def _links(self, digits: Digits) -> Iterator[tuple[Any, range, range]]:
        """Yield for each level from 2: 1 where a node has a link of it, or left over, and the places it exchanges."""
        ends, start = 1, self.spec.bits - self.spec.d
        for place, size in enumerate(self.groups[-2::-1]):
            start -= size
            yield ends & (digits[-1 - place] ^ 1), range(start, start + size), range(start + size, start + 2 * size)
            ends = ends & digits[-1 - place]

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        if port < self.spec.d:
            return flip(digits, self.spec.bits - self.spec.d + port)
        moved = list(digits)
        for has, copy, link in self._links(digits):
            for one, other in zip(copy, link, strict=True):
                differs = has & (digits[one] ^ digits[other])
                moved[one], moved[other] = moved[one] ^ differs, moved[other] ^ differs
        return tuple(moved)

    def has_port(self, digits: Digits, port: int) -> Any:
        """Return whether the node has an edge behind `port`."""
        there: Any = 0
        for digit, moved in zip(digits, self.move(digits, port), strict=True):
            there = there | (digit ^ moved)
        return there > 0

    def port_count(self, port: int) -> int:
        """Return how many nodes have `port`."""
        if port != self.spec.d:
            return super().port_count(port)
        links = [self.num_nodes >> level for level in range(1, self.spec.levels)]
        return sum(nodes - (nodes >> size) for nodes, size in zip(links, self.groups[-2::-1], strict=True))

    @property
    def port_sets(self) -> frozenset[tuple[int, ...]]:
        """The sets of ports of nodes without ``up`` and with it."""
        return frozenset({tuple(range(self.spec.d)), tuple(range(len(self.ports)))})


def layout(network: HypernetNetwork) -> Block:
    """Return a ring of the copies of each level, and in it the cubelets."""
    from hdnhw.topology.places import EDGE, grid, nested, ring

    block = grid((EDGE,) * network.spec.d)
    for size in network.groups[-2::-1]:
        block = nested(ring(range(1 << size)), block)
    return block


FAMILY = Family(makers=(hypernet,), spec=Hypernet, network=HypernetNetwork, layout=layout)
