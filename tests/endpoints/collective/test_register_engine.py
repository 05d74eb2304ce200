"""Register machines alone, joined by a network that takes its time, against sums of all contributions."""

import random
from dataclasses import replace

import numpy as np
import pytest
from amaranth.hdl import Module

from hdnhw.collectives.instructions import Kind
from hdnhw.collectives.operators import operator_of
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.register_engine import GAPLESS_REACTION, REACTION, RegisterEngine
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.collective.stepper import neighbor_pins
from hdnhw.machine.machine import Machine
from hdnhw.rules.plan import plan
from hdnhw.spec import REGISTER_OPERATIONS
from tests.specs import fabric_spec


def machine_of(text, *, operators=("sum",), numbers="uint8", **options):
    """Return a machine of its own, whose program a test may change."""
    engines = CollectiveSpec(operations=REGISTER_OPERATIONS, operators=operators, numbers=numbers)
    spec = fabric_spec(text, endpoints=engines, **options)
    return Machine(spec, plan(spec.network))


class Rig:
    """The engines of all nodes, a host at each, and packets under way from one to another."""

    def __init__(self, machine, operations, seed):
        self.machine, self.operations, self.rng = machine, operations, random.Random(seed)
        self.network, self.messages = machine.network, machine.endpoint_format
        self.dut, self.engines = Module(), []
        for node in range(self.network.num_nodes):
            self.dut.submodules[f"engine_{node}"] = engine = RegisterEngine(machine)
            self.engines.append(engine)
        shape = (len(operations), self.network.num_nodes, self.messages.payload_flits)
        flit = machine.spec.flit_width // 8
        self.given = np.random.default_rng(seed).integers(0, 256, (*shape, flit), np.uint8).view(self.messages.numbers)
        self.results = np.full_like(self.given, 85)
        self.under_way, self.cycle, self.running = [[] for _ in self.engines], 0, 2 * len(self.engines)

    def due(self):
        """Return what nodes must get."""
        order = np.argsort([self.machine.address.of_node(node) for node in range(self.network.num_nodes)])
        results = np.empty_like(self.given)
        for place, (name, chosen) in enumerate(self.operations):
            operator, rows = operator_of(chosen, self.messages.numbers), self.given[place][order]
            made = operator.combine.accumulate(rows, axis=0, dtype=rows.dtype)
            if name == "exscan":
                made = np.concatenate([np.full_like(rows[:1], operator.identity), made[:-1]])
            results[place, order] = made[-1] if name == "allreduce-short" else made
        return results

    def packets_to(self, execution, node):
        """Return how many packets come to a node."""
        return int((execution.sent * (execution.neighbors == node)).sum())

    async def count(self, ctx):
        """Count cycles, until all results are there and all packets have come."""
        while self.running:
            await ctx.tick()
            self.cycle += 1

    def host(self, node, send, receive):
        """Return the bench of a node: its host, and what it sends and gets."""
        engine, layout, operators = self.engines[node], self.machine.address, self.messages.operators
        names = list(engines_of(self.machine).register_program.schedules)
        number = {layout.of_node(other): other for other in range(self.network.num_nodes)}

        def pause():
            return self.rng.random() < 0.4

        async def host(ctx):
            ctx.set(engine.address, layout.of_node(node))
            for port, pin in neighbor_pins(engines_of(self.machine).register_program).items():
                other = self.network.neighbors(node).get(self.network.ports[port].name)
                ctx.set(getattr(engine, pin), 0 if other is None else layout.of_node(other))
            for place, (name, chosen) in enumerate(self.operations):
                await ctx.tick().repeat(1 + self.rng.randrange(60))
                payload = {"operation": names.index(name), "operator": operators.index(chosen)}
                await send(ctx, engine.operation, [payload if len(operators) > 1 else names.index(name)])
                own = [int.from_bytes(row.tobytes(), "little") for row in self.given[place, node]]
                await send(ctx, engine.i, own, pause)
                items = await receive(ctx, engine.o, len(own), pause)
                width = self.machine.spec.flit_width
                for row, item in zip(self.results[place, node], items, strict=True):
                    word = (item & (1 << width) - 1).to_bytes(width // 8, "little")
                    row[:] = np.frombuffer(word, row.dtype)
                    assert item >> width & (1 << layout.width) - 1 == layout.of_node(node)
                assert [item >> width + layout.width for item in items] == [0] * (len(items) - 1) + [1]
            self.running -= 1

        executions = [engines_of(self.machine).register_program.executions[name] for name, _ in self.operations]
        to_send = sum(int(execution.sent[:, node].sum()) for execution in executions)

        async def out(ctx):
            for _ in range(to_send):
                flits = await receive(ctx, engine.inject, self.machine.spec.packet_length, pause)
                self.under_way[number[flits[0] & (1 << layout.width) - 1]].append(
                    (self.cycle + self.rng.randrange(60), flits)
                )

        async def into(ctx):
            for _ in range(sum(self.packets_to(execution, node) for execution in executions)):
                while not (here := [packet for packet in self.under_way[node] if packet[0] <= self.cycle]):
                    await ctx.tick()
                packet = self.rng.choice(here)  # in any order
                self.under_way[node].remove(packet)
                for place, flit in enumerate(packet[1]):
                    while pause():
                        await ctx.tick()
                    ctx.set(engine.eject.payload.data, flit)
                    ctx.set(engine.eject.payload.last, place == len(packet[1]) - 1)
                    ctx.set(engine.eject.valid, 1)
                    _, _, ready = await ctx.tick().sample(engine.eject.ready)
                    assert ready
                    ctx.set(engine.eject.valid, 0)
            self.running -= 1

        return host, out, into


@pytest.fixture
def run(simulate, send, receive):
    """Return ``run(machine, operations, seed=1)``: a rig after its operations."""

    def run(machine, operations, seed=1):
        rig = Rig(machine, operations, seed)
        benches = [bench for node in range(len(rig.engines)) for bench in rig.host(node, send, receive)]
        simulate(rig.dut, rig.count, *benches, cycles=4000)
        return rig

    return run


SCANS = [("scan", "sum"), ("allreduce-short", "sum"), ("exscan", "sum")]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("cube(2)", {"packet_length": 3, "flit_width": 16, "operators": ("sum", "min"), "numbers": "int8"}),
        ("torus(3)", {"packet_length": 2, "flit_width": 8}),
        ("mesh(3)", {"packet_length": 4, "flit_width": 8, "operators": ("max", "xor"), "numbers": "uint8"}),
    ],
)
def test_every_node_gets_its_sum(run, text, options):
    machine = machine_of(text, **options)
    chosen = machine.endpoint_format.operators
    names = [*REGISTER_OPERATIONS, *REGISTER_OPERATIONS[1:]]
    rig = run(machine, [(name, chosen[place % len(chosen)]) for place, name in enumerate(names)])
    assert (rig.results == rig.due()).all()


