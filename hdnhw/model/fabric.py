"""The cycle-accurate model of a fabric and its terminals: the twin of the RTL, equal to it in every ejection."""

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.model.counts import Counts
from hdnhw.model.router import (
    ENDED,
    FIELDS,
    FIRST,
    HEAD_CYCLE,
    HEAD_WAY,
    HOPS,
    LEFT,
    LINKS,
    LOST,
    NODE,
    PACE,
    PROGRESS,
    SENT,
    SLOT,
    TAG,
    TAIL_CYCLE,
    make_counts,
    make_flows,
    make_orders,
    make_pool,
    make_queues,
    make_terminals,
    simulate,
)
from hdnhw.routing.plan import RoutingPlan
from hdnhw.spec import QUEUEINGS, SpecError
from hdnhw.timing import SlotTiming, slots_per_vc
from hdnhw.topology.faults import Faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals, Traffic, terminal_seeds

__all__ = ["Course", "Ejections", "FabricModel", "Heads"]

ADDRESS_BITS = 31
"""Most bits of a packed address: packets are rows of 32-bit words."""

MAX_CYCLE = (1 << 31) - 1
"""Last cycle of a run, for the same reason."""


@dataclass(frozen=True, eq=False)
class Ejections:
    """What came out of a fabric, in the order of cycles and, within a cycle, of nodes.

    Attributes
    ----------
    packet : ndarray of int64, shape (ejections,)
        Packet number, see :class:`Traffic`.
    node : ndarray of int64, shape (ejections,)
    cycle : ndarray of int64, shape (ejections,)
        Cycle in which the tail flit was taken.
    head_cycle : ndarray of int64, shape (packets,)
        Cycle in which each packet's head flit was accepted at its source, -1 if it was not.
    dropped : ndarray of int64, shape (nodes,)
        Packets with an impossible destination dropped at each node.
    cycles : int
        Cycles simulated.
    flit_hops : int
        Flits sent over channels between routers.
    """

    packet: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]
    cycle: npt.NDArray[np.int64]
    head_cycle: npt.NDArray[np.int64]
    dropped: npt.NDArray[np.int64]
    cycles: int
    flit_hops: int


@dataclass(frozen=True, eq=False)
class Heads:
    """The packets at the heads of the input queues of all routers, and what they wait for.

    The queue of a virtual channel of an input has the number ``(node * (ports + 1) << vc_bits) + (input << vc_bits) +
    vc``, `vc_bits` being those of the model; the last input is injection.

    Attributes
    ----------
    queue : ndarray of int64, shape (heads,)
        Queues that hold a packet, ascending.
    packet : ndarray of int32, shape (heads, FIELDS)
        See :data:`hdnhw.model.router.FIELDS`.
    wanted : ndarray of int64, shape (heads,)
        The queue to which the packet goes next, -1 if that is the terminal.
    free : ndarray of int64, shape (heads,)
        Slots there that no packet has or is on its way to; the news of them may be on its way.
    """

    queue: npt.NDArray[np.int64]
    packet: npt.NDArray[np.int32]
    wanted: npt.NDArray[np.int64]
    free: npt.NDArray[np.int64]


