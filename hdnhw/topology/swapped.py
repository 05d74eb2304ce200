"""Hierarchical swapped networks: copies of a nucleus, linked by the swap of two of their digits."""

from functools import reduce
from itertools import combinations
from operator import and_
from typing import Any

from hdnhw.spec import SwappedNet
from hdnhw.topology.graph import Digits, Network, Port


class SwappedNetwork(Network):
    """HSN(l, G) (HSN paper, section 2), its variants, HCN, HFN, 3-HCN and folded HSN.

    A node is X_l .. X_1, each X_i a node of the nucleus, written with its digits. Over a divisor M_l of M, X_l is
    written with the last digits of a nucleus node where M_l is made of them, or with one digit.

    Ports are those of the nucleus, on X_1, then ``swap2`` to ``swapl``, and ``complement`` in a folded HSN. Port
    ``swapi`` exchanges X_i and X_1; a node where they are equal (a leader) has none, or, with diameter links, goes from
    a to M - 1 - a in both. At the top it exchanges X_l and X_1 mod M_l. Over a nucleus that has such ports itself they
    are ``outer_swapi``.

    Attributes
    ----------
    spec : SwappedNet
    nucleus : Network
    places : dict of int to range
        Positions of the digits of each X_i.
    top_digits : bool
        Whether the digits of X_l are, or are in the leading one contained in, the last ones of the nucleus.
    """

    spec: SwappedNet

    def __init__(self, spec: SwappedNet, nucleus: Network) -> None:
        self.spec, self.nucleus = spec, nucleus
        top = _last_digits(nucleus.radices, spec.top)
        self.top_digits = top is not None
        self.radices = (*(top or (spec.top,)), *nucleus.radices * (spec.levels - 1))
        width, end = len(nucleus.radices), len(self.radices)
        self.places = {level: range(end - width * level, end - width * (level - 1)) for level in range(1, spec.levels)}
        self.places[spec.levels] = range(end - width * (spec.levels - 1))
        self.ports = swap_ports(nucleus, spec.levels, *["complement"] * spec.complement_links)

    @property
    def digit_names(self) -> tuple[str, ...]:
        """One name a digit: ``x2_0`` is the first one of X_2."""
        return tuple(f"x{level}_{order}" for level in reversed(self.places) for order in range(len(self.places[level])))

    @property
    def node_symmetric(self) -> bool | None:
        """It is not where degrees differ, as they do without diameter links."""
        return False if len({len(ports) for ports in self.port_sets}) > 1 else None

    @property
    def is_cut(self) -> bool:
        """Whether X_l is over a divisor of M, not over M."""
        return self.spec.top != self.nucleus.num_nodes

    @property
    def diameter_formula(self) -> int | None:
        """The paper's closed form ``D_1 l + l - 1`` (HSN paper, Theorem 2.1).

        It is the true diameter without diameter links and with M_l = M; with them, or over a divisor, an upper bound.
        """
        inner, levels = self.nucleus.diameter_formula, self.spec.levels
        return None if inner is None or self.spec.complement_links else inner * levels + levels - 1

    @property
    def groups(self) -> tuple[int, ...]:
        """The digits of X_l, ..., X_1."""
        return tuple(len(self.places[level]) for level in reversed(self.places))

    def paper_address(self, node: int) -> str:
        """See :meth:`Network.paper_address`; a digit a nucleus if that has at most ten nodes."""
        if self.nucleus.num_nodes > 10:
            return super().paper_address(node)
        digits = []
        for _ in range(self.spec.levels):
            node, digit = divmod(node, self.nucleus.num_nodes)
            digits.append(str(digit))
        return "".join(reversed(digits))

    def address_of(self, digits: Digits) -> list[list[int]]:
        """Return X_l, ..., X_1, each in the parts that the nucleus writes it in; over a divisor X_l as a number."""
        parts = []
        for level in reversed(self.places):
            own = digits[self.places[level].start : self.places[level].stop]
            parts += [[self._top_number(own)]] if self._is_cut(level) else self.nucleus.address_of(own)
        return parts

    def digits_at(self, parts: list[list[int]]) -> Digits | None:
        """Return the digits at a structured address, or None if there are none."""
        width = len(self.nucleus.address_of(self.nucleus.decode(0)))
        first = 1 if self.is_cut else width
        if len(parts) != first + (self.spec.levels - 1) * width:
            return None
        digits: list[int] = []
        ends = [0, *range(first, len(parts) + 1, width)]
        for level, start, end in zip(reversed(self.places), ends, ends[1:], strict=False):
            part = parts[start:end]
            own = self._top_at(part) if self._is_cut(level) else self.nucleus.digits_at(part)
            if own is None:
                return None
            digits += own
        return tuple(digits)

    def _is_cut(self, level: int) -> bool:
        return level == self.spec.levels and self.is_cut

    def _top_number(self, digits: Digits) -> int:
        number = 0
        for digit, radix in zip(digits, self.radices, strict=False):
            number = number * radix + int(digit)
        return number

    def _top_at(self, parts: list[list[int]]) -> list[int] | None:
        (part,) = parts
        if len(part) != 1 or part[0] >= self.spec.top:
            return None
        digits, number = [], part[0]
        for place in reversed(self.places[self.spec.levels]):
            number, digit = divmod(number, self.radices[place])
            digits.append(digit)
        return digits[::-1]

    def _pairs(self, level: int) -> list[tuple[int, int]]:
        """Return the places of the digits of X_i and of those of X_1 that they change with."""
        own = self.places[level]
        return list(zip(own, self.places[1][-len(own) :], strict=True))

    def _exchanged(self, digits: Digits, level: int) -> Digits:
        """Return `digits` with X_i and X_1, or what of it counts at the top, exchanged."""
        result, nucleus = list(digits), self.places[1]
        if level == self.spec.levels and not self.top_digits:
            number = self.nucleus.encode(digits[nucleus.start :])
            rest = number % self.spec.top
            result[nucleus.start :] = self.nucleus.decode(number - rest + digits[0])
            result[0] = rest
            return tuple(result)
        for own, inner in self._pairs(level):
            rest = digits[inner] % self.radices[own]
            result[own], result[inner] = rest, digits[inner] - rest + digits[own]
        return tuple(result)

    def is_leader(self, digits: Digits, level: int) -> Any:
        """Return whether X_i and X_1, or what of it counts at the top, are equal."""
        there = self._exchanged(digits, level)
        return reduce(and_, (there[place] == digits[place] for place in self.places[level]))

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`, which must exist (see :meth:`has_port`)."""
        level, first = port - len(self.nucleus.ports) + 2, self.places[1].start
        if level < 2:
            return (*digits[:first], *self.nucleus.move(digits[first:], port))
        if level > self.spec.levels:
            return tuple(1 - digit for digit in digits)
        result = list(self._exchanged(digits, level))
        if self.spec.diameter_links:
            leader = self.is_leader(digits, level) * 1
            for place in (*self.places[level], *self.places[1]):
                result[place] = result[place] + leader * (self.radices[place] - 1 - 2 * digits[place])
        return tuple(result)

    def has_port(self, digits: Digits, port: int) -> Any:
        """Return whether the node has an edge behind `port`."""
        level, first = port - len(self.nucleus.ports) + 2, self.places[1].start
        if level < 2:
            return self.nucleus.has_port(digits[first:], port)
        if level > self.spec.levels:
            if self.spec.levels > 2:
                return digits[0] >= 0
            # There swap2 leads to the complement already.
            return reduce(and_, (digits[own] + digits[inner] == 1 for own, inner in self._pairs(2))) == 0
        missing = self.is_leader(digits, level)
        if self.spec.diameter_links:
            for place in self.places[1]:
                missing = missing & (2 * digits[place] == self.radices[place] - 1)
        return missing == 0

    def port_count(self, port: int) -> int:
        """Return how many nodes have `port`."""
        level, nucleus, nodes = port - len(self.nucleus.ports) + 2, self.nucleus.num_nodes, self.num_nodes
        if level < 2:
            return nodes // nucleus * self.nucleus.port_count(port)
        if level > self.spec.levels:
            return nodes - nodes // nucleus if self.spec.levels == 2 else nodes
        if self.spec.diameter_links:
            return nodes - (nodes // nucleus**2 if nucleus % 2 else 0)
        return nodes - nodes // (self.spec.top if level == self.spec.levels else nucleus)

    @property
    def port_sets(self) -> frozenset[tuple[int, ...]]:
        """The distinct sets of ports that nodes have."""
        first, levels = len(self.nucleus.ports), self.spec.levels
        swaps = tuple(range(first, first + levels - 1))
        full = {(*own, *swaps) for own in self.nucleus.port_sets}
        if self.spec.complement_links and levels == 2:
            own, both = range(first), {(*range(first), first, first + 1)}
            return frozenset({(*own, first), (*own, first + 1)} | (both if first > 1 else set()))
        some = (chosen for size in range(levels - 1) for chosen in combinations(swaps, size))
        if not self.spec.diameter_links:
            last = (first + levels - 1,) if self.spec.complement_links else ()
            return frozenset((*own, *chosen, *last) for chosen in (*some, swaps) for own in self.nucleus.port_sets)
        if self.nucleus.num_nodes % 2 == 0:
            return frozenset(full)
        middle = self.nucleus.decode(self.nucleus.num_nodes // 2)
        own_ports = tuple(port for port in range(first) if self.nucleus.has_port(middle, port))
        return frozenset(full | {(*own_ports, *chosen) for chosen in some})


def swap_ports(nucleus: Network, levels: int, *more: str) -> tuple[Port, ...]:
    """Return the ports of an HSN: those of the nucleus, ``swap2`` to ``swapl`` and more, by names that it has not."""
    names = [*(f"swap{level}" for level in range(2, levels + 1)), *more]
    while not {port.name for port in nucleus.ports}.isdisjoint(names):
        names = [f"outer_{name}" for name in names]
    return (*nucleus.ports, *(Port(name, number) for number, name in enumerate(names, start=len(nucleus.ports))))


def _last_digits(radices: tuple[int, ...], values: int) -> tuple[int, ...] | None:
    """Return the radices of the last digits that count to `values`, of the leading one a divisor; None if none do."""
    result: list[int] = []
    for radix in reversed(radices):
        if values == 1:
            break
        if values % radix and radix % values:
            return None
        result.append(min(radix, values))
        values //= result[-1]
    return tuple(reversed(result))