def step_of(simulate, machine):
    """Return the cycle of each flit of the second step that a node offers, from that in which the tail of the first one
    came to it; flits come and go one a cycle.
    """
    dut, length, offered = RegisterEngine(machine), machine.spec.packet_length, []

    async def node(ctx):
        for port in neighbor_pins(engines_of(machine).register_program).values():
            ctx.set(getattr(dut, port), 1)
        for signal in (dut.operation.valid, dut.i.valid, dut.inject.ready):
            ctx.set(signal, 1)
        await ctx.tick().repeat(50)
        ctx.set(dut.eject.payload.data, 0)  # the header of packet 0 of the first operation
        ctx.set(dut.eject.valid, 1)
        await ctx.tick().repeat(length)
        ctx.set(dut.eject.valid, 0)
        for cycle in range(30):
            if ctx.get(dut.inject.valid):
                offered.append(cycle + 1)
            await ctx.tick()

    simulate(dut, node, cycles=100)
    return offered


@pytest.mark.parametrize("length", [2, 4, 8])
@pytest.mark.parametrize("gapless", [False, True])
def test_a_step_takes_as_long_as_the_cost_model_says(simulate, length, gapless):
    machine = machine_of("cube(2)", packet_length=length, flit_width=16, gapless_packets=gapless)
    offered = step_of(simulate, machine)
    assert (offered[0] == GAPLESS_REACTION) if gapless else (offered[-1] == REACTION)


@pytest.mark.parametrize("change", ["dropped", "doubled"])
def test_a_combination_too_few_or_too_many_is_seen(run, change):
    machine = machine_of("cube(1)", packet_length=2, flit_width=8)
    program = engines_of(machine).register_program
    code = list(program.code["scan"])
    place = next(place for place, each in enumerate(code) if each.kind is Kind.COMBINE and each.one is not None)
    code[place : place + 1] = [code[place]] * (0 if change == "dropped" else 2)
    engines_of(machine).__dict__["register_program"] = replace(program, code=program.code | {"scan": tuple(code)})
    rig = run(machine, SCANS)
    wrong = (rig.results != rig.due()).any(axis=(1, 2, 3))
    assert wrong[0]
    assert not wrong[1:].any()
