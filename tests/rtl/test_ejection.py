"""The ejection buffer: packets in order under stalls, and credits that come back when they are due."""

import itertools
import random

import pytest

import hdnhw.rtl.ejection
from hdnhw.machine.crc import check_of
from hdnhw.machine.machine import make_machine
from hdnhw.rtl.ejection import CheckedEjectionBuffer, EjectionBuffer
from hdnhw.spec import FabricSpec, cube

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


def machine_of(length, buffers, *, crc=False):
    sizes = {"packet_length": length, "flit_width": WIDTH, "buffers": buffers}
    return make_machine(FabricSpec(network=cube(2), crc=crc, **sizes))


def make(length, buffers, count, rng):
    """Return an ejection buffer, the packets that it has room for, and packets to send."""
    dut = EjectionBuffer(machine_of(length, buffers))
    return dut, dut.machine.ejection_buffers, [[rng.randrange(1 << WIDTH) for _ in range(length)] for _ in range(count)]


def marked(packets):
    return [flit | (place == len(packet) - 1) << WIDTH for packet in packets for place, flit in enumerate(packet)]


@pytest.mark.parametrize(("length", "buffers"), SIZES)
@pytest.mark.parametrize(("gap", "stall"), [(0, 0), (0.5, 0.5), (0, 0.9), (0.7, 0.1)])
def test_order_under_stalls(simulate, receive, length, buffers, gap, stall):
    rng = random.Random(f"{length} {buffers} {gap} {stall}")
    dut, buffers, packets = make(length, buffers, 24, rng)
    late, taken = dut.machine.timing.registers_credits, [0]
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
            taken.append(valid & ready & last)
            assert credit == taken[-1 - late]
            credits.extend([1] * credit)

    simulate(dut, router, terminal, monitor, cycles=5000)
    assert got == marked(packets)


@pytest.mark.parametrize(("length", "buffers"), SIZES)
def test_a_terminal_that_is_never_ready_stops_and_loses_nothing(simulate, receive, length, buffers):
    dut, buffers, packets = make(length, buffers, buffers + 2, random.Random(length))
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
    dut, _, (packet,) = make(length, buffers, 1, random.Random(length))

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


class CheckingRouter(Router):
    """A router whose packets have check bits, in some flits wrong ones."""

    async def send_wrong(self, packet, wrong):
        while not self.credits:
            await self.step()
        self.credits -= 1
        for place, flit in enumerate(packet):
            self.ctx.set(self.channel.valid, 1)
            self.ctx.set(self.channel.data, flit)
            self.ctx.set(self.channel.check, check_of(flit, WIDTH) ^ wrong.get(place, 0))
            await self.step()
        self.ctx.set(self.channel.valid, 0)


def spoil(length, rng):
    """Return the errors of a bad packet: in one flit or several, of few check bits or all."""
    return {rng.randrange(length): rng.randrange(1, 256) for _ in range(rng.choice([1, 1, 2]))}


@pytest.mark.parametrize(("length", "buffers"), [(1, 2), (1, 8), (2, 2), (3, 4), (8, 2)])
@pytest.mark.parametrize(("share", "gap", "stall"), [(0, 0, 0), (0.5, 0.3, 0.3), (0.5, 0, 0.8), (0.9, 0, 0), (1, 0, 0)])
def test_bad_packets_do_not_come_out_and_credits_do(simulate, receive, length, buffers, share, gap, stall):
    """Good ones come out whole and in order; every packet's credit returns, a packet's time apart at least."""
    rng = random.Random(f"{length} {buffers} {share} {gap}")
    dut = CheckedEjectionBuffer(machine_of(length, buffers // 2, crc=True))
    packets = [[rng.randrange(1 << WIDTH) for _ in range(length)] for _ in range(16)]
    errors = [spoil(length, rng) if rng.random() < share else {} for _ in packets]
    good = [packet for packet, wrong in zip(packets, errors, strict=True) if not wrong]
    got, credits = [], []

    async def router(ctx):
        channel = CheckingRouter(ctx, dut.channel, buffers)
        for packet, wrong in zip(packets, errors, strict=True):
            while rng.random() < gap:
                await channel.step()
            await channel.send_wrong(packet, wrong)
        while channel.credits < buffers:
            await channel.step()
        for _ in range(4):
            await channel.step()
        assert ctx.get(dut.bad) == len(packets) - len(good)

    async def terminal(ctx):
        got.extend(await receive(ctx, dut.eject, length * len(good), lambda: rng.random() < stall))

    async def monitor(ctx):
        cycle = 0
        while len(credits) < len(packets):
            _, _, credit = await ctx.tick().sample(dut.channel.credit)
            credits.extend([cycle] * credit)
            cycle += 1

    simulate(dut, router, terminal, monitor, cycles=8000)
    assert got == marked(good)
    assert all(later - sooner >= length for sooner, later in itertools.pairwise(credits))


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("held", range(5))
def test_bad_packets_behind_any_number_of_good_ones(simulate, receive, length, held):
    """A terminal that is not ready holds good packets; behind them bad ones fill the buffer, and leave when it is."""
    dut, buffers, rng = CheckedEjectionBuffer(machine_of(length, 2, crc=True)), 4, random.Random(held)
    packets = [[rng.randrange(1 << WIDTH) for _ in range(length)] for _ in range(10)]
    errors = [spoil(length, rng) if held <= number < held + 4 else {} for number in range(len(packets))]
    good = [packet for packet, wrong in zip(packets, errors, strict=True) if not wrong]
    got, sent = [], []

    async def router(ctx):
        channel = CheckingRouter(ctx, dut.channel, buffers)
        for packet, wrong in zip(packets, errors, strict=True):
            await channel.send_wrong(packet, wrong)
            sent.append(packet)

    async def terminal(ctx):
        for _ in range(30 * length):
            await ctx.tick()
        assert len(sent) == (buffers if held else held + 8)
        got.extend(await receive(ctx, dut.eject, length * len(good)))

    simulate(dut, router, terminal)
    assert got == marked(good)


@pytest.mark.parametrize(("length", "buffers"), [(1, 2), (2, 2), (5, 4), (8, 2)])
def test_a_checked_packet_can_be_taken_two_cycles_after_its_tail_was_on_the_channel(simulate, length, buffers):
    dut = CheckedEjectionBuffer(machine_of(length, buffers // 2, crc=True))
    packet = list(range(1, length + 1))

    async def bench(ctx):
        ctx.set(dut.eject.ready, 1)
        for cycle in range(2 * length + 4):
            flit = packet[min(cycle, length - 1)]
            ctx.set(dut.channel.valid, cycle < length)
            ctx.set(dut.channel.data, flit)
            ctx.set(dut.channel.check, check_of(flit, WIDTH))
            assert ctx.get(dut.eject.valid) == (length < cycle <= 2 * length)
            if ctx.get(dut.eject.valid):
                assert ctx.get(dut.eject.payload.data) == packet[cycle - length - 1]
            await ctx.tick()

    simulate(dut, bench)


def test_the_counter_of_bad_packets_stays_at_its_largest_value(simulate, monkeypatch):
    monkeypatch.setattr(hdnhw.rtl.ejection, "ERRORS_WIDTH", 2)
    dut = CheckedEjectionBuffer(machine_of(1, 1, crc=True))

    async def bench(ctx):
        channel = CheckingRouter(ctx, dut.channel, 2)
        for number in range(6):
            await channel.send_wrong([number], {0: 1})
            for _ in range(4):
                await channel.step()
            assert ctx.get(dut.bad) == min(number + 1, 3)

    simulate(dut, bench)
