"""What a dump shows of a fabric, in packets: who has sent each, where it passes, and where it waits."""

from collections import deque
from dataclasses import dataclass, field
from typing import NoReturn

from hdnhw.machine.machine import Machine
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.support.errors import SpecError
from hdnhw.verilog.waves.dump import Dump
from hdnhw.verilog.waves.trace import Trace, Traced
from hdnhw.verilog.waves.wires import EJECT, INJECT, LOCAL, NAMES, Place, fabric_places, find_fabric, find_traced

Way = tuple[int, int]
"""A port of the network, or one of :data:`hdnhw.verilog.waves.wires.NAMES`, and a virtual channel there."""


@dataclass(eq=False)
class Packet:
    """A packet on its way.

    Attributes
    ----------
    number : int
        By the cycle since the start of the dump in which its head flit was accepted, from 0; -1 if nobody is seen to
        have sent it.
    source, destination : int
        Nodes, -1 for none. The source is that of the header, if there is one.
    cycle : int
        In which its head flit was accepted, or seen first.
    words : list of int
        Its flits.
    also : str
        What else its header says: stops behind the destination, and what it is for.
    """

    number: int
    source: int
    destination: int
    cycle: int
    words: list[int]
    also: str = ""

    def __str__(self) -> str:
        number, source, end = ("?" if one < 0 else one for one in (self.number, self.source, self.destination))
        return f"#{number}:{source}>{end}{self.also}"


@dataclass(eq=False)
class Passage:
    """A packet that passes a place.

    Attributes
    ----------
    place : Place
    vc : int
    cycle, tail : int
        Of its head flit, and of the last that has passed.
    times : list of int
        In the dump: when each flit comes, and behind them when the last has gone; of a trace there are none.
    words : list of int
        The flits that have passed.
    packet : Packet
        Known once the last has passed, or at the end.
    """

    place: Place
    vc: int
    cycle: int
    tail: int = 0
    times: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    packet: Packet | None = None


