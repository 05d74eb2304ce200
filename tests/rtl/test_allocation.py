"""Allocation as seen at a router's ports: the model's, slot by slot, and what it promises whoever waits."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from hdnhw.machine.timing import CLASS_SLOTS
from hdnhw.spec import QUEUEINGS
from tests.model.bare_router import BareRouter


class Replay:
    """The model's router, fed with what a rig has recorded."""

    def __init__(self, rig):
        self.rig, self.length, self.timing, self.local = rig, rig.length, rig.timing, rig.local
        num_vcs, ports = rig.plan.num_vcs, rig.network.ports
        several = any(num_vcs[ports[port].opposite] > 1 for port in rig.inputs)
        self.vc_bits = (rig.plan.max_vcs - 1).bit_length()
        slots = [*map(rig.machine.vc_buffers, range(len(num_vcs))), rig.machine.ejection_buffers]
        self.router = BareRouter(
            np.repeat(np.array(slots, np.int16), 1 << self.vc_bits),
            np.array([several]),
            0,
            vc_bits=self.vc_bits,
            lanes=rig.plan.lanes,
            rounds=rig.machine.matching_rounds,
            early=self.timing.matches_early,
        )
        self.packets = []

    def arrivals(self):
        """Return (cycle in which a packet enters its queue, port, virtual channel, packet), in order."""
        rig, length = self.rig, self.length
        injected = [
            (rig.accepted[at + length - 1], self.local, 0, tuple(rig.injected[at : at + length]))
            for at in range(0, len(rig.accepted) - length + 1, length)
        ]
        return sorted([*rig.arrived, *injected])

    def slot(self):
        """Allocate once; yield (output, virtual channel there, input, virtual channel, packet)."""
        for entry, way, packet in self.router.allocate():
            yield *divmod(way, 1 << self.vc_bits), *divmod(entry, 1 << self.vc_bits), self.packets[packet]

    def run(self):
        """Return (what has come out as :meth:`Rig.packets`, credits as ``rig.credits``, cycles of injection's pops)."""
        rig, address = self.rig, self.rig.plan.address
        nodes = {address.of_node(node): node for node in range(rig.network.num_nodes)}
        arrivals, given, sent, credits, pops = self.arrivals(), list(rig.given), [], [], []
        for start in range(0, rig.cycle, self.length):
            sample = start + self.timing.sample_phase
            while arrivals and arrivals[0][0] < sample:
                _, port, vc, packet = arrivals.pop(0)
                output, output_vc = rig.way(nodes[packet[0] & (1 << address.width) - 1])
                entry, way = port << self.vc_bits | vc, output << self.vc_bits | output_vc
                self.router.put(entry, way, len(self.packets))
                self.packets.append(packet)
            while given and given[0][0] < start + self.timing.credit_sample_phase:
                _, output, output_vc = given.pop(0)
                self.router.ways[0, output << self.vc_bits | output_vc] += 1
            leaves = start + self.length
            for output, output_vc, port, vc, packet in self.slot():
                sent.append((leaves + self.timing.channel_cycles, output, output_vc, packet))
                if port == self.local:
                    pops.append(leaves + self.timing.update_phase - (self.length == 1))
                else:
                    credits.append((leaves + self.timing.credit_phase, port, vc))
        return sorted(sent), sorted(credits), pops


def fill(rig, rng, each):
    """Queue packets at all inputs of a rig, each to any node that its neighbor may send here."""
    flows = defaultdict(list)
    for port, vc, dst in rig.arrivals():
        flows[port, vc].append(dst)
    for input_vc, destinations in flows.items():
        rig.waiting[input_vc].extend(rig.packet(rng.choice(destinations), rng) for _ in range(each))
    for _ in range(each):
        rig.to_inject.extend(rig.packet(rng.randrange(rig.network.num_nodes), rng))


def assert_replayed(rig):
    """Compare every packet, credit and `ready` of a rig with the model's."""
    sent, credits, pops = Replay(rig).run()
    assert [packet for packet in sent if packet[0] + rig.length <= rig.cycle] == rig.packets()
    assert [credit for credit in credits if credit[0] < rig.cycle] == sorted(rig.credits)
    level, position, accepted, pushed = 0, 0, set(rig.accepted), False
    for cycle, ready in enumerate(rig.ready):
        level += pushed - (cycle - 1 in pops)
        tail = position == rig.length - 1
        assert ready == (
            level < rig.machine.injection_buffers and (not tail or cycle % rig.length == rig.timing.update_phase)
        )
        pushed = tail and cycle in accepted
        position = (position + (cycle in accepted)) % rig.length


