"""The ejection buffer: packets in order under stalls, and credits that come back when they are due."""

import random

import pytest

from hdnhw.rtl.ejection import EjectionBuffer

WIDTH = 8
SIZES = [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (3, 2), (5, 4), (8, 1), (8, 2)]


class Router:
    """What a router does at its ejection channel: it sends whole packets, each for one credit."""

    def __init__(self, ctx, channel, buffers):
        self.ctx, self.channel, self.credits, self.buffers = ctx, channel, buffers, buffers

    async def step(self):
        _, _, credit = await self.ctx.tick().sample(self.channel.credit)
        self.credits += credit
        assert self.credits <= self.buffers

    async def send(self, packet, pause):
        while not self.credits or pause():
            await self.step()
        self.credits -= 1
        self.ctx.set(self.channel.valid, 1)
        for flit in packet:
            self.ctx.set(self.channel.data, flit)
            await self.step()
        self.ctx.set(self.channel.valid, 0)


def make(length, buffers, count, rng):
    dut = EjectionBuffer(packet_length=length, flit_width=WIDTH, buffers=buffers)
    return dut, [[rng.randrange(1 << WIDTH) for _ in range(length)] for _ in range(count)]


def marked(packets):
    return [flit | (place == len(packet) - 1) << WIDTH for packet in packets for place, flit in enumerate(packet)]


@pytest.mark.parametrize(("length", "buffers"), SIZES)
@pytest.mark.parametrize(("gap", "stall"), [(0, 0), (0.5, 0.5), (0, 0.9), (0.7, 0.1)])
def test_order_under_stalls(simulate, receive, length, buffers, gap, stall):
    rng = random.Random(f"{length} {buffers} {gap} {stall}")
    dut, packets = make(length, buffers, 24, rng)
    got, credits = [], []

    async def router(ctx):
        channel = Router(ctx, dut.channel, buffers)
        for packet in packets:
            await channel.send(packet, lambda: rng.random() < gap)

    async def terminal(ctx):
        got.extend(await receive(ctx, dut.eject, length * len(packets), lambda: rng.random() < stall))

    async def monitor(ctx):
        while len(credits) < len(packets):
            _, _, valid, ready, last, credit = await ctx.tick().sample(
                dut.eject.valid, dut.eject.ready, dut.eject.payload.last, dut.channel.credit
            )
            assert credit == (valid & ready & last)
            credits.extend([1] * credit)

    simulate(dut, router, terminal, monitor, cycles=5000)
    assert got == marked(packets)


@pytest.mark.parametrize(("length", "buffers"), SIZES)
def test_a_terminal_that_is_never_ready_stops_and_loses_nothing(simulate, receive, length, buffers):
    dut, packets = make(length, buffers, buffers + 2, random.Random(length))
    sent, got = [], []

    async def router(ctx):
        channel = Router(ctx, dut.channel, buffers)
        for packet in packets:
            await channel.send(packet, lambda: False)
            sent.append(packet)

    async def terminal(ctx):
        for cycle in range(4 * length * (buffers + 2)):
            await ctx.tick()
            assert ctx.get(dut.eject.valid) or cycle < 1
        assert sent == packets[:buffers]
        got.extend(await receive(ctx, dut.eject, length * len(packets)))

    simulate(dut, router, terminal)
    assert got == marked(packets)


@pytest.mark.parametrize(("length", "buffers"), SIZES)
def test_a_flit_can_be_taken_one_cycle_after_it_was_on_the_channel(simulate, length, buffers):
    dut, (packet,) = make(length, buffers, 1, random.Random(length))

    async def bench(ctx):
        ctx.set(dut.eject.ready, 1)
        for cycle in range(length + 2):
            ctx.set(dut.channel.valid, cycle < length)
            ctx.set(dut.channel.data, packet[min(cycle, length - 1)])
            assert ctx.get(dut.eject.valid) == (1 <= cycle <= length)
            if ctx.get(dut.eject.valid):
                assert ctx.get(dut.eject.payload.data) == packet[cycle - 1]
            await ctx.tick()

    simulate(dut, bench)
