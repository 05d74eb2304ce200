"""Valiant's routing: every packet goes to a node drawn at random first, and from there to its destination.

Whatever the pattern, channels are loaded as by uniform traffic in either leg (Valiant, A scheme for fast parallel
communication, SIAM J. Comput. 11(2), 1982). Each leg has the virtual channels of the plain rule for itself, and
packets go from those of the first to those of the second alone: where neither can deadlock, both together cannot.

With UGAL (Singh, Load-Balanced Routing in Interconnection Networks, thesis, Stanford 2005; there with what is known at
the source, UGAL-L) a packet goes so only where that is the quicker way by the packets that wait in front of it; else
it goes straight, by the virtual channels of the second leg.
"""

from dataclasses import replace

from hdnhw.rules.plan import UGAL, VALIANT, RoutingPlan, plan
from hdnhw.spec import NetworkSpec, SpecError

__all__ = ["fabric_plan"]


def fabric_plan(spec: NetworkSpec, modes: str | None, lanes: int) -> RoutingPlan:
    """Return the routing plan of a machine, proved deadlock-free.

    Parameters
    ----------
    spec : NetworkSpec
    modes : str or None
        Those of :func:`hdnhw.rules.plan.plan`; or :data:`hdnhw.rules.plan.VALIANT` or :data:`hdnhw.rules.plan.UGAL`,
        alone or with such behind a colon.
    lanes : int

    Raises
    ------
    SpecError
        If `modes` or `lanes` does not fit.
    RuleError
        If the rule is not deadlock-free.

    Examples
    --------
    >>> from hdnhw.spec import parse
    >>> plain, valiant = (fabric_plan(parse("torus(5)"), modes, 1) for modes in (None, "valiant"))
    >>> plain.num_vcs, valiant.num_vcs, valiant.modes
    ((2, 2), (4, 4), 'valiant')
    """
    name, colon, inner = (modes or "").partition(":")
    if name not in (VALIANT, UGAL):
        return plan(spec, modes, lanes)
    if colon and not inner:
        raise SpecError(f"modes {modes!r} end with a colon: behind it stand the modes of either leg")
    plain = plan(spec, inner or None, lanes)
    leg = plain.max_vcs
    proof = replace(plain.proof, channels=2 * plain.proof.channels, edges=None)
    num_vcs = tuple(leg + vcs for vcs in plain.num_vcs)
    return replace(plain, proof=proof, num_vcs=num_vcs, leg_vcs=leg, chooses=name == UGAL)
