"""The watchdog: negative controls with rules broken on purpose, what it says of them, and no false alarm."""

import pickle
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model.core import Arrivals
from hdnhw.model.course import Course
from hdnhw.model.watchdog import PATIENCE, Watchdog
from hdnhw.rules.plan import plan
from hdnhw.support.errors import HangError
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals

WAIT = re.compile(
    r"  (\d+)\.(\w+)\.(\d): the packet from (\d+) to (\d+) waits for a packet buffer of (\d+)\.(\w+)\.(\d)"
)


@cache
def plan_of(text):
    return plan(text)


@cache
def one_class(text):
    """Return a plan whose rule uses one virtual channel, which the proof refuses (tests/rules/test_plan.py)."""
    made = plan_of(text)
    rule = replace(made.rule, vc=(made.rule.circuit.constant(0),), num_vcs=(1,) * len(made.num_vcs))
    return replace(made, rule=rule, num_vcs=rule.num_vcs)


@cache
def reversed_ring(text):
    """Return a plan whose rule goes round the first dimension the wrong way, so that packets go to and fro."""
    made = plan_of(text)
    plus, minus, *others = made.rule.take
    return replace(made, rule=replace(made.rule, take=(minus, plus, *others)))


class Watched:
    """A fabric with its watchdog; packets are (source, destination, cycle)."""

    def __init__(self, model, *, terminals=None, counting=False):
        self.model = model
        self.course = Course(self.model, terminals or Terminals(), counting=counting)
        self.watchdog = Watchdog(self.model, self.course, source_of=int)

    def advance(self, slots, packets=(), tag=lambda source: source):
        source, destination, created = np.array(packets, np.int64).reshape(-1, 3).T
        address = self.model.plan.address.of_node(destination)
        arrivals = Arrivals.of(created, source, address, tag(source))
        timing = self.model.timing
        limit = timing.sample_phase + (self.course.slots + slots) * timing.packet_length
        return self.course.advance(arrivals, packets=1 << 40, limit=limit)


@pytest.fixture
def watch(model_on):
    """Return ``watch(plan, length=..., buffers=..., terminals=..., counting=...)``."""

    def watch(made, *, length=1, buffers=None, **options):
        return Watched(model_on(made, packet_length=length, buffers=buffers), **options)

    return watch


def uniform(made, count):
    nodes = made.network.num_nodes
    destinations = np.random.default_rng(1).integers(0, nodes, (nodes, count))
    return [(source, int(target), 0) for source in range(nodes) for target in destinations[source]]


def message_of(watched, **options):
    with pytest.raises(HangError) as caught:
        watched.watchdog.look(**options)
    return str(caught.value).split("\n")


def check_circle(made, lines):
    """Check by the rule that each packet is on its way through its queue, and goes next to that of the next one."""
    network, table = made.network, neighbor_table(made.network)
    names = [port.name for port in network.ports]
    waits = [WAIT.fullmatch(line).groups() for line in lines]
    for wait, following in zip(waits, [*waits[1:], waits[0]], strict=True):
        node, source, destination = int(wait[0]), int(wait[3]), int(wait[4])
        route = made.rule.route(source, destination)
        before = route[[hop[0] for hop in route].index(node) - 1]
        assert wait[1:3] == (names[network.ports[before[1]].opposite], str(before[2]))
        assert table[before[:2]] == node
        _, port, vc = made.rule.route(node, destination)[0]
        wanted = (str(table[node, port]), names[network.ports[port].opposite], str(vc))
        assert wait[5:] == wanted == following[:3]
    queues = [wait[:3] for wait in waits]
    assert len(set(queues)) == len(queues) > 1
    return queues


