"""The cocotb test that measures bursts; :mod:`bench.rtl.axi_rates` writes its case and reads what it writes down."""

import json
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer

PERIOD_NS = 10
RESET_CYCLES = 2
PATIENCE = 20_000
"""Cycles in which a single burst must be answered."""

UNANSWERED = 32
"""Bursts of reads, and of writes, that a manager has under way at most."""

IDS = 16
"""Of a manager, which its bursts take in turn."""

REGION = 1 << 12
"""Bytes of a memory that are asked for; no burst crosses their end."""


class Channel:
    """The wires of a channel."""

    def __init__(self, dut: Any, stem: str, *fields: str) -> None:
        self.valid, self.ready = getattr(dut, f"{stem}valid"), getattr(dut, f"{stem}ready")
        self.fields = {field: getattr(dut, f"{stem}{field}") for field in fields}

    @property
    def moves(self) -> bool:
        """Whether a transfer is taken in this cycle."""
        return bool(int(self.valid.value)) and bool(int(self.ready.value))

    def get(self, *fields: str) -> list[int]:
        """Return fields of the transfer."""
        return [int(self.fields[field].value) for field in fields]

    def offer(self, **fields: int) -> None:
        """Offer a transfer."""
        self.valid.value = 1
        for field, value in fields.items():
            self.fields[field].value = value


class Port:
    """The port of a manager or of a memory."""

    def __init__(self, dut: Any, stem: str) -> None:
        address = ("addr", "len", "size", "burst", "id")
        self.ar, self.aw = Channel(dut, f"{stem}_ar", *address), Channel(dut, f"{stem}_aw", *address)
        self.w = Channel(dut, f"{stem}_w", "data", "strb", "last")
        self.r, self.b = (
            Channel(dut, f"{stem}_r", "data", "resp", "last", "id"),
            Channel(dut, f"{stem}_b", "resp", "id"),
        )


