"""A relay at a node: what its user, other relays and the fabric see of it."""

import random
from dataclasses import replace

import pytest
from amaranth.hdl import ClockDomain

from hdnhw.endpoints.relay.format import RelayKind

REQUEST, GRANT, NOTICE = RelayKind.REQUEST, RelayKind.GRANT, RelayKind.NOTICE
GAP = 200
"""Cycles in which all that is to happen without a timeout has happened."""


def nothing_counted(node, **others):
    return {name: count for name, count in node.counts.items() if count} == others


def test_plain_packets_pass(simulate, rig):
    node, rng = rig.nodes[0], random.Random(1)
    out = [rig.data(rng, dst=rng.randrange(1, 16), src=rng.randrange(16)) for _ in range(20)]
    out = [replace(packet, kind=rng.randrange(4)) for packet in out]  # the relay says who sent what
    back = [rig.data(rng, dst=0, src=rng.randrange(16)) for _ in range(20)]
    for packet in out:
        node.send.flits.extend(rig.flits(packet))
    for packet in back:
        node.bring(packet)

    async def bench(ctx):
        await rig.until(ctx, lambda: len(node.sent) == 20 and len(node.received) == 20)

    simulate(rig.dut, bench)
    assert node.sent == [replace(packet, src=0, kind=RelayKind.DATA) for packet in out]
    assert node.received == back
    assert nothing_counted(node)


def test_head_flit_is_offered_seven_cycles_after_the_tail(simulate, make_rig):
    rig = make_rig(length=4)
    node = rig.nodes[0]
    node.send.flits.extend(rig.flits(rig.data(random.Random(1), dst=3)) * 2)

    async def bench(ctx):
        await rig.run(ctx, 30)

    simulate(rig.dut, bench)
    assert [start for start, _ in node.inject.packets] == [node.accepted[3] + 7, node.accepted[7] + 7]
    assert node.accepted == list(range(8))


def test_a_packet_is_relayed_as_asked(simulate, rig):
    node, rng, due = rig.nodes[0], random.Random(2), []
    packets = [rig.data(rng, dst=0, src=5, left=number + 1) for number in range(rig.waypoints)]

    async def bench(ctx):
        for number, packet in enumerate(packets):
            node.bring(rig.request(0, src=5, left=number, stop=packet.stops[number]))
            due.append(rig.packet(5, kind=GRANT, left=number))
            await rig.until(ctx, lambda: len(node.sent) == len(due))
            node.bring(packet)
            if number:
                due.append(rig.request(packet.stops[number], left=number - 1, stop=packet.stops[number - 1]))
                await rig.until(ctx, lambda: len(node.sent) == len(due))
                node.bring(rig.packet(0, src=packet.stops[number], kind=GRANT, left=number - 1))
            due.append(replace(packet, dst=packet.stops[number], left=number))
            await rig.until(ctx, lambda: len(node.sent) == len(due))
        await rig.run(ctx, GAP)

    simulate(rig.dut, bench)
    assert node.sent == due
    assert node.received == []
    assert nothing_counted(node)


def test_an_own_packet_asks_first(simulate, rig):
    node, rng = rig.nodes[0], random.Random(3)
    packets = [rig.data(rng, dst=7 + 8 * number, left=rig.waypoints) for number in range(2)]  # in the same queue
    for packet in packets:
        node.send.flits.extend(rig.flits(packet))

    async def bench(ctx):
        for number in range(2):
            await rig.run(ctx, GAP)
            assert len(node.sent) == 2 * number + 1
            node.bring(rig.packet(0, src=15 - 8 * number, kind=GRANT, left=rig.waypoints - 1))  # from somebody else
            await rig.run(ctx, 30)
            assert len(node.sent) == 2 * number + 1
            node.bring(rig.packet(0, src=7 + 8 * number, kind=GRANT, left=rig.waypoints - 1))
            await rig.until(ctx, lambda number=number: len(node.sent) == 2 * number + 2)

    simulate(rig.dut, bench)
    requests = [rig.request(p.dst, left=rig.waypoints - 1, stop=p.stops[rig.waypoints - 1]) for p in packets]
    assert node.sent == [requests[0], packets[0], requests[1], packets[1]]
    assert nothing_counted(node, astray=2)


