"""Adaptive routing: packets go nearer on every hop, by the freest channel, and never wait in a circle."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest

from hdnhw.library.simulation import sweep
from hdnhw.machine.machine import make_machine
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.measurement.replay import replay
from hdnhw.model.core import DESTINATION, HEAD_CYCLE, HOPS, NODE, TAG, TAIL_CYCLE, Arrivals
from hdnhw.model.course import Course
from hdnhw.model.fabric import FabricModel
from hdnhw.model.watchdog import Watchdog
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.spec.requests import RequestSpec
from hdnhw.support.errors import HangError
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals
from hdnhw.traffic.replies import make_requests
from tests.specs import fabric_spec

NETWORKS = (
    "torus(5)",
    "torus(4, 3)",
    "mesh(4, 3)",
    "cube(4)",
    "hdn(cube(2), [[0]])",
    "rdn(cube(1), 1)",
    "slim_fly(3)",
    "fat_tree(4)",
    "concentrated(torus(4), 2)",
)
"""The rule of the HDN is not always a shortest path."""

PACKETS = 400


def model_of(text, modes="adaptive", **machine):
    return FabricModel(make_machine(fabric_spec(text, modes=modes, **machine)))


class Ways:
    """The rule of a model, interpreted and followed hop by hop."""

    def __init__(self, model):
        self.model, self.route = model, model.plan.plain_route
        self.address, self.neighbors = model.address.tolist(), neighbor_table(model.plan.network)

    def hop(self, node, dst):
        """Return port and virtual channel, above the adaptive ones."""
        decision = self.route(self.address[node], self.address[dst])
        return decision & (1 << VC_SHIFT) - 1, (decision >> VC_SHIFT) + self.model.plan.first_vc

    def walk(self, node, dst):
        """Return the virtual channels of the rule's way, (node, port, vc)."""
        way = []
        while node != dst:
            way.append((node, *self.hop(node, dst)))
            node = int(self.neighbors[node, way[-1][1]])
        return way

    def nearer(self, node, dst):
        """Return the ports behind which the rule has fewer hops left."""
        hops = len(self.walk(node, dst))
        ends = enumerate(self.neighbors[node].tolist())
        return [port for port, end in ends if end >= 0 and len(self.walk(end, dst)) < hops]


def arrivals_of(model, count, cycles, seed=5):
    rng = np.random.default_rng(seed)
    source, destination = rng.integers(model.plan.network.num_terminals, size=(2, count))
    cycle = np.sort(rng.integers(cycles, size=count))
    return Arrivals.of(cycle, source, model.address[destination], range(count)), source, destination


@pytest.mark.parametrize("text", NETWORKS)
def test_channels_of_the_rule_wait_for_each_other_in_no_circle_wherever_packets_enter_them(text):
    model, graph = model_of(text), nx.DiGraph()
    ways, network = Ways(model), model.plan.network
    for node, dst in product(range(network.num_nodes), range(network.num_terminals)):
        nx.add_path(graph, ways.walk(node, dst))
        assert node == dst or ways.hop(node, dst)[0] in ways.nearer(node, dst), "what waits may take the rule's channel"
    assert nx.is_directed_acyclic_graph(graph)
    assert all(model.plan.first_vc <= vc < model.plan.num_vcs[port] for _, port, vc in graph)


MACHINES = {
    "fifo": {"packet_length": 1},
    "lanes": {"packet_length": 4, "lanes": 2},
    "voq": {"packet_length": 1, "queueing": "voq"},
}


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        *product(NETWORKS, MACHINES.values()),
        ("mesh(4, 3)", {"packet_length": 8, "switching": "cut-through"}),
        ("concentrated(torus(4), 2)", {"packet_length": 8, "switching": "cut-through", "gapless_packets": True}),
    ],
)
def test_packets_arrive_and_never_take_more_hops_than_the_rule(text, machine):
    model = model_of(text, **machine)
    address, ways = model.address, Ways(model)
    arrivals, source, destination = arrivals_of(model, PACKETS, PACKETS)
    course = Course(model, Terminals())  # it grows
    left = course.advance(arrivals, packets=PACKETS, limit=1_000_000)
    assert np.array_equal(address[left[:, NODE]], left[:, DESTINATION])
    assert sorted(left[:, TAG]) == list(range(PACKETS))
    graph = nx.Graph((node, int(end)) for node, ends in enumerate(ways.neighbors) for end in ends if end >= 0)
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    for tag, hops in left[:, [TAG, HOPS]].tolist():
        ends = int(source[tag]), int(destination[tag])
        assert distance[ends[0]][ends[1]] <= hops <= len(ways.walk(*ends))


