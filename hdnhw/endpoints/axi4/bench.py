"""Bursts between managers and memories through AXI4 endpoints: the case, its run under cocotb, and the verdict."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.sim.clocks import PERIOD_NS, draw_periods
from hdnhw.sim.runner import TopLevelBench
from hdnhw.sim.simulator import BUILD_ROOT
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.verilog.fabric import EmittedFabric

FIXED, INCR, WRAP, RESERVED = range(4)
OKAY, SLVERR, DECERR = 0, 2, 3

THREADS = 3
"""Bursts that a manager has under way, each to a region of its own in every memory."""

REGION_BITS = 12

IMPOSSIBLE_SHARE, BAD_SHARE, LONG_SHARE = 0.02, 0.04, 0.02
WHOLE_SHARE = 0.7
"""Share of the plain client's beats that write all their lanes: the others cut a part."""
BAD = 256
"""Bytes at the end of each region that memories answer with SLVERR."""

LARGEST = 16
"""Beats of all but the long bursts."""

Burst = dict[str, Any]
"""A burst: ``address``, ``size``, and of a client of cocotbext-axi ``data`` (hexadecimal) or ``length`` (bytes), of the
plain client ``len``, ``burst`` and, of a write, ``beats``: data and strobes of each."""


def beat_addresses(address: int, *, beats: int, size: int, burst: int) -> list[int]:
    """Return the address of each beat of a burst.

    References
    ----------
    Arm, AMBA AXI and ACE Protocol Specification, IHI 0022, A3.4.1.

    Examples
    --------
    >>> beat_addresses(0x1A, beats=3, size=2, burst=INCR)
    [26, 28, 32]
    >>> beat_addresses(0x18, beats=4, size=2, burst=WRAP)
    [24, 28, 16, 20]
    """
    aligned = address >> size << size
    if burst == FIXED:
        return [address] * beats
    if burst == INCR:
        return [address, *(aligned + (beat << size) for beat in range(1, beats))]
    total = beats << size
    lower = address // total * total
    return [lower + (address - lower + (beat << size)) % total for beat in range(beats)]


def draw_burst(rng: random.Random, *, width: int, size: int) -> Burst:
    """Return an INCR burst of any size and alignment in the first bytes of a region, for a manager of cocotbext-axi.

    Parameters
    ----------
    rng
    width : int
        Bytes of a beat.
    size : int
        Bytes of the region.
    """
    widest = width.bit_length() - 1
    beat = widest if rng.random() < 0.6 else rng.randint(0, widest)
    beats = rng.randint(1, 256) if rng.random() < LONG_SHARE else rng.randint(1, LARGEST)
    length = rng.randint(1, min(beats << beat, size - 1))
    burst: Burst = {"address": rng.randrange(size - length), "size": beat}
    return burst | ({"data": rng.randbytes(length).hex()} if rng.random() < 0.5 else {"length": length})


def draw_plain(rng: random.Random, *, width: int, size: int) -> Burst:
    """Return a burst of any type, for the plain manager, likewise."""
    widest = width.bit_length() - 1
    beat, burst = rng.randint(0, widest), rng.choice([FIXED, INCR, WRAP, WRAP])
    most = min(LARGEST, size - 1 >> beat)
    beats = rng.choice([n for n in (2, 4, 8, 16) if n <= most]) if burst == WRAP else rng.randint(1, most)
    offset = rng.randrange(size - (beats << beat))
    if burst == WRAP:
        offset = offset >> beat << beat
    if rng.random() < BAD_SHARE:
        burst, beat = (RESERVED, beat) if widest == 7 or rng.random() < 0.5 else (burst, widest + 1)
    plain: Burst = {"address": offset, "size": beat, "len": beats - 1, "burst": burst}
    if rng.random() < 0.5:
        plain["beats"] = [
            [rng.getrandbits(8 * width), strobes if rng.random() < WHOLE_SHARE else rng.getrandbits(width) & strobes]
            for strobes in _strobes(plain, width)
        ]
    return plain


def _addresses(plain: Burst) -> list[int]:
    return beat_addresses(plain["address"], beats=plain["len"] + 1, size=plain["size"], burst=plain["burst"])


