"""The queue of decisions against Python's deque, and the packet slots that go with it."""

import random
from collections import deque
from itertools import product

import pytest

from hdnhw.rtl.queue import DecisionQueue

WAYS = 5


@pytest.mark.parametrize("slots", [1, 2, 4, 8])
def test_queue_is_a_deque_and_slots_are_used_in_turn(simulate, slots):
    dut = DecisionQueue(ways=WAYS, slots=slots)
    rng, seen = random.Random(slots), set()

    async def bench(ctx):
        expected, pushed, closed, popped = deque(), 0, 0, 0
        for cycle in range(2000):
            assert (ctx.get(dut.valid), ctx.get(dut.full)) == (len(expected) > 0, len(expected) == slots)
            assert (ctx.get(dut.write_slot), ctx.get(dut.read_slot)) == (closed % slots, popped % slots)
            assert ctx.get(dut.out) == (expected[0] if expected else 0)
            filling = 0.8 if cycle // (8 * slots) % 2 else 0.3
            push = len(expected) < slots and pushed == closed and rng.random() < filling
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
    for level in range(slots + 1):
        pushes, pops = {False, level < slots}, {False, level > 0}
        assert {(push, pop) for at, push, pop in seen if at == level} == set(product(pushes, pops))