def test_the_deadlock_of_a_ring_is_the_ring(watch):
    """Every node of a ring of five sends two hops ahead, with one slot a queue and no dateline."""
    ring = watch(one_class("torus(5)"), length=4, buffers=1)
    assert not ring.advance(10, [(node, (node + 2) % 5, 0) for node in range(5) for _ in range(2)]).size
    ring.watchdog.look()
    first, *lines = message_of(ring, last=True)
    cycle = 9 * ring.model.timing.packet_length + ring.model.timing.sample_phase
    assert (
        first == f"torus(5) has a deadlock: 5 packets wait for each other in cycle {cycle} (queues as node.input.vc):"
    )
    assert lines == [
        f"  {node}.dim0_minus.0: the packet from {(node - 1) % 5} to {(node + 1) % 5} waits for a packet buffer of "
        f"{(node + 1) % 5}.dim0_minus.0"
        for node in range(5)
    ]
    assert message_of(ring, last=True) == [first, *lines]
    sound = watch(plan_of("torus(5)"), length=4, buffers=1)
    left = sound.advance(60, [(node, (node + 2) % 5, 0) for node in range(5) for _ in range(2)])
    assert len(left) == 10
    sound.watchdog.look(last=True)


@pytest.mark.parametrize("length", [1, 4])
def test_the_circle_is_real(watch, length):
    made = one_class("rdn(cube(3), 1)")
    jammed = watch(made, length=length, buffers=2, counting=True)
    jammed.advance(4000, uniform(made, 30))
    before, moved = jammed.course.counts(), jammed.course.packets_sent
    assert not jammed.advance(10).size
    held = (jammed.course.counts().held - before.held) / 10
    names = [port.name for port in made.network.ports]
    queues = check_circle(made, message_of(jammed, last=True)[1:])
    assert jammed.course.packets_sent == moved
    assert [held[int(node), names.index(port), int(vc)] for node, port, vc in queues] == [2] * len(queues)


@pytest.mark.parametrize("length", [1, 8])
def test_a_measurement_of_a_broken_rule_ends_and_that_of_the_sound_one_goes_through(model_on, length):
    load = LoadSpec(rate=1.0, warmup=3 * PATIENCE * length, cycles=200 * length)
    broken = one_class("rdn(cube(3), 1)")
    with pytest.raises(HangError, match=r"^rdn\(cube\(3\), 1\) has a deadlock: ") as caught:
        measure(model_on(broken, packet_length=length, buffers=2), load)
    first, *lines = str(caught.value).split("\n")
    count, cycle = re.search(r": (\d+) packets .* in cycle (\d+) ", first).groups()
    assert len(check_circle(broken, lines)) == int(count)
    assert PATIENCE * length < int(cycle) < 3 * PATIENCE * length
    sound = measure(model_on(plan_of("rdn(cube(3), 1)"), packet_length=length, buffers=2), load)
    assert sound.accepted_rate > 0.1