class Waves:
    """All that a dump or a trace shows of a fabric; a trace shows no credits, and no packet that has not passed whole.

    Parameters
    ----------
    machine : Machine
    dump : Dump or Trace
    scope : str, optional
        See :func:`hdnhw.verilog.waves.wires.find_fabric`.

    Attributes
    ----------
    machine, dump
    scope : str
    places : list of Place
    passages : list of Passage
    first : int
        The first of these since the last reset.
    packets, delivered, dropped : int
        Since the last reset: packets whose head flit was accepted, whose tail was taken, and those for no node.
    queues : list of dict of Way to deque of Packet
        Of each node, by where packets have come from, what waits at the end; at EJECT, its ejection buffer.
    freed : list of (Place, int, int, int)
        Changes of the free packet buffers behind a channel: place, virtual channel, time, number.
    blocked : dict of (int, int) to int
        By node and place, INJECT or EJECT, the cycle since which a stream waits at the end: something is valid, and
        its other side not ready.
    cycles : int
        Since the last reset.
    moved : int
        Last cycle in which a flit passed anywhere, -1 if none did.
    start, end : int
        Times at which the first cycle without reset begins and the last one ends.

    Raises
    ------
    SpecError
        If the dump has no such fabric, or no cycle behind a reset, or packets do not go as they do in this one.
    """

    def __init__(self, machine: Machine, dump: Dump | Trace, scope: str | None = None) -> None:
        self.machine, self.dump = machine, dump
        self._addresses: list[int] = machine.address.of_nodes.tolist()
        self._node_of = {address: node for node, address in enumerate(self._addresses)}
        network, plan = machine.network, machine.plan
        self.neighbors = [network.neighbors(node) for node in range(network.num_nodes)]
        self._may_differ = machine.spec.crc or machine.spec.dead_pins
        self._buffers = [machine.vc_buffers(port) for port in range(len(plan.num_vcs))]
        self.passages: list[Passage] = []
        self.freed: list[tuple[Place, int, int, int]] = []
        self._numbered, self.start, self.end = 0, -1, 0
        self._free: list[dict[Way, int]] = []
        self.places: list[Place] = []
        self._reset()
        if isinstance(dump, Trace):
            self.scope, self.places = find_traced(dump, scope), fabric_places(machine, range(network.num_nodes))[1]
            self._replay(dump.scopes[self.scope])
        else:
            wires = find_fabric(machine, dump, scope)
            self.scope, self.places = wires.scope, wires.places
            self._vcs = [0] * len(self.places)
            self._read(dump, wires.codes)

    def _reset(self) -> None:
        for place in self.places if self._free else ():
            counted = [vc for port, vc in self._free[place.node] if port == place.port]
            self.freed += [(place, vc, self.end, self.buffers(place.port)) for vc in counted]
        self._free = [{} for _ in self._addresses]
        self.queues: list[dict[Way, deque[Packet]]] = [{} for _ in self._addresses]
        self._open: dict[int, Passage] = {}
        self._vcs = [0] * len(self.places)
        self.blocked: dict[tuple[int, int], int] = {}
        self.packets = self.delivered = self.dropped = self.cycles = 0
        self.moved, self.first = -1, len(self.passages)

    def _replay(self, found: list[Traced]) -> None:
        """Take in the packets of a trace, each where its head flit passes, and where its tail has."""
        flits, places = self.machine.flits, {place.name: number for number, place in enumerate(self.places)}
        for one in found:
            length = flits.packet_length
            if one.name not in places or one.word >> flits.flit_width * length or one.tail - one.head < length - 1:
                raise SpecError(f"{self.dump.path} is of another fabric than that of the folder: see {one.name}")
        ordered = sorted(
            (one.resets, cycle, places[one.name], is_tail, one)
            for one in found
            for is_tail, cycle in ((False, one.head), (True, one.tail))
        )
        resets = ordered[0][0]
        for now, cycle, number, is_tail, one in ordered:
            if now != resets:
                self._reset()
                resets = now
            self.moved, self.cycles = cycle, cycle + 1
            if number in self._open and not is_tail:
                self._differs(self.places[number], "has two packets at a time", cycle)
            if not is_tail:
                self._open[number] = passage = Passage(self.places[number], one.vc, cycle, one.tail)
                passage.words += flits.split(one.word)
                self.passages.append(passage)
                if passage.place.port == INJECT:
                    passage.packet = self._sent(passage.place.node, passage.words, cycle)
            else:
                self._passed(self._open.pop(number), whole=True)

    def _read(self, dump: Dump, codes: list[str]) -> None:
        is_reset = False
        for begun, ended, values in dump.cycles(codes[0], codes):
            if values[1]:
                if self.cycles or not is_reset:
                    self._close()
                    self._reset()
                is_reset = True
            elif is_reset:
                self.start = begun if self.start < 0 else self.start
                self._cycle(begun, ended, values)
                self.cycles, self.end = self.cycles + 1, ended
        if not self.cycles:
            raise SpecError(f"{self.dump.path} has no cycle of clk behind one with rst: it must begin with the reset")
        self._close()

    def _close(self) -> None:
        """Tell the packets of passages that have not come to their end."""
        for number, passage in sorted(self._open.items(), key=lambda one: one[1].cycle):
            passage.times.append(self.end)
            self._passed(passage, whole=False)
            del self._open[number]

    def _cycle(self, begun: int, ended: int, values: list[int]) -> None:
        """Look at all places in a cycle."""
        length, cycle = self.machine.timing.packet_length, self.cycles
        for number, place in enumerate(self.places):
            if place.ready:
                passes = bool(values[place.valid] and values[place.ready])
                if values[place.valid] and not passes:
                    self.blocked.setdefault((place.node, place.port), cycle)
                else:
                    self.blocked.pop((place.node, place.port), None)
            else:
                passes = bool(values[place.valid])
                if values[place.credit] and place.credit_phase in (-1, cycle % length):
                    self._credit(place, values[place.credit], begun)
            if passes:
                self._flit(number, begun, ended, values[place.data])
            elif number in self._open and not place.ready:
                self._differs(place, "stops inside a packet")
            if place.vc:
                self._vcs[number] = values[place.vc]  # it is told a cycle ahead

    def _credit(self, place: Place, bits: int, time: int) -> None:
        for vc in range(place.num_vcs):
            if bits >> vc & 1:
                self._count(place, vc, 1, time)

    def _count(self, place: Place, vc: int, change: int, time: int) -> None:
        """Count the free packet buffers behind a channel."""
        whole = self.buffers(place.port)
        free = self.free_of(place.node, (place.port, vc)) + change
        self._free[place.node][place.port, vc] = free
        self.freed.append((place, vc, time, free))
        if not 0 <= free <= whole and not self._may_differ:
            self._differs(place, f"has {free} packet buffers of {whole} free")

    def _flit(self, number: int, begun: int, ended: int, word: int) -> None:
        """Take in a flit that passes a place."""
        place, length = self.places[number], self.machine.timing.packet_length
        passage, self.moved = self._open.get(number), self.cycles
        if passage is None:
            if not place.ready and self.cycles % length != place.head_phase:
                self._differs(place, "begins a packet where none can begin")
            passage = self._open[number] = Passage(place, self._vcs[number] if place.vc else 0, self.cycles)
            self.passages.append(passage)
            if place.port == INJECT:
                passage.packet = self._sent(place.node, passage.words, self.cycles)
            elif not place.ready:
                self._count(place, passage.vc, -1, begun)
        passage.times.append(begun)
        passage.tail = self.cycles
        passage.words.append(word & (1 << self.machine.spec.flit_width) - 1)
        if len(passage.words) == length:
            passage.times.append(ended)
            del self._open[number]
            self._passed(passage, whole=True)

    def _sent(self, node: int, words: list[int], cycle: int) -> Packet:
        """Number a packet; its words are still to come."""
        self._numbered, self.packets = self._numbered + 1, self.packets + 1
        return Packet(self._numbered - 1, node, -1, cycle, words)

    def _passed(self, passage: Passage, *, whole: bool) -> None:
        """Tell the packet that has passed a place, the `whole` of it or what there is, and put it where it is now."""
        place = passage.place
        queues = self.queues[place.node]
        if passage.packet is not None:
            self._describe(passage.packet)
            if passage.packet.destination < 0:
                self.dropped += whole
            else:
                queues.setdefault((INJECT, 0), deque()).append(passage.packet)
            return
        if place.port == EJECT:
            passage.packet = self._taken(passage, queues.get((EJECT, 0), deque()), stays=not whole)
            self.delivered += whole
            return
        passage.packet = packet = self._left(passage)
        node, way = self.behind(place.node, (place.port, passage.vc))
        self.queues[node].setdefault(way, deque()).append(packet)

    def _describe(self, packet: Packet) -> None:
        """Read the header of a packet."""
        flits, header = self.machine.flits, self.machine.endpoint_format
        packet.destination = self._node_of.get(flits.destination_of(packet.words[0]), -1)
        if header is None or header.kinds is None or len(packet.words) < header.header_flits:
            return
        fields = header.fields_of(flits.word(packet.words))
        packet.source = self._node_of.get(fields["src"], -1)
        stops = [self._node_of.get(stop, "?") for stop in header.stops_of(fields)]
        packet.also = "".join(f">{stop}" for stop in stops) + f":{header.kinds(fields['kind']).name.lower()}"

    def behind(self, node: int, way: Way) -> tuple[int, Way]:
        """Return the node to which a way leads, and where packets wait there."""
        port, vc = way
        if port == LOCAL:
            return node, (EJECT, 0)
        ports = self.machine.network.ports
        return self.neighbors[node][ports[port].name], (ports[port].opposite, vc)

    def way(self, node: int, packet: Packet) -> Way:
        """Return the way by which a packet leaves a node, by the routing rule."""
        address = self.machine.flits.destination_of(packet.words[0])
        decision = self.machine.plan.plain_route(self._addresses[node], address)
        port, vc = decision & (1 << VC_SHIFT) - 1, decision >> VC_SHIFT
        return (port, vc) if port < len(self.machine.network.ports) else (LOCAL, 0)

    def heads(self, node: int, queue: deque[Packet]) -> dict[Way, Packet]:
        """Return what may leave a queue of a router: the first packet, or with ``voq`` the first of each way."""
        every = list(queue) if self.machine.timing.matches else list(queue)[:1]
        return {self.way(node, packet): packet for packet in reversed(every)}

    def _left(self, passage: Passage) -> Packet:
        """Take the packet that passes a channel out of the queue in which it was."""
        place, words = passage.place, passage.words
        for origin, queue in self.queues[place.node].items():
            if origin == (EJECT, 0):
                continue
            packet = self.heads(place.node, queue).get((place.port, passage.vc))
            if packet is not None and packet.words[: len(words)] == words:
                queue.remove(packet)
                return packet
        if self._may_differ:
            return self._lost_sight(passage)
        self._differs(place, f"carries a packet that node {place.node} does not have", passage.cycle)

    def _lost_sight(self, passage: Passage) -> Packet:
        """Look for a packet behind others, which were dropped; what cannot be found was changed by an error."""
        place, words = passage.place, passage.words
        for origin, queue in self.queues[place.node].items():
            for packet in list(queue) if origin != (EJECT, 0) else ():
                if packet.words[: len(words)] == words and self.way(place.node, packet) == (place.port, passage.vc):
                    while not self.machine.timing.matches and queue[0] is not packet:
                        queue.popleft()
                    queue.remove(packet)
                    return packet
        packet = Packet(-1, -1, -1, passage.cycle, words)
        self._describe(packet)
        return packet

    def _taken(self, passage: Passage, buffer: deque[Packet], *, stays: bool) -> Packet:
        """Take the packet that a terminal takes out of its ejection buffer; the buffer drops those with errors."""
        words = passage.words
        while buffer:
            if buffer[0].words[: len(words)] == words:
                return buffer[0] if stays else buffer.popleft()
            if not self._may_differ:
                break
            buffer.popleft()
        if self._may_differ:
            return Packet(-1, -1, passage.place.node, passage.cycle, words)
        self._differs(passage.place, "gives another packet than the channel before it", passage.cycle)

    def buffers(self, port: int) -> int:
        """Return the packet buffers of each virtual channel behind a port, or of an ejection buffer."""
        return self.machine.ejection_buffers if port == LOCAL else self._buffers[port]

    def free_of(self, node: int, way: Way) -> int:
        """Return how many packet buffers behind a way are free at the end, as far as the node knows."""
        return self._free[node].get(way, self.buffers(way[0]))

    def name(self, node: int, way: Way) -> str:
        """Return what a queue is called: its node, where packets come from, and the virtual channel."""
        port, vc = way
        kinds = {INJECT: "injection", EJECT: "ejection"}
        return f"{node}.{kinds[port]}" if port < 0 else f"{node}.{self.machine.network.ports[port].name}.{vc}"

    def _differs(self, place: Place, what: str, cycle: int | None = None) -> NoReturn:
        port = NAMES.get(place.port) or self.machine.network.ports[place.port].name
        where = f"{port} of node {place.node} {what} in cycle {self.cycles if cycle is None else cycle}"
        raise SpecError(f"{self.dump.path} is of another fabric than that of the folder, or of a changed one: {where}")
