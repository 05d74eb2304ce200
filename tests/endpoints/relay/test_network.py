"""Several relays with a network between them, which the bench plays: what users send comes out, or is accounted for."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from hdnhw.endpoints.relay.format import RelayKind

NODES = 3


class Network:
    """Carries packets between the nodes of a rig, each in its own time, those of a pair in order.

    Of packets, `faults` come out elsewhere, as if their next channel were dead, as many are late by the timeout, and as
    many requests and grants do not come out at all.
    """

    def __init__(self, rig, rng, faults):
        self.rig, self.rng, self.faults = rig, rng, faults
        self.flying, self.due = [], {}
        rig.carry = self.carry

    def carry(self, node, flits):
        packet = self.rig.packets.unpack(flits)
        dies, strays, dawdles = (self.rng.random() < self.faults for _ in range(3))
        if dies and packet.kind in (RelayKind.REQUEST, RelayKind.GRANT):
            return
        place = self.rng.randrange(NODES) if strays else packet.dst
        arrival = self.rig.cycle + 1 + self.rng.randrange(30) + dawdles * self.rig.timeout
        earliest = max(arrival, self.due.get((node.address, place), 0))
        self.due[node.address, place] = earliest
        self.flying.append((earliest, place, flits))

    def land(self):
        """Hand over the packets that are there by now."""
        for flight in sorted(flight for flight in self.flying if flight[0] <= self.rig.cycle):
            self.flying.remove(flight)
            self.rig.nodes[flight[1]].bring(flight[2])


def offer(rig, rng, count):
    """Let every user send packets with all numbers of stops; return them by their payload."""
    sent = {}
    for node in rig.nodes:
        for _ in range(count):
            left = rng.randrange(rig.waypoints + 1)
            packet = rig.data(rng, dst=rng.randrange(NODES), left=left, stops=[])
            stops = [rng.randrange(NODES) for _ in range(rig.waypoints)]
            packet = replace(packet, stops=tuple(stops))
            assert packet.payload not in sent
            sent[packet.payload] = (node.address, packet)
            node.send.flits.extend(rig.flits(packet))
    return sent


def play(simulate, rig, rng, count, faults):
    """Play until nothing moves any more; return what was sent."""
    network, sent = Network(rig, rng, faults), offer(rig, rng, count)
    for node in rig.nodes:
        for side in (node.send, node.eject, node.inject, node.deliver):
            side.pause = lambda: rng.random() < 0.2

    async def bench(ctx):
        quiet = 0
        while quiet < 100 + (2 * rig.timeout if faults else 0):
            network.land()
            before = sum(len(node.inject.packets) + len(node.deliver.packets) for node in rig.nodes)
            await rig.step(ctx)
            after = sum(len(node.inject.packets) + len(node.deliver.packets) for node in rig.nodes)
            quiet = 0 if after > before or network.flying else quiet + 1

    simulate(rig.dut, bench, cycles=100_000)
    assert all(len(node.accepted) == count * rig.length for node in rig.nodes)
    return sent


@pytest.mark.parametrize(
    ("length", "waypoints", "relay_buffers", "relay_queues"), [(3, 2, 1, 4), (3, 2, 1, 1), (1, 1, 2, 4)]
)
def test_every_packet_arrives_once(simulate, make_rig, length, waypoints, relay_buffers, relay_queues):
    rig = make_rig(
        nodes=NODES,
        length=length,
        waypoints=waypoints,
        relay_buffers=relay_buffers,
        relay_queues=relay_queues,
        num_nodes=NODES,
        timeout=1 << 16,
        width=32,
    )
    sent = play(simulate, rig, random.Random(length), 15, 0)
    for node in rig.nodes:
        assert not any(node.counts.values())
        for packet in node.received:
            src, original = sent.pop(packet.payload)
            final = original.stops[0] if original.left else original.dst
            assert packet == replace(original, src=src, left=0, dst=final)
            assert node.address == final
    assert not sent


def account_for(simulate, rig, seed, count):
    """Check that every packet arrives or is counted, and is told of at most once; return the counters of all nodes."""
    sent = play(simulate, rig, random.Random(seed), count, 0.15)
    counts, notices, lost = Counter(), Counter(), Counter()
    for node in rig.nodes:
        counts.update(node.counts)
        for packet in node.received:
            if packet.kind == RelayKind.NOTICE:
                notices[node.address, packet.stops[0]] += 1
            else:
                src, original = sent.pop(packet.payload)
                final = original.stops[0] if original.left else original.dst
                assert packet == replace(original, src=src, left=0, dst=final)
                assert node.address == final
    for src, packet in sent.values():
        lost[src, packet.stops[0] if packet.left else packet.dst] += 1
    assert len(sent) == counts["stranded"] + counts["expired"] + counts["unreserved"]
    assert counts["refused"] == counts["untold"] == 0
    assert not notices - lost
    assert len(sent) - notices.total() <= counts["astray"]
    return counts


def test_every_packet_arrives_or_is_accounted_for(simulate, make_rig):
    rig = make_rig(nodes=NODES, length=3, waypoints=2, relay_buffers=2, relay_queues=2, num_nodes=NODES)
    counts = account_for(simulate, rig, 2, 10)
    assert min(counts[name] for name in ("stranded", "expired", "unreserved", "astray")) > 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("length", "waypoints", "relay_buffers", "relay_queues"), [(1, 1, 1, 2), (2, 3, 1, 1), (4, 2, 4, 4)]
)
def test_many_packets_arrive_or_are_accounted_for(
    simulate, make_rig, seed, length, waypoints, relay_buffers, relay_queues
):
    sizes = {"relay_buffers": relay_buffers, "relay_queues": relay_queues}
    rig = make_rig(nodes=NODES, length=length, waypoints=waypoints, **sizes, num_nodes=NODES, width=40)
    account_for(simulate, rig, seed, 60)