class FabricModel:
    """A fabric with its terminals, simulated cycle by cycle.

    Parameters
    ----------
    plan : RoutingPlan
    packet_length : int
        Flits a packet.
    buffers : int, optional
        Packet slots a port, shared evenly by its virtual channels; if omitted, the least with which a port that has
        one virtual channel sustains one flit a cycle.
    queueing : str
        One of :data:`hdnhw.spec.QUEUEINGS`.
    faults : Faults, optional
        What is dead from reset on: a packet whose next channel is dead leaves at the node where it is.
    crc : bool
        Whether flits have check bits, all of them right.
    """

    def __init__(
        self,
        plan: RoutingPlan,
        *,
        packet_length: int,
        buffers: int | None = None,
        queueing: str = QUEUEINGS[0],
        faults: Faults | None = None,
        crc: bool = False,
    ) -> None:
        self.plan = plan
        self.timing = SlotTiming(packet_length, crc=crc)
        self.buffers = index(self.timing.buffers_of(buffers))
        if self.buffers < 1 or self.buffers & (self.buffers - 1):
            raise ValueError(f"buffers must be a power of two of packet slots, not {self.buffers}")
        if plan.address.width > ADDRESS_BITS:
            raise SpecError(
                f"a network that is simulated must have at most {ADDRESS_BITS} address bits; {plan.network.spec} has "
                f"{plan.address.width}"
            )
        network = plan.network
        stride = 1 << (plan.max_vcs - 1).bit_length()
        self.vc_bits = stride.bit_length() - 1
        mirror = np.array([port.opposite * stride + vc for port in network.ports for vc in range(stride)], np.int32)
        if queueing not in QUEUEINGS:
            raise ValueError(f"queueing must be {' or '.join(QUEUEINGS)}, not {queueing!r}")
        self.queueing, self.rounds = queueing, self.timing.matching_rounds if queueing == "voq" else 0
        table = neighbor_table(network)
        dead = np.zeros((0, 0), np.bool_) if faults is None else faults.all_channels(table)
        self.faults = faults
        self.shape = (
            table.reshape(-1),
            mirror,
            _several(plan),
            self.rounds,
            dead.reshape(-1),
            len(network.ports),
        )
        self.ejection_buffers = self.timing.ejection_buffers(self.buffers)
        slots = [*(slots_per_vc(self.buffers, num_vcs) for num_vcs in plan.num_vcs), self.ejection_buffers]
        self.slots = np.repeat(np.array(slots, np.int16), stride)
        nodes = np.arange(network.num_nodes, dtype=np.int64)
        self.address = np.ascontiguousarray(plan.address.of_node(nodes))

    def with_faults(self, faults: Faults) -> "FabricModel":
        """Return the same machine with something dead."""
        timing = self.timing
        return FabricModel(
            self.plan,
            packet_length=timing.packet_length,
            buffers=self.buffers,
            queueing=self.queueing,
            faults=faults,
            crc=timing.crc,
        )

    def run(self, traffic: Traffic, terminals: Terminals | None = None, *, max_cycles: int) -> Ejections:
        """Simulate from reset until every packet with a possible destination has left, or for `max_cycles` cycles.

        Parameters
        ----------
        traffic : Traffic
        terminals : Terminals, optional
            Ones that never pause if omitted.
        max_cycles : int

        Returns
        -------
        Ejections
        """
        nodes, count = len(self.address), traffic.num_packets
        if len(traffic.first) != nodes + 1:
            raise ValueError(f"traffic must have {nodes} sources, not {len(traffic.first) - 1}")
        if count and traffic.earliest.max() > MAX_CYCLE:
            raise ValueError(f"earliest must be at most cycle {MAX_CYCLE}, not {traffic.earliest.max()}")
        course = Course(self, terminals or Terminals(), room=count)
        left = course.advance(self._arrivals(traffic), packets=count, limit=max_cycles)
        cycles = min(course.cycles, max_cycles) if course.packets_gone == count else max_cycles
        head_cycle = np.full(count, -1, np.int64)
        for packets in (course.packets, left):
            head_cycle[packets[:, TAG]] = packets[:, HEAD_CYCLE]
        left = left[np.lexsort((left[:, NODE], left[:, TAIL_CYCLE]))]
        packet, node, cycle = left[left[:, TAIL_CYCLE] < cycles][:, [TAG, NODE, TAIL_CYCLE]].astype(np.int64).T
        flit_hops = course.packets_sent * self.timing.packet_length
        return Ejections(packet, node, cycle, head_cycle, course.dropped, cycles, flit_hops)

    def _arrivals(self, traffic: Traffic) -> tuple[npt.NDArray[Any], ...]:
        """Return (cycle, node, destination, packet) of packets as their sources get them to send, sorted by cycle.

        As a source sends its packets in their order, a packet waits for those before it.
        """
        nodes = np.repeat(np.arange(len(traffic.first) - 1, dtype=np.int32), np.diff(traffic.first))
        horizon = int(traffic.earliest.max(initial=0)) + 1
        cycle = np.maximum.accumulate(traffic.earliest + nodes * np.int64(horizon)) - nodes * np.int64(horizon)
        order = np.argsort(cycle, kind="stable").astype(np.int32)
        destination = np.where(self.plan.address.is_node(traffic.destination), traffic.destination, -1)
        return cycle[order], nodes[order], destination[order].astype(np.int32), order