def test_queues_ask_and_are_sent_on_their_own(simulate, make_rig):
    """Four packets in three queues: the one that is granted last is not in the way of the others."""
    rig = make_rig(waypoints=2, relay_queues=4, length=2)
    node, rng = rig.nodes[0], random.Random(19)
    packets = [rig.data(rng, dst=dst, left=2) for dst in (5, 9, 6, 11)]
    for packet in packets:
        node.send.flits.extend(rig.flits(packet))

    async def bench(ctx):
        await rig.run(ctx, GAP)
        for dst in (11, 6, 5, 9):
            node.bring(rig.packet(0, src=dst, kind=GRANT, left=1))
            await rig.run(ctx, GAP)

    simulate(rig.dut, bench)
    asked = [rig.request(p.dst, left=1, stop=p.stops[1]) for p in packets]
    five, nine, six, eleven = packets
    assert node.sent == [asked[0], asked[2], asked[3], eleven, six, five, asked[1], nine]
    assert nothing_counted(node)


def test_buffers_are_granted_in_the_queue_that_is_asked_for(simulate, make_rig):
    rig = make_rig(waypoints=2, relay_queues=2, relay_buffers=1, length=1)
    node, rng = rig.nodes[0], random.Random(20)
    packets = [rig.data(rng, dst=0, src=src, left=2, stops=[1, stop]) for src, stop in ((3, 6), (4, 7), (5, 9))]

    async def bench(ctx):
        for packet in packets:
            node.bring(rig.request(0, src=packet.src, left=1, stop=packet.stops[1]))
        await rig.run(ctx, 30)
        assert [packet.dst for packet in node.sent] == [3, 4]  # 5 waits for the queue of 4
        node.bring(replace(packets[1], stops=(1, 8)))  # of the queue in which a buffer is reserved for 3
        node.bring(packets[0])
        await rig.run(ctx, 30)
        assert nothing_counted(node, unreserved=1)
        node.bring(packets[1])
        await rig.run(ctx, 30)
        for src in (8, 7):
            node.bring(rig.packet(0, src=src, kind=GRANT))
            await rig.run(ctx, 30)

    simulate(rig.dut, bench)
    data = [packet for packet in node.sent if packet.kind == RelayKind.DATA]
    lost = replace(packets[1], dst=8, stops=(1, 8), left=1)
    assert data == [lost, replace(packets[1], dst=7, left=1)]
    assert [packet.dst for packet in node.sent if packet.kind == GRANT] == [3, 4, 5]


def test_grants_while_buffers_are_free(simulate, rig):
    node, rng = rig.nodes[0], random.Random(4)
    packets = [rig.data(rng, dst=0, src=3 + number, left=1) for number in range(3)]

    async def bench(ctx):
        for number in range(5):
            node.bring(rig.packet(0, src=3 + number, kind=REQUEST))
        await rig.run(ctx, rig.lapse - 10)
        assert [packet.dst for packet in node.sent] == [3, 4]
        for number in range(3):
            node.bring(packets[number])
            await rig.until(ctx, lambda number=number: len(node.sent) == 2 + 2 * (number + 1))

    simulate(rig.dut, bench)
    grants = [packet.dst for packet in node.sent if packet.kind == GRANT]
    assert grants == [3, 4, 5, 6, 7]
    assert [p for p in node.sent if p.kind != GRANT] == [replace(p, dst=p.stops[0], left=0) for p in packets]
    assert nothing_counted(node)


def test_a_slot_that_is_sent_from_is_not_granted(simulate, make_rig):
    rig = make_rig(relay_buffers=1)
    node, rng, taking = rig.nodes[0], random.Random(5), []
    node.inject.pause = lambda: not taking

    async def bench(ctx):
        taking.append(True)
        for src in (3, 4):
            node.bring(rig.packet(0, src=src, kind=REQUEST))
        await rig.until(ctx, lambda: len(node.sent) == 1)
        taking.clear()
        node.bring(rig.data(rng, dst=0, src=3, left=1))
        await rig.run(ctx, 20)
        taking.append(True)
        await rig.run(ctx, 20)

    simulate(rig.dut, bench)
    assert [packet.kind for packet in node.sent] == [GRANT, RelayKind.DATA, GRANT]


def test_requests_beyond_the_queue_are_astray(simulate, make_rig):
    rig = make_rig(relay_buffers=1, num_nodes=5, length=1, waypoints=2)
    node = rig.nodes[0]

    async def bench(ctx):
        for number in range(8):  # one is granted, five wait
            node.bring(rig.packet(0, src=number, kind=REQUEST, left=1))
        node.bring(rig.packet(0, src=1, kind=REQUEST, left=0))
        for number in (2, 3):
            node.bring(rig.packet(0, src=1, kind=REQUEST, left=number))  # no such class
            node.bring(rig.packet(0, src=1, kind=GRANT, left=number))
        await rig.run(ctx, 50)
        assert nothing_counted(node, astray=6)
        await rig.run(ctx, 6 * (rig.lapse + 10))

    simulate(rig.dut, bench, cycles=3000)
    assert [packet.dst for packet in node.sent if packet.left] == [0, 1, 2, 3, 4, 5]
    assert [packet.dst for packet in node.sent if not packet.left] == [1]


