"""Bursts, accesses and frames between the blocks of a system, each with its own kind of port, width and clock."""

import json
import random
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from hdnhw.endpoints.axi4.bench import (
    IMPOSSIBLE_SHARE,
    THREADS,
    Burst,
    MemoryBench,
    MemoryVerdict,
    draw_burst,
    draw_plain,
    overlap,
)
from hdnhw.endpoints.axi4.spec_blocks import Block
from hdnhw.rtl.bits import index_width
from hdnhw.sim.clocks import PERIOD_NS, draw_periods
from hdnhw.support.errors import SpecError

LONGEST = 512
"""Bytes of the longest burst, which lies within the part of a thread."""

PART, LARGEST_PART = 64, 1 << 12
"""Bytes: parts of a range, one for each thread, are multiples of the first, and no larger than the second."""

PAGE_BITS = 12
"""Of an address, within the bytes that no burst leaves."""

MOST_THREADS = 8
"""Bursts that a manager has under way, where ranges have room for all their parts."""

LITE_BEATS = 4
"""Accesses of AXI4-Lite that a client makes at a time, at most."""

LEAST_BAD = 16
"""Bytes at the end of each part that memories answer with SLVERR, at least."""

RESET_AFTER = (500, 3000)
"""Cycles from one reset of a block to the next."""

LONG_FRAME = 400
"""Bytes of the longest frame."""


@dataclass(frozen=True, kw_only=True)
class SystemVerdict(MemoryVerdict):
    """What a run showed; bursts are as of :class:`MemoryVerdict`.

    Attributes
    ----------
    frames : int
        Frames that sources have sent.
    lost_frames, wrong_frames : int
        Of these, how many did not come, and how many came to a sink that were not sent there, or not in their order.
    wrong_attributes : int
        Addresses that came to a subordinate with other attributes than its manager gave.
    resets : int
        Of single blocks.
    ended : int
        Bursts and frames that these ended, or kept from being answered as they would have been.
    """

    frames: int
    lost_frames: int
    wrong_frames: int
    wrong_attributes: int
    resets: int
    ended: int

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return super().passed and not (self.lost_frames or self.wrong_frames or self.wrong_attributes)


