"""The star graph: permutations, numbered in lexicographic order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.step import Step, class_of, count, first_of
from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import MAX_ADDRESS_BITS, check_digits, integer
from hdnhw.support.errors import SpecError
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, Port

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class Star(NetworkSpec, maker="star"):
    """The star graph S_n on the permutations of n symbols.

    Attributes
    ----------
    n : int
        Symbols, at least 2.
    """

    n: int

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node's rank in the factorial base, most significant first."""
        return tuple(range(self.n, 1, -1))


def star(n: int) -> Star:
    """Make the star graph of n! nodes (Akers and Krishnamurthy, 1989)."""
    symbols = integer(n, "star size", 2)
    if symbols > MAX_ADDRESS_BITS:
        raise SpecError(f"star size must be at most {MAX_ADDRESS_BITS}, not {symbols}")
    check_digits(f"star({symbols})", range(2, symbols + 1))
    return Star(symbols)


def permutation(digits: Sequence[Any], reaches: Callable[[Any, Any], Any]) -> list[Any]:
    """Return the symbols 0, 1, ... of the permutation whose rank has these digits in the factorial base.

    Digit i tells which of the symbols that are left stands in place i.

    Parameters
    ----------
    digits : sequence
        Most significant first; that of the last place is 0.
    reaches : callable
        Takes two values and returns 0 where the first is smaller, else 1.

    Examples
    --------
    >>> permutation([2, 0, 1, 0], lambda a, b: int(a >= b))
    [2, 0, 3, 1]
    """
    symbols: list[Any] = []
    for digit in reversed(digits):
        symbols = [digit, *(symbol + reaches(symbol, digit) for symbol in symbols)]
    return symbols


def _reaches(one: Any, other: Any) -> Any:
    return (one >= other) * 1


class StarNetwork(Network):
    """The star graph S_n: port ``placeJ`` exchanges the symbols in places 0 and J.

    A node's number is the lexicographic rank of its permutation of the symbols 0 to n - 1; its digits are those of the
    rank in the factorial base, and its address is the permutation.
    """

    spec: Star
    node_symmetric = True
    """A Cayley graph is node-symmetric."""

    def __init__(self, spec: Star) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = tuple(Port(f"place{place}", place - 1) for place in range(1, spec.n))

    @property
    def digit_names(self) -> tuple[str, ...]:
        """One name a digit of the rank in the factorial base: ``f0``, ``f1``, ..."""
        return tuple(f"f{place}" for place in range(self.spec.n - 1))

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``floor(3 (n - 1) / 2)`` (Akers and Krishnamurthy, 1989)."""
        return 3 * (self.spec.n - 1) // 2

    def symbols(self, digits: Digits) -> list[Any]:
        """Return the symbols of a node, place by place."""
        return permutation([*digits, digits[0] * 0], _reaches)

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        symbols = self.symbols(digits)
        symbols[0], symbols[port + 1] = symbols[port + 1], symbols[0]
        return self._digits(symbols)

    def _digits(self, symbols: Sequence[Any]) -> Digits:
        """Return the digits of the rank of a permutation."""
        rest, digits = list(symbols), []
        while len(rest) > 1:
            first = rest.pop(0)
            digits.append(first)
            rest = [symbol - _reaches(symbol, first) for symbol in rest]
        return tuple(digits)

    @property
    def groups(self) -> tuple[int, ...]:
        """The address is the permutation."""
        return (self.spec.n,)

    def address_of(self, digits: Digits) -> list[list[int]]:
        """Return the permutation."""
        return [[int(symbol) for symbol in self.symbols(digits)]]

    def digits_at(self, parts: list[list[int]]) -> Digits | None:
        """Return the digits of a permutation, or None if it is none."""
        if len(parts) != 1 or sorted(parts[0]) != list(range(self.spec.n)):
            return None
        return self._digits(parts[0])


def step(circuit: Circuit, network: StarNetwork, cur: Sequence[Term], dst: Sequence[Term], _modes: str) -> Step:
    """Decide to send the symbol in place 0 home; where it is home, to exchange it with the first one that is not.

    Routes are shortest. The class is the number of symbols that are wrong in the other places, less one.

    References
    ----------
    .. [1] Akers and Krishnamurthy, "A group-theoretic model for symmetric interconnection networks", 1989.
    """
    zero = circuit.constant(0)
    own, wanted = (permutation([*digits, zero], lambda one, other: ~one.lt(other)) for digits in (cur, dst))
    at_home = own[0].eq(wanted[0])
    wrong = [~x.eq(t) for x, t in zip(own[1:], wanted[1:], strict=True)]
    take = {
        port: own[0].eq(target) | (at_home & first)
        for port, (target, first) in enumerate(zip(wanted[1:], first_of(circuit, wrong), strict=True))
    }
    bits = class_of(circuit, count(circuit, wrong), network.spec.n - 1)
    return Step(~circuit.any_of(wrong), take, dict.fromkeys(take, bits))


def layout(network: StarNetwork) -> Block:
    """Return star graphs of one symbol less in a ring, by the symbol in the last place; hexagons at last."""
    from hdnhw.topology.places import Block, nested, ring

    block = ring([0, 1, 3, 2, 4, 5]) if network.spec.n > 2 else ring(range(2))
    for size in range(4, network.spec.n + 1):
        block = nested(ring(range(size)), block)
    symbols = [network.symbols(network.decode(node)) for node in range(network.num_nodes)]
    return Block(block.places[[_place_of(own) for own in symbols]], block.width, block.height)


def _place_of(symbols: list[int]) -> int:
    """Return the number of a permutation among those sorted by their last symbols."""
    index = 0
    rest = sorted(symbols)
    for symbol in reversed(symbols):
        index = index * len(rest) + rest.index(symbol)
        rest.remove(symbol)
    return index


FAMILY = Family(
    makers=(star,),
    spec=Star,
    network=StarNetwork,
    step=step,
    is_shortest=True,
    layout=layout,
)
