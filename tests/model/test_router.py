"""Allocation of one router: credits, the order of the scan, and what it means for those who wait."""

import random
from collections import Counter, defaultdict
from itertools import combinations, product

import numpy as np
import pytest

from hdnhw.machine.timing import CLASS_SLOTS, TURN_SLOTS
from tests.model.bare_router import BareRouter

PORTS = 4


class Router(BareRouter):
    """Node 1 of two, with inputs and outputs of `num_vcs` classes, and packets numbered as they are pushed.

    With `rounds` its queues are virtual output queues; the first round may be an `early` one. With `lanes` a class has
    two virtual channels.
    """

    def __init__(self, num_vcs, credits=100, *, ports=PORTS, lanes=1, rounds=0, early=False):
        vc_bits, self.pushed = (num_vcs - 1).bit_length(), 0
        free, several = np.full(ports << vc_bits, credits, np.int16), np.full(2, num_vcs > 1)
        super().__init__(free, several, 1, vc_bits=vc_bits, lanes=lanes, rounds=rounds, early=early)
        self.all_credits = self.ways.reshape(2, ports, -1)
        self.credits, self.level = self.all_credits[1], np.zeros((ports, num_vcs), int)

    def push(self, port, vc, output, output_vc=0):
        self.put(port << self.vc_bits | vc, output << self.vc_bits | output_vc, self.pushed)
        self.pushed += 1
        self.level[port, vc] += 1

    def slot(self):
        """Allocate once and return {output: (input, class of the queue, packet)}, taking the packets out."""
        sent, taken = self.allocate(), {}
        for entry, way, packet in sent:
            port, vc = divmod(entry, 1 << self.vc_bits)
            taken[way >> self.vc_bits] = (port, vc, packet)
            self.level[port, vc] -= 1
        assert len(sent) == len(taken)
        return taken


@pytest.fixture(params=(0, 2), ids=("small", "any"), autouse=True)
def _kind(request, monkeypatch):
    """Let routers be small where they can, or none."""
    monkeypatch.setattr(BareRouter, "part_nodes", request.param)


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


def test_an_output_takes_the_lane_that_it_sent_to_longest_ago():
    router = Router(2, lanes=2)
    for _ in range(2):
        for port, vc in ((0, 0), (1, 0), (2, 1)):
            router.push(port, vc, 3, vc)
    assert [router.slot()[3][:2] for _ in range(6)] == [(0, 0), (2, 1), (1, 0), (2, 1), (0, 0), (1, 0)]


@pytest.mark.parametrize("num_vcs", [2, 3])
def test_an_output_takes_the_later_class_but_each_in_its_turn_in_one_of_so_many_slots(num_vcs):
    router, slots, last = Router(num_vcs), 4 * CLASS_SLOTS, num_vcs - 1
    for _ in range(slots):
        for vc in range(num_vcs):
            router.push(vc, vc, 3, vc)
    others = [last] * (CLASS_SLOTS - 1)
    served = [router.slot()[3][0] for _ in range(slots)]
    assert served == [*others, 0, *others, 1 % last, *others, 0, *others, 1 % last]


def test_a_later_class_without_credit_leaves_the_output_to_another():
    router = Router(2)
    router.credits[3, 1] = 0
    router.push(0, 0, 3)
    router.push(1, 1, 3, 1)
    assert router.slot() == {3: (0, 0, 0)}
    assert router.slot() == {}


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


