"""The queues of decisions against Python's deque, and the packet buffers that go with them."""

import random
from collections import deque
from itertools import product

import pytest

from hdnhw.rtl.queue import DecisionQueue, VirtualOutputQueues

WAYS = 5


@pytest.mark.parametrize("buffers", [1, 2, 4, 8])
def test_queue_is_a_deque_and_slots_are_used_in_turn(simulate, buffers):
    dut = DecisionQueue(ways=WAYS, buffers=buffers)
    rng, seen = random.Random(buffers), set()

    async def bench(ctx):
        expected, pushed, closed, popped = deque(), 0, 0, 0
        for cycle in range(2000):
            assert (ctx.get(dut.valid), ctx.get(dut.full)) == (len(expected) > 0, len(expected) == buffers)
            assert (ctx.get(dut.write_slot), ctx.get(dut.read_slot)) == (closed % buffers, popped % buffers)
            assert ctx.get(dut.out) == (expected[0] if expected else 0)
            filling = 0.8 if cycle // (8 * buffers) % 2 else 0.3
            push = len(expected) < buffers and pushed == closed and rng.random() < filling
            close = pushed + push > closed and rng.random() < 0.8
            pop = len(expected) > (0 if closed > popped else 1) and rng.random() > filling
            seen.add((len(expected), push, pop))
            word = 1 << rng.randrange(WAYS) if push else rng.getrandbits(WAYS)
            for signal, value in ((dut.push, push), (dut.i, word), (dut.close, close), (dut.pop, pop)):
                ctx.set(signal, value)
            await ctx.tick()
            if pop:
                expected.popleft()
            if push:
                expected.append(word)
            pushed, closed, popped = pushed + push, closed + close, popped + pop

    simulate(dut, bench)
    for level in range(buffers + 1):
        pushes, pops = {False, level < buffers}, {False, level > 0}
        assert {(push, pop) for at, push, pop in seen if at == level} == set(product(pushes, pops))


@pytest.mark.parametrize("buffers", [1, 2, 4, 8])
@pytest.mark.parametrize("length", [3, 8])
def test_queue_that_is_worked_on_once_a_slot_is_a_deque(simulate, buffers, length):
    """Pushes and pops are in one phase of a slot."""
    dut = DecisionQueue(ways=WAYS, buffers=buffers, once_a_slot=True)
    rng, seen = random.Random(f"{buffers} {length}"), set()

    async def bench(ctx):
        expected, pushed, popped = deque(), 0, 0
        for cycle in range(800 * length):
            assert (ctx.get(dut.valid), ctx.get(dut.full)) == (len(expected) > 0, len(expected) == buffers)
            assert (ctx.get(dut.write_slot), ctx.get(dut.read_slot)) == (pushed % buffers, popped % buffers)
            assert ctx.get(dut.out) == (expected[0] if expected else 0)
            filling = 0.7 if cycle // (8 * buffers * length) % 2 else 0.3
            once = cycle % length == 1
            push = once and len(expected) < buffers and rng.random() < filling
            pop = once and len(expected) > 0 and rng.random() > filling
            seen.add((len(expected), push, pop))
            word = 1 << rng.randrange(WAYS) if push else rng.getrandbits(WAYS)
            for signal, value in ((dut.push, push), (dut.i, word), (dut.close, push), (dut.pop, pop)):
                ctx.set(signal, value)
            await ctx.tick()
            if pop:
                expected.popleft()
            if push:
                expected.append(word)
            pushed, popped = pushed + push, popped + pop

    simulate(dut, bench, cycles=800 * length + 10)
    for level in range(buffers + 1):
        pushes, pops = {False, level < buffers}, {False, level > 0}
        assert {(push, pop) for at, push, pop in seen if at == level} == set(product(pushes, pops))


