"""De Bruijn and Kautz graphs: words that are shifted by one letter."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from hdnhw.networks.families.graph import circle
from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import check_digits, check_ports, dimension, integer
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, Port


@dataclass(frozen=True, repr=False)
class DeBruijn(NetworkSpec, maker="debruijn"):
    """The de Bruijn graph: all words of n letters out of d.

    Attributes
    ----------
    d, n : int
        Each at least 2.
    """

    d: int
    n: int

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each letter."""
        return (self.d,) * self.n


@dataclass(frozen=True, repr=False)
class Kautz(DeBruijn, maker="kautz"):
    """The Kautz graph: the words of n letters out of d + 1 in which no letter stands twice in a row.

    Attributes
    ----------
    d, n : int
        Each at least 2.
    """

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of the first letter, and of each step from a letter to the next one."""
        return (self.d + 1, *(self.d,) * (self.n - 1))


def debruijn(d: int, n: int) -> DeBruijn:
    """Make the undirected de Bruijn graph of d^n nodes, of degree 2 d at most (de Bruijn, 1946)."""
    made = DeBruijn(integer(d, "debruijn letters", 2), dimension("debruijn", n, 2))
    _check(made)
    return made


def kautz(d: int, n: int) -> Kautz:
    """Make the undirected Kautz graph of d^n + d^(n - 1) nodes, of degree 2 d at most (Kautz, 1968)."""
    made = Kautz(integer(d, "kautz degree", 2), dimension("kautz", n, 2))
    _check(made)
    return made


def _check(made: DeBruijn) -> None:
    check_ports(str(made), 2 * made.d)
    check_digits(str(made), made.radices)


class WordNetwork(Network):
    """A de Bruijn or Kautz graph, of which directions, loops and second edges between two nodes are left out.

    Port ``leftT`` drops the first letter of a word and appends one, ``rightT`` drops the last one and puts one in
    front. The letters that may stand beside a letter are numbered from 0, in a Kautz graph from the letter after it.
    ``leftT`` appends the letter whose number is that of the dropped one and T, mod d; ``rightT`` undoes that. So a node
    has all 2 d ports, but for words aaa.. and abab..: those lead to themselves, and these to baba.. both ways.
    """

    spec: DeBruijn

    def __init__(self, spec: DeBruijn) -> None:
        self.spec, self.radices = spec, spec.radices
        left = [Port(f"left{more}", spec.d + more) for more in range(spec.d)]
        self.ports = (*left, *(Port(f"right{more}", more) for more in range(spec.d)))

    @property
    def letters(self) -> int:
        """Number of letters."""
        return self.radices[0]

    @property
    def digit_names(self) -> tuple[str, ...]:
        """``x0``, the first letter, then the numbers of the others, ``x1``, ..., beside the letters before them."""
        return tuple(f"x{place}" for place in range(self.spec.n))

    @property
    def node_symmetric(self) -> bool:
        """Degrees differ but in Kautz graphs of words ab, where each node is any other one by renaming letters."""
        return self.letters > self.spec.d and self.spec.n == 2

    @property
    def diameter_formula(self) -> int:
        """The diameter, n: from 00.. to 11.. in a de Bruijn graph, from 1010.. to 2020.. in a Kautz graph."""
        return self.spec.n

    def _number(self, letter: Any, beside: Any) -> Any:
        return (letter - (self.letters - self.spec.d) * (beside + 1)) % self.letters

    def _letter(self, number: Any, beside: Any) -> Any:
        return (number + (self.letters - self.spec.d) * (beside + 1)) % self.letters

    def word(self, digits: Digits) -> list[Any]:
        """Return the letters of a node."""
        letters = [digits[0]]
        for number in digits[1:]:
            letters.append(self._letter(number, letters[-1]))
        return letters

    def _digits(self, word: list[Any]) -> Digits:
        return (word[0], *(self._number(letter, beside) for beside, letter in pairwise(word)))

    def _shifted(self, word: list[Any], port: int) -> list[Any]:
        if port < self.spec.d:
            number = (self._number(word[0], word[1]) + port) % self.spec.d
            return [*word[1:], self._letter(number, word[-1])]
        number = (self._number(word[-1], word[-2]) - port) % self.spec.d
        return [self._letter(number, word[0]), *word[:-1]]

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        return self._digits(self._shifted(self.word(digits), port))

    def has_port(self, digits: Digits, port: int) -> Any:
        """Return whether the node has an edge behind `port`; of two to the same node the lesser word keeps the left."""
        word = self.word(digits)
        there = self._shifted(word, port)
        if port < self.spec.d:
            (there, other), kept = (there[1:], word[:-1]), word[0] < word[1]
        else:
            (there, other), kept = (there[:-1], word[1:]), word[0] > word[1]
        return (sum(x != y for x, y in zip(there, other, strict=True)) > 0) | kept

    @cached_property
    def _lacking(self) -> Counter[int]:
        """How many words abab.. with a > b lack each port, by its number; as many with a < b lack the opposite one."""
        lacking: Counter[int] = Counter()
        for apart in range(1, self.letters):
            ends = (apart, 0) if self.spec.n % 2 == 0 else (0, apart)
            lacking[(self._number(*ends) - self._number(apart, 0)) % self.spec.d] += self.letters - apart
        return lacking

    @property
    def _has_loops(self) -> bool:
        return self.letters == self.spec.d

    def port_count(self, port: int) -> int:
        """Return how many nodes have `port`."""
        if port >= len(self.ports):
            return 0
        more = port % self.spec.d
        return self.num_nodes - self._lacking[more] - self._has_loops * (more == 0) * self.letters

    @property
    def port_sets(self) -> frozenset[tuple[int, ...]]:
        """The distinct sets of ports that nodes have."""
        d = self.spec.d
        lacked = [{port} for more in self._lacking for port in (more, more + d)]
        lacked += [{0, d}] * self._has_loops + [set()] * (self.spec.n > 2)
        return frozenset(tuple(port for port in range(2 * d) if port not in lack) for lack in lacked)

    def address_of(self, digits: Digits) -> list[list[int]]:
        """Return the word."""
        return [[int(letter) for letter in self.word(digits)]]

    def digits_at(self, parts: list[list[int]]) -> Digits | None:
        """Return the digits of a word, out of range if a letter stands twice in a row; None if it is none."""
        if len(parts) != 1 or len(parts[0]) != self.spec.n or max(parts[0]) >= self.letters:
            return None
        return self._digits(parts[0])


FAMILIES = tuple(
    Family(makers=(maker,), spec=spec, network=WordNetwork, layout=circle)
    for maker, spec in ((debruijn, DeBruijn), (kautz, Kautz))
)
