"""The support of these benches: it ends every bench, and sees a stream that breaks the rules."""

import random

import pytest
from amaranth.hdl import ClockDomain, Module, Signal
from amaranth.lib import stream
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import connect


def counter(domain="sync"):
    m, count = Module(), Signal(8)
    if domain != "sync":
        m.domains += ClockDomain(domain)
    m.d[domain] += count.eq(count + 1)
    return m, count


@pytest.mark.parametrize("domain", ["sync", "nobody_clocks_this"])
def test_a_bench_that_never_ends_fails(simulate, cycle_limit_error, domain):
    async def endless(ctx):
        while True:
            await ctx.tick(domain)

    async def short(ctx):
        await ctx.delay(1e-6)

    with pytest.raises(cycle_limit_error, match="still running after 50 cycles: endless"):
        simulate(counter(domain)[0], short, endless, cycles=50)


def test_the_limit_counts_cycles(simulate, cycle_limit_error):
    (m, count), seen = counter(), []

    async def bench(ctx):
        for _ in range(20):
            await ctx.tick()
        seen.append(ctx.get(count))

    simulate(m, bench, cycles=21)
    assert seen == [20]
    with pytest.raises(cycle_limit_error):
        simulate(counter()[0], bench, cycles=19)


def test_a_clock_that_does_not_exist_fails(simulate):
    async def bench(ctx):
        await ctx.tick("nowhere")

    with pytest.raises(NameError, match="nowhere"):
        simulate(Module(), bench)


def test_the_reset_can_be_driven(simulate):
    (m, count), domain, seen = counter(), ClockDomain("sync"), []

    async def bench(ctx):
        for cycle in range(6):
            ctx.set(domain.rst, cycle == 2)
            seen.append(ctx.get(count))
            await ctx.tick()

    simulate(m, bench, domain=domain)
    assert seen == [0, 1, 2, 0, 1, 2]


def test_the_failure_of_a_bench_comes_through(simulate):
    async def bench(ctx):
        await ctx.tick()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        simulate(counter()[0], bench)


def link(fault):
    """Return a module with a stream through a queue of two, or with a fault in it, and the two ends."""
    m, i, o = Module(), stream.Signature(8).create(), stream.Signature(8).create()
    m.submodules.queue = queue = SyncFIFO(width=8, depth=2)
    head, toggle = queue.r_stream, Signal()
    connect(m, i, queue.w_stream)
    m.d.sync += toggle.eq(~toggle)
    valid, payload, ready = {
        None: (head.valid, head.payload, o.ready),
        "waits for ready": (head.valid & o.ready, head.payload, o.ready),
        "takes valid back": (head.valid & toggle, head.payload, o.ready & toggle),
        "changes its payload": (head.valid, head.payload ^ toggle, o.ready),
    }[fault]
    m.d.comb += [o.valid.eq(valid), o.payload.eq(payload), head.ready.eq(ready)]
    return m, i, o


def pass_through(simulate, send, receive, fault):
    (dut, i, o), rng, got = link(fault), random.Random(1), []
    items = [rng.randrange(256) for _ in range(100)]

    async def source(ctx):
        await send(ctx, i, items, lambda: rng.random() < 0.5)

    async def sink(ctx):
        got.extend(await receive(ctx, o, len(items), lambda: rng.random() < 0.5))

    simulate(dut, source, sink)
    assert got == items


def test_a_good_stream_passes(simulate, send, receive):
    pass_through(simulate, send, receive, None)


@pytest.mark.parametrize(
    ("fault", "message"),
    [("waits for ready", "looks at"), ("takes valid back", "hold"), ("changes its payload", "hold")],
)
def test_a_stream_that_breaks_the_rules_is_seen(simulate, send, receive, fault, message):
    with pytest.raises(AssertionError, match=message):
        pass_through(simulate, send, receive, fault)