async def wait(ctx, rig, cycle):
    """Play until the cycle is the next one."""
    assert rig.cycle <= cycle
    await rig.run(ctx, cycle - rig.cycle)


@pytest.mark.parametrize("late", [0, 1])
def test_a_request_without_an_answer_expires(simulate, make_rig, late):
    rig = make_rig(waypoints=2, length=2)
    node, rng = rig.nodes[0], random.Random(6)
    first, following = (rig.data(rng, dst=dst, left=2) for dst in (7, 9))
    for packet in (first, following):
        node.send.flits.extend(rig.flits(packet))

    async def bench(ctx):
        await rig.until(ctx, lambda: len(node.sent) == 1)
        offered = node.inject.packets[0][0]
        await wait(ctx, rig, offered + rig.timeout - 2 + late)  # a grant counts in the second cycle after it has come
        node.bring(rig.packet(0, src=7, kind=GRANT, left=1))
        await rig.run(ctx, 4)
        assert nothing_counted(node)
        await rig.step(ctx)
        assert nothing_counted(node, **({"expired": 1, "astray": 1} if late else {}))
        await rig.run(ctx, 40)

    simulate(rig.dut, bench)
    requests = [rig.packet(dst, kind=REQUEST, left=1) for dst in (7, 9)]
    notice = rig.packet(0, kind=NOTICE, stops=first.stops[:1])
    assert node.sent == [requests[0], *([requests[1], notice] if late else [first, requests[1]])]


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_grant_that_cannot_be_an_answer_is_astray(simulate, make_rig, after):
    rig = make_rig(length=1)
    node = rig.nodes[0]
    packet = rig.data(random.Random(18), dst=7, left=1)
    node.send.flits.extend(rig.flits(packet))

    async def bench(ctx):
        await wait(ctx, rig, 5 + after)  # the request is offered in cycle 7
        node.bring(rig.packet(0, src=7, kind=GRANT))
        await rig.run(ctx, 20)

    simulate(rig.dut, bench)
    assert node.inject.packets[0][0] == 7
    assert node.sent[1:] == ([packet] if after == 2 else [])
    assert nothing_counted(node, **({} if after == 2 else {"astray": 1}))


@pytest.mark.parametrize("late", [0, 1])
def test_a_slot_that_is_not_used_is_free_again(simulate, make_rig, late):
    rig = make_rig(relay_buffers=1, length=2)
    node, rng = rig.nodes[0], random.Random(7)
    packet = rig.data(rng, dst=0, src=5, left=1)

    async def bench(ctx):
        for src in (5, 6):
            node.bring(rig.packet(0, src=src, kind=REQUEST))
        await rig.until(ctx, lambda: len(node.sent) == 1)
        granted = node.inject.packets[0][0] - 3
        await wait(ctx, rig, granted + rig.lapse + late)
        node.bring(packet)
        await rig.run(ctx, 20)
        if late:  # given up a cycle later, and in the one behind that the next grant is chosen
            assert node.inject.packets[1][0] == granted + rig.lapse + 1 + 5

    simulate(rig.dut, bench)
    onward, notice = replace(packet, dst=packet.stops[0], left=0), rig.packet(5, kind=NOTICE, stops=packet.stops)
    assert [p for p in node.sent if p.kind != GRANT] == [notice if late else onward]
    assert [p.dst for p in node.sent if p.kind == GRANT] == [5, 6]
    assert nothing_counted(node, **({"unreserved": 1} if late else {}))


def test_the_time_of_a_slot_begins_with_the_last_grant_or_packet(simulate, make_rig):
    rig = make_rig(relay_buffers=4, length=1, timeout=4096)
    node, rng = rig.nodes[0], random.Random(8)

    async def bench(ctx):
        for cycle in (0, 10, 200):
            await wait(ctx, rig, cycle)
            node.bring(rig.packet(0, src=3, kind=REQUEST))
        await wait(ctx, rig, 400)
        for cycle in (400, 401 + rig.lapse, 403 + 2 * rig.lapse):  # the last slot is free when this one is looked at
            await wait(ctx, rig, cycle)
            assert nothing_counted(node)
            node.bring(rig.data(rng, 0, left=1))
        await rig.run(ctx, 20)

    simulate(rig.dut, bench)
    assert len(node.sent) == 3 + 3
    assert nothing_counted(node, unreserved=1)


