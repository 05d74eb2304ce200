# amaranth: UnusedElaboratable=no
"""The serial line, bit by bit."""

import pytest

from hdnhw.boards.uart import UartTransmitter


@pytest.mark.parametrize("divisor", [2, 3, 8, 217])
def test_every_bit_lasts_the_divisor_and_bytes_follow_one_another(simulate, send, divisor):
    data, dut, line = [0x55, 0x00, 0xFF, 0xA6], UartTransmitter(divisor=divisor), []

    async def feed(ctx):
        await send(ctx, dut.i, data)

    async def watch(ctx):
        for _ in range(10 * divisor * len(data) + 3 * divisor):
            line.append(ctx.get(dut.o))
            await ctx.tick()

    simulate(dut, feed, watch, cycles=20_000)
    start = line.index(0)
    bits = [bit for byte in data for bit in [0, *(byte >> i & 1 for i in range(8)), 1]]
    wanted = [bit for bit in bits for _ in range(divisor)]
    assert line[start : start + len(wanted)] == wanted
    assert set(line[:start]) | set(line[start + len(wanted) :]) == {1}


@pytest.mark.parametrize("divisor", [-1, 0, 1])
def test_divisor_must_be_at_least_two(divisor):
    with pytest.raises(ValueError, match=f"divisor must be at least 2 cycles per bit, not {divisor}"):
        UartTransmitter(divisor=divisor)
