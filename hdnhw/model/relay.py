"""Relays on the model: what :mod:`hdnhw.rtl.relay` does, cycle by cycle, as docs/decisions/0013 says it.

Routers, channels and the buffers of terminals are those of :class:`hdnhw.model.fabric.FabricModel`.
"""

from collections import deque
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hdnhw.flit import MOST_NOTICES, RELAY_COUNTS, RelayKind
from hdnhw.model.fabric import Course, FabricModel
from hdnhw.model.kernel.state import AT_HOME, NODE, NOWHERE, TAG, Arrivals
from hdnhw.spec import RelaySpec
from hdnhw.traffic.packets import Terminals, advance_generators, terminal_seeds

__all__ = ["ModelPacket", "RelayCourse", "RelayModel", "Relayed", "Sends"]

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
        See :data:`hdnhw.flit.RELAY_COUNTS`.
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


class _Relay:
    """The state of one relay; what :meth:`step` reads is as it stood when the cycle began."""

    def __init__(self, address: int, spec: RelaySpec, queue: int) -> None:
        self._address, self._spec, self._queue, most = address, spec, queue, spec.waypoints
        self._own_used, self._used, self._reserved = [0] * (most + 1), [0] * most, [0] * most
        self._order: list[deque[tuple[ModelPacket, bool]]] = [deque() for _ in range(most + 1)]
        self._requests: list[deque[int]] = [deque() for _ in range(most)]
        self._asked, self._granted = [-1] * most, [False] * most
        self._asked_at, self._quiet_since = [0] * most, [0] * most
        self._notices: deque[tuple[int, int]] = deque()
        self._turns = [
            *(("grant", c) for c in range(most)),
            ("notice", 0),
            *(("request", c) for c in range(most)),
            *(("data", c) for c in range(most + 1)),
        ]
        self._storing: tuple[ModelPacket, int] | None = None
        self.sending: tuple[int, bool] | None = None  # class and kind of the buffer that is read; class -1: none is
        self.counts = [0] * len(RELAY_COUNTS)

    @property
    def is_busy(self) -> bool:
        """Whether it has anything to do."""
        waits = any(self._order) or any(self._requests) or bool(self._notices)
        return waits or self.sending is not None or any(self._reserved)

    @property
    def is_still(self) -> bool:
        """Whether it holds no packet and owes none."""
        return not (any(self._order) or any(self._requests) or self._notices or self.sending or self._storing)

    def step(
        self,
        cycle: int,
        tail_taken: bool,
        taken: tuple[ModelPacket, bool, bool] | None,
        offered: tuple[ModelPacket, bool, bool] | None,
    ) -> tuple[ModelPacket | None, bool]:
        """Do what is done in a cycle.

        Parameters
        ----------
        cycle : int
        tail_taken : bool
            Whether the fabric takes the tail of the packet that is sent.
        taken, offered : (packet, is head, is tail) or None
            The flit that is taken from the fabric, and the one that the user offers.

        Returns
        -------
        packet, accepted
            The packet whose head is offered to the fabric from the next cycle on, and whether the user's flit is taken.
        """
        free = self.sending is None or tail_taken
        turn = next((turn for turn in self._turns if self._may(*turn)), None) if free else None
        verdict = self._judge(cycle, taken)
        stores = self._storing is not None or verdict == "store"
        accepted = offered is not None and self._accepts(offered, stores and taken is not None)
        notice_from_fabric = verdict in ("stranded", "unreserved")
        answered = taken[0].left if taken is not None and verdict == "grant" else -1
        overdue = None if notice_from_fabric else self._overdue(cycle, answered)
        room = len(self._notices) < MOST_NOTICES
        lapsed = self._lapsed(cycle, turn, taken if verdict == "store" else None)
        if tail_taken:
            self._free()
        if taken is not None:
            self._arrive(cycle, taken, verdict, room)
        if accepted and offered is not None:
            self._fill(offered)
        if overdue is not None:
            self._expire(overdue, room)
        for kind in lapsed:
            self._reserved[kind] -= 1
            self._used[kind] -= 1
            self._quiet_since[kind] = cycle
        return (self._send(cycle, turn) if turn is not None else None), accepted

    def _may(self, what: str, kind: int) -> bool:
        if what == "grant":
            return bool(self._requests[kind]) and self._used[kind] < self._spec.relay_buffers
        if what == "notice":
            return bool(self._notices)
        if what == "request":
            return bool(self._order[kind + 1]) and self._asked[kind] < 0
        return bool(self._order[kind]) and (kind == 0 or self._granted[kind - 1])

    def _judge(self, cycle: int, taken: tuple[ModelPacket, bool, bool] | None) -> str | None:
        """Say what becomes of a packet whose head flit is taken."""
        if taken is None or not taken[1]:
            return None
        packet, most = taken[0], self._spec.waypoints
        if packet.dst != self._address:
            return "stranded" if packet.kind == RelayKind.DATA else "astray"
        if packet.is_for_user:
            return "user"
        if packet.kind == RelayKind.DATA:
            return "store" if packet.left <= most and self._reserved[packet.left - 1] else "unreserved"
        if packet.left >= most:
            return "astray"
        if packet.kind == RelayKind.REQUEST:
            return "request" if len(self._requests[packet.left]) < self._queue else "astray"
        waits = self._asked[packet.left] == packet.src and not self._granted[packet.left]
        is_answer = waits and cycle > self._asked_at[packet.left] + 1
        return "grant" if is_answer else "astray"

    def _accepts(self, offered: tuple[ModelPacket, bool, bool], stores: bool) -> bool:
        packet, is_head, _ = offered
        if packet.left > self._spec.waypoints:
            return True
        return not stores and (not is_head or self._own_used[packet.left] < self._spec.relay_buffers)

    def _overdue(self, cycle: int, answered: int) -> int | None:
        """Return the lowest class whose request is not answered in time; `answered` is in this cycle."""
        for kind, asked in enumerate(self._asked):
            waits = asked >= 0 and not self._granted[kind] and kind != answered
            if waits and cycle >= self._asked_at[kind] + self._spec.timeout:
                return kind
        return None

    def _lapsed(
        self, cycle: int, turn: tuple[str, int] | None, stored: tuple[ModelPacket, bool, bool] | None
    ) -> list[int]:
        """Return the classes of which a reserved buffer is not used in time."""
        busy = {turn[1]} if turn is not None and turn[0] == "grant" else set()
        if stored is not None:
            busy.add(stored[0].left - 1)
        return [
            kind
            for kind, reserved in enumerate(self._reserved)
            if reserved and kind not in busy and cycle >= self._quiet_since[kind] + self._spec.lapse
        ]

    def _free(self) -> None:
        """The packet that was sent leaves its buffer."""
        if self.sending is not None and self.sending[0] >= 0:
            self._leave(*self.sending)
        self.sending = None

    def _leave(self, kind: int, own: bool) -> None:
        (self._own_used if own else self._used)[kind] -= 1

    def _notice(self, packet: ModelPacket, room: bool) -> None:
        if room:
            self._notices.append((packet.src, packet.target))
        else:
            self.counts[UNTOLD] += 1

    def _arrive(self, cycle: int, taken: tuple[ModelPacket, bool, bool], verdict: str | None, room: bool) -> None:
        packet, _, is_tail = taken
        if verdict == "stranded":
            self.counts[STRANDED] += 1
            self._notice(packet, room)
        elif verdict == "unreserved":
            self.counts[UNRESERVED] += 1
            self._notice(packet, room)
        elif verdict == "astray":
            self.counts[ASTRAY] += 1
        elif verdict == "request":
            self._requests[packet.left].append(packet.src)
        elif verdict == "grant":
            self._granted[packet.left] = True
        elif verdict == "store":
            kind = packet.left - 1
            self._reserved[kind] -= 1
            self._quiet_since[kind] = cycle
            self._storing = replace(packet, dst=packet.stops[kind], left=kind), kind
        if is_tail and self._storing is not None:
            self._order[self._storing[1]].append((self._storing[0], False))
            self._storing = None

    def _fill(self, offered: tuple[ModelPacket, bool, bool]) -> None:
        """Take a flit of the user."""
        packet, is_head, is_tail = offered
        if packet.left > self._spec.waypoints:
            self.counts[REFUSED] += is_tail
            return
        self._own_used[packet.left] += is_head
        if is_tail:
            self._order[packet.left].append((packet, True))

    def _expire(self, kind: int, room: bool) -> None:
        packet, own = self._order[kind + 1].popleft()
        self._leave(kind + 1, own)
        self._asked[kind], self._granted[kind] = -1, False
        self.counts[EXPIRED] += 1
        self._notice(packet, room)

    def _send(self, cycle: int, turn: tuple[str, int]) -> ModelPacket:
        """Make the packet that was chosen."""
        self._turns.remove(turn)
        self._turns.append(turn)
        what, kind = turn
        self.sending = (-1, False)
        if what == "grant":
            self._used[kind] += 1
            self._reserved[kind] += 1
            self._quiet_since[kind] = cycle
            return ModelPacket(self._requests[kind].popleft(), self._address, RelayKind.GRANT, kind)
        if what == "notice":
            source, lost = self._notices.popleft()
            return ModelPacket(source, self._address, RelayKind.NOTICE, 0, (lost,))
        if what == "request":
            stop = self._order[kind + 1][0][0].dst
            self._asked[kind], self._asked_at[kind] = stop, cycle
            return ModelPacket(stop, self._address, RelayKind.REQUEST, kind)
        packet, own = self._order[kind].popleft()
        self.sending = (kind, own)
        if kind:
            self._asked[kind - 1], self._granted[kind - 1] = -1, False
        return packet


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
        nodes = len(model.fabric.address)
        self._model, self._sends, self._pauses, self.cycle = model, sends, pauses, 0
        self._length = model.timing.packet_length
        # With a hold of one cycle, in which nothing comes out yet, sinks are looked at in every cycle.
        sinks = Terminals(sink_stall=pauses.sink_stall, sink_hold=1, seed=pauses.seed)
        self._course = Course(model, sinks, room=max(1024, 4 * nodes))
        self._relays = [_Relay(int(address), spec, nodes) for address in model.fabric.address]
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
        left = course.advance(self._arrivals(), packets=1 << 62, limit=cycle + 1, pace=self._pace())
        self._chosen = []
        _, after = course.ejecting()
        took = after != before
        took[left[:, NODE]] = True
        offers = self._offers()
        sending = course.sending
        for node in np.flatnonzero(took | offers | self._busy).tolist():
            self._step_node(node, int(tags[node]) if took[node] else -1, int(before[node]), offers[node], sending[node])
        for tag in left[:, TAG].tolist():
            del self._packets[tag]
        if self._pauses.source_gap:
            self._state = advance_generators(self._state)
        self.cycle += 1

    def _arrivals(self) -> Arrivals:
        """Return the packets that relays begin to offer in this cycle."""
        nodes = [node for node, _ in self._chosen]
        address = np.array([packet.dst for _, packet in self._chosen], np.int64)
        address = np.where(self._model.plan.address.is_node(address), address, -1)
        tags = range(self._tag, self._tag + len(nodes))
        self._packets |= {tag: packet for tag, (_, packet) in zip(tags, self._chosen, strict=True)}
        self._tag += len(nodes)
        return Arrivals.of(np.full(len(nodes), self.cycle), nodes, address, tags)

    def _pace(self) -> npt.NDArray[np.int32]:
        return np.array([AT_HOME if packet.is_for_user else NOWHERE for _, packet in self._chosen], np.int32)

    def _offers(self) -> npt.NDArray[np.bool_]:
        """Return which users offer a flit in this cycle."""
        ready = self._pointer < self._sends.first[1:]
        ready[ready] &= self._sends.earliest[self._pointer[ready]] <= self.cycle
        ready &= self._held | ((self._state & 255) >= self._pauses.source_gap)
        return ready

    def _step_node(self, node: int, tag: int, flit: int, offers: bool, sending: bool) -> None:
        relay, last = self._relays[node], self._length - 1
        taken = None if tag < 0 else (self._packets[tag], flit == 0, flit == last)
        if taken is not None and taken[2] and taken[0].is_for_user and taken[0].dst == self._model.fabric.address[node]:
            self.out.append((self.cycle, node, taken[0]))
        offered, position = None, int(self._position[node])
        if offers:
            offered = (self._packet(node), position == 0, position == last)
        tail_taken = relay.sending is not None and not sending
        packet, accepted = relay.step(self.cycle, tail_taken, taken, offered)
        self._busy[node] = relay.is_busy
        if packet is not None:
            self._chosen.append((node, packet))
        self._held[node] = offers and not accepted
        if accepted:
            if position == 0:
                self._head_cycle[self._pointer[node]] = self.cycle
            self._position[node] = 0 if position == last else position + 1
            self._pointer[node] += position == last

    def _packet(self, node: int) -> ModelPacket:
        """Return the packet that a user sends next."""
        number = int(self._pointer[node])
        first, *others = self._sends.stops[number]
        source = int(self._model.fabric.address[node])
        return ModelPacket(first, source, RelayKind.DATA, len(others), tuple(others[::-1]), number)

    @property
    def counts(self) -> Integers:
        """What relays have counted, shape (nodes, 6), see :data:`hdnhw.flit.RELAY_COUNTS`."""
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
