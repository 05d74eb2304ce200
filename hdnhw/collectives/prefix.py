"""All-reduce of a short vector, and scan: every node gets the sum of all contributions, or of those before it.

On a level of a dual-net, each cluster adds up its own; over the cross-edges these sums come to the nodes of the
clusters of the other class, one of each cluster to each super-node; the clusters add those up, and over the
cross-edges every node gets the sum of its own class. That is the order of the all-gather (RDN paper, Algorithm 3), in
as many start-ups, but what is sent is one word and not all that has come. In a scan the clusters do not add up, but
scan: a node's prefix is that in its cluster, that of its cluster among those of its class, and, in class 1, the sum of
class 0. Nodes are in the order of their digits (of :class:`hdnhw.topology.address.AddressLayout`): class, cluster,
node in the cluster.

A level of one cluster a class takes one crossing. When a cluster adds up what has come over the cross-edges, its first
steps leave out the digits in SN^j, as all nodes of a super-node have got the same.

On an HSN a level takes one swap, and no swap back: after it, X_1 counts what X_i has counted, and all nodes of a
cluster have the sum. A scan's prefixes come back over a second swap.

References
----------
.. [1] RDN paper (rdn-collectives), section V: reduction and prefix sums by all-to-all broadcast.
.. [2] HSN paper, section 2.3.
"""

from collections.abc import Iterable

from hdnhw.circuits.circuit import Term
from hdnhw.collectives.registers import OWN, RESULT, RegisterSchedule, RegisterStep, Update, received
from hdnhw.collectives.schedule import Builder, Send
from hdnhw.spec import Factor
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Network

MOVING, MINE, PART, CLIPPED = "moving", "mine", "part", "clipped"
"""Registers of the steps in a factor."""


def allreduce_schedule(network: Network) -> RegisterSchedule:
    """Return the schedule in which every node gets the sum of all contributions.

    In a base factor a cycle of r nodes takes r / 2 start-ups if r is even, r - 1 if it is odd; a complete graph
    ceil(log2 r), a path r - 1 if r is even, r if it is odd.
    """
    maker = _Prefix(network)
    maker.set(RESULT, OWN)
    maker.all_nodes(RESULT, None)
    return maker.made("allreduce")


def scan_schedule(network: Network, *, exclusive: bool = False) -> RegisterSchedule:
    """Return the schedule in which every node gets the sum of the contributions of the nodes up to it.

    Parameters
    ----------
    network : Network
    exclusive : bool
        Whether its own is left out; the first node gets the identity of the operator.

    Raises
    ------
    SpecError
        If the network is an HSN over a divisor that cuts a digit of the nucleus.
    """
    maker = _Prefix(network)
    maker.set(RESULT, *(() if exclusive else (OWN,)))
    maker.set("total", OWN)
    maker.all_nodes("total", RESULT)
    return maker.made("exscan" if exclusive else "scan")


