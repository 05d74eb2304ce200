"""A skid buffer is a queue of two that moves a transfer a cycle."""

import random

import pytest

from hdnhw.endpoints.axi4.skid import SkidBuffer


@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("pause", [0.0, 0.5])
def test_all_comes_in_order(simulate, send, receive, pause, stall):
    dut, rng, got, cycles = SkidBuffer(16), random.Random(1), [], []

    async def source(ctx):
        await send(ctx, dut.i, range(200), lambda: rng.random() < pause)

    async def sink(ctx):
        got.extend(await receive(ctx, dut.o, 200, lambda: rng.random() < stall))

    async def count(ctx):
        while len(got) < 200:
            await ctx.tick()
            cycles.append(len(got))

    simulate(dut, source, sink, count)
    assert got == list(range(200))
    if pause == stall == 0:
        assert len(cycles) < 205


def test_ready_does_not_look_at_ready(simulate):
    """The way back is cut by a register."""
    dut = SkidBuffer(4)

    async def bench(ctx):
        ctx.set(dut.i.valid, 1)
        for _ in range(5):
            before = ctx.get(dut.i.ready)
            ctx.set(dut.o.ready, 1)
            assert ctx.get(dut.i.ready) == before
            ctx.set(dut.o.ready, 0)
            await ctx.tick()
        assert ctx.get(dut.i.ready) == 0

    simulate(dut, bench)
