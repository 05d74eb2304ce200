"""Generators and checkers against Python's own reading of the same packets."""

import random
from itertools import product

import pytest

from hdnhw.boards.exerciser import due_balance
from hdnhw.boards.pattern import HeadFormat
from hdnhw.boards.terminal import PacketChecker, PacketGenerator, Terminal, TrafficKind, check_packets
from hdnhw.machine.chips import lay_chips
from hdnhw.machine.flit import FlitFormat
from hdnhw.networks.build import build
from hdnhw.topology.address import AddressLayout

NETWORKS = ["dualcube(2)", "mesh(2, 3)", "torus(3, 5)", "hdn(torus(2, 3), [[1]])"]


def layout_of(text):
    return AddressLayout(build(text))


def mixed(flit, width):
    """Return the flit after `flit`: this file's own reading of it."""
    mask = (1 << width) - 1
    flit = (flit ^ flit << 3) & mask
    turn = 5 % width
    return ~(flit << turn | flit >> (width - turn)) & mask


def packet_of(flits, dst, src, number):
    """Return the flits of a packet."""
    width, address = flits.flit_width, flits.address_width
    bits = HeadFormat(flits).sequence_width
    sequence, word, position, copy = number & ((1 << bits) - 1), src << address | dst, 2 * address, 0
    while bits and position < width:
        word |= (sequence ^ (((1 << bits) - 1) if copy & 1 else 0)) << position
        position, copy = position + bits, copy + 1
    packet = [word & ((1 << width) - 1)]
    while len(packet) < flits.packet_length:
        packet.append(mixed(packet[-1], width))
    return packet


