"""Bursts and accesses between the blocks of a system, each with its own kind of port, width and clock."""

import random
from functools import cached_property
from typing import Any

from hdnhw.endpoints.axi4.bench import (
    DECERR,
    IMPOSSIBLE_SHARE,
    OKAY,
    RESERVED,
    SLVERR,
    THREADS,
    Burst,
    MemoryBench,
    draw_burst,
    draw_plain,
    replay,
)
from hdnhw.endpoints.axi4.spec_blocks import Block
from hdnhw.sim.clocks import PERIOD_NS, draw_periods
from hdnhw.support.errors import SpecError

LONGEST = 512
"""Bytes of the longest burst, which lies within the part of a thread."""

PART, LARGEST_PART = 64, 1 << 12
"""Bytes: parts of a range, one for each thread, are multiples of the first, and no larger than the second."""

PAGE_BITS = 12
"""Of an address, within the bytes that no burst leaves."""

LITE_BEATS = 4
"""Accesses of AXI4-Lite that a client makes at a time, at most."""


class SystemBench(MemoryBench):
    """A system, with managers and memories of cocotbext-axi; its last AXI4 manager sends bursts of all types."""

    @cached_property
    def _blocks(self) -> tuple[Block, ...]:
        blocks: tuple[Block, ...] = self.format.endpoints.blocks
        return blocks

    @cached_property
    def _managers(self) -> list[Block]:
        return [block for block in self._blocks if block.is_manager]

    @cached_property
    def _subordinates(self) -> list[Block]:
        return [block for block in self._blocks if not block.is_manager]

    @cached_property
    def _ranges(self) -> list[tuple[int, int]]:
        return [one for block in self._subordinates for one in block.ranges]

    @cached_property
    def _plain(self) -> Block | None:
        return next((block for block in reversed(self._managers) if not block.is_lite), None)

    def _check_room(self) -> None:
        least, widest = min(size for _, size in self._ranges), max(block.data_width for block in self._managers)
        needed = len(self._managers) * THREADS * max(PART, widest // 2)  # a WRAP of the widest beats, and some room
        if least < needed:
            raise SpecError(f"ranges must have at least {needed} bytes for the test of this system, not {least}")
        self._has_gaps = sum(size for _, size in self._ranges) < 1 << self.format.address_bits

    def make_case(self, *, bursts: int, seed: int, hold: int = 0, to_one: bool = False) -> dict[str, Any]:
        """Return what the bench is told, see :meth:`MemoryBench.make_case`."""
        rng = random.Random(f"{seed} bursts")
        names = dict.fromkeys(f"_{block.clock}" for block in self._blocks if block.clock)
        periods = {"": PERIOD_NS, **dict(zip(names, draw_periods(len(names), seed=f"{seed} clocks"), strict=True))}
        threads: list[list[list[Burst]]] = [[[] for _ in range(THREADS)] for _ in self._managers]
        for _ in range(bursts):
            number, thread = rng.randrange(len(self._managers)), rng.randrange(THREADS)
            threads[number][thread].append(self._draw(rng, number, thread, one=self._ranges[0] if to_one else None))
        return {
            "seed": seed,
            "hold": hold,
            "to_one": to_one,
            "clocks": periods,
            "managers": [
                {"port": block.name, "client": "plain" if block is self._plain else _client(block), "end": _end(block)}
                for block in self._managers
            ],
            "memories": [
                {
                    "port": block.name,
                    "client": _client(block),
                    "end": _end(block),
                    "size": 1 << self.format.address_bits,
                    "contents": [
                        (base, self._part(size) * len(self._managers) * THREADS, f"{seed} {block.name} {base}")
                        for base, size in block.ranges
                    ],
                }
                for block in self._subordinates
            ],
            "threads": threads,
        }

    def _part(self, size: int) -> int:
        """Return the bytes of the part of a range that each thread has."""
        return min(size // (len(self._managers) * THREADS) // PART * PART, LARGEST_PART)

    def _draw(self, rng: random.Random, number: int, thread: int, one: tuple[int, int] | None) -> Burst:
        """Draw what a manager asks for in its thread's part of a range, or beyond all ranges."""
        block, (base, size) = self._managers[number], one or rng.choice(self._ranges)
        part = self._part(size)
        width, room = block.data_width // 8, min(part, LONGEST)
        start = base + part * (number * THREADS + thread)
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

    def response(self, burst: Burst, manager: int) -> int:
        """See :meth:`MemoryBench.response`."""
        if self._range_at(burst["address"]) is None:
            return DECERR
        widest = (self._managers[manager].data_width // 8).bit_length() - 1
        return SLVERR if burst.get("burst") == RESERVED or burst["size"] > widest else OKAY

    def _replay(self, burst: Burst, answer: dict[str, Any], memories: list[bytearray], manager: int) -> bool:
        place = self._range_at(burst["address"])
        assert place is not None
        width = self._managers[manager].data_width // 8
        return replay(burst, answer, memories[self._ranges.index(place)], origin=place[0], width=width)


def _crosses(first: int, plain: Burst) -> bool:
    """Return whether a burst at an address leaves its page, which AXI4 forbids."""
    last = first + (plain["len"] + 1 << plain["size"]) - 1
    return bool(first >> PAGE_BITS != last >> PAGE_BITS)


def _client(block: Block) -> str:
    return "lite" if block.is_lite else "axi4"


def _end(block: Block) -> str:
    return f"_{block.clock}" if block.clock else ""
