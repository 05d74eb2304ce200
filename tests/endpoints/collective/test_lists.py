"""Lists of buffers against deques, and the pool of free buffers."""

import random
from collections import deque

import pytest

from hdnhw.endpoints.collective.lists import BufferLists, BufferPool


@pytest.mark.parametrize(("num_lists", "buffers"), [(1, 2), (3, 5), (6, 16)])
def test_lists_are_deques(simulate, num_lists, buffers):
    dut, rng, most = BufferLists(num_lists, buffers), random.Random(buffers), []

    async def bench(ctx):
        expected, free = [deque() for _ in range(num_lists)], list(range(buffers))
        append = pop = taken = None
        for cycle in range(1500):
            assert ctx.get(dut.filled) == sum(bool(queue) << number for number, queue in enumerate(expected))
            filling = 0.9 if cycle // (4 * buffers) % 2 else 0.2
            if append is None and free and rng.random() < filling:
                append = rng.randrange(num_lists), free.pop(rng.randrange(len(free)))
            some = [number for number, queue in enumerate(expected) if len(queue) > (number == taken)]
            if pop is None and some and rng.random() > filling:
                pop = rng.choice(some)
            ctx.set(dut.append.valid, append is not None)
            ctx.set(dut.pop.valid, pop is not None)
            number, slot = append or (rng.randrange(num_lists), rng.randrange(buffers))
            ctx.set(dut.append.payload.list, number)
            ctx.set(dut.append.payload.slot, slot)
            ctx.set(dut.pop.list, rng.randrange(num_lists) if pop is None else pop)
            _, _, ready, first, only = await ctx.tick().sample(dut.pop.ready, dut.pop.slot, dut.pop.only)
            if taken is not None:  # in the cycle before
                assert (first, only) == (expected[taken][0], len(expected[taken]) == 1)
                free.append(expected[taken].popleft())
            taken, pop = (pop, None) if pop is not None and ready else (None, pop)
            if append is not None:
                expected[append[0]].append(append[1])
                append = None
            most.append(len(free))

    simulate(dut, bench)
    assert min(most) == 0


@pytest.mark.parametrize("buffers", [2, 5, 16])
def test_pool_gives_each_slot_to_one_at_a_time(simulate, buffers):
    dut, rng, seen = BufferPool(buffers), random.Random(buffers), set()

    async def bench(ctx):
        held = []
        for cycle in range(1500):
            filling = 0.9 if cycle // (4 * buffers) % 2 else 0.2
            ready, give = rng.random() < filling, held and rng.random() > filling
            slot = held.pop(rng.randrange(len(held))) if give else rng.randrange(buffers)
            # What is given in this cycle is not free before the next.
            ctx.set(dut.take.ready, ready)
            ctx.set(dut.give.valid, bool(give))
            ctx.set(dut.give.payload, slot)
            _, _, valid, taken = await ctx.tick().sample(dut.take.valid, dut.take.payload)
            assert not (valid and taken in [*held, *([slot] if give else [])])
            if valid and ready:
                held.append(taken)
            seen.add(len(held))

    simulate(dut, bench)
    assert seen >= {1, buffers}
