"""Engines that are joined, on two nodes behind a network that takes its time: operations of all kinds, one by one."""

import random

import pytest
from amaranth.hdl import Module, Mux, Signal

from hdnhw.endpoints.collective import joint_engine as joint
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.joint_engine import JointEngine
from hdnhw.endpoints.collective.sharing import PacketMerger, PacketSplitter
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.machine.machine import Machine
from hdnhw.rules.plan import plan
from tests.specs import fabric_spec

OPERATIONS = ("allgather", "gather", "allreduce", "join", "multicast", "barrier", "allreduce-short", "exscan")
LENGTH, BITS = 4, 16


def machine_of(operations):
    engines = CollectiveSpec(operations=operations, operators=("sum", "xor"), numbers="int16")
    spec = fabric_spec("cube(1)", endpoints=engines, packet_length=LENGTH, flit_width=BITS)
    return Machine(spec, plan(spec.network))


def combined(operator, *words):
    """Return messages of three flits of one number each as one."""
    flits = zip(*words, strict=True)
    return tuple(sum(each) % (1 << BITS) if operator == "sum" else each[0] ^ each[1] for each in flits)


class Rig:
    """Both engines, a host at each, and packets under way; node 1 goes on at once, and its packets leave slowly."""

    def __init__(self, machine, names, seed, ahead):
        self.machine, self.rng, self.names, self.ahead = machine, random.Random(seed), names, ahead
        self.dut, self.engines = Module(), [JointEngine(machine) for _ in range(2)]
        for node, engine in enumerate(self.engines):
            self.dut.submodules[f"engine_{node}"] = engine
            if engines_of(machine).rounds:
                self.dut.d.comb += engine.dim0_signal.eq(self.engines[1 - node].signal)
        self.operators = [self.rng.choice(("sum", "xor")) for _ in names]
        self.says = [[self.rng.random() < 0.5 for _ in names] for _ in range(2)]  # that the node is a member, if asked
        self.given = [[self.own(name, node) for name in names] for node in range(2)]
        self.results = [[], []]
        self.under_way, self.left, self.cycle = [[], []], 2, 0

    def own(self, name, node):
        """Return the random messages that a node has of its own in an operation."""
        count = {"allreduce": 2, "barrier": 0, "join": 0, "multicast": 1 - node}.get(name, 1)
        return [tuple(self.rng.getrandbits(BITS) for _ in range(LENGTH - 1)) for _ in range(count)]

    def due(self, node):
        """Return the results of each operation, by source."""
        member = False
        for place, (name, operator) in enumerate(zip(self.names, self.operators, strict=True)):
            one, other = self.given[0][place], self.given[1][place]
            if name == "join":
                member = self.says[node][place]
            sums = [combined(operator, *each) for each in zip(one, other, strict=name != "multicast")]
            every = {0: one[:1], 1: other[:1]}
            yield {
                "barrier": {},
                "join": {},
                "multicast": {0: one} if member else {},
                "allgather": every,
                "gather": {} if node else every,
                "allreduce": {source: [total] for source, total in enumerate(sums)},
                "allreduce-short": {node: sums},
                "exscan": {node: one if node else [(0,) * (LENGTH - 1)]},
            }[name]

    async def count(self, ctx):
        while self.left:
            await ctx.tick()
            self.cycle += 1

    def benches(self, node, send, receive):
        """Return the host of a node, what asks for operations ahead, what takes packets away, and what brings some."""
        engine, operations = self.engines[node], engines_of(self.machine).spec.operations

        def asked(place, name):
            member = self.says[node][place]
            return {"operation": operations.index(name), "operator": self.operators[place] == "xor", "member": member}

        async def host(ctx):
            ctx.set(engine.address, node)
            ctx.set(engine.dim0_neighbor, 1 - node)
            if "dim0_present" in engine.signature.members:
                ctx.set(engine.dim0_present, 1)
            results = list(self.due(node))
            for place, name in enumerate(self.names):
                if not self.ahead:
                    await ctx.tick().repeat(1 if node else 1 + self.rng.choice((0, 0, 40)))
                    await send(ctx, engine.operation, [asked(place, name)])
                await send(ctx, engine.i, [flit for word in self.given[node][place] for flit in word])
                got = {}
                for _ in range(sum(map(len, results[place].values()))):
                    flits = await receive(ctx, engine.o, LENGTH - 1, lambda: self.rng.random() < 0.3)
                    got.setdefault(flits[0] >> BITS & 1, []).append(tuple(flit & (1 << BITS) - 1 for flit in flits))
                self.results[node].append(got)
                while not (self.ahead or ctx.get(engine.operation.ready)):
                    await ctx.tick()
            self.left -= 1

        async def asks(ctx):
            if self.ahead:
                await send(ctx, engine.operation, [asked(*each) for each in enumerate(self.names)])

        async def out(ctx):
            while self.left:
                flits = []
                while self.left and len(flits) < LENGTH:
                    take = self.rng.random() < (0.06 if node else 0.5)
                    ctx.set(engine.inject.ready, take)
                    _, _, valid, flit = await ctx.tick().sample(engine.inject.valid, engine.inject.payload)
                    flits += [flit] if take and valid else []
                if len(flits) == LENGTH:
                    assert flits[0] & 1 == 1 - node
                    self.under_way[1 - node].append((self.cycle + self.rng.randrange(10), flits))

        async def into(ctx):
            while self.left:
                if not self.under_way[node] or self.under_way[node][0][0] > self.cycle:
                    await ctx.tick()
                    continue
                _, flits = self.under_way[node].pop(0)
                items = [{"data": flit, "last": place == LENGTH - 1} for place, flit in enumerate(flits)]
                await send(ctx, engine.eject, items)

        return host, asks, out, into


