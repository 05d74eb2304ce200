"""Allocation of one router: credits, the order of the scan, and what it means for those who wait."""

import random
from collections import Counter, defaultdict
from itertools import combinations, product

import numpy as np
import pytest

from hdnhw.model.kernel import allocator, queue
from hdnhw.model.kernel.compiled import kept
from hdnhw.model.kernel.reset import make_routers
from hdnhw.timing import TURN_SLOTS

PORTS = 4
allocate_node, push_packet, take_packet = (
    kept(kernel.py_func) for kernel in (allocator.allocate_node, queue.push_packet, queue.take_packet)
)


class Router:
    """Node 1 of two, with inputs and outputs of `num_vcs` classes, and packets numbered as they are pushed.

    With `rounds` its queues are virtual output queues.
    """

    def __init__(self, num_vcs, credits=100, *, ports=PORTS, rounds=0):
        self.vc_bits, self.pushed, self.slots = (num_vcs - 1).bit_length(), 0, 0
        free, several = np.full(ports << self.vc_bits, credits, np.int16), np.full(2, num_vcs > 1)
        self.routers = make_routers(free, several, vc_bits=self.vc_bits, rounds=rounds, held=100_000, room=100_000)
        self.all_credits = self.routers.credits.reshape(2, ports, -1)
        self.credits, self.level = self.all_credits[1], np.zeros((ports, num_vcs), int)

    def push(self, port, vc, output, output_vc=0):
        entry, way = port << self.vc_bits | vc, output << self.vc_bits | output_vc
        push_packet(self.routers.pool, self.routers.queues, 1, entry, self.pushed, way)
        self.pushed += 1
        self.level[port, vc] += 1

    def slot(self):
        """Allocate once and return {output: (input, class of the queue, packet)}, taking the packets out."""
        routers, taken = self.routers, {}
        granted = allocate_node(routers, self.slots, 1)
        self.slots += 1
        for entry, way in zip(
            *(column[:granted].tolist() for column in (routers.work.queue, routers.work.output_vc)), strict=True
        ):
            port, vc = entry >> self.vc_bits, entry & (1 << self.vc_bits) - 1
            taken[way >> self.vc_bits] = (port, vc, int(take_packet(routers.pool, routers.queues, 1, entry, way)))
            self.level[port, vc] -= 1
        assert granted == len(taken)
        return taken


def test_an_empty_router_sends_nothing():
    assert Router(2).slot() == {}


def test_different_outputs_are_served_at_once_and_in_order():
    router = Router(1)
    for port in range(PORTS):
        router.push(port, 0, (port + 1) % PORTS)
        router.push(port, 0, port)
    assert router.slot() == {1: (0, 0, 0), 2: (1, 0, 2), 3: (2, 0, 4), 0: (3, 0, 6)}
    assert router.slot() == {port: (port, 0, 2 * port + 1) for port in range(PORTS)}
    assert router.slot() == {}


def test_an_output_takes_the_input_that_it_served_longest_ago():
    router = Router(2)
    for port in (2, 0, 2, 0, 3, 1):
        router.push(port, 0, 1)
    assert [router.slot()[1][0] for _ in range(4)] == [0, 1, 2, 3]
    router.push(3, 0, 1)
    router.push(1, 0, 1)
    assert [router.slot()[1][0] for _ in range(4)] == [0, 1, 2, 3]


def test_each_class_of_each_output_has_an_order_of_its_own_where_inputs_have_classes():
    router = Router(2)
    router.push(0, 0, 2)
    router.push(0, 1, 1, 1)
    router.slot(), router.slot()
    for vc, output, output_vc in ((0, 1, 0), (1, 2, 1)):
        for port in (0, 3):
            router.push(port, vc, output, output_vc)
    # Input 0 was served last at output 2 in class 0 and at output 1 in class 1: here others are asked for.
    assert router.slot() == {1: (0, 0, 2)}
    assert router.slot() == {1: (3, 0, 3), 2: (0, 1, 4)}
    assert router.slot() == {2: (3, 1, 5)}


def test_an_output_takes_the_class_that_it_sent_to_longest_ago():
    router = Router(2)
    for _ in range(2):
        for port, vc in ((0, 0), (1, 0), (2, 1)):
            router.push(port, vc, 3, vc)
    assert [router.slot()[3][:2] for _ in range(6)] == [(0, 0), (2, 1), (1, 0), (2, 1), (0, 0), (1, 0)]


def test_with_one_class_the_order_is_that_of_the_router():
    router = Router(1)
    router.push(0, 0, 2)
    router.slot()
    for port in (0, 3):
        router.push(port, 0, 1)
    assert [router.slot()[1][0] for _ in range(2)] == [3, 0]


def test_the_class_that_sent_longest_ago_goes_first():
    router = Router(3)
    for vc in (2, 1, 0, 1, 1):
        router.push(3, vc, vc)
    assert [vc for _ in range(5) for _, vc, _ in router.slot().values()] == [0, 1, 2, 1, 1]
    router.push(3, 1, 1)
    router.push(3, 0, 0)
    assert [vc for _ in range(2) for _, vc, _ in router.slot().values()] == [0, 1]


