"""The star graph: permutations, numbered in lexicographic order."""

from collections.abc import Callable, Sequence
from typing import Any

from hdnhw.spec import Star
from hdnhw.topology.graph import Digits, Network, Port

__all__ = ["StarNetwork", "permutation"]


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

    Parameters
    ----------
    spec : Star
    """

    spec: Star

    def __init__(self, spec: Star) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = tuple(Port(f"place{place}", place - 1) for place in range(1, spec.n))

    @property
    def digit_names(self) -> tuple[str, ...]:
        """One name a digit of the rank in the factorial base: ``f0``, ``f1``, ..."""
        return tuple(f"f{place}" for place in range(self.spec.n - 1))

    @property
    def node_symmetric(self) -> bool:
        """A Cayley graph is node-symmetric."""
        return True

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``floor(3 (n - 1) / 2)`` (Akers and Krishnamurthy, 1989)."""
        return 3 * (self.spec.n - 1) // 2

    def symbols(self, digits: Digits) -> list[Any]:
        """Return the symbols of a node, place by place."""
        return permutation([*digits, digits[0] * 0], _reaches)

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbour behind `port`."""
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
