"""The cocotb test of two bridges: routers that are not routers, and wires that do to words what wires can do.

The runner, :mod:`hdnhw.sim.links`, says in a file what happens, and reads what this bench writes.
"""

import json
import random
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from hdnhw.sim.links import FAULTS, LinkSpec

PERIOD_NS = 10

QUIET = 300
"""Cycles in which a packet that is sent twice would come again, when all have come and no more are sent."""


class Wire:
    """One direction of a link: words come out in order, some cycles later, if at all."""

    def __init__(self, width: int, delay: int, seed: int) -> None:
        self._width, self._delay, self._rng = width, delay, random.Random(seed)
        self._words: deque[tuple[int, int, int]] = deque()
        self._place = 0  # in its frame
        self.happened: Counter[str] = Counter()

    def send(self, now: int, data: int, last: int, faults: Mapping[str, float], *, is_away: bool) -> None:
        """Take a word."""
        can = {"noise": 1 <= self._place <= 3, "spoils": last, "merges": last, "cuts": not last}
        self._place = 0 if last else self._place + 1
        hits = {name for name in FAULTS if can.get(name, True) and self._rng.random() < faults.get(name, 0)}
        self.happened.update(hits)
        if hits & {"flips", "spoils"}:
            data ^= 1 << self._rng.randrange(self._width)
        if "noise" in hits:
            data = self._rng.getrandbits(self._width)
        if hits & {"merges", "cuts"}:
            last = not last
        if not is_away and "drops" not in hits:
            self._words.extend([(now + self._delay, data, int(last))] * (1 + ("doubles" in hits)))

    def come(self, now: int, stalls: float) -> tuple[int, int] | None:
        """Return a word that is due, and whether it is the last one."""
        if not self._words or self._words[0][0] > now or self._rng.random() < stalls:
            return None
        return self._words.popleft()[1:]


class Pins:
    """The pins of one side in the words of all pins: what a bridge gives, and what it gets."""

    def __init__(self, pins: Sequence[tuple[str, int, bool]], side: int) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        ends = [side * sum(width for _, width, is_input in pins if is_input == kind) for kind in (False, True)]
        for name, width, is_input in pins:
            self._places[name] = ends[is_input], (1 << width) - 1
            ends[is_input] += width
        self.watched = self.driven = 0

    def get(self, name: str) -> int:
        """Return what a pin gives, 0 if there is no such pin."""
        at, mask = self._places.get(name, (0, 0))
        return self.watched >> at & mask

    def put(self, name: str, value: int) -> None:
        """Let a pin get a value, if there is such a pin; once a cycle."""
        at, mask = self._places.get(name, (0, 0))
        self.driven |= (value & mask) << at


@dataclass
class Channels:
    """The channels of one router: the one that leaves it, and the one that comes in.

    Attributes
    ----------
    ahead : int
        Cycles by which its slots begin sooner.
    leaving, coming : (int, int)
        Virtual channels, and packet buffers of each.
    """

    number: int
    ahead: int
    leaving: tuple[int, int]
    coming: tuple[int, int]

    def restart(self) -> None:
        """Begin as after reset: with all buffers free."""
        self.room = [self.leaving[1]] * self.leaving[0]
        self.held = [0] * self.coming[0]
        self.owed: list[deque[int]] = [deque() for _ in self.held]
        self.bus: dict[int, int] = {}
        self.bus_vc: dict[int, int] = {}
        self.packet: list[int] | None = None
        self.vc = self.vc_ahead = self.packet_vc = 0


