"""Allocation of one router: credits, the order of the scan, and what it means for those who wait."""

import random
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

from hdnhw.model.router import allocate_node, make_queues, push_decision
from hdnhw.routing.compiled import VC_SHIFT

PORTS = 4


class Router:
    """Node 1 of two, with inputs and outputs of `num_vcs` classes, and packets numbered as they are pushed.

    The scan's starting point may move on by `moves` queues after a slot.
    """

    def __init__(self, num_vcs, buffers=16, credits=100, *, ports=PORTS, moves=1):
        self.ports, self.num_vcs, self.moves, self.pushed = ports, num_vcs, moves, 0
        self.queue = make_queues(2, ports, num_vcs, buffers)
        self.credits = np.full((2, ports, num_vcs), credits, np.int32)
        self.order = np.zeros(2, np.int64), np.zeros(2, np.int64)
        self.inputs, self.vcs_in = np.arange(ports), np.full(ports, num_vcs, np.int64)

    def push(self, port, vc, output, output_vc=0):
        push_decision(self.queue, 1, port, vc, self.pushed, output | output_vc << VC_SHIFT)
        self.pushed += 1

    def slot(self):
        """Allocate once and return {output: (input, class of the queue, packet)}, taking the packets out."""
        chosen, winner = np.zeros(self.ports, np.int64), np.zeros(self.ports, np.int64)
        granted = allocate_node(
            self.queue, self.credits, self.order, self.moves, self.inputs, self.vcs_in, 1, chosen, winner
        )
        packets, _, head, level = self.queue
        taken = {}
        for output, port in enumerate(winner.tolist()):
            if port >= 0:
                vc = int(chosen[port])
                taken[output] = (port, vc, int(packets[1, port, vc, head[1, port, vc]]))
                head[1, port, vc] = (head[1, port, vc] + 1) % packets.shape[3]
                level[1, port, vc] -= 1
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


def test_the_scan_starts_at_the_next_queue_in_every_slot():
    router = Router(1)
    for _ in range(8):
        for port in range(PORTS):
            router.push(port, 0, 1)
    assert [router.slot()[1][0] for _ in range(8)] == [*range(PORTS)] * 2


def test_the_scan_starts_where_a_packet_waits_until_it_has_left():
    router = Router(1)
    router.credits[1, 1, 0] = 0
    router.push(0, 0, 1)
    for _ in range(5):
        router.push(1, 0, 2)
        router.push(2, 0, 2)
    assert [router.slot() for _ in range(3)] == [{2: (1, 0, packet)} for packet in (1, 3, 5)]
    router.credits[1, 1, 0] = 1
    assert router.slot() == {1: (0, 0, 0), 2: (1, 0, 7)}
    assert [router.slot()[2][:2] for _ in range(2)] == [(1, 0), (2, 0)]


def test_the_preferred_class_goes_first_and_changes_when_all_inputs_had_their_turn():
    router = Router(2)
    for _ in range(8):
        for vc in (0, 1):
            router.push(3, vc, vc)
    order = [vc for _ in range(4 * PORTS) for _, vc, _ in router.slot().values()]
    assert order == [0] * PORTS + [1] * PORTS + [0] * PORTS + [1] * PORTS


def test_a_class_that_may_not_be_sent_lets_the_other_go_first():
    router = Router(2)
    router.push(0, 0, 2)
    router.push(1, 0, 2)
    router.push(1, 1, 3)
    assert router.slot() == {2: (0, 0, 0)}  # an input offers one packet: class 1 is not tried when class 0 loses
    assert router.slot() == {2: (1, 0, 1)}
    assert router.slot() == {3: (1, 1, 2)}


def shares(busy, *, num_vcs, ports, moves, slots=840):
    """Return the share of each queue of `busy`, which always have packets, at one output."""
    router, served = Router(num_vcs, buffers=2, ports=ports, moves=moves, credits=slots), Counter()
    for _ in range(slots):
        for port, vc in busy:
            while router.queue[3][1, port, vc] < 2:
                router.push(port, vc, 0)
        ((port, vc, _),) = router.slot().values()
        served[port, vc] += 1
    return [served[queue] / slots for queue in busy]


