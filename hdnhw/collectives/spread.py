"""One-to-all broadcast and all-to-all broadcast (all-gather): every node gets the same from a source, or from each.

In an all-gather a message crosses when all nodes of its cluster have it, so it enters a cluster at all nodes of a
super-node at once. Its digits in SN^j are `free` from there on: there is nothing to do for them, and the steps are
those of a total exchange (docs/results/01-total-exchange.md). So it is in a broadcast if S is not nested. If S is
nested, a broadcast crosses first, from its root: then a message is first in one node of each cluster that it enters,
the inner part of s in clusters of the class of its source s, the node of super-node U(s) with the base digits of s in
the others; and digits in SN^j are free as well. Every node gets every message once.

On an HSN a message spreads in its nucleus; then, from the top level down, over the swaps of a level to one node of each
cluster of that level that it has reached not, and in the nuclei of these. That are the steps of the product of its
nuclei, a level at a time, and one swap a level: what the swap back would bring is there already.

References
----------
.. [1] RDN paper (rdn-collectives), sections IV and V, Algorithms 1 and 3, with the ids of docs/papers/errata.md, E11.
.. [2] HSN paper, sections 2.3 and 3.1.
.. [3] Chen, Zhang, Zhang and Yuan, "Performance evaluation of allgather algorithms on terascale Linux cluster with fast
   Ethernet", HPC-Asia 2005: neighbor exchange.
"""

from collections.abc import Callable

from hdnhw.circuits.circuit import Term
from hdnhw.collectives.schedule import Builder, Schedule, Sends, Step, Target
from hdnhw.spec import Factor
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Network

Rule = Callable[[Factor, Term, Term], list[Sends]]
"""Takes a factor, the own digit and the source's; returns for each step what is sent."""


def broadcast_schedule(network: Network, root: int = 0, *, all_port: bool = False) -> Schedule:
    """Return the schedule of a one-to-all broadcast: Algorithm 1 (cross, clusters, cross, clusters).

    The third stage leaves out the nodes whose cross-edge leads to a cluster that has the message. If S is not nested,
    the order is that of an all-gather, which takes fewer steps there. In a base factor, a cycle of r nodes takes
    ceil(r / 2) steps, a complete graph ceil(log2 r), a path as many as its longer side has nodes and one more if both
    sides have as many. With all ports it is the distance of the farthest node.
    """
    maker = _Spread(network, all_port=all_port)
    source, one = maker.constants(network.check_node(root)), maker.circuit.constant(1)
    if maker.swaps:
        steps = maker.over_swaps(source, gather=False)
    elif maker.base.is_nested:
        steps = maker.broadcast(len(maker.levels), source, frozenset(), one)
    else:
        steps = maker.gather(len(maker.levels), source, frozenset(), one, maker.broadcast_factor)
    return maker.schedule("broadcast", steps, copies=True, root=root)


def allgather_schedule(network: Network, *, as_printed: bool = False, all_port: bool = False) -> Schedule:
    """Return the schedule of an all-gather: Algorithm 3 (clusters, cross, clusters, cross).

    Parameters
    ----------
    network : Network
    as_printed : bool
        Whether the last crossing carries what the partner already has as well (docs/papers/errata.md, E12).
    all_port : bool

    Notes
    -----
    In a base factor, a cycle of r nodes takes r / 2 steps if r is even, as neighbors exchange in pairs [3]_, and r - 1
    if it is odd or `as_printed`; a complete graph ceil(log2 r), a path twice r - 1. Each node gets r - 1 words.

    Where several nodes of a cluster have cross-edges to the same other one, each sends all messages over its own.
    """
    maker = _Spread(network, all_port=all_port, as_printed=as_printed)
    if maker.swaps:
        if as_printed:
            raise SpecError("an all-gather as printed is for dual-nets")
        steps = maker.over_swaps(maker.src, gather=True)
    else:
        one = maker.circuit.constant(1)
        steps = maker.gather(len(maker.levels), maker.src, frozenset(), one, maker.gather_factor)
    return maker.schedule("allgather", steps, copies=True)


