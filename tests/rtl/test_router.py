"""One router alone, between neighbours and a terminal played by Python."""

import random
from collections import Counter, deque
from functools import cache
from itertools import count, pairwise, product

import pytest
from amaranth.hdl import Cat, ClockDomain, Module
from amaranth.lib.wiring import connect

import hdnhw.rtl.ports
from hdnhw.routing.plan import plan
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.ejection import EjectionBuffer
from hdnhw.rtl.router import Router
from hdnhw.spec import parse
from hdnhw.timing import SlotTiming, slots_per_vc

WIDTH = 16
LENGTHS = [1, 2, 4, 8]
each_length = pytest.mark.parametrize("length", LENGTHS)


@cache
def plan_of(text):
    return plan(parse(text))


class Rig:
    """A router and what stands around it, driven and recorded cycle by cycle.

    A neighbour sends like a router: it looks at its credits in the sample phase, and the packet leaves in the next
    slot. What the router sends is passed on at once: its credit comes back when the next router would give it, unless
    `hold` (a function of output and virtual channel) keeps it back. What means nothing is random: data and virtual
    channels that are not valid, and credits between routers in all phases but the update phase.
    """

    def __init__(self, *, length, buffers=None, text="rdn(cube(2), 1)", node=22, terminal=False):
        self.plan, self.node, self.length, self.timing = plan_of(text), node, length, SlotTiming(length)
        self.network, self.buffers = self.plan.network, buffers or self.timing.full_rate_buffers
        sizes = {"packet_length": length, "flit_width": WIDTH, "buffers": self.buffers}
        self.router, self.dut = Router(self.plan, self.plan.shape_of(node), **sizes), Module()
        self.dut.submodules.router = self.router
        self.local = len(self.network.ports)
        ports = {index: self.network.ports[index].name for index in self.plan.shape_of(node).ports}
        self.inputs = {index: getattr(self.router, f"{name}_i") for index, name in ports.items()}
        self.outputs = {index: getattr(self.router, f"{name}_o") for index, name in ports.items()}
        self.slots = {port: slots_per_vc(self.buffers, channel.signature.num_vcs) for port, channel in self.inputs.items()}
        if terminal:
            self.dut.submodules.ejection = ejection = EjectionBuffer(**sizes)
            connect(self.dut, self.router.eject, ejection.channel)
            self.eject = ejection.eject
        else:
            self.outputs[self.local] = self.router.eject
        self.pause, self.hold = lambda: False, lambda *_: False
        self._wire()
        self.restart()

    def restart(self):
        """Begin at cycle 0, as after reset."""
        self.serial, self.noise = count(), random.Random(1)
        self.cycle, self.dropped = 0, 0
        self.waiting = {(port, vc): deque() for port, c in self.inputs.items() for vc in range(c.signature.num_vcs)}
        self.room = {(port, vc): self.slots[port] for port, vc in self.waiting}
        self.bus = {port: {} for port in self.inputs}
        self.to_inject, self.offering = deque(), False
        self.owed = {(port, vc): deque() for port, c in self.outputs.items() for vc in range(c.signature.num_vcs)}
        self.given_at = -self.length
        self.arrived, self.accepted, self.ready, self.departed = [], [], [], []
        self.credits, self.given, self.injected = [], [], []

    def packet(self, dst, rng, *, address=None):
        """Return the flits of a packet, no two alike, to a node, or to a packed address that may name none."""
        address = self.plan.address.of_node(dst) if address is None else address
        head = next(self.serial) << self.plan.address.width | address
        assert head < 1 << WIDTH
        return (head, *(rng.randrange(1 << WIDTH) for _ in range(self.length - 1)))

    def way(self, dst):
        """Return (output, virtual channel) by which the plan sends a packet on from here."""
        hop = self.plan.rule.next_hop(self.network.decode(self.node), self.network.decode(dst))
        return hop or (self.local, 0)

    def arrivals(self):
        """Return (port, virtual channel, destination) of all packets that neighbours may send here."""
        here = self.network.decode(self.node)
        found = []
        for port in self.inputs:
            before = self.network.move(here, port)
            for dst in range(self.network.num_nodes):
                hop = self.plan.rule.next_hop(before, self.network.decode(dst))
                if hop and hop[0] == self.network.ports[port].opposite:
                    found.append((port, hop[1], dst))
        return found

    def _wire(self):
        """Join what is driven, and what is watched: a simulation settles once for each assignment."""
        inject = self.router.inject
        driven, watched = [self.router.address, inject.valid, inject.payload], [inject.ready, self.router.dropped]
        for channel in self.inputs.values():
            driven += [channel.valid, channel.data, *([channel.vc] if channel.signature.num_vcs > 1 else [])]
            watched.append(channel.credit)
        for channel in self.outputs.values():
            watched += [channel.valid, channel.data, *([channel.vc] if channel.signature.num_vcs > 1 else [])]
            driven.append(channel.credit)
        self._driven, self._watched = Cat(driven), watched
        self._offsets = [sum(map(len, driven[:place])) for place in range(len(driven))]

    async def step(self, ctx):
        """Play one cycle."""
        levels = [self.plan.address.of_node(self.node), *self._inject(), *self._arrive(), *self._give_credits()]
        ctx.set(self._driven, sum(level << at for level, at in zip(levels, self._offsets, strict=True)))
        _, _, ready, self.dropped, *values = await ctx.tick().sample(*self._watched)
        self._record(ready, iter(values))
        self.cycle += 1

    async def run(self, ctx, cycles):
        """Play a number of cycles."""
        for _ in range(cycles):
            await self.step(ctx)

    def _inject(self):
        self.offering = bool(self.to_inject) and (self.offering or not self.pause())
        return self.offering, self.to_inject[0] if self.offering else self.noise.getrandbits(WIDTH)

    def _arrive(self):
        """Start packets on the channels in the next slot; yield what is on them now."""
        if self.cycle % self.length == self.timing.sample_phase:
            head = (self.cycle // self.length + 1) * self.length + self.timing.channel_cycles
            for port in self.inputs:
                sendable = [vc for at, vc in self.waiting if at == port and self.waiting[at, vc] and self.room[at, vc]]
                if sendable:
                    vc = sendable[head // self.length % len(sendable)]
                    packet = self.waiting[port, vc].popleft()
                    self.room[port, vc] -= 1
                    self.arrived.append((head, port, vc, packet))
                    self.bus[port].update({head + place: (1, flit, vc) for place, flit in enumerate(packet)})
        for port, channel in self.inputs.items():
            noise = 0, self.noise.getrandbits(WIDTH), self.noise.getrandbits(index_width(channel.signature.num_vcs))
            levels = self.bus[port].pop(self.cycle, noise)
            yield from levels if channel.signature.num_vcs > 1 else levels[:2]

    def updates(self):
        """Return whether credits between routers count in this cycle."""
        return self.cycle % self.length == self.timing.update_phase

    def _give_credits(self):
        """Return credits: of ejection at any time, but a packet's time apart; of the others in the update phase."""
        given = {}
        for port, channel in self.outputs.items():
            count = self.updates() if port != self.local else self.cycle - self.given_at >= self.length
            given[port] = 0 if count or port == self.local else self.noise.getrandbits(channel.signature.num_vcs)
            for vc in range(channel.signature.num_vcs if count else 0):
                due = self.owed[port, vc]
                if due and due[0] <= self.cycle and not self.hold(port, vc):
                    due.popleft()
                    given[port] |= 1 << vc
                    self.given.append((self.cycle, port, vc))
        if given.get(self.local):
            self.given_at = self.cycle
        return given.values()

    def _record(self, ready, values):
        self.ready.append(ready)
        if self.offering and ready:
            self.injected.append(self.to_inject.popleft())
            self.accepted.append(self.cycle)
            self.offering = False
        for port, channel in self.inputs.items():
            bits = next(values)
            for vc in range(channel.signature.num_vcs):
                if bits >> vc & 1 and self.updates():
                    self.room[port, vc] += 1
                    assert self.room[port, vc] <= self.slots[port]
                    self.credits.append((self.cycle, port, vc))
        for port, channel in self.outputs.items():
            valid, flit, vc = next(values), next(values), next(values) if channel.signature.num_vcs > 1 else 0
            if valid:
                if self.cycle % self.length == self.timing.head_phase:
                    there = self.cycle - self.timing.channel_cycles + self.timing.hop_cycles
                    self.owed[port, vc].append(self.cycle + self.length if port == self.local else there)
                    room = slots_per_vc(self.buffers, channel.signature.num_vcs)
                    assert len(self.owed[port, vc]) <= room, "a packet was sent without a credit"
                self.departed.append((self.cycle, port, vc, flit))

    def packets(self):
        """Return (cycle of the head, output, virtual channel, flits) of what came out, after checking its form."""
        found = []
        for port in self.outputs:
            flits = [(cycle, vc, flit) for cycle, at, vc, flit in self.departed if at == port]
            for start in range(0, len(flits), self.length):
                cycles, vcs, words = zip(*flits[start : start + self.length], strict=True)
                assert cycles[0] % self.length == self.timing.head_phase
                assert cycles == tuple(range(cycles[0], cycles[0] + self.length))
                assert len(set(vcs)) == 1
                found.append((cycles[0], port, vcs[0], words))
        return sorted(found)


@each_length
def test_an_injected_packet_leaves_as_planned_and_on_time(simulate, length):
    rig, rng = Rig(length=length), random.Random(length)

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
def test_an_arriving_packet_leaves_as_planned_and_on_time(simulate, length):
    rig, rng = Rig(length=length), random.Random(length)

    async def bench(ctx):
        for rig.node in (5, 22):
            for port, vc, dst in rig.arrivals():
                packet, before, credits = rig.packet(dst, rng), len(rig.packets()), len(rig.credits)
                rig.waiting[port, vc].append(packet)
                await rig.run(ctx, 4 * length + 8)
                head = rig.arrived[-1][0] + rig.timing.hop_cycles
                assert rig.packets()[before:] == [(head, *rig.way(dst), packet)]
                # The credit is due in the update phase of the slot in which the packet leaves the buffer.
                leaves = head - rig.timing.channel_cycles
                assert rig.credits[credits:] == [(leaves + rig.timing.update_phase, port, vc)]

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
    await rig.run(ctx, (4 * rig.buffers + 8) * rig.timing.hop_cycles)
    return output


@each_length
@pytest.mark.parametrize("buffers", [1, None])
def test_nothing_is_sent_without_credit(simulate, length, buffers):
    rig, rng, allowed = Rig(length=length, buffers=buffers), random.Random(length), Counter()

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
def test_a_flow_needs_full_rate_buffers_for_each_class_for_its_full_rate(simulate, length, text, node, classes):
    full = SlotTiming(length).full_rate_buffers
    gaps = {}
    for slots in (full // 2, full):
        rig, rng = Rig(length=length, buffers=slots * classes, text=text, node=node), random.Random(1)
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
def test_two_classes_with_the_default_buffers_fill_a_channel_that_one_does_not(simulate, length):
    """A port has room for one flow at full rate: one class of two sustains half of that, both together all of it."""
    heads = {}
    for classes in (1, 2):
        rig, rng = Rig(length=length), random.Random(1)
        flows = {(rig.way(dst), port): (port, vc, dst) for port, vc, dst in rig.arrivals() if rig.way(dst)[0] != rig.local}
        output = next(way[0] for way, _ in flows if {(way[0], 0), (way[0], 1)} <= {way for way, _ in flows})
        first = next(flow for (way, _), flow in flows.items() if way == (output, 0))
        second = next(flow for (way, at), flow in flows.items() if way == (output, 1) and at != first[0])
        for port, vc, dst in (first, second)[:classes]:
            rig.waiting[port, vc].extend(rig.packet(dst, rng) for _ in range(32 // classes))

        async def bench(ctx, rig=rig):
            await rig.run(ctx, 90 * length)

        simulate(rig.dut, bench)
        heads[classes] = [head for head, port, _, _ in rig.packets() if port == output]
    assert [len(own) for own in heads.values()] == [32, 32]
    gaps = {classes: (own[-6] - own[6]) / 20 / length for classes, own in heads.items()}
    assert gaps[2] < 1.06
    assert gaps[1] > 1.2


@each_length
def test_ready_falls_before_packets_and_before_tails(simulate, length):
    """All slots are taken: no packet is begun. Inside of one, a tail flit waits for the update phase, no other does."""
    rig, rng = Rig(length=length), random.Random(length)
    dst = next(dst for dst in range(rig.network.num_nodes) if rig.way(dst)[0] != rig.local)
    packets = [rig.packet(dst, rng) for _ in range(3 * rig.buffers)]
    rig.to_inject.extend(flit for packet in packets for flit in packet)
    rig.pause = lambda: rng.random() < 0.4
    downstream = rig.slots[rig.way(dst)[0]]

    async def bench(ctx):
        rig.hold = lambda *_: True
        await rig.run(ctx, 16 * length * rig.buffers)
        assert len(rig.accepted) == (rig.buffers + downstream) * length  # those wait here, these have gone downstream
        assert not any(rig.ready[-length:])
        rig.hold = lambda *_: False
        await rig.run(ctx, 32 * length * rig.buffers)

    simulate(rig.dut, bench, cycles=8000)
    assert [packet for _, _, _, packet in rig.packets()] == packets
    taken = set(rig.accepted)
    for cycle, ready in enumerate(rig.ready):
        position = sum(1 for at in taken if at < cycle) % length
        if position == length - 1 and length > 1:
            assert ready == (cycle % length == rig.timing.update_phase)
        else:
            assert ready or position == 0


@pytest.mark.parametrize("length", [2, 3, 5, 8])
def test_a_source_may_pause_inside_a_packet_in_any_phase(simulate, length):
    """Begin in each phase and stop before each flit in turn, for times up to two slots."""
    rig, rng = Rig(length=length), random.Random(length)
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
def test_impossible_destinations_are_dropped_and_counted(simulate, length):
    rig, rng = Rig(length=length, text="rdn(torus(3), 1)", node=13), random.Random(length)
    nodes = {rig.plan.address.of_node(node): node for node in range(rig.network.num_nodes)}
    addresses = list(range(1 << rig.plan.address.width))
    rng.shuffle(addresses)
    packets = [(address in nodes, rig.packet(None, rng, address=address)) for address in addresses]
    rig.to_inject.extend(flit for _, packet in packets for flit in packet)
    rig.pause = lambda: rng.random() < 0.2
    possible = [packet for good, packet in packets if good]

    async def bench(ctx):
        while rig.to_inject:
            drops = sum(not good for good, _ in packets[: len(rig.accepted) // length])
            await rig.step(ctx)
            assert rig.dropped == drops
        await rig.run(ctx, 8 * length + 8)

    simulate(rig.dut, bench)
    assert rig.dropped == len(packets) - len(possible) > 0
    assert [packet for _, _, _, packet in rig.packets()] == possible


def test_the_count_of_dropped_packets_stays_at_its_maximum(simulate, monkeypatch):
    monkeypatch.setattr(hdnhw.rtl.ports, "DROPPED_WIDTH", 3)
    rig, rng, seen = Rig(length=2, text="torus(5)", node=0), random.Random(1), []

    async def bench(ctx):
        for _ in range(12):
            rig.to_inject.extend(rig.packet(None, rng, address=7))
            await rig.run(ctx, 3)
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
@pytest.mark.parametrize(("buffers", "holding"), [(None, 0), (1, 0.6), (4, 0.97)])
def test_random_traffic_on_all_ports(simulate, length, buffers, holding):
    rig, rng = Rig(length=length, buffers=buffers), random.Random(f"{length} {buffers} {holding}")
    total = load(rig, rng, 40)
    sent = {("inject", 0): list(zip(*[iter(rig.to_inject)] * length, strict=True))}
    sent |= {queue: list(packets) for queue, packets in rig.waiting.items()}
    rig.pause, rig.hold = lambda: rng.random() < 0.2, lambda *_: rng.random() < holding

    async def bench(ctx):
        while len(rig.departed) < total * length:
            await rig.step(ctx)
        await rig.run(ctx, 2 * rig.timing.hop_cycles)

    simulate(rig.dut, bench, cycles=6000)
    came = [(port, vc, packet) for _, port, vc, packet in rig.packets()]
    mask = (1 << rig.plan.address.width) - 1
    node_of = {rig.plan.address.of_node(node): node for node in range(rig.network.num_nodes)}
    assert len(came) == len(set(came)) == total
    for packets in sent.values():
        ways = [(*rig.way(node_of[packet[0] & mask]), packet) for packet in packets]
        assert [item for item in came if item in set(ways)] == ways  # each as planned, in the order of its queue
    assert Counter((port, vc) for _, port, vc in rig.credits) == {
        queue: len(packets) for queue, packets in sent.items() if packets and queue[0] != "inject"
    }


@each_length
def test_inputs_take_turns(simulate, length):
    rig, rng = Rig(length=length), random.Random(length)
    queues = {port: (port, vc) for port, vc, dst in rig.arrivals() if dst == rig.node}
    source = {}
    for queue in (*queues.values(), "inject"):
        for _ in range(12):
            packet = rig.packet(rig.node, rng)
            source[packet] = queue
            rig.to_inject.extend(packet) if queue == "inject" else rig.waiting[queue].append(packet)

    async def bench(ctx):
        await rig.run(ctx, 60 * length + 20)

    simulate(rig.dut, bench)
    order = [source[packet] for _, _, _, packet in rig.packets()]
    assert len(order) == 12 * 4
    for start in range(8, 32):  # all queues hold packets then
        assert set(order[start : start + 4]) == set(source.values())


@each_length
def test_virtual_channels_take_turns(simulate, length):
    rig, rng = Rig(length=length), random.Random(length)
    flows = {(port, vc): dst for port, vc, dst in rig.arrivals() if rig.way(dst)[0] != rig.local}
    port = next(port for port, _ in flows if (port, 0) in flows and (port, 1) in flows)
    source = {}
    for vc in (0, 1):
        for _ in range(3 * rig.buffers + 8):
            packet = rig.packet(flows[port, vc], rng)
            source[packet] = vc
            rig.waiting[port, vc].append(packet)

    async def bench(ctx):
        rig.hold = lambda *_: True
        await rig.run(ctx, 6 * rig.buffers * rig.timing.hop_cycles)
        rig.hold = lambda *_: False
        await rig.run(ctx, 8 * rig.buffers * rig.timing.hop_cycles + 1)  # the last tail included

    simulate(rig.dut, bench)
    order = [source[packet] for _, _, _, packet in rig.packets()][2 * rig.buffers :][:12]
    assert len(order) == 12
    assert all(one != other for one, other in pairwise(order))


@each_length
def test_reset_in_the_middle_of_packets_leaves_nothing_behind(simulate, length):
    rig, domain, traces = Rig(length=length), ClockDomain("sync"), []

    async def trace(ctx):
        load(rig, random.Random(1), 6)
        await rig.run(ctx, 30 * length + 20)
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
def test_a_stalled_ejection_stops_but_does_not_lose(simulate, receive, length, stall):
    rig, rng, got = Rig(length=length, terminal=True), random.Random(f"{length} {stall}"), []
    arrivals = [(port, vc) for port, vc, dst in rig.arrivals() if dst == rig.node]
    own = {queue: [rig.packet(rig.node, rng) for _ in range(8)] for queue in ("inject", *arrivals)}
    for queue in arrivals:
        rig.waiting[queue].extend(own[queue])
    rig.to_inject.extend(flit for packet in own["inject"] for flit in packet)
    total = length * sum(map(len, own.values()))
    done = []

    async def terminal(ctx):
        while rig.cycle < 12 * length * rig.buffers:  # never ready: valid must come all the same, and hold
            assert len(rig.accepted) <= 2 * rig.buffers * length
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
