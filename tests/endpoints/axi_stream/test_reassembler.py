"""The receiving half of an endpoint: frames whole and in order, one grant at a time, and what never waits."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from hdnhw.endpoints.axi_stream.endpoint import NodeWord
from hdnhw.endpoints.axi_stream.format import PacketKind
from hdnhw.endpoints.axi_stream.reassembler import COMPLETE


class Sources:
    """The other endpoints of the network: each sends its frames in order, and what needs a grant when that has come."""

    def __init__(self, rig, rng, frames):
        self.rig, self.rng = rig, rng
        self.waiting = {src: [rig.packets(f) for f in frames if f.src == src] for src in {f.src for f in frames}}
        self.ready = {src: [] for src in self.waiting}  # packets that may be sent
        self.held = {src: [] for src in self.waiting}  # packets that need a grant
        self.asked = {src: [] for src in self.waiting}  # what the frames need that have asked together
        self.covered = dict.fromkeys(self.waiting, 0)  # frames that have asked and not begun
        self.granted = dict.fromkeys(self.waiting, 0)  # frames that may go on
        self.out = {src: [] for src in self.waiting}  # what they were granted, until they are sent
        self.goes_on = dict.fromkeys(self.waiting, False)
        self.grants = 0
        self.advance()

    def advance(self):
        """Make packets of the next frame of every source that has none, and go on with those that are granted."""
        prompt = self.rig.pool.prompt
        for src, packets in self.ready.items():
            if self.held[src] and self.granted[src]:
                self.granted[src] -= 1
                packets += self.held[src]
                self.held[src], self.goes_on[src] = [], True
            if packets or self.held[src] or not self.waiting[src]:
                continue
            parts = self.waiting[src].pop(0)
            if len(parts) > prompt:
                if self.covered[src]:
                    self.covered[src] -= 1
                else:
                    place = self.rng.randrange(prompt - 1)
                    parts[place] = replace(parts[place], asks=self.ask(src, parts))
                parts, self.held[src] = parts[: prompt - 1], parts[prompt - 1 :]
            packets += parts

    def ask(self, src, parts):
        """Return what a frame asks for: as much as the longest one, or what it needs, with those behind it."""
        pool = self.rig.pool
        if self.rng.random() < 0.3:
            self.asked[src] = [pool.longest_need]
            return (1 << pool.request_width) - 1
        needs = [len(parts) - pool.prompt + 1]
        for packets in self.waiting[src]:
            need = len(packets) - pool.prompt + 1
            if need > 1 and sum(needs) + need > pool.most_asked:
                break
            needs += [need] * (need > 1)
        self.asked[src], self.covered[src] = needs, len(needs) - 1
        return sum(needs)

    def grant(self, src):
        """Take a grant; no more is granted than the reserve."""
        assert self.asked[src]
        self.grants += 1
        self.granted[src] += len(self.asked[src])
        self.out[src] += self.asked[src]
        self.asked[src] = []
        assert sum(map(sum, self.out.values())) <= self.rig.pool.reserve
        self.advance()

    def take(self):
        """Return the next packet of a random source, None if all wait."""
        able = sorted(src for src, packets in self.ready.items() if packets)
        if not able:
            return None
        src = self.rng.choice(able)
        packet = self.ready[src].pop(0)
        if packet.last and self.goes_on[src]:
            self.goes_on[src] = False
            self.out[src].pop(0)
        self.advance()
        return packet

    def done(self):
        return not any(any(left.values()) for left in (self.waiting, self.ready, self.held))


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
        while not sources.done():
            if not any(sources.asked.values()):
                await ctx.tick()
                continue
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
def test_frames_of_many_sources_come_out_whole(simulate, send, receive, rig, gap, stall):
    rng, most, step = random.Random(f"{gap} {stall}"), rig.format.max_transfers, rig.format.payload_flits
    sizes = sorted({n for n in (1, step - 1, step, step + 1, 2 * step, most - 1, most) if 1 <= n <= most})
    frames = [
        rig.frame(rng, src=src, transfers=rng.choice(sizes)) for src in [*rig.others[:4], rig.address] for _ in range(6)
    ]
    sources, got = Sources(rig, rng, frames), []
    simulate(rig.dut, *benches(rig, sources, send, receive, frames, gap=gap, stall=stall, got=got), cycles=20000)
    assert (sources.grants > 0) == rig.pool.grants
    came = rig.received(got)
    assert Counter(came) == Counter(frames)
    for src in {frame.src for frame in frames}:
        assert [f for f in came if f.src == src] == [f for f in frames if f.src == src]


def test_requests_and_grants_never_wait_for_the_user(simulate, send, receive, make_rig, packet_type):
    """The user takes nothing: what frames ask for is granted up to the reserve, then as they are complete."""
    rig, rng, sent = make_rig("three header flits"), random.Random(1), []
    pool = rig.pool
    frames = [rig.frame(rng, src=src, transfers=rig.format.max_transfers) for src in rig.others]
    at_once = pool.reserve // pool.longest_need
    own = rig.frame(rng, dst=rig.others[1], transfers=rig.format.payload_flits * pool.prompt + 1)

    async def network(ctx):
        async def eject(packet):
            await send(ctx, rig.dut.eject, rig.flits(packet, rng))

        async def inject():
            sent.append(rig.packet(await receive(ctx, rig.dut.inject, rig.length)))

        ctx.set(rig.dut.address, rig.address)
        for frame in frames:
            first, *others = rig.packets(frame)[: pool.prompt - 1]
            await eject(replace(first, asks=pool.longest_need))
            for packet in others:
                await eject(packet)
        for _ in range(at_once):
            await inject()
        for packet in rig.packets(frames[0])[pool.prompt - 1 :]:
            await eject(packet)
        await inject()  # the frame is complete, not taken: the next is granted all the same
        await send(ctx, rig.dut.s_axis, rig.transfers(own))
        for _ in range(pool.prompt - 1):
            await inject()
        await eject(packet_type(PacketKind.GRANT, rig.address, rig.others[1]))
        for _ in range(2):
            await inject()

    simulate(rig.dut, network, cycles=8000)
    granted, packets = sent[: at_once + 1], sent[at_once + 1 :]
    assert [(packet.kind, packet.dst) for packet in granted] == [
        (PacketKind.GRANT, frame.src) for frame in frames[: at_once + 1]
    ]
    assert [packet.asks for packet in packets if packet.asks] in ([2], [(1 << pool.request_width) - 1])
    assert [replace(packet, asks=0) for packet in packets] == rig.packets(own)


def test_a_long_frame_comes_in_while_one_goes_out(simulate, send, receive, make_rig):
    """Two frames as long as the memory, from two sources: the second fills the places that the first has left."""
    rig, rng = make_rig("one header flit"), random.Random(1)
    frames = [rig.frame(rng, src=src, transfers=rig.format.max_transfers) for src in rig.others[:2]]
    sources, got, cycles = Sources(rig, rng, frames), [], []

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
    frames = [rig.frame(rng, src=rig.others[0], transfers=1) for _ in range(COMPLETE + 8)]

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