class _Spread(Builder):
    """Conditions on the own digits and the source's, `source` being the node that stands for it in the own cluster."""

    def __init__(self, network: Network, *, all_port: bool, as_printed: bool = False) -> None:
        super().__init__(network, all_port=all_port)
        self._as_printed = as_printed

    def broadcast(self, level: int, source: Target, free: frozenset[int], active: Term) -> list[Step]:
        """Return the steps that bring a message to all nodes of the `active` parts of a level, from one of each."""
        if level == 0:
            return self._base(source, free, active, self.broadcast_factor)
        layout = self.levels[level - 1]
        same = self.own[layout.class_digit].eq(source[layout.class_digit])
        here = same & self.equal(self.own, source, layout.cluster)
        first = here | ~same & self.equal(self.own, source, layout.cluster, layout.super_node)
        inner = self.inner(level, same, source)
        start = self.equal(self.own, inner, [place for place in inner if place not in free])
        return self._real(
            [
                self.cross(level, active & here & start),
                *self.broadcast(level - 1, inner, free, active & first),
                self.cross(level, active & first & ~self.equal(self.own, inner, layout.super_node)),
                *self.broadcast(level - 1, inner, frozenset(self.inside(level)), active & ~first),
            ]
        )

    def gather(self, level: int, source: Target, free: frozenset[int], active: Term, rule: Rule) -> list[Step]:
        """Return the steps that bring messages of nodes of a level's cluster to all of them."""
        if level == 0:
            return self._base(source, free, active, rule)
        layout = self.levels[level - 1]
        same = self.own[layout.class_digit].eq(source[layout.class_digit])
        here = same & self.equal(self.own, source, layout.cluster)
        inner = self.inner(level, same, source)
        away = self.circuit.constant(1) if self._as_printed else ~self.equal(self.own, inner, layout.super_node)
        return self._real(
            [
                *self.gather(level - 1, inner, free, active & here, rule),
                self.cross(level, active & here),
                *self.gather(level - 1, inner, frozenset(self.inside(level)), active & ~same, rule),
                self.cross(level, active & ~same & away),
            ]
        )

    def over_swaps(self, source: Target, *, gather: bool) -> list[Step]:
        """Return the steps of an HSN: its nuclei, then level by level from the top the swap and the nuclei it leads to.

        Before the swap of level i, a message is in the nodes with its source's X_2 .. X_i.
        """
        rule = self.gather_factor if gather else self.broadcast_factor
        steps = self._base(source, frozenset(), self.matches(source, self.swaps), rule)
        for level in self.swaps:
            lower = self.matches(source, range(2, level))
            here = self.matches(source, [level])
            steps.append(self.swap(level, lower & here & self.same_block(level, source)))
            entry = self.brought(level, source, source)
            steps += self._base(entry, self.open_digits(level), lower & ~here, rule)
        return self._real(steps)

    def _real(self, steps: list[Step]) -> list[Step]:
        return [step for step in steps if any(send.when.constant != 0 for send in step.sends)]

    def _base(self, source: Target, free: frozenset[int], active: Term, rule: Rule) -> list[Step]:
        later = [place for place in self.base_digits if place not in free]

        def factor(kind: Factor, place: int) -> list[Sends]:
            if place in free:
                return []
            later.remove(place)
            when = active & self.equal(self.own, source, later)
            return [[(by, when & one) for by, one in sends] for sends in rule(kind, self.own[place], source[place])]

        return self.base_steps(factor)

    def broadcast_factor(self, kind: Factor, own: Term, source: Term) -> list[Sends]:
        if kind.kind != "path" or kind.is_edge:
            return self._symmetric_factor(kind, own, source, both_ways=True)
        root = source.low
        up, down = (kind.size - 1 - root, 1), (root, -1)
        ways = sorted((up, down), key=lambda way: -way[0])
        return self._walks([(by, [self.among(own, [root + by * hop]) for hop in range(length)]) for length, by in ways])

    def gather_factor(self, kind: Factor, own: Term, source: Term) -> list[Sends]:
        if kind.kind == "cycle" and not kind.size % 2 and not (kind.is_edge or self.all_port or self._as_printed):
            return self._pairs(kind.size, own, source)
        if kind.kind != "path" or kind.is_edge:
            return self._symmetric_factor(kind, own, source, both_ways=self.all_port)
        hops, ends = range(kind.size - 1), (self.among(own, [0]), self.among(own, [kind.size - 1]))
        up = [self.among(own.submod(source, kind.size), [hop]) & ~own.lt(source) & ~ends[1] for hop in hops]
        down = [self.among(source.submod(own, kind.size), [hop]) & ~source.lt(own) & ~ends[0] for hop in hops]
        if self.all_port:
            return self._walks([(1, up), (-1, down)])
        return [[(by, when)] for by, way in ((1, up), (-1, down)) for when in way]

    def _symmetric_factor(self, kind: Factor, own: Term, source: Term, *, both_ways: bool) -> list[Sends]:
        if kind.is_edge:
            return [[(1, own.eq(source))]]
        size, ahead = kind.size, own.submod(source, kind.size)
        if kind.kind == "cycle":
            up, down = (size // 2, (size - 1) // 2) if both_ways else (size - 1, 0)
            plus = [self.among(ahead, [hop]) for hop in range(up)]
            return self._walks([(1, plus), (-1, [self.among(ahead, [-hop % size]) for hop in range(down)])])
        if self.all_port:
            return [[(by, self.among(ahead, [0])) for by in range(1, size)]]
        doubled = [1 << bit for bit in range((size - 1).bit_length())]
        return [[(by, self.among(ahead, range(min(by, size - by))))] for by in doubled]

    def _pairs(self, size: int, own: Term, source: Term) -> list[Sends]:
        """Return the steps of a cycle of even length in which neighbors exchange.

        In the first step they are digits 2i and 2i + 1; then a node sends what the last step brought to its other
        neighbor, first its own as well. So what a pair has had goes up from the node that is farthest up, and down
        from the one that is farthest down.
        """
        ahead, odd = own.submod(source, size), source.odd()
        here = self.among(ahead, [0])
        result: list[Sends] = [[(1, here & ~odd), (-1, here & odd)]]
        for step in range(1, size // 2):
            up, down = (
                odd.mux(self.among(ahead, [(place - 1) % size]), self.among(ahead, [place % size]))
                for place in (step, 1 - step)
            )
            result.append([(1, up), (-1, down)])
        return result

    def _walks(self, ways: list[tuple[int, list[Term]]]) -> list[Sends]:
        """Join two walks from the source in opposite directions; with one port the second begins a step later."""
        (one, first), (other, second) = ways
        late = 0 if self.all_port else 1
        steps = max(len(first), len(second) + late if second else 0)
        result: list[Sends] = [[] for _ in range(steps)]
        for by, way, delay in ((one, first, 0), (other, second, late)):
            for hop, when in enumerate(way):
                result[hop + delay].append((by, when))
        return result
