"""The Petersen graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.step import Step
from hdnhw.spec import NetworkSpec
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, Port

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class Petersen(NetworkSpec, maker="petersen"):
    """The Petersen graph."""

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node: which of the two rings, and where in it."""
        return (2, 5)


def petersen() -> Petersen:
    """Make the Petersen graph: ten nodes of degree 3."""
    return Petersen()


class PetersenNetwork(Network):
    """Two rings of five: in ring r, node i is linked to i + (r + 1) and i - (r + 1), by ``spoke`` to the other ring.

    Node i of ring r has number ``5 r + i``.
    """

    spec: Petersen
    digit_names = ("r", "i")
    """Ring, and place in it."""
    diameter_formula = 2
    node_symmetric = True
    """The Petersen graph is node-symmetric."""

    def __init__(self, spec: Petersen) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = (Port("ring_plus", 1), Port("ring_minus", 0), Port("spoke", 2))

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        ring, place = digits
        if port == 2:
            return 1 - ring, place
        return ring, (place + (1, -1)[port] * (ring + 1)) % 5


def step(circuit: Circuit, network: PetersenNetwork, cur: Sequence[Term], dst: Sequence[Term], _modes: str) -> Step:
    """Decide for the only shortest route; the last hop is of class 1, the one before of class 0."""
    ring, place = cur
    ahead = dst[1].submod(place, network.radices[1])
    same, there, adjacent, plus = (
        ring.eq(dst[0]),
        ahead.eq(circuit.constant(0)),
        ring.mux(_among(circuit, ahead, (2, 3)), _among(circuit, ahead, (1, 4))),
        ring.mux(_among(circuit, ahead, (2, 4)), _among(circuit, ahead, (1, 2))),
    )
    along = (same & ~there) | (~same & adjacent)
    take = {0: along & plus, 1: along & ~plus, 2: ~same & ~adjacent}
    last = [same.mux(adjacent, there)]
    return Step(same & there, take, dict.fromkeys(take, last))


def _among(circuit: Circuit, term: Term, values: Sequence[int]) -> Term:
    return circuit.any_of(term.eq(circuit.constant(value)) for value in values)


def layout(network: PetersenNetwork) -> Block:
    """Return one ring in the other, ring 0 outside."""
    import numpy as np

    from hdnhw.topology.places import RING, Block, ring

    outer = ring(range(network.radices[1]), 2 * RING, -pi / 5)
    center = np.array([outer.width, outer.height]) / 2
    places = np.concatenate([outer.places, center + (outer.places - center) / 2])
    return Block(places, outer.width, outer.height)


FAMILY = Family(
    makers=(petersen,),
    spec=Petersen,
    network=PetersenNetwork,
    step=step,
    is_shortest=True,
    layout=layout,
)
