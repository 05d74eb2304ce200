"""The folded hypercube."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.step import Step, count, first_of
from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import dimension
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, flip, own_inverses

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class FoldedCube(NetworkSpec, maker="folded_cube"):
    """The folded hypercube FQ_n: the n-cube, and an edge from every node to its complement.

    Attributes
    ----------
    n : int
        Dimension, at least 2.
    """

    n: int

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node, most significant first."""
        return (2,) * self.n


def folded_cube(n: int) -> FoldedCube:
    """Make the folded hypercube of 2^n nodes."""
    return FoldedCube(dimension("folded_cube", n, 2))


class FoldedCubeNetwork(Network):
    """The folded hypercube: port ``dimJ`` flips digit ``bJ``, as in a cube, and ``complement`` flips them all."""

    spec: FoldedCube
    node_symmetric = True
    """A Cayley graph is node-symmetric."""

    def __init__(self, spec: FoldedCube) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = own_inverses([*(f"dim{place}" for place in range(spec.n)), "complement"])

    @property
    def digit_names(self) -> tuple[str, ...]:
        """One name a digit, ``b0`` the most significant one."""
        return tuple(f"b{place}" for place in range(self.spec.n))

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``ceil(n / 2)`` (El-Amawy and Latifi, 1991)."""
        return (self.spec.n + 1) // 2

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        return flip(digits, port) if port < self.spec.n else tuple(1 - digit for digit in digits)


def step(circuit: Circuit, network: FoldedCubeNetwork, cur: Sequence[Term], dst: Sequence[Term], _modes: str) -> Step:
    """Decide by dimension order, but take the complement first where more than half of the digits differ.

    Routes are shortest. The complement is only ever the first hop, so one class is enough.

    References
    ----------
    .. [1] El-Amawy and Latifi, "Properties and performance of folded hypercubes", 1991.
    """
    n = network.spec.n
    differs = [~x.eq(t) for x, t in zip(cur, dst, strict=True)]
    far = circuit.constant((n + 1) // 2).lt(count(circuit, differs))
    take = dict(enumerate(chosen & ~far for chosen in first_of(circuit, differs))) | {n: far}
    return Step(~circuit.any_of(differs), take, {port: [] for port in take})


def layout(network: FoldedCubeNetwork) -> Block:
    """Return the nodes as those of a cube."""
    from hdnhw.topology.places import EDGE, of_factors

    return of_factors((EDGE,) * network.spec.n)


FAMILY = Family(
    makers=(folded_cube,),
    spec=FoldedCube,
    network=FoldedCubeNetwork,
    step=step,
    is_shortest=True,
    layout=layout,
)
