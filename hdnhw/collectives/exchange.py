"""Total exchange: every node has a message for every node.

At level j a message for (c, U, I) that is in a cluster of class c goes to I in it; in one of the other class it goes to
super-node U, whose cross-edges lead to cluster U. So all that a step asks for is the message's destination; where in a
super-node of several nodes it goes is the split rule.

The orders differ in when they cross:

- ``paper``: cross (messages for the own class), cluster, cross (all), cluster.
- ``cluster-first``: cluster, cross (all but those for the own cluster), cluster, cross (those for the other class). No
  cross-edge changes the digits of SN^j. So the first pass sets them to what the first steps of the second pass would
  set them to, and these steps are left out (docs/results/01-total-exchange.md).

On an HSN both begin with the top level and move only messages that differ in X_i:

- ``paper``: the product of its nuclei emulated, the dimensions of a level between two swaps.
- ``cluster-first``: by the route: in the nucleus to the target's X_i, and over the swap, once.

References
----------
.. [1] HDN paper (hdn-total-exchange), section 4, Algorithm 2; RDN paper (rdn-collectives), section V, Algorithm 4.
.. [2] HSN paper, sections 2.3 and 3.1, Corollary 3.5.
"""

from hdnhw.circuits.circuit import Term
from hdnhw.collectives.choices import SPLITS
from hdnhw.collectives.schedule import Builder, Schedule, Sends, Step, Target
from hdnhw.spec import EXCHANGE_ORDERS, Factor
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named
from hdnhw.topology.graph import Network


def exchange_schedule(
    network: Network, order: str = "cluster-first", *, split: str = "destination", all_port: bool = False
) -> Schedule:
    """Return the schedule of a total exchange.

    Parameters
    ----------
    network : Network
    order : str
        One of :data:`hdnhw.spec.EXCHANGE_ORDERS`; without levels they are the same.
    split : str
        One of :data:`hdnhw.collectives.choices.SPLITS`: the paper does not say which node of a super-node gets msg_q
        (docs/papers/errata.md, E14).
        ``destination`` takes the fewest words of them, and a node needs no address but the destination's. The
        other order has this one alone.
    all_port : bool

    Returns
    -------
    Schedule
        Steps of a base factor: a cycle of r nodes, r even, has r / 2, over the edges of one matching and of the other
        in turn; r odd, r // 2 in either direction; a path r - 1 in each; a complete graph one for each distance; an
        edge one. With all ports a cycle has r // 2.

    Raises
    ------
    SpecError
        If there is no such order or split.
    """
    for what, asked, known in (("schedule", order, EXCHANGE_ORDERS), ("split", split, SPLITS)):
        if asked not in known:
            raise SpecError(f"{named(what)} {choices_text(known, asked)}")
    if order != "paper" and split != "destination":
        raise SpecError(f"{named('split')} must be destination in the order {order}, not {split!r}")
    maker = _Exchange(network, split, all_port)
    top = len(maker.levels)
    if maker.swaps:
        steps = maker.swapped(emulates=order == "paper")
    else:
        steps = maker.paper(top, maker.dst, maker.src) if order == "paper" else maker.cluster_first(top, maker.dst)
    return maker.schedule(order, steps, copies=False)


