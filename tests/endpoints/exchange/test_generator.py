"""The generator of one node: what it sends and when, and each kind of packet that it calls wrong."""

import random

import pytest

from hdnhw.endpoints.exchange.generator import COUNT_CYCLES, ExchangeGenerator
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.machine.machine import make_machine
from hdnhw.traffic.exchange import exchange_order
from tests.specs import fabric_spec

SIZES = {
    "one flit": ("torus(3, 5)", 11, 1, 7),
    "two flits": ("hdn(torus(3, 4), [[0]])", 14, 2, 50),
    "five flits": ("rdn(cube(2), 1)", 32, 5, 22),
    "eight flits": ("dualcube(3)", 16, 8, 21),
    "two nodes": ("complete(2)", 2, 4, 1),
}


class Rig:
    """A generator, and its packets in plain Python."""

    def __init__(self, name, *, at_once):
        text, self.width, self.length, self.node = SIZES[name]
        sizes = {"packet_length": self.length, "flit_width": self.width}
        machine = make_machine(fabric_spec(text, endpoints=ExchangeSpec(at_once=at_once), **sizes))
        self.network, self.layout, self.dut = machine.network, machine.address, ExchangeGenerator(machine)
        self.address = self.layout.of_node(self.node)
        self.others = [node for node in range(self.network.num_nodes) if node != self.node]
        self.order = exchange_order(self.network)[self.node].tolist()

    def packet(self, src, dst):
        """Return the flits of a packet between two nodes."""
        flits = [self.layout.of_node(src) << self.layout.width | self.layout.of_node(dst)]
        bits = f"{flits[0]:0{self.width}b}"
        for _ in range(self.length - 1):
            bits = "".join("10"[int(bit)] for bit in bits[1:] + bits[0])
            flits.append(int(bits, 2))
        return flits

    def offsets(self):
        """Return the packed offsets in the order of their numbers, which is that of digits."""
        fields = self.layout.fields
        packed = range(1, 1 << self.layout.width)
        return [word for word in packed if all(word >> f.offset & (1 << f.width) - 1 < f.radix for f in fields)]

    async def pulse(self, ctx, signal):
        """Let a signal be high for a cycle."""
        ctx.set(signal, 1)
        await ctx.tick()
        ctx.set(signal, 0)

    async def counts(self, ctx):
        """Return what has been counted."""
        await ctx.tick().repeat(COUNT_CYCLES - 1)
        return ctx.get(self.dut.received), ctx.get(self.dut.wrong), ctx.get(self.dut.done)

    def eject(self, flits):
        """Return the transfers of a packet out of the fabric."""
        return [{"data": flit, "last": place == self.length - 1} for place, flit in enumerate(flits)]


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("stall", [0, 0.5])
def test_all_at_once_twice(simulate, receive, name, stall):
    rig, rng, got = Rig(name, at_once=True), random.Random(name), []

    async def bench(ctx):
        ctx.set(rig.dut.address, rig.address)
        for _ in range(2):
            await rig.pulse(ctx, rig.dut.clear)
            assert not ctx.get(rig.dut.inject.valid)
            await rig.pulse(ctx, rig.dut.start)
            got.append(await receive(ctx, rig.dut.inject, len(rig.order) * rig.length, lambda: rng.random() < stall))
            ctx.set(rig.dut.inject.ready, 1)
            for _ in range(3):
                assert not ctx.get(rig.dut.inject.valid)
                await ctx.tick()
        assert ctx.get(rig.dut.wrong) == 0

    simulate(rig.dut, bench, cycles=10000)
    assert got == 2 * [[flit for node in rig.order for flit in rig.packet(rig.node, node)]]


@pytest.mark.parametrize("name", SIZES)
def test_all_at_once_without_a_pause(simulate, name):
    rig = Rig(name, at_once=True)

    async def bench(ctx):
        ctx.set(rig.dut.inject.ready, 1)
        await rig.pulse(ctx, rig.dut.start)
        for _ in range(len(rig.order) * rig.length):
            assert ctx.get(rig.dut.inject.valid)
            await ctx.tick()
        assert not ctx.get(rig.dut.inject.valid)

    simulate(rig.dut, bench)