@pytest.fixture
def run(simulate, send, receive):
    """Return ``run(names, seed)``: whether all nodes get what they must from operations one after the other."""

    def run(names, seed=1, cycles=4000, *, ahead=False):
        rig = Rig(machine_of(OPERATIONS), names, seed, ahead)
        benches = [bench for node in range(2) for bench in rig.benches(node, send, receive)]
        simulate(rig.dut, rig.count, *benches, cycles=cycles)
        return all(rig.results[node] == list(rig.due(node)) for node in range(2))

    return run


LATE = ("gather", "exscan", "gather", "allreduce-short")
"""In a gather, node 1 has no results, and goes on while its last packet leaves."""


def test_every_node_gets_its_results_in_order(run):
    rng = random.Random(1)
    assert run([*LATE, *(rng.choice(OPERATIONS) for _ in range(6))])


def test_hosts_may_ask_while_an_operation_runs(run):
    rng = random.Random(2)
    assert run([*LATE, *(rng.choice(OPERATIONS) for _ in range(6))], ahead=True)


@pytest.mark.parametrize("ahead", [False, True])
def test_members_get_a_multicast_between_operations_of_all_kinds(run, ahead):
    rng, names = random.Random(3), []
    for _ in range(6):
        names += ["join", rng.choice(OPERATIONS), "multicast"]
    assert run(names, seed=4, ahead=ahead)


class FlitByFlit(PacketMerger):
    """Sends a flit of whoever has one."""

    def elaborate(self, _platform):
        m = Module()
        first, second = self.i
        second_chosen, begins = Signal(), Signal(init=1)
        position = Signal(range(LENGTH))
        with m.If(second.valid & second.ready):
            m.d.sync += [position.eq(Mux(position == LENGTH - 1, 0, position + 1))]
        m.d.comb += [
            second_chosen.eq(second.valid),
            begins.eq(position == 0),
            self.o.valid.eq(first.valid | second.valid),
            self.o.payload.eq(Mux(second_chosen, second.payload | begins << 1, first.payload)),
            first.ready.eq(self.o.ready & ~second_chosen),
            second.ready.eq(self.o.ready & second_chosen),
        ]
        return m


class ToTheFirst(PacketSplitter):
    """Gives all packets to one engine."""

    def elaborate(self, _platform):
        m = Module()
        m.d.comb += [
            self.o[0].valid.eq(self.i.valid),
            self.o[0].payload.eq(self.i.payload),
            self.i.ready.eq(self.o[0].ready),
        ]
        return m


@pytest.mark.parametrize(("part", "fault"), [("", None), ("PacketMerger", FlitByFlit), ("PacketSplitter", ToTheFirst)])
def test_packets_that_are_mixed_or_go_astray_are_seen(run, part, fault, monkeypatch):
    if fault is None:
        assert run(LATE * 2, cycles=1500)
        return
    monkeypatch.setattr(joint, part, fault)
    with pytest.raises(AssertionError):
        assert run(LATE * 2, cycles=1500)
