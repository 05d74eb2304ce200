"""Total exchange: every node has a message for every node.

At level j a message for (c, U, I) that is in a cluster of class c goes to I in it; in one of the other class it goes to
super-node U, whose cross-edges lead to cluster U. So all that a step asks for is the message's destination; where in a
super-node of several nodes it goes is the split rule.

The orders differ in when they cross:

- ``paper``: cross (messages for the own class), cluster, cross (all), cluster.
- ``cluster-first``: cluster, cross (all but those for the own cluster), cluster, cross (those for the other class).

On an HSN both begin with the top level and move only messages that differ in X_i:

- ``paper``: the product of its nuclei emulated, the dimensions of a level between two swaps.
- ``cluster-first``: by the route: in the nucleus to the target's X_i, and over the swap, once.

References
----------
.. [1] HDN paper (hdn-total-exchange), section 4, Algorithm 2; RDN paper (rdn-collectives), section V, Algorithm 4.
.. [2] HSN paper, sections 2.3 and 3.1, Corollary 3.5.
"""

from hdnhw.collectives.choices import SPLITS
from hdnhw.collectives.schedule import Builder, Schedule, Sends, Step, Target
from hdnhw.rules.circuit import Term
from hdnhw.spec import EXCHANGE_ORDERS, Factor, SpecError
from hdnhw.topology.network import Network

__all__ = ["exchange_schedule"]


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
        (docs/errata.md, E14).
        ``destination`` takes the fewest words of them, and a node needs no address but the destination's. The
        other order has this one alone.
    all_port : bool

    Returns
    -------
    Schedule
        Steps of a base factor: a cycle of r nodes has r // 2 in + direction, on which a tie goes, and (r - 1) // 2 in
        the other; a path r - 1 in each; a complete graph one for each distance; an edge one.

    Raises
    ------
    SpecError
        If there is no such order or split.
    """
    for what, asked, known in (("schedule", order, EXCHANGE_ORDERS), ("split", split, SPLITS)):
        if asked not in known:
            raise SpecError(f"{what} must be {', '.join(known[:-1])} or {known[-1]}, not {asked!r}")
    if order != "paper" and split != "destination":
        raise SpecError(f"split must be destination in the order {order}, not {split!r}")
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

    def cluster_first(self, level: int, target: Target) -> list[Step]:
        """Return the steps that bring every message of a cluster of a level to its target there."""
        if level == 0:
            return self._base(target, self.circuit.constant(1))
        layout = self.levels[level - 1]
        same = self.own[layout.class_digit].eq(target[layout.class_digit])
        there = same & self.equal(self.own, target, layout.cluster)
        within = self.cluster_first(level - 1, self.inner(level, same, target))
        return [*within, self.cross(level, ~there), *within, self.cross(level, ~same)]

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
            raise SpecError(f"split must be destination on {self.network.spec}, not {self._split!r}")
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

    def _base(self, target: Target, moved: Term) -> list[Step]:
        return self.base_steps(
            lambda kind, place: [
                [(by, moved & when) for by, when in sends]
                for sends in self._factor(kind, self.own[place], target[place])
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
            minus = half.lt(ahead)
            plus, lengths = zero.lt(ahead) & ~minus, (kind.size // 2, (kind.size - 1) // 2)
        ways = [[(by, when)] * length for by, when, length in zip((1, -1), (plus, minus), lengths, strict=True)]
        if not self.all_port:
            return [[send] for way in ways for send in way]
        return [[way[step] for way in ways if step < len(way)] for step in range(lengths[0])]
