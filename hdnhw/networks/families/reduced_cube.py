"""The reduced hypercube."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.step import Step, first_of
from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import check_address, dimension, integer
from hdnhw.support.errors import SpecError
from hdnhw.topology.family import Family
from hdnhw.topology.graph import Digits, Network, flip, own_inverses

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class ReducedCube(NetworkSpec, maker="reduced_cube"):
    """The reduced hypercube RH(k, m) of 2^(k + 2^m) nodes.

    Attributes
    ----------
    k : int
        Dimension of a cluster.
    m : int
        Leading bits of a node in its cluster that say which one of the 2^m other dimensions it has; 1 to k.
    """

    k: int
    m: int

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node, most significant first."""
        return (2,) * (self.k + (1 << self.m))


def reduced_cube(k: int, m: int) -> ReducedCube:
    """Make the reduced hypercube RH(k, m) of 2^(k + 2^m) nodes (Ziavras, 1994; dual-cube paper, section 1)."""
    cluster = dimension("reduced_cube", k, 1)
    selectors = integer(m, "reduced_cube selector bits", 1)
    if selectors > cluster:
        raise SpecError(f"reduced_cube selector bits must be 1 to {cluster}, its dimension, not {selectors}")
    check_address(f"reduced_cube({cluster}, {selectors})", cluster + 2**selectors)
    return ReducedCube(cluster, selectors)


class ReducedCubeNetwork(Network):
    """The reduced hypercube RH(k, m): clusters are k-cubes, and each node has one of the 2^m other dimensions.

    Port ``dimJ`` flips digit ``bJ`` of the node in its cluster. Port ``cross`` flips bit k + i of the node's number,
    where i is the value of the leading m bits of the node in its cluster.

    References
    ----------
    .. [1] Dual-cube paper, section 1 (from Ziavras, 1994).
    """

    spec: ReducedCube
    node_symmetric = True
    """A Cayley graph is node-symmetric."""

    def __init__(self, spec: ReducedCube) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = own_inverses([*(f"dim{place}" for place in range(spec.k)), "cross"])

    @property
    def digit_names(self) -> tuple[str, ...]:
        """``u1``, ``u0`` (the bits of the cluster), then ``b0``, ``b1`` (those of the node in it)."""
        clusters = reversed(range(2**self.spec.m))
        return (*(f"u{bit}" for bit in clusters), *(f"b{place}" for place in range(self.spec.k)))

    @property
    def diameter_formula(self) -> None:
        """None is known to hold."""

    @property
    def groups(self) -> tuple[int, ...]:
        """The bits of the cluster, then those of the node in it."""
        return 2**self.spec.m, self.spec.k

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbor behind `port`."""
        clusters = 2**self.spec.m
        if port < self.spec.k:
            return flip(digits, clusters + port)
        chosen: Any = 0
        for bit in digits[clusters : clusters + self.spec.m]:
            chosen = 2 * chosen + bit
        flipped = (digits[place] ^ (chosen == clusters - 1 - place) for place in range(clusters))
        return (*flipped, *digits[clusters:])


def step(circuit: Circuit, network: ReducedCubeNetwork, cur: Sequence[Term], dst: Sequence[Term], _modes: str) -> Step:
    """Decide to cross in the dimensions that differ, in the order of a Gray code, then to go on within the cluster.

    Within clusters it is dimension order. Hops on the way to a crossing are of class 0, those after the last one of
    class 1.
    """
    k, m = network.spec.k, network.spec.m
    clusters = 2**m
    order = [number ^ number >> 1 for number in range(clusters)]
    differs = [~cur[clusters - 1 - bit].eq(dst[clusters - 1 - bit]) for bit in order]
    crosses = circuit.any_of(differs)
    chosen: Mapping[int, Term] = dict(zip(order, first_of(circuit, differs), strict=True))
    wrong = []
    for place in range(k):
        own, target = cur[clusters + place], dst[clusters + place]
        if place < m:
            selected = circuit.any_of(term for bit, term in chosen.items() if bit >> (m - 1 - place) & 1)
            wrong.append(~own.eq(crosses.mux(selected, target)))
        else:
            wrong.append(~crosses & ~own.eq(target))
    take = dict(enumerate(first_of(circuit, wrong)))
    arrived = ~circuit.any_of(wrong)
    bits: dict[int, list[Term]] = {port: [~crosses] for port in take}
    return Step(arrived & ~crosses, take | {k: arrived & crosses}, bits | {k: []})


def layout(network: ReducedCubeNetwork) -> Block:
    """Return clusters that stand as the nodes of a cube do."""
    from hdnhw.topology.places import EDGE, grid, nested, of_factors

    return nested(grid((EDGE,) * 2**network.spec.m), of_factors((EDGE,) * network.spec.k))


FAMILY = Family(
    makers=(reduced_cube,),
    spec=ReducedCube,
    network=ReducedCubeNetwork,
    step=step,
    layout=layout,
)
