"""Relays on the model: what :mod:`hdnhw.endpoints.relay` does, cycle by cycle, as docs/decisions/0013 says it.

Routers, channels and the buffers of terminals are those of :class:`hdnhw.model.fabric.FabricModel`.
"""

from collections import deque
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hdnhw.endpoints.relay.format import MOST_NOTICES, RELAY_COUNTS, RelayFormat, RelayKind
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.model.core import AT_HOME, NODE, NOWHERE, TAG, Arrivals
from hdnhw.model.fabric import FabricModel
from hdnhw.traffic.packets import Terminals, advance_generators, terminal_seeds

STRANDED, EXPIRED, UNRESERVED, REFUSED, UNTOLD, ASTRAY = range(len(RELAY_COUNTS))

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sends:
    """Packets that users send, sorted by source; a user sends its packets in this order.

    Attributes
    ----------
    first : ndarray of int64, shape (nodes + 1,)
        Packets of node n are numbers ``first[n]`` to ``first[n + 1] - 1``.
    stops : list of tuple of int
        Packed addresses that each packet goes to, the destination last.
    earliest : ndarray of int64, shape (packets,)
        Cycle before which the packet is not offered.
    """

    first: Integers
    stops: list[tuple[int, ...]]
    earliest: Integers


@dataclass(frozen=True, eq=False)
class ModelPacket:
    """The header of a packet, and which of the :class:`Sends` it is; -1 for those that relays make.

    ``stops[l - 1]`` is the field ``stop_l``.
    """

    dst: int
    src: int
    kind: RelayKind
    left: int
    stops: tuple[int, ...] = ()
    number: int = -1

    @property
    def target(self) -> int:
        """The destination of a packet of data."""
        return self.stops[0] if self.left else self.dst

    @property
    def is_for_user(self) -> bool:
        """Whether the user gets it at its ``dst``."""
        return self.kind == RelayKind.NOTICE or (self.kind == RelayKind.DATA and self.left == 0)


@dataclass(frozen=True, eq=False)
class Relayed:
    """What came of packets.

    Attributes
    ----------
    packets : list of ModelPacket
        Those that users got, in the order of cycles and, within a cycle, of nodes.
    node, cycle : ndarray of int64, shape (packets,)
        Where each came out, and the cycle of its tail.
    head_cycle : ndarray of int64, shape (sends,)
        Cycle in which the relay accepted each packet's head flit, -1 if it did not.
    counts : ndarray of int64, shape (nodes, 6)
        See :data:`hdnhw.endpoints.relay.format.RELAY_COUNTS`.
    dropped : ndarray of int64, shape (nodes,)
        Packets with an impossible destination dropped by each router.
    cycles : int
        Cycles until all was still, or those that were allowed.
    """

    packets: list[ModelPacket]
    node: Integers
    cycle: Integers
    head_cycle: Integers
    counts: Integers
    dropped: Integers
    cycles: int


Flit = tuple[ModelPacket, bool, bool]
"""A flit of a packet, and whether it is the head and the tail."""


class _Queues:
    """Queues that share a memory, the first entry of each beside it: ``SharedQueues`` of the hardware."""

    def __init__(self, count: int, depth: int) -> None:
        self._memory: list[deque[tuple[int, int]]] = [deque() for _ in range(count)]
        self.first: list[tuple[int, int] | None] = [None] * count
        self._depth, self._fetched, self._reads = depth, -1, False
        self._pushed: list[tuple[int, tuple[int, int]]] = []
        self._popped: list[int] = []

    def __bool__(self) -> bool:
        return any(self._memory) or self.first != [None] * len(self.first)

    def is_full(self, number: int) -> bool:
        """Whether the memory has no place for another entry of a queue."""
        return len(self._memory[number]) == self._depth

    def push(self, number: int, entry: tuple[int, int]) -> None:
        """Add an entry, at the end of the cycle."""
        self._pushed.append((number, entry))

    def pop(self, number: int) -> None:
        """Take the first entry, at the end of the cycle."""
        self._popped.append(number)

    def advance(self) -> None:
        """End the cycle."""
        if self._fetched < 0:
            waiting = (k for k, queue in enumerate(self._memory) if queue and self.first[k] is None)
            self._fetched = next(waiting, -1)
        elif self._reads:
            self.first[self._fetched] = self._memory[self._fetched].popleft()
            self._fetched, self._reads = -1, False
        else:
            self._reads = True
        for number in self._popped:
            self.first[number] = None
        for number, entry in self._pushed:
            self._memory[number].append(entry)
        self._pushed, self._popped = [], []


