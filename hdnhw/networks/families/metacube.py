"""The metacube and the exchanged hypercube: in each class of nodes another field of the address can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.step import Step, first_of
from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import check_address, dimension, integer
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, flip, own_inverses

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class Metacube(NetworkSpec, maker="metacube"):
    """The metacube MC(k, m): 2^k classes, each of which has a field of m bits.

    Attributes
    ----------
    k, m : int
        Each at least 1.
    """

    k: int
    m: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Bits of the field of each class."""
        return (self.m,) * (1 << self.k)

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit: the bits of the class, then the fields, that of class 0 last."""
        return (2,) * (self.k + sum(self.widths))


@dataclass(frozen=True, repr=False)
class ExchangedCube(NetworkSpec, maker="exchanged_cube"):
    """The exchanged hypercube EH(s, t): two classes, with fields of s and t bits.

    Attributes
    ----------
    s, t : int
        Each at least 1.
    """

    s: int
    t: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Bits of the field of each class."""
        return self.s, self.t

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit: the fields of class 0 and of class 1, then the bit of the class."""
        return (2,) * (self.s + self.t + 1)


def metacube(k: int, m: int) -> Metacube:
    """Make the metacube of 2^(m 2^k + k) nodes of degree m + k (Li, Peng and Chu, 2010)."""
    made = Metacube(dimension("metacube", k, 1), integer(m, "metacube field bits", 1))
    check_address(str(made), made.k + made.m * 2**made.k)
    return made


def exchanged_cube(s: int, t: int) -> ExchangedCube:
    """Make the exchanged hypercube of 2^(s + t + 1) nodes of degree s + 1 and t + 1 (Loh, Hsu and Pan, 2005)."""
    made = ExchangedCube(integer(s, "exchanged_cube field bits", 1), integer(t, "exchanged_cube field bits", 1))
    check_address(str(made), made.s + made.t + 1)
    return made


class FieldNetwork(Network):
    """A metacube or exchanged hypercube: a node can change the field of its class, and the class.

    Port ``dimJ`` flips bit J of the field, ``crossJ`` bit J of the class, counted from the most significant one.

    Attributes
    ----------
    fields : tuple of range
        Places of the digits of the field of each class.
    classes : range
        Places of the bits of the class.
    """

    spec: Metacube | ExchangedCube

    def __init__(self, spec: Metacube | ExchangedCube) -> None:
        self.spec, self.radices, widths = spec, spec.radices, spec.widths
        bits = len(spec.radices) - sum(widths)
        if isinstance(spec, Metacube):
            self.classes = range(bits)
            self.fields = tuple(range(end - spec.m, end) for end in range(len(spec.radices), bits, -spec.m))
        else:
            self.fields = range(spec.s), range(spec.s, spec.s + spec.t)
            self.classes = range(spec.s + spec.t, len(spec.radices))
        dims = [f"dim{place}" for place in range(max(widths))]
        self.ports = own_inverses([*dims, *(f"cross{place}" for place in range(bits))])

    @property
    def digit_names(self) -> tuple[str, ...]:
        """``c0`` (a bit of the class), ``u1_0`` (the first bit of the field of class 1), and so on."""
        names = {place: f"c{order}" for order, place in enumerate(self.classes)}
        for number, field in enumerate(self.fields):
            names |= {place: f"u{number}_{order}" for order, place in enumerate(field)}
        return tuple(names[place] for place in range(len(names)))

    @property
    def node_symmetric(self) -> bool:
        """Where all fields have one width, flipping bits of the class exchanges fields."""
        return len(set(self.spec.widths)) == 1

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``2^k (m + 1)`` or ``s + t + 2``: each bit of a field once, and a way through all classes."""
        return sum(self.spec.widths) + len(self.fields)

    @property
    def groups(self) -> tuple[int, ...]:
        """The class and the fields."""
        parts = sorted([self.classes, *self.fields], key=lambda part: part.start)
        return tuple(map(len, parts))

    def _in_class(self, digits: Digits, number: int) -> Any:
        """Return 1 for nodes of a class, 0 for others."""
        result = 1
        for order, place in enumerate(reversed(self.classes)):
            result = result & (digits[place] ^ (~number >> order & 1))
        return result

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        dims = len(self.ports) - len(self.classes)
        if port >= dims:
            return flip(digits, self.classes[port - dims])
        moved = list(digits)
        for number, field in enumerate(self.fields):
            if port < len(field):
                moved[field[port]] = digits[field[port]] ^ self._in_class(digits, number)
        return tuple(moved)

    def has_port(self, digits: Digits, port: int) -> Any:
        """Return whether the node has an edge behind `port`: no ``dimJ`` where the field has no bit J."""
        without = [
            number for number, width in enumerate(self.spec.widths) if port in range(width, max(self.spec.widths))
        ]
        return (digits[0] >= 0) & (sum(self._in_class(digits, number) for number in without) == 0)

    def port_count(self, port: int) -> int:
        """Return how many nodes have `port`."""
        classes = sum(port in ports for ports in self._ports_of_classes)
        return self.num_nodes // len(self.fields) * classes

    @property
    def _ports_of_classes(self) -> list[tuple[int, ...]]:
        """Return the ports of the nodes of each class."""
        crosses = range(max(self.spec.widths), len(self.ports))
        return [(*range(width), *crosses) for width in self.spec.widths]

    @property
    def port_sets(self) -> frozenset[tuple[int, ...]]:
        """The distinct sets of ports that nodes have."""
        return frozenset(self._ports_of_classes)


def step(circuit: Circuit, network: FieldNetwork, cur: Sequence[Term], dst: Sequence[Term], _modes: str) -> Step:
    """Decide to set the field of the own class, then to cross if the other field or the class is wrong.

    Within a field it is dimension order. Routes are shortest. The class of a packet that has two crossings ahead is 0,
    with one ahead it is that of the node, with none 1.
    """
    (place,) = network.classes
    own_class, away = cur[place], ~cur[place].eq(dst[place])
    wrong = [[~cur[bit].eq(dst[bit]) for bit in field] for field in network.fields]
    fields = zip_longest(*wrong, fillvalue=circuit.constant(0))
    own = [own_class.mux(high, low) for low, high in fields]
    twice = ~away & own_class.mux(circuit.any_of(wrong[0]), circuit.any_of(wrong[1]))
    take = dict(enumerate(first_of(circuit, [*own, away | twice])))
    bits = [~twice & (own_class | ~away)]
    return Step(~circuit.any_of([*own, away, twice]), take, dict.fromkeys(take, bits))


def layout(network: FieldNetwork) -> Block:
    """Return the nodes as those of a cube."""
    from hdnhw.topology.places import EDGE, of_factors

    return of_factors((EDGE,) * len(network.radices))


FAMILIES = (
    Family(makers=(metacube,), spec=Metacube, network=FieldNetwork, layout=layout),
    Family(
        makers=(exchanged_cube,),
        spec=ExchangedCube,
        network=FieldNetwork,
        step=step,
        is_shortest=True,
        layout=layout,
    ),
)
