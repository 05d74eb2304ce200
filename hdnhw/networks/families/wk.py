"""WK-recursive networks: complete graphs of complete graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import check_digits, check_ports, dimension, integer
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, Port

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class WKRecursive(NetworkSpec, maker="wk"):
    """The WK-recursive network WK(d, L).

    Attributes
    ----------
    d : int
        Nodes of the complete graph at each level, at least 2.
    levels : int
    """

    d: int
    levels: int

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node, most significant first."""
        return (self.d,) * self.levels


def wk(d: int, levels: int) -> WKRecursive:
    """Make the WK-recursive network of d^levels nodes, of degree d, at d corners d - 1 (Vecchia and Sanges, 1988)."""
    made = WKRecursive(integer(d, "wk nodes of a level", 2), dimension("wk", levels, 1))
    check_ports(str(made), made.d)
    check_digits(str(made), made.radices)
    return made


class WKRecursiveNetwork(Network):
    """The WK-recursive network: d copies of the one of a level less, and an edge between the corners of any two.

    A corner is a node all of whose digits are the same. Port ``byT`` adds T to the last digit, mod d. Port ``up``
    exchanges the digit that all at the end are with the one before them: ..abb is joined to ..baa. The d corners of the
    whole network have no such edge; the links by which it could grow are left out.
    """

    spec: WKRecursive

    def __init__(self, spec: WKRecursive) -> None:
        self.spec, self.radices = spec, spec.radices
        ports = [Port(f"by{step}", spec.d - 1 - step) for step in range(1, spec.d)]
        self.ports = (*ports, *[Port("up", spec.d - 1)] * (spec.levels > 1))

    @property
    def digit_names(self) -> tuple[str, ...]:
        """One name a digit, ``x0`` that of the highest level."""
        return tuple(f"x{place}" for place in range(self.spec.levels))

    @property
    def node_symmetric(self) -> bool:
        """Above one level the corners have an edge less."""
        return self.spec.levels == 1

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``2^L - 1`` (Chen and Duh, 1994)."""
        return (1 << self.spec.levels) - 1

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        if port < self.spec.d - 1:
            return (*digits[:-1], (digits[-1] + port + 1) % self.spec.d)
        last: Any = digits[-1]
        before, at_end, places = last, last == last, []
        for digit in reversed(digits):
            first, at_end = at_end & (digit != last), at_end & (digit == last)
            before = before + first * (digit - before)
            places.append((digit, at_end, first))
        return tuple(
            digit + at_end * (before - digit) + first * (last - digit) for digit, at_end, first in places[::-1]
        )

    def has_port(self, digits: Digits, port: int) -> Any:
        """Return whether the node has an edge behind `port`."""
        if port < self.spec.d - 1:
            return digits[0] >= 0
        return sum(digit != digits[0] for digit in digits) > 0

    def port_count(self, port: int) -> int:
        """Return how many nodes have `port`."""
        return super().port_count(port) - self.spec.d * (port == self.spec.d - 1 < len(self.ports))

    @property
    def port_sets(self) -> frozenset[tuple[int, ...]]:
        """The sets of ports that inner nodes and corners have."""
        return frozenset({tuple(range(self.spec.d - 1)), tuple(range(len(self.ports)))})


def layout(network: WKRecursiveNetwork) -> Block:
    """Return rings of rings."""
    from hdnhw.topology.places import nested, ring

    one = ring(range(network.spec.d))
    block = one
    for _ in range(network.spec.levels - 1):
        block = nested(one, block)
    return block


FAMILY = Family(makers=(wk,), spec=WKRecursive, network=WKRecursiveNetwork, layout=layout)