@pytest.mark.parametrize("buffers", [1, 2, 4, 8])
def test_virtual_output_queues_are_a_deque_a_way_and_slots_are_free_when_filled(simulate, buffers):
    dut = VirtualOutputQueues(ways=WAYS, buffers=buffers)
    rng, seen = random.Random(buffers), set()

    async def bench(ctx):
        queues, held, closed, fills = [deque() for _ in range(WAYS)], set(), True, 0
        for cycle in range(4000):
            assert ctx.get(dut.full) == (len(held) == buffers)
            assert ctx.get(dut.out) == sum(bool(queue) << way for way, queue in enumerate(queues))
            for way, queue in enumerate(queues):
                assert ctx.get(getattr(dut, f"slot_{way}")) == (queue[0] if queue else 0)
            free = ctx.get(dut.write_slot) not in held
            assert free or not closed or len(held) == buffers
            filling = 0.8 if cycle // (8 * buffers) % 2 else 0.3
            push, way = free and closed and rng.random() < filling, rng.randrange(WAYS)
            close = rng.random() < 0.5 or len(held) == buffers
            leaves = rng.choice([number for number, queue in enumerate(queues) if queue] or [None])
            pop = leaves is not None and rng.random() > filling
            slot, gone = ctx.get(dut.write_slot), queues[leaves][0] if pop else rng.randrange(buffers)
            seen.add((len(held), push, pop))
            word = 1 << way if push else rng.getrandbits(WAYS)
            signals = (dut.push, push), (dut.i, word), (dut.close, close), (dut.pop, pop), (dut.pop_slot, gone)
            for signal, value in signals:
                ctx.set(signal, value)
            await ctx.tick()
            if pop:
                held.discard(queues[leaves].popleft())
            if push:
                queues[way].append(slot)
                held.add(slot)
                fills += 1
            closed = close or (closed and not push)
        assert fills > 500

    simulate(dut, bench, cycles=5000)
    assert {level for level, _, _ in seen} == set(range(buffers + 1))
    assert {(push, pop) for _, push, pop in seen} >= {(True, False), (False, True), (False, False)}


@pytest.mark.parametrize("buffers", [1, 2, 4, 8])
def test_virtual_output_queues_worked_on_apart_are_a_deque_a_way(simulate, buffers):
    """Packets come in phase 3 of eight, as one that has come closes its buffer, and leave in phase 7."""
    dut = VirtualOutputQueues(ways=WAYS, buffers=buffers, apart=True)
    rng, seen = random.Random(buffers), set()

    async def bench(ctx):
        queues, held, opened = [deque() for _ in range(WAYS)], set(), 0
        for cycle in range(8000):
            phase, filling = cycle % 8, 0.8 if cycle // (64 * buffers) % 2 else 0.3
            opened = len(held) if phase == 4 else max(opened, len(held))
            assert ctx.get(dut.full) == (opened == buffers)
            if phase in (3, 7):  # three cycles after what has gone, and four after what has come
                assert ctx.get(dut.out) == sum(bool(queue) << way for way, queue in enumerate(queues))
                for way, queue in enumerate(queues):
                    assert ctx.get(getattr(dut, f"slot_{way}")) == (queue[0] if queue else 0)
            push, way = phase == 3 and opened < buffers and rng.random() < filling, rng.randrange(WAYS)
            leaves = rng.choice([number for number, queue in enumerate(queues) if queue] or [None])
            pop = phase == 7 and leaves is not None and rng.random() > filling
            slot, gone = ctx.get(dut.write_slot), queues[leaves][0] if pop else rng.randrange(buffers)
            assert not push or slot not in held
            seen.add((len(held), push, pop))
            word = 1 << way if push else rng.getrandbits(WAYS)
            signals = ((dut.push, push), (dut.i, word), (dut.pop, pop), (dut.pop_slot, gone), (dut.opens, phase == 3))
            for signal, value in (*signals, (dut.close, push or opened == buffers)):
                ctx.set(signal, value)
            await ctx.tick()
            if pop:
                held.discard(queues[leaves].popleft())
            if push:
                queues[way].append(slot)
                held.add(slot)

    simulate(dut, bench, cycles=8010)
    assert {level for level, push, _ in seen if push} == set(range(buffers))
    assert {level for level, _, pop in seen if pop} == set(range(1, buffers + 1))
