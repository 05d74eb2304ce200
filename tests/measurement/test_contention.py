"""How long a packet waits in a router: bounds beside one that is fed at random, and worst cases made by hand."""

import random
from collections import defaultdict, deque
from types import SimpleNamespace

import pytest

from hdnhw.machine.timing import CLASS_SLOTS
from hdnhw.measurement.contention import Contention
from hdnhw.model.reference import Packet, Router

SLOTS, PERIOD = 12_000, 400
"""Of a run, and of one habit of those who feed a router."""


class Fed:
    """A router whose packets stand still until they leave; the most slots in which each was first, by queue and way."""

    def __init__(self, turns, *, chooses, lanes=1):
        machine = SimpleNamespace(plan=SimpleNamespace(lanes=lanes), timing=SimpleNamespace(matches=False))
        self.router = Router(0, 0, machine, 0.0, 0, {way[1:]: 1 for _, way in turns})
        self.router.queues = {queue[1:]: deque() for queue, _ in turns}
        if chooses:
            self.router.queues.setdefault((0, 1), deque())  # what it may have without a packet for it
        self.slots, self.most, self._since = 0, defaultdict(int), {}

    def put(self, queue, way):
        self.router.queues[queue].append(Packet(0, 0, 0, 0, way=way))
        self._since[queue] = self.slots

    def slot(self):
        """Allocate, and yield the ways by which packets leave."""
        for queue, way in self.router.allocate(self.slots).values():
            self.router.queues[queue].popleft()
            self.router.serve(queue, way, self.slots)
            turn = (0, *queue), (0, *way)
            self.most[turn] = max(self.most[turn], self.slots - self._since[queue] + 1)
            yield way
        self.slots += 1


def fed(turns, gaps, rng, *, chooses, lanes):
    """Feed a router; a way has no credit for some slots after each packet, at most those of its gap."""
    fed, able = Fed(turns, chooses=chooses, lanes=lanes), defaultdict(list)
    for queue, way in turns:
        able[queue[1:]].append(way[1:])
    free = dict.fromkeys(fed.router.credits, 0)
    while fed.slots < SLOTS:
        if fed.slots % PERIOD == 0:
            often, full, loyal = rng.choice((1, 1, 0.9, 0.5, 0.2)), rng.choice((1, 0.9, 0.5)), rng.choice((1, 0.8, 0))
            favorite = {queue: rng.choice(ways) for queue, ways in able.items()}
            busy = [queue for queue in able if rng.random() < 0.8]
        fed.router.credits.update({way: 1 for way, since in free.items() if since <= fed.slots})
        for queue in busy:
            if not fed.router.queues[queue] and rng.random() < often:
                fed.put(queue, favorite[queue] if rng.random() < loyal else rng.choice(able[queue]))
        for way in fed.slot():
            fed.router.credits[way] = 0
            free[way] = fed.slots + 1 + (gaps[0, *way] if rng.random() < full else rng.randint(0, gaps[0, *way]))
    return fed.most


def drawn(rng, num_vcs, out_vcs):
    """Return turns of a router, and gaps of its ways."""
    inputs, outputs = rng.choice((2, 3, 4)), rng.choice((1, 2, 3))
    turns = sorted(
        {
            ((0, port, vc), (0, rng.randrange(outputs), rng.randrange(out_vcs)))
            for port in range(inputs)
            for vc in range(num_vcs)
            for _ in range(rng.choice((1, 1, 2)))
        }
    )
    return turns, {way: rng.choice((0, 0, 1, 3, 8)) for _, way in turns}


@pytest.mark.parametrize(("num_vcs", "out_vcs", "lanes"), [(1, 1, 1), (1, 2, 1), (2, 2, 1), (2, 2, 2), (3, 3, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_no_packet_waits_longer_and_of_one_class_some_wait_as_long(num_vcs, out_vcs, lanes, seed):
    rng = random.Random(f"{num_vcs} {lanes} {seed}")
    turns, gaps = drawn(rng, num_vcs, out_vcs)
    contention = Contention(turns, lambda _: num_vcs > 1, lanes)
    seen = fed(turns, gaps, rng, chooses=num_vcs > 1, lanes=lanes)
    waits = {turn: contention.wait(*turn, gaps) for turn in seen}
    assert set(seen) == set(turns)
    assert all(seen[turn] <= waits[turn] for turn in turns)
    if out_vcs == 1:
        assert seen == waits


EARLIER, LATER = ((0, 0, 0), (0, 3, 0)), ((0, 1, 1), (0, 3, 1))
"""Turns of two classes to one output."""


@pytest.mark.parametrize(
    ("first", "waiting", "slots"),
    [(EARLIER, EARLIER, 2 * CLASS_SLOTS), (LATER, LATER, CLASS_SLOTS + 1)],
    ids=["the earlier class", "the later class"],
)
def test_a_class_that_was_just_served_when_it_is_its_turn_waits_as_long_as_its_bound(first, waiting, slots):
    """The other one, which has never been served, takes the turn; from then on both ask in every slot."""
    router = Fed([EARLIER, LATER], chooses=True)
    while router.slots < slots:
        asked = [first] if router.slots == 0 else [EARLIER, LATER] if router.slots >= CLASS_SLOTS - 1 else []
        for queue, way in asked:
            if not router.router.queues[queue[1:]]:
                router.put(queue[1:], way[1:])
        for way in router.slot():
            router.router.credits[way] = 1
    contention = Contention([EARLIER, LATER], lambda _: True, 1)
    assert router.most[waiting] == contention.wait(*waiting, {way: 0 for _, way in (EARLIER, LATER)})
