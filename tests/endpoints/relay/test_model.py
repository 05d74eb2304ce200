"""Relays on the model: what is delivered against the search for waypoints, and what is not against the counters."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from hdnhw.endpoints.relay.format import RELAY_COUNTS, RelayKind
from hdnhw.endpoints.relay.model import RelayModel, Sends
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.machine.machine import make_machine
from hdnhw.model.fabric import FabricModel
from hdnhw.multipath.waypoints import Detours, RouteTable
from hdnhw.rules.plan import plan
from hdnhw.spec import FabricSpec
from hdnhw.topology.faults import Faults, draw_faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals


@cache
def plan_of(text):
    return plan(text)


def draw(text, nodes, channels, seed=1):
    table = neighbor_table(plan_of(text).network)
    return draw_faults(table, np.random.default_rng(seed), nodes=nodes, channels=channels)


def run(text, lists, *, length=4, faults=None, pauses=None, max_cycles=200_000, **relay):
    """Send lists of stops, one list of packets per node, by node numbers."""
    routing = plan_of(text)
    address = routing.address.of_nodes
    stops = [tuple(int(address[stop]) for stop in packet) for own in lists for packet in own]
    first = np.cumsum([0, *(len(own) for own in lists)])
    relays = RelaySpec(**relay)
    spec = FabricSpec(network=routing.network.spec, packet_length=length, flit_width=128, endpoints=relays)
    model = RelayModel(FabricModel(make_machine(spec), faults))
    result = model.run(Sends(first, stops, np.zeros(len(stops), np.int64)), pauses, max_cycles=max_cycles)
    assert result.cycles < max_cycles, "it hangs"
    return result


def delivered(result):
    return [packet.number for packet in result.packets if packet.kind == RelayKind.DATA]


def total(result, name):
    return int(result.counts[:, RELAY_COUNTS.index(name)].sum())


@pytest.mark.parametrize("length", [1, 3, 8])
def test_a_plain_packet_takes_the_cycles_of_the_fabric_behind_those_in_which_it_comes_in(model_on, length):
    routing = plan_of("hdn(cube(2), [[0]])")
    result = run("hdn(cube(2), [[0]])", [[(15,)], *([[]] * 15)], length=length)
    hops = int(RouteTable(routing).legs(draw("hdn(cube(2), [[0]])", 0, 0))[0, 15])
    timing = model_on(routing, packet_length=length).timing
    assert result.head_cycle.tolist() == [0]
    assert result.cycle.tolist() == [length + 6 + timing.zero_load_latency(hops, (length + 6) % length)]
    assert result.node.tolist() == [15]


@pytest.mark.parametrize(
    ("text", "length", "waypoints", "pauses"),
    [
        ("hdn(cube(2), [[0]])", 4, 1, Terminals()),
        ("hdn(cube(2), [[0]])", 1, 2, Terminals(source_gap=32, sink_stall=64)),
        ("torus(3, 5)", 8, 3, Terminals(sink_stall=128)),
    ],
)
def test_what_can_be_delivered_is_and_sources_hear_of_the_rest(text, length, waypoints, pauses):
    nodes = plan_of(text).network.num_nodes
    faults, rng = draw(text, 2, 4), np.random.default_rng(2)
    detours, lists, good = Detours(RouteTable(plan_of(text)), faults), [], []
    for source in range(nodes):
        chosen = detours.choose(source, waypoints, two_way=True)
        targets = [] if faults.nodes[source] else rng.integers(nodes, size=40).tolist()
        lists.append([(*(chosen[target] or ()), target) for target in targets])
        good += [chosen[target] is not None for target in targets]
    result = run(text, lists, length=length, faults=faults, pauses=pauses, waypoints=waypoints)
    assert sorted(delivered(result)) == np.flatnonzero(good).tolist()
    assert sum(len(stops) > 1 for own in lists for stops in own) > 20
    assert total(result, "stranded") == len(good) - sum(good) > 20
    notices = [packet for packet in result.packets if packet.kind == RelayKind.NOTICE]
    assert len(notices) == total(result, "stranded") - total(result, "untold") - total(result, "astray") > 20
    address = plan_of(text).address
    for packet, node in zip(result.packets, result.node, strict=True):
        assert packet.dst == address.of_node(int(node))
        if packet.kind == RelayKind.NOTICE:
            lost = [stops for stops in lists[node] if address.of_node(stops[-1]) == packet.stops[0]]
            assert lost, "a notice is about a packet that its source has sent"


@pytest.mark.parametrize(
    ("text", "relay_buffers", "relay_queues"),
    [("hdn(cube(2), [[0]])", 1, 1), ("hdn(cube(2), [[0]])", 1, 4), ("torus(5)", 2, 2)],
)
def test_waypoints_for_everybody_never_lock_up(text, relay_buffers, relay_queues):
    """Every packet by up to two nodes drawn at random, one slot a class, sinks that stall."""
    nodes, rng = plan_of(text).network.num_nodes, np.random.default_rng(3)
    lists = [[tuple(rng.integers(nodes, size=rng.integers(1, 4)).tolist()) for _ in range(60)] for _ in range(nodes)]
    sizes = {"relay_buffers": relay_buffers, "relay_queues": relay_queues, "waypoints": 2}
    result = run(text, lists, **sizes, pauses=Terminals(sink_stall=128))
    assert sorted(delivered(result)) == list(range(60 * nodes))
    assert not result.counts.any()


@pytest.mark.parametrize("waypoints", [1, 2])
def test_packets_of_the_same_stops_stay_in_order(waypoints):
    """Queues overtake each other, but all packets with the same stops wait in the same ones."""
    rng = np.random.default_rng(5)
    ways = [tuple(rng.integers(16, size=rng.integers(2, 2 + waypoints)).tolist()) for _ in range(12)]
    lists = [[ways[number] for number in rng.integers(12, size=80)] for _ in range(16)]
    stops = [packet for own in lists for packet in own]
    sizes = {"relay_buffers": 2, "relay_queues": 4, "waypoints": waypoints}
    result = run("hdn(cube(2), [[0]])", lists, **sizes, pauses=Terminals(sink_stall=64))
    numbers = delivered(result)
    assert sorted(numbers) == list(range(len(stops)))
    last: dict[tuple[int, ...], int] = {}
    for number in numbers:
        flow = (number // 80, *stops[number])
        assert last.get(flow, -1) < number
        last[flow] = number
    assert any(one > other and one // 80 == other // 80 for one, other in pairwise(numbers))


def test_a_queue_that_waits_holds_up_no_other():
    """Packets by a waypoint that never answers stand in one queue; those by another one pass."""
    table = neighbor_table(plan_of("torus(4)").network)
    channels = np.zeros(table.shape, bool)
    channels[1, table[1].tolist().index(0)] = True
    faults = Faults(np.zeros(4, bool), channels)
    cycle = {}
    for queues in (1, 4):
        result = run(
            "torus(4)", [[(1, 2), (3, 2)], [], [], []], faults=faults, waypoints=1, relay_queues=queues, timeout=2048
        )
        assert (delivered(result), total(result, "expired")) == ([1], 1)
        cycle[queues] = int(result.cycle[[packet.number for packet in result.packets].index(1)])
    assert cycle[4] < 200 < 2048 < cycle[1]


def test_wrong_lists_cost_packets_and_nothing_else():
    """Stops that are dead or not there, and too many of them: each packet is delivered or counted once."""
    text, rng = "torus(3, 5)", np.random.default_rng(4)
    faults = draw(text, 2, 5)
    lists = [
        [] if dead else [tuple(rng.integers(15, size=rng.integers(1, 4)).tolist()) for _ in range(10)]
        for dead in faults.nodes
    ]
    result = run(text, lists, faults=faults, waypoints=1, timeout=2048, pauses=Terminals(sink_stall=64))
    got = delivered(result)
    counted = sum(total(result, name) for name in ("stranded", "expired", "unreserved", "refused"))
    assert len(got) == len(set(got))
    assert len(got) + counted == sum(map(len, lists))
    assert total(result, "refused") == sum(len(stops) > 2 for own in lists for stops in own)
    assert total(result, "expired") > 10


def test_a_slot_that_is_not_used_in_time_is_free_again():
    """The grant of node 1 meets a dead channel: its slot is taken from others until it lapses."""
    table = neighbor_table(plan_of("torus(4)").network)
    channels = np.zeros(table.shape, bool)
    channels[1, table[1].tolist().index(0)] = True
    faults = Faults(np.zeros(4, bool), channels)
    lists = [[(1, 2)], [], [(1, 1)] * 3, []]
    result = run("torus(4)", lists, faults=faults, waypoints=1, relay_buffers=1, timeout=2048)
    assert total(result, "expired") == 1
    assert sorted(delivered(result)) == [1, 2, 3]
    assert result.counts[0, RELAY_COUNTS.index("expired")] == 1


def test_holds_are_refused():
    with pytest.raises(ValueError, match="sink_hold must be 0 with relays, not 5"):
        run("torus(5)", [[]] * 5, pauses=Terminals(sink_hold=5))
