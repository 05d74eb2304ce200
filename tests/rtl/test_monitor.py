"""The counters of a router's monitor against counts kept in Python, and that a fault in each of them is seen."""

import inspect
import random

import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib.wiring import connect
from amaranth.sim import Simulator

from hdnhw.machine.machine import make_machine
from hdnhw.machine.monitor import (
    CYCLES,
    IDENTIFICATION,
    LEVEL_WIDTH,
    SENT,
    STALLED,
    WAITS,
    MonitorMap,
    queues_of,
    words_of,
)
from hdnhw.networks.parse import parse
from hdnhw.rtl.monitor import counters
from hdnhw.rtl.monitor.port import MonitorPort
from hdnhw.spec import FabricSpec

FAULTS = {
    "no sum": ("Mux(anew, 0, low[0] < old[:bits])", "0"),
    "never anew": ("anew | fresh[-1]", "anew"),
    "counters begin anew": ("entries.append((few, Const(0, 1)", "entries.append((few, Const(1, 1)"),
    "a wrap as it begins": ("Mux(anew, 0, low[0]", "Mux(Const(0), 0, low[0]"),
    "too few bits": ("+ 2), name", "+ 2 >> 1), name"),
    "a wait does not end": ("Mux(ends, 0, (few", "Mux(Const(0), 0, (few"),
    "an end is forgotten": ("moved.eq(ends | (moved & ~visit))", "moved.eq(ends)"),
    "waits of no packet": ('self.looks & getattr(self, f"first_{queue}")[-1]', "self.looks"),
    "no packet leaves": ("self.push[queue], self.pop[queue]", "self.push[queue], Const(0)"),
    "the least": ("less(most, level)", "less(level, most)"),
    "the last": ("less(most, level)", "Const(1)"),
    "another way": ("way.eq(first)", "way.eq(first + 1)"),
    "another word": ("is_now.eq(self.i.word == comes)", "is_now.eq(self.i.word == comes - 1)"),
    "no carry": ("(rest + half[-1])", "(rest + 0)"),
    "no high half": ("(rest + half", "(0 + half"),
    "a word is written early": ("write.addr.eq(visited[-1])", "write.addr.eq(visited[-2])"),
    "another router": ("equals(self.i.node, 1)", "equals(self.i.node, 2)"),
}
"""What is changed in the text of the counters."""


def mutated(old="", new=""):
    """Return the counters with a changed text, and with halves of words that counts in a test fill."""
    text = inspect.getsource(counters)
    names = {}
    for before, after in (("HALF, SUM = WORD_WIDTH // 2", "HALF, SUM = 5"), (old, new)):
        assert before in text
        text = text.replace(before, after) if before else text
    exec(compile(text, "mutant", "exec"), names)
    return names["MonitorCounters"]


PATIENCE = 100
"""Cycles for which a read is waited for."""


class Events:
    """Events of a router, drawn at random, and what they add up to."""

    def __init__(self, machine, shape, seed):
        self.rng, self.length, self.room = random.Random(seed), machine.timing.packet_length, machine.buffers
        self.words, self.queues = words_of(machine, shape), queues_of(machine, shape)
        self.restart()

    def restart(self):
        self.counts = dict.fromkeys(self.words, 0)
        self.level, self.most, self.waits, self.way = ([0] * len(self.queues) for _ in range(4))

    def value(self, word):
        """Return what a word must be."""
        if word.kind in (SENT, STALLED):
            return self.counts[word]
        queue = self.queues.index((word.port, word.vc))
        if word.kind == WAITS:
            return self.waits[queue]
        return self.level[queue] | self.most[queue] << LEVEL_WIDTH | self.way[queue] << 2 * LEVEL_WIDTH

    def drive(self, ctx, dut, cycle):
        """Set the inputs of a cycle, and count."""
        looks, busy = cycle % self.length == self.length - 1, self.rng.choice((0.1, 0.9))
        for kind in (SENT, STALLED):
            own = [word for word in self.words if word.kind == kind]
            bits = [cycle % self.length == 0 and self.rng.random() < busy for _ in own]
            ctx.set(getattr(dut, kind), sum(bit << place for place, bit in enumerate(bits)))
            for word, bit in zip(own, bits, strict=True):
                self.counts[word] += bit
        push = pop = 0
        for queue, level in enumerate(self.level):
            way = self.rng.randrange(4)
            ctx.set(getattr(dut, f"first_{queue}"), way | (level > 0) << len(getattr(dut, f"first_{queue}")) - 1)
            if looks:
                self.way[queue], self.most[queue] = way, max(self.most[queue], level)
                self.waits[queue] += level > 0
            elif cycle % self.length == 1:
                comes, goes = level < self.room and self.rng.random() < 0.6, level > 0 and self.rng.random() < 0.4
                push, pop = push | comes << queue, pop | goes << queue
                self.level[queue] += comes - goes
                self.waits[queue] *= not goes
        ctx.set(dut.push, push)
        ctx.set(dut.pop, pop)
        ctx.set(dut.looks, looks)


