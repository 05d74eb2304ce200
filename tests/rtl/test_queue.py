"""The small queues against Python's, and round-robin arbitration against three lines of Python."""

import random
from collections import deque
from itertools import product

import pytest

from hdnhw.rtl.queue import DecisionQueue, RoundRobinArbiter


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_queue_is_a_deque(simulate, depth):
    dut, rng, seen = DecisionQueue(width=8, depth=depth), random.Random(depth), set()

    async def bench(ctx):
        expected = deque()
        for cycle in range(1000):
            assert (ctx.get(dut.valid), ctx.get(dut.full)) == (len(expected) > 0, len(expected) == depth)
            if expected:
                assert ctx.get(dut.o) == expected[0]
            filling = 0.8 if cycle // (4 * depth) % 2 else 0.3
            push, pop = len(expected) < depth and rng.random() < filling, bool(expected) and rng.random() > filling
            seen.add((len(expected), push, pop))
            item = rng.randrange(256)
            for signal, value in ((dut.push, push), (dut.i, item), (dut.pop, pop)):
                ctx.set(signal, value)
            await ctx.tick()
            if pop:
                expected.popleft()
            if push:
                expected.append(item)

    simulate(dut, bench)
    for level in range(depth + 1):
        pushes, pops = {False, level < depth}, {False, level > 0}
        assert {(push, pop) for at, push, pop in seen if at == level} == set(product(pushes, pops))


def choose(requests, turn, count):
    order = [(turn + step) % count for step in range(count)]
    return next((1 << number for number in order if requests >> number & 1), 0)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_arbiter_from_every_turn(simulate, count):
    dut = RoundRobinArbiter(count=count)

    async def bench(ctx):
        for served in (None, *range(count), *reversed(range(count))):
            ctx.set(dut.served, 0 if served is None else 1 << served)
            await ctx.tick()
            ctx.set(dut.served, 0)
            turn = 0 if served is None else (served + 1) % count
            for _ in range(2):  # nothing was served in the cycle between: the turn stays
                for requests in range(1 << count):
                    ctx.set(dut.requests, requests)
                    assert ctx.get(dut.grant) == choose(requests, turn, count)
                await ctx.tick()

    simulate(dut, bench)


@pytest.mark.parametrize("count", [2, 3, 7])
def test_arbiter_serves_every_persistent_request_in_turn(simulate, count):
    dut, rng = RoundRobinArbiter(count=count), random.Random(count)

    async def bench(ctx):
        persistent, waited, most = 0, [0] * count, 0
        for cycle in range(800):
            if cycle % 40 == 0:
                persistent, waited = rng.randrange(1, 1 << count), [0] * count
            requests = persistent | rng.randrange(1 << count)
            ctx.set(dut.requests, requests)
            served = ctx.get(dut.grant) if rng.random() < 0.7 else 0
            assert served & requests == served
            ctx.set(dut.served, served)
            await ctx.tick()
            for number in range(count if served else 0):
                waited[number] = waited[number] + 1 if persistent >> number & 1 and not served >> number & 1 else 0
            most = max(most, *waited)
        assert most == count - 1  # so many others came first at worst, and did

    simulate(dut, bench)
