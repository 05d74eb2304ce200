"""The check of a frame, against CRC-32C as a catalog has it."""

import random
from functools import reduce
from operator import xor

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib.crc.catalog import CRC32_ISCSI

from hdnhw.rtl.bridge.crc import CHECK_WIDTH, START, added, check_words, last_state, stepped, straight, turned


@pytest.mark.parametrize("width", [8, 12, 16, 32, 36, 40, 64])
def test_the_check_is_that_of_the_catalog(simulate, width):
    """And behind it the state is always the same."""
    m, state, word = Module(), Signal(CHECK_WIDTH), Signal(width)
    following, check_of = Signal(CHECK_WIDTH), Signal(CHECK_WIDTH)
    m.d.comb += [
        following.eq(stepped(state, added(word), width)),
        check_of.eq(~reduce(xor, straight(state, width))),
    ]
    rng, catalogued = random.Random(width), CRC32_ISCSI(data_width=width)

    async def bench(ctx):
        async def after(words, value):
            for each in words:
                ctx.set(word, each)
                ctx.set(state, value)
                await ctx.delay(1e-7)
                value = ctx.get(following)
            return value

        for count in (1, 2, 5, 20):
            words = [rng.getrandbits(width) for _ in range(count)]
            value = await after(words, turned(START, width))
            ctx.set(state, value)
            await ctx.delay(1e-7)
            check = ctx.get(check_of)
            assert check == catalogued.compute(words)
            sent = [check >> place * width & ((1 << width) - 1) for place in range(check_words(width))]
            assert await after(sent, value) == turned(last_state(width), width)

    simulate(m, bench)
