"""Packets that will never arrive: found while a fabric is simulated, and named.

Nothing is done in a cycle: what has gone on is looked at between windows of cycles. A queue whose head waits for a slot
of a queue that is full waits for the head of that one to move; heads that wait in a circle do so for ever.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hdnhw.model.core import CREATED, DESTINATION, HOPS, TAG
from hdnhw.model.course import Course, Heads
from hdnhw.model.fabric import FabricModel
from hdnhw.model.reference import Reference
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.plan import ADAPTIVE
from hdnhw.support.errors import HangError

PATIENCE = 1000
"""Slots in which packets may wait and nothing be sent or taken; sinks that are always ready need some ten."""


class Watchdog:
    """Looks for packets that will never arrive.

    Parameters
    ----------
    model : FabricModel
    course : Course or Reference
        Its terminals do not pause. A reference is not watched.
    source_of : callable
        Takes a packet's tag and returns its source.
    """

    def __init__(self, model: FabricModel, course: Course | Reference, *, source_of: Callable[[int], int]) -> None:
        self._model, self._course, self._source_of = model, course, source_of
        self._ports = model.plan.network.ports
        self._moved, self._still_since, self._followed, self._waited = (0, 0), 0, 0, False

    def look(self, *, last: bool = False) -> None:
        """Look at what has gone on since the last look.

        Parameters
        ----------
        last : bool
            Look for all that can be found, also while other packets move; otherwise for what stops everything, and,
            after :data:`PATIENCE` slots and whenever twice as many have gone by, for packets that go in circles.

        Raises
        ------
        HangError
        """
        course = self._course
        if isinstance(course, Reference):
            return
        numbers = course.core.numbers()
        moved, slots = (numbers["sent"], numbers["left"] + numbers["lost"]), numbers["slot"]
        if moved != self._moved or not self._waited:
            self._moved, self._still_since, self._waited = moved, slots, bool(numbers["holds"])
        if last or slots - self._followed >= max(PATIENCE, self._followed):
            self._followed = slots
            self._check_farthest(course)
        stuck = slots - self._still_since >= PATIENCE
        if stuck or (last and self._model.plan.scheme != ADAPTIVE):  # of that, what waits may choose anew
            self._check_heads(course, stuck)

    def _check_farthest(self, course: Course) -> None:
        """Follow the route of the packet that has crossed most channels: it must end, and be as long at least."""
        found = course.farthest()
        if found is None:
            return
        packet, legs = found
        source, destination = self._source_of(int(packet[TAG])), self._node(packet[DESTINATION])
        hops = int(packet[HOPS])
        node, crossed, ends = source, list[str](), True
        for number, (stop, target) in enumerate(legs):
            seen, stops = set[int](), {self._node(stop), self._node(target)}
            while ends and node not in stops:
                seen.add(node)
                port, vc = self._hop(node, target)
                crossed.append(f"{node}.{self._ports[port].name}.{vc + number * self._model.plan.first_vc}")
                node = int(self._model.neighbor(node, port))
                ends = node not in seen
        if ends and hops <= len(crossed):
            return
        end = f"has {len(crossed)}" if ends else f"comes back to node {node} after {len(crossed)}"
        raise HangError(
            f"{self._model.plan.network.spec} has a livelock: the packet from {source} to {destination} of cycle "
            f"{packet[CREATED]} has crossed {hops} channels by cycle {self._cycle}, and its route (node.port.vc) {end}:"
            + "".join(f"\n  {channel}" for channel in crossed)
        )

    def _hop(self, node: int, address: int) -> tuple[int, int]:
        """Return port and virtual channel by which a packet leaves a node, as the model has them."""
        decision = self._model.plan.plain_route(int(self._model.address[node]), address)
        return decision & (1 << VC_SHIFT) - 1, decision >> VC_SHIFT

    def _check_heads(self, course: Course, stuck: bool) -> None:
        heads = course.heads(waiting=not stuck)
        following = _following(heads)
        circle = _circle(following)
        if circle:
            found = f"has a deadlock: {len(circle)} packets wait for each other"
        elif stuck:
            circle = [0]
            while (ahead := int(following[circle[-1]])) < len(following):
                circle.append(ahead)
            found = f"stands still: no packet has moved for {PATIENCE} slots; these wait, but in no circle"
        else:
            return
        raise HangError(
            f"{self._model.plan.network.spec} {found} in cycle {self._cycle} (queues as node.input.vc):"
            + "".join(f"\n  {line}" for line in (self._wait(heads, head) for head in circle))
        )

    def _wait(self, heads: Heads, head: int) -> str:
        """Say what a packet at the head of a queue waits for."""
        packet, wanted, free = heads.packet[head], int(heads.wanted[head]), int(heads.free[head])
        target = "its terminal" if wanted < 0 else self._name(wanted)
        awaited = f"a packet buffer of {target}" if free == 0 else f"nothing: {target} has {free} buffers for it"
        source, destination = self._source_of(int(packet[TAG])), self._node(packet[DESTINATION])
        return f"{self._name(int(heads.queue[head]))}: the packet from {source} to {destination} waits for {awaited}"

    @property
    def _cycle(self) -> int:
        """Cycle of the last allocation."""
        timing = self._model.timing
        return (self._course.slots - 1) * timing.packet_length + timing.sample_phase

    def _name(self, queue: int) -> str:
        vc_bits = self._model.vc_bits
        node, entry = divmod(queue, len(self._ports) + 1 << vc_bits)
        names = [*(port.name for port in self._ports), "injection"]
        return f"{node}.{names[entry >> vc_bits]}.{entry & (1 << vc_bits) - 1}"

    def _node(self, address: int | np.int32) -> int:
        plan = self._model.plan
        return int(plan.network.encode(plan.address.unpack(int(address))))


def _following(heads: Heads) -> npt.NDArray[np.int64]:
    """Return for each head the one that must move first, as an index; for those that need not wait, their number."""
    count = len(heads.queue)
    place = np.searchsorted(heads.queue, heads.wanted)
    waits = (heads.free == 0) & (heads.wanted >= 0) & np.isin(heads.wanted, heads.queue)
    return np.where(waits, place, count)


def _circle(following: npt.NDArray[np.int64]) -> list[int]:
    """Return a circle of heads that wait for each other, in their order, from the first there is; [] if none do."""
    count = len(following)
    ahead = np.append(following, count)
    for _ in range(count.bit_length()):
        ahead = ahead[ahead]
    (endless,) = np.nonzero(ahead < count)
    if not len(endless):
        return []
    circle = [int(ahead[endless].min())]
    while (head := int(following[circle[-1]])) != circle[0]:
        circle.append(head)
    return circle
