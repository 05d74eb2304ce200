"""Valiant's routing: channels wait for each other in no circle, found by walking, and packets go where they must."""

from collections import Counter
from itertools import product

import networkx as nx
import numpy as np
import pytest

from hdnhw.library.simulation import sweep
from hdnhw.machine.machine import make_machine
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model.core import DESTINATION, HOPS, NODE, TAG, TAIL_CYCLE, Arrivals
from hdnhw.model.course import Course
from hdnhw.model.fabric import FabricModel
from hdnhw.model.watchdog import Watchdog
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.support.errors import HangError
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals
from tests.specs import fabric_spec

NETWORKS = (
    "torus(5)",
    "torus(4, 3)",
    "cube(3)",
    "hdn(cube(2), [[0]])",
    "rdn(cube(1), 1)",
    "slim_fly(3)",
    "fat_tree(4)",
)
PACKETS = 400


def model_of(text, modes="valiant", **machine):
    return FabricModel(make_machine(fabric_spec(text, modes=modes, **machine)))


def way(model, node, legs):
    """Return the virtual channels of a way, (node, port, vc), of legs: where one ends, its target and first channel."""
    address, neighbors, ways = model.address, neighbor_table(model.plan.network), []
    for end, target, first in legs:
        while address[node] != end:
            decision = model.plan.plain_route(int(address[node]), int(target))
            port, vc = decision & (1 << VC_SHIFT) - 1, decision >> VC_SHIFT
            ways.append((node, port, vc + first))
            node = int(neighbors[node, port])
            assert len(ways) < 4 * len(address)
    assert address[node] == legs[-1][0]
    return ways


def walk(model, src, by, dst, leg):
    """Return the way by a node that was drawn."""
    (nodes, targets), address = model.drawn, model.address
    first = nodes[by], targets[by], 0
    if address[src] == targets[by]:  # the terminal whose switch is drawn
        first = address[src], address[src], 0
    return way(model, src, [first, (address[dst], address[dst], leg)])


def straight(model, src, dst):
    """Return the way of the rule, by the virtual channels of the second leg."""
    end = model.address[dst]
    return way(model, src, [(end, end, model.plan.first_vc)])


def dependencies(model, leg):
    graph, terminals = nx.DiGraph(), range(model.plan.network.num_terminals)
    for src, by, dst in product(terminals, range(len(model.drawn[0])), terminals):
        nx.add_path(graph, walk(model, src, by, dst, leg))
    return graph


@pytest.mark.parametrize("text", NETWORKS)
@pytest.mark.parametrize("modes", ["valiant", "ugal"])
def test_virtual_channels_wait_for_each_other_in_no_circle(text, modes):
    model = model_of(text, modes)
    plan = model.plan
    graph = dependencies(model, plan.first_vc)
    for src, dst in product(range(plan.network.num_terminals), repeat=2):
        nx.add_path(graph, straight(model, src, dst))
    assert nx.is_directed_acyclic_graph(graph)
    assert all(vc < plan.num_vcs[port] for _, port, vc in graph)
    assert plan.proof.acyclic


def test_legs_that_shared_virtual_channels_could_deadlock():
    assert not nx.is_directed_acyclic_graph(dependencies(model_of("torus(5)"), 0))


@pytest.mark.parametrize("text", NETWORKS)
@pytest.mark.parametrize("machine", [{"packet_length": 1}, {"queueing": "voq", "lanes": 2}], ids=["fifo", "voq"])
def test_packets_go_by_a_node_and_arrive(text, machine):
    model = model_of(text, **machine)
    network, address, rng = model.plan.network, model.address, np.random.default_rng(5)
    source, destination = rng.integers(network.num_terminals, size=(2, PACKETS))
    arrivals = Arrivals.of(np.sort(rng.integers(PACKETS, size=PACKETS)), source, address[destination], range(PACKETS))
    course = Course(model, Terminals(), counting=True)  # it grows
    left = course.advance(arrivals, packets=PACKETS, limit=1_000_000)
    assert np.array_equal(address[left[:, NODE]], left[:, DESTINATION])
    assert sorted(left[:, TAG]) == list(range(PACKETS))
    counts = course.counts().sent[:, : len(network.ports)]
    leg = model.plan.first_vc
    by = drawn(arrivals, len(model.drawn[0]))
    sent, lanes = np.zeros_like(counts), model.plan.lanes
    for src, via, dst in zip(source.tolist(), by, destination.tolist(), strict=True):
        for node, port, vc in walk(model, src, via, dst, leg):
            sent[node, port, vc] += 1
    of_classes = (each.reshape(*each.shape[:2], -1, lanes).sum(axis=-1) for each in (counts, sent))
    assert np.array_equal(*of_classes)