@pytest.mark.parametrize("num_vcs", [1, 2])
@pytest.mark.parametrize("ports", [3, 5, 6])
def test_an_output_is_shared(ports, num_vcs):
    """A queue that always has a packet goes first once a round; all are equal if the scan passes over all idle ones."""
    queues = [*product(range(ports), range(num_vcs))]
    for busy in combinations(queues, 2):
        for moves in range(1, len(queues) + 1):
            assert min(shares(busy, num_vcs=num_vcs, ports=ports, moves=moves, slots=210)) > 0.97 / len(queues)
        assert shares(busy, num_vcs=num_vcs, ports=ports, moves=len(queues)) == pytest.approx([0.5, 0.5], abs=0.01)
    fair = pytest.approx([1 / len(queues)] * len(queues), abs=0.01)
    assert shares(queues, num_vcs=num_vcs, ports=ports, moves=1) == fair
    assert shares(queues, num_vcs=num_vcs, ports=ports, moves=len(queues)) == fair


@pytest.mark.parametrize(
    ("num_vcs", "ports", "moves", "busy", "expected"),
    [
        (1, 5, 1, [(0, 0), (1, 0)], [0.8, 0.2]),
        (1, 5, 1, [(0, 0), (2, 0)], [0.6, 0.4]),
        (1, 5, 3, [(0, 0), (1, 0)], [2 / 3, 1 / 3]),
        (2, 5, 2, [(0, 0), (1, 0)], [5 / 6, 1 / 6]),
        (2, 4, 2, [(0, 0), (1, 0)], [0.6, 0.4]),
        (2, 4, 2, [(port, 0) for port in range(4)], [1 / 6, 1 / 3, 1 / 6, 1 / 3]),
    ],
)
def test_who_stands_behind_idle_queues_gets_less(num_vcs, ports, moves, busy, expected):
    """What docs/decisions/0006 gives as a drawback: the queue behind idle ones is first while the scan passes them."""
    assert shares(busy, num_vcs=num_vcs, ports=ports, moves=moves) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("every", range(1, 8))
@pytest.mark.parametrize("seed", range(6))
def test_no_packet_waits_longer_than_a_round_of_credits(every, seed):
    """Each output gets a credit every n-th slot, and so each queue takes n slots of a round at most."""
    rng = random.Random(f"{every} {seed}")
    ports, num_vcs, moves = rng.choice((3, 5, 6)), rng.choice((1, 2, 4)), rng.choice((1, 2, 3, 11))
    router = Router(num_vcs, buffers=2, ports=ports, moves=moves, credits=1)
    busy = rng.sample([*product(range(ports), range(num_vcs))], max(2, ports * num_vcs * 2 // 3))
    outputs = rng.sample(range(ports), 2)
    since, served = dict.fromkeys(busy, 0), Counter()
    for slot in range(40 * ports * num_vcs * every):
        for port, vc in busy:
            while router.queue[3][1, port, vc] < 2:
                router.push(port, vc, rng.choice(outputs), rng.randrange(num_vcs))
        if slot % every == 0:
            router.credits[1] = np.minimum(router.credits[1] + 1, 1)
        for port, vc, _ in router.slot().values():
            assert slot - since[port, vc] <= ports * num_vcs * every
            since[port, vc] = slot
            served[port, vc] += 1
    assert set(served) == set(busy)
    assert all(slot - last <= ports * num_vcs * every for last in since.values())


@pytest.mark.parametrize("output_vc", [0, 1])
def test_credits_are_spent_and_waited_for(output_vc):
    router = Router(2, credits=1)
    for _ in range(3):
        router.push(0, 0, 2, output_vc)
    assert router.slot() == {2: (0, 0, 0)}
    assert router.slot() == {}
    expected = np.ones((PORTS, 2), int)
    expected[2, output_vc] = 0
    assert np.array_equal(router.credits, [np.ones((PORTS, 2)), expected])
    router.credits[1, 2, output_vc] += 1
    assert router.slot() == {2: (0, 0, 1)}


def test_a_class_without_credit_lets_the_other_go_first():
    router = Router(2)
    router.credits[1, 1, 0] = 0
    router.push(0, 0, 1)
    router.push(0, 1, 2)
    assert router.slot() == {2: (0, 1, 1)}
    assert router.slot() == {}