def test_what_comes_out_elsewhere_is_told(simulate, rig):
    node, rng = rig.nodes[0], random.Random(9)
    lost = [rig.data(rng, dst=4, src=src, left=left) for src in (2, 3) for left in range(rig.waypoints + 1)]

    async def bench(ctx):
        for packet in lost:
            node.bring(packet)
            for kind in (REQUEST, GRANT, NOTICE):
                node.bring(replace(packet, kind=kind))
        node.bring(rig.data(rng, dst=0, src=6, left=1, stops=[8] * rig.waypoints))
        await rig.run(ctx, 40 * len(lost) * rig.length)

    simulate(rig.dut, bench)
    due = [rig.packet(p.src, kind=NOTICE, stops=(p.stops[0] if p.left else 4,)) for p in lost]
    assert node.sent == [*due, rig.packet(6, kind=NOTICE, stops=(8,))]
    assert nothing_counted(node, stranded=len(lost), unreserved=1, astray=3 * len(lost))
    assert node.received == []


def test_notices_without_a_place_are_counted(simulate, make_rig):
    rig = make_rig(length=2)
    node, rng, taking = rig.nodes[0], random.Random(10), []
    node.inject.pause = lambda: not taking

    async def bench(ctx):
        for src in range(16):
            node.bring(rig.data(rng, dst=4, src=src, left=1))
        for src in range(4):
            node.bring(rig.data(rng, dst=0, src=src, left=1))
        await rig.run(ctx, 60)
        assert nothing_counted(node, stranded=16, unreserved=4, untold=1)  # three are on their way, sixteen wait
        taking.append(True)
        await rig.run(ctx, 120)

    simulate(rig.dut, bench)
    assert [packet.dst for packet in node.sent] == [*range(16), 0, 1, 2]


def test_an_expiry_waits_for_a_notice_from_the_fabric(simulate, make_rig):
    rig = make_rig(waypoints=2, length=1)
    node, rng = rig.nodes[0], random.Random(11)
    own = [rig.data(rng, dst=7, left=left) for left in (2, 1)]
    for packet in own:
        node.send.flits.extend(rig.flits(packet))

    async def bench(ctx):
        await rig.until(ctx, lambda: len(node.sent) == 2)
        assert [start for start, _ in node.inject.packets] == [7, 9]
        await wait(ctx, rig, 6 + rig.timeout)
        for src in (4, 5, 6):
            node.bring(rig.data(rng, dst=3, src=src))
        await rig.run(ctx, 7)
        assert nothing_counted(node, stranded=3)
        await rig.step(ctx)
        assert nothing_counted(node, stranded=3, expired=1)
        await rig.step(ctx)
        assert nothing_counted(node, stranded=3, expired=2)
        await rig.run(ctx, 40)

    simulate(rig.dut, bench)
    assert [packet.dst for packet in node.sent if packet.kind == NOTICE] == [4, 5, 6, 0, 0]
    assert [packet.stops[0] for packet in node.sent[-2:]] == [own[1].stops[0], own[0].stops[0]]  # class 0 asked for it


def test_packets_with_too_many_stops_are_swallowed(simulate, make_rig):
    rig = make_rig(waypoints=2, length=3, relay_buffers=1)
    node, rng = rig.nodes[0], random.Random(12)
    packets = [rig.data(rng, dst=5, left=left) for left in (3, 0, 3, 0, 3, 3)]
    for packet in packets:
        node.send.flits.extend(rig.flits(packet))
    node.bring(rig.packet(0, src=9, kind=REQUEST))

    async def bench(ctx):
        await rig.run(ctx, 60)

    simulate(rig.dut, bench)
    assert [p for p in node.sent if p.kind != GRANT] == [packets[1], packets[3]]
    assert nothing_counted(node, refused=4)


def test_the_fabric_is_written_first(simulate, make_rig):
    rig = make_rig(waypoints=2, length=3, relay_buffers=4)
    node, rng = rig.nodes[0], random.Random(13)

    async def bench(ctx):
        for _ in range(3):
            node.bring(rig.packet(0, src=9, kind=REQUEST))
        await rig.until(ctx, lambda: len(node.sent) == 3)
        start = rig.cycle
        for _ in range(3):
            node.bring(rig.data(rng, dst=0, src=9, left=1))
        for left in (3, 0):  # one is swallowed meanwhile
            node.send.flits.extend(rig.flits(rig.data(rng, dst=2, left=left)))
        await rig.run(ctx, 40)
        assert node.accepted == [start + cycle for cycle in (0, 1, 2, 3, 11, 12)]

    simulate(rig.dut, bench)
    assert nothing_counted(node, refused=1)