def drawn(arrivals, nodes):
    """Yield the place of the node that is drawn for each packet, by SplitMix64's finalizer in integers without end."""
    mask = (1 << 64) - 1
    for cycle, node, destination in zip(*(column.tolist() for column in arrivals[:3]), strict=True):
        word = cycle * 0x1F123BB5159A55E5 + node * 0x5851F42D4C957F2D + destination & mask
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & mask
        word = (word ^ word >> 27) * 0x94D049BB133111EB & mask
        word ^= word >> 31
        yield (word & (1 << 63) - 1) % nodes


@pytest.mark.parametrize("text", NETWORKS)
def test_a_source_chooses_by_hops_times_packets_ahead(text):
    """The first packet of each run, with credits that are set at random: which way it takes is seen at the channels.

    A terminal with one link leaves it to the switch, where its packet comes by the channel of the first leg.
    """
    model, rng, seen = model_of(text, "ugal", packet_length=1, buffers=64), np.random.default_rng(3), Counter()
    (nodes, _), address, terminals = model.drawn, model.address, model.plan.network.num_terminals
    for _ in range(40):
        course = Course(model, Terminals(), counting=True)
        source, destination = (int(node) for node in rng.integers(terminals, size=2))
        credits = course.core.credits()
        room = credits.copy()
        credits -= rng.integers(room, endpoint=False).astype(credits.dtype)
        course.core.set_credits(credits)
        arrivals = Arrivals.of([int(rng.integers(1000))], [source], [address[destination]], [0])
        (by,) = drawn(arrivals, len(nodes))
        aside, direct = walk(model, source, by, destination, model.plan.first_vc), straight(model, source, destination)

        hangs = bool(model.given["hangs"][source] and direct and address[source] != model.drawn[1][by])
        common, direct, rest = aside[:hangs], direct[hangs:], aside[hangs:]

        def load(way, used=room - credits):
            node, port, vc = way[0]
            return len(way) * int(used[node].reshape(-1, 1 << model.vc_bits)[port, vc])

        goes_straight = not direct or address[direct[0][0]] in (nodes[by], model.drawn[1][by])
        goes_straight = goes_straight or load(direct) <= load(rest)
        expected = common + (direct if goes_straight else rest)
        course.advance(arrivals, packets=1, limit=10_000)
        sent = course.counts().sent[:, : len(model.plan.network.ports)]
        assert sorted(zip(*(axis.tolist() for axis in np.nonzero(sent)), strict=True)) == sorted(set(expected))
        seen[goes_straight] += 1
    assert min(seen[True], seen[False]) > 3


def test_sources_that_choose_send_straight_what_finds_no_packets_ahead():
    rng, left = np.random.default_rng(2), []
    cycle, (source, destination) = 100 * np.arange(PACKETS), rng.integers(16, size=(2, PACKETS))
    for modes in (None, "ugal"):
        model = model_of("torus(4, 4)", modes)
        arrivals = Arrivals.of(cycle, source, model.address[destination], range(PACKETS))
        rows = Course(model, Terminals()).advance(arrivals, packets=PACKETS, limit=1_000_000)
        left.append(rows[np.argsort(rows[:, TAG])][:, [TAG, HOPS, TAIL_CYCLE]])
    assert np.array_equal(*left)


def test_sources_that_choose_take_more_of_either_pattern_than_those_that_cannot():
    for pattern, rate, worse in (("tornado", 0.31, None), ("uniform", 0.4, "valiant")):
        load = LoadSpec(pattern=pattern, rate=rate, cycles=20_000, warmup=2000)
        other, ugal = (
            measure(model_of("torus(8)", modes, packet_length=1, buffers=16), load) for modes in (worse, "ugal")
        )
        assert ugal.accepted_rate > 1.05 * other.accepted_rate