class SystemBench(MemoryBench):
    """A system, with clients of cocotbext-axi; its last AXI4 manager sends bursts of all types."""

    summary = (
        "{bursts} bursts and {frames} frames in {cycles} cycles: {unanswered} unanswered, {wrong_data} with wrong "
        "data, {wrong_responses} with a wrong response, {wrong_attributes} with wrong attributes, {memory_mismatches} "
        "memory mismatches; {refused} refused as they should be; {lost_frames} frames lost, {wrong_frames} wrong; "
        "{resets} resets of single blocks, which ended {ended}"
    )

    @cached_property
    def _blocks(self) -> tuple[Block, ...]:
        blocks: tuple[Block, ...] = self.format.endpoints.blocks
        return blocks

    @cached_property
    def _managers(self) -> list[Block]:
        return [block for block in self._blocks if block.is_manager and not block.is_stream]

    @cached_property
    def _subordinates(self) -> list[Block]:
        return [block for block in self._blocks if block.ranges]

    @cached_property
    def _ranges(self) -> list[tuple[int, int]]:
        return [one for block in self._subordinates for one in block.ranges]

    @cached_property
    def _plain(self) -> Block | None:
        return next((block for block in reversed(self._managers) if not block.is_lite), None)

    def _check_room(self) -> None:
        if not self._managers:
            self._has_gaps, self._threads = False, THREADS
            return
        least, widest = min(size for _, size in self._ranges), max(block.data_width for block in self._blocks)
        self._bad = max(LEAST_BAD, widest // 8)
        least_part = len(self._managers) * max(PART, widest // 2)  # a WRAP of the widest beats, and some room
        if least < THREADS * least_part:
            needed = THREADS * least_part
            raise SpecError(f"ranges must have at least {needed} bytes for the test of this system, not {least}")
        self._threads = min(MOST_THREADS, least // least_part)
        self._has_gaps = sum(size for _, size in self._ranges) < 1 << self.format.address_bits

    def asked_case(self, asked: Any) -> dict[str, Any]:
        """See :meth:`Bench.asked_case`."""
        return self.make_case(bursts=asked.bursts, seed=asked.seed, resets=asked.resets)

    def make_case(
        self, *, bursts: int, seed: int, hold: int = 0, to_one: bool = False, resets: bool = False
    ) -> dict[str, Any]:
        """Return what the bench is told, see :meth:`MemoryBench.make_case`; with `resets`, blocks are reset alone.

        Each source sends about as many frames as each manager does bursts. Sinks take nothing while they `hold`.
        """
        if resets and not any(block.reset for block in self._blocks):
            raise SpecError("resets are of blocks with reset = true, and this system has none")
        rng = random.Random(f"{seed} bursts")
        names = dict.fromkeys(f"_{block.clock}" for block in self._blocks if block.clock)
        periods = {"": PERIOD_NS, **dict(zip(names, draw_periods(len(names), seed=f"{seed} clocks"), strict=True))}
        threads: list[list[list[Burst]]] = [[[] for _ in range(self._threads)] for _ in self._managers]
        endpoints = self.format.endpoints
        frames: list[list[tuple[int, str]]] = [[] for _ in endpoints.sources]
        for _ in range(bursts):
            number, thread = rng.randrange(len(self._managers) + len(frames)), rng.randrange(self._threads)
            if number >= len(self._managers):
                frames[number - len(self._managers)].append(self._frame(rng, number - len(self._managers)))
                continue
            threads[number][thread].append(self._draw(rng, number, thread, one=self._ranges[0] if to_one else None))
        return {
            "seed": seed,
            "hold": hold,
            "to_one": to_one,
            "clocks": periods,
            "resets": RESET_AFTER if resets else None,
            "threads_each": self._threads,
            "managers": [
                _about(block, "plain" if block is self._plain else "lite" if block.is_lite else "axi4")
                | {
                    "attributes": [
                        self._attributes(number * self._threads + thread, block) for thread in range(self._threads)
                    ]
                }
                for number, block in enumerate(self._managers)
            ],
            "sources": [
                _about(block, "source") | {"frames": own} for block, own in zip(endpoints.sources, frames, strict=True)
            ],
            "sinks": [_about(block, "sink") for block in endpoints.sinks],
            "memories": [
                _about(block, "lite" if block.is_lite else "axi4")
                | {
                    "size": 1 << self.format.address_bits,
                    "bad": self._bad,
                    "part": {str(base): self._part(size) for base, size in block.ranges},
                    "contents": [
                        (base, self._part(size) * len(self._managers) * self._threads, f"{seed} {block.name} {base}")
                        for base, size in block.ranges
                    ],
                }
                for block in self._subordinates
            ],
            "threads": threads,
        }

    def _attributes(self, number: int, block: Block) -> dict[str, int]:
        """Return what addresses of a thread say beside their place."""
        of_all = {name: (number * 5 + 3) % (1 << bits) for name, bits in self.format.attributes.items()}
        return of_all | ({name: 0 for name in of_all if name != "prot"} if block.is_lite else {})

    def _frame(self, rng: random.Random, source: int) -> tuple[int, str]:
        """Draw a frame: the number of its sink, perhaps of none, and its bytes."""
        endpoints = self.format.endpoints
        names, to = [sink.name for sink in endpoints.sinks], endpoints.sources[source].to
        dest = names.index(to) if to else rng.randrange(len(names))
        if not to and rng.random() < IMPOSSIBLE_SHARE:
            dest = (1 << index_width(len(names))) - 1
        longest = rng.choice([8, 64, LONG_FRAME])
        return dest, rng.randbytes(rng.randint(1, longest)).hex()

    def _part(self, size: int) -> int:
        return min(size // (len(self._managers) * self._threads) // PART * PART, LARGEST_PART)

    def _draw(self, rng: random.Random, number: int, thread: int, one: tuple[int, int] | None) -> Burst:
        """Draw what a manager asks for in its thread's part of a range, or beyond all ranges."""
        block, (base, size) = self._managers[number], one or rng.choice(self._ranges)
        part = self._part(size)
        width, room = block.data_width // 8, min(part, LONGEST)
        start = base + part * (number * self._threads + thread)
        if block is self._plain:
            burst = draw_plain(rng, width=width, size=room)
            while _crosses(start + burst["address"], burst):
                burst = draw_plain(rng, width=width, size=room)
        elif block.is_lite:
            length = rng.randint(1, LITE_BEATS * width)
            burst = {"data": rng.randbytes(length).hex()} if rng.random() < 0.5 else {"length": length}
            burst |= {"size": width.bit_length() - 1}
        else:
            burst = draw_burst(rng, width=width, size=room)
        return burst | {"address": self._address(rng, burst, start, part)}

    def _address(self, rng: random.Random, burst: Burst, start: int, part: int) -> int:
        """Return where a burst begins: as drawn in a part of a range, or at an address that no block has."""
        if rng.random() >= IMPOSSIBLE_SHARE or not self._has_gaps:
            offset = burst.get("address")
            length = burst.get("length", len(burst.get("data", "")) // 2)
            return start + (rng.randrange(part - length) if offset is None else int(offset))
        while True:
            page = rng.randrange(1 << self.format.address_bits - PAGE_BITS) << PAGE_BITS
            if not self._range_at(page):
                return page + int(burst.get("address", 0))

    def _range_at(self, address: int) -> tuple[int, int] | None:
        return next((one for one in self._ranges if one[0] <= address < one[0] + one[1]), None)

    def _width(self, manager: int) -> int:
        return self._managers[manager].data_width // 8

    def _origin(self, memory: int) -> int:
        del memory
        return 0

    def check(self, case: dict[str, Any], folder: Path) -> SystemVerdict:
        """See :meth:`Bench.check`."""
        result = json.loads((folder / "result.json").read_text())
        resets: dict[str, list[tuple[float, float]]] = {block.name: [] for block in self._blocks}
        for name, begin, end in result["resets"]:
            resets[name].append((begin, end))
        counts = self._counts(case, result, resets)
        frames = _judge_frames(self.format.endpoints, case, result, resets)
        counts["ended"] += frames.pop("ended")
        return SystemVerdict(
            frames=sum(map(len, result["sent"])),
            resets=len(result["resets"]),
            **{name: result[name] for name in ("cycles", "wrong_attributes")},
            **counts,
            **frames,
        )


def _crosses(first: int, plain: Burst) -> bool:
    """Return whether a burst at an address leaves its page, which AXI4 forbids."""
    last = first + (plain["len"] + 1 << plain["size"]) - 1
    return bool(first >> PAGE_BITS != last >> PAGE_BITS)


def _about(block: Block, client: str) -> dict[str, Any]:
    """Return what the bench is told of each block."""
    reset = f"{block.name}_aresetn" if block.reset else None
    return {"port": block.name, "client": client, "end": f"_{block.clock}" if block.clock else "", "reset": reset}


def _judge_frames(
    endpoints: Any, case: dict[str, Any], result: dict[str, Any], resets: dict[str, list[tuple[float, float]]]
) -> dict[str, int]:
    """Compare frames that came with those that were sent: all, in the order of each source, but for resets.

    A frame whose source was reset may come in part, and with an end that has no bytes.
    """
    counts = {"lost_frames": 0, "wrong_frames": 0, "ended": 0}
    for number, (source, about, times) in enumerate(
        zip(endpoints.sources, case["sources"], result["sent"], strict=True)
    ):
        for dest, sink in enumerate(endpoints.sinks):
            both = resets[source.name] + resets[sink.name]
            sent = [
                (text, begin, overlap(begin, end, resets[source.name]))
                for (to, text), (begin, end) in zip(about["frames"], times, strict=False)
                if to == dest
            ]
            came = [(text, when) for own, text, when in result["received"][dest] if own == number]
            place = 0
            for text, when in chain(came, [("", None)]):
                while place < len(sent):
                    whole, begin, was_cut = sent[place]
                    place += 1
                    if when is not None and (text == whole or (was_cut and whole.startswith(text))):
                        counts["ended"] += text != whole
                        break
                    is_excused = overlap(begin, result["end"] if when is None else when, both)
                    counts["ended" if is_excused else "lost_frames"] += 1
                else:
                    counts["wrong_frames"] += when is not None
        counts["lost_frames"] += len(about["frames"]) - len(times)
    return counts