FABRICS = {
    "rdn": {"text": "rdn(cube(2), 1)", "node": 22},
    "mesh": {"text": "mesh(3, 3)", "node": 4},
    "ff": {"text": "hdn(cube(1), [[], [0]])", "modes": "ff", "node": 21},
    "torus": {"text": "torus(5, 4)", "node": 7},
}
FEW = (1, 2, 8)
MORE = (3, 4, 5, 6, 7, 9, 10, 16)


@pytest.mark.parametrize(
    ("name", "length", "buffers"),
    [("rdn", length, None) for length in FEW]
    + [("mesh", length, 1 + length % 2) for length in FEW]
    + [("ff", 5, 8), ("torus", 6, 4)]
    + [
        *(("rdn", length, None) for length in MORE),
        *(("mesh", length, 1 + length % 2) for length in MORE),
        *(("ff", length, 4 * (length % 2) + 4) for length in (1, 2, 8)),
        *(("torus", length, 4) for length in (1, 3, 8)),
    ],
)
@pytest.mark.parametrize("queueing", QUEUEINGS)
def test_the_router_is_the_model_slot_by_slot(simulate, make_rig, name, length, buffers, queueing):
    options = {"length": length, "buffers": buffers, "queueing": queueing}
    rig, rng = make_rig(**options, **FABRICS[name]), random.Random(f"{name} {length}")
    slots = 60 + 200 // length
    fill(rig, rng, 40)
    level = [0]
    rig.hold = lambda port, vc: rng.random() < level[0] + 0.2 * (port + vc) % 0.3
    rig.pause = lambda: rng.random() < level[0]

    async def bench(ctx):
        for level[0] in (0, 0.3, 0.7, 0):
            await rig.run(ctx, slots // 4 * length)
        await rig.run(ctx, -(rig.cycle - rig.timing.channel_cycles) % length)

    simulate(rig.dut, bench, cycles=4000)
    assert len(rig.packets()) > slots // 2
    assert_replayed(rig)


def waits(rig, replay):
    """Return for each queue the most slots that a packet stood at its head before it left."""
    longest, before = Counter(), {}
    length, timing = rig.length, rig.timing
    left = {packet: (cycle - timing.channel_cycles) // length - 1 for cycle, _, _, packet in rig.packets()}
    for entered, port, vc, packet in replay.arrivals():
        seen = (entered - timing.sample_phase) // length + 1
        if packet in left:
            ready = max(seen, before.get((port, vc), -1) + 1)
            longest[port, vc] = max(longest[port, vc], left[packet] - ready)
            before[port, vc] = left[packet]
    return longest


@pytest.mark.parametrize("length", [2, 8, *(length for length in (1, 3, 5, 7))])
@pytest.mark.parametrize("every", [2, 3, 7, *(every for every in (4, 5, 6))])
def test_nothing_starves_where_credits_come_every_nth_slot(simulate, make_rig, length, every):
    """Every queue wants one of two outputs, each with a credit every n-th slot: so many a queue, or a turn a class."""
    rig, rng = make_rig(length=length, **FABRICS["rdn"]), random.Random(length)
    flows = defaultdict(lambda: defaultdict(list))
    for port, vc, dst in rig.arrivals():
        flows[rig.way(dst)[0]][port, vc].append(dst)
    network = max((output for output in flows if output != rig.local), key=lambda output: len(flows[output]))
    contested = {rig.local: flows[rig.local], network: flows[network]}
    for input_vc in rig.waiting:
        ways = [own[input_vc] for own in contested.values() if input_vc in own]
        if ways:
            rig.waiting[input_vc].extend(rig.packet(rng.choice(ways[turn % len(ways)]), rng) for turn in range(40))
    to_network = [dst for dst in range(rig.network.num_nodes) if rig.way(dst)[0] == network]
    for turn in range(40):
        rig.to_inject.extend(rig.packet(rig.node if turn % 2 else rng.choice(to_network), rng))
    rig.hold = lambda *_: rig.cycle // length % every > 0
    most = (len(rig.inputs) + 1) * rig.plan.max_vcs * max(every, CLASS_SLOTS * rig.plan.max_vcs)

    async def bench(ctx):
        await rig.run(ctx, 2 * most * length)
        await rig.run(ctx, -(rig.cycle - rig.timing.channel_cycles) % length)

    simulate(rig.dut, bench, cycles=8000)
    longest = waits(rig, Replay(rig))
    assert len(longest) >= 5
    assert max(longest.values()) <= most, longest
    assert_replayed(rig)
