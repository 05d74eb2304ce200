"""What is counted of channels and queues: against the routes, against Little's law, and against a replay by hand."""

import csv
import json
from collections import Counter
from functools import cache

import numpy as np
import pytest
from pyarrow import parquet

from hdnhw.machine.timing import buffers_per_vc
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model.core import HEAD_CYCLE, HOPS, TAG, TAIL_CYCLE, Arrivals
from hdnhw.model.counts import Counts, buffer_classes, channel_types, write_channels
from hdnhw.model.course import Course
from hdnhw.rules.plan import plan
from hdnhw.spec import QUEUEINGS
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals

LIMIT = 1 << 20


@cache
def plan_of(text, lanes=1):
    return plan(text, None, lanes)


def arrays(counts):
    return counts.sent, counts.stalled, counts.held, counts.most


class Run:
    """A run of given packets, in pieces: (source, destination, cycle in which it is created) each."""

    def __init__(self, model, packets, terminals=None):
        self.model, self.packets = model, sorted(packets, key=lambda packet: packet[2])
        self.course = Course(model, terminals or Terminals(), counting=True)
        self.routes = [model.plan.rule.route(source, destination) for source, destination, _ in self.packets]
        self.given = 0

    def advance(self, limit=LIMIT):
        due = [packet for packet in self.packets[self.given :] if packet[2] < limit]
        tags = range(self.given, self.given + len(due))
        source, destination, created = np.array(due, np.int64).reshape(-1, 3).T
        self.given += len(due)
        address = self.model.plan.address.of_node(destination)
        arrivals = Arrivals.of(created, source, address, tags)
        return self.course.advance(arrivals, packets=len(self.packets), limit=limit)


def random_packets(made, count, *, seed=1, spread=0):
    rng, nodes = np.random.default_rng(seed), made.network.num_nodes
    return [
        (src, int(rng.integers(0, nodes)), int(rng.integers(0, spread + 1)))
        for src in range(nodes)
        for _ in range(count)
    ]


def channels_of(made, route, source, destination):
    """Return the (node, channel, virtual channel) that a packet goes over."""
    ports = len(made.network.ports)
    return [(source, ports + 1, 0), *route, (destination, ports, 0)]


def queues_of(made, route, source):
    """Return the (node, input, virtual channel) of the queues that a packet is in, one more than its hops."""
    network, table = made.network, neighbor_table(made.network)
    entered = [(int(table[node, port]), network.ports[port].opposite, vc) for node, port, vc in route]
    return [(source, len(network.ports), 0), *entered]


def filled(counts_of, shape):
    table = np.zeros(shape, np.int64)
    for place, count in counts_of.items():
        table[place] = count
    return table


MACHINES = [
    ("mesh(3, 3)", 1, 1, None),
    ("torus(5, 2)", 1, 2, 2),
    ("rdn(cube(2), 1)", 1, 4, 1),
    ("rdn(cube(2), 1)", 2, 1, None),
    ("hdn(torus(5), [[]])", 2, 8, None),
]


@pytest.mark.parametrize(("text", "lanes", "length", "buffers"), MACHINES)
@pytest.mark.parametrize(
    "terminals", [Terminals(), Terminals(source_gap=60, sink_stall=100, seed=5)], ids=["", "stalls"]
)
def test_channels_carry_the_routes(model_on, text, lanes, length, buffers, terminals):
    made = plan_of(text, lanes)
    run = Run(model_on(made, packet_length=length, buffers=buffers), random_packets(made, 12), terminals)
    assert len(run.advance()) == len(run.packets)
    counts, expected = run.course.counts(), Counter()
    for route, (source, destination, _) in zip(run.routes, run.packets, strict=True):
        expected.update(channels_of(made, route, source, destination))
    assert np.array_equal(counts.sent, filled(expected, counts.sent.shape))
    ports = len(made.network.ports)
    assert counts.sent[:, :ports].sum() == run.course.packets_sent == sum(map(len, run.routes))


