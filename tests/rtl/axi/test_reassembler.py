"""The receiving half of an endpoint: frames whole and in order, one grant at a time, and what never waits."""

import random
from collections import Counter

import pytest

from hdnhw.flit import PacketKind
from hdnhw.rtl.axi.endpoint import NodeWord
from hdnhw.rtl.axi.reassembler import COMPLETE


class Sources:
    """The other endpoints of the network: each sends its frames in order, and long ones when they are granted."""

    def __init__(self, rig, packet_type, rng, frames):
        self.rig, self.packet_type, self.rng = rig, packet_type, rng
        self.waiting = {src: [f for f in frames if f.src == src] for src in {f.src for f in frames}}
        self.ready = {src: [] for src in self.waiting}  # packets that may be sent
        self.requested, self.granted = set(), []
        self.advance()

    def advance(self):
        """Make packets of the next frame of every source that has none."""
        for src, packets in self.ready.items():
            if packets or src in self.requested or not self.waiting[src]:
                continue
            parts = self.rig.packets(self.waiting[src][0])
            if len(parts) == 1:
                packets += parts
                self.waiting[src].pop(0)
            else:
                packets.append(self.packet_type(PacketKind.REQUEST, self.rig.address, src))
                self.requested.add(src)

    def grant(self, src):
        """Take a grant."""
        assert src in self.requested
        assert not any(p.kind == PacketKind.BODY for packets in self.ready.values() for p in packets), "one at a time"
        self.requested.remove(src)
        self.granted.append(src)
        self.ready[src] += self.rig.packets(self.waiting[src].pop(0))

    def take(self):
        """Return the next packet of a random source, None if all wait."""
        able = sorted(src for src, packets in self.ready.items() if packets)
        if not able:
            return None
        packet = self.ready[self.rng.choice(able)].pop(0)
        self.advance()
        return packet

    def done(self):
        return not any(self.waiting.values()) and not any(self.ready.values())


def benches(rig, sources, send, receive, frames, *, gap, stall, got):
    """Return the benches: the network that ejects packets, the one that takes grants, and the user."""

    async def network(ctx):
        ctx.set(rig.dut.address, rig.address)
        while not sources.done():
            packet = sources.take()
            if packet is None:
                await ctx.tick()
                continue
            flits = rig.flits(packet, sources.rng)
            await send(ctx, rig.dut.eject, flits, lambda: sources.rng.random() < gap)

    async def grants(ctx):
        for _ in range(sum(len(rig.packets(frame)) > 1 for frame in frames)):
            packet = rig.packet(await receive(ctx, rig.dut.inject, rig.length, lambda: sources.rng.random() < stall))
            assert (packet.kind, packet.src) == (PacketKind.GRANT, rig.address)
            sources.grant(packet.dst)

    async def user(ctx):
        count = sum(len(frame.data) for frame in frames)
        got.extend(await receive(ctx, rig.dut.m_axis, count, lambda: sources.rng.random() < stall))
        assert await rig.read(ctx, NodeWord.FRAMES_RECEIVED) == len(frames)
        for _ in range(2 * rig.length):
            await ctx.tick()
            assert not ctx.get(rig.dut.m_axis.valid)

    return network, grants, user


@pytest.mark.parametrize(("gap", "stall"), [(0, 0), (0.3, 0), (0, 0.7), (0.2, 0.2)])
@pytest.mark.light("one header flit-0.2-0.2", "three bytes a flit", "frames of one packet")
def test_frames_of_many_sources_come_out_whole(simulate, send, receive, rig, packet_type, gap, stall):
    rng, most, step = random.Random(f"{gap} {stall}"), rig.format.max_transfers, rig.format.payload_flits
    sizes = sorted({n for n in (1, step - 1, step, step + 1, 2 * step, most - 1, most) if 1 <= n <= most})
    frames = [
        rig.frame(rng, src=src, transfers=rng.choice(sizes)) for src in [*rig.others[:4], rig.address] for _ in range(6)
    ]
    sources, got = Sources(rig, packet_type, rng, frames), []
    simulate(rig.dut, *benches(rig, sources, send, receive, frames, gap=gap, stall=stall, got=got), cycles=20000)
    came = rig.received(got)
    assert Counter(came) == Counter(frames)
    for src in {frame.src for frame in frames}:
        assert [f for f in came if f.src == src] == [f for f in frames if f.src == src]


