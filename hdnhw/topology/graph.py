"""What all networks have in common: digits, ports, neighbors and addresses, by arithmetic.

A node is a tuple of mixed-radix digits, most significant first, and in most networks its number is that of these
digits. Every operation works on Python integers and, digit by digit, on numpy integer arrays alike, so one definition
serves a single node and a search over millions.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from math import prod
from operator import index
from typing import Any, SupportsIndex

from hdnhw.spec import NetworkSpec
from hdnhw.topology.family import Family

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
    opposite : int
        Index of the port on which the neighbor sees the same edge.
    """

    name: str
    opposite: int


def own_inverses(names: Iterable[str]) -> tuple[Port, ...]:
    """Return ports each of which is seen as the same one from the other end."""
    return tuple(Port(name, index) for index, name in enumerate(names))


def flip(digits: Digits, place: int) -> Digits:
    """Return `digits` with one bit flipped."""
    return (*digits[:place], digits[place] ^ 1, *digits[place + 1 :])


class Network(ABC):
    """A network: its nodes, and the ports between them.

    Attributes
    ----------
    spec : NetworkSpec
    family : Family
        Of a network that :func:`hdnhw.networks.build.build` has made.
    radices : tuple of int
        Radix of each digit of a node, most significant first.
    ports : tuple of Port
    num_nodes : int
    """

    spec: NetworkSpec
    family: Family
    radices: tuple[int, ...]
    ports: tuple[Port, ...]

    @cached_property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return prod(self.radices)

    @property
    def num_terminals(self) -> int:
        """Number of nodes that have a terminal, and come first: all of them but where there are switches without."""
        return self.num_nodes

    @property
    def num_ports(self) -> int:
        """Ports of all nodes, those included that a node at a border lacks: what a table of neighbors has entries."""
        return self.num_nodes * len(self.ports)

    @property
    @abstractmethod
    def digit_names(self) -> tuple[str, ...]:
        """One name a digit."""

    @property
    @abstractmethod
    def node_symmetric(self) -> bool | None:
        """Whether the network is node-symmetric; None where no theorem says."""

    @property
    @abstractmethod
    def diameter_formula(self) -> int | None:
        """The diameter in hops as the literature gives it in closed form; None where it gives none."""

    @abstractmethod
    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`, which must exist (see :meth:`has_port`)."""

    def has_port(self, digits: Digits, port: int) -> Any:
        """Return whether the node has an edge behind `port`."""
        return (digits[0] >= 0) & (port < len(self.ports))

    def port_count(self, port: int) -> int:
        """Return how many nodes have `port`."""
        return self.num_nodes if port < len(self.ports) else 0

    @property
    def port_sets(self) -> frozenset[tuple[int, ...]]:
        """The distinct sets of ports that nodes have, as ascending indices."""
        return frozenset({tuple(range(len(self.ports)))})

    @property
    def is_regular(self) -> bool:
        """Whether all nodes have equally many edges."""
        counts, first = [self.port_count(port) for port in range(len(self.ports))], self.decode(0)
        if all(count == self.num_nodes for count in counts):
            return True
        degree = sum(bool(self.has_port(first, port)) for port in range(len(self.ports)))
        return sum(counts) == degree * self.num_nodes and len({len(ports) for ports in self.port_sets}) == 1

    def decode(self, node: Any) -> Digits:
        """Return the digits of node number `node`."""
        digits = []
        for radix in reversed(self.radices):
            rest = node // radix
            digits.append(node - rest * radix)
            node = rest
        return tuple(reversed(digits))

    def encode(self, digits: Digits) -> Any:
        """Return the node number of `digits`."""
        node: Any = 0
        for digit, radix in zip(digits, self.radices, strict=True):
            node = node * radix + digit
        return node

    def check_node(self, node: SupportsIndex) -> int:
        """Return `node` as an int, or raise TypeError or ValueError if it is not a node number."""
        if isinstance(node, bool) or not isinstance(node, SupportsIndex):
            raise TypeError(f"node must be an integer, not {node!r}")
        number = index(node)
        if not 0 <= number < self.num_nodes:
            raise ValueError(f"node of {self.spec} must be 0 to {self.num_nodes - 1}, not {number}")
        return number

    def encode_from(self, node: Any, digits: Digits, moved: Digits) -> Any:
        """Return the node number of `moved`, given that of `digits`: what was not replaced is not looked at again."""
        weight = 1
        for old, new, radix in zip(reversed(digits), reversed(moved), reversed(self.radices), strict=True):
            if new is not old:
                node = node + (new - old) * weight
            weight *= radix
        return node

    def neighbors(self, node: int) -> dict[str, int]:
        """Return port name -> neighbor's node number, for the ports that `node` has."""
        digits = self.decode(self.check_node(node))
        return {
            port.name: int(self.encode(self.move(digits, number)))
            for number, port in enumerate(self.ports)
            if self.has_port(digits, number)
        }

    def format_node(self, node: int) -> str:
        """Return the structured address of `node`.

        Examples
        --------
        >>> from hdnhw.networks.build import build
        >>> build("rdn(cube(3), 1)").format_node(77)
        '1.1/1.0.1'
        >>> build("hsn(2, star(4))").format_node(77)
        '0.2.3.1/0.3.2.1'
        """
        parts = self.address_of(self.decode(self.check_node(node)))
        return "/".join(".".join(str(item) for item in part) for part in parts)

    def paper_address(self, node: int) -> str:
        """Return a node in the digits of its paper: where these are no others, as :meth:`format_node` does."""
        return self.format_node(node)

    def parse_node(self, text: str) -> int:
        """Read a node number or a structured address, as :meth:`format_node` prints it.

        Raises
        ------
        ValueError
            If the text is neither, or names no node. Only ASCII digits, dots and slashes are read. A number with
            leading zeros is refused, as it may be meant as digits.
        """
        if ADDRESS.fullmatch(text) is None:
            raise ValueError(
                f"node of {self.spec} must be 0 to {self.num_nodes - 1} or an address such as {self.format_node(0)}, "
                f"not {text!r}"
            )
        if text.isdigit():
            if len(text) > 1 and text[0] == "0":
                raise ValueError(
                    f"node of {self.spec} must be 0 to {self.num_nodes - 1} without leading zeros, or an address such "
                    f"as {self.format_node(0)}, not {text!r}"
                )
            return self.check_node(int(text))
        digits = self.digits_at([[int(item) for item in part.split(".")] for part in text.split("/")])
        if digits is None or any(not 0 <= digit < radix for digit, radix in zip(digits, self.radices, strict=True)):
            last = self.format_node(self.num_nodes - 1)
            raise ValueError(f"node address of {self.spec} must be {self.format_node(0)} to {last}, not {text!r}")
        return int(self.encode(digits))

    @property
    def groups(self) -> tuple[int, ...]:
        """How many digits stand in each part of an address."""
        return (len(self.radices),)

    def address_of(self, digits: Digits) -> list[list[int]]:
        """Return the numbers in a structured address, part by part."""
        rest = iter(digits)
        return [[int(next(rest)) for _ in repeat(None, size)] for size in self.groups]

    def digits_at(self, parts: list[list[int]]) -> Digits | None:
        """Return the digits at a structured address, which may be out of range, or None if its parts do not fit."""
        if [len(part) for part in parts] != list(self.groups):
            return None
        return tuple(item for part in parts for item in part)