def generate(simulate, receive, dut, kind, count, pause=lambda: False):
    """Return the flits of `count` packets, and check that no more come."""
    flits = []

    async def bench(ctx):
        ctx.set(dut.kind, kind)
        ctx.set(dut.start, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        assert ctx.get(dut.busy)
        flits.extend(await receive(ctx, dut.inject, count, pause))
        ctx.set(dut.inject.ready, 1)
        for _ in range(3):
            await ctx.tick()
            assert not ctx.get(dut.inject.valid)
        assert not ctx.get(dut.busy)

    simulate(dut, bench, cycles=20_000)
    return flits


@pytest.mark.parametrize("text", NETWORKS)
@pytest.mark.parametrize("length", [1, 3])
def test_exchange_visits_every_other_node_in_the_same_relative_order(simulate, receive, text, length):
    layout = layout_of(text)
    nodes = layout.network.num_nodes
    flits, rng = FlitFormat(16, layout.width, length), random.Random(1)
    orders = []
    for node in range(nodes):
        dut = PacketGenerator(layout, flits, node=node, packets=1)
        pause = (lambda: rng.random() < 0.3) if node else (lambda: False)
        sent = generate(simulate, receive, dut, TrafficKind.EXCHANGE, (nodes - 1) * length, pause)
        own = layout.of_node(node)
        heads = [flit & ((1 << layout.width) - 1) for flit in sent[::length]]
        assert sorted([*heads, own]) == sorted(layout.of_node(other) for other in range(nodes))
        assert sent == [flit for i, dst in enumerate(heads) for flit in packet_of(flits, dst, own, i)]
        digits = [zip(layout.unpack(dst), layout.unpack(own), layout.fields, strict=True) for dst in heads]
        orders.append([[(there - here) % field.radix for there, here, field in each] for each in digits])
    assert all(order == orders[0] for order in orders)


@pytest.mark.parametrize("text", NETWORKS)
def test_random_packets_go_to_nodes_only(simulate, text):
    layout = layout_of(text)
    flits = FlitFormat(16, layout.width, 2)
    dut = PacketGenerator(layout, flits, node=1, packets=40)
    rng = random.Random(2)
    sent = []

    async def bench(ctx):
        ctx.set(dut.kind, TrafficKind.RANDOM)
        ctx.set(dut.start, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        ctx.set(dut.inject.ready, 1)
        while len(sent) < 80:
            ctx.set(dut.random, rng.randrange(1 << layout.width))
            _, _, valid, flit = await ctx.tick().sample(dut.inject.valid, dut.inject.payload)
            sent.extend([flit] if valid else [])
        assert not ctx.get(dut.inject.valid)

    simulate(dut, bench)
    heads = [flit & ((1 << layout.width) - 1) for flit in sent[::2]]
    assert all(layout.is_node(dst) for dst in heads)
    assert len(set(heads)) > layout.network.num_nodes // 2
    assert sent == [flit for i, dst in enumerate(heads) for flit in packet_of(flits, dst, layout.of_node(1), i)]


def test_impossible_packet_names_no_node(simulate, receive):
    layout = layout_of("mesh(2, 3)")
    dut = PacketGenerator(layout, FlitFormat(8, layout.width, 1), node=4, packets=1)
    (head,) = generate(simulate, receive, dut, TrafficKind.IMPOSSIBLE, 1)
    assert not layout.is_node(head & ((1 << layout.width) - 1))


@pytest.mark.parametrize("packets", [0, 32769])
def test_packets_have_limits(packets):
    with pytest.raises(ValueError, match=f"packets must be 1 to 32768 a node, not {packets}"):
        check_packets(packets)


def verdicts_of(simulate, length, packets):
    """Send packets to the checker of node 5 of dualcube(2); return (received, misrouted, corrupted) of each."""
    layout = layout_of("dualcube(2)")
    flits = FlitFormat(8, layout.width, length)
    dut = PacketChecker(layout, flits, node=5)
    found = []

    async def feed(ctx):
        for packet in packets:
            for position, flit in enumerate(packet):
                ctx.set(dut.eject.payload.data, flit)
                ctx.set(dut.eject.payload.last, position == len(packet) - 1)
                ctx.set(dut.eject.valid, 1)
                await ctx.tick()
        ctx.set(dut.eject.valid, 0)
        for _ in range(4):
            await ctx.tick()

    async def watch(ctx):
        while len(found) < len(packets):
            _, _, received, misrouted, corrupted = await ctx.tick().sample(dut.received, dut.misrouted, dut.corrupted)
            assert received or not (misrouted or corrupted)
            found.extend([(misrouted, corrupted)] if received else [])

    simulate(dut, feed, watch, cycles=5000)
    return found


@pytest.mark.parametrize("length", [1, 2, 4])
def test_checker_sees_every_wrong_bit_and_nothing_else(simulate, length):
    layout = layout_of("dualcube(2)")
    flits = FlitFormat(8, layout.width, length)
    own = layout.of_node(5)
    good = packet_of(flits, own, 3, 2)
    flips = [[flit ^ (1 << bit) * (i == at) for i, flit in enumerate(good)] for at in range(length) for bit in range(8)]
    stream = [packet for flip in flips for packet in (flip, good)]
    found = verdicts_of(simulate, length, stream)
    assert set(found[1::2]) == {(0, 0)}
    wrong = found[::2]
    assert [misrouted for misrouted, _ in wrong] == [1] * layout.width + [0] * (8 * length - layout.width)
    if length > 1:  # one flit of three fields has no spare bits: the balance of sent and received must tell
        assert all(corrupted for _, corrupted in wrong)


def test_checker_sees_packets_for_others_and_of_wrong_length(simulate):
    layout = layout_of("dualcube(2)")
    flits = FlitFormat(8, layout.width, 3)
    own, other = layout.of_node(5), layout.of_node(6)
    good = packet_of(flits, own, 1, 0)
    found = verdicts_of(simulate, 3, [good, packet_of(flits, other, 1, 0), good, good[:2], good, [*good, 0], good])
    assert found == [(0, 0), (1, 0), (0, 0), (0, 1), (0, 0), (0, 1), (0, 0)]


def test_terminal_balances_what_it_sent_and_what_it_received(simulate):
    """Four packets go out; of these, three come back, then the fourth: only then is the sum zero."""
    layout = layout_of("dualcube(2)")
    flits = FlitFormat(8, layout.width, 2)
    dut = Terminal(layout, flits, node=2, packets=4)
    sent, balances = [], []

    async def bench(ctx):
        ctx.set(dut.kind, TrafficKind.RANDOM)
        ctx.set(dut.start, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        ctx.set(dut.inject.ready, 1)
        while len(sent) < 8:
            _, _, valid, flit = await ctx.tick().sample(dut.inject.valid, dut.inject.payload)
            sent.extend([flit] if valid else [])
        for position, flit in enumerate(sent):
            ctx.set(dut.eject.payload.data, flit)
            ctx.set(dut.eject.payload.last, position % 2)
            ctx.set(dut.eject.valid, 1)
            taken = False
            while not taken:
                _, _, taken = await ctx.tick().sample(dut.eject.ready)
            ctx.set(dut.eject.valid, 0)
            await ctx.tick()
            await ctx.tick()
            balances.append(ctx.get(dut.balance_o))

    simulate(dut, bench)
    heads = sent[::2]
    assert balances[1::2] == [sum(heads[i + 1 :]) % 256 for i in range(4)]
    assert all(balances[:-2]), "a sum that is zero too early says nothing"


def test_terminal_counts_drops(simulate):
    layout = layout_of("mesh(2, 3)")
    dut = Terminal(layout, FlitFormat(8, layout.width, 1), node=0, packets=1)

    async def bench(ctx):
        seen = []
        for drops in (0, 0, 1, 1, 2, 3, 3):
            ctx.set(dut.drops, drops)
            seen.append(ctx.get(dut.dropped))
            await ctx.tick()
        assert seen == [0, 0, 1, 0, 1, 1, 0]

    simulate(dut, bench)


@pytest.mark.parametrize(
    ("text", "cut"),
    [("torus(4)", "dim0=2"), ("cube(2)", "dim0=2"), ("torus(4, 3)", "dim0=2"), ("rdn(cube(1), 1)", "1")],
)
@pytest.mark.parametrize("width", [8, 16, 40])
def test_what_is_due_is_the_sum_over_all_packets(text, cut, width):
    chips = lay_chips(build(text), cut)
    layout = AddressLayout(chips.network)
    flits = FlitFormat(width, layout.width, 1)
    address = [int(each) for each in layout.of_nodes]
    digits = [tuple(layout.unpack(each)) for each in address]
    radices = [field.radix for field in layout.fields]
    order = sorted(digits)
    for nodes in chips.nodes.tolist():
        total = 0
        for src, dst in product(range(len(address)), repeat=2):
            step = tuple(
                (there - here) % radix for there, here, radix in zip(digits[dst], digits[src], radices, strict=True)
            )
            sign = (src in nodes) - (dst in nodes)
            total += sign * packet_of(flits, address[dst], address[src], order.index(step) - 1)[0]
        assert due_balance(layout, flits, nodes) == total % 2 ** min(16, width)
