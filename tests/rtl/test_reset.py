"""A fabric whose reset goes through registers: nothing is taken from a terminal that leaves reset before its router."""

import re

import pytest
from amaranth.sim import Simulator

from hdnhw.networks.parse import parse
from hdnhw.rtl.reset import RouterReset
from hdnhw.spec import FabricSpec
from hdnhw.verilog.component import fabric_component
from hdnhw.verilog.fabric import emit_fabric


@pytest.mark.parametrize("registers", [1, 2, 5])
def test_a_router_takes_nothing_before_it_has_left_reset(registers):
    unit, seen = RouterReset(registers), []
    simulator = Simulator(unit)
    simulator.add_clock(1e-6)

    async def watch(ctx):
        ctx.set(unit.ready_i, 1)
        for _ in range(registers + 3):
            seen.append((ctx.get(unit.o), ctx.get(unit.ready_o)))
            await ctx.tick()

    simulator.add_testbench(watch)
    simulator.run()
    assert seen == [(1, 0)] * registers + [(0, 1)] * 3


@pytest.mark.parametrize("gapless", [False, True])
@pytest.mark.parametrize("registers", [0, 3])
def test_what_is_offered_at_once_arrives(registers, gapless):
    spec = FabricSpec(network=parse("cube(1)"), reset_registers=registers, gapless_packets=gapless)
    fabric = fabric_component(spec)
    flits, taken, come, ends = [1 + (flit << 8) for flit in range(8)], [], [], []  # to node 1
    simulator = Simulator(fabric)
    simulator.add_clock(1e-6)

    async def send(ctx):
        source, sink = fabric.inject[0], fabric.eject[1]
        ctx.set(sink.ready, 1)
        for cycle in range(80):
            ctx.set(source.valid, len(taken) < len(flits))
            ctx.set(source.payload, flits[min(len(taken), 7)])
            if ctx.get(source.valid) and ctx.get(source.ready):
                taken.append(cycle)
            if ctx.get(sink.valid):
                come.append(ctx.get(sink.payload.data))
                ends.append(cycle)
            await ctx.tick()

    simulator.add_testbench(send)
    simulator.run()
    assert come == flits
    assert taken[0] >= registers
    latency = emit_fabric(spec).manifest["latency"]
    late = int((re.findall(r", (\d+) fewer", latency["phase"]) or [0])[0])
    phase = (0 if gapless else taken[0]) - late  # since when it was offered, or taken
    cycles = eval(latency["zero_load"].replace("mod", "%"), {"hops": 1, "phase": phase})
    assert ends[-1] - (0 if gapless else taken[0]) == cycles