@pytest.mark.parametrize(("text", "lanes", "length", "buffers"), MACHINES)
def test_a_packet_that_waits_for_nothing_is_one_slot_in_each_queue(model_on, text, lanes, length, buffers):
    made = plan_of(text, lanes)
    apart = [
        (source, target, 50 * number * length) for number, (source, target, _) in enumerate(random_packets(made, 2))
    ]
    run = Run(model_on(made, packet_length=length, buffers=buffers), apart)
    run.advance()
    counts, expected = run.course.counts(), Counter()
    for route, (source, _, _) in zip(run.routes, run.packets, strict=True):
        expected.update(queues_of(made, route, source))
    assert np.array_equal(counts.held, filled(expected, counts.held.shape))
    assert not counts.stalled.any()


@pytest.mark.parametrize(("text", "lanes", "length", "buffers"), MACHINES)
def test_littles_law(model_on, text, lanes, length, buffers):
    """Packets in queues, summed over slots, are slots in queues, summed over packets: one a queue and their waits."""
    made = plan_of(text, lanes)
    model = model_on(made, packet_length=length, buffers=buffers)
    run = Run(model, random_packets(made, 12))
    waits = 0
    for packet in run.advance():
        took, head = int(packet[TAIL_CYCLE] - packet[HEAD_CYCLE]), int(packet[HEAD_CYCLE])
        waits += took - model.timing.zero_load_latency(int(packet[HOPS]), head % length)
    assert waits > 0
    assert run.course.counts().held.sum() == sum(len(route) + 1 for route in run.routes) + waits // length


