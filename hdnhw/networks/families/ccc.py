"""The cube-connected cycles, and the wrapped butterfly on the same nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.step import Step
from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import check_digits, dimension
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, Port

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class CubeCycles(NetworkSpec, maker="ccc"):
    """The cube-connected cycles CCC(n): a ring of n nodes in place of every node of the n-cube.

    Attributes
    ----------
    n : int
        Dimension, at least 3.
    """

    n: int

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node: the bits of the ring's word, then the position in the ring."""
        return (*(2,) * self.n, self.n)


@dataclass(frozen=True, repr=False)
class Butterfly(CubeCycles, maker="butterfly"):
    """The wrapped butterfly: n levels of 2^n nodes, each joined to the next one, and the last to the first.

    Attributes
    ----------
    n : int
        Dimension, at least 3.
    """


def ccc(n: int) -> CubeCycles:
    """Make the cube-connected cycles of n 2^n nodes (Preparata and Vuillemin, 1981)."""
    made = CubeCycles(dimension("ccc", n, 3))
    check_digits(str(made), made.radices)
    return made


def butterfly(n: int) -> Butterfly:
    """Make the wrapped butterfly of n 2^n nodes of degree 4 (Leighton, 1992)."""
    made = Butterfly(dimension("butterfly", n, 3))
    check_digits(str(made), made.radices)
    return made


class CubeCyclesNetwork(Network):
    """The cube-connected cycles: node p of ring w has number ``w * n + p``; ``cross`` flips bit p of w."""

    spec: CubeCycles
    node_symmetric = True
    """A Cayley graph is node-symmetric."""

    def __init__(self, spec: CubeCycles) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = (Port("ring_plus", 1), Port("ring_minus", 0), Port("cross", 2))

    @property
    def digit_names(self) -> tuple[str, ...]:
        """``w2``, ``w1``, ``w0`` (the bits of the ring's word) and ``p`` (the position in it)."""
        return (*(f"w{bit}" for bit in reversed(range(self.spec.n))), "p")

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``2 n + floor(n / 2) - 2`` from n = 4 (HDN paper, Table 2), 6 for n = 3 (E8)."""
        n = self.spec.n
        return 6 if n == 3 else 2 * n + n // 2 - 2

    @property
    def groups(self) -> tuple[int, ...]:
        """The bits of the ring's word, then the position in it."""
        return self.spec.n, 1

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        *word, position = digits
        if port < 2:
            return (*word, (position + (1, -1)[port]) % self.spec.n)
        last = self.spec.n - 1
        return (*(bit ^ (position == last - place) for place, bit in enumerate(word)), position)


class ButterflyNetwork(CubeCyclesNetwork):
    """The wrapped butterfly: node p of row w has number ``w * n + p``, and p is its level.

    ``straight_plus`` leads to level p + 1 mod n of the row, ``cross_plus`` to level p + 1 of the row that differs in
    bit p; ``straight_minus`` and ``cross_minus`` lead back.
    """

    spec: Butterfly

    def __init__(self, spec: Butterfly) -> None:
        super().__init__(spec)
        names = ("straight_plus", "straight_minus", "cross_plus", "cross_minus")
        self.ports = tuple(Port(name, index ^ 1) for index, name in enumerate(names))

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``floor(3 n / 2)``."""
        return 3 * self.spec.n // 2

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        along = super().move(digits, port & 1)
        if port < 2:
            return along
        return super().move(digits, 2)[:-1] + along[-1:] if port == 2 else super().move(along, 2)


def step(circuit: Circuit, network: CubeCyclesNetwork, cur: Sequence[Term], dst: Sequence[Term], _modes: str) -> Step:
    """Decide to go round in + direction and cross where a bit of the word differs, then along the ring to the place.

    While bits differ, class 0 is for what has the place n - 1 still to pass, class 1 for the rest. Then nothing passes
    it in + direction; in - direction the classes are the same the other way round. Each class has its places in order.

    References
    ----------
    .. [1] Preparata and Vuillemin, "The cube-connected cycles", 1981: ascend.
    """
    n = network.spec.n
    *word, place = cur
    *wanted_word, wanted = dst
    differs = [~x.eq(t) for x, t in zip(reversed(word), reversed(wanted_word), strict=True)]
    places = [circuit.constant(bit) for bit in range(n)]
    some = circuit.any_of(differs)
    here = circuit.any_of(place.eq(at) & bit for at, bit in zip(places, differs, strict=True))
    behind = circuit.any_of(at.lt(place) & bit for at, bit in zip(places, differs, strict=True))
    forward = place.lt(wanted) & wanted.submod(place, n).lt(circuit.constant(n // 2 + 1))
    there = place.eq(wanted)
    take = {0: (some & ~here) | (~some & forward), 1: ~some & ~forward & ~there, 2: here}
    return Step(~some & there, take, {0: [~behind], 1: [~place.lt(wanted)], 2: [~behind]})


def layout(network: CubeCyclesNetwork) -> Block:
    """Return rings that stand as the nodes of a cube do, each turned to where its other edges are short."""
    import numpy as np

    from hdnhw.topology.places import EDGE, RING, Block, grid, nested, ring

    size = network.spec.n
    block = nested(grid((EDGE,) * size), ring(range(size)))
    if isinstance(network, ButterflyNetwork):
        return block
    rings = block.places.reshape(-1, size, 2)
    centers = rings.mean(axis=1, keepdims=True)
    steps = pi / 2 + np.arange(72) * pi / 36
    turned = np.empty_like(rings)
    for word, center in enumerate(centers):
        others = [network.neighbors(word * size + node)["cross"] // size for node in range(size)]
        choices = []
        for angle in steps:
            for sense in (1, -1):
                angles = angle + sense * 2 * pi * np.arange(size) / size
                choices.append(center + RING * np.stack([np.cos(angles), np.sin(angles)], axis=1))
        lengths = [np.hypot(*(choice - centers[others, 0]).T).sum() for choice in choices]
        turned[word] = choices[int(np.argmin(lengths))]
    return Block(turned.reshape(-1, 2), block.width, block.height)


FAMILIES = (
    Family(makers=(ccc,), spec=CubeCycles, network=CubeCyclesNetwork, step=step, layout=layout),
    Family(makers=(butterfly,), spec=Butterfly, network=ButterflyNetwork, layout=layout),
)