def test_a_class_that_may_not_be_sent_lets_the_other_go_first():
    router = Router(2)
    router.push(0, 0, 2)
    router.push(1, 0, 2)
    router.push(1, 1, 3)
    assert router.slot() == {2: (0, 0, 0)}  # an input offers one packet: class 1 is not tried when class 0 loses
    assert router.slot() == {2: (1, 0, 1)}
    assert router.slot() == {3: (1, 1, 2)}
    router.push(1, 0, 2)
    router.push(1, 1, 3)
    router.credits[2, 0] = 0
    assert router.slot() == {3: (1, 1, 4)}


@pytest.mark.parametrize("num_vcs", [1, 2])
@pytest.mark.parametrize("ports", [3, 5, 6])
def test_inputs_share_an_output_equally_however_many_are_idle(ports, num_vcs):
    for count in range(2, ports + 1):
        for busy in combinations(range(ports), count):
            router, served = Router(num_vcs, ports=ports, credits=1000), Counter()
            for _ in range(20 * count):
                for port in busy:
                    while router.level[port, num_vcs - 1] < 2:
                        router.push(port, num_vcs - 1, 0)
                served.update(port for port, _, _ in router.slot().values())
            assert served == dict.fromkeys(busy, 20)


@pytest.mark.parametrize("every", range(1, 8))
@pytest.mark.parametrize("seed", range(6))
def test_no_packet_waits_longer_than_a_round_of_credits_beside_an_output_that_gives_none(every, seed):
    """Each output but one gets credits every n-th slot: so many slots, or one a class, for each queue at most."""
    rng = random.Random(f"{every} {seed}")
    ports, num_vcs = rng.choice((3, 5, 6)), rng.choice((1, 2, 4))
    router = Router(num_vcs, ports=ports, credits=1)
    stuck, *outputs = rng.sample(range(ports), 3)
    router.credits[stuck] = 0
    busy = rng.sample([*product(range(ports), range(num_vcs))], max(3, ports * num_vcs * 2 // 3))
    since, served, longest = dict.fromkeys(busy, 0), Counter(), ports * num_vcs * max(every, num_vcs)
    for slot in range(40 * longest):
        for number, (port, vc) in enumerate(busy):
            while router.level[port, vc] < 2:
                router.push(port, vc, rng.choice(outputs) if number else stuck, rng.randrange(num_vcs))
        if slot % every == 0:
            router.credits[:] = np.minimum(router.credits + 1, 1)
            router.credits[stuck] = 0
        for port, vc, _ in router.slot().values():
            assert slot - since[port, vc] <= longest
            since[port, vc] = slot
            served[port, vc] += 1
    assert set(served) == set(busy[1:])


@pytest.mark.parametrize("output_vc", [0, 1])
def test_credits_are_spent_and_waited_for(output_vc):
    router = Router(2, credits=1)
    for _ in range(3):
        router.push(0, 0, 2, output_vc)
    assert router.slot() == {2: (0, 0, 0)}
    assert router.slot() == {}
    expected = np.ones((PORTS, 2), int)
    expected[2, output_vc] = 0
    assert np.array_equal(router.all_credits, [np.ones((PORTS, 2)), expected])
    router.credits[2, output_vc] += 1
    assert router.slot() == {2: (0, 0, 1)}


def test_a_class_without_credit_lets_the_other_go_first():
    router = Router(2)
    router.credits[1, 0] = 0
    router.push(0, 0, 1)
    router.push(0, 1, 2)
    assert router.slot() == {2: (0, 1, 1)}
    assert router.slot() == {}


def test_a_packet_goes_past_those_that_go_another_way_and_past_no_other():
    router = Router(1, rounds=1)
    router.credits[1] = 0
    for output in (1, 2, 1, 2):
        router.push(0, 0, output)
    assert [router.slot() for _ in range(3)] == [{2: (0, 0, 1)}, {2: (0, 0, 3)}, {}]
    router.credits[1] = 2
    assert [router.slot() for _ in range(3)] == [{1: (0, 0, 0)}, {1: (0, 0, 2)}, {}]


def test_the_second_round_matches_what_the_first_leaves():
    for rounds, taken in ((1, {1: (0, 0, 0)}), (2, {1: (0, 0, 0), 2: (1, 0, 2)})):
        router = Router(1, rounds=rounds)
        for port, output in ((0, 1), (0, 2), (1, 2)):  # both outputs take input 0, which accepts the first
            router.push(port, 0, output)
        assert router.slot() == taken


def test_injection_comes_last_but_first_once_by_each_way_in_so_many_slots():
    router, injection = Router(1, rounds=2, credits=1000), PORTS - 1
    came = defaultdict(list)
    for slot in range(2 * TURN_SLOTS + 10):
        for port, output in ((0, 1), (1, 2), (injection, 1), (injection, 2)):
            router.push(port, 0, output)
        for output, (port, _, _) in router.slot().items():
            came[port].append((slot, output))
    turns = (0, TURN_SLOTS, 2 * TURN_SLOTS)
    assert came[injection] == [(turn + after, 1 + after) for turn in turns for after in (0, 1)]


class Matched:
    """What the docstring of the RTL's allocator says, on lists: who stands first in an order comes first."""

    def __init__(self, ports, num_vcs, rounds):
        self.rounds, self.injection, self.turns = rounds, ports - 1, set()
        self.packets = {(port, vc): [] for port in range(ports) for vc in range(num_vcs)}
        self.inputs = defaultdict(lambda: list(range(ports)))
        self.vcs = defaultdict(lambda: list(range(num_vcs)))
        self.outputs = defaultdict(lambda: list(range(ports)))
        self.queues = defaultdict(lambda: list(range(num_vcs)))

    def _rank(self, way, port):
        if port == self.injection:
            return -1 if way in self.turns else len(self.inputs[way])
        return self.inputs[way].index(port)

    def slot(self, number, credits):
        if number % TURN_SLOTS == 0:
            self.turns = set(credits)
        wanted = {(port, way) for (port, _), own in self.packets.items() for way, _ in own if credits[way] > 0}
        matched = {}
        for _ in range(self.rounds):
            grants = defaultdict(list)
            free = {(port, way) for port, way in wanted if port not in matched}
            for output in {way[0] for _, way in free} - {way[0] for way in matched.values()}:
                vc = min({way[1] for _, way in free if way[0] == output}, key=self.vcs[output].index)
                way = output, vc
                grants[min((port for port, one in free if one == way), key=lambda p: self._rank(way, p))].append(way)
            for port, ways in grants.items():
                matched[port] = min(ways, key=lambda way: self.outputs[port].index(way[0]))
        self.turns.discard(matched.get(self.injection))
        return {way[0]: self._send(port, way) for port, way in matched.items()}

    def _send(self, port, way):
        queues = self.queues[port, way]
        vc = next(vc for vc in queues if any(one == way for one, _ in self.packets[port, vc]))
        packet = next(packet for one, packet in self.packets[port, vc] if one == way)
        self.packets[port, vc].remove((way, packet))
        orders = ((self.inputs[way], port), (self.vcs[way[0]], way[1]), (self.outputs[port], way[0]))
        for order, served in (*orders, (queues, vc)):
            order.remove(served)
            order.append(served)
        return port, vc, packet


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("num_vcs", [1, 2, 4])
def test_matching_does_what_its_description_says(rounds, num_vcs):
    rng, ports = random.Random(f"{rounds} {num_vcs}"), 5
    router, twin = Router(num_vcs, ports=ports, credits=2, rounds=rounds), Matched(ports, num_vcs, rounds)
    sent = Counter()
    for slot in range(3000):
        for port, vc in twin.packets:
            if (
                rng.random() < (0.2, 0.9)[slot // 50 % 2]
                and router.level[port, vc] < 4
                and (port < ports - 1 or not vc)
            ):
                way = rng.randrange(ports), rng.randrange(num_vcs)
                twin.packets[port, vc].append((way, router.pushed))
                router.push(port, vc, *way)
        for output, vc in product(range(ports), range(num_vcs)):
            router.credits[output, vc] = min(2, router.credits[output, vc] + (rng.random() < 0.4))
        credits = {way: int(router.credits[way]) for way in product(range(ports), range(num_vcs))}
        expected = twin.slot(slot, credits)
        assert router.slot() == expected
        sent[len(expected)] += 1
    assert max(sent) == ports
    assert len(sent) > 3


@pytest.mark.parametrize("every", [1, 2, 3, 7])
@pytest.mark.parametrize("seed", range(6))
def test_no_packet_that_is_first_of_its_way_starves(every, seed):
    """Each class of each output gets a credit every n-th slot: so many slots a queue, and a turn."""
    rng = random.Random(f"{every} {seed}")
    ports, num_vcs, rounds = rng.choice((3, 5, 6)), rng.choice((1, 2, 4)), 1 + seed % 2
    router, ways = Router(num_vcs, ports=ports, credits=1, rounds=rounds), list(product(range(ports), range(num_vcs)))
    queues = [(port, vc) for port, vc in ways if port < ports - 1 or vc == 0]
    waiting = {(port, vc, way): [0] for port, vc in queues for way in rng.sample(ways, max(2, len(ways) // 2))}
    numbers = {}
    for port, vc, way in waiting:
        numbers[router.pushed] = port, vc, way
        router.push(port, vc, *way)
    longest = TURN_SLOTS + len(waiting) * max(every, num_vcs)
    for slot in range(6 * longest):
        if slot % every == 0:
            router.credits[:] = np.minimum(router.credits + 1, 1)
        for _, _, packet in router.slot().values():
            port, vc, way = flow = numbers.pop(packet)
            waiting[flow].append(slot)
            numbers[router.pushed] = flow
            router.push(port, vc, *way)
    gaps = {flow: max(np.diff([*slots, 6 * longest])) for flow, slots in waiting.items()}
    assert max(gaps.values()) <= longest