class Side:
    """The routers of one side, one at each channel; they look at credits, and send, in their slots alone."""

    def __init__(self, spec: LinkSpec, pins: Pins, seed: int) -> None:
        machine, self._pins, self._rng = spec.machine, pins, random.Random(seed)
        self._timing, self._length, self._widths = (
            machine.timing,
            machine.spec.packet_length,
            (machine.spec.flit_width, machine.word_width),
        )
        vcs, ahead = machine.plan.num_vcs, spec.ahead or (0,) * len(spec.ports)
        self._channels = [
            Channels(
                number,
                ahead[number],
                (vcs[port], machine.vc_buffers(port)),
                (vcs[machine.network.ports[port].opposite], machine.input_buffers(port)),
            )
            for number, port in enumerate(spec.ports)
        ]
        self._serial = 0
        self.sent: dict[str, list[int]] = defaultdict(list)
        self.places: dict[str, dict[tuple[int, ...], int]] = defaultdict(dict)
        self.came: dict[str, list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
        self.restart()

    def restart(self) -> None:
        """Begin at cycle 0, as after reset."""
        self._cycle = 0
        for channel in self._channels:
            channel.restart()

    def record(self, now: int) -> None:
        """Take in what the bridge gives in this cycle."""
        for channel in self._channels:
            name, ahead = f"to_{channel.number}", channel.ahead
            if self._looks(ahead):
                credit = self._pins.get(f"from_{channel.number}__credit")
                channel.room = [room + (credit >> vc & 1) for vc, room in enumerate(channel.room)]
                assert max(channel.room) <= channel.leaving[1], "a credit for no packet"
            channel.vc, channel.vc_ahead = channel.vc_ahead, self._pins.get(f"{name}__vc")
            valid = self._pins.get(f"{name}__valid")
            if (self._cycle + ahead - self._timing.head_phase) % self._length == 0:
                channel.packet = [] if valid else None
            assert valid == (channel.packet is not None), "a packet with a gap, or out of its slot"
            if channel.packet is not None:
                self._take(now, channel, channel.packet)

    def _take(self, now: int, channel: Channels, packet: list[int]) -> None:
        """Take a flit in."""
        name, vc = f"to_{channel.number}", channel.vc
        packet.append(self._pins.get(f"{name}__data") | self._pins.get(f"{name}__check") << self._widths[0])
        if len(packet) == 1:
            channel.held[vc] += 1
            channel.packet_vc = vc
            assert channel.held[vc] <= channel.coming[1], "a packet without a credit"
        assert vc == channel.packet_vc, "a packet on two virtual channels"
        if len(packet) == self._length:
            self.came[f"{channel.number},{vc}"].append((now - self._length + 1, tuple(packet)))
            channel.owed[vc].append(self._cycle + self._rng.randrange(1, 2 * self._length + 1))
            channel.packet = None

    def drive(self, now: int, stage: Mapping[str, Any]) -> None:
        """Set what the bridge gets in this cycle."""
        for channel in self._channels:
            name = f"from_{channel.number}"
            if (self._cycle + channel.ahead) % self._length == 0:
                can = [vc for vc, room in enumerate(channel.room) if room and self._rng.random() < stage["load"]]
                if can:
                    self._start(now, channel, self._rng.choice(can))
            noise = self._rng.getrandbits(self._widths[1])
            word = channel.bus.pop(self._cycle, -1)
            self._pins.put(f"{name}__valid", int(word >= 0))
            word = word if word >= 0 else noise
            self._pins.put(f"{name}__data", word & ((1 << self._widths[0]) - 1))
            self._pins.put(f"{name}__check", word >> self._widths[0])
            self._pins.put(f"{name}__vc", channel.bus_vc.pop(self._cycle, noise % channel.leaving[0]))
            self._pins.put(f"to_{channel.number}__credit", self._give(channel, stage, noise))
        self._cycle += 1

    def _start(self, now: int, channel: Channels, vc: int) -> None:
        """Put a packet on the channel, no two alike, in the slot that begins."""
        head, queue = self._cycle + self._timing.channel_cycles, f"{channel.number},{vc}"
        flits = [self._serial & ((1 << self._widths[1]) - 1)]
        flits += [self._rng.getrandbits(self._widths[1]) for _ in range(self._length - 1)]
        self._serial += 1
        channel.room[vc] -= 1
        self.places[queue][tuple(flits)] = len(self.sent[queue])
        self.sent[queue].append(now + self._timing.channel_cycles)
        channel.bus.update({head + place: flit for place, flit in enumerate(flits)})
        channel.bus_vc.update(dict.fromkeys(range(head - 1, head - 1 + self._length), vc))

    def _give(self, channel: Channels, stage: Mapping[str, Any], noise: int) -> int:
        """Return credits; they may be anything while a neighbor does not look."""
        if not self._looks(channel.ahead, self._timing.head_phase - self._timing.channel_cycles):
            return noise
        bits = 0
        for vc, owed in enumerate(channel.owed):
            holds = f"{channel.number},{vc}" in stage["holds"]
            if not holds and owed and owed[0] <= self._cycle and self._rng.random() < stage["room"]:
                owed.popleft()
                channel.held[vc] -= 1
                bits |= 1 << vc
        return bits

    def _looks(self, ahead: int, since: int = 0) -> bool:
        """Return whether who sends looks at credits, whose slots begin `since` cycles behind those of the router."""
        return (self._cycle + ahead - since) % self._length == self._timing.credit_phase

    @property
    def count(self) -> tuple[int, int]:
        """Packets that have been sent, and that have come."""
        return sum(map(len, self.sent.values())), sum(map(len, self.came.values()))


class Rig:
    """Both sides, and the wires."""

    def __init__(self, dut: Any, told: Mapping[str, Any]) -> None:
        self._dut, spec, seed = dut, LinkSpec(**told["spec"]), told["seed"]
        self._rng, self._width, self.now = random.Random(seed), spec.word_width, 0
        self.pins = [Pins(told["pins"], side) for side in (0, 1)]
        self.sides = [Side(spec, pins, 2 * seed + side) for side, pins in enumerate(self.pins)]
        self.wires = [Wire(spec.word_width, told["delay"], 1000 + 2 * seed + side) for side in (0, 1)]

    async def step(self, stage: Mapping[str, Any], resets: int) -> None:
        """Play a cycle, at whose end some sides are reset."""
        await FallingEdge(self._dut.clk)
        bits = self._dut.watched.value.to_unsigned()
        for side, pins in zip(self.sides, self.pins, strict=True):
            pins.watched, pins.driven = bits, 0
            assert pins.get("rx__ready"), "a link that waits"
            side.record(self.now)
            side.drive(self.now, stage)
        for number, pins in enumerate(self.pins):
            word = self.wires[1 - number].come(self.now, stage["stalls"])
            pins.put("rx__valid", int(word is not None))
            data, last = word or (self._rng.getrandbits(self._width), self.now & 1)
            pins.put("rx__payload", data | last << self._width)
            if self._rng.random() < stage["pace"]:
                pins.put("tx__ready", 1)
                if pins.get("tx__valid"):
                    sent, is_away = pins.get("tx__payload"), number in stage["away"]
                    data, last = sent & ((1 << self._width) - 1), sent >> self._width
                    self.wires[number].send(self.now, data, last, stage["faults"], is_away=is_away)
        self._dut.driven.value = self.pins[0].driven | self.pins[1].driven
        self._dut.resets.value = resets
        for number, side in enumerate(self.sides):
            if resets >> number & 1:
                side.restart()
        self.now += 1

    @property
    def is_empty(self) -> bool:
        """Whether all packets that were sent have come."""
        (sent, came), (others_sent, others_came) = (side.count for side in self.sides)
        return sent == others_came and others_sent == came


@cocotb.test()
async def links(dut: Any) -> None:
    """Play all stages, and write down what went in and what came out."""
    told = json.loads(Path("case.json").read_text())
    rig = Rig(dut, told)
    begun, seen = [], []
    dut.driven.value, dut.resets.value = 0, 3
    Clock(dut.clk, PERIOD_NS, "ns").start(start_high=False)
    for stage in told["stages"]:
        begun.append(rig.now)
        quiet = 0
        for cycle in range(stage["cycles"]):
            await rig.step(stage, sum(1 << side for side in stage["resets"]) if cycle == 0 else 0)
            quiet = quiet + 1 if stage["load"] == 0 and rig.is_empty else 0
            if quiet > QUIET:
                break
        names = ("up", "damaged", "resent", "lost")
        seen.append([{name: pins.get(name) for name in names} for pins in rig.pins])
    came: list[dict[str, list[tuple[int, int]]]] = []
    for side, other in (rig.sides, rig.sides[::-1]):
        came.append({})
        for queue, packets in side.came.items():
            channel, vc = queue.split(",")
            places = other.places[f"{told['spec']['arrivals'][int(channel)]},{vc}"]
            came[-1][queue] = [(cycle, places.get(flits, -1)) for cycle, flits in packets]
    happened = sum((wire.happened for wire in rig.wires), Counter())
    result = {"sent": [side.sent for side in rig.sides], "came": came, "begun": begun, "seen": seen}
    Path("result.json").write_text(json.dumps({**result, "happened": happened}))
