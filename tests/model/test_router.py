"""Allocation of one router: credits, and turns between classes of an input and between inputs of an output."""

import numpy as np
import pytest

from hdnhw.model.router import allocate_node, make_queues, push_decision
from hdnhw.routing.compiled import VC_SHIFT

PORTS = 4


class Router:
    """Node 1 of two, with four ports of `num_vcs` classes, and packets numbered as they are pushed."""

    def __init__(self, num_vcs, buffers=16, credits=100):
        self.queue = make_queues(2, PORTS, num_vcs, buffers)
        self.credits = np.full((2, PORTS, num_vcs), credits, np.int32)
        self.turns = np.zeros((2, PORTS), np.int64), np.zeros((2, PORTS), np.int64)
        self.vcs_in = np.full(PORTS, num_vcs, np.int64)
        self.pushed = 0

    def push(self, port, vc, output, output_vc=0):
        push_decision(self.queue, 1, port, vc, self.pushed, output | output_vc << VC_SHIFT)
        self.pushed += 1

    def slot(self):
        """Allocate once and return {output: (input, class of the queue, packet)}, taking the packets out."""
        chosen, winner = np.zeros(PORTS, np.int64), np.zeros(PORTS, np.int64)
        granted = allocate_node(self.queue, self.credits, self.turns, self.vcs_in, 1, chosen, winner)
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


def test_inputs_take_turns_at_an_output():
    router = Router(1)
    for _ in range(4):
        for port in (0, 2, 3):
            router.push(port, 0, 1)
    assert [router.slot()[1][0] for _ in range(12)] == [0, 2, 3] * 4


def test_classes_take_turns_at_an_input():
    router = Router(2)
    for _ in range(4):
        for vc in (0, 1):
            router.push(3, vc, vc)
    slots = [router.slot() for _ in range(8)]
    assert [[(output, vc) for output, (_, vc, _) in taken.items()] for taken in slots] == [[(0, 0)], [(1, 1)]] * 4


def test_a_class_whose_turn_it_is_keeps_it_when_it_loses_the_output():
    router = Router(2)
    router.push(0, 0, 2)
    router.push(1, 0, 2)
    router.push(1, 1, 3)
    assert router.slot() == {2: (0, 0, 0)}
    assert router.slot() == {2: (1, 0, 1)}
    assert router.slot() == {3: (1, 1, 2)}


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