@pytest.mark.parametrize("length", [1, 2])
def test_what_is_called_a_deadlock_is_for_ever(watch, length):
    """Rings that come near one, looked at in every slot: from the first alarm on the circle stays as it is."""
    rng, ends = np.random.default_rng(length), set()
    for _ in range(20):
        ring = watch(one_class("torus(5)"), length=length, buffers=2)
        packets = [(int(rng.integers(0, 12)), int(rng.integers(0, 5))) for _ in range(100)]
        circle = None
        for cycle in range(0, 300 * length, length):
            ring.advance(1, [(node, (node + 2) % 5, cycle) for created, node in packets if created == cycle // length])
            try:
                ring.watchdog.look(last=True)
            except HangError as error:
                lines = str(error).split("\n")[1:]
                assert circle in (None, lines)
                circle = lines
            else:
                assert circle is None
        assert (circle is None) == (ring.course.packets_gone == len(packets))
        ends.add(circle is None)
    assert ends == {False, True}


def test_a_deadlock_beside_packets_that_move_is_found_at_the_end(watch):
    """One ring of two is jammed; in the other, a packet goes to its neighbor now and then."""
    rings = watch(one_class("torus(2, 5)"), buffers=1)
    jam = [(node, (node + 2) % 5, 0) for node in range(5) for _ in range(2)]
    assert len(rings.advance(3 * PATIENCE, [*jam, *((5, 6, cycle) for cycle in range(0, 3 * PATIENCE, 100))])) == 30
    for step in range(3):
        rings.watchdog.look()
        assert rings.advance(PATIENCE, [(5, 6, rings.course.slots + step)]).size
    rings.watchdog.look()
    assert message_of(rings, last=True)[1].startswith(
        "  0.dim1_minus.0: the packet from 4 to 1 waits for a packet buffer of 1."
    )


def test_nothing_is_said_before_the_patience_is_over(watch):
    """Terminals that take nothing: packets wait, but not for each other."""
    stuck = watch(plan_of("mesh(3)"), buffers=1, terminals=Terminals(sink_stall=256))
    stuck.advance(20, [(0, 2, 0)] * 3)
    stuck.watchdog.look()
    stuck.advance(PATIENCE - 1)
    stuck.watchdog.look()
    stuck.watchdog.look(last=True)
    stuck.advance(1)
    assert message_of(stuck) == [
        f"mesh(3) stands still: no packet has moved for {PATIENCE} slots; these wait, but in no circle in cycle "
        f"{PATIENCE + 19} (queues as node.input.vc):",
        "  1.dim0_minus.0: the packet from 0 to 2 waits for a packet buffer of 2.dim0_minus.0",
        "  2.dim0_minus.0: the packet from 0 to 2 waits for a packet buffer of its terminal",
    ]


def test_an_idle_fabric_is_not_stuck(watch):
    idle = watch(plan_of("torus(5)"))
    for number in range(5):
        created = idle.course.slots + 10 * PATIENCE - 1  # so that it comes in when the last slot has been allocated
        idle.advance(10 * PATIENCE, [(number, (number + 1) % 5, created)])
        assert idle.course.holds_packets
        idle.watchdog.look()
        idle.watchdog.look(last=True)


@pytest.mark.parametrize("rate", [1e-6, 1e-4])
def test_a_load_of_hardly_any_packets_is_measured(model_on, rate):
    measured = measure(model_on(plan_of("torus(5)"), packet_length=1), LoadSpec(rate=rate, cycles=50_000, warmup=0))
    assert measured.created == measured.delivered


def test_packets_that_go_to_and_fro(model_on):
    made = reversed_ring("torus(5, 3)")
    load = LoadSpec(rate=0.001, cycles=5000)
    with pytest.raises(HangError) as caught:
        measure(model_on(made, packet_length=1), load)
    first, *lines = str(caught.value).split("\n")
    found = re.fullmatch(
        r"torus\(5, 3\) has a livelock: the packet from (\d+) to (\d+) of cycle (\d+) has crossed (\d+) channels by "
        r"cycle (\d+), and its route \(node\.port\.vc\) comes back to node (\d+) after (\d+):",
        first,
    )
    source, target, created, crossed, cycle, again, hops = map(int, found.groups())
    assert len(lines) == hops < crossed <= (cycle - created) // 3
    assert cycle < 2 * PATIENCE
    network, table, node, nodes = made.network, neighbor_table(made.network), source, []
    for line in lines:
        port, vc = made.rule.next_hop(network.decode(node), network.decode(target))
        assert line == f"  {node}.{network.ports[port].name}.{vc}"
        nodes.append(node)
        node = int(table[node, port])
    assert again == node
    assert node in nodes
    assert measure(model_on(plan_of("torus(5, 3)"), packet_length=1), load).created > 0


def test_a_packet_that_has_crossed_more_than_its_route(watch):
    """Its tag says that it comes from another node than it does."""
    astray = watch(plan_of("torus(5)"), terminals=Terminals(sink_stall=256))
    astray.advance(20, [(0, 2, 0)], tag=lambda source: source + 1)
    astray.watchdog.look()
    assert message_of(astray, last=True) == [
        "torus(5) has a livelock: the packet from 1 to 2 of cycle 0 has crossed 2 channels by cycle 19, and its route "
        "(node.port.vc) has 1:",
        "  1.dim0_plus.1",
    ]


def test_the_message_comes_back_from_a_worker():
    error = pickle.loads(pickle.dumps(HangError("one\ntwo")))
    assert (type(error), str(error)) == (HangError, "one\ntwo")
