"""The table: every word comes back, two cycles after its address, and stays until another one is read."""

import random

import pytest

from hdnhw.rtl.table import MOST_DISTRIBUTED, Table


@pytest.mark.parametrize(
    ("depth", "distributed"), [(2, False), (20, False), (MOST_DISTRIBUTED, False), (64, False), (64, True)]
)
def test_words_come_back_and_stay(simulate, depth, distributed):
    dut, rng = Table(depth=depth, width=5, distributed=distributed), random.Random(depth)
    words = [rng.randrange(32) for _ in range(depth)]

    async def write(ctx, address, word):
        ctx.set(dut.write, 1)
        ctx.set(dut.write_address, address)
        ctx.set(dut.i, word)
        await ctx.tick()
        ctx.set(dut.write, 0)

    async def bench(ctx):
        for address in rng.sample(range(depth), depth):
            await write(ctx, address, words[address])
        for address in rng.sample(range(depth), depth):
            ctx.set(dut.read, 1)
            ctx.set(dut.address, address)
            await ctx.tick()
            ctx.set(dut.read, 0)
            ctx.set(dut.address, rng.randrange(depth))
            await ctx.tick()
            assert ctx.get(dut.o) == words[address]
            words[address] ^= 31
            await write(ctx, address, words[address])  # what has been read stays
            assert ctx.get(dut.o) == words[address] ^ 31

    simulate(dut, bench)


@pytest.mark.parametrize("depth", [16, 64])
def test_a_word_a_cycle(simulate, depth):
    dut, rng = Table(depth=depth, width=6), random.Random(depth)
    words, addresses, got = [rng.randrange(64) for _ in range(depth)], rng.sample(range(depth), depth), []

    async def bench(ctx):
        ctx.set(dut.write, 1)
        for address, word in enumerate(words):
            ctx.set(dut.write_address, address)
            ctx.set(dut.i, word)
            await ctx.tick()
        ctx.set(dut.write, 0)
        ctx.set(dut.read, 1)
        for address in [*addresses, 0, 0]:
            got.append(ctx.get(dut.o))
            ctx.set(dut.address, address)
            await ctx.tick()

    simulate(dut, bench)
    assert got[2:] == [words[address] for address in addresses]
