"""A record of a run: where every packet is in every slot, read from the cycle-accurate model as it runs."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hdnhw.measurement.load import LoadSpec
from hdnhw.model.core import HEAD_CYCLE, HOPS, TAG, TAIL_CYCLE, Arrivals
from hdnhw.model.course import Course
from hdnhw.model.fabric import FabricModel
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.traffic.packets import Terminals

MOST_RECORDED = 1 << 16
"""Packets of a record."""

Integers = npt.NDArray[np.int64]
NEVER = -1


@dataclass(frozen=True, eq=False)
class Record:
    """The packets of a run from reset on, in the order in which their sources got them to send.

    What has not happened by the end of the run is -1. Slot s is allocated in cycle ``s * packet_length +
    sample_phase``; a packet that leaves a router in it can leave the next one in slot ``s + hop_slots`` at the soonest.

    Attributes
    ----------
    cycles : int
        Of the run.
    source, destination : ndarray of int64, shape (packets,)
        Nodes.
    created : ndarray of int64, shape (packets,)
        Cycle from which on the source offers it.
    head : ndarray of int64, shape (packets,)
        Cycle in which its head flit was accepted.
    ready : ndarray of int64, shape (packets,)
        First slot in which it could leave its source's router.
    left : tuple of tuple of int
        For each packet the slots in which it left the routers on its way, the last one to the terminal.
    tail : ndarray of int64, shape (packets,)
        Cycle in which the terminal took its tail flit; it may lie behind the end of the run.
    """

    cycles: int
    source: Integers
    destination: Integers
    created: Integers
    head: Integers
    ready: Integers
    left: tuple[tuple[int, ...], ...]
    tail: Integers


def record(model: FabricModel, load: LoadSpec, cycles: int) -> Record:
    """Run a fabric from reset under a load and note where every packet is at the end of each slot.

    Parameters
    ----------
    model : FabricModel
    load : LoadSpec
        Its messages are of one packet; its own cycles and warm-up do not count.
    cycles : int
        Packets are created in so many cycles from reset on; the run ends at the end of the slot that is then under way.

    Raises
    ------
    SpecError
        If packets cut through, messages are of several packets, or there would be too many packets.
    """
    network, timing = model.plan.network, model.timing
    if model.machine.offset:
        raise SpecError(f"a record is of whole slots, and {model.machine.apart_by} puts routers half a slot apart")
    if model.machine.is_narrow:
        raise SpecError(f"a record has no queues of channels, and there are some with {named('channel_width')}")
    created = load.on(network, timing.packet_length)
    if created.most_packets > 1:
        raise SpecError("a record is of messages of one packet: leave out lengths")
    expected = load.rate / timing.packet_length * len(created.senders) * cycles
    if expected > MOST_RECORDED:
        raise SpecError(f"a record must be of at most {MOST_RECORDED} packets; some {expected:.0f} would be created")
    messages = created.window(cycles)
    address = model.address[messages.destination]
    arrivals = Arrivals.of(messages.cycle, messages.source, address, np.arange(len(messages.cycle)))
    run = _Run(model, arrivals)
    while run.cycle < cycles:
        run.advance()
    return Record(
        cycles=run.cycle,
        source=messages.source,
        destination=messages.destination,
        created=messages.cycle,
        head=run.head,
        ready=run.ready,
        left=tuple(map(tuple, run.left)),
        tail=run.tail,
    )


@dataclass
class _Run:
    """A run, slot by slot."""

    model: FabricModel
    arrivals: Arrivals
    cycle: int = 0
    slot: int = 0
    left: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        count = len(self.arrivals.cycle)
        self.head, self.ready, self.tail = np.full((3, count), NEVER, np.int64)
        self.left = [[] for _ in range(count)]
        self._course = Course(self.model, Terminals())
        self._enter(self._advance(self.model.timing.sample_phase))

    def advance(self) -> None:
        """Simulate a slot: its allocation, and what sources send up to the next one."""
        gone = self._advance(self.cycle + self.model.timing.packet_length)
        rows, held = self._course.packets, self._course.held()
        waits = np.zeros(len(self.tail), np.bool_)
        waits[held] = True
        under_way = rows[self.ready[rows[:, TAG]] >= 0]
        for packets in (gone, under_way):
            for tag, hops in packets[:, [TAG, HOPS]].tolist():
                if len(self.left[tag]) <= hops and not waits[tag]:
                    self.left[tag].append(self.slot)
        self.tail[gone[:, TAG]] = gone[:, TAIL_CYCLE]
        self.slot += 1
        self._enter(rows)

    def _enter(self, rows: npt.NDArray[np.int32]) -> None:
        """Note the packets that have been accepted, and those that routers have taken into their queues."""
        self.head[rows[:, TAG]] = rows[:, HEAD_CYCLE]
        held = self._course.held()
        new = held[self.ready[held] < 0]
        self.ready[new] = self.slot

    def _advance(self, limit: int) -> npt.NDArray[np.int32]:
        """Go on up to a cycle; return the packets that have left."""
        cycle, node, destination, tag = self.arrivals
        due = slice(*np.searchsorted(cycle, [self.cycle, limit]))
        now = Arrivals(cycle[due], node[due], destination[due], tag[due])
        left = self._course.advance(now, packets=1 << 62, limit=limit)
        self.cycle = limit
        return left