class Words:
    """What is at every place of every memory."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.bytes, self.bits, self.wrong = case["bytes"], case["memory_bits"], 0
        self.strobes, self.mask = (1 << self.bytes) - 1, (1 << 8 * self.bytes) - 1

    def word(self, address: int) -> int:
        """Return the data at an address, of which the node is part."""
        word: int = (address // self.bytes + 1) * 0x9E3779B97F4A7C15 & self.mask
        return word

    def compare(self, one: list[int], due: list[int]) -> None:
        """Count a beat that is not as it is due."""
        self.wrong += one != due


class Memory:
    """A memory that takes whatever comes and answers in the next cycle."""

    def __init__(self, port: Port, words: Words, address: int) -> None:
        self.port, self.words, self.base = port, words, address << words.bits
        # Of each beat its address, ID, and whether it is the last; of each burst where it begins, its last beat and ID.
        self.reads: deque[tuple[int, int, int]] = deque()
        self.writes: deque[tuple[int, int, int]] = deque()
        self.responses: deque[int] = deque()  # IDs
        self.beat = 0
        for channel in (port.ar, port.aw, port.w):
            channel.ready.value = 1
        for channel in (port.r, port.b):
            channel.valid.value = channel.fields["resp"].value = channel.fields["id"].value = 0

    def step(self) -> None:
        """Look at a cycle, and set what is offered in the next one."""
        port, words = self.port, self.words
        if port.ar.moves:
            address, last, own = port.ar.get("addr", "len", "id")
            first = self.base | address & (1 << words.bits) - 1
            self.reads.extend((first + beat * words.bytes, own, beat == last) for beat in range(last + 1))
        if not int(port.r.valid.value) or port.r.moves:
            port.r.valid.value = int(bool(self.reads))
            if self.reads:
                address, own, is_last = self.reads.popleft()
                port.r.offer(data=words.word(address), last=int(is_last), id=own)
        if port.aw.moves:
            address, last, own = port.aw.get("addr", "len", "id")
            self.writes.append((self.base | address & (1 << words.bits) - 1, last, own))
        if port.w.moves:
            self._write(port.w.get("data", "strb", "last"))
        if not int(port.b.valid.value) or port.b.moves:
            port.b.valid.value = int(bool(self.responses))
            if self.responses:
                port.b.offer(id=self.responses.popleft())

    def _write(self, beat: list[int]) -> None:
        address, last, own = self.writes[0]
        word = self.words.word(address + self.beat * self.words.bytes)
        is_last = self.beat == last
        self.words.compare(beat, [word, self.words.strobes, int(is_last)])
        self.beat += 1
        if is_last:
            self.writes.popleft()
            self.beat = 0
            self.responses.append(own)


class Half:
    """The reads of a manager, or its writes: bursts to memories, one behind the other."""

    def __init__(
        self,
        port: Port,
        words: Words,
        addresses: Sequence[int],
        *,
        beats: int,
        write: bool,
        count: int = -1,
        seed: int = 0,
    ) -> None:
        self.words, self.beats, self.left = words, beats, count
        self.memories, self.random = [address << words.bits for address in addresses], Random(seed)
        self.address, self.answer = (port.aw, port.b) if write else (port.ar, port.r)
        self.given = port.w if write else None
        self.asked = self.beat = self.written = self.answered = 0
        self.offered = 0  # bursts that have been, or are, on the channel of addresses
        self.places: deque[int] = deque()  # of bursts whose data is still to be given
        # Of each ID, where the beats are that are still to be read, or the bursts that are written and unanswered.
        self.due: list[deque[int]] = [deque() for _ in range(IDS)]
        self.answer.ready.value = 1
        self._offer()

    @property
    def has_ended(self) -> bool:
        """Whether all bursts are answered."""
        return self.answered == self.left

    def _offer(self) -> None:
        if self.offered == self.asked and self.asked - self.answered < UNANSWERED and self.asked != self.left:
            width, own = self.words.bytes, self.asked % IDS
            size = self.beats * width
            place = self.random.choice(self.memories) + self.asked % (REGION // size) * size
            self.offered += 1
            self.address.offer(addr=place, len=self.beats - 1, size=width.bit_length() - 1, burst=1, id=own)
            if self.given is None:
                self.due[own].extend(range(place, place + size, width))
            else:
                self.places.append(place)
        self.address.valid.value = self.offered - self.asked
        if self.given is None:
            return
        if self.places:
            word = self.words.word(self.places[0] + self.beat * self.words.bytes)
            self.given.offer(data=word, strb=self.words.strobes, last=int(self.beat + 1 == self.beats))
        else:
            self.given.valid.value = 0

    def step(self) -> int:
        """Look at a cycle, and set what is offered in the next one; return the beats that moved."""
        moved = int((self.given or self.answer).moves)
        if self.answer.moves:
            self._take()
        self.asked += self.address.moves
        if self.given is not None:
            self.beat += moved
            if self.beat == self.beats:
                self.due[self.written % IDS].append(self.places.popleft())
                self.written, self.beat = self.written + 1, 0
        self._offer()
        return moved

    def _take(self) -> None:
        response, own = self.answer.get("resp", "id")
        due, is_last = self.due[own], True
        self.words.compare([response, bool(due)], [0, True])
        if not due:
            return
        place = due.popleft()
        if self.given is None:
            is_last = len(due) % self.beats == 0
            self.words.compare(self.answer.get("data", "last"), [self.words.word(place), is_last])
        self.answered += is_last


class Bench:
    """The fabric, and the cycle that it is in."""

    def __init__(self, dut: Any, case: dict[str, Any]) -> None:
        self.dut, self.case = dut, case
        ports = range(len(case["addresses"]))
        self.managers, self.ports = ([Port(dut, f"{stem}_{n}") for n in ports] for stem in ("s_axi", "m_axi"))

    async def start(self) -> tuple[Words, list[Memory]]:
        """Reset."""
        for port in self.managers:
            for channel in (port.ar, port.aw, port.w):
                channel.offer(**dict.fromkeys(channel.fields, 0))
                channel.valid.value = 0
        words = Words(self.case)
        addresses = self.case["addresses"]
        memories = [Memory(port, words, address) for port, address in zip(self.ports, addresses, strict=True)]
        self.dut.aresetn.value = 0
        await ClockCycles(self.dut.aclk, RESET_CYCLES)
        self.dut.aresetn.value = 1
        await ClockCycles(self.dut.aclk, RESET_CYCLES)
        return words, memories

    async def load(self, run: dict[str, Any]) -> dict[str, Any]:
        """Count the beats that move."""
        words, memories = await self.start()
        addresses = self.case["addresses"]
        halves = [
            Half(
                self.managers[node],
                words,
                [addresses[memory] for memory in run["memories"] if memory != node],
                beats=run["beats"],
                write=kind == "writes",
                seed=2 * node + (kind == "writes"),
            )
            for node in run["managers"]
            for kind in ("reads", "writes")
            if run[kind]
        ]
        asked = [memories[node] for node in run["memories"]]
        beats = 0
        for cycle in range(run["warmup"] + run["cycles"]):
            await RisingEdge(self.dut.aclk)
            moved = sum(half.step() for half in halves)
            for memory in asked:
                memory.step()
            beats += moved if cycle >= run["warmup"] else 0
        return {"beats": beats, "latencies": [], "wrong": words.wrong}

    async def lone(self, run: dict[str, Any]) -> dict[str, Any]:
        """Send one burst for each phase."""
        words, memories = await self.start()
        seen: list[int] = []
        for _ in range(self.case["phases"]):
            seen.append(await self._latency(run, words, memories[run["destination"]]))
            quiet = 8 * self.case["phases"] + -seen[-1] % self.case["phases"]
            await ClockCycles(self.dut.aclk, quiet)
        return {"beats": 0, "latencies": seen, "wrong": words.wrong}

    async def _latency(self, run: dict[str, Any], words: Words, memory: Memory) -> int:
        addresses = [self.case["addresses"][run["destination"]]]
        manager = self.managers[run["source"]]
        half = Half(manager, words, addresses, beats=run["beats"], write=run["write"], count=1)
        for cycle in range(PATIENCE):
            await RisingEdge(self.dut.aclk)
            half.step()
            memory.step()
            if half.has_ended:
                return cycle
        raise AssertionError("a burst has not been answered")


@cocotb.test()
async def measure(dut: Any) -> None:
    """Do all runs, each from reset."""
    case = json.loads(Path("case.json").read_text())
    bench = Bench(dut, case)
    for level in (1, 0):
        dut.aresetn.value = level
        await Timer(PERIOD_NS, "ns")
    Clock(dut.aclk, PERIOD_NS, "ns").start(start_high=False)
    result = [await getattr(bench, run["kind"].lower())(run) for run in case["runs"]]
    Path("result.json").write_text(json.dumps(result))