def test_requests_and_grants_never_wait_for_the_user(simulate, send, receive, make_rig, packet_type):
    """The user takes nothing: frames pile up, but all requests are taken, and a grant gets through."""
    rig, rng = make_rig("three header flits"), random.Random(1)
    most = rig.format.max_transfers
    first = rig.frame(rng, src=rig.others[0], transfers=most)
    own = rig.frame(rng, dst=rig.others[1], transfers=rig.format.payload_flits + 1)
    sent = []

    async def network(ctx):
        async def eject(packet):
            await send(ctx, rig.dut.eject, rig.flits(packet, rng))

        async def inject():
            sent.append(rig.packet(await receive(ctx, rig.dut.inject, rig.length)))

        ctx.set(rig.dut.address, rig.address)
        for src in rig.others:
            await eject(packet_type(PacketKind.REQUEST, rig.address, src))
        await inject()
        for packet in rig.packets(first):
            await eject(packet)
        await inject()  # the frame is complete, not taken: the next is granted all the same
        await send(ctx, rig.dut.s_axis, rig.transfers(own))
        await inject()
        await eject(packet_type(PacketKind.GRANT, rig.address, rig.others[1]))
        for _ in range(2):
            await inject()

    simulate(rig.dut, network, cycles=4000)
    assert [(packet.kind, packet.dst) for packet in sent[:3]] == [
        (PacketKind.GRANT, rig.others[0]),
        (PacketKind.GRANT, rig.others[1]),
        (PacketKind.REQUEST, rig.others[1]),
    ]
    assert sent[3:] == rig.packets(own)


def test_a_long_frame_comes_in_while_one_goes_out(simulate, send, receive, make_rig, packet_type):
    """Two frames as long as the memory, from two sources: the second fills the places that the first has left."""
    rig, rng = make_rig("one header flit"), random.Random(1)
    frames = [rig.frame(rng, src=src, transfers=rig.format.max_transfers) for src in rig.others[:2]]
    sources, got, cycles = Sources(rig, packet_type, rng, frames), [], []

    async def clock(ctx):
        while len(got) < 2 * rig.format.max_transfers:
            cycles.append(ctx.get(rig.dut.m_axis.valid))
            await ctx.tick()

    simulate(rig.dut, *benches(rig, sources, send, receive, frames, gap=0, stall=0, got=got), clock)
    assert Counter(rig.received(got)) == Counter(frames)
    flits = sum(len(rig.packets(frame)) * rig.length for frame in frames)
    assert len(cycles) < flits + 10 * rig.length


def test_a_complete_frame_goes_out_at_full_rate(simulate, send, make_rig):
    """From five cycles after its tail was taken on, a transfer a cycle, and no gap to the next frame."""
    rig, rng = make_rig("one header flit"), random.Random(1)
    frames = [rig.frame(rng, src=rig.others[0], transfers=rig.format.payload_flits) for _ in range(COMPLETE)]
    valid, tails = [], []

    async def network(ctx):
        for frame in frames:
            for packet in rig.packets(frame):
                await send(ctx, rig.dut.eject, rig.flits(packet, rng))

    async def user(ctx):
        ctx.set(rig.dut.m_axis.ready, 0)
        for cycle in range(COMPLETE * rig.length * 2 + 20):
            ctx.set(rig.dut.m_axis.ready, cycle > COMPLETE * rig.length + 5)
            _, _, out, ready, i, last = await ctx.tick().sample(
                rig.dut.m_axis.valid,
                rig.dut.m_axis.ready,
                rig.dut.eject.valid & rig.dut.eject.ready,
                rig.dut.eject.payload.last,
            )
            valid.append((out, ready))
            tails.extend([cycle] * (i & last))

    simulate(rig.dut, network, user)
    assert [out for out, _ in valid].index(1) == tails[0] + 5
    taken = [out for out, ready in valid if ready]
    transfers = sum(len(frame.data) for frame in frames)
    assert taken == [1] * transfers + [0] * (len(taken) - transfers)


def test_no_more_than_what_fits_is_taken(simulate, send, receive, make_rig):
    """With a user that takes nothing, frames of one packet stop the stream, and none is lost."""
    rig, rng, sent, got = make_rig("one data flit"), random.Random(1), [], []
    frames = [rig.frame(rng, src=rig.others[0], transfers=1) for _ in range(COMPLETE + 4)]

    async def network(ctx):
        for frame in frames:
            for packet in rig.packets(frame):
                await send(ctx, rig.dut.eject, rig.flits(packet, rng))
            sent.append(frame)

    async def user(ctx):
        for _ in range(100):
            await ctx.tick()
        assert COMPLETE <= len(sent) < len(frames)
        got.extend(await receive(ctx, rig.dut.m_axis, len(frames)))

    simulate(rig.dut, network, user)
    assert rig.received(got) == frames
