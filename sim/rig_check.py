"""Judge the log of :mod:`hdnhw.sim.rig_harness`: each packet leaves once, as the routing rule says, and unchanged."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hdnhw.machine.crc import check_of
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.sim.rig_harness import CLAIMS, Sizes

MOST_COUNTED = (1 << 16) - 1

FRAME_CLAIMS, CREDIT_CLAIMS = (1, 2, 3, 6, 7), (4, 5)

Way = tuple[int, int]
"""Output, as the bench numbers it, and virtual channel there."""


@dataclass(frozen=True)
class RigVerdict:
    """What a router among neighbors showed.

    Attributes
    ----------
    packets : int
        Packets that it took in.
    delivered : int
        Packets that left it as they came, by the output and virtual channel that the routing rule says.
    dropped : int
        Packets to nowhere, and those that were on their way to a channel when it died.
    resets : int
    lost : int
        Packets that were in it when nothing moved any more, with credits for all.
    strays : int
        Packets that left it and were not in it: changed, twice, or of before a reset.
    misrouted : int
        Packets that left by another output or virtual channel.
    out_of_order : int
        Packets that left before an earlier one of their queue, with virtual output queues of those that go their way.
    stuck : int
        Times that the first packet of a queue waited with a credit when nothing moved any more; and packets that were
        asked for and have not been taken in.
    frame_faults : int
        Times that an output broke the form of packets, see :data:`hdnhw.sim.rig_harness.CLAIMS`.
    credit_faults : int
        Packets sent without a credit, credits given for packets that are not there or stay, and those that never come.
    counter_mismatches : int
        Counters that differ from what they should count, or do not stay at their largest value.
    cycles : int
    first : str
        What was wrong first, and when; empty if nothing.
    """

    packets: int = 0
    delivered: int = 0
    dropped: int = 0
    resets: int = 0
    lost: int = 0
    strays: int = 0
    misrouted: int = 0
    out_of_order: int = 0
    stuck: int = 0
    frame_faults: int = 0
    credit_faults: int = 0
    counter_mismatches: int = 0
    cycles: int = 0
    first: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.first


COUNTS = [name for name in RigVerdict.__dataclass_fields__ if name != "first"]
"""What of a verdict can be added up."""


@dataclass(eq=False)
class _Packet:
    """A packet in the router: its queue and number there, and whether one that is alike was there at the same time."""

    queue: int
    number: int
    came: int
    way: Way
    word: int
    is_alike: bool = False


@dataclass
class _Counts:
    """What counters should say since the last reset."""

    dropped: int = 0
    paused: int = 0
    lost: int = 0
    errors: list[int] = field(default_factory=list)


class _Judge:
    """Reads the log line by line; the methods are named after the letters that lines begin with."""

    def __init__(self, sizes: Sizes, visits: Sequence[int], asked: int) -> None:
        self._sizes, self._visits, self._asked = sizes, visits, asked
        machine = self._machine = sizes.machine
        self._local, self._timing, self._flits = len(sizes.ports), machine.timing, machine.flits
        self._names = sizes.names()
        self._address = [machine.address.of_node(node) for node in visits]
        self.found = dict.fromkeys(COUNTS, 0)
        self.first = ""
        self._pins: tuple[list[int], list[int]] = ([-1], [0])
        self._node, self._toggles = 0, False
        self._clear()

    def _clear(self) -> None:
        queues = self._sizes.queues
        self._inside: dict[Way, dict[int, deque[_Packet]]] = {}
        self._came = [0] * queues
        self._last: dict[tuple[int, Way | None], int] = {}
        self._left: list[list[int]] = [[] for _ in range(queues)]
        self._credits: list[list[int]] = [[] for _ in range(queues)]
        self._alike = False
        self._counts = _Counts(errors=[0] * self._local)

    def _blame(self, key: str, cycle: int, said: str, times: int = 1) -> None:
        self.found[key] += times
        if times and not self.first:
            self.first = f"cycle {cycle}: {said}"

    def _name(self, way: Way) -> str:
        return self._names[way[0]] + (f", virtual channel {way[1]}" if self._sizes.vcs > 1 else "")

    def _packets(self) -> Iterator[_Packet]:
        for alike in self._inside.values():
            for packets in alike.values():
                yield from packets

    def r(self, now: int, visit: int, toggles: int) -> None:
        """Take in a reset: what was inside is gone."""
        self._check_credits(now)
        self._clear()
        self._node, self._toggles = visit, bool(toggles)

    def d(self, now: int, value: int) -> None:
        """Take in which outgoing channels are dead from a cycle on."""
        cycles, values = self._pins
        cycles.append(now)
        values.append(value)

    def _dead(self, cycle: int, port: int) -> bool:
        """Return whether the pin of a port said in a cycle that its channel is dead."""
        cycles, values = self._pins
        return bool(values[bisect_right(cycles, cycle) - 1] >> self._sizes.ports[port] & 1)

    def i(self, port: int, vc: int, start: int, mark: int, word: int) -> None:
        """Take in a packet that has come."""
        self.found["packets"] += 1
        dst = self._flits.destination_of(word & (1 << self._machine.spec.flit_width) - 1)
        if port == self._local:
            self._counts.paused += mark
            word = self._checked(word)
            if not self._machine.address.is_node(dst):
                self._counts.dropped += 1
                self.found["dropped"] += 1
                return
        elif mark:
            self._counts.errors[port] += 1
        way = (self._local, 0)
        if port == self._local or not mark & 1:
            way = self._way(dst, start - 1 + self._timing.registers_routes)
        queue = self._sizes.queues - 1 if port == self._local else port * self._sizes.vcs + vc
        packet = _Packet(queue, self._came[queue], start, way, word)
        self._came[queue] += 1
        alike = self._inside.setdefault(way, {}).setdefault(word, deque())
        alike.append(packet)
        if len(alike) > 1:
            self._alike = True
            for other in alike:
                other.is_alike = True

    def _way(self, dst: int, looked: int) -> Way:
        """Return the way of a packet by the routing rule; one whose channel is dead in a cycle is ejected."""
        route = self._machine.plan.plain_route(self._address[self._node], dst)
        port, vc = route & (1 << VC_SHIFT) - 1, route >> VC_SHIFT
        if port == len(self._machine.network.ports) or port not in self._sizes.ports:
            return self._local, 0
        own = self._sizes.ports.index(port)
        return (self._local, 0) if self._dead(looked, own) else (own, vc)

    def _checked(self, word: int) -> int:
        """Return the flits of a packet with check bits, if the machine has some."""
        if not self._machine.spec.crc:
            return word
        width, wide = self._machine.spec.flit_width, self._machine.word_width
        flits = [word >> wide * place & (1 << width) - 1 for place in range(self._timing.packet_length)]
        return sum((check_of(flit, width) << width | flit) << wide * place for place, flit in enumerate(flits))

    def o(self, port: int, vc: int, start: int, onward: int, word: int) -> None:
        """Take in a packet that has left."""
        way = (port, vc)
        packet = self._take(way, word)
        if packet is None:
            other = next((other for other, alike in self._inside.items() if alike.get(word)), None)
            if other is None:
                self._blame("strays", start, f"{self._name(way)} sends a packet that is not there")
                return
            self._blame("misrouted", start, f"{self._name(way)} sends a packet that should go by {self._name(other)}")
            packet = self._take(other, word)
            assert packet is not None
        else:
            self.found["delivered"] += 1
        self._left[packet.queue].append(start)
        if not packet.is_alike:
            key = (packet.queue, packet.way if self._timing.matches else None)
            if packet.number < self._last.get(key, -1):
                self._blame("out_of_order", start, f"{self._name(way)} sends a packet before an earlier one")
            self._last[key] = packet.number
        if port < self._local:
            self._check_onward(way, start, onward, word)
            late = range(start - 2 * self._timing.packet_length - self._timing.channel_cycles - 4, start)
            if self._machine.spec.dead_pins and all(self._dead(cycle, port) for cycle in late):
                self._blame("frame_faults", start, f"{self._name(way)} sends into a dead channel")

    def _take(self, way: Way, word: int) -> _Packet | None:
        alike = self._inside.get(way, {}).get(word)
        if not alike:
            return None
        packet = alike.popleft()
        if not alike:
            del self._inside[way][word]
        return packet

    def _check_onward(self, way: Way, start: int, onward: int, word: int) -> None:
        """Compare what the next router was told to do with a packet with the routing rule there."""
        if not self._timing.gives_notice:
            return
        network, plan = self._machine.network, self._machine.plan
        behind = network.neighbors(self._visits[self._node])[network.ports[self._sizes.ports[way[0]]].name]
        due = onward_bits(plan.plain_route(plan.address.of_node(behind), self._flits.destination_of(word)), self._sizes)
        take = (2 << len(network.ports)) - 1
        if onward & take != due & take or (onward != due and not due >> len(network.ports) & 1):
            self._blame("frame_faults", start, f"{self._name(way)} tells another way ahead than the routing rule")

    def c(self, queue: int, now: int) -> None:
        """Take in a credit."""
        self._credits[queue].append(now)

    def h(self, now: int, *has: int) -> None:
        """See that nothing moves for a reason: a queue's first packet has no credit."""
        if self._toggles or self._alike:
            return
        firsts: dict[tuple[int, Way | None], _Packet] = {}
        for packet in self._packets():
            key = (packet.queue, packet.way if self._timing.matches else None)
            if packet.number < firsts.setdefault(key, packet).number:
                firsts[key] = packet
        for packet in firsts.values():
            port, vc = packet.way
            room = self._slots(port) - has[port * self._sizes.vcs + vc]
            if room > 0:
                self._blame("stuck", now, f"a packet waits for {self._name(packet.way)}, which has {room} credits")

    def _slots(self, port: int) -> int:
        if port == self._local:
            return self._machine.ejection_buffers
        return self._machine.vc_buffers(self._sizes.ports[port])

    def e(self, now: int, *values: int) -> None:
        """See that all has left, and all credits are back where they belong."""
        queues = self._sizes.queues
        away, (dropped, paused, lost), errors = values[:queues], values[queues : queues + 3], values[queues + 3 :]
        if any(away):
            self._blame("credit_faults", now, "credits do not come back", sum(map(abs, away)))
        gone = 0
        for packet in self._packets():
            port, _ = packet.way
            died = port < self._local and any(self._dead(cycle, port) for cycle in self._times(packet.came, now))
            gone += died
            if not died:
                self._blame("lost", now, f"a packet of cycle {packet.came} never leaves by {self._name(packet.way)}")
        self._counts.lost += gone
        self.found["dropped"] += gone
        due = (self._counts.dropped, self._counts.paused, self._counts.lost, *self._counts.errors)
        names = ("dropped", "paused", "lost", *(f"errors of {name}" for name in self._names))
        for name, shown, count in zip(names, (dropped, paused, lost, *errors), due, strict=False):
            if shown != min(count, MOST_COUNTED):
                self._blame("counter_mismatches", now, f"{name} is {shown}, not {count}")
        self._check_credits(now)
        self._inside.clear()
        self._left = [[] for _ in range(queues)]
        self._credits = [[] for _ in range(queues)]
        self._alike = False

    def _times(self, first: int, last: int) -> list[int]:
        """Return a cycle of each time between two in which pins stand still."""
        cycles = self._pins[0]
        return [first, *cycles[bisect_right(cycles, first) : bisect_right(cycles, last)]]

    def _check_credits(self, now: int) -> None:
        """See that each credit was given for a packet that left, and not before it did."""
        if self._toggles or self._alike:
            return
        timing = self._timing
        ahead = timing.channel_cycles
        for queue, credits in enumerate(self._credits):
            left = [*self._left[queue], *[now - timing.packet_length] * max(0, len(credits) - len(self._left[queue]))]
            for cycle, start in zip(credits, left, strict=False):
                if cycle < start - ahead:
                    self._blame("credit_faults", cycle, f"{self._names[queue // self._sizes.vcs]} gives a credit early")

    def v(self, claim: int, place: int, now: int) -> None:
        """Take in what the bench saw."""
        key = "frame_faults" if claim in FRAME_CLAIMS else "credit_faults"
        self._blame(key, now, f"{self._names[place]} {CLAIMS[claim]}")

    def s(self, dropped: int) -> None:
        """See that the counter of dropped packets stays at its largest value."""
        if dropped != MOST_COUNTED:
            self._blame("counter_mismatches", 0, f"dropped is {dropped} after more than {MOST_COUNTED} packets")

    def x(self, cycles: int, resets: int) -> None:
        """Take in the end."""
        self.found |= {"cycles": cycles, "resets": resets}
        short = 0 if self.first else max(0, self._asked - self.found["packets"])
        self._blame("stuck", cycles, f"{short} of {self._asked} packets have not been taken in", short)


def onward_bits(route: int, sizes: Sizes) -> int:
    """Return what a notice says of a route, without whether a packet comes."""
    port, vc = route & (1 << VC_SHIFT) - 1, route >> VC_SHIFT
    ports = len(sizes.machine.network.ports)
    return 1 << port | (0 if port == ports else vc) << ports + 1


_NUMBERS = {"I": 4, "O": 3, "D": 1}
"""Decimal numbers of lines that end with hexadecimal ones."""


def check_rig(folder: Path, sizes: Sizes, visits: Sequence[int], asked: int) -> RigVerdict:
    """Judge the log of a run.

    Parameters
    ----------
    folder : Path
        With ``rig.log``.
    sizes : Sizes
    visits : sequence of int
        Nodes whose place the router has had.
    asked : int
        Packets that should have been taken in.
    """
    judge = _Judge(sizes, visits, asked)
    with (folder / "rig.log").open() as log:
        for line in log:
            letter, *words = line.split()
            bases = [10] * _NUMBERS.get(letter, len(words))
            bases += [16] * (len(words) - len(bases))
            getattr(judge, letter.lower())(*map(int, words, bases))
            if letter == "X":
                break
    return RigVerdict(**judge.found, first=judge.first)
