"""Streams between two clocks of any ratio: in order, nothing lost, at full rate, and nothing invented by a reset."""

import random

import pytest
from amaranth.hdl import Cat, ClockDomain, Module, Signal
from amaranth.sim import Simulator

from hdnhw.rtl.clocks import crossing, queue
from hdnhw.rtl.clocks.crossing import Crossing

WIDTH, NS = 24, 1e-9
RATIOS = {"much slower": 0.37, "equal": 1.0, "hardly faster": 1.003, "faster": 2.9}
"""Clock of the node beside that of the fabric, whose period is 1 us."""
RESET = 16
"""Cycles of the slower clock."""


@pytest.fixture(params=[False, True], ids=["settled", "unsettled"])
def flops(request, monkeypatch):
    """Let first flip-flops, where asked, take each bit that has just changed as it is or as it was, at random."""
    if not request.param:
        return
    rng, made = random.Random(3), queue.synchronized

    def unsettled(m, value, *, domain, name, init=0):
        before, noise = (Signal(len(value), init=init, reset_less=True), Signal(16, init=rng.randrange(1, 1 << 16)))
        m.d[domain] += [before.eq(value), noise.eq(Cat(noise[1:], noise[0] ^ noise[2] ^ noise[3] ^ noise[5]))]
        late = noise[: len(value)]
        return made(m, (value & ~late) | (before & late), domain=domain, name=name, init=init)

    monkeypatch.setattr(queue, "synchronized", unsettled)
    monkeypatch.setattr(crossing, "synchronized", unsettled)


class Bench:
    """A crossing between two clocks; each end of each stream notes what it gave and what came."""

    def __init__(self, ratio, *, phase=0.0, pause=0.0, stall=0.0, seed=1):
        self.domains = {"fabric": ClockDomain("fabric"), "node": ClockDomain("node")}
        self.periods = {"fabric": 1000, "node": round(1000 / ratio)}  # ns
        self.dut = Crossing({"inject": (True, WIDTH), "eject": (False, WIDTH)})
        self.pause, self.stall, self.rng = pause, stall, random.Random(seed)
        self.sent, self.came = {"inject": [], "eject": []}, {"inject": [], "eject": []}
        m = Module()
        m.domains += list(self.domains.values())
        m.submodules.dut = self.dut
        self.simulator = Simulator(m)
        for (name, period), at in zip(self.periods.items(), (0, phase), strict=True):
            self.simulator.add_clock(period * NS, phase=round(period * at) * NS, domain=name)
        for stream, writer, reader in (("inject", "node", "fabric"), ("eject", "fabric", "node")):
            self.simulator.add_testbench(self._source(stream, writer), background=True)
            self.simulator.add_testbench(self._sink(stream, reader), background=True)

    def _source(self, stream, domain):
        end = getattr(self.dut, f"{stream}_i")

        async def give(ctx):
            while True:
                ctx.set(end.valid, self.rng.random() >= self.pause)
                ctx.set(end.payload, len(self.sent[stream]) + 1)
                _, _, valid, ready = await ctx.tick(domain).sample(end.valid, end.ready)
                if valid and ready:
                    self.sent[stream].append(len(self.sent[stream]) + 1)

        return give

    def _sink(self, stream, domain):
        end = getattr(self.dut, f"{stream}_o")

        async def take(ctx):
            while True:
                ctx.set(end.ready, self.rng.random() >= self.stall)
                _, _, valid, ready, payload = await ctx.tick(domain).sample(end.valid, end.ready, end.payload)
                if valid and ready:
                    self.came[stream].append(payload)

        return take

    async def reset(self, ctx, first, second=None, *, gap=0.0):
        """Reset one side, or one and `gap` cycles of the slower clock later the other one; each for RESET cycles."""
        slower = max(self.periods.values())
        levels = [(0, first, 1), (RESET, first, 0)]
        levels += [] if second is None else [(gap, second, 1), (gap + RESET, second, 0)]
        now = 0
        for time, side, level in sorted(levels):
            await ctx.delay(round((time - now) * slower) * NS)
            ctx.set(self.domains[side].rst, level)
            now = time

    def run(self, play):
        self.simulator.add_testbench(play)
        self.simulator.run()

    async def wait(self, ctx, cycles):
        """Let time pass, in cycles of the slower clock."""
        await ctx.delay(round(cycles * max(self.periods.values())) * NS)


