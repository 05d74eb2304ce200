"""The memory in columns: every word comes back, a cycle after its address."""

import random

import pytest

from hdnhw.rtl.columns import ColumnMemory


@pytest.mark.parametrize("depth", [2, 16, 20, 64])
def test_words_come_back(simulate, depth):
    dut, rng = ColumnMemory(depth=depth, width=5), random.Random(depth)
    words = [rng.randrange(32) for _ in range(depth)]
    got = {}

    async def bench(ctx):
        ctx.set(dut.write, 1)
        for address in rng.sample(range(depth), depth):
            ctx.set(dut.write_address, address)
            ctx.set(dut.i, words[address])
            await ctx.tick()
        ctx.set(dut.write, 0)
        for address in rng.sample(range(depth), depth):
            ctx.set(dut.address, address)
            await ctx.tick()
            got[address] = ctx.get(dut.o)

    simulate(dut, bench)
    assert got == dict(enumerate(words))
