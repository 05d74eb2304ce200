"""Numbers as text."""

import random

import pytest

from hdnhw.boards.decimal import DecimalPrinter


@pytest.mark.parametrize("width", [1, 4, 16, 28])
def test_numbers_are_printed_without_leading_zeros(simulate, send, receive, width):
    rng = random.Random(width)
    top = (1 << width) - 1
    numbers = [0, 1, top, top - 1, top // 10, *(rng.randint(0, top) for _ in range(10))]
    text = "".join(map(str, numbers))
    dut = DecimalPrinter(width=width)

    async def feed(ctx):
        await send(ctx, dut.i, numbers)

    async def take(ctx):
        digits = await receive(ctx, dut.o, len(text), lambda: rng.random() < 0.3)
        assert bytes(digits).decode() == text

    simulate(dut, feed, take)
