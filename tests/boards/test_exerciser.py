"""The counts of a test."""

import random

import pytest

from hdnhw.boards.exerciser import Tally


@pytest.mark.parametrize("inputs", [1, 2, 6, 7, 32, 40])
def test_tally_counts_every_one(simulate, inputs):
    rng = random.Random(inputs)
    dut = Tally(inputs=inputs, width=12)
    values = [0, (1 << inputs) - 1, *(rng.randrange(1 << inputs) for _ in range(20))]

    async def bench(ctx):
        for value in values:
            ctx.set(dut.i, value)
            await ctx.tick()
        ctx.set(dut.i, 0)
        await ctx.tick().repeat(dut.latency - 1)
        assert ctx.get(dut.count) == sum(value.bit_count() for value in values)
        ctx.set(dut.clear, 1)
        await ctx.tick()
        assert ctx.get(dut.count) == 0

    simulate(dut, bench)