class _Prefix(Builder):
    """Steps on a register with the sums of clusters, `total`, and one with what is before a node in them, `before`."""

    def __init__(self, network: Network) -> None:
        super().__init__(network, all_port=False)
        self._start: list[Update] = []
        self._steps: list[tuple[str, tuple[Send, ...], tuple[str, ...], list[Update]]] = []
        self._one = self.circuit.constant(1)

    def made(self, name: str) -> RegisterSchedule:
        """Return the schedule of the steps so far."""
        steps = tuple(
            RegisterStep(stage, sends, registers, tuple(updates)) for stage, sends, registers, updates in self._steps
        )
        return RegisterSchedule(self.network, name, self.circuit, tuple(self._start), steps)

    def set(self, register: str, *terms: str, when: Term | None = None) -> None:
        """Add an update to the last step."""
        update = Update(register, terms, self._one if when is None else when)
        if update.when.constant != 0:
            (self._steps[-1][3] if self._steps else self._start).append(update)

    def _add(self, register: str | None, *terms: str, when: Term | None = None) -> None:
        if register is not None:
            self.set(register, register, *terms, when=when)

    def _step(self, stage: str, sends: Iterable[tuple[int, Term]], *registers: str) -> None:
        real = tuple(Send(port, when) for port, when in sends if when.constant != 0)
        self._steps.append((stage, real, registers, []))

    def all_nodes(self, total: str, before: str | None) -> None:
        """Add up, or scan, over the whole network; in a scan, the total of all is not needed in the end."""
        if self.swaps:
            self._over_swaps(total, before)
        else:
            self._level(len(self.levels), total, before, frozenset(), needs_total=before is None)

    def _level(
        self, level: int, total: str, before: str | None, free: frozenset[int], *, needs_total: bool = True
    ) -> None:
        if level == 0:
            self._base(total, before, free)
            return
        layout = self.levels[level - 1]
        others, ahead = f"total{level}", None if before is None else f"before{level}"
        self._level(level - 1, total, before, free)
        crossing = [(send.port, send.when) for send in self.cross(level, self._one).sends]
        self._step(f"cross{level}", crossing, total)
        if not layout.cluster:
            self._add(before, received(total), when=self.own[layout.class_digit])
            self._add(total, received(total))
            return
        self.set(others, received(total))
        if ahead is not None:
            self.set(ahead)
        self._level(level - 1, others, ahead, frozenset(self.inside(level)))
        if ahead is None:
            self._step(f"cross{level}", crossing, others)
        else:
            self._add(before, others, when=self.own[layout.class_digit])
            self._step(f"cross{level}", crossing, ahead, *([others] if needs_total else []))
            self._add(before, received(ahead))
        if needs_total:
            self.set(total, others, received(others))

    def _over_swaps(self, total: str, before: str | None) -> None:
        self._base(total, before, frozenset())
        for level in reversed(self.swaps):
            others, ahead = f"total{level}", None if before is None else f"before{level}"
            away, first = self.away(level, self.own), self.first_block(level)
            if before is not None and first.constant != 1:
                raise SpecError(f"a scan is not for HSNs over a divisor that cuts a digit, as {self.network.spec}")
            swap = [(send.port, send.when) for send in self.swap(level, self._one).sends]
            self._step(f"swap{level}", swap, total)
            self.set(others, received(total), when=away)
            self.set(others, total, when=~away)
            self.set(others, when=~first)
            if ahead is not None:
                self.set(ahead)
            self._base(others, ahead, self.open_digits(level))
            if ahead is not None:
                self._step(f"swap{level}", swap, ahead)
                self._add(before, received(ahead), when=away)
                self._add(before, ahead, when=~away)
            self.set(total, others)

    def _base(self, total: str, before: str | None, free: frozenset[int]) -> None:
        for place in reversed(self.base_digits):
            if place not in free:
                self._factor(place, total, before)

    def _factor(self, place: int, total: str, before: str | None) -> None:
        factor = place - self.base_digits[0]
        kind = self.base.factors[factor]
        if kind.is_edge:
            self._step(f"dim{factor}", [(self.port(factor, 1), self._one)], total)
            self._add(before, received(total), when=self.own[place])
            self._add(total, received(total))
        elif kind.kind == "complete":
            self._complete(kind, place, total, before)
        elif kind.kind == "path":
            self._path(kind, place, total, before)
        elif kind.size % 2:
            self._odd_cycle(kind, place, total, before)
        else:
            self._even_cycle(kind, place, total, before)

    def _least(self, place: int, least: int) -> Term:
        return ~self.own[place].lt(self.circuit.constant(least))

    def _odd_cycle(self, kind: Factor, place: int, total: str, before: str | None) -> None:
        """Every contribution goes round in + direction."""
        factor = place - self.base_digits[0]
        for hop in range(1, kind.size):
            sent = total if hop == 1 else MOVING
            self._step(f"dim{factor}", [(self.port(factor, 1), self._one)], sent)
            self._add(before, received(sent), when=self._least(place, hop))
            self._add(total, received(sent))
            if hop < kind.size - 1:
                self.set(MOVING, received(sent))

    def _even_cycle(self, kind: Factor, place: int, total: str, before: str | None) -> None:
        """Nodes exchange in turn with either neighbor: first within pairs, then what has come of other pairs.

        In step t > 1 a node gets the sum of the pair that is t // 2 pairs away.
        """
        factor, odd = place - self.base_digits[0], self.own[place].odd()
        for step in range(1, kind.size // 2 + 1):
            right = odd if step % 2 == 0 else ~odd
            sent = total if step <= 2 else MOVING
            self._step(f"dim{factor}", [(self.port(factor, 1), right), (self.port(factor, -1), ~right)], sent)
            pairs = step // 2
            earlier = right.mux(self._least(place, kind.size - 2 * pairs), self._least(place, 2 * pairs))
            self._add(before, received(sent), when=odd if step == 1 else earlier)
            self._add(total, received(sent))
            if 1 < step < kind.size // 2:
                self.set(MOVING, received(sent))

    def _path(self, kind: Factor, place: int, total: str, before: str | None) -> None:
        """Sums go up from one end and down from the other; of odd length, down begins a step later."""
        factor, size, late = place - self.base_digits[0], kind.size, kind.size % 2
        self.set(MOVING, total)
        self.set(MINE, total)
        for step in range(size - 1 + late):
            up, down = (self.among(self.own[place], [at]) for at in (step, size - 1 + late - step))
            if step == size - 1:
                up = self.circuit.constant(0)
            self._step(f"dim{factor}", [(self.port(factor, 1), up), (self.port(factor, -1), down)], MOVING)
            below = self.among(self.own[place], [step + 1])
            above = self.among(self.own[place], [size - 2 + late - step])
            self._add(before, received(MOVING), when=below)
            self._add(total, received(MOVING), when=below | above)
            self.set(MOVING, MINE, received(MOVING), when=below | above)

    def _complete(self, kind: Factor, place: int, total: str, before: str | None) -> None:
        """Sums of the last 1, 2, 4, ... nodes; of sizes that are no power of two, those of the rest as well."""
        factor, size, has_part = place - self.base_digits[0], kind.size, False
        last = (size - 1).bit_length() - 1
        if before is not None:
            self.set(CLIPPED, total)
        for bit in range(last + 1):
            by, ends = 1 << bit, bit == last and size & (size - 1) != 0
            some = [*([] if ends else [total]), *([PART] if has_part else []), *([] if before is None else [CLIPPED])]
            self._step(f"dim{factor}", [(self.port(factor, by), self._one)], *some)
            if before is not None:
                self._add(before, received(CLIPPED), when=self._least(place, by))
                self._add(CLIPPED, received(CLIPPED), when=self._least(place, by))
            if ends:
                self._add(total, received(PART))
                return
            if size & by:
                self.set(PART, total, *([received(PART)] if has_part else []))
                has_part = True
            self._add(total, received(total))
