"""The sending half of an endpoint: frames as packets, requests before long ones, and what is refused."""

import random
from collections import Counter
from dataclasses import replace

import pytest

import hdnhw.endpoints.axi_stream.endpoint
from hdnhw.endpoints.axi_stream.endpoint import NodeWord
from hdnhw.endpoints.axi_stream.format import PacketKind


def lengths(rig):
    """Return the numbers of transfers at which something changes."""
    step, most = rig.format.payload_flits, rig.format.max_transfers
    return sorted({n for n in (1, 2, step - 1, step, step + 1, 2 * step, most - 1, most) if 1 <= n <= most})


class Peer:
    """The rest of the network: takes the packets of some frames, and grants what they ask for after a while."""

    def __init__(self, rig, packet_type, send, receive, rng, pause):
        self.rig, self.packet_type, self.send, self.receive = rig, packet_type, send, receive
        self.rng, self.pause = rng, pause
        self.due, self.granted, self.asks, self.done = None, Counter(), [], False

    async def take(self, ctx, frames):
        """Take the packets of frames; of one that needs a grant no more come than may before it is there."""
        prompt = self.rig.pool.prompt
        for frame in frames:
            parts = self.rig.packets(frame)
            need = len(parts) - prompt + 1
            for number, part in enumerate(parts, 1):
                packet = self.rig.packet(await self.receive(ctx, self.rig.dut.inject, self.rig.length, self.pause))
                assert replace(packet, asks=0) == part
                if number == prompt and need > 1:
                    self.granted[frame.dst] -= need
                    assert self.granted[frame.dst] >= 0, "only what is granted is sent"
                if packet.asks:
                    assert self.due is None, "one request at a time"
                    alone = packet.asks == (1 << self.rig.pool.request_width) - 1
                    assert alone or packet.asks <= self.rig.pool.most_asked
                    self.asks.append(packet.asks)
                    self.due = frame.dst, need if alone else packet.asks
        self.done = True

    async def grants(self, ctx):
        """Send grants to the endpoint."""
        while not self.done:
            await ctx.tick()
            if self.due is not None:
                await ctx.tick().repeat(self.rng.randrange(1, 60))
                dst, packets = self.due
                self.due, self.granted[dst] = None, self.granted[dst] + packets
                grant = self.packet_type(PacketKind.GRANT, self.rig.address, dst)
                await self.send(ctx, self.rig.dut.eject, self.rig.flits(grant, self.rng))


@pytest.mark.parametrize(("gap", "stall"), [(0, 0), (0.5, 0), (0, 0.6), (0.3, 0.3)])
def test_frames_become_packets(simulate, send, receive, rig, packet_type, gap, stall):
    rng = random.Random(f"{gap} {stall}")
    frames = [rig.frame(rng, dst=rng.choice(rig.others), transfers=n) for n in 2 * lengths(rig)]
    frames += [rig.frame(rng, dst=rig.address, transfers=rng.choice(lengths(rig))) for _ in range(4)]
    rng.shuffle(frames)
    peer = Peer(rig, packet_type, send, receive, rng, lambda: rng.random() < stall)

    async def source(ctx):
        ctx.set(rig.dut.address, rig.address)
        for frame in frames:
            await send(ctx, rig.dut.s_axis, rig.transfers(frame), lambda: rng.random() < gap)

    async def network(ctx):
        await peer.take(ctx, frames)
        for _ in range(3 * rig.length):
            await ctx.tick()
            assert not ctx.get(rig.dut.inject.valid)
        assert await rig.read(ctx, NodeWord.FRAMES_SENT) == len(frames)
        assert await rig.read(ctx, NodeWord.ADDRESS) == rig.address

    simulate(rig.dut, source, network, peer.grants, cycles=20000)
    assert bool(peer.asks) == rig.pool.grants


def test_a_frame_to_no_node_is_swallowed(simulate, send, receive, make_rig, packet_type):
    rig, rng = make_rig("three bytes per flit"), random.Random(1)
    most = rig.format.max_transfers
    assert rig.impossible
    frames = []
    for transfers in (1, 2, rig.format.payload_flits + 1, most, most + 5):
        dst = rng.choice(rig.impossible)
        frames += [rig.frame(rng, dst=dst, transfers=transfers), rig.frame(rng, dst=rig.others[0], transfers=1)]
    peer = Peer(rig, packet_type, send, receive, rng, lambda: False)

    async def source(ctx):
        ctx.set(rig.dut.address, rig.address)
        for frame in frames:
            await send(ctx, rig.dut.s_axis, rig.transfers(frame))

    async def network(ctx):
        await peer.take(ctx, frames[1::2])
        assert await rig.read(ctx, NodeWord.FRAMES_IMPOSSIBLE) == 5
        assert await rig.read(ctx, NodeWord.FRAMES_SENT) == 5
        assert await rig.read(ctx, NodeWord.FRAMES_OVERLONG) == 0

    simulate(rig.dut, source, network)


