"""The sending half of an endpoint: frames as packets, requests before long ones, and what is refused."""

import random

import pytest

import hdnhw.rtl.axi.endpoint
from hdnhw.flit import PacketKind
from hdnhw.rtl.axi.endpoint import NodeWord


def lengths(rig):
    """Return the numbers of transfers at which something changes."""
    step, most = rig.format.payload_flits, rig.format.max_transfers
    return sorted({n for n in (1, 2, step - 1, step, step + 1, 2 * step, most - 1, most) if 1 <= n <= most})


class Peer:
    """The rest of the network: takes packets, and grants what is requested."""

    def __init__(self, rig, send, receive, rng, pause):
        self.rig, self.send, self.receive, self.rng, self.pause, self.packets = rig, send, receive, rng, pause, []

    async def take(self, ctx, count):
        """Take so many packets."""
        rig = self.rig
        for _ in range(count):
            self.packets.append(rig.packet(await self.receive(ctx, rig.dut.inject, rig.length, self.pause)))
            if self.packets[-1].kind == PacketKind.REQUEST:
                assert self.packets[-1].src == rig.address
                for _ in range(self.rng.randrange(30)):
                    await ctx.tick()
                    assert not ctx.get(rig.dut.inject.valid), "only what is granted is sent"
                await self.grant(ctx, self.packets[-1].dst)

    async def grant(self, ctx, src):
        """Send a grant to the endpoint."""
        packet = type(self.packets[-1])(PacketKind.GRANT, self.rig.address, src)
        await self.send(ctx, self.rig.dut.eject, self.rig.flits(packet, self.rng))


def expected_packets(rig, frames, packet_type):
    packets = []
    for frame in frames:
        parts = rig.packets(frame)
        if len(parts) > 1:
            packets.append(packet_type(PacketKind.REQUEST, frame.dst, frame.src))
        packets += parts
    return packets


@pytest.mark.parametrize(("gap", "stall"), [(0, 0), (0.5, 0), (0, 0.6), (0.3, 0.3)])
@pytest.mark.light("one header flit-0.3-0.3", "three header flits", "frames of one packet")
def test_frames_become_packets(simulate, send, receive, rig, packet_type, gap, stall):
    rng = random.Random(f"{gap} {stall}")
    frames = [rig.frame(rng, dst=rng.choice(rig.others), transfers=n) for n in 2 * lengths(rig)]
    frames += [rig.frame(rng, dst=rig.address, transfers=rng.choice(lengths(rig))) for _ in range(4)]
    rng.shuffle(frames)
    peer = Peer(rig, send, receive, rng, lambda: rng.random() < stall)
    expected = expected_packets(rig, frames, packet_type)

    async def source(ctx):
        ctx.set(rig.dut.address, rig.address)
        for frame in frames:
            await send(ctx, rig.dut.s_axis, rig.transfers(frame), lambda: rng.random() < gap)

    async def network(ctx):
        await peer.take(ctx, len(expected))
        for _ in range(3 * rig.length):
            await ctx.tick()
            assert not ctx.get(rig.dut.inject.valid)
        assert await rig.read(ctx, NodeWord.FRAMES_SENT) == len(frames)
        assert await rig.read(ctx, NodeWord.ADDRESS) == rig.address

    simulate(rig.dut, source, network, cycles=20000)
    assert peer.packets == expected


def test_a_frame_to_no_node_is_swallowed(simulate, send, receive, make_rig):
    rig, rng = make_rig("three bytes a flit"), random.Random(1)
    most = rig.format.max_transfers
    assert rig.impossible
    frames = []
    for transfers in (1, 2, rig.format.payload_flits + 1, most, most + 5):
        dst = rng.choice(rig.impossible)
        frames += [rig.frame(rng, dst=dst, transfers=transfers), rig.frame(rng, dst=rig.others[0], transfers=1)]
    peer = Peer(rig, send, receive, rng, lambda: False)

    async def source(ctx):
        for frame in frames:
            await send(ctx, rig.dut.s_axis, rig.transfers(frame))

    async def network(ctx):
        await peer.take(ctx, 5)
        assert await rig.read(ctx, NodeWord.FRAMES_IMPOSSIBLE) == 5
        assert await rig.read(ctx, NodeWord.FRAMES_SENT) == 5
        assert await rig.read(ctx, NodeWord.FRAMES_OVERLONG) == 0

    simulate(rig.dut, source, network)
    assert [packet.data for packet in peer.packets] == [frame.data for frame in frames[1::2]]


def test_a_frame_that_is_too_long_is_cut(simulate, send, receive, rig):
    rng, most = random.Random(1), rig.format.max_transfers
    frames = [rig.frame(rng, dst=rig.others[0], transfers=n) for n in (most + 1, 1, most, 3 * most, most)]
    parts = [-(-min(most, len(frame.data)) // rig.format.payload_flits) for frame in frames]
    peer = Peer(rig, send, receive, rng, lambda: False)

    async def source(ctx):
        ctx.set(rig.dut.address, rig.address)
        for frame in frames:
            await send(ctx, rig.dut.s_axis, rig.transfers(frame))

    async def network(ctx):
        await peer.take(ctx, sum(n + (n > 1) for n in parts))
        assert await rig.read(ctx, NodeWord.FRAMES_OVERLONG) == 2
        assert await rig.read(ctx, NodeWord.FRAMES_SENT) == 5

    simulate(rig.dut, source, network, cycles=8000)
    came, data = [], ()
    for packet in peer.packets:
        data += packet.data
        if packet.last:
            came.append(data)
            data = ()
    assert came == [frame.data[:most] for frame in frames]


def test_packets_leave_without_a_gap_and_at_once(simulate, send, rig):
    """A source that never pauses fills the channel; the head flit comes seven cycles behind the last transfer."""
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
    assert start == taken[step - 1] + 7
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
        for _ in range(6):
            assert not ctx.get(rig.dut.inject.valid)
            await ctx.tick()
        assert ctx.get(rig.dut.inject.valid)

    simulate(rig.dut, bench)


def test_counts_of_faults_stay_at_their_maximum(simulate, send, make_rig, monkeypatch):
    monkeypatch.setattr(hdnhw.rtl.axi.endpoint, "EVENT_WIDTH", 2)
    rig, rng, seen = make_rig("one header flit"), random.Random(1), []

    async def bench(ctx):
        for _ in range(5):
            frame = rig.frame(rng, dst=rig.impossible[0], transfers=1)
            await send(ctx, rig.dut.s_axis, rig.transfers(frame))
            await ctx.tick().repeat(3)
            seen.append(await rig.read(ctx, NodeWord.FRAMES_IMPOSSIBLE))

    simulate(rig.dut, bench)
    assert seen == [1, 2, 3, 3, 3]
