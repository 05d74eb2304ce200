"""The crossed cube."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.step import Step, class_of, exclusive, first_of
from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import dimension
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, flip, own_inverses

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class CrossedCube(NetworkSpec, maker="crossed_cube"):
    """The crossed cube CQ_n.

    Attributes
    ----------
    n : int
        Dimension, at least 1.
    """

    n: int

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node, most significant first."""
        return (2,) * self.n


def crossed_cube(n: int) -> CrossedCube:
    """Make the crossed cube of 2^n nodes (Efe, "The crossed cube architecture for parallel computation", 1992)."""
    return CrossedCube(dimension("crossed_cube", n, 1))


class CrossedCubeNetwork(Network):
    """The crossed cube: port ``dimJ`` flips digit ``bJ``, and changes some digits behind it.

    Bits are counted from the least significant one in pairs 2i + 1, 2i. Flipping bit l changes each pair below it with
    2i + 1 < l to its pair-related one: it flips bit 2i + 1 where bit 2i is 1.

    References
    ----------
    .. [1] Efe, "The crossed cube architecture for parallel computation", 1992.
    """

    spec: CrossedCube

    def __init__(self, spec: CrossedCube) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = own_inverses([f"dim{place}" for place in range(spec.n)])

    @property
    def digit_names(self) -> tuple[str, ...]:
        """One name a digit, ``b0`` the most significant one."""
        return tuple(f"b{place}" for place in range(self.spec.n))

    @property
    def node_symmetric(self) -> bool:
        """Crossed cubes are node-symmetric up to n = 4 (Kulasinghe and Bettayeb, 1995)."""
        return self.spec.n <= 4

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``ceil((n + 1) / 2)`` (Efe, 1992)."""
        return (self.spec.n + 2) // 2

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        result, n = list(flip(digits, port)), self.spec.n
        for low in range(0, n - 2 - port, 2):
            result[n - 2 - low] = digits[n - 2 - low] ^ digits[n - 1 - low]
        return tuple(result)


def step(circuit: Circuit, network: CrossedCubeNetwork, cur: Sequence[Term], dst: Sequence[Term], _modes: str) -> Step:
    """Decide for the first digit whose port leads nearer to the destination; the class is the distance left, less one.

    References
    ----------
    .. [1] Chang, Sung and Hsu, "Edge congestion and topological properties of crossed cubes", 2000: the distance.
    .. [2] Gopal, "Prevention of store-and-forward deadlock in computer networks", 1985: the classes.
    """
    n, distance = network.spec.n, _crossed_distance(circuit, cur, dst)
    nearer = []
    for port in range(n):
        there = list(cur)
        there[port] = ~cur[port]
        for low in range(0, n - 2 - port, 2):
            there[n - 2 - low] = exclusive(cur[n - 2 - low], cur[n - 1 - low])
        nearer.append(_crossed_distance(circuit, there, dst).lt(distance))
    take = dict(enumerate(first_of(circuit, nearer)))
    bits = class_of(circuit, distance, (n + 2) // 2)
    return Step(distance.eq(circuit.constant(0)), take, dict.fromkeys(take, bits))


def _crossed_distance(circuit: Circuit, one: Sequence[Term], other: Sequence[Term]) -> Term:
    """Return the distance of two nodes: the sum over pairs of bits, from the top.

    The first pair that differs takes as many hops as it has bits that differ. A pair below takes none if it is equal,
    or, after an odd number of hops above, if it is pair-related; else one.
    """
    zero = circuit.constant(0)
    started, odd, total = zero, zero, zero
    for high, low, wanted_high, wanted_low in zip(*_halves(one, zero), *_halves(other, zero), strict=True):
        high_differs, low_differs = ~high.eq(wanted_high), ~low.eq(wanted_low)
        differs = high_differs | low_differs
        needed = odd.mux(low_differs | ~high_differs.eq(low), differs)
        total = total + started.mux(needed, high_differs + low_differs)
        odd = started.mux(exclusive(odd, needed), exclusive(high_differs, low_differs))
        started = started | differs
    return total


def _halves(bits: Sequence[Term], zero: Term) -> tuple[Sequence[Term], Sequence[Term]]:
    """Return the upper and the lower bits of the pairs, from the top."""
    padded = [zero, *bits] if len(bits) % 2 else list(bits)
    return padded[::2], padded[1::2]


def layout(network: CrossedCubeNetwork) -> Block:
    """Return the nodes as those of a cube."""
    from hdnhw.topology.places import EDGE, of_factors

    return of_factors((EDGE,) * network.spec.n)


FAMILY = Family(
    makers=(crossed_cube,),
    spec=CrossedCube,
    network=CrossedCubeNetwork,
    step=step,
    is_shortest=True,
    layout=layout,
)