@pytest.mark.parametrize("num_vcs", [1, 2])
def test_queues_keep_their_order_when_an_epoch_begins(num_vcs):
    """A router in its first slots beside one that does the same but is idle for almost an epoch now and then."""
    rng, first, later = random.Random(num_vcs), Router(num_vcs, credits=3), Router(num_vcs, credits=3)
    for slot in range(1000):
        if slot % 50 == 40:
            later.slots += later.epoch - 4 * CLASS_SLOTS
        busy, credits = rng.sample([*product(range(PORTS), range(num_vcs))], 3), rng.randrange(3)
        ways = [(rng.randrange(PORTS), rng.randrange(num_vcs)) for _ in busy]
        for router in (first, later):
            router.credits[:] = credits
            for (port, vc), way in zip(busy, ways, strict=True):
                router.push(port, vc, *way)
        assert first.slot() == later.slot()


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
    """Each output but one gets credits every n-th slot: so many slots for each queue at most, or a turn a class."""
    rng = random.Random(f"{every} {seed}")
    ports, num_vcs = rng.choice((3, 5, 6)), rng.choice((1, 2, 4))
    router = Router(num_vcs, ports=ports, credits=1)
    stuck, *outputs = rng.sample(range(ports), 3)
    router.credits[stuck] = 0
    busy = rng.sample([*product(range(ports), range(num_vcs))], max(3, ports * num_vcs * 2 // 3))
    turns = CLASS_SLOTS * num_vcs if num_vcs > 1 else 1
    since, served, longest = dict.fromkeys(busy, 0), Counter(), ports * num_vcs * max(every, turns)
    for slot in range(20 * longest):
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


ROUNDS = [(1, False), (2, False), (2, True)]
"""Rounds of matching, and whether the first is early."""


def test_a_packet_that_has_just_come_waits_for_those_that_were_there_but_for_nothing_else():
    router = Router(1, rounds=2, early=True)
    router.credits[1] = 0
    router.push(0, 0, 1)
    assert router.slot() == {}
    router.credits[1] = 1
    router.push(2, 0, 1)  # in one round of all packets, both would be granted: input 2 output 2
    router.push(2, 0, 2)
    router.push(0, 0, 2)
    assert router.slot() == {1: (0, 0, 0), 2: (2, 0, 2)}


class Matched:
    """What the docstring of the RTL's allocator says, on lists: who stands first in an order comes first."""

    def __init__(self, ports, num_vcs, rounds, early):
        self.rounds, self.early, self.injection, self.turns = rounds, early, ports - 1, set()
        self.came, self.vcs_ = set(), range(num_vcs)
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
        matched, sends = {}, {}
        for round_ in range(self.rounds):
            grants = defaultdict(list)
            unseen = self.came if self.early and round_ == 0 else set()
            free = {
                (port, way)
                for (port, _), own in self.packets.items()
                for way, packet in own
                if credits[way] > 0 and packet not in unseen and port not in matched
            }
            for output in {way[0] for _, way in free} - {way[0] for way in matched.values()}:
                vc = min({way[1] for _, way in free if way[0] == output}, key=self.vcs[output].index)
                way = output, vc
                grants[min((port for port, one in free if one == way), key=lambda p: self._rank(way, p))].append(way)
            for port, ways in grants.items():
                matched[port] = way = min(ways, key=lambda way: self.outputs[port].index(way[0]))
                sends[way[0]] = self._send(port, way, unseen)
        self.turns.discard(matched.get(self.injection))
        for way, (port, vc, _) in sends.values():
            orders = ((self.inputs[way], port), (self.vcs[way[0]], way[1]), (self.outputs[port], way[0]))
            for order, served in (*orders, (self.queues[port, way], vc)):
                order.remove(served)
                order.append(served)
        self.came.clear()
        return {output: sent for output, (_, sent) in sends.items()}

    def push(self, port, vc, way, packet):
        self.packets[port, vc].append((way, packet))
        self.came.add(packet)

    def _send(self, port, way, unseen):
        """Take out the first packet of an input that goes a way, but none that is unseen."""
        own = {vc: [p for one, p in self.packets[port, vc] if one == way and p not in unseen] for vc in self.vcs_}
        vc = next(vc for vc in self.queues[port, way] if own[vc])
        self.packets[port, vc].remove((way, own[vc][0]))
        return way, (port, vc, own[vc][0])


@pytest.mark.parametrize(("rounds", "early"), ROUNDS)
@pytest.mark.parametrize("num_vcs", [1, 2, 4])
def test_matching_does_what_its_description_says(rounds, early, num_vcs):
    rng, ports = random.Random(f"{rounds} {num_vcs}"), 5
    router = Router(num_vcs, ports=ports, credits=2, rounds=rounds, early=early)
    twin = Matched(ports, num_vcs, rounds, early)
    sent = Counter()
    for slot in range(3000):
        for port, vc in twin.packets:
            if (
                rng.random() < (0.2, 0.9)[slot // 50 % 2]
                and router.level[port, vc] < 4
                and (port < ports - 1 or not vc)
            ):
                way = rng.randrange(ports), rng.randrange(num_vcs)
                twin.push(port, vc, way, router.pushed)
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
@pytest.mark.parametrize(("rounds", "early"), ROUNDS)
def test_no_packet_that_is_first_of_its_way_starves(every, seed, rounds, early):
    """Each class of each output gets a credit every n-th slot: so many slots a queue, and a turn.

    Two rounds can fall into a period that passes somebody over until injection's turns break it: so three turns.
    """
    rng = random.Random(f"{every} {seed}")
    ports, num_vcs = rng.choice((3, 5, 6)), rng.choice((1, 2, 4))
    router = Router(num_vcs, ports=ports, credits=1, rounds=rounds, early=early)
    ways = list(product(range(ports), range(num_vcs)))
    queues = [(port, vc) for port, vc in ways if port < ports - 1 or vc == 0]
    waiting = {(port, vc, way): [0] for port, vc in queues for way in rng.sample(ways, max(2, len(ways) // 2))}
    numbers = {}
    for port, vc, way in waiting:
        numbers[router.pushed] = port, vc, way
        router.push(port, vc, *way)
    longest = (1, 3)[rounds - 1] * TURN_SLOTS + len(waiting) * max(every, num_vcs)
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
