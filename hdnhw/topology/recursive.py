"""Recursive dual-nets over regular networks that are no products, such as star and Petersen graphs."""

from typing import Any

from hdnhw.spec import RecursiveDualNet
from hdnhw.topology.graph import Digits, Network
from hdnhw.topology.levels import DualPort, LeveledNetwork, cross_ports, lay_out


class RecursiveDualNetwork(LeveledNetwork):
    """RDN(B, k) over any regular network B (RDN paper, section II): all super-nodes are single nodes.

    Ports are those of B, then ``cross1`` to ``crossk``.

    Parameters
    ----------
    spec : RecursiveDualNet
    base : Network
        The network of ``spec.base``.
    """

    spec: RecursiveDualNet

    def __init__(self, spec: RecursiveDualNet, base: Network) -> None:
        self.spec, self.base, self.base_width = spec, base, len(base.radices)
        self.radices, self.levels = lay_out(base.radices, [()] * spec.levels)
        ports = [DualPort(port.name, port.opposite, 0, -1, 0) for port in base.ports]
        self.ports = (*ports, *cross_ports(len(ports), spec.levels))

    @property
    def node_symmetric(self) -> bool | None:
        """It is if B is: an automorphism of B can be applied to the cluster id or to the inner node by itself."""
        return True if self.base.node_symmetric else None

    @property
    def diameter_formula(self) -> int | None:
        """The closed form ``2^k D_0 + 2^(k+1) - 2`` (RDN paper, Theorem 1), of B's own closed form."""
        inner = self.base.diameter_formula
        return None if inner is None else self.diameter_over(inner)

    def diameter_over(self, inner: int) -> int:
        """Return the diameter if that of B is `inner` (RDN paper, Theorem 1).

        Between two nodes of different clusters of a class, a shortest route has both cluster id and inner node to
        change, each by a route of level k - 1, and takes two cross-edges; no other pair of nodes needs more.
        """
        return (inner + 2 << self.spec.levels) - 2

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`, which must exist (see :meth:`has_port`)."""
        level, first = self.ports[port].level, self.base_digits[0]
        if level:
            return self.cross(digits, level)
        return (*digits[:first], *self.base.move(digits[first:], port))

    def has_port(self, digits: Digits, port: int) -> Any:
        """Return whether the node has an edge behind `port`: cross-edges are everywhere."""
        if self.ports[port].level:
            return digits[0] >= 0
        return self.base.has_port(digits[self.base_digits[0] :], port)

    def port_count(self, port: int) -> int:
        """Return how many nodes have `port`."""
        if self.ports[port].level:
            return self.num_nodes
        return self.num_nodes // self.base.num_nodes * self.base.port_count(port)

    @property
    def port_sets(self) -> frozenset[tuple[int, ...]]:
        """The distinct sets of ports that nodes have: those in B, with all cross-edges."""
        crosses = range(len(self.base.ports), len(self.ports))
        return frozenset((*own, *crosses) for own in self.base.port_sets)

    def base_address_of(self, digits: Digits) -> list[list[int]]:
        """Return the address of a base node as B writes it."""
        return self.base.address_of(digits)

    def base_digits_at(self, parts: list[list[int]]) -> Digits | None:
        """Return the digits of the base node at an address that B reads."""
        return self.base.digits_at(parts)
