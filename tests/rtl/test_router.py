"""One router alone, between neighbors and a terminal played by Python."""

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise, product

import pytest
from amaranth.back import rtlil
from amaranth.hdl import ClockDomain

import hdnhw.rtl.ports
from hdnhw.machine.machine import make_machine
from hdnhw.machine.timing import SlotTiming
from hdnhw.rtl.router import Router
from tests.specs import fabric_spec

WIDTH = 16
LENGTHS = [1, 4, *(length for length in (2, 5, 8))]
each_length = pytest.mark.parametrize("length", LENGTHS)


@pytest.mark.parametrize(
    ("length", "gapless"),
    [(1, False), (4, False), (8, True)]
    + [
        (length, gapless)
        for length, gapless in ((2, False), (5, False), (8, False), (2, True), (3, True), (4, True), (9, True))
    ],
)
def test_an_injected_packet_leaves_as_planned_and_on_time(simulate, make_rig, length, gapless):
    rig, rng = make_rig(length=length, gapless_packets=gapless), random.Random(length)

    async def bench(ctx):
        for node, dst in product((5, 22), range(rig.network.num_nodes)):
            rig.node, phase = node, dst % length
            while rig.cycle % length != phase:
                await rig.step(ctx)
            packet, start, before = rig.packet(dst, rng), rig.cycle, len(rig.packets())
            rig.to_inject.extend(packet)
            await rig.run(ctx, 4 * length + 4)
            tail = start + rig.timing.zero_load_latency(0, phase) - 1  # one cycle before the buffer delivers it
            assert rig.packets()[before:] == [(tail - length + 1, *rig.way(dst), packet)]

    simulate(rig.dut, bench, cycles=4000)
    assert {port for _, port, _, _ in rig.packets()} == set(rig.outputs)


@each_length
def test_an_arriving_packet_leaves_as_planned_and_on_time(simulate, make_rig, length):
    rig, rng = make_rig(length=length), random.Random(length)

    async def bench(ctx):
        for rig.node in (5, 22):
            for port, vc, dst in rig.arrivals():
                packet, before, credits = rig.packet(dst, rng), len(rig.packets()), len(rig.credits)
                rig.waiting[port, vc].append(packet)
                await rig.run(ctx, 4 * length + 8)
                head = rig.arrived[-1][0] + rig.timing.hop_cycles
                assert rig.packets()[before:] == [(head, *rig.way(dst), packet)]
                # The credit is due in the credit phase of the slot in which the packet leaves the buffer.
                leaves = head - rig.timing.channel_cycles
                assert rig.credits[credits:] == [(leaves + rig.timing.credit_phase, port, vc)]

    simulate(rig.dut, bench, cycles=6000)
    assert {vc for _, _, vc, _ in rig.arrived} == {0, 1}


async def overfill(ctx, rig, rng):
    """Send more than there are credits for by both virtual channels of one output, from two queues; return it."""
    flows = {}
    for port, vc, dst in rig.arrivals():
        flows.setdefault(rig.way(dst), (port, vc, dst))
    output = next(port for port, _ in flows if (port, 0) in flows and (port, 1) in flows and port != rig.local)
    for port, vc, dst in (flows[output, 0], flows[output, 1]):
        rig.waiting[port, vc].extend(rig.packet(dst, rng) for _ in range(rig.slots[output] + 4))
    await rig.run(ctx, (4 * rig.machine.buffers + 8) * rig.timing.hop_cycles)
    return output


@each_length
@pytest.mark.parametrize("buffers", [1, None])
def test_nothing_is_sent_without_credit(simulate, make_rig, length, buffers):
    rig, rng, allowed = make_rig(length=length, buffers=buffers), random.Random(length), Counter()

    def sent():
        return Counter((port, vc) for _, port, vc, _ in rig.packets())

    async def bench(ctx):
        rig.hold = lambda port, vc: not allowed[port, vc]
        output = await overfill(ctx, rig, rng)
        expected = Counter({(output, 0): rig.slots[output], (output, 1): rig.slots[output]})
        assert sent() == expected
        for vc in (1, 0, 1):
            allowed[output, vc] = 1
            await rig.run(ctx, length)
            allowed[output, vc] = 0
            await rig.run(ctx, 4 * rig.timing.hop_cycles)
            expected[output, vc] += 1
            assert sent() == expected

    simulate(rig.dut, bench, cycles=4000)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 9])