@pytest.mark.parametrize("name", SIZES)
def test_by_offsets_in_any_order(simulate, receive, name):
    rig, rng = Rig(name, at_once=False), random.Random(name)
    order = rng.sample(range(len(rig.order)), len(rig.order))
    offsets, got, accepted = rig.offsets(), [], []

    async def timetable(ctx):
        ctx.set(rig.dut.address, rig.address)
        for started, number in enumerate(order, start=1):
            ctx.set(rig.dut.offset, offsets[number])
            ctx.set(rig.dut.start, 1)
            await ctx.tick()
            ctx.set(rig.dut.start, 0)
            ctx.set(rig.dut.offset, rng.randrange(1 << rig.layout.width))
            for _ in range(rng.randrange(3)):
                await ctx.tick()
            while len(accepted) < started:
                await ctx.tick()

    async def sink(ctx):
        for _ in order:
            got.extend(await receive(ctx, rig.dut.inject, 1, lambda: rng.random() < 0.3))
            accepted.append(1)
            got.extend(await receive(ctx, rig.dut.inject, rig.length - 1, lambda: rng.random() < 0.3))
        assert ctx.get(rig.dut.wrong) == 0

    simulate(rig.dut, timetable, sink, cycles=10000)
    assert got == [flit for number in order for flit in rig.packet(rig.node, rig.order[number])]


def test_an_offset_without_room_is_counted(simulate, receive):
    rig = Rig("five flits", at_once=False)
    offsets, got = rig.offsets(), []

    async def bench(ctx):
        ctx.set(rig.dut.address, rig.address)
        for offset in offsets[:3]:
            ctx.set(rig.dut.offset, offset)
            await rig.pulse(ctx, rig.dut.start)
        got.extend(await receive(ctx, rig.dut.inject, rig.length))
        assert not ctx.get(rig.dut.inject.valid)
        assert ctx.get(rig.dut.wrong) == 2

    simulate(rig.dut, bench)
    assert got == rig.packet(rig.node, rig.order[0])


@pytest.mark.parametrize("name", SIZES)
def test_what_comes_is_counted(simulate, send, name):
    rig, rng = Rig(name, at_once=True), random.Random(name)

    async def bench(ctx):
        ctx.set(rig.dut.address, rig.address)
        for _ in range(2):
            await rig.pulse(ctx, rig.dut.clear)
            assert await rig.counts(ctx) == (0, 0, 0)
            for before, src in enumerate(rng.sample(rig.others, len(rig.others))):
                await send(ctx, rig.dut.eject, rig.eject(rig.packet(src, rig.node)), lambda: rng.random() < 0.3)
                assert before - ctx.get(rig.dut.received) in (0, 1)
                assert not ctx.get(rig.dut.done)
            assert await rig.counts(ctx) == (len(rig.others), 0, 1)

    simulate(rig.dut, bench, cycles=5000)


@pytest.mark.parametrize("name", SIZES)
def test_each_fault_is_seen(simulate, send, name):
    """A flipped bit anywhere but in the source, a packet for another node or from this one; good ones are between."""
    rig, rng = Rig(name, at_once=True), random.Random(name)
    src, width = rng.choice(rig.others), rig.layout.width
    good = rig.packet(src, rig.node)
    bits = [bit for bit in range(rig.width * rig.length) if rig.length > 1 or not width <= bit < 2 * width]
    faulty = [
        [flit ^ (bit // rig.width == place) << bit % rig.width for place, flit in enumerate(good)] for bit in bits
    ]
    faulty += [rig.packet(rig.node, rig.node), rig.packet(src, src)]

    async def bench(ctx):
        ctx.set(rig.dut.address, rig.address)
        for packet in faulty:
            await rig.pulse(ctx, rig.dut.clear)
            for flits in (good, packet, good):
                await send(ctx, rig.dut.eject, rig.eject(flits))
            assert (await rig.counts(ctx))[:2] == (3 % (1 << len(rig.dut.received)), 1)

    simulate(rig.dut, bench, cycles=20000)