@pytest.mark.parametrize("text", NETWORKS)
def test_a_packet_takes_the_freest_channel_of_the_ports_that_lead_nearer(text):
    """The first packet of each run, with credits that are set at random: the channel that it takes is seen."""
    model, rng, seen = model_of(text, packet_length=1, buffers=64, lanes=2), np.random.default_rng(3), Counter()
    ways, plan = Ways(model), model.plan
    for _ in range(60):
        course = Course(model, Terminals(), counting=True)
        source, destination = (int(node) for node in rng.choice(plan.network.num_terminals, 2, replace=False))
        credits = course.core.credits().reshape(len(model.address), -1, 1 << model.vc_bits)
        own, vc = ways.hop(source, destination)
        credits[source, :-1] = rng.integers(rng.choice([1, 3, 40]), size=credits[source, :-1].shape)
        credits[source, own, vc] = 1
        course.core.set_credits(credits)
        free = {
            (port, vc): (int(credits[source, port, vc]), port == own, -port, -vc)
            for port in ways.nearer(source, destination)
            for vc in range(plan.first_vc)
        }
        best = max(free, key=free.get)
        expected = best if free[best][0] else (own, vc)
        course.advance(Arrivals.of([0], [source], [model.address[destination]], [0]), packets=1, limit=10_000)
        sent = course.counts().sent[source, : len(plan.network.ports)]
        assert np.argwhere(sent).tolist() == [list(expected)]
        seen[expected[1] >= plan.first_vc, expected[0] == own] += 1
        seen["alternatives"] += len(free) > plan.first_vc
    assert seen[True, True] > 5
    assert seen[False, True] > 5
    assert seen[False, False] > 0 or seen["alternatives"] < 10


@pytest.mark.parametrize("queueing", ["fifo", "voq"])
def test_a_packet_that_waits_chooses_anew(queueing):
    model = model_of("mesh(2, 2)", packet_length=1, queueing=queueing)
    ways, course = Ways(model), Course(model, Terminals(), counting=True)
    credits = course.core.credits().reshape(4, -1, 1 << model.vc_bits)
    own, _ = ways.hop(0, 3)
    (other,) = set(ways.nearer(0, 3)) - {own}
    room = credits[0, other, 0]
    credits[0, :-1] = 0
    course.core.set_credits(credits)
    none = Arrivals.of([], [], [], [])
    arrivals = Arrivals.of([0], [0], [model.address[3]], [0])
    assert not len(course.advance(arrivals, packets=1, limit=50))
    assert course.packets_sent == 0
    credits[0, other, 0] = room
    course.core.set_credits(credits)
    (left,) = course.advance(none, packets=1, limit=100)
    assert left[NODE] == 3
    assert course.counts().sent[0, other, 0] == 1


def test_ports_beyond_a_word_are_found():
    model = model_of("complete(90)", packet_length=1)
    ways, course = Ways(model), Course(model, Terminals(), counting=True)
    destinations = [1, 40, 64, 65, 66, 89]
    columns = np.arange(6) * 10, [0] * 6, model.address[destinations], range(6)
    course.advance(Arrivals.of(*columns), packets=6, limit=1000)
    sent = np.argwhere(course.counts().sent[0, : len(model.plan.network.ports)]).tolist()
    assert sent == sorted([ways.hop(0, dst)[0], 0] for dst in destinations)


def overload(model, pattern, cycles=20_000):
    return measure(model, LoadSpec(pattern=pattern, rate=1.0, cycles=cycles, warmup=0))


@pytest.mark.parametrize("pattern", ["uniform", "complement"])
@pytest.mark.parametrize("text", ["torus(8)", "torus(4, 4)", "cube(4)", "hdn(cube(2), [[0]])", "rdn(cube(2), 1)"])
def test_nothing_stands_still_under_more_than_the_network_bears(text, pattern):
    model = model_of(text, packet_length=1, buffers=4)
    measured = overload(model, pattern)
    assert measured.accepted_rate > 0.05
    counts = measure(model, LoadSpec(pattern=pattern, rate=1.0, cycles=2000, warmup=0), counting=True).counts.sent
    channels = counts[:, : len(model.plan.network.ports)].sum(axis=(0, 1))
    assert min(channels[0], channels[1:].sum()) > 100, "packets take channels of both kinds"