@pytest.mark.parametrize(("text", "node", "classes"), [("mesh(3, 3)", 4, 1), ("rdn(cube(2), 1)", 22, 2)])
def test_a_flow_needs_full_rate_buffers_for_its_class(simulate, make_rig, length, text, node, classes):
    full = SlotTiming(length).full_rate_buffers
    gaps = {}
    for slots in (full // 2, full):
        rig, rng = make_rig(length=length, buffers=slots * classes, text=text, node=node), random.Random(1)
        assert {channel.signature.num_vcs for channel in rig.inputs.values()} == {classes}
        port, vc, dst = next(arrival for arrival in rig.arrivals() if rig.way(arrival[2])[0] != rig.local)
        rig.waiting[port, vc].extend(rig.packet(dst, rng) for _ in range(16))

        async def bench(ctx, rig=rig):
            await rig.run(ctx, 80 * length)

        simulate(rig.dut, bench)
        heads = [head for head, _, _, _ in rig.packets()]
        assert len(heads) == 16
        gaps[slots] = {later - head for head, later in pairwise(heads)}
    assert gaps[full] == {length}
    assert max(gaps[full // 2]) > length


@each_length
def test_one_class_of_two_fills_a_channel_by_itself_with_the_default_buffers(simulate, make_rig, length):
    """With half of them, it sustains half of that or little more, and both together all of it."""
    heads = {}
    for classes, halved in ((1, False), (1, True), (2, True)):
        default = 2 * SlotTiming(length).full_rate_buffers
        rig, rng = make_rig(length=length, buffers=default // 2 if halved else None), random.Random(1)
        flows = {
            (rig.way(dst), port): (port, vc, dst) for port, vc, dst in rig.arrivals() if rig.way(dst)[0] != rig.local
        }
        output = next(way[0] for way, _ in flows if {(way[0], 0), (way[0], 1)} <= {way for way, _ in flows})
        first = next(flow for (way, _), flow in flows.items() if way == (output, 0))
        second = next(flow for (way, at), flow in flows.items() if way == (output, 1) and at != first[0])
        for port, vc, dst in (first, second)[:classes]:
            rig.waiting[port, vc].extend(rig.packet(dst, rng) for _ in range(32 // classes))

        async def bench(ctx, rig=rig):
            await rig.run(ctx, 90 * length)

        simulate(rig.dut, bench)
        heads[classes, halved] = [head for head, port, _, _ in rig.packets() if port == output]
    assert [len(own) for own in heads.values()] == [32, 32, 32]
    gaps = {case: (own[-6] - own[6]) / 20 / length for case, own in heads.items()}
    assert gaps[1, False] == 1
    assert gaps[1, True] > 1.2
    assert gaps[2, True] < 1.06


@each_length
def test_ready_falls_before_packets_and_before_tails(simulate, make_rig, length):
    """All slots are taken: no packet is begun. Inside of one, a tail flit waits for the update phase, no other does."""
    rig, rng = make_rig(length=length), random.Random(length)
    dst = next(dst for dst in range(rig.network.num_nodes) if rig.way(dst)[0] != rig.local)
    packets = [rig.packet(dst, rng) for _ in range(3 * rig.machine.buffers)]
    rig.to_inject.extend(flit for packet in packets for flit in packet)
    rig.pause = lambda: rng.random() < 0.4
    downstream = rig.slots[rig.way(dst)[0]]

    async def bench(ctx):
        rig.hold = lambda *_: True
        await rig.run(ctx, 16 * length * rig.machine.buffers)
        assert (
            len(rig.accepted) == (rig.machine.buffers + downstream) * length
        )  # those wait here, these have gone downstream
        assert not any(rig.ready[-length:])
        rig.hold = lambda *_: False
        await rig.run(ctx, 32 * length * rig.machine.buffers)

    simulate(rig.dut, bench, cycles=8000)
    assert [packet for _, _, _, packet in rig.packets()] == packets
    taken = set(rig.accepted)
    for cycle, ready in enumerate(rig.ready):
        position = sum(1 for at in taken if at < cycle) % length
        if position == length - 1 and length > 1:
            assert ready == (cycle % length == rig.timing.update_phase)
        else:
            assert ready or position == 0


@pytest.mark.parametrize("length", [3, *(length for length in (2, 5, 8))])
def test_a_source_may_pause_inside_a_packet_in_any_phase(simulate, make_rig, length):
    """Begin in each phase and stop before each flit in turn, for times up to two slots."""
    rig, rng = make_rig(length=length), random.Random(length)
    dst = next(dst for dst in range(rig.network.num_nodes) if rig.way(dst)[0] != rig.local)
    timing, expected, stop = rig.timing, [], Counter()

    def pause():
        stop[len(rig.to_inject)] -= 1
        return stop[len(rig.to_inject)] >= 0

    async def bench(ctx):
        rig.pause = pause
        for phase, left, cycles in product(range(length), range(1, length), range(1, 2 * length + 1, 3)):
            while rig.cycle % length != phase:
                await rig.step(ctx)
            packet = rig.packet(dst, rng)
            rig.to_inject.extend(packet)
            stop.clear()
            stop[left] = cycles
            while rig.to_inject:
                await rig.step(ctx)
            tail = rig.accepted[-1]
            assert tail % length == timing.update_phase
            expected.append(((tail // length + 1) * length + timing.channel_cycles, *rig.way(dst), packet))
        await rig.run(ctx, 4 * length)

    simulate(rig.dut, bench, cycles=20000)
    assert rig.packets() == expected
    assert {cycle % length for cycle in rig.accepted} == set(range(length))


@each_length
def test_impossible_destinations_are_dropped_and_counted(simulate, make_rig, length):
    rig, rng = make_rig(length=length, text="rdn(torus(3), 1)", node=13), random.Random(length)
    nodes = {rig.plan.address.of_node(node): node for node in range(rig.network.num_nodes)}
    addresses = list(range(1 << rig.plan.address.width))
    rng.shuffle(addresses)
    packets = [(address in nodes, rig.packet(None, rng, address=address)) for address in addresses]
    rig.to_inject.extend(flit for _, packet in packets for flit in packet)
    rig.pause = lambda: rng.random() < 0.2
    possible = [packet for good, packet in packets if good]

    async def bench(ctx):
        drops = 0
        while rig.to_inject:
            before, drops = drops, sum(not good for good, _ in packets[: len(rig.accepted) // length])
            await rig.step(ctx)
            assert rig.dropped == before  # a drop is counted in the next cycle
        await rig.run(ctx, 8 * length + 8)

    simulate(rig.dut, bench)
    assert rig.dropped == len(packets) - len(possible) > 0
    assert [packet for _, _, _, packet in rig.packets()] == possible


@pytest.mark.parametrize("length", [4, 8])
def test_gapless_packets_to_no_node_are_dropped_and_counted(simulate, make_rig, length):
    rig, rng = make_rig(length=length, text="rdn(torus(3), 1)", node=13, gapless_packets=True), random.Random(length)
    addresses = list(range(1 << rig.plan.address.width))
    rng.shuffle(addresses)
    packets = [rig.packet(None, rng, address=address) for address in addresses]
    rig.to_inject.extend(flit for packet in packets for flit in packet)
    possible = {rig.plan.address.of_node(node) for node in range(rig.network.num_nodes)}
    good = [packet for packet, address in zip(packets, addresses, strict=True) if address in possible]

    async def bench(ctx):
        while rig.to_inject:
            await rig.step(ctx)
        await rig.run(ctx, 8 * length)

    simulate(rig.dut, bench)
    assert rig.dropped == len(packets) - len(good) > 0
    assert rig.paused == 0
    assert [packet for _, _, _, packet in rig.packets()] == good


def test_the_count_of_dropped_packets_stays_at_its_maximum(simulate, make_rig, monkeypatch):
    monkeypatch.setattr(hdnhw.rtl.ports, "DROPPED_WIDTH", 3)
    rig, rng, seen = make_rig(length=2, text="torus(5)", node=0), random.Random(1), []

    async def bench(ctx):
        for _ in range(12):
            rig.to_inject.extend(rig.packet(None, rng, address=7))
            await rig.run(ctx, 6)
            seen.append(rig.dropped)

    simulate(rig.dut, bench)
    assert seen == [1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7]
    assert not rig.departed


def load(rig, rng, rounds):
    """Queue packets at all inputs of a rig; return how many may come out."""
    arrivals = rig.arrivals()
    for _ in range(rounds):
        for port, vc, dst in rng.sample(arrivals, 3):
            rig.waiting[port, vc].append(rig.packet(dst, rng))
        rig.to_inject.extend(rig.packet(rng.randrange(rig.network.num_nodes), rng))
    return 4 * rounds


@each_length
@pytest.mark.parametrize(("buffers", "holding"), [(None, 0), (1, 0.6), (4, 0.85)])
def test_random_traffic_on_all_ports(simulate, make_rig, length, buffers, holding):
    rig, rng = make_rig(length=length, buffers=buffers), random.Random(f"{length} {buffers} {holding}")
    total = load(rig, rng, 40)
    rig.pause, rig.hold = lambda: rng.random() < 0.2, lambda *_: rng.random() < holding
    assert_all_come(simulate, rig, total)


GAPLESS = [
    (4, {}),
    (8, {}),
    *(
        (length, options)
        for length, options in (
            (2, {"buffers": 1}),
            (3, {}),
            (5, {"queueing": "voq"}),
            (8, {"queueing": "voq"}),
            (8, {"ram": "distributed", "buffers": 1}),
            (9, {"channel_latency": "2"}),
        )
    ),
]


@pytest.mark.parametrize(("length", "options"), GAPLESS)
@pytest.mark.parametrize("slipping", [0, 0.05, 1])
def test_a_gapless_packet_with_a_gap_is_counted_and_hurts_no_other(simulate, make_rig, length, options, slipping):
    """What is there when a flit is due is taken; head flits alone wait, and no port stops for any of it."""
    rig, rng = make_rig(length=length, gapless_packets=True, **options), random.Random(f"{length} {slipping}")
    total, missed = load(rig, rng, 40), []

    def slips():
        slip = rng.random() < slipping
        missed.extend([len(rig.injected) // length] * slip)
        return slip

    rig.slips, rig.pause, rig.hold = slips, lambda: rng.random() < 0.2, lambda *_: rng.random() < 0.5
    assert_all_come(simulate, rig, total)
    assert rig.paused == len(set(missed)) == {0: 0, 1: 40}.get(slipping, rig.paused)
    assert (slipping > 0) == (rig.paused > 0)
    heads = rig.accepted[::length]
    assert {cycle % length for cycle in heads} == {rig.timing.injection_phase}
    assert rig.accepted == [head + place for head in heads for place in range(length)]


def assert_all_come(simulate, rig, total):
    """Play until all that is queued has come out: each packet as planned, and in the order of its queue."""
    length, sent = rig.length, {queue: list(packets) for queue, packets in rig.waiting.items()}

    async def bench(ctx):
        while len(rig.departed) < total * length:
            await rig.step(ctx)
        await rig.run(ctx, 2 * rig.timing.hop_cycles)

    simulate(rig.dut, bench, cycles=6000)
    sent["inject", 0] = list(zip(*[iter(rig.injected)] * length, strict=True))
    came = [(port, vc, packet) for _, port, vc, packet in rig.packets()]
    mask = (1 << rig.plan.address.width) - 1
    node_of = {rig.plan.address.of_node(node): node for node in range(rig.network.num_nodes)}
    assert len(came) == len(set(came)) == total
    for packets in sent.values():
        ways = [(*rig.way(node_of[packet[0] & mask]), packet) for packet in packets]
        found = [item for item in came if item in set(ways)]
        assert sorted(found) == sorted(ways)  # each as planned
        if rig.machine.spec.queueing == "fifo":
            assert found == ways  # in the order of its queue
    assert Counter((port, vc) for _, port, vc in rig.credits) == {
        queue: len(packets) for queue, packets in sent.items() if packets and queue[0] != "inject"
    }


@pytest.mark.parametrize(
    ("length", "gapless"),
    [(1, False), (4, False), (8, True)]
    + [(length, gapless) for length, gapless in ((2, False), (5, False), (8, False), (4, True), (9, True))],
)
def test_reset_in_the_middle_of_packets_leaves_nothing_behind(simulate, make_rig, length, gapless):
    rig, domain, traces = make_rig(length=length, gapless_packets=gapless), ClockDomain("sync"), []

    async def trace(ctx):
        load(rig, random.Random(1), 6)
        await rig.run(ctx, 30 * length + 20)
        assert rig.paused == 0
        traces.append((rig.packets(), list(rig.accepted), list(rig.ready), list(rig.credits)))

    async def bench(ctx):
        await trace(ctx)
        for moment in range(4):
            load(rig, random.Random(2 + moment), 6)
            rig.hold = lambda port, _, moment=moment: port % 2 == moment % 2
            await rig.run(ctx, 4 * length + 3 + moment * (length // 2 + 1))
            ctx.set(domain.rst, 1)
            await rig.step(ctx)
            ctx.set(domain.rst, 0)
            assert rig.departed
            rig.hold = lambda *_: False
            rig.restart()
            await trace(ctx)

    simulate(rig.dut, bench, domain=domain, cycles=4000)
    assert len(traces[0][0]) == 24
    assert traces[1:] == traces[:1] * 4


@each_length
@pytest.mark.parametrize("stall", [0, 0.8])
def test_a_stalled_ejection_stops_but_does_not_lose(simulate, receive, make_rig, length, stall):
    rig, rng, got = make_rig(length=length, terminal=True), random.Random(f"{length} {stall}"), []
    arrivals = [(port, vc) for port, vc, dst in rig.arrivals() if dst == rig.node]
    own = {queue: [rig.packet(rig.node, rng) for _ in range(8)] for queue in ("inject", *arrivals)}
    for queue in arrivals:
        rig.waiting[queue].extend(own[queue])
    rig.to_inject.extend(flit for packet in own["inject"] for flit in packet)
    total = length * sum(map(len, own.values()))
    done = []

    async def terminal(ctx):
        while rig.cycle < 12 * length * rig.machine.buffers:  # never ready: valid must come all the same, and hold
            assert len(rig.accepted) <= 2 * rig.machine.buffers * length
            await ctx.tick()
        assert ctx.get(rig.eject.valid)
        got.extend(await receive(ctx, rig.eject, total, lambda: rng.random() < stall))
        done.append(True)

    async def bench(ctx):
        while not done:
            await rig.step(ctx)

    simulate(rig.dut, bench, terminal, cycles=12000)
    packets = [
        tuple(flit & (1 << WIDTH) - 1 for flit in got[start : start + length]) for start in range(0, total, length)
    ]
    assert {flit >> WIDTH for flit in got[length - 1 :: length]} == {1}
    assert sum(flit >> WIDTH for flit in got) == len(packets)
    for queue in own.values():
        assert [packet for packet in packets if packet in queue] == queue


def test_dead_pins_of_many_ports_are_little_logic():
    """Sums of as many bits as there are ports are not written out as one expression, which grows exponentially."""
    spec = fabric_spec("cube(4)", packet_length=4, flit_width=8)
    sizes = []
    for machine in (make_machine(spec), make_machine(replace(spec, dead_pins=True))):
        sizes.append(len(rtlil.convert(Router(machine, machine.plan.shape_of(0)), name="router", emit_src=False)))
    assert sizes[1] < 1.5 * sizes[0]
