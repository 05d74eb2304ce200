"""An engine alone, with a neighbor played by the test: how soon a step follows the one before, and with what data."""

import random
import re

import pytest
from amaranth.hdl import Signal

from hdnhw.endpoints.collective.engine import REACTION, CollectiveEngine
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.machine.machine import make_machine
from hdnhw.spec import OPERATIONS
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

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


async def set_up(ctx, dut):
    """Tell an engine where it is, and let the network take all that it sends."""
    layout = dut.machine.address
    ctx.set(dut.address, layout.of_node(NODE))
    for port, neighbor in dut.machine.network.neighbors(NODE).items():
        ctx.set(getattr(dut, f"{port}_neighbor"), layout.of_node(neighbor))
        ctx.set(getattr(dut, f"{port}_present"), 1)
    ctx.set(dut.inject.ready, 1)


async def run(ctx, dut, data):
    """Ask for the only operation there is, and give the node's own messages."""
    ctx.set(dut.operation.valid, 1)
    await ctx.tick().until(dut.operation.ready)
    ctx.set(dut.operation.valid, 0)
    for flit in data:
        ctx.set(dut.i.payload, flit)
        ctx.set(dut.i.valid, 1)
        await ctx.tick().until(dut.i.ready)
    ctx.set(dut.i.valid, 0)


def sum_of(one, other):
    """Return the sums of two lists of numbers."""
    return [first + second & 0xFFFF for first, second in zip(one, other, strict=True)]


@pytest.mark.parametrize("length", [2, 3, 4, 8])
def test_what_comes_last_is_in_what_the_next_step_sends_first(simulate, length):
    """A sum leaves as soon as an engine can send it: `REACTION` cycles after the last flit of what is added."""
    machine = make_machine(fabric_spec("cube(2)", endpoints=ENGINES, packet_length=length, flit_width=16))
    dut, packets, layout = CollectiveEngine(machine), Packets(machine), machine.address
    assert packets.messages.header_flits == 1
    ports = [send.link.name for send in engines_of(machine).program.sends]
    neighbors = {port: layout.of_node(node) for port, node in machine.network.neighbors(NODE).items()}
    near, far = (neighbors[port] for port in ports)  # of the first step and of the second one
    own = {block: packets.data() for block in range(4)}
    came = {block: packets.data() for block in (NODE, far)}
    offered, tails = [], []

    async def host(ctx):
        await set_up(ctx, dut)
        await run(ctx, dut, [flit for block in own for flit in own[block]])

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


@pytest.mark.parametrize("length", [2, 3])
@pytest.mark.parametrize("operations", [("allgather",), ("allgather", "reduce")], ids=["moves", "combines"])
def test_what_comes_for_the_next_run_of_an_operation_waits_for_it(simulate, length, operations):
    """A neighbor's message of the second run comes before the first run has sent what goes the same way."""
    engines = CollectiveSpec(operations=operations, operators=("sum",), numbers="int16")
    machine = make_machine(fabric_spec("cube(2)", endpoints=engines, packet_length=length, flit_width=16))
    dut, packets = CollectiveEngine(machine), Packets(machine)
    near, far, third = 2, 1, 3  # neighbors in the first step and in the second one, and who sends to `far` before
    places = {node: machine.address.of_node(node) for node in range(4)}
    data = {(run, node): packets.data() for run in range(2) for node in places}
    sent, results = [], []

    async def host(ctx):
        await set_up(ctx, dut)
        for number in range(2):
            await run(ctx, dut, data[number, NODE])

    async def come(ctx, number, source, step):
        fields = {"source": places[source], "send": step, "parity": number, "holds": 1}
        last = source != far  # `far` sends its own message, then that of the node behind it
        header = packets.header(dst=places[NODE], ready=source != third, last=last, **fields)
        for flit in (*header, *data[number, source]):
            ctx.set(dut.eject.payload.data, flit)
            ctx.set(dut.eject.valid, 1)
            await ctx.tick().until(dut.eject.ready)
        ctx.set(dut.eject.valid, 0)

    async def network(ctx):
        await ctx.tick().until(dut.inject.valid)
        await come(ctx, 0, near, 0)
        ctx.set(dut.inject.ready, 0)
        await ctx.tick().repeat(4)
        await come(ctx, 1, near, 0)
        await ctx.tick().repeat(12)
        ctx.set(dut.inject.ready, 1)
        await come(ctx, 0, far, 1)
        await come(ctx, 0, third, 1)
        await ctx.tick().until(dut.done)
        await ctx.tick().repeat(30 * length)
        await come(ctx, 1, far, 1)
        await come(ctx, 1, third, 1)

    async def listen(ctx):
        ctx.set(dut.o.ready, 1)
        for _ in range(120 * length + 200):
            _, _, *sends, gives, result = await ctx.tick().sample(
                dut.inject.valid & dut.inject.ready, dut.inject.payload, dut.o.valid, dut.o.payload
            )
            if sends[0]:
                sent.append(sends[1])
            if gives:
                results.append((result.source, result.data))

    simulate(dut, host, network, listen)
    headers = packets.messages.header_flits
    came = [sent[place : place + length] for place in range(0, len(sent), length)]
    moved = [
        (packets.field(flits, "parity"), packets.field(flits, "send"), packets.field(flits, "source"), flits[headers:])
        for flits in came
    ]
    due = [
        (number, step, places[node], data[number, node])
        for number in range(2)
        for step, node in ((0, NODE), (1, NODE), (1, near))
    ]
    assert sorted(moved) == sorted(due)
    of_run = len(results) // 2
    for number in range(2):
        got = results[of_run * number : of_run * (number + 1)]
        assert sorted(got) == sorted((places[node], flit) for node in places for flit in data[number, node])


def test_an_expression_is_not_written_out_for_each_place_that_uses_it():
    engines = CollectiveSpec(operations=OPERATIONS, operators=("sum",))
    text = emit_fabric(fabric_spec("cube(3)", endpoints=engines)).files["fabric_collective.sv"]
    written = re.findall(r"^  assign .* = (.*);$", text, re.MULTILINE)
    assert len(written) > 1000
    assert len(written) < 2 * len(set(written)), "half of the text is there already"