@dataclass(frozen=True, eq=False)
class _Sent:
    """A packet on its way to the fabric: the queue and kind of the buffer that it leaves, queue -1 if none."""

    packet: ModelPacket
    queue: int = -1
    own: bool = False


class _Sender:
    """What is next, read and offered to the fabric, a flit a stage."""

    def __init__(self, length: int) -> None:
        self._length = length
        self.next: _Sent | None = None
        self._active: tuple[_Sent, int] | None = None
        self._read: tuple[_Sent, int] | None = None
        self._offered: tuple[_Sent, int] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no packet is on its way."""
        return not (self.next or self._active or self._read or self._offered)

    def advance(self, accepted: bool) -> tuple[ModelPacket | None, _Sent | None]:
        """End a cycle in which the fabric has taken the flit that is offered, or not.

        Returns
        -------
        offered, left
            The packet whose head is offered from the next cycle on, and the one whose tail was taken.
        """
        if self._offered is not None and not accepted:
            return None, None
        left = self._offered[0] if self._offered is not None and self._offered[1] == self._length - 1 else None
        self._offered, self._read = self._read, self._active
        if self._active is not None:
            sent, flit = self._active
            self._active = (sent, flit + 1) if flit + 1 < self._length else None
        elif self.next is not None:
            self._read = self.next, 0
            self._active = (self.next, 1) if self._length > 1 else None
            self.next = None
        is_head = self._offered is not None and self._offered[1] == 0
        return (self._offered[0].packet if self._offered is not None and is_head else None), left


@dataclass
class _Came:
    """What has come of a flit from the fabric in the cycle before."""

    lost: ModelPacket | None = None
    count: int = -1
    request: tuple[int, int, int] | None = None
    grant: int = -1
    is_answer: bool = False
    is_stored: bool = False
    joins: tuple[ModelPacket, int] | None = None


class _Relay:
    """The state of one relay; what :meth:`step` reads is as it stood when the cycle began."""

    def __init__(self, address: int, packets: RelayFormat, nodes: int) -> None:
        self._address, self._packets, self._spec = address, packets, packets.endpoints
        most, count = self._spec.waypoints, packets.num_queues
        self._own_used, self._used, self._reserved = [0] * count, [0] * count, [0] * count
        self._order: list[deque[tuple[ModelPacket, bool]]] = [deque() for _ in range(count)]
        self._requests, self._notices = _Queues(most, nodes), _Queues(1, MOST_NOTICES)
        self._asked, self._granted = [False] * count, [False] * count
        self._asks = [-1] * count  # whom the request of a queue asks, once its head is offered
        self._asked_at, self._quiet_since = [0] * count, [0] * count
        self._turns = [
            *(("grant", c) for c in range(most)),
            ("notice", 0),
            *(("data", n) for n in range(count)),
        ]
        self._turn: tuple[str, int] | None = None
        self._sender = _Sender(packets.flits.packet_length)
        self._taken: Flit | None = None
        self._came = _Came()
        self._storing: tuple[ModelPacket, int] | None = None
        self._joins: tuple[int, ModelPacket, bool] | None = None
        self._from_user: Flit | None = None
        self._has_room = False  # for the packet of that flit, in the cycle before and after what was taken in it
        self._left: _Sent | None = None
        self._discards = -1
        self._told: tuple[int, int] | None = None
        self.counts = [0] * len(RELAY_COUNTS)

    @property
    def is_busy(self) -> bool:
        """Whether it has anything to do."""
        return not self.is_still or any(self._reserved)

    @property
    def is_still(self) -> bool:
        """Whether it holds no packet and owes none."""
        queues = any(self._order) or bool(self._requests) or bool(self._notices) or self._told is not None
        moving = self._turn or self._left or self._taken or self._from_user or self._discards >= 0
        came = self._came != _Came()
        return not (queues or moving or came or self._storing or self._joins) and self._sender.is_empty

    def step(
        self, cycle: int, accepted: bool, taken: Flit | None, offered: Flit | None
    ) -> tuple[ModelPacket | None, bool]:
        """Do what is done in a cycle.

        Parameters
        ----------
        cycle : int
        accepted : bool
            Whether the fabric takes the flit that is offered.
        taken, offered : (packet, is head, is tail) or None
            The flit that is taken from the fabric, and the one that the user offers.

        Returns
        -------
        packet, ready
            The packet whose head is offered to the fabric from the next cycle on, and whether the user's flit is taken.
        """
        turn = self._turn if self._sender.next is None else None
        chosen = next((turn for turn in self._turns if self._may(*turn)), None) if self._turn is None else self._turn
        came, freed, discards, told = self._came, self._left, self._discards, self._told
        self._came = self._judge(cycle)
        goes_on = self._goes_on(came.is_stored)
        ready = self._from_user is None or goes_on
        has_room = self._finds_room(offered if ready else self._from_user, goes_on)
        answered = came.grant if came.is_answer and self._waits(came.grant, cycle) and came.grant != discards else -1
        overdue = -1 if self._came.lost is not None else self._overdue(cycle, came, discards)
        lapsed = self._lapsed(cycle, freed, discards)
        packet, self._left = self._sender.advance(accepted)
        self._tell(came.lost, discards, told)
        self._settle(came, answered)
        if freed is not None and freed.queue >= 0:
            self._leave(freed.queue, freed.own)
        if discards >= 0:
            self._expire(discards)
        for queue in lapsed:
            self._reserved[queue] -= 1
            self._used[queue] -= 1
            self._quiet_since[queue] = cycle
        if goes_on and self._from_user is not None:
            self._fill(self._from_user)
        if ready:
            self._from_user = offered
        self._has_room = has_room
        self._turn = chosen
        if turn is not None:
            self._turn, self._sender.next = None, self._send(cycle, turn)
        if packet is not None and packet.kind == RelayKind.REQUEST:
            queue = self._packets.queue_of(packet.left + 1, packet.dst)
            self._asks[queue], self._asked_at[queue] = packet.dst, cycle + 1
        self._taken, self._discards = taken, overdue
        self._requests.advance()
        self._notices.advance()
        return packet, ready and offered is not None

    def _may(self, what: str, number: int) -> bool:
        if what == "grant":
            entry = self._requests.first[number]
            if entry is None:
                return False
            return self._used[self._packets.queue_of(number, entry[1])] < self._spec.relay_buffers
        if what == "notice":
            return self._notices.first[0] is not None
        return bool(self._order[number]) and (number == 0 or not self._asked[number] or self._granted[number])

    def _waits(self, queue: int, cycle: int) -> bool:
        """Whether a request was offered before this cycle and has no answer."""
        return self._asks[queue] >= 0 and cycle > self._asked_at[queue] and not self._granted[queue]

    def _judge(self, cycle: int) -> _Came:
        """Say what becomes of the flit that was taken in the cycle before."""
        if self._taken is None:
            return _Came()
        packet, is_head, is_tail = self._taken
        came = self._judge_head(cycle, packet) if is_head else _Came()
        if self._storing is not None:
            came.is_stored = True
            if is_tail:
                came.joins, self._storing = self._storing, None
        return came

    def _is_for_user(self, packet: ModelPacket) -> bool:
        return packet.dst == self._address and packet.is_for_user

    def _judge_head(self, cycle: int, packet: ModelPacket) -> _Came:
        most, kind = self._spec.waypoints, packet.left
        if packet.dst != self._address:
            return _Came(packet, STRANDED) if packet.kind == RelayKind.DATA else _Came(count=ASTRAY)
        if self._is_for_user(packet):
            return _Came()
        if packet.kind == RelayKind.DATA:
            queue = self._packets.queue_of(kind - 1, packet.stops[kind - 1]) if kind <= most else -1
            if kind > most or not self._reserved[queue]:
                return _Came(packet, UNRESERVED)
            self._reserved[queue] -= 1
            self._quiet_since[queue] = cycle + 1
            self._storing = replace(packet, dst=packet.stops[kind - 1], left=kind - 1), queue
            return _Came()
        if kind >= most:
            return _Came(count=ASTRAY)
        if packet.kind == RelayKind.GRANT:
            queue = self._packets.queue_of(kind + 1, packet.src)
            return _Came(grant=queue, is_answer=self._waits(queue, cycle) and self._asks[queue] == packet.src)
        return _Came(request=(kind, packet.src, packet.stops[0]))

    def _goes_on(self, stores: bool) -> bool:
        """Whether the user's flit in the register goes on into its buffer."""
        if self._from_user is None:
            return False
        packet, is_head, _ = self._from_user
        if packet.left > self._spec.waypoints:
            return True
        return not stores and (not is_head or self._has_room)

    def _finds_room(self, flit: Flit | None, goes_on: bool) -> bool:
        """Whether a head flit can go on in the next cycle: into a free buffer that the flit before does not take."""
        if flit is None or not flit[1] or flit[0].left > self._spec.waypoints:
            return False
        queue = self._packets.queue_of(flit[0].left, flit[0].dst)
        if goes_on and self._from_user is not None:
            before, is_head, _ = self._from_user
            if is_head and before.left == flit[0].left and self._packets.queue_of(before.left, before.dst) == queue:
                return False
        return self._own_used[queue] < self._spec.relay_buffers

    def _overdue(self, cycle: int, came: _Came, discards: int) -> int:
        """Return the lowest queue whose request is not answered in time, to be discarded in the next cycle; or -1."""
        for queue in range(1, self._packets.num_queues):
            answered = queue == discards or (came.is_answer and came.grant == queue)
            if self._waits(queue, cycle) and not answered and cycle >= self._asked_at[queue] + self._spec.timeout:
                return queue
        return -1

    def _lapsed(self, cycle: int, freed: _Sent | None, discards: int) -> list[int]:
        """Return the queues of which a reserved buffer is not used in time."""
        if self._taken is not None and self._taken[1] and not self._is_for_user(self._taken[0]):
            return []
        busy = set()
        if freed is not None and not freed.own:
            busy.add(freed.queue)
        if discards >= 0 and not self._order[discards][0][1]:
            busy.add(discards)
        return [
            queue
            for queue, reserved in enumerate(self._reserved)
            if reserved and queue not in busy and cycle >= self._quiet_since[queue] + self._spec.lapse
        ]

    def _leave(self, queue: int, own: bool) -> None:
        (self._own_used if own else self._used)[queue] -= 1

    def _tell(self, lost: ModelPacket | None, discards: int, told: tuple[int, int] | None) -> None:
        """Queue the notice of the cycle before; remember that of this one."""
        if told is not None:
            if self._notices.is_full(0):
                self.counts[UNTOLD] += 1
            else:
                self._notices.push(0, told)
        if discards >= 0:
            lost = self._order[discards][0][0]
        self._told = None if lost is None else (lost.src, lost.target)

    def _settle(self, came: _Came, answered: int) -> None:
        """Do what a flit leads to that was taken two cycles ago."""
        if came.count >= 0:
            self.counts[came.count] += 1
        if came.request is not None:
            kind, source, number = came.request
            if self._requests.is_full(kind):
                self.counts[ASTRAY] += 1
            else:
                self._requests.push(kind, (source, number))
        if answered >= 0:
            self._granted[answered] = True
        elif came.grant >= 0:
            self.counts[ASTRAY] += 1
        if self._joins is not None:
            queue, packet, own = self._joins
            self._order[queue].append((packet, own))
        self._joins = None if came.joins is None else (came.joins[1], came.joins[0], False)

    def _fill(self, flit: Flit) -> None:
        """Take a flit of the user into its buffer."""
        packet, is_head, is_tail = flit
        if packet.left > self._spec.waypoints:
            self.counts[REFUSED] += is_tail
            return
        queue = self._packets.queue_of(packet.left, packet.dst)
        self._own_used[queue] += is_head
        if is_tail:
            self._joins = queue, packet, True

    def _expire(self, queue: int) -> None:
        _, own = self._order[queue].popleft()
        self._leave(queue, own)
        self._asked[queue], self._granted[queue], self._asks[queue] = False, False, -1
        self.counts[EXPIRED] += 1

    def _send(self, cycle: int, turn: tuple[str, int]) -> _Sent:
        """Make the packet that was chosen."""
        self._turns.remove(turn)
        self._turns.append(turn)
        what, number = turn
        if what == "grant":
            return _Sent(self._grant(cycle, number))
        if what == "notice":
            source, lost = _entry(self._notices, 0)
            self._notices.pop(0)
            return _Sent(ModelPacket(source, self._address, RelayKind.NOTICE, 0, (lost,)))
        packet, own = self._order[number][0]
        if packet.left and not self._asked[number]:
            self._asked[number] = True
            return _Sent(self._request(packet))
        self._order[number].popleft()
        self._asked[number], self._granted[number], self._asks[number] = False, False, -1
        return _Sent(packet, number, own)

    def _grant(self, cycle: int, kind: int) -> ModelPacket:
        """Reserve a buffer of a class for the first who waits for one."""
        asker, number = _entry(self._requests, kind)
        queue = self._packets.queue_of(kind, number)
        self._used[queue] += 1
        self._reserved[queue] += 1
        self._quiet_since[queue] = cycle + 1
        self._requests.pop(kind)
        return ModelPacket(asker, self._address, RelayKind.GRANT, kind)

    def _request(self, packet: ModelPacket) -> ModelPacket:
        """Ask the next stop of a packet for a buffer, in the queue in which the packet is to wait there."""
        kind = packet.left - 1
        number = self._packets.queue_of(kind, packet.stops[kind]) - self._packets.queues_of(kind).start
        return ModelPacket(packet.dst, self._address, RelayKind.REQUEST, kind, (number,))


