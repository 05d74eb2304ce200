"""Rules of folded, crossed and reduced hypercubes and of cube-connected cycles."""

from collections.abc import Mapping, Sequence

from hdnhw.routing.circuit import Circuit, Term
from hdnhw.routing.step import Step, class_of, count, exclusive, first_of
from hdnhw.topology.cubes import CrossedCubeNetwork, CubeCyclesNetwork, FoldedCubeNetwork, ReducedCubeNetwork

__all__ = ["crossed_step", "cycles_step", "folded_step", "reduced_step"]

Terms = Sequence[Term]


def folded_step(circuit: Circuit, network: FoldedCubeNetwork, cur: Terms, dst: Terms) -> Step:
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


def crossed_step(circuit: Circuit, network: CrossedCubeNetwork, cur: Terms, dst: Terms) -> Step:
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


def _crossed_distance(circuit: Circuit, one: Terms, other: Terms) -> Term:
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


def _halves(bits: Terms, zero: Term) -> tuple[Terms, Terms]:
    """Return the upper and the lower bits of the pairs, from the top."""
    padded = [zero, *bits] if len(bits) % 2 else list(bits)
    return padded[::2], padded[1::2]


def cycles_step(circuit: Circuit, network: CubeCyclesNetwork, cur: Terms, dst: Terms) -> Step:
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


def reduced_step(circuit: Circuit, network: ReducedCubeNetwork, cur: Terms, dst: Terms) -> Step:
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