def test_with_a_rule_that_can_deadlock_it_does():
    machine = make_machine(fabric_spec("torus(8)", modes="adaptive", packet_length=1))
    rule = machine.plan.rule
    one = replace(rule, vc=(rule.circuit.constant(0),), num_vcs=(1, 1))
    assert overload(FabricModel(machine), "tornado").accepted_rate > 0.05
    unsafe = replace(machine, plan=replace(machine.plan, rule=one, num_vcs=(2, 2)))
    with pytest.raises(HangError, match=r"has a deadlock: \d+ packets wait for each other"):
        overload(FabricModel(unsafe), "tornado")


def test_it_takes_more_of_a_pattern_for_which_the_rule_loads_few_channels():
    load = LoadSpec(pattern="transpose", rate=0.5, cycles=20_000, warmup=2000)
    plain, adaptive = (measure(model_of("cube(6)", modes, buffers=16), load) for modes in (None, "adaptive"))
    assert not plain.steady
    assert adaptive.steady
    assert adaptive.accepted_rate > 2 * plain.accepted_rate


@pytest.fixture
def noted(monkeypatch):
    """Return (arrivals, packets that have left) of each window that is simulated."""
    windows, advance = [], Course.advance

    def note(course, arrivals, **limits):
        left = advance(course, arrivals, **limits)
        windows.append((arrivals, left.copy()))
        return left

    monkeypatch.setattr(Course, "advance", note)
    return windows


def overtaking(messages):
    """Return how many packets have left before the packet of their message that was accepted before them."""
    return sum(second[1] < first[1] for message in messages for first, second in pairwise(message))


@pytest.mark.parametrize("modes", [None, "adaptive"])
def test_a_message_is_answered_when_all_of_its_packets_are_there(modes, noted):
    asked = RequestSpec(window=8, requests=50, request_length=6, reply_length=9, service=3)
    model = model_of("cube(4)", modes, packet_length=1, buffers=8)
    trace = make_requests(model.plan.network, asked, 1).trace
    run = replay(model, trace)
    of_message = np.repeat(np.arange(len(trace)), trace.flits)
    packets = [[] for _ in range(len(trace))]
    for tag, head, tail in (row for _, left in noted for row in left[:, [TAG, HEAD_CYCLE, TAIL_CYCLE]].tolist()):
        packets[of_message[tag]].append((head, tail))
    assert [len(each) for each in packets] == trace.flits.tolist()
    tails = np.array([max(tail for _, tail in each) for each in packets])
    assert np.array_equal(tails, run.tail)
    waited_for = np.repeat(np.arange(len(trace)), np.diff(trace.first))
    created = tails[waited_for] + 1 + trace.delay[trace.dependent]
    assert np.array_equal(run.created[trace.dependent], created)
    assert (overtaking(map(sorted, packets)) > 100) == (modes == "adaptive")


@pytest.mark.parametrize("text", ["torus(5, 3)", "concentrated(cube(5), 1)"])
def test_runs_are_the_same_for_any_number_of_threads(text):
    model = model_of(text, packet_length=3)
    load = LoadSpec(rate=0.3, cycles=2000, lengths="mix(3, 1, 20, 1)")
    runs = [measure(model, load, threads=threads) for threads in (1, 2, 3)]
    for run in runs:
        assert np.array_equal(run.packet_latency, runs[0].packet_latency)
        assert run.delivered == run.created > 0


def test_no_bound_is_told():
    (curve,) = sweep("torus(5)", modes="adaptive", rates=[0.1], cycles=200, workers=1)["saturation"]
    assert curve["saturation_bound"] is None


@pytest.mark.parametrize("text", ["torus(5)", "hdn(cube(2), [[0]])"])
def test_the_watchdog_knows_the_longest_way(monkeypatch, text):
    model = model_of(text, packet_length=1)
    course = Course(model, Terminals())
    watchdog = Watchdog(model, course, source_of=lambda tag: tag)
    for cycle in range(1, 300):
        arrivals, *_ = arrivals_of(model, 4, 1, seed=cycle)
        arrivals = arrivals._replace(cycle=arrivals.cycle + cycle - 1, tag=arrivals.node)
        course.advance(arrivals, packets=1 << 40, limit=cycle)
        watchdog.look(last=True)
        packets, farthest = course.packets, course.core.farthest()
        assert len(packets) == 0 if farthest is None else farthest.tolist() in packets.tolist()
        assert len(packets) == 0 or farthest[HOPS] == packets[:, HOPS].max()
    farthest[HOPS] = 99
    monkeypatch.setattr(course.core, "farthest", lambda: farthest)
    with pytest.raises(HangError, match="has a livelock"):
        watchdog.look(last=True)