class Replay:
    """A run slot by slot, told from outside: when each packet comes into each queue of its route, and leaves it."""

    def __init__(self, run):
        self.run, timing = run, run.model.timing
        self.came, self.went = ([[] for _ in run.packets] for _ in range(2))
        self.snapshots = []
        while run.course.packets_gone < len(run.packets):
            left = run.advance(timing.sample_phase + (len(self.snapshots) + 1) * timing.packet_length)
            slot = len(self.snapshots)
            self.snapshots.append(run.course.counts())
            for rows in (run.course.packets, left):
                for tag, head_cycle, hops in rows[:, [TAG, HEAD_CYCLE, HOPS]].tolist():
                    self.see(tag, head_cycle, hops, slot)
            for tag in left[:, TAG].tolist():
                self.went[tag].append(slot)

    def see(self, tag, head_cycle, hops, slot):
        timing, came = self.run.model.timing, self.came[tag]
        if not came and head_cycle >= 0:
            phase, length = timing.update_phase, timing.packet_length
            tail = next(c for c in range(head_cycle + length - 1, LIMIT) if c % length == phase)
            came.append(next(c for c in range(tail + 1, LIMIT) if c % length == timing.sample_phase) // length)
        if 0 < hops == len(came):
            came.append(slot)
            self.went[tag].append(slot - timing.hop_slots)

    def counts(self, slots):
        """Return (sent, stalled, held, most) up to a slot."""
        run, made = self.run, self.run.model.plan
        sent, held, most, wanted, used = Counter(), Counter(), Counter(), {}, set()
        for tag, (source, destination, _) in enumerate(run.packets):
            channels = channels_of(made, run.routes[tag], source, destination)
            sent[channels[0]] += self.came[tag][0] <= slots
            queues = queues_of(made, run.routes[tag], source)
            for queue, channel, came, went in zip(queues, channels[1:], self.came[tag], self.went[tag], strict=True):
                sent[channel] += went < slots
                used.add((channel[:2], went))
                for slot in range(came, min(went + 1, slots)):
                    held[queue] += 1
                    wanted.setdefault((queue, slot), []).append((came, channel[:2]))
        heads = {(min(packets)[1], slot) for (_, slot), packets in wanted.items()}
        stalled = Counter(channel for channel, slot in heads - used) + self.sources(slots)
        for (queue, _), packets in wanted.items():
            most[queue] = max(most[queue], len(packets))
        shapes = [table.shape for table in arrays(self.snapshots[0])]
        return [filled(count, shape) for count, shape in zip((sent, stalled, held, most), shapes, strict=True)]

    def sources(self, slots):
        """Count the slots in which a source has a packet and the queue of injection is full."""
        model, stalled = self.run.model, Counter()
        timing, channel = model.timing, len(model.plan.network.ports) + 1
        for node in range(model.plan.network.num_nodes):
            own = [tag for tag, packet in enumerate(self.run.packets) if packet[0] == node]
            for slot in range(1, slots + 1):
                inside = sum(self.came[tag][0] < slot <= self.went[tag][0] + 1 for tag in own)
                end = timing.sample_phase + slot * timing.packet_length
                waiting = any(self.came[tag][0] > slot and self.run.packets[tag][2] < end for tag in own)
                stalled[node, channel] += inside == model.machine.buffers and waiting
        return stalled


@pytest.mark.parametrize(
    ("text", "lanes", "length", "buffers"),
    [
        ("torus(5)", 1, 1, 2),
        ("mesh(3)", 1, 3, 1),
        ("rdn(cube(2), 1)", 1, 4, 1),
        ("rdn(cube(2), 1)", 2, 1, 2),
        ("hdn(torus(5), [[]])", 2, 8, 1),
    ],
)
def test_counts_are_those_of_a_replay(model_on, text, lanes, length, buffers):
    made = plan_of(text, lanes)
    packets = random_packets(made, 8, seed=length, spread=10 * length)
    replay = Replay(Run(model_on(made, packet_length=length, buffers=buffers), packets))
    end = len(replay.snapshots)
    for slots in (1, end // 3, end // 2, end):
        counts = replay.snapshots[slots - 1]
        assert counts.slots == slots
        for counted, expected in zip(arrays(counts), replay.counts(slots), strict=True):
            assert np.array_equal(counted, expected)
    assert counts.stalled[:, :-2].any()
    assert counts.stalled[:, -1].any()


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_terminals_by_the_slot_are_counted_as_those_by_the_cycle(model_on, length):
    made = plan_of("rdn(cube(2), 1)")
    model, packets = model_on(made, packet_length=length, buffers=2), random_packets(made, 10, spread=20)
    by_slot, by_cycle = (Run(model, packets, terminals) for terminals in (Terminals(), Terminals(sink_hold=1)))
    limit = model.timing.sample_phase + 60 * length
    for run in (by_slot, by_cycle):
        run.advance(limit)
    for one, other in zip(*(arrays(run.course.counts()) for run in (by_slot, by_cycle)), strict=True):
        assert np.array_equal(one, other)
    assert by_slot.course.counts().stalled[:, -1].any()


def test_a_packet_that_waits_for_another_stalls_no_channel(model_on):
    """Two packets want an output in the same slot, and it carries one: the other is a slot longer in its queue."""
    run = Run(model_on(plan_of("mesh(3)"), packet_length=8), [(0, 2, 0), (1, 2, 12)])
    run.advance()
    counts = run.course.counts()
    assert counts.held.sum() == 2 * 3 - 1 + 1
    assert not counts.stalled.any()


def test_a_packet_behind_one_of_another_way_stalls_its_channel_in_virtual_output_queues(model_on):
    """Node 1 of three in a row has packets for both ends in turn, and no sink takes any: channels have no credit."""
    stalled = {}
    for queueing in QUEUEINGS:
        model = model_on(plan_of("mesh(3)"), packet_length=1, buffers=2, queueing=queueing)
        run = Run(model, [(1, 0, 0), (1, 2, 0)] * 6, Terminals(sink_hold=100))
        run.advance()
        stalled[queueing] = sorted(run.course.counts().stalled[1, :2].tolist())
    assert stalled["fifo"][0] < 10 < 80 < stalled["fifo"][1]
    assert stalled["voq"][0] > 80


@pytest.mark.parametrize("hold", [20, 41])
def test_without_credit_a_channel_is_stalled(model_on, hold):
    """One place everywhere, and a sink that takes nothing at first. With packets of one flit, a hop takes three slots.

    The first packet is sent in slots 1 and 4 and taken in cycle `hold`. The second comes in when the first has left, in
    slot 3, is sent when its credit is back, in slot 6, and waits from slot 9 on for that of the sink.
    """
    model = model_on(plan_of("mesh(2)"), packet_length=1, buffers=1)
    run = Run(model, [(0, 1, 0), (0, 1, 0)], Terminals(sink_hold=hold))
    first, second = sorted(run.advance()[:, TAIL_CYCLE].tolist())
    assert first == hold < second
    counts = run.course.counts()
    assert counts.sent[..., 0].tolist() == [[2, 0, 2], [0, 2, 0]]
    assert counts.stalled.tolist() == [[3, 0, 1], [0, hold + 1 - 9, 0]]
    assert counts.held[..., 0].tolist() == [[0, 1 + 4], [1 + hold + 2 - 9, 0]]


@pytest.mark.parametrize("length", [1, 2, 8])
@pytest.mark.parametrize("warmup", [None, 1001])
def test_the_interval_is_counted(model_on, warmup, length):
    model = model_on(plan_of("rdn(cube(2), 1)"), packet_length=length)
    load = LoadSpec(rate=0.2, cycles=4003, warmup=warmup)
    counted, plain = (measure(model, load, counting=counting) for counting in (True, False))
    assert plain.counts is None
    assert np.array_equal(counted.packet_latency, plain.packet_latency)
    assert (counted.accepted_rate, counted.cycles) == (plain.accepted_rate, plain.cycles)
    counts, start = counted.counts, counted.warmup
    phases = np.arange(start, start + load.cycles) % length
    assert counts.slots == (phases == model.timing.sample_phase).sum()
    taken, offered = (counts.sent[:, number].sum() / 32 / counts.slots for number in (-2, -1))
    few = 2 / counts.slots  # packets a node that are under way at the ends of the interval
    assert taken == pytest.approx(counted.accepted_rate, abs=few)
    assert offered == pytest.approx(counted.offered_rate, abs=few)
    hops = counts.sent[:, :-2].sum() / counts.sent[:, -1].sum()
    assert hops == pytest.approx(counted.mean_hops, rel=0.02)


def test_a_slot_at_least_must_be_counted(model_on):
    model = model_on(plan_of("mesh(2)"), packet_length=40)
    with pytest.raises(SpecError, match="cycles must be at least the 40 of a slot, not 39"):
        measure(model, LoadSpec(cycles=39), counting=True)
    assert measure(model, LoadSpec(cycles=40, warmup=7), counting=True).counts.slots == 1


def random_counts(made, seed=3):
    rng, ports, nodes = np.random.default_rng(seed), len(made.network.ports), made.network.num_nodes
    sent = np.zeros((nodes, ports + 2, made.max_vcs), np.int64)
    held, most = np.zeros((2, nodes, ports + 1, made.max_vcs), np.int64)
    stalled = np.zeros((nodes, ports + 2), np.int64)
    for node in range(nodes):
        for name in made.network.neighbors(node):
            port = [port.name for port in made.network.ports].index(name)
            sent[node, port, : made.num_vcs[port]] = rng.integers(0, 20, made.num_vcs[port])
            inputs = made.num_vcs[made.network.ports[port].opposite]
            held[node, port, :inputs] = rng.integers(0, 200, inputs)
            stalled[node, port] = rng.integers(0, 50)
        sent[node, ports:, 0], stalled[node, ports:] = rng.integers(0, 40, 2), rng.integers(0, 40, 2)
        held[node, ports, 0] = rng.integers(0, 200)
    return Counts(100, sent, stalled, held, most)


@pytest.mark.parametrize("text", ["mesh(3, 2)", "torus(5, 2)", "rdn(torus(5), 1)"])
def test_tables(text, tmp_path):
    made = plan_of(text)
    network, counts = made.network, random_counts(made)
    names = [port.name for port in network.ports] + ["ejection", "injection"]
    write_channels(made, counts, tmp_path / "channels.parquet")
    rows = parquet.read_table(tmp_path / "channels.parquet").to_pylist()
    expected = [
        (node, name, network.neighbors(node).get(name))
        for node in range(network.num_nodes)
        for name in names
        if name in network.neighbors(node) or name in ("ejection", "injection")
    ]
    assert [(row["node"], row["port"], row["neighbor"]) for row in rows] == expected
    num_vcs = dict(zip(names, (*made.num_vcs, 1, 1), strict=True))
    for row in rows:
        place, vcs = (row["node"], names.index(row["port"])), num_vcs[row["port"]]
        by_vc = [row[f"load_vc{vc}"] for vc in range(made.max_vcs)]
        assert by_vc == [*(counts.sent[place][:vcs] / 100), *[None] * (made.max_vcs - vcs)]
        assert (row["load"], row["stalled"]) == (counts.sent[place].sum() / 100, counts.stalled[place] / 100)

    write_channels(made, counts, tmp_path / "channels.csv")
    with (tmp_path / "channels.csv").open(newline="") as file:
        texts = list(csv.DictReader(file))
    assert [[float(row[name] or -1) for name in ("load", "stalled", "neighbor")] for row in texts] == [
        [row["load"], row["stalled"], -1 if row["neighbor"] is None else row["neighbor"]] for row in rows
    ]

    for shown in channel_types(made, counts):
        own = [row for row in rows if row["port"] == shown["type"]]
        assert shown["channels"] == len(own)
        for name in ("load", "stalled"):
            values = [row[name] for row in own]
            assert shown[name] == pytest.approx({"mean": np.mean(values), "max": max(values)}, abs=1e-6)
        by_vc = [np.mean([row[f"load_vc{vc}"] for row in own]) for vc in range(num_vcs[shown["type"]])]
        assert shown["load_by_vc"] == pytest.approx(by_vc, abs=1e-6)
        assert sum(by_vc) == pytest.approx(shown["load"]["mean"], abs=1e-6)
    assert [shown["type"] for shown in channel_types(made, counts)] == names


@pytest.mark.parametrize("text", ["mesh(3, 2)", "torus(5, 2)", "rdn(torus(5), 1)"])
def test_table_of_queues(machine_on, text):
    made = plan_of(text)
    ports, counts = made.network.ports, random_counts(made)
    shown = buffer_classes(machine_on(made, buffers=4), counts)
    inputs = [made.num_vcs[port.opposite] for port in ports] + [1]
    names = [port.name for port in ports] + ["injection"]
    assert [(row["type"], row["vc"]) for row in shown] == [
        (name, vc) for name, vcs in zip(names, inputs, strict=True) for vc in range(vcs)
    ]
    for row in shown:
        number = names.index(row["type"])
        nodes = [
            node
            for node in range(made.network.num_nodes)
            if row["type"] in {*made.network.neighbors(node), "injection"}
        ]
        held = counts.held[nodes, number, row["vc"]] / 100
        assert (row["queues"], row["buffers"]) == (len(nodes), buffers_per_vc(4, inputs[number]))
        assert row["packets"] == pytest.approx({"mean": held.mean(), "max": held.max()}, abs=1e-6)
        assert row["used"] == pytest.approx(held.mean() / row["buffers"], abs=1e-6)
    assert json.loads(json.dumps(shown)) == shown
