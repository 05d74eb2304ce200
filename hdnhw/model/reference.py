"""The router, its channels and its terminals in plain Python, to be read: what the model is, as simply as possible.

Stages and names are those of :mod:`hdnhw.rtl`; :class:`hdnhw.machine.timing.SlotTiming` says which cycle does what. In
a slot a router sends at most one packet from an input and one to an output. With cut-through the slots of odd routers
begin half a slot before those of the others: their cycles are numbered by slots too, and told without the half slot.
Behind the ports of the network comes that of the terminal: injection among inputs, ejection among outputs.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.machine.machine import Machine
from hdnhw.machine.timing import CLASS_SLOTS, TURN_SLOTS, Link
from hdnhw.model.core import ANYWHERE, AT_HOME, PACKET_WORDS, Arrivals, Integers, Words
from hdnhw.model.counts import Counts
from hdnhw.model.reference_ways import RouteUnit
from hdnhw.topology.faults import Faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals, advance_generators, terminal_seeds

Way = tuple[int, int]
"""An output port and a virtual channel there; of a queue, an input port and a virtual channel there."""

INJECTION: Way = (-1, 0)
"""The way from a source to its router."""

Grants = dict[int, tuple[Way, Way]]
"""For each output that sends, the queue from which it takes a packet, and the way by which that leaves."""


@dataclass(eq=False)
class Packet:
    """A packet, and what becomes of it."""

    destination: int  # packed address, -1 if that is no node
    created: int
    tag: int
    pace: int  # whether sinks may pause before it, see hdnhw.model.core.ANYWHERE
    head_cycle: int = -1
    hops: int = 0
    by: tuple[int, int] | None = None  # address of the node it goes by first, and of what it is routed to till there
    is_undecided: bool = False  # whether the next switch chooses if it goes there at all
    way: Way = INJECTION
    came: int = -1  # the first slot for which it was in its queue

    def row(self, tail_cycle: int = -1, node: int = -1) -> list[int]:
        """Return its words, see :data:`hdnhw.model.core.NODE`."""
        return [self.destination, self.created, self.head_cycle, self.tag, self.hops, tail_cycle, node]


@dataclass(eq=False)
class Channel:
    """A channel from one router to the next."""

    begin: "Router"
    output: int
    end: "Router"
    input: int
    link: Link
    is_dead: bool
    free_from: int = 0  # slot from which on its wires can carry the next packet

    def begin_to_carry(self, slot: int) -> int:
        """Return the slot in which a packet that is sent in one begins to cross, behind those before it."""
        start = max(slot, self.free_from)
        self.free_from = start + self.link.interval
        return start


@dataclass(eq=False)
class Router:
    """Queues, credits and orders of service."""

    node: int
    address: int
    machine: Machine
    half: float  # of a slot by which its slots begin behind those of odd routers, with cut-through
    ahead: int  # cycles of that half slot by which those of an odd router are numbered higher, else 0
    credits: dict[Way, int]  # packet buffers at the end of a way that are free, as far as it knows
    outputs: dict[int, Channel] = field(default_factory=dict)
    inputs: dict[int, Channel] = field(default_factory=dict)
    queues: dict[Way, deque[Packet]] = field(default_factory=dict)
    served: dict[Any, int] = field(default_factory=lambda: defaultdict(lambda: -1))  # slot of the last service
    sent: Counter[Way] = field(default_factory=Counter)  # this and what follows: see Counts
    stalled: Counter[int] = field(default_factory=Counter)
    held: Counter[Way] = field(default_factory=Counter)
    most: Counter[Way] = field(default_factory=Counter)

    def waiting(self) -> list[tuple[Way, Packet]]:
        """Return queues with the packets that may leave them: the first, or all that are in virtual output queues."""
        end = None if self.machine.timing.matches else 1
        return [(queue, packet) for queue, packets in self.queues.items() for packet in list(packets)[:end]]

    def first(self, what: str, candidates: Iterable[Any], *of: Any) -> Any:
        """Return who was served longest ago; of those never served, or served in the same slot, the lowest number."""
        return min(candidates, key=lambda one: (self.served[what, one, *of], one))

    def serve(self, queue: Way, way: Way, slot: int) -> None:
        """Note that a queue has sent to a way: it goes to the end in all orders of service."""
        orders = ("queue", queue), ("queue", queue, way), ("input", queue[0], way), ("way", way)
        for order in (*orders, ("output", way[0], queue[0])):
            self.served[order] = slot

    def allocate(self, slot: int) -> Grants:
        """Choose what is sent in a slot, and count: see :class:`Counts`."""
        grants = self._match(slot) if self.machine.timing.matches else self._separate(slot)
        stalled = {packet.way[0] for _, packet in self.waiting()} - grants.keys()
        self.stalled.update(stalled)
        self.sent.update(way for _, way in grants.values())
        level = Counter({queue: len(packets) for queue, packets in self.queues.items()})
        self.held += level
        self.most |= level
        return grants

    def _separate(self, slot: int) -> Grants:
        """Let each input offer a packet and each output grant an offer, of the latest class but in one of some slots.

        Where no input has several virtual channels, one order of the inputs does for all outputs.
        """
        ready: dict[int, list[Way]] = defaultdict(list)
        for queue, packet in self.waiting():
            if self.credits[packet.way]:
                ready[queue[0]].append(queue)
        offers: dict[int, dict[Way, dict[int, Way]]] = defaultdict(lambda: defaultdict(dict))
        for port, queues in ready.items():
            queue = self.first("queue", queues)
            way = self.queues[queue][0].way
            offers[way[0]][way][port] = queue
        grants, lanes = {}, self.machine.plan.lanes
        for output, ways in offers.items():
            if any(vc for _, vc in self.queues):
                latest = max(ways)[1] // lanes if (slot + 1) % CLASS_SLOTS else 0
                way = self.first("way", [way for way in ways if way[1] // lanes >= latest])
                queue = ways[way][self.first("input", ways[way], way)]
            else:
                owners = {queue: way for way, queues in ways.items() for queue in queues.values()}
                queue = self.first("queue", owners)
                way = owners[queue]
            grants[output] = queue, way
        return grants

    def _match(self, slot: int) -> Grants:
        """Match inputs and outputs in rounds: outputs grant, inputs accept.

        If the first round is early, packets that have just come take part in the second only.
        """
        matched: Grants = {}
        for number in range(self.machine.matching_rounds):
            is_early = self.machine.timing.matches_early and number == 0
            taken = {queue[0] for queue, _ in matched.values()}
            requests: dict[int, dict[Way, set[Way]]] = defaultdict(lambda: defaultdict(set))
            for queue, packet in self.waiting():
                is_open = packet.way[0] not in matched and queue[0] not in taken
                if is_open and not (is_early and packet.came == slot) and self.credits[packet.way]:
                    requests[packet.way[0]][packet.way].add(queue)
            granted: dict[int, Grants] = defaultdict(dict)
            for output, ways in requests.items():
                way = self.first("way", ways)
                port = self._first_input({queue[0] for queue in ways[way]}, way, slot)
                queue = self.first("queue", [queue for queue in ways[way] if queue[0] == port], way)
                granted[port][output] = queue, way
            for port, grants in granted.items():
                output = self.first("output", grants, port)
                matched[output] = grants[output]
        return matched

    def _first_input(self, ports: set[int], way: Way, slot: int) -> Any:
        """Return the input that comes first at a way: injection once in :data:`TURN_SLOTS` slots, else last."""
        injection = max(self.queues)[0]
        if injection in ports and self.served["input", injection, way] < slot - slot % TURN_SLOTS:
            return injection
        return self.first("input", ports - {injection} or ports, way)


@dataclass(eq=False)
class Source:
    """A terminal that sends packets, in the order in which it gets them."""

    router: Router
    gap: int  # of 256 random values, how many make it pause before a flit
    packets: deque[Packet] = field(default_factory=deque)
    position: int = 0  # flits accepted of the first packet
    is_offering: bool = False  # whether a flit was not accepted: then it does not pause
    ready_from: int = 0  # first cycle behind a gapless packet

    def step(self, cycle: int, random: int) -> Packet | None:
        """Offer a flit for a cycle; return the packet if that makes it known to the router.

        Its tail does, or the head of a gapless one: such a flit is accepted in the injection phase alone.
        """
        packet, timing = self.packets[0], self.router.machine.timing
        pauses = not self.is_offering and random & 255 < self.gap
        if pauses or cycle < max(packet.created + self.router.ahead, self.ready_from):
            return None
        in_phase, is_full = cycle % timing.packet_length == timing.injection_phase, not self.router.credits[INJECTION]
        is_known = timing.gapless_packets or self.position == timing.packet_length - 1
        self.router.stalled[INJECTION[0]] += in_phase and is_full
        self.is_offering = is_full or (is_known and not in_phase)
        if self.is_offering:
            return None
        if self.position == 0:
            packet.head_cycle = cycle - self.router.ahead
        self.position += 1
        if not is_known:
            return None
        self.position, self.ready_from = 0, cycle + timing.packet_length * timing.gapless_packets
        self.router.sent[INJECTION] += 1
        return self.packets.popleft()


@dataclass(eq=False)
class Sink:
    """A terminal that takes packets out of its ejection buffer, and may pause."""

    router: Router
    pauses: Terminals
    packets: deque[tuple[Packet, int]] = field(default_factory=deque)  # with the first cycle that can take their head
    taken: int = 0  # flits of the first packet

    def step(self, cycle: int, random: int) -> Packet | None:
        """Take a flit if there is one; return the packet if it is its tail."""
        packet, ready = self.packets[0]
        at_home = packet.pace == AT_HOME and packet.destination == self.router.address
        pauses = (random >> 8 & 255) < self.pauses.sink_stall and (packet.pace == ANYWHERE or at_home)
        if pauses or cycle < max(ready, self.pauses.sink_hold + self.router.ahead):
            return None
        self.taken = (self.taken + 1) % self.router.machine.timing.packet_length
        return None if self.taken else self.packets.popleft()[0]


class Reference:
    """A fabric and its terminals from reset on: see :class:`hdnhw.model.course.Course`, whose members these are too.

    The channels that leave by the port n take ``links[n]``, or else what the machine says.
    """

    def __init__(
        self,
        machine: Machine,
        terminals: Terminals,
        faults: Faults | None = None,
        links: Mapping[int, Link] | None = None,
    ) -> None:
        network, timing, plan = machine.network, machine.timing, machine.plan
        self._timing, self._plan, self._terminals = timing, plan, terminals
        half, self._local, vcs = 0.5 * bool(machine.offset), len(network.ports), plan.num_vcs
        table = neighbor_table(network)
        room = {(port, vc): machine.vc_buffers(port) for port, number in enumerate(vcs) for vc in range(number)}
        room |= {(self._local, 0): machine.ejection_buffers, INJECTION: machine.injection_buffers}
        self._ahead = machine.offset * machine.channels.odd
        each = zip(plan.address.of_nodes.tolist(), self._ahead.tolist(), strict=True)
        self._routers = [
            Router(node, address, machine, 0 if ahead else half, ahead, dict(room))
            for node, (address, ahead) in enumerate(each)
        ]
        dead = np.zeros(table.shape, np.bool_) if faults is None else faults.all_channels(table)
        for node, port in np.argwhere(table >= 0).tolist():
            begin, end, other = self._routers[node], self._routers[table[node, port]], network.ports[port].opposite
            channel = Channel(
                begin, port, end, other, (links or {}).get(port, machine.links[port]), bool(dead[node, port])
            )
            begin.outputs[port] = end.inputs[other] = channel
        for router in self._routers:
            inputs = {port: vcs[network.ports[port].opposite] for port in sorted(router.inputs)} | {self._local: 1}
            router.queues = {(port, vc): deque() for port, number in inputs.items() for vc in range(number)}
        self._unit = RouteUnit(plan, self._routers)
        self._sources = [Source(router, terminals.source_gap) for router in self._routers]
        self._sinks = [Sink(router, terminals) for router in self._routers]
        self._generators = terminal_seeds(len(table), terminals.seed)
        self._returning: dict[float, list[tuple[Router, Way]]] = defaultdict(list)  # credits, by the slot they are for
        self._crossing: dict[float, list[tuple[Channel, int, Packet]]] = defaultdict(list)  # and packets
        self._under_way: dict[Packet, None] = {}  # those of the property `packets`
        self._left: list[list[int]] = []
        self._cycle = self.slots = self.cycles = self.packets_gone = self.packets_sent = 0
        self.dropped = np.zeros(len(table), np.int64)

    def advance(self, arrivals: Arrivals, *, packets: int, limit: int, pace: Words | None = None) -> Words:
        """Go on until so many packets are gone or cycle `limit` is reached; return those that left, a row each."""
        paces = np.full(len(arrivals.cycle), ANYWHERE) if pace is None else pace
        for created, node, destination, tag, own in zip(*(each.tolist() for each in (*arrivals, paces)), strict=True):
            if created < limit:
                packet = Packet(destination, created, tag, own)
                self._unit.draw(packet, node)
                self._under_way[packet] = None
                self._sources[node].packets.append(packet)
        self._left = []
        while self._cycle < limit and self.packets_gone < packets:
            if self._cycle % self._timing.packet_length == self._timing.sample_phase:
                for half in (0.0, 0.5)[: 1 + self._ahead.any()]:
                    self._work_slot(self.slots, half)
                self.slots += 1
            self._work_terminals(self._cycle)
            self._cycle += 1
        return np.array(self._left, np.int32).reshape(-1, PACKET_WORDS)

    def _work_slot(self, slot: int, half: float) -> None:
        """Take the credits and packets that have come, and allocate, in all routers or in half of them."""
        for router, way in self._returning.pop(slot + half, ()):
            router.credits[way] += 1
        for channel, vc, packet in self._crossing.pop(slot + half, ()):
            packet.hops += 1
            self._enter(channel.end, (channel.input, vc), packet, slot)
        for router in self._routers:
            if router.half == half and any(router.queues.values()):
                self._unit.adapt(router)
                for queue, way in router.allocate(slot).values():
                    self._send(router, queue, way, slot)

    def _enter(self, router: Router, queue: Way, packet: Packet, slot: int) -> None:
        """Put a packet into a queue, for the allocation of a slot."""
        self._unit.route(router, queue[0], packet)
        packet.came = slot
        router.queues[queue].append(packet)

    def _send(self, router: Router, queue: Way, way: Way, slot: int) -> None:
        """Send the first packet of a queue that goes a way; a sink that never pauses takes it when it can."""
        packet, now = next(packet for packet in router.queues[queue] if packet.way == way), slot + router.half
        router.queues[queue].remove(packet)
        router.serve(queue, way, slot)
        router.credits[way] -= 1
        if queue[0] == self._local:
            self._returning[now + 1].append((router, INJECTION))
        else:
            behind = router.inputs[queue[0]]
            self._returning[now + behind.link.credit_latency].append((behind.begin, (behind.output, queue[1])))
        ready = (slot + 1) * self._timing.packet_length + self._timing.ejection_cycles
        if way[0] != self._local:
            channel = router.outputs[way[0]]
            start = channel.begin_to_carry(slot) + router.half
            self._crossing[start + channel.link.latency].append((channel, way[1], packet))
            self.packets_sent += 1
        elif self._terminals.pause:
            self._sinks[router.node].packets.append((packet, ready))
        else:
            self._leave(router, packet, ready + self._timing.packet_length - 1, slot + self._timing.ejection_slots)

    def _leave(self, router: Router, packet: Packet, cycle: int, slot: int) -> None:
        """Note that a packet's tail is taken in a cycle; its place can be used by the allocation of a slot."""
        self._returning[slot + router.half].append((router, (self._local, 0)))
        del self._under_way[packet]
        self._left.append(packet.row(cycle - router.ahead, router.node))
        self._note_gone(router, cycle)

    def _note_gone(self, router: Router, cycle: int) -> None:
        self.packets_gone += 1
        self.cycles = max(self.cycles, cycle - router.ahead + 1)

    def _work_terminals(self, cycle: int) -> None:
        """Let terminals have a cycle. From the phase `late` on, a place is free too late for the next allocation."""
        late = self._timing.credit_phase + (not self._timing.registers_credits)
        is_late = late <= cycle % self._timing.packet_length <= self._timing.update_phase
        for source, sink, random in zip(self._sources, self._sinks, self._generators.tolist(), strict=True):
            router = source.router
            if source.packets and (packet := source.step(cycle, random)):
                self._inject(router, packet, cycle)
            if sink.packets and (packet := sink.step(cycle, random)):
                self._leave(router, packet, cycle, self.slots + is_late)
        if self._terminals.source_gap or self._terminals.sink_stall:
            self._generators = np.where(cycle < self._ahead, self._generators, advance_generators(self._generators))

    def _inject(self, router: Router, packet: Packet, cycle: int) -> None:
        """Take a packet from its source, but drop one for no node."""
        if packet.destination < 0:
            self.dropped[router.node] += 1
            self._note_gone(router, cycle)
        else:
            router.credits[INJECTION] -= 1
            self._unit.inject(router, packet)
            self._enter(router, (self._local, 0), packet, self.slots)

    @property
    def packets(self) -> Words:
        """See :attr:`hdnhw.model.course.Course.packets`, as for what follows."""
        return np.array([packet.row() for packet in self._under_way], np.int32).reshape(-1, PACKET_WORDS)

    @property
    def sending(self) -> npt.NDArray[np.bool_]:
        return np.array([bool(source.packets) for source in self._sources])

    @property
    def injected(self) -> Words:
        return np.array([source.position for source in self._sources], np.int32)

    def ejecting(self) -> tuple[Integers, Integers]:
        tags = [sink.packets[0][0].tag if sink.packets else -1 for sink in self._sinks]
        return np.array(tags), np.array([sink.taken for sink in self._sinks])

    def counts(self) -> Counts:
        nodes, channels, vcs = len(self._routers), self._local + 2, self._plan.max_vcs
        sent, stalled = np.zeros((nodes, channels, vcs), np.int64), np.zeros((nodes, channels), np.int64)
        held, most = np.zeros((2, nodes, channels - 1, vcs), np.int64)
        for router in self._routers:
            own = (sent, router.sent), (stalled, router.stalled), (held, router.held), (most, router.most)
            for counted, counts in own:
                for place, number in counts.items():
                    counted[router.node][place] = number
        return Counts(self.slots, sent, stalled, held, most)
