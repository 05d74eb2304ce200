"""Waypoints with which a packet follows a given path, hop by hop."""

from collections.abc import Sequence

from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.plan import RoutingPlan


def waypoints_along(plan: RoutingPlan, path: Sequence[int]) -> list[int] | None:
    """Return the fewest waypoints with which the routes from each to the next make up a path.

    Parameters
    ----------
    plan : RoutingPlan
    path : sequence of int
        Nodes, one at least, the source first and the destination last.

    Returns
    -------
    list of int or None
        Nodes of the path, without its ends; None if no waypoints will do, as some step of the path is not an edge, or
        the rule takes another way between its two ends.

    Notes
    -----
    The rule sees only where a packet is and where it goes, so what is left of a route is a route too. If a leg leads
    from some node of the path to another, so does one from every node in between: the later a leg begins, the farther
    it can get, and taking the longest leg each time is best. A part of a path from the same node may be none though,
    so every end has to be tried.

    Examples
    --------
    The ring of six goes the shorter way, and from an even node the upward way if both are as long.

    >>> from hdnhw.rules.plan import plan
    >>> ring = plan("torus(6)")
    >>> waypoints_along(ring, [0, 1, 2, 3])
    []
    >>> waypoints_along(ring, [0, 5, 4, 3, 2])
    [4]
    """
    farthest = _farthest(plan, path)
    place, chosen = farthest[0], []
    while place < len(path) - 1:
        if farthest[place] == place:
            return None
        chosen.append(path[place])
        place = farthest[place]
    return chosen


def _farthest(plan: RoutingPlan, path: Sequence[int]) -> list[int]:
    """Return for each place of a path the last one to which the rule leads along the path, or itself."""
    network, arrived = plan.network, len(plan.network.ports)
    digits = [network.decode(network.check_node(node)) for node in path]
    address = [plan.address.pack(node) for node in digits]
    farthest = list(range(len(path)))
    for end in range(1, len(path)):
        for place in reversed(range(end)):
            port = plan.plain_route(address[place], address[end]) & ((1 << VC_SHIFT) - 1)
            if port == arrived or network.move(digits[place], port) != digits[place + 1]:
                break
            farthest[place] = end
    return farthest