def _entry(queues: _Queues, number: int) -> tuple[int, int]:
    """Return the first entry of a queue that has one."""
    entry = queues.first[number]
    assert entry is not None
    return entry


class RelayModel:
    """A fabric with a relay at each terminal, simulated cycle by cycle.

    Parameters
    ----------
    model : FabricModel
        Of a machine with relays.
    """

    def __init__(self, model: FabricModel) -> None:
        self.model = model

    def run(self, sends: Sends, terminals: Terminals | None = None, *, max_cycles: int) -> Relayed:
        """Simulate from reset until all is still, or for `max_cycles` cycles.

        Parameters
        ----------
        sends : Sends
        terminals : Terminals, optional
            How users pause; never if omitted. They do not hold.
        max_cycles : int

        Returns
        -------
        Relayed
        """
        run = RelayCourse(self.model, sends, terminals or Terminals())
        while run.cycle < max_cycles and not run.is_over:
            run.step()
        return run.result()


class RelayCourse:
    """A fabric and its relays in the course of a simulation, from reset on.

    Parameters
    ----------
    model : FabricModel
        Of a machine with relays.
    sends : Sends
    pauses : Terminals
        How users pause. They do not hold.

    Attributes
    ----------
    cycle : int
        The next one.
    out : list of (int, int, ModelPacket)
        Cycle, node and packet of all that users have got, in the order of cycles.
    """

    def __init__(self, model: FabricModel, sends: Sends, pauses: Terminals) -> None:
        spec = model.machine.spec.endpoints
        if not isinstance(spec, RelaySpec):
            raise ValueError(f"endpoints of the machine must be relays, not {spec}")
        if pauses.sink_hold:
            raise ValueError(f"sink_hold must be 0 with relays, not {pauses.sink_hold}")
        nodes, packets = len(model.address), model.machine.endpoint_format
        # The course numbers the cycles of odd nodes that much higher, and so do steps.
        self._ahead = model.machine.offset * model.machine.channels.odd.astype(np.int64)
        self._model, self._sends, self._pauses, self.cycle = model, sends, pauses, 0
        self._length = model.timing.packet_length
        # With a hold of one cycle, in which nothing comes out yet, sinks are looked at in every cycle.
        sinks = Terminals(sink_stall=pauses.sink_stall, sink_hold=1, seed=pauses.seed)
        self._course = model.course(sinks)
        self._relays = [_Relay(int(address), packets, nodes) for address in model.address]
        self._busy = np.zeros(nodes, np.bool_)
        self._state, self._held = terminal_seeds(nodes, pauses.seed), np.zeros(nodes, np.bool_)
        self._pointer, self._position = sends.first[:-1].copy(), np.zeros(nodes, np.int64)
        self._packets: dict[int, ModelPacket] = {}
        self._chosen: list[tuple[int, ModelPacket]] = []
        self._tag = 0
        self.out: list[tuple[int, int, ModelPacket]] = []
        self._head_cycle = np.full(len(sends.stops), -1, np.int64)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        if (self._pointer < self._sends.first[1:]).any() or self._chosen:
            return False
        dropped = int(self._course.dropped.sum())
        return len(self._packets) == dropped and all(self._relays[node].is_still for node in np.flatnonzero(self._busy))

    def step(self) -> None:
        """Simulate a cycle."""
        cycle, course = self.cycle, self._course
        tags, before = course.ejecting()
        injected = course.injected
        left = course.advance(self._arrivals(), packets=1 << 62, limit=cycle + 1, pace=self._pace())
        self._chosen = []
        _, after = course.ejecting()
        took = after != before
        took[left[:, NODE]] = True
        begun = self._ahead <= self.cycle
        offers = self._offers() & begun
        accepted = ~course.sending | (course.injected != injected)
        for node in np.flatnonzero(took | offers | self._busy).tolist():
            self._step_node(
                node, int(tags[node]) if took[node] else -1, int(before[node]), offers[node], accepted[node]
            )
        self._chosen.sort(key=lambda one: -self._ahead[one[0]])
        for tag in left[:, TAG].tolist():
            del self._packets[tag]
        if self._pauses.source_gap:
            self._state = np.where(begun, advance_generators(self._state), self._state)
        self.cycle += 1

    def _arrivals(self) -> Arrivals:
        """Return the packets that relays begin to offer in this cycle."""
        nodes = [node for node, _ in self._chosen]
        address = np.array([packet.dst for _, packet in self._chosen], np.int64)
        address = np.where(self._model.plan.address.is_node(address), address, -1)
        tags = range(self._tag, self._tag + len(nodes))
        self._packets |= {tag: packet for tag, (_, packet) in zip(tags, self._chosen, strict=True)}
        self._tag += len(nodes)
        return Arrivals.of(self.cycle - self._ahead[nodes], nodes, address, tags)

    def _pace(self) -> npt.NDArray[np.int32]:
        return np.array([AT_HOME if packet.is_for_user else NOWHERE for _, packet in self._chosen], np.int32)

    def _offers(self) -> npt.NDArray[np.bool_]:
        """Return which users offer a flit in this cycle."""
        ready = self._pointer < self._sends.first[1:]
        ready[ready] &= self._sends.earliest[self._pointer[ready]] <= (self.cycle - self._ahead)[ready]
        ready &= self._held | ((self._state & 255) >= self._pauses.source_gap)
        return ready

    def _step_node(self, node: int, tag: int, flit: int, offers: bool, accepted: bool) -> None:
        relay, last, cycle = self._relays[node], self._length - 1, self.cycle - int(self._ahead[node])
        taken = None if tag < 0 else (self._packets[tag], flit == 0, flit == last)
        if taken is not None and taken[2] and taken[0].is_for_user and taken[0].dst == self._model.address[node]:
            self.out.append((cycle, node, taken[0]))
        offered, position = None, int(self._position[node])
        if offers:
            offered = (self._packet(node), position == 0, position == last)
        packet, ready = relay.step(cycle, accepted, taken, offered)
        self._busy[node] = relay.is_busy
        if packet is not None:
            self._chosen.append((node, packet))
        self._held[node] = offers and not ready
        if ready:
            if position == 0:
                self._head_cycle[self._pointer[node]] = cycle
            self._position[node] = 0 if position == last else position + 1
            self._pointer[node] += position == last

    def _packet(self, node: int) -> ModelPacket:
        """Return the packet that a user sends next."""
        number = int(self._pointer[node])
        first, *others = self._sends.stops[number]
        source = int(self._model.address[node])
        return ModelPacket(first, source, RelayKind.DATA, len(others), tuple(others[::-1]), number)

    @property
    def counts(self) -> Integers:
        """What relays have counted, shape (nodes, 6), see :data:`hdnhw.endpoints.relay.format.RELAY_COUNTS`."""
        return np.array([relay.counts for relay in self._relays], np.int64)

    def result(self) -> Relayed:
        """Return what came of the packets."""
        self.out.sort(key=lambda row: row[:2])
        return Relayed(
            packets=[packet for *_, packet in self.out],
            node=np.array([node for _, node, _ in self.out], np.int64),
            cycle=np.array([cycle for cycle, *_ in self.out], np.int64),
            head_cycle=self._head_cycle,
            counts=self.counts,
            dropped=self._course.dropped.copy(),
            cycles=self.cycle,
        )