class _Exchange(Builder):
    def __init__(self, network: Network, split: str, all_port: bool) -> None:
        super().__init__(network, all_port=all_port)
        self._split = split

    def cluster_first(self, level: int, target: Target, done: frozenset[int] = frozenset()) -> list[Step]:
        """Return the steps that bring every message of a cluster of a level to its target there.

        The first steps leave out the base digits at the places in `done`: they are what these steps would make them.
        """
        if level == 0:
            return self._base(target, self.circuit.constant(1), done)
        layout = self.levels[level - 1]
        same, there = self._same(level, self.own, target)
        first = self.cluster_first(level - 1, self._leave(level, self.own, target), done)
        crossed = [*first, self.cross(level, ~there)]
        if not layout.cluster:
            return crossed
        second = self.cluster_first(level - 1, self.inner(level, same, target), frozenset(self.inside(level)))
        return [*crossed, *second, self.cross(level, ~same)]

    def _same(self, level: int, own: Target, target: Target) -> tuple[Term, Term]:
        """Return whether a node is in a cluster of the target's class, and whether in that of the target."""
        layout = self.levels[level - 1]
        same = own[layout.class_digit].eq(target[layout.class_digit])
        return same, same & self.equal(own, target, layout.cluster)

    def _leave(self, level: int, own: Target, target: Target) -> dict[int, Term]:
        """Return where the first pass of a level ends: the target, or the node from which a message crosses.

        Of `own` only digits are read that the pass does not change: the class and the cluster of the level.
        """
        same, there = self._same(level, own, target)
        behind, _ = self.behind(self.cross_port(level), own)
        entry = self._first_stop(level - 1, behind, self.inner(level, ~same, target))
        leave = self.inner(level, same, target)
        return leave | {place: there.mux(target[place], entry[place]) for place in self.inside(level)}

    def _first_stop(self, level: int, own: Target, target: Target) -> Target:
        """Return the base digits that a message has after the first steps within a cluster of a level."""
        for lower in range(level, 0, -1):
            target = self._leave(lower, own, target)
        return target

    def paper(self, level: int, target: Target, start: Target) -> list[Step]:
        """Return the steps from `start` to `target`."""
        if level == 0:
            return self._base(target, self.circuit.constant(1))
        layout, one = self.levels[level - 1], self.circuit.constant(1)
        same = self.own[layout.class_digit].eq(target[layout.class_digit])
        begin, crosses = dict(start), start[layout.class_digit].eq(target[layout.class_digit])
        for cluster, place in zip(layout.cluster, layout.super_node, strict=True):
            begin[cluster] = crosses.mux(start[place], start[cluster])
            begin[place] = crosses.mux(start[cluster], start[place])
        leave = self.inner(level, ~one, target)
        for place in self.inside(level):
            leave[place] = self._split_digit(place, start[place], target[place])
        enter = leave | {
            place: begin[cluster] for cluster, place in zip(layout.cluster, layout.super_node, strict=True)
        }
        return [
            self.cross(level, same),
            *self.paper(level - 1, leave, begin),
            self.cross(level, ~same),
            *self.paper(level - 1, self.inner(level, one, target), enter),
        ]

    def swapped(self, *, emulates: bool) -> list[Step]:
        """Return the steps on an HSN, for messages that differ in X_i from the top level down, then in X_1."""
        if self._split != "destination":
            raise SpecError(f"{named('split')} must be destination on {self.network.spec}, not {self._split!r}")
        steps = []
        for level in self.swaps:
            wanted = self.brought(level, self.dst, self.own)
            if emulates:
                moved = ~self.equal(wanted, self.brought(level, self.src, self.own), self.base_digits)
                steps += [self.swap(level, moved), *self._base(wanted, moved), self.swap(level, moved)]
            else:
                moved = ~self.matches(self.dst, [level])
                steps += [*self._base(wanted, moved), self.swap(level, moved)]
        return [*steps, *self._base(self.dst, self.circuit.constant(1))]

    def _split_digit(self, place: int, start: Term, target: Term) -> Term:
        """Return the digit of the node from which a message crosses, in a place of SN^j."""
        if self._split == "destination":
            return target
        if self._split == "source":
            return start
        if self._split == "first":
            return self.circuit.constant(0)
        radix = self.network.radices[place]
        return start.submod(self.circuit.constant(0).submod(target, radix), radix)

    def _base(self, target: Target, moved: Term, done: frozenset[int] = frozenset()) -> list[Step]:
        return self.base_steps(
            lambda kind, place: [
                [(by, moved & when) for by, when in sends]
                for sends in ([] if place in done else self._factor(kind, self.own[place], target[place]))
            ]
        )

    def _factor(self, kind: Factor, own: Term, target: Term) -> list[Sends]:
        ahead = target.submod(own, kind.size)
        if kind.is_edge:
            return [[(1, ~own.eq(target))]]
        if kind.kind == "complete":
            sends = [(by, self.among(ahead, [by])) for by in range(1, kind.size)]
            return [sends] if self.all_port else [[send] for send in sends]
        if kind.kind == "path":
            plus, minus, lengths = own.lt(target), target.lt(own), (kind.size - 1, kind.size - 1)
        else:
            half, zero = self.circuit.constant(kind.size // 2), self.circuit.constant(0)
            if kind.size % 2 == 0 and not self.all_port:
                return self._matchings(kind.size // 2, own.odd(), zero.lt(ahead) & ~half.lt(ahead), ~ahead.lt(half))
            minus = half.lt(ahead)
            plus, lengths = zero.lt(ahead) & ~minus, (kind.size // 2, (kind.size - 1) // 2)
        ways = [[(by, when)] * length for by, when, length in zip((1, -1), (plus, minus), lengths, strict=True)]
        if not self.all_port:
            return [[send] for way in ways for send in way]
        return [[way[step] for way in ways if step < len(way)] for step in range(lengths[0])]

    def _matchings(self, steps: int, odd: Term, plus: Term, minus: Term) -> list[Sends]:
        """Return the steps of an even cycle: one matching and the other in turn, to whichever side leads nearer."""
        turns: list[Sends] = [[(1, plus & ~odd), (-1, minus & odd)], [(1, plus & odd), (-1, minus & ~odd)]]
        return [turns[step % 2] for step in range(steps)]
