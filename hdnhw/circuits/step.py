"""What a rule decides, and the rule of products, from which the others are made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.spec import Factor
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network

DATELINE_RING = 5
"""Smallest ring that needs datelines: shorter ones route at most two hops, never around a whole ring."""


@dataclass(frozen=True)
class Step:
    """What a rule, or one level of its recursion, decides.

    Attributes
    ----------
    matched : Term
        Whether there is nothing left to do.
    take : dict of int to Term
        One truth value a port.
    class_bits : dict of int to list of Term
        Bits of the class of each port, most significant first; they matter where the port is taken.
    """

    matched: Term
    take: Mapping[int, Term]
    class_bits: Mapping[int, list[Term]]


def step_of(circuit: Circuit, network: Network, cur: Sequence[Term], dst: Sequence[Term], modes: str = "") -> Step:
    """Return what the rule of the network's family decides.

    Raises
    ------
    SpecError
        If no rule is known.
    """
    rule = network.family.step
    if rule is None:
        raise SpecError(f"no table-free routing rule is known for {network.spec}")
    step: Step = rule(circuit, network, cur, dst, modes)
    return step


def is_shortest(network: Network, modes: str = "") -> bool:
    """Return whether every route of the rule of the network's family is known to be as short as the distance."""
    known = network.family.is_shortest
    return known(network, modes) if callable(known) else known


def product_step(
    circuit: Circuit, network: DualNetwork, cur: Sequence[Term], target: Sequence[Term], care: Sequence[Term]
) -> Step:
    """Decide by dimension order over the base digits that differ and are cared for.

    Parameters
    ----------
    circuit : Circuit
    network : DualNetwork
        Its base ports and factors are meant.
    cur, target, care : sequence of Term
        Two base nodes, and whether their digits must be made equal.
    """
    take: dict[int, Term] = {}
    bits: dict[int, list[Term]] = {}
    free = circuit.constant(1)
    for factor, (x, t) in enumerate(zip(cur, target, strict=True)):
        chosen = free & care[factor] & ~x.eq(t)
        free &= ~care[factor] | x.eq(t)
        directions, half = _directions(circuit, network.factors[factor], x, t)
        for port, description in enumerate(network.ports):
            if description.level == 0 and description.factor == factor:
                take[port] = chosen & directions[description.step]
                bits[port] = half
    return Step(free, take, bits)


def _directions(circuit: Circuit, factor: Factor, x: Term, t: Term) -> tuple[dict[int, Term], list[Term]]:
    """Return step -> whether it is the one to take from digit x to another digit t, and the class bit of a ring."""
    n = factor.size
    if factor.is_edge:
        return {1: circuit.constant(1)}, []
    if factor.kind == "path":
        return {1: x.lt(t), -1: ~x.lt(t)}, []
    ahead = t.submod(x, n)
    if factor.kind == "complete":
        return {step: ahead.eq(circuit.constant(step)) for step in range(1, n)}, []
    plus = ahead.lt(circuit.constant((n + 1) // 2))
    if n % 2 == 0:
        plus |= ahead.eq(circuit.constant(n // 2)) & ~x.odd()
    # No shortest way to one half of a ring leaves that half for the other one: there each class has its dateline.
    half = [~t.lt(circuit.constant(n // 2))] if n >= DATELINE_RING else []
    return {1: plus, -1: ~plus}, half


def first_of(circuit: Circuit, wanted: Sequence[Term]) -> list[Term]:
    """Return for each term whether it is the first one that is 1."""
    result, free = [], circuit.constant(1)
    for term in wanted:
        result.append(free & term)
        free &= ~term
    return result


def count(circuit: Circuit, terms: Sequence[Term]) -> Term:
    """Return how many truth values are 1."""
    return reduce(add, terms, circuit.constant(0))


def exclusive(one: Term, other: Term) -> Term:
    """Return whether two truth values differ."""
    return one.mux(~other, other)


def bits_of_number(circuit: Circuit, cases: Mapping[int, Term]) -> list[Term]:
    """Return the bits, most significant first, of the number whose case is 1; exactly one is."""
    return [
        circuit.any_of(term for number, term in cases.items() if number >> weight & 1)
        for weight in reversed(range(max(cases).bit_length()))
    ]


def class_of(circuit: Circuit, term: Term, most: int) -> list[Term]:
    """Return the bits of ``term - 1``, most significant first, for a term from 1 to `most`."""
    return bits_of_number(circuit, {value - 1: term.eq(circuit.constant(value)) for value in range(1, most + 1)})
