"""One-to-all personalized communication (scatter): one node has a message for every node.

The order is that of Algorithm 2 of the RDN paper, with the ids of docs/papers/errata.md, E11: the source crosses with
the messages for the other clusters of its class; both clusters deal theirs out, those for cluster q to super-node q;
all cross; every cluster deals its own out from where they came in, the node with the source's base digits in SN^j. The
source sends every message once; for nested S no node sends more than it in any step: N - 1 words, the lower bound.

On an HSN a message takes the route of the paper, all levels included: at each level from the top to the node of the
nucleus that its swap leads from, and over it.

References
----------
.. [1] RDN paper (rdn-collectives), section IV, Algorithm 2.
.. [2] HSN paper, section 2.3.
"""

from collections.abc import Sequence

from hdnhw.circuits.circuit import Term
from hdnhw.collectives.schedule import Builder, Schedule, Sends, Step, Target
from hdnhw.spec import Factor
from hdnhw.topology.graph import Network


def scatter_schedule(network: Network, root: int = 0, *, all_port: bool = False) -> Schedule:
    """Return the schedule of a scatter.

    In a base factor, a cycle or path of r nodes takes r - 1 steps, the farthest node's message first; a complete graph
    takes ceil(log2 r), half of what a node has at a time. With all ports a cycle takes r // 2, a complete graph one.
    """
    maker = _Scatter(network, all_port=all_port)
    source = maker.constants(network.check_node(root))
    if maker.swaps:
        steps = maker.over_swaps(source)
    else:
        steps = maker.steps(len(maker.levels), maker.dst, source, maker.circuit.constant(1))
    return maker.schedule("scatter", steps, copies=False, root=root)


class _Scatter(Builder):
    def steps(self, level: int, target: Target, source: Target, active: Term) -> list[Step]:
        """Return the steps that bring `active` messages from `source` to `target` in the clusters of a level."""
        if level == 0:
            return self._base(target, source, active)
        layout = self.levels[level - 1]
        own, wanted, first = (digits[layout.class_digit] for digits in (self.own, target, source))
        same, one = own.eq(wanted), self.circuit.constant(1)
        leave = self.inner(level, ~one, target) | {place: source[place] for place in self.inside(level)}
        inner = self.inner(level, own.eq(first), source)
        other = own.eq(first) & same & ~self.equal(target, source, layout.cluster)
        return [
            self.cross(level, active & other),
            *self.steps(level - 1, leave, inner, active & ~same),
            self.cross(level, active & ~same),
            *self.steps(level - 1, self.inner(level, one, target), inner, active & same),
        ]

    def over_swaps(self, source: Target) -> list[Step]:
        """Return the steps of an HSN: at each level from the top, to the target's X_i in X_1, and over the swap.

        That leaves the source's X_i in X_1. In the end it is to the target's X_1.
        """
        steps, one = [], self.circuit.constant(1)
        start = source
        for level in self.swaps:
            steps += [*self._base(self.brought(level, self.dst, start), start, one), self.swap(level, one)]
            start = self.brought(level, source, start)
        return [*steps, *self._base(self.dst, start, one)]

    def _base(self, target: Target, source: Target, active: Term) -> list[Step]:
        return self.base_steps(
            lambda kind, place: [
                [(by, active & when) for by, when in sends]
                for sends in self._factor(kind, self.own[place], target[place], source[place])
            ]
        )

    def _factor(self, kind: Factor, own: Term, target: Term, source: Term) -> list[Sends]:
        if target.eq(source).constant:
            return []
        size, wanted = kind.size, ~own.eq(target)
        if kind.is_edge:
            return [[(1, wanted)]]
        ahead = target.submod(source, size)
        if kind.kind == "complete":
            if self.all_port:
                return [[(by, wanted & self.among(ahead, [by])) for by in range(1, size)]]
            bits = reversed(range((size - 1).bit_length()))
            return [[(1 << bit, self.among(ahead, [to for to in range(size) if to >> bit & 1]))] for bit in bits]
        if kind.kind == "cycle":
            ways = [(1, range(1, size // 2 + 1)), (-1, range(size - 1, size // 2, -1))]
        else:
            root = source.low
            ways = [(1, range(1, size - root)), (-1, range(size - 1, size - 1 - root, -1))]
        return self._rows(ways, ahead, wanted)

    def _rows(self, ways: Sequence[tuple[int, Sequence[int]]], ahead: Term, wanted: Term) -> list[Sends]:
        """Send one message a step from the source, or one a port, the farthest first; others are passed on at once.

        `ways` has for each direction the distances in + direction of its nodes, the nearest first.
        """
        queue = sorted(
            ((hops, by, to) for by, row in ways for hops, to in enumerate(row, 1)), key=lambda item: -item[0]
        )
        leaves = {to: step for step, (_, _, to) in enumerate(queue)}
        if self.all_port:
            leaves = {to: len(row) - 1 - place for _, row in ways for place, to in enumerate(row)}
        steps = max(leaves.values()) + 1
        under_way = [[(by, [to for to in row if leaves[to] <= step]) for by, row in ways] for step in range(steps)]
        return [[(by, wanted & self.among(ahead, some)) for by, some in sends] for sends in under_way]
