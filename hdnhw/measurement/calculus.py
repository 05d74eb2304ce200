"""Network calculus of flows whose rates are declared, as long as no queue fills, so that nothing waits for a credit.

See Le Boudec and Thiran, "Network Calculus", 2001: token buckets as arrival curves, and what is left by others of a
server, or its turn among them, as service curves. Flows that meet twice are no matter: the bounds are a fixed point.
"""

from dataclasses import dataclass
from itertools import accumulate
from math import floor, inf

import numpy as np
import numpy.typing as npt

from hdnhw.machine.timing import power_of_two
from hdnhw.measurement.guarantees import Guarantees
from hdnhw.spec.machine import MOST_BUFFERS

MOST_ROUNDS, SLACK = 1000, 1e-6
"""Of the search for bounds that imply themselves; what is added to them before that is checked."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Declared:
    """What declared rates guarantee.

    Attributes
    ----------
    latency : list of int or None
        Most cycles of each flow; None if there is no such bound.
    buffers : int or None
        Packet buffers per port with which no queue fills, a power of two; None if no number is known to do.
    """

    latency: list[int] | None
    buffers: int | None


class Calculus:
    """Bounds of flows, all of which have rates.

    A bound of the slots in each queue gives how much later packets of a flow come, and so their bursts at the next
    queues; these give bounds of the slots there. Bounds that imply themselves hold: no packet can be the first to break
    them. Arrivals at a queue are at most one packet a slot, since they come over one channel.

    Parameters
    ----------
    guarantees : Guarantees
    """

    def __init__(self, guarantees: Guarantees) -> None:
        self._of, flows = guarantees, guarantees.flows
        turns = [turn for route in guarantees.routes for turn in route]
        self._queues = list(dict.fromkeys(queue for queue, _ in turns))
        self._ways = list(dict.fromkeys(way for _, way in turns))
        self._turns = list(dict.fromkeys(turns))
        numbers = {each: number for kind in (self._queues, self._turns) for number, each in enumerate(kind)}
        ways = {way: number for number, way in enumerate(self._ways)}
        self._queue = np.array([numbers[queue] for queue, _ in turns])
        self._turn = np.array([numbers[turn] for turn in turns])
        self._way = np.array([ways[way] for _, way in turns])
        self._first = np.array([0, *accumulate(map(len, guarantees.routes))][:-1])
        self._hops = np.array([len(route) for route in guarantees.routes])
        self._rate = np.repeat(np.array([flow.rate for flow in flows], np.float64), self._hops)
        self._burst = np.repeat(np.array([flow.burst for flow in flows], np.float64), self._hops)
        created = np.bincount([flow.source for flow in flows], [flow.burst for flow in flows])
        # At its source a packet waits for those before it, and for the phase of its head and its tail.
        self._late = np.repeat(created[[flow.source for flow in flows]] + 2, self._hops)
        pairs = [
            (number, numbers[turn])
            for number, queue in enumerate(self._queues)
            for turn in guarantees.contention.competitors(queue)
        ]
        self._competing = np.array(pairs, np.int64).reshape(-1, 2)
        alone = guarantees.without_credits()
        self._alone = np.array([alone[queue] for queue in self._queues], np.float64)

    def _bursts(self, slots: Floats) -> tuple[Floats, Floats]:
        """Return the burst of each flow where it comes to each of its queues, and where it leaves it."""
        later = slots[self._queue] - 1
        before = np.cumsum(later) - later
        before -= np.repeat(before[self._first], self._hops)
        come = self._burst + self._rate * (before + self._late)
        return come, come + self._rate * later

    def _bounded(self, slots: Floats) -> Floats:
        """Return the bound of the slots in each queue that follows from such bounds."""
        come, gone = self._bursts(slots)
        count = len(self._queues)
        burst, rate = (np.bincount(self._queue, what, count) for what in (come, self._rate))
        leaving = [np.bincount(self._turn, what, len(self._turns)) for what in (gone, self._rate)]
        queue, turn = self._competing.T
        others, share = (np.bincount(queue, what[turn], count) for what in leaving)
        with np.errstate(divide="ignore", invalid="ignore"):
            packets = np.where(rate < 1, burst / (1 - rate), inf)  # come one a slot before they come at their rate
            shared = np.where(rate + share < 1, (packets + others) / (1 - share), inf)
            in_turn = np.where(rate * self._alone <= 1, packets * self._alone, inf)
            found: Floats = np.where(packets < inf, np.minimum(shared, in_turn) - packets + 1, inf)
        return found

    def declared(self) -> Declared:
        """Find bounds that imply themselves, and whether the queues have the room that they ask for."""
        slots = np.ones(len(self._queues))
        for _ in range(MOST_ROUNDS):
            slots, last = self._bounded(slots), slots
            if not np.isfinite(slots).all():
                return Declared(None, None)
            if np.allclose(slots, last, rtol=SLACK / 10, atol=SLACK / 10):
                break
        slots = slots * (1 + SLACK) + SLACK
        if not (self._bounded(slots) <= slots).all():
            return Declared(None, None)
        buffers = self._room(slots)
        if buffers:
            return Declared(None, buffers if buffers <= MOST_BUFFERS else None)
        late = np.add.reduceat(np.floor(slots)[self._queue] - 1, self._first) * self._of.machine.spec.packet_length
        alone = np.array(self._of.zero_load_latency)
        return Declared((alone + late.astype(np.int64)).tolist(), None)

    def _room(self, slots: Floats) -> int:
        """Return the packet buffers per port that are needed, 0 if there are enough."""
        of, machine, needed = self._of, self._of.machine, 0
        come, gone = self._bursts(slots)
        stay = dict(zip(self._queues, slots.tolist(), strict=True))
        entering = self._sums(self._queue, come, len(self._queues))
        leaving = self._sums(self._way, gone, len(self._ways))
        for queue, burst, rate in zip(self._queues, *entering, strict=True):
            if of.injects(queue):  # a place is taken from the first flit on
                needed = max(needed, _more(stay[queue] + 2, burst, rate, machine.injection_buffers))
        for way, burst, rate in zip(self._ways, *leaving, strict=True):
            if of.injects(way):
                taken, room, classes = machine.timing.ejection_slots, machine.ejection_buffers, 1
            else:
                behind = of.behind(way)
                taken, room = of.around(way) + stay[behind] - 1, of.buffers(behind)
                classes = power_of_two(machine.plan.num_vcs[way[1]])
            needed = max(needed, classes * _more(taken, burst, rate, room))
        return needed

    def _sums(self, places: npt.NDArray[np.int64], bursts: Floats, count: int) -> list[list[float]]:
        return [np.bincount(places, what, count).tolist() for what in (bursts, self._rate)]


def _more(slots: float, burst: float, rate: float, room: int) -> int:
    """Return the places that packets take that stay for so many slots, a power of two, 0 if there is room for them."""
    packets = floor(min(slots, burst + rate * slots))
    return power_of_two(packets) if packets > room else 0
