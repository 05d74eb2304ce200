"""Packets of two engines in one stream, and back: whole, in order, and with the bit that says whose they are."""

import random
from itertools import pairwise

import pytest

from hdnhw.endpoints.collective.format import JointFormat, RegisterFormat
from hdnhw.endpoints.collective.sharing import PacketMerger, PacketSplitter
from hdnhw.machine.flit import FlitFormat

PACKETS = 40


def joint(length):
    """Return a format whose bit for the kind has other bits of the head flit on both sides."""
    flits, numbers = FlitFormat(8, 3, length), {"operators": ("sum",), "numbers": "int8", "has_kind": True}
    return JointFormat(flits, ("sum",), "int8", parts=(RegisterFormat(flits, packets=2, **numbers),) * 2)


def packets_of(rng, length, kind=None):
    """Return random packets; `kind` in the head flit of all of them."""
    packets = [[rng.getrandbits(8) for _ in range(length)] for _ in range(PACKETS)]
    return [[head & ~8 | (head >> 3 & 1 if kind is None else kind) << 3, *rest] for head, *rest in packets]


@pytest.mark.parametrize("length", [2, 3, 8])
def test_each_packet_is_sent_whole(simulate, send, receive, length):
    dut, rng = PacketMerger(joint(length)), random.Random(length)
    given = [packets_of(rng, length) for _ in range(2)]  # the bit of the kind is anything
    taken = []

    def source(number):
        async def bench(ctx):
            flits = [flit for packet in given[number] for flit in packet]
            await send(ctx, dut.i[number], flits, lambda: rng.random() < 0.6)

        return bench

    async def sink(ctx):
        taken.extend(await receive(ctx, dut.o, 2 * PACKETS * length, lambda: rng.random() < 0.3))

    simulate(dut, source(0), source(1), sink, cycles=6000)
    sent = [taken[place : place + length] for place in range(0, len(taken), length)]
    kinds = [packet[0] >> 3 & 1 for packet in sent]
    assert sum(one != other for one, other in pairwise(kinds)) > PACKETS // 4
    for number, packets in enumerate(given):
        due = [[head & ~8 | number << 3, *rest] for head, *rest in packets]
        assert [packet for packet, kind in zip(sent, kinds, strict=True) if kind == number] == due


@pytest.mark.parametrize("length", [2, 5])
def test_each_engine_gets_its_packets(simulate, send, receive, length):
    dut, rng = PacketSplitter(joint(length)), random.Random(length)
    given, taken = packets_of(rng, length), [[], []]
    due = [[packet for packet in given if packet[0] >> 3 & 1 == kind] for kind in range(2)]
    assert min(map(len, due)) > PACKETS // 4

    async def source(ctx):
        items = [{"data": flit, "last": place == length - 1} for packet in given for place, flit in enumerate(packet)]
        await send(ctx, dut.i, items, lambda: rng.random() < 0.3)

    def sink(kind):
        async def bench(ctx):
            items = await receive(ctx, dut.o[kind], len(due[kind]) * length, lambda: rng.random() < 0.4)
            taken[kind] += [item & 255 for item in items]
            assert [item >> 8 for item in items] == [*[0] * (length - 1), 1] * len(due[kind])

        return bench

    simulate(dut, source, sink(0), sink(1), cycles=6000)
    assert taken == [[flit for packet in packets for flit in packet] for packets in due]
