"""Automorphisms of products and dual-nets that are known without a search, and a node of each of their orbits.

An address of level k holds each base digit up to 2^k times: in U_k, in the U_(k-1) of the inner address and of U_k, and
so on. A copy has a path, one bit a level from k down: the class of the cluster in which it is an inner digit. An
automorphism of factor d may be applied to all copies of its digit whose paths begin with the same bits: all k bits if
d is in no super-node, the first k - j if the highest one that it is in is SN^j, as level-j cross-edges keep that digit.
Likewise the class bits of level j whose paths, of k - j bits, are equal may be inverted.

So with nested super-nodes each copy moves by itself, and all nodes are alike. Otherwise it is known of two copies that
move together whether they are equal.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from hdnhw.spec import Factor
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Digits

MAX_ORBITS = 1 << 12
"""Orbits, and ways to fill copies that move together, that are looked at."""


@dataclass(frozen=True)
class _Copy:
    """One copy of a base digit or class bit.

    Attributes
    ----------
    place : int
        Where it stands in an address.
    path : tuple of tuple of int
        One pair a level from k down: the place of a class bit, and what is added to it (1 in a cluster id).
    """

    place: int
    path: tuple[tuple[int, int], ...]


def _copies(network: DualNetwork) -> tuple[list[list[_Copy]], list[list[_Copy]]]:
    """Return the copies of the digit of each factor, and of the class bit of each level, level 1 first."""
    factors: list[list[_Copy]] = [[] for _ in network.factors]
    classes: list[list[_Copy]] = [[] for _ in network.levels]

    def visit(level: int, places: dict[int, int], path: tuple[tuple[int, int], ...]) -> None:
        if not level:
            for copies, position in zip(factors, network.base_digits, strict=True):
                if position in places:
                    copies.append(_Copy(places[position], path))
            return
        layout = network.levels[level - 1]
        class_bit = places[layout.class_digit]
        classes[level - 1].append(_Copy(class_bit, path))
        outer = {inner: places[own] for own, inner in zip(layout.cluster, layout.super_node, strict=True)}
        visit(level - 1, places, (*path, (class_bit, 0)))
        visit(level - 1, outer, (*path, (class_bit, 1)))

    visit(len(network.levels), {place: place for place in range(len(network.radices))}, ())
    return factors, classes


def _own_bits(network: DualNetwork, factor: int) -> int:
    """Return with how many bits the paths of copies of a factor's digit must begin alike for them to move together."""
    levels = [level for level, layout in enumerate(network.levels, start=1) if factor in layout.super_node_factors]
    return len(network.levels) - max(levels, default=0)


def automorphisms(network: DualNetwork) -> Iterator[Callable[[Digits], Digits]]:
    """Yield maps of the digits of nodes, ints or arrays, that generate the known automorphisms."""
    factors, classes = _copies(network)
    for number, (factor, copies) in enumerate(zip(network.factors, factors, strict=True)):
        for start in product((0, 1), repeat=_own_bits(network, number)):
            for images in _generators(factor):
                yield _Map(copies, start, np.array(images))
    for level, copies in enumerate(classes, start=1):
        for start in product((0, 1), repeat=len(network.levels) - level):
            yield _Map(copies, start, np.array([1, 0]))


def keeps_edges(network: DualNetwork, move: Callable[[Digits], Digits], nodes: npt.NDArray[np.int64]) -> bool:
    """Return whether a map takes the neighbors of each of `nodes` to those of its image; every port must be there."""
    digits = network.decode(nodes)
    image, ports = move(digits), range(len(network.ports))
    here = [network.encode(network.move(image, port)) for port in ports]
    there = [network.encode(move(network.move(digits, port))) for port in ports]
    return np.array_equal(np.sort(here, axis=0), np.sort(there, axis=0))


@dataclass(frozen=True)
class _Map:
    """A permutation of the values of those copies whose paths begin with given bits."""

    copies: Sequence[_Copy]
    start: tuple[int, ...]
    images: npt.NDArray[np.int64]

    def __call__(self, digits: Digits) -> Digits:
        result = list(digits)
        for copy in self.copies:
            chosen = digits[0] >= 0
            for (place, added), bit in zip(copy.path, self.start, strict=False):
                chosen = chosen & (digits[place] ^ added == bit)
            result[copy.place] = np.where(chosen, self.images[digits[copy.place]], digits[copy.place])
        return tuple(result)


def _generators(factor: Factor) -> list[list[int]]:
    """Return permutations that generate the automorphisms of a factor (of a cycle of 4 or a path, all of them)."""
    numbers = list(range(factor.size))
    around, back = numbers[1:] + numbers[:1], numbers[::-1]
    if factor.is_edge or factor.kind == "path":
        return [back]
    return [around, back] if factor.kind == "cycle" else [around, [1, 0, *numbers[2:]]]


def _least(factor: Factor, values: tuple[int, ...]) -> tuple[int, ...]:
    """Return the same one of all images of some digits under one automorphism of their factor."""
    if factor.kind == "complete":
        names: dict[int, int] = {}
        return tuple(names.setdefault(value, len(names)) for value in values)
    turns = range(factor.size) if factor.kind == "cycle" else (0,)
    last = factor.size - 1
    images = [values, tuple(last - value for value in values)]
    return min(tuple((value + turn) % factor.size for value in image) for image in images for turn in turns)


def representatives(network: DualNetwork) -> list[tuple[int, int]] | None:
    """Return a node of each orbit under :func:`automorphisms`, and how many nodes the orbit has.

    Returns
    -------
    list of tuple of int, or None
        None if there are too many, see :data:`MAX_ORBITS`.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> representatives(build("rdn(cube(3), 2)"))
    [(0, 32768)]
    >>> len(representatives(build("hdn(torus(2, 3, 5), [[0], [2]])")))
    13
    """
    factors, classes = _copies(network)
    groups: list[list[tuple[dict[int, int], int]]] = []
    for number, (factor, copies) in enumerate(zip(network.factors, factors, strict=True)):
        together: dict[tuple[int, ...], list[int]] = {}
        for copy in copies:
            start = tuple(added for _, added in copy.path[: _own_bits(network, number)])
            together.setdefault(start, []).append(copy.place)
        for places in together.values():
            if factor.size ** len(places) > MAX_ORBITS:
                return None
            sizes = Counter(_least(factor, values) for values in product(range(factor.size), repeat=len(places)))
            groups.append([(dict(zip(places, values, strict=True)), size) for values, size in sorted(sizes.items())])
    if prod(len(group) for group in groups) > MAX_ORBITS:
        return None
    flips = 1 << sum(len(copies) for copies in classes)
    result = []
    for chosen in product(*groups):
        digits = [0] * len(network.radices)
        for values, _ in chosen:
            for place, value in values.items():
                digits[place] = value
        result.append((int(network.encode(tuple(digits))), flips * prod(size for _, size in chosen)))
    return result