def test_a_frame_that_is_too_long_is_cut(simulate, send, receive, rig, packet_type):
    rng, most = random.Random(1), rig.format.max_transfers
    frames = [rig.frame(rng, dst=rig.others[0], transfers=n) for n in (most + 1, 1, most, 3 * most, most)]
    cut = []
    for frame in frames:
        ends = list(rig.transfers(frame))[:most][-1]
        user = ends["user"] if rig.format.endpoints.tuser == "last" else frame.user
        keep = frame.keep if ends["last"] else (1 << rig.width // 8) - 1
        cut.append(replace(frame, data=frame.data[:most], keep=keep, user=user))
    peer = Peer(rig, packet_type, send, receive, rng, lambda: False)

    async def source(ctx):
        ctx.set(rig.dut.address, rig.address)
        for frame in frames:
            await send(ctx, rig.dut.s_axis, rig.transfers(frame))

    async def network(ctx):
        await peer.take(ctx, cut)
        assert await rig.read(ctx, NodeWord.FRAMES_OVERLONG) == 2
        assert await rig.read(ctx, NodeWord.FRAMES_SENT) == 5

    simulate(rig.dut, source, network, peer.grants, cycles=8000)


def test_packets_leave_without_a_gap_and_at_once(simulate, send, rig):
    """A source that never pauses fills the channel; the head flit comes seven or eight cycles behind the transfer."""
    rng, step = random.Random(1), min(rig.format.payload_flits, rig.format.max_transfers)
    frames = [rig.frame(rng, dst=rig.others[0], transfers=step) for _ in range(6)]
    valid, taken = [], []

    async def source(ctx):
        for frame in frames:
            await send(ctx, rig.dut.s_axis, rig.transfers(frame))

    async def watch(ctx):
        ctx.set(rig.dut.inject.ready, 1)
        for cycle in range(8 * rig.length + 20):
            _, _, out, i, o = await ctx.tick().sample(rig.dut.inject.valid, rig.dut.s_axis.valid, rig.dut.s_axis.ready)
            valid.append(out)
            if i and o:
                taken.append(cycle)

    simulate(rig.dut, source, watch)
    start = valid.index(1)
    assert start == taken[step - 1] + 8 - (rig.length == 2)
    assert valid[start : start + 6 * rig.length] == [1] * 6 * rig.length
    assert sum(valid) == 6 * rig.length


def test_a_source_that_pauses_sends_nothing_yet(simulate, rig):
    """A packet is offered when its data is all there, so pauses of a source never hold up the fabric."""
    rng = random.Random(1)
    frame = rig.frame(rng, dst=rig.others[0], transfers=min(rig.format.payload_flits, rig.format.max_transfers))
    *most, last = rig.transfers(frame)

    async def bench(ctx):
        await ctx.tick()
        ctx.set(rig.dut.s_axis.valid, 1)
        for item in most:
            ctx.set(rig.dut.s_axis.payload, item)
            await ctx.tick()
        ctx.set(rig.dut.s_axis.valid, 0)
        for _ in range(50):
            await ctx.tick()
            assert not ctx.get(rig.dut.inject.valid)
        ctx.set(rig.dut.s_axis.payload, last)
        ctx.set(rig.dut.s_axis.valid, 1)
        await ctx.tick()
        ctx.set(rig.dut.s_axis.valid, 0)
        for _ in range(7 - (rig.length == 2)):
            assert not ctx.get(rig.dut.inject.valid)
            await ctx.tick()
        assert ctx.get(rig.dut.inject.valid)

    simulate(rig.dut, bench)


def test_counts_of_faults_stay_at_their_maximum(simulate, send, make_rig, monkeypatch):
    monkeypatch.setattr(hdnhw.endpoints.axi_stream.endpoint, "EVENT_WIDTH", 2)
    rig, rng, seen = make_rig("one header flit"), random.Random(1), []

    async def bench(ctx):
        for _ in range(5):
            frame = rig.frame(rng, dst=rig.impossible[0], transfers=1)
            await send(ctx, rig.dut.s_axis, rig.transfers(frame))
            await ctx.tick().repeat(3)
            seen.append(await rig.read(ctx, NodeWord.FRAMES_IMPOSSIBLE))

    simulate(rig.dut, bench)
    assert seen == [1, 2, 3, 3, 3]