@pytest.mark.parametrize("text", ["torus(8)", "concentrated(torus(4), 2)"])
def test_packets_of_a_message_stay_in_order_where_sources_or_switches_choose(text):
    model, rng = model_of(text, "ugal", packet_length=1, buffers=4), np.random.default_rng(1)
    messages, each = 900, 5
    cycle, source = np.sort(rng.integers(2000, size=messages)), rng.integers(8, size=messages)
    target = (source + rng.integers(2, 5, size=messages)) % 8
    columns = (np.repeat(column, each) for column in (cycle, source, model.address[target]))
    course = Course(model, Terminals(), counting=True)
    left = course.advance(Arrivals.of(*columns, range(each * messages)), packets=each * messages, limit=1_000_000)
    tails = left[np.argsort(left[:, TAG]), TAIL_CYCLE].reshape(messages, each)
    assert (np.diff(tails, axis=1) > 0).all()
    of_vc = course.counts().sent[:, : len(model.plan.network.ports)].sum(axis=(0, 1))
    assert of_vc[: model.plan.first_vc].sum() > 1000, "some go by another node"


def test_nodes_are_drawn_evenly():
    model, load = model_of("torus(4, 4)", packet_length=1, buffers=16), LoadSpec(rate=0.2, cycles=50_000, warmup=0)
    measured = measure(model, load)
    assert measured.mean_hops == pytest.approx(2 * 2.0, rel=0.01)  # 2: the mean distance of any two, of equal ones too
    counts = measure(model, load, counting=True).counts
    of_vc = counts.sent[:, :4].sum(axis=(0, 1))
    assert of_vc[: model.plan.first_vc].sum() == pytest.approx(of_vc[model.plan.first_vc :].sum(), rel=0.02)


def test_it_takes_more_of_a_pattern_that_loads_few_channels():
    load = LoadSpec(pattern="tornado", rate=0.32, cycles=20_000, warmup=2000)
    plain, valiant = (
        measure(model_of("torus(8)", modes, packet_length=1, buffers=16), load) for modes in (None, "valiant")
    )
    assert not plain.steady
    assert valiant.steady
    assert valiant.accepted_rate > 0.31 > 0.26 > plain.accepted_rate


@pytest.mark.parametrize("text", ["torus(5, 3)", "concentrated(cube(5), 1)"])
@pytest.mark.parametrize("modes", ["valiant", "ugal"])
def test_runs_are_the_same_for_any_number_of_threads(text, modes):
    model = model_of(text, modes, packet_length=3)
    load = LoadSpec(rate=0.3, cycles=2000, lengths="mix(3, 1, 20, 1)")
    runs = [measure(model, load, threads=threads) for threads in (1, 2, 3)]
    for run in runs:
        assert np.array_equal(run.packet_latency, runs[0].packet_latency)
        assert run.delivered == run.created > 0


@pytest.mark.parametrize("text", ["torus(5)", "hdn(cube(2), [[0]])"])
def test_the_bound_is_that_of_the_most_loaded_channel(text):
    model = model_of(text)
    nodes = range(model.plan.network.num_nodes)
    load = Counter(
        channel[:2]
        for src, by, dst in product(nodes, repeat=3)
        if src != dst
        for channel in walk(model, src, by, dst, model.plan.first_vc)
    )
    bound = len(nodes) * (len(nodes) - 1) / max(load.values())
    assert bound_told(text) == pytest.approx(bound, rel=1e-6)


def bound_told(text, modes="valiant"):
    (curve,) = sweep(text, modes=modes, rates=[0.1], cycles=200, workers=1)["saturation"]
    return curve["saturation_bound"]


@pytest.mark.parametrize(("text", "modes"), [("fat_tree(4)", "valiant"), ("torus(5)", "ugal")])
def test_no_bound_is_told_of_a_network_with_switches_or_sources_that_choose(text, modes):
    assert bound_told(text, modes) is None


@pytest.mark.parametrize("modes", ["valiant", "ugal"])
@pytest.mark.parametrize("text", ["torus(5)", "concentrated(complete(3), 2)"])
def test_the_watchdog_follows_both_legs(monkeypatch, text, modes):
    model = model_of(text, modes, packet_length=1)
    terminals, address, rng = model.plan.network.num_terminals, model.address, np.random.default_rng(1)
    course = Course(model, Terminals())
    watchdog = Watchdog(model, course, source_of=lambda tag: tag)
    for cycle in range(1, 300):
        source, destination = rng.integers(terminals, size=(2, 2))
        arrivals = Arrivals.of([cycle - 1] * 2, source, address[destination], source)
        course.advance(arrivals, packets=1 << 40, limit=cycle)
        watchdog.look(last=True)
    packets = course.packets
    packets[:, HOPS] = 99
    monkeypatch.setattr(course.core, "farthest", lambda: packets[packets[:, HOPS].argmax()])
    with pytest.raises(HangError, match="has a livelock"):
        watchdog.look(last=True)