class Course:
    """A fabric and its terminals in the course of a simulation, from reset on.

    Parameters
    ----------
    model : FabricModel
    terminals : Terminals
    room : int
        Packets that there is room for.
    counting : bool
        Whether there is something in :meth:`counts`.
    """

    def __init__(self, model: FabricModel, terminals: Terminals, *, room: int, counting: bool = False) -> None:
        nodes, ports = len(model.address), model.shape[-1]
        num_vcs = model.plan.max_vcs
        self._model = model
        self._pool, self._free = make_pool(room), (np.arange(room, dtype=np.int32), np.array([room]))
        self._queues = make_queues(nodes, ports + 1, num_vcs)
        self._credits = np.tile(model.slots, nodes)
        self._orders = make_orders(nodes, ports + 1, num_vcs, model.rounds)
        self._flows = self._make_flows(room)
        self._terminals = make_terminals(nodes, model.ejection_buffers, terminal_seeds(nodes, terminals.seed))
        self._pauses = (terminals.source_gap, terminals.sink_stall, terminals.sink_hold)
        self._counts = make_counts(nodes if counting else 0, ports, num_vcs)
        self._progress = np.zeros(PROGRESS, np.int64)
        self._out = np.empty(room * FIELDS, np.int32)

    @property
    def cycles(self) -> int:
        """Cycles up to the last in which a packet left or was dropped."""
        return int(self._progress[ENDED])

    @property
    def packets_gone(self) -> int:
        """Packets that have left or been dropped since reset."""
        return int(self._progress[LEFT] + self._progress[LOST])

    @property
    def packets_sent(self) -> int:
        """Packets sent over channels between routers since reset."""
        return int(self._progress[SENT])

    @property
    def slots(self) -> int:
        """Slots allocated since reset."""
        return int(self._progress[SLOT])

    @property
    def dropped(self) -> npt.NDArray[np.int64]:
        """Packets with an impossible destination dropped at each node since reset, shape (nodes,)."""
        dropped: npt.NDArray[np.int64] = self._terminals[0][-1]
        return dropped

    @property
    def packets(self) -> npt.NDArray[np.int32]:
        """Packets that have been offered and have not come out, the dropped included; shape (packets, FIELDS)."""
        rows, count = self._free
        there = np.ones(len(rows), np.bool_)
        there[rows[: count[0]]] = False
        return self._pool.reshape(-1, FIELDS)[there]

    @property
    def sending(self) -> npt.NDArray[np.bool_]:
        """Which sources have a packet that has not been accepted whole, shape (nodes,)."""
        (_, present, _, _), *_ = self._terminals[0]
        sending: npt.NDArray[np.bool_] = present != 0
        return sending

    def ejecting(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the tag of the packet that each sink takes next, -1 if none, and its flits taken; shape (nodes,).

        Of sinks that pause; those that never do have no such state.
        """
        packets, _, head, level = self._terminals[2]
        rows = packets[np.arange(len(head)), head]
        tags = self._pool.reshape(-1, FIELDS)[np.where(level > 0, rows, 0), TAG].astype(np.int64)
        return np.where(level > 0, tags, -1), self._terminals[3].copy()

    def counts(self) -> Counts:
        """Return what channels and queues have done since reset; that of no nodes without `counting`."""
        ports, stride = self._model.shape[-1], 1 << self._model.vc_bits
        num_vcs = self._model.plan.max_vcs
        sent, stalled, held, level = self._counts
        return Counts(
            self.slots,
            sent.reshape(-1, ports + 2, stride)[..., :num_vcs].copy(),
            stalled.reshape(-1, ports + 2).copy(),
            (held + level * self.slots).reshape(-1, ports + 1, stride)[..., :num_vcs],
        )

    @property
    def holds_packets(self) -> bool:
        """Whether an input queue of a router holds a packet."""
        (_, count), *_ = self._flows
        return bool(count[0])

    def heads(self) -> Heads:
        """Return the packets at the heads of the queues."""
        neighbors, mirror, *_, ports = self._model.shape
        vc_bits, nodes = self._model.vc_bits, len(self._model.address)
        links, present, entries, _ = self._queues
        held = np.unpackbits(present.astype("<i8").view(np.uint8), bitorder="little").reshape(nodes, -1)
        node, entry = np.nonzero(held[:, :entries])
        first, way = links.reshape(nodes, entries, LINKS)[node, entry][:, [FIRST, HEAD_WAY]].astype(np.int64).T
        free = self._credits.astype(np.int64)
        for places, count in (self._flows[2], self._flows[5]):
            for row, given in zip(places, count, strict=True):
                np.add.at(free, row[:given], 1)
        onward, port = way < ports << vc_bits, way >> vc_bits
        wanted = np.full(len(node), -1)
        wanted[onward] = neighbors[(node * ports + port)[onward]] * np.int64(entries) + mirror[way[onward]]
        packet = self._pool.reshape(-1, FIELDS)[first]
        return Heads(node * entries + entry, packet, wanted, free[node * entries + way])

    def farthest(self) -> npt.NDArray[np.int32] | None:
        """Return one of :attr:`packets` that has crossed most channels, shape (FIELDS,); None if there are none."""
        rows, count = self._free
        hops = self._pool.reshape(-1, FIELDS)[:, HOPS].copy()
        hops[rows[: count[0]]] = -1
        return self._pool.reshape(-1, FIELDS)[hops.argmax()] if hops.max(initial=-1) >= 0 else None

    def _make_flows(self, room: int) -> tuple[Any, ...]:
        model = self._model
        return make_flows(len(model.address), model.shape[-1], room, int(model.slots.sum()), model.timing)

    def _make_room(self, packets: int) -> None:
        """See that so many more packets can be offered, by doubling the pool if need be."""
        rows, count = self._free
        old, missing = len(rows), packets - int(count[0])
        if missing <= 0:
            return
        room = old + max(old, missing)
        pool = make_pool(room)
        pool[: len(self._pool)] = self._pool
        self._pool, self._out = pool, np.empty(room * FIELDS, np.int32)
        free = np.concatenate([rows[: count[0]], np.arange(old, room, dtype=np.int32)])
        self._free = (np.concatenate([free, np.empty(room - len(free), np.int32)]), np.array([len(free)]))
        grown = self._make_flows(room)
        for before, after in zip(self._flows, grown, strict=True):
            for source, target in zip(before, after, strict=True):
                target[tuple(slice(size) for size in source.shape)] = source
        self._flows = grown

    def advance(
        self,
        arrivals: tuple[npt.NDArray[Any], ...],
        *,
        packets: int,
        limit: int,
        pace: npt.NDArray[np.int32] | None = None,
    ) -> npt.NDArray[np.int32]:
        """Go on until `packets` packets have left or been dropped since reset, or cycle `limit` is reached.

        Parameters
        ----------
        arrivals : tuple of ndarray
            Cycle, node, packed destination (-1: impossible) and tag of each packet that its source gets to send, sorted
            by cycle.
        packets, limit : int
            See :func:`hdnhw.model.router.simulate`: a run that goes on behind `limit` has that in the sample phase.
        pace : ndarray of int32, optional
            Where sinks may pause before each of these packets, see :data:`hdnhw.model.router.PACE`; everywhere if
            omitted. None of them may leave within the call.

        Returns
        -------
        ndarray of int32, shape (packets, FIELDS)
            The packets that have left, see :data:`hdnhw.model.router.NODE`, in no order.
        """
        model, timing = self._model, self._model.timing
        if limit > MAX_CYCLE:
            raise ValueError(f"a run must end by cycle {MAX_CYCLE}, not {limit}")
        self._make_room(len(arrivals[0]))
        rows, count = self._free
        offered = rows[count[0] - len(arrivals[0]) : count[0]][::-1].copy()
        phases = (timing.packet_length, timing.sample_phase, timing.update_phase, timing.ejection_cycles)
        left = simulate(
            model.plan.route,
            model.address,
            model.shape,
            (*phases, model.vc_bits),
            model.buffers,
            self._pool,
            self._free,
            arrivals,
            self._queues,
            self._credits,
            self._orders,
            self._flows,
            self._terminals,
            self._pauses,
            self._counts,
            self._out,
            self._progress,
            packets,
            limit,
        )
        if pace is not None:
            self._pool.reshape(-1, FIELDS)[offered, PACE] = pace
        return self._out[: left * FIELDS].reshape(-1, FIELDS).copy()


def _several(plan: RoutingPlan) -> npt.NDArray[np.bool_]:
    """Return for each node whether an input of its router has two virtual channels or more."""
    ports, nodes = plan.network.ports, plan.network.num_nodes
    has = {shape: any(plan.num_vcs[ports[port].opposite] > 1 for port in shape.ports) for shape in plan.shapes}
    if len(plan.shapes) == 1:
        return np.full(nodes, has[plan.shapes[0]])
    return np.array([has[plan.shape_of(node)] for node in range(nodes)])
