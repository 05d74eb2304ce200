"""An engine alone, with a neighbor played by the test: how soon a step follows the one before, and with what data."""

import random
import re

import pytest
from amaranth.hdl import Signal

from hdnhw.machine import make_machine
from hdnhw.rtl.collective.engine import REACTION, CollectiveEngine
from hdnhw.spec import OPERATIONS, CollectiveSpec, FabricSpec, parse
from hdnhw.verilog.fabric import emit_fabric

NODE = 0
ENGINES = CollectiveSpec(operations=("reducescatter",), operators=("sum",), numbers="int16")


class Packets:
    """Packets of an engine as lists of flits."""

    def __init__(self, machine):
        self.messages, self.rng = machine.endpoint_format, random.Random(machine.timing.packet_length)

    def header(self, **fields):
        """Return the header flits."""
        positions = self.messages.header_positions
        word = sum(value << positions[name]["offset"] for name, value in fields.items())
        return [word >> 16 * number & 0xFFFF for number in range(self.messages.header_flits)]

    def field(self, flits, name):
        """Return a field of a packet's header."""
        word = sum(flit << 16 * number for number, flit in enumerate(flits[: self.messages.header_flits]))
        place = self.messages.header_positions[name]
        return word >> place["offset"] & (1 << place["width"]) - 1

    def data(self):
        """Return random data flits."""
        return [self.rng.getrandbits(16) for _ in range(self.messages.payload_flits)]


def sum_of(one, other):
    """Return the sums of two lists of numbers."""
    return [first + second & 0xFFFF for first, second in zip(one, other, strict=True)]


@pytest.mark.parametrize("length", [2, 3, 4, 8])
def test_what_comes_last_is_in_what_the_next_step_sends_first(simulate, length):
    """A sum leaves as soon as an engine can send it: `REACTION` cycles after the last flit of what is added."""
    machine = make_machine(FabricSpec(network=parse("cube(2)"), endpoints=ENGINES, packet_length=length, flit_width=16))
    dut, packets, layout = CollectiveEngine(machine), Packets(machine), machine.address
    assert packets.messages.header_flits == 1
    ports = [send.link.name for send in machine.program.sends]
    neighbors = {port: layout.of_node(node) for port, node in machine.network.neighbors(NODE).items()}
    near, far = (neighbors[port] for port in ports)  # of the first step and of the second one
    own = {block: packets.data() for block in range(4)}
    came = {block: packets.data() for block in (NODE, far)}
    offered, tails = [], []

    async def host(ctx):
        ctx.set(dut.address, layout.of_node(NODE))
        for port, neighbor in neighbors.items():
            ctx.set(getattr(dut, f"{port}_neighbor"), neighbor)
            ctx.set(getattr(dut, f"{port}_present"), 1)
        ctx.set(dut.inject.ready, 1)
        ctx.set(dut.operation.valid, 1)
        await ctx.tick().until(dut.operation.ready)
        ctx.set(dut.operation.valid, 0)
        for flit in (flit for block in own for flit in own[block]):
            ctx.set(dut.i.payload, flit)
            ctx.set(dut.i.valid, 1)
            await ctx.tick().until(dut.i.ready)
        ctx.set(dut.i.valid, 0)

    async def neighbor(ctx):
        await ctx.tick().repeat(20 * length)  # until all of the first step has been sent
        for place, (block, data) in enumerate(came.items()):
            header = packets.header(dst=NODE, source=near, target=block, holds=1, ready=1 - place, last=place)
            for flit in (*header, *data):
                ctx.set(dut.eject.payload.data, flit)
                ctx.set(dut.eject.valid, 1)
                *_, cycle = await ctx.tick().sample(clock).until(dut.eject.ready)
            tails.append(cycle)
        ctx.set(dut.eject.valid, 0)

    clock = Signal(16)

    async def network(ctx):
        for cycle in range(24 * length + 24):
            ctx.set(clock, cycle)
            _, _, valid, flit = await ctx.tick().sample(dut.inject.valid, dut.inject.payload)
            if valid:
                offered.append((cycle, flit))

    simulate(dut, host, neighbor, network)
    cycles, flits = zip(*offered, strict=True)
    *early, late = [flits[place : place + length] for place in range(0, len(flits), length)]
    assert {packets.field(packet, "target"): list(packet[1:]) for packet in early} == {
        block: own[block] for block in own if block not in came
    }
    assert (packets.field(late, "dst"), packets.field(late, "target")) == (far, far)
    assert list(late[1:]) == sum_of(own[far], came[far])
    assert cycles[-length] - tails[-1] == REACTION


def test_an_expression_is_not_written_out_for_each_place_that_uses_it():
    engines = CollectiveSpec(operations=OPERATIONS, operators=("sum",))
    text = emit_fabric(FabricSpec(network=parse("cube(3)"), endpoints=engines)).files["fabric_collective.sv"]
    written = re.findall(r"^  assign .* = (.*);$", text, re.MULTILINE)
    assert len(written) > 1000
    assert len(written) < 2 * len(set(written)), "half of the text is there already"