def differ(made, text="rdn(cube(1), 1)", length=4, seed=1):
    """Return how many words of two routers in a chain are told otherwise than counted, of all that are asked for."""
    machine = make_machine(FabricSpec(network=parse(text), packet_length=length, monitor=True))
    own, shape = MonitorMap.of(machine), machine.plan.shape_of(0)
    dut, port, units = Module(), MonitorPort(machine), [made(machine, shape) for _ in range(2)]
    for number, unit in enumerate(units):
        dut.submodules[f"unit_{number}"] = unit
    dut.submodules.port = port
    connect(dut, port.o, units[0].i)
    connect(dut, units[0].o, units[1].i)
    connect(dut, units[1].o, port.i)
    events = [Events(machine, shape, seed + number) for number in range(2)]
    wrong, rst = [], Signal()

    async def bench(ctx):
        cycle, still = 0, False

        async def tick():
            nonlocal cycle
            for unit, each in zip(units, events, strict=True):
                if still:
                    for name in ("sent", "stalled", "push", "pop", "looks"):
                        ctx.set(getattr(unit, name), 0)
                else:
                    each.drive(ctx, unit, cycle)
            cycle += 1
            await ctx.tick()

        async def read(address):
            ctx.set(port.axi.araddr, address)
            ctx.set(port.axi.arvalid, 1)
            for _ in range(PATIENCE):
                if ctx.get(port.axi.arready):
                    break
                await tick()
            else:
                return None
            await tick()
            ctx.set(port.axi.arvalid, 0)
            for _ in range(PATIENCE):
                if ctx.get(port.axi.rvalid):
                    break
                await tick()
            told = ctx.get(port.axi.rdata), ctx.get(port.axi.rresp)
            ctx.set(port.axi.rready, 1)
            await tick()
            ctx.set(port.axi.rready, 0)
            return told

        for cycles in (50, 400):
            if wrong:
                return
            still = True
            ctx.set(rst, 1)
            await tick()
            ctx.set(rst, 0)
            for each in events:
                each.restart()
            still, cycle = False, 0
            for _ in range(cycles):
                await tick()
            still = True
            for _ in range(2 * own.words + 4):  # all is visited
                await tick()
            for node in range(2):
                for number, word in enumerate(events[node].words):
                    told = await read(own.address(node, number))
                    if told != (events[node].value(word), 0):
                        wrong.append(word)
            told = [await read(address) for address in (0, 8, own.address(own.nodes, 0))]
            wrong.extend(
                one for one, due in zip(told, [(IDENTIFICATION, 0), (0, 2), (0, 2)], strict=True) if one != due
            )
            passed = await read(CYCLES)
            wrong.extend([passed] if passed is None or passed[0] <= cycles else [])

    simulator = Simulator(ResetInserter(rst)(dut))
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    return wrong


@pytest.mark.parametrize(("text", "length"), [("rdn(cube(1), 1)", 4), ("torus(2, 2)", 1), ("torus(5)", 16)])
def test_words_are_what_has_been_counted(text, length):
    assert differ(mutated(), text, length) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_counter_is_seen(fault):
    assert differ(mutated(*FAULTS[fault]))
