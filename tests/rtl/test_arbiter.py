"""Orders by service, against a list."""

import random
from math import factorial

import pytest
from amaranth.hdl import Cat, Module, Signal

from hdnhw.rtl.arbiter import first_in_order, service_order


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("together", [False, True])
def test_the_one_served_longest_ago_is_first(simulate, count, together):
    dut, rng = Module(), random.Random(count)
    request, served, update, first = Signal(count), Signal(count), Signal(), Signal(count)
    order = service_order(dut, served, update=update, name="order")
    dut.d.comb += first.eq(Cat(first_in_order(dict(enumerate(request)), order).values()))
    seen = set()

    async def bench(ctx):
        expected = list(range(count))
        for _ in range(500 if count < 5 else 8000):
            asks = rng.getrandbits(count)
            took = rng.getrandbits(count) if together else rng.choice((0, 1 << rng.randrange(count)))
            counts = rng.random() < 0.7
            for signal, value in ((request, asks), (served, took), (update, counts)):
                ctx.set(signal, value)
            await ctx.delay(1e-9)
            ahead = [number for number in expected if asks >> number & 1]
            assert ctx.get(first) == (1 << ahead[0] if ahead else 0)
            seen.add(tuple(expected))
            await ctx.tick()
            if counts:
                stay = [number for number in expected if not took >> number & 1]
                expected = stay + sorted(set(range(count)) - set(stay))

    simulate(dut, bench, cycles=10_000)
    assert together or len(seen) == factorial(count)