def test_own_buffers_are_of_one_class(simulate, make_rig):
    rig = make_rig(length=2, relay_buffers=2)
    node, rng = rig.nodes[0], random.Random(14)
    packets = [rig.data(rng, dst=7, left=1) for _ in range(3)]

    async def bench(ctx):
        for packet in packets[:2]:
            node.send.flits.extend(rig.flits(packet))
        await rig.run(ctx, 20)
        node.send.flits.extend(rig.flits(rig.data(rng, dst=3)))
        node.send.flits.extend(rig.flits(packets[2]))
        await rig.run(ctx, 40)
        assert len(node.accepted) == 7  # a head flit waits in the register
        assert [(p.dst, p.kind) for p in node.sent] == [(7, REQUEST), (3, RelayKind.DATA)]
        node.bring(rig.packet(0, src=7, kind=GRANT))
        await rig.run(ctx, 40)
        assert len(node.accepted) == 8

    simulate(rig.dut, bench)
    assert nothing_counted(node)


def test_who_was_chosen_longest_ago_is_first(simulate, make_rig):
    rig = make_rig(length=2, relay_buffers=8)
    node, rng, taking = rig.nodes[0], random.Random(15), []
    node.inject.pause = lambda: not taking

    async def bench(ctx):
        node.send.flits.extend(rig.flits(rig.data(rng, dst=1)) * 3)  # on offer, next and chosen
        await rig.run(ctx, 20)
        node.send.flits.extend(rig.flits(rig.data(rng, dst=2)) * 2)
        node.send.flits.extend(rig.flits(rig.data(rng, dst=3, left=1)) * 2)
        for src in (4, 5):
            node.bring(rig.packet(0, src=src, kind=REQUEST))
            node.bring(rig.data(rng, dst=8, src=src + 2))
        await rig.run(ctx, 20)
        taking.append(True)
        await rig.until(ctx, lambda: len(node.sent) == 10)
        node.bring(rig.packet(0, src=3, kind=GRANT))
        await rig.run(ctx, 20)

    simulate(rig.dut, bench)
    grants, notices = (GRANT, 4), (NOTICE, 6)
    order = [(packet.kind, packet.dst) for packet in node.sent]
    data = RelayKind.DATA
    assert order[:3] == [(data, 1)] * 3
    assert order[3:10] == [grants, notices, (REQUEST, 3), (data, 2), (GRANT, 5), (NOTICE, 7), (data, 2)]
    assert order[10:] == [(data, 3), (REQUEST, 3)]


def test_counters_stay_at_their_maximum(simulate, make_rig, monkeypatch):
    monkeypatch.setattr("hdnhw.endpoints.relay.relay.COUNT_WIDTH", 2)
    rig = make_rig(length=1)
    node, rng = rig.nodes[0], random.Random(16)

    async def bench(ctx):
        for _ in range(5):
            node.bring(rig.data(rng, dst=4))
        await rig.run(ctx, 10)
        assert ctx.get(node.dut.counts.stranded) == 3

    simulate(rig.dut, bench)


def test_reset_brings_everything_back(simulate, make_rig):
    rig, domain, runs = make_rig(waypoints=2, length=3), ClockDomain("sync"), []
    node = rig.nodes[0]

    async def fill(ctx, cycles):
        node.restart()
        rig.cycle, rng = 0, random.Random(17)
        for left in (2, 0, 1, 3, 0):
            node.send.flits.extend(rig.flits(rig.data(rng, dst=7, left=left)))
        for kind, left in ((REQUEST, 0), (REQUEST, 1), (GRANT, 1), (NOTICE, 0)):
            node.bring(rig.packet(0, src=7, kind=kind, left=left))
        node.bring(rig.data(rng, dst=0, src=4, left=2))
        node.bring(rig.data(rng, dst=3, src=4))
        await rig.run(ctx, cycles)

    async def bench(ctx):
        for cycles in (8, 13, 21, 29):
            await fill(ctx, cycles)
            ctx.set(domain.rst, 1)
            await ctx.tick()
            ctx.set(domain.rst, 0)
            await fill(ctx, 80)
            runs.append((node.inject.packets, node.deliver.packets, node.accepted, node.counts))

    simulate(rig.dut, bench, domain=domain)
    assert len(runs[0][0]) == 7  # two grants, two requests, two packets of class 0, a notice
    assert runs == [runs[0]] * 4
