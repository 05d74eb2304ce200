"""Rules of the star graph and the Petersen graph."""

from collections.abc import Sequence

from hdnhw.routing.circuit import Circuit, Term
from hdnhw.routing.step import Step, class_of, count, first_of
from hdnhw.topology.petersen import PetersenNetwork
from hdnhw.topology.star import StarNetwork, permutation

__all__ = ["petersen_step", "star_step"]


def star_step(circuit: Circuit, network: StarNetwork, cur: Sequence[Term], dst: Sequence[Term]) -> Step:
    """Decide to send the symbol in place 0 home; where it is home, to exchange it with the first one that is not.

    Routes are shortest. The class is the number of symbols that are wrong in the other places, less one.

    References
    ----------
    .. [1] Akers and Krishnamurthy, "A group-theoretic model for symmetric interconnection networks", 1989.
    """
    zero = circuit.constant(0)
    own, wanted = (permutation([*digits, zero], lambda one, other: ~one.lt(other)) for digits in (cur, dst))
    at_home = own[0].eq(wanted[0])
    wrong = [~x.eq(t) for x, t in zip(own[1:], wanted[1:], strict=True)]
    take = {
        port: own[0].eq(target) | (at_home & first)
        for port, (target, first) in enumerate(zip(wanted[1:], first_of(circuit, wrong), strict=True))
    }
    bits = class_of(circuit, count(circuit, wrong), network.spec.n - 1)
    return Step(~circuit.any_of(wrong), take, dict.fromkeys(take, bits))


def petersen_step(circuit: Circuit, network: PetersenNetwork, cur: Sequence[Term], dst: Sequence[Term]) -> Step:
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
