"""Both halves of an endpoint at once: frames to itself through a loop, and reset in the middle of all."""

import random

import pytest
from amaranth.hdl import ClockDomain, Module, Signal
from amaranth.lib.fifo import SyncFIFO

from hdnhw.endpoints.axi_stream.endpoint import NodeWord


def looped(rig):
    """Return a module in which a queue leads from the endpoint's injection to its ejection."""
    m = Module()
    m.submodules.endpoint = dut = rig.dut
    m.submodules.queue = queue = SyncFIFO(width=rig.width, depth=3 * rig.length)
    position = Signal(range(rig.length))
    m.d.comb += [
        queue.w_data.eq(dut.inject.payload),
        queue.w_en.eq(dut.inject.valid),
        dut.inject.ready.eq(queue.w_rdy),
        dut.eject.payload.data.eq(queue.r_data),
        dut.eject.payload.last.eq(position == rig.length - 1),
        dut.eject.valid.eq(queue.r_rdy),
        queue.r_en.eq(dut.eject.ready),
    ]
    with m.If(dut.eject.valid & dut.eject.ready):
        m.d.sync += position.eq(position + 1)
        with m.If(dut.eject.payload.last):
            m.d.sync += position.eq(0)
    return m


@pytest.mark.parametrize("stall", [0, 0.4])
def test_a_node_sends_to_itself(simulate, send, receive, rig, stall):
    rng, got = random.Random(stall), []
    frames = [rig.frame(rng, dst=rig.address, transfers=rng.randint(1, rig.format.max_transfers)) for _ in range(12)]

    async def source(ctx):
        ctx.set(rig.dut.address, rig.address)
        for frame in frames:
            await send(ctx, rig.dut.s_axis, rig.transfers(frame), lambda: rng.random() < stall)

    async def user(ctx):
        count = sum(len(frame.data) for frame in frames)
        got.extend(await receive(ctx, rig.dut.m_axis, count, lambda: rng.random() < stall))
        assert [await rig.read(ctx, word) for word in (NodeWord.FRAMES_SENT, NodeWord.FRAMES_RECEIVED)] == [12, 12]

    simulate(looped(rig), source, user, cycles=8000)
    assert rig.received(got) == frames


def test_reset_leaves_nothing_behind(simulate, send, receive, rig):
    """Reset at many moments of a long frame: the frames after it are as if nothing had been before."""
    domain, rng = ClockDomain("sync"), random.Random(1)
    long = rig.frame(rng, dst=rig.address, transfers=rig.format.max_transfers)
    frames = [rig.frame(rng, dst=rig.address, transfers=n) for n in (1, rig.format.max_transfers)]
    got, moments = [], []

    async def source(ctx):
        ctx.set(rig.dut.address, rig.address)
        for cycles in range(1, 12 * rig.length, 3):
            beats, taken = list(rig.transfers(long)), 0
            for _ in range(cycles):
                ctx.set(rig.dut.s_axis.payload, beats[min(taken, len(beats) - 1)])
                ctx.set(rig.dut.s_axis.valid, taken < len(beats))
                _, _, ready = await ctx.tick().sample(rig.dut.s_axis.ready)
                taken += ready
            ctx.set(rig.dut.s_axis.valid, 0)
            ctx.set(domain.rst, 1)
            await ctx.tick()
            assert not ctx.get(rig.dut.s_axis.ready)
            ctx.set(domain.rst, 0)
            moments.append(cycles)
            for frame in frames:
                await send(ctx, rig.dut.s_axis, rig.transfers(frame))
            beats = await receive(ctx, rig.dut.m_axis, sum(len(frame.data) for frame in frames))
            got.append(rig.received(beats))

    simulate(looped(rig), source, domain=domain, cycles=40000)
    assert got == [frames] * len(moments)