def _strobes(plain: Burst, width: int) -> Iterator[int]:
    """Yield the bytes that each beat of a burst may write."""
    for address in _addresses(plain):
        end = (address >> plain["size"]) + 1 << plain["size"]
        yield sum(1 << byte % width for byte in range(address, min(end, address // width * width + width)))


def writes(burst: Burst) -> bool:
    """Return whether a burst is a write."""
    return "data" in burst or "beats" in burst


def bytes_of(burst: Burst, answer: dict[str, Any], *, width: int) -> Iterator[tuple[int, int]]:
    """Yield the address of each byte of a burst, and its value: of a write as it was given, of a read as it came.

    Of a read without an answer the values are 0.
    """
    start = burst["address"]
    if "data" in burst or "length" in burst:
        data = burst["data"] if "data" in burst else answer.get("data", "00" * burst.get("length", 0))
        yield from enumerate(bytes.fromhex(data), start)
        return
    words = [address // width * width for address in _addresses(burst)]
    beats = burst.get("beats") or zip(answer.get("beats", [0] * len(words)), _strobes(burst, width), strict=True)
    for word, (value, strobes) in zip(words, beats, strict=True):
        yield from ((word + lane, value >> 8 * lane & 0xFF) for lane in range(width) if strobes >> lane & 1)


def overlap(begin: float, end: float, intervals: Iterable[tuple[float, float]]) -> bool:
    """Return whether a time has something in common with one of some intervals."""
    return any(first <= end and begin <= last for first, last in intervals)


class Held:
    """What a range holds: bytes, and those that a burst may have written or not, with both of their values.

    Parameters
    ----------
    contents : bytes
        At first.
    """

    def __init__(self, contents: bytes) -> None:
        self.bytes, self.unsure = bytearray(contents), dict[int, set[int]]()

    def write(self, place: int, value: int, *, sure: bool) -> None:
        """Write a byte, or perhaps not."""
        if sure:
            self.bytes[place] = value
            self.unsure.pop(place, None)
        else:
            self.unsure.setdefault(place, {self.bytes[place]}).add(value)

    def settle(self, place: int, value: int) -> bool:
        """Return whether a byte may have a value, which it has from now on."""
        if value not in self.unsure.pop(place, (self.bytes[place],)):
            return False
        self.bytes[place] = value
        return True


@dataclass(frozen=True)
class MemoryVerdict:
    """What a run showed.

    Attributes
    ----------
    bursts : int
        Bursts that managers have asked for.
    unanswered : int
        Of these, how many got no answer.
    wrong_data : int
        Reads that did not give what was written last, or was there at first.
    wrong_responses : int
        Bursts with another response than they should have: SLVERR if they touch bad bytes.
    memory_mismatches : int
        Memories, or ranges of them, that do not hold in the end what was written there.
    refused : int
        Bursts that had to be refused.
    cycles : int
        Of the fabric's clock, in steps of 100.
    """

    bursts: int
    unanswered: int
    wrong_data: int
    wrong_responses: int
    memory_mismatches: int
    refused: int
    cycles: int

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.unanswered or self.wrong_data or self.wrong_responses or self.memory_mismatches)


class MemoryBench(TopLevelBench[dict[str, Any], MemoryVerdict]):
    """An emitted fabric with AXI4 endpoints, managers and memories of cocotbext-axi, under Verilator.

    The manager of the last node is a plain client, which sends what the others do not: WRAP and FIXED bursts, and such
    as AXI4 does not have.
    """

    _bad = BAD
    name, module, kind = "axi4", "hdnhw.endpoints.axi4.bench_cocotb", AxiMemorySpec
    summary = (
        "{bursts} bursts in {cycles} cycles: {unanswered} unanswered, {wrong_data} with wrong data, {wrong_responses} "
        "with a wrong response, {memory_mismatches} memory mismatches; {refused} refused as they should be"
    )

    def __init__(self, fabric: EmittedFabric, *, root: Path = BUILD_ROOT) -> None:
        super().__init__(fabric, root=root)
        self.format, self.layout = self.machine.endpoint_format, self.machine.address
        self.nodes = self.layout.network.num_nodes
        self._check_room()

    @classmethod
    def of(cls, fabric: EmittedFabric) -> "MemoryBench":
        """See :meth:`Bench.of`."""
        from hdnhw.endpoints.axi4.bench_system import SystemBench

        return (SystemBench if fabric.machine.endpoint_format.endpoints.blocks else cls)(fabric)

    def _check_room(self) -> None:
        """Raise SpecError if a memory has no place for a region of each thread."""
        self._used = self.nodes * THREADS << REGION_BITS
        if self._used > 1 << self._bits:
            least = (self.nodes * THREADS - 1).bit_length() + REGION_BITS
            raise SpecError(f"{named('memory_bits')} must be at least {least} for the axi4 test of {self.nodes} nodes")

    @property
    def _bits(self) -> int:
        bits: int = self.format.endpoints.memory_bits
        return bits

    def check(self, case: dict[str, Any], folder: Path) -> MemoryVerdict:
        """See :meth:`Bench.check`."""
        return self.judge(case, json.loads((folder / "result.json").read_text()))

    def asked_case(self, asked: Any) -> dict[str, Any]:
        """See :meth:`Bench.asked_case`."""
        return self.make_case(bursts=asked.bursts, seed=asked.seed)

    @property
    def about(self) -> dict[str, Any]:
        """See :meth:`Bench.about`."""
        chips = self.fabric.chips
        return {"node_clocks": self.fabric.clocks is not None} | ({} if chips is None else {"chips": chips.cut.chips})

    def _clocks(self, seed: str) -> dict[str, Any]:
        """Return the clocks, by what their names end in; which one each node has; and what else has a value.

        Links between chips have one word in 500 damaged.
        """
        chips = self.fabric.chips
        if chips is None:
            own = draw_periods(self.nodes, seed=seed) if self.fabric.clocks is not None else []
            periods = {"": PERIOD_NS} | {f"_{node}": period for node, period in enumerate(own)}
            return {"clocks": periods, "ends": [f"_{node}" if own else "" for node in range(self.nodes)]}
        count = chips.chips.num_chips
        periods = {f"_{chip}": period for chip, period in enumerate(draw_periods(count, seed=seed))}
        chip_of = {node: chip for chip, nodes in enumerate(chips.chips.nodes.tolist()) for node in nodes}
        return {
            "clocks": periods,
            "ends": [f"_{chip_of[node]}" for node in range(self.nodes)],
            "inputs": {"errors": 2**32 // 500, "cut": 0},
            "wires": {f"wire_clk{end}": max(periods.values()) for end in periods} if chips.has_pins else {},
        }

    def make_case(self, *, bursts: int, seed: int, hold: int = 0, to_one: bool = False) -> dict[str, Any]:
        """Return what the bench is told: bursts from every manager to random memories, each thread in its order.

        Memories hold random bytes at first, drawn by the seeds in `contents`: a read shows what no write put there. In
        the first cycles, of which there are `hold`, they take nothing; or, if all bursts go `to_one` memory, take all
        that comes, and answer nothing.
        """
        rng, clocks = random.Random(f"{seed} bursts"), self._clocks(f"{seed} clocks")
        ends = clocks.pop("ends")
        threads: list[list[list[Burst]]] = [[[] for _ in range(THREADS)] for _ in range(self.nodes)]
        for _ in range(bursts):
            node, thread = rng.randrange(self.nodes), rng.randrange(THREADS)
            burst = self._make_burst(rng, self._region(node, thread), plain=node == self.nodes - 1)
            if to_one and self.layout.is_node(burst["address"] >> self._bits):
                burst["address"] = self.layout.of_node(0) << self._bits | burst["address"] % (1 << self._bits)
            threads[node][thread].append(burst)
        return {
            "seed": seed,
            "hold": hold,
            "to_one": to_one,
            **clocks,
            "managers": [
                {"port": f"s_axi_{node}", "client": "plain" if node == self.nodes - 1 else "axi4", "end": end}
                for node, end in enumerate(ends)
            ],
            "memories": [
                {
                    "port": f"m_axi_{node}",
                    "client": "axi4",
                    "end": end,
                    "size": 1 << self._bits,
                    "bad": self._bad,
                    "part": {"0": 1 << REGION_BITS},
                    "contents": [(0, self._used, f"{seed} memory {node}")],
                }
                for node, end in enumerate(ends)
            ],
            "threads": threads,
        }

    def _region(self, node: int, thread: int) -> int:
        """Return where the region of a thread begins in every memory."""
        return (node * THREADS + thread) << REGION_BITS

    def _target(self, rng: random.Random, region: int, offset: int) -> int:
        """Return an address in a random memory, or of no node."""
        addresses = [address for address in range(1 << self.layout.width) if not self.layout.is_node(address)]
        if not addresses or rng.random() >= IMPOSSIBLE_SHARE:
            addresses = [self.layout.of_node(node) for node in range(self.nodes)]
        return rng.choice(addresses) << self._bits | region | offset

    def _make_burst(self, rng: random.Random, region: int, *, plain: bool) -> Burst:
        """Return a burst in the region of a thread, for a manager of cocotbext-axi or the plain one."""
        draw = draw_plain if plain else draw_burst
        burst = draw(rng, width=self.format.bytes, size=1 << REGION_BITS)
        return burst | {"address": self._target(rng, region, burst["address"])}

    def response(self, burst: Burst, manager: int) -> int:
        """Return the response that a burst of a manager must have if it touches no bad bytes."""
        if self._range_at(burst["address"]) is None:
            return DECERR
        widest = self._width(manager).bit_length() - 1
        return SLVERR if burst.get("burst") == RESERVED or burst["size"] > widest else OKAY

    def judge(self, case: dict[str, Any], result: dict[str, Any]) -> MemoryVerdict:
        """Judge a run by the answers of every thread, and by what the memories hold in the end."""
        counts = self._counts(case, result, {})
        counts.pop("ended")
        return MemoryVerdict(**counts, cycles=result["cycles"])

    def _counts(
        self, case: dict[str, Any], result: dict[str, Any], resets: Mapping[str, list[tuple[float, float]]]
    ) -> dict[str, int]:
        """Count bursts and what is wrong with them; `resets` are the times of those of each port."""
        named = ("unanswered", "wrong_data", "wrong_responses", "refused", "ended", "memory_mismatches")
        counts = dict.fromkeys(named, 0)
        held, ports = dict[int, Held](), dict[int, str]()
        for number, memory in enumerate(case["memories"]):
            for start, size, seed in memory["contents"]:
                base = self._origin(number) + start
                held[base], ports[base] = Held(random.Random(seed).randbytes(size)), memory["port"]
        for manager, threads in enumerate(case["threads"]):
            port = case["managers"][manager]["port"]
            for bursts, answers in zip(threads, result["threads"][manager], strict=True):
                counts["unanswered"] += len(bursts) - len(answers)
                for burst, answer in zip(bursts, answers, strict=False):
                    base, _ = self._range_at(burst["address"]) or (-1, 0)
                    ends = (resets.get(end, []) for end in (port, ports.get(base, "")))
                    cut = [overlap(answer["begin"], answer["end"], end) for end in ends]
                    self._judge(burst, answer, manager, base, held.get(base), was_reset=cut, counts=counts)
        for number, (memory, texts) in enumerate(zip(case["memories"], result["memories"], strict=True)):
            for (start, _, _), text in zip(memory["contents"], texts, strict=True):
                own = held[self._origin(number) + start]
                same = [own.settle(place, value) for place, value in enumerate(bytes.fromhex(text))]
                counts["memory_mismatches"] += not all(same)
        return counts | {"bursts": sum(len(thread) for threads in case["threads"] for thread in threads)}

    def _origin(self, memory: int) -> int:
        """Return the address at which the contents of a memory begin to be counted."""
        origin: int = self.layout.of_node(memory) << self._bits
        return origin

    def _range_at(self, address: int) -> tuple[int, int] | None:
        """Return where the range of an address begins, and its bytes."""
        node = address >> self._bits
        return (node << self._bits, 1 << self._bits) if self.layout.is_node(node) else None

    def _part(self, size: int) -> int:
        """Return the bytes of the part of a range that each thread has."""
        del size
        return 1 << REGION_BITS

    def _width(self, manager: int) -> int:
        """Return the bytes of a beat of a manager."""
        del manager
        return int(self.format.bytes)

    def is_bad(self, burst: Burst, manager: int) -> bool:
        """Return whether a burst touches bytes that a memory refuses."""
        base, size = self._range_at(burst["address"]) or (0, 0)
        part, touched = self._part(size), bytes_of(burst, {}, width=self._width(manager))
        return any((address - base) % part >= part - self._bad for address, _ in touched)

    def _judge(
        self,
        burst: Burst,
        answer: dict[str, Any],
        manager: int,
        base: int,
        held: Held | None,
        *,
        was_reset: Sequence[bool],
        counts: dict[str, int],
    ) -> None:
        """Judge an answer: none only if the manager was reset, SLVERR only if the memory was, or of bad bytes."""
        due, found = self.response(burst, manager), answer["responses"]
        if not found and was_reset[0]:
            counts["ended"] += 1
        elif due != OKAY:
            counts["refused"] += 1
            counts["wrong_responses"] += found != [due]
        if held is None or due != OKAY:
            return
        is_bad = self.is_bad(burst, manager)
        if SLVERR in found:
            counts["wrong_responses"] += not ({*found} <= {OKAY, SLVERR} and (is_bad or was_reset[1]))
            counts["refused" if is_bad else "ended"] += 1
        elif found:
            counts["wrong_responses"] += is_bad or found != [OKAY]
        else:
            counts["wrong_responses"] += not was_reset[0]
        sure, is_right = found == [OKAY], True
        if not sure and not writes(burst):
            return
        for address, value in bytes_of(burst, answer, width=self._width(manager)):
            if writes(burst):
                held.write(address - base, value, sure=sure)
            else:
                is_right &= held.settle(address - base, value)
        counts["wrong_data"] += not is_right


BENCH = MemoryBench