@pytest.mark.usefixtures("flops")
@pytest.mark.parametrize("phase", [0.0, 0.4])
@pytest.mark.parametrize("stall", [0.0, 0.4])
@pytest.mark.parametrize("ratio", RATIOS.values(), ids=RATIOS)
def test_all_comes_in_order(ratio, stall, phase):
    bench = Bench(ratio, phase=phase, pause=stall, stall=stall)

    async def play(ctx):
        await bench.wait(ctx, 600)

    bench.run(play)
    for stream, sent in bench.sent.items():
        came = bench.came[stream]
        assert came == sent[: len(came)]
        assert 0 <= len(sent) - len(came) <= 18  # the queue, its output, and one that is seen late
        assert len(came) > 150


@pytest.mark.usefixtures("flops")
@pytest.mark.parametrize("ratio", RATIOS.values(), ids=RATIOS)
def test_every_cycle_of_the_slower_clock_moves_a_transfer(ratio):
    bench, before = Bench(ratio, phase=0.3), {}

    async def play(ctx):
        await bench.wait(ctx, 100)
        before.update({stream: len(came) for stream, came in bench.came.items()})
        await bench.wait(ctx, 500)

    bench.run(play)
    for stream, came in bench.came.items():
        assert len(came) - before[stream] in range(499, 502)


@pytest.mark.usefixtures("flops")
@pytest.mark.parametrize("ratio", RATIOS.values(), ids=RATIOS)
@pytest.mark.parametrize(("first", "pause"), [("fabric", 0.2), ("fabric", 0.8), ("node", 0.2), ("node", 0.8)])
def test_a_reset_of_either_side_invents_nothing(ratio, first, pause):
    """Whichever side is reset, alone or with the other before or behind it: what comes was sent, once, in order."""
    other, safe = {"fabric": "node", "node": "fabric"}[first], []
    bench = Bench(ratio, phase=0.7, pause=pause, stall=0.1, seed=5)

    async def play(ctx):
        for _ in range(40):
            await bench.wait(ctx, bench.rng.uniform(30, 60))
            second = bench.rng.choice([None, other])
            await bench.reset(ctx, first, second, gap=bench.rng.uniform(0, 20))
            await bench.wait(ctx, 8)
            begun = {stream: len(sent) for stream, sent in bench.sent.items()}
            await bench.wait(ctx, 20)
            safe.append({stream: set(sent[begun[stream] :]) for stream, sent in bench.sent.items()})
        await bench.wait(ctx, 30)

    bench.run(play)
    for stream, sent in bench.sent.items():
        came = bench.came[stream]
        assert came == sorted(set(came))
        assert set(came) <= set(sent)
        missing = set(sent[: len(sent) - 20]) - set(came)
        assert 0 < len(missing) < 40 * 40  # what was under way was lost, and nothing else
        assert all(missing.isdisjoint(each[stream]) for each in safe)


@pytest.mark.parametrize("ratio", RATIOS.values(), ids=RATIOS)
def test_nothing_moves_while_either_side_is_reset(ratio):
    """From eight cycles of the slower clock behind the beginning of a reset to its end."""
    for side in ("fabric", "node"):
        bench, counts = Bench(ratio, phase=0.2), []

        async def play(ctx, bench=bench, side=side, counts=counts):
            await bench.wait(ctx, 50)
            ctx.set(bench.domains[side].rst, 1)
            await bench.wait(ctx, 8)
            counts.append([len(each) for each in (*bench.sent.values(), *bench.came.values())])
            await bench.wait(ctx, 30)
            counts.append([len(each) for each in (*bench.sent.values(), *bench.came.values())])
            ctx.set(bench.domains[side].rst, 0)
            await bench.wait(ctx, 40)

        bench.run(play)
        assert counts[0] == counts[1]
        assert all(len(came) > counts[1][2] + 20 for came in bench.came.values())
