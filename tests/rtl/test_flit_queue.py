"""A deep queue of flits: all come out in order, and at once where they pass by an empty block RAM."""

import random

import pytest

from hdnhw.rtl.fifos import FlitQueue

COUNT, DEPTH = 600, 64


@pytest.mark.parametrize("passes", [False, True])
@pytest.mark.parametrize(("pause", "stall"), [(0.0, 0.0), (0.6, 0.0), (0.0, 0.6), (0.3, 0.3), (0.9, 0.1)])
def test_all_comes_in_order(simulate, passes, pause, stall):
    """Pauses and stalls come in runs, so that the queue fills and becomes empty again."""
    dut, rng = FlitQueue(16, depth=DEPTH, passes=passes), random.Random(f"{pause} {stall}")
    put, got, waits = [], [], []

    def runs(share):
        while True:
            is_pause = rng.random() < share
            for _ in range(rng.randint(1, 2 * DEPTH)):
                yield is_pause or (share > 0 and rng.random() < 0.1)

    async def bench(ctx):
        cycle, pauses, stalls = 0, runs(pause), runs(stall)
        await ctx.tick()  # with which reset ends
        while len(got) < COUNT:
            # As many as fit into the block RAM are on their way at most.
            may = len(put) < COUNT and len(put) - len(got) < DEPTH and not next(pauses)
            takes = bool(ctx.get(dut.some)) and not next(stalls)
            ctx.set(dut.push, may)
            ctx.set(dut.i, len(put))
            ctx.set(dut.take, takes)
            if takes:
                got.append(ctx.get(dut.o))
                waits.append(cycle - put[len(got) - 1])
            put.extend([cycle] if may else [])
            cycle += 1
            await ctx.tick()

    simulate(dut, bench, cycles=100_000)
    assert got == list(range(COUNT))
    soonest = 1 if passes else 5
    assert min(waits) >= soonest
    if not stall:
        assert waits == [soonest] * COUNT
