"""Routing schemes: how packets use a rule of which there is one route for each pair of nodes.

``valiant``
    Every packet goes to a node drawn at random first, and from there to its destination. Whatever the pattern, channels
    are loaded as by uniform traffic in either leg (Valiant, A scheme for fast parallel communication, SIAM J. Comput.
    11(2), 1982). Each leg has the virtual channels of the rule for itself, and packets go from those of the first to
    those of the second alone: where neither can deadlock, both together cannot.
``ugal``
    A packet goes so only where that is the quicker way by the packets that wait in front of it (Singh, Load-Balanced
    Routing in Interconnection Networks, thesis, Stanford 2005; there with what is known at the source, UGAL-L); else
    it goes straight, by the virtual channels of the second leg.
``adaptive``
    In every slot a packet may leave by any port behind which the rule has fewer hops left, on an adaptive virtual
    channel; where none has a packet buffer free, it waits for that of the rule. A packet that waits is offered the
    rule's channel in every slot, and from there the rule's route from the node where it is: channels of the rule wait
    for those of the rule as they do without, in no circle, and so no packet waits for ever (Duato, A necessary and
    sufficient condition for deadlock-free routing in cut-through and store-and-forward networks, IEEE Trans. Parallel
    Distrib. Syst. 7(8), 1996). Every hop leaves fewer of them, so there is no livelock.
"""

from dataclasses import replace

from hdnhw.rules.plan import ADAPTIVE, SCHEMES, RoutingPlan, plan
from hdnhw.spec import NetworkSpec
from hdnhw.support.errors import SpecError


def fabric_plan(spec: NetworkSpec | str, modes: str | None, lanes: int) -> RoutingPlan:
    """Return the routing plan of a machine, proved deadlock-free.

    Parameters
    ----------
    spec : NetworkSpec or str
    modes : str or None
        Those of :func:`hdnhw.rules.plan.plan`; or one of :data:`hdnhw.rules.plan.SCHEMES`, alone or with such behind a
        colon.
    lanes : int

    Raises
    ------
    SpecError
        If `modes` or `lanes` does not fit.
    RuleError
        If the rule is not deadlock-free.

    Examples
    --------
    >>> for modes in (None, "valiant", "adaptive"):
    ...     made = fabric_plan("torus(5)", modes, 1)
    ...     print(made.num_vcs, made.first_vc)
    (2, 2) 0
    (4, 4) 2
    (3, 3) 1
    """
    scheme, colon, inner = (modes or "").partition(":")
    if scheme not in SCHEMES:
        return plan(spec, modes, lanes)
    if colon and not inner:
        raise SpecError(f"modes {modes!r} end with a colon: behind it stand the modes of the rule")
    plain = plan(spec, inner or None, lanes)
    if scheme == ADAPTIVE:
        proof, first_vc = plain.proof, lanes
    else:
        proof, first_vc = replace(plain.proof, channels=2 * plain.proof.channels, edges=None), plain.max_vcs
    num_vcs = tuple(first_vc + vcs for vcs in plain.num_vcs)
    return replace(plain, proof=proof, num_vcs=num_vcs, scheme=scheme, first_vc=first_vc)
