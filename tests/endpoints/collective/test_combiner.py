"""Receiver, combiner and memory together against sums by plain integers, whoever comes first."""

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.collective.combiner import Combiner
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.lists import BufferPool
from hdnhw.endpoints.collective.receiver import Receiver
from hdnhw.endpoints.collective.sorter import sort_layout
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.collective.store import MessageStore, StoreReadSignature
from hdnhw.machine.machine import make_machine
from hdnhw.rtl.bits import index_width
from tests.specs import fabric_spec

NODE, BUFFERS, ROUNDS = 2, 20, 16


class Joined(wiring.Component):
    """What a message meets from the network to the sorter."""

    def __init__(self, machine):
        self.program, self.messages = engines_of(machine).program, machine.endpoint_format
        self.receiver = Receiver(self.program, self.messages, BUFFERS)
        super().__init__(
            {
                "sort": Out(stream.Signature(sort_layout(self.program, BUFFERS), always_ready=True)),
                "free": In(stream.Signature(index_width(BUFFERS), always_ready=True)),
                "read": In(StoreReadSignature(self.messages, BUFFERS)),
            }
        )

    def elaborate(self, _platform):
        m = Module()
        m.submodules.receiver = receiver = self.receiver
        m.submodules.combiner = combiner = Combiner(self.program, self.messages, BUFFERS)
        m.submodules.pool = pool = BufferPool(BUFFERS)
        m.submodules.store = store = MessageStore(self.messages, BUFFERS)
        connect(m, receiver.claim, combiner.claim)
        connect(m, pool.take, combiner.i_slot)
        connect(m, combiner.slot, receiver.slot)
        connect(m, receiver.write, combiner.i_write)
        connect(m, combiner.write, store.write)
        connect(m, combiner.old, store.old)
        connect(m, receiver.sort, combiner.i_sort)
        connect(m, combiner.sort, wiring.flipped(self.sort))
        connect(m, wiring.flipped(self.free), pool.give)
        connect(m, wiring.flipped(self.read), store.read)
        return m


def joined(length, operation, packets):
    """Return the parts of an engine for packets of one header flit and numbers that fill a flit."""
    combining = {"operators": ("sum", "xor"), "numbers": "int16"}
    engines = CollectiveSpec(operations=("exchange", operation), message_packets=packets, **combining)
    sizes = {"packet_length": length, "flit_width": 16}
    return Joined(make_machine(fabric_spec("cube(2)", endpoints=engines, **sizes)))


class Sums:
    """What is given, and what it comes to."""

    def __init__(self, messages, rng):
        self.messages, self.rng, self.values = messages, rng, {}

    def packet(self, parity, block, operator, send):
        """Return the flits of a random contribution to a packet of a block, and count it in."""
        fields = {"dst": NODE, "source": 1, "send": send, "parity": parity, "holds": 1}
        fields |= dict(zip(("target", "part"), block, strict=True))
        header = sum(
            value << self.messages.header_positions[name]["offset"]
            for name, value in (fields | {"operator": operator}).items()
            if name in self.messages.header_fields
        )
        assert self.messages.header_flits == 1
        return [header, *self.data(parity, block, operator)]

    def data(self, parity, block, operator):
        """Return the data flits of a random contribution, and count it in."""
        new = [self.rng.getrandbits(16) for _ in range(self.messages.payload_flits)]
        old = self.values.get((parity, block))
        both = zip(old or [0] * len(new), new, strict=True)
        self.values[parity, block] = [one ^ two if operator else one + two & 0xFFFF for one, two in both]
        return new


@pytest.mark.parametrize(
    ("length", "operation", "packets"),
    [(2, "reducescatter", 1), (3, "allreduce", 1), (4, "reduce", 1), (2, "allreduce", 2), (3, "reduce", 3)],
)
def test_whoever_comes_first_takes_the_buffer(simulate, length, operation, packets):
    dut, rng = joined(length, operation, packets), random.Random(f"{length} {operation}")
    receiver, payload, sums = dut.receiver, dut.sort.payload, Sums(dut.messages, rng)
    send = dut.program.numbers_of(1).start
    rounds = ROUNDS * (
        2 if length + packets == 3 else 1
    )  # one data flit per message: the next one may meet the last one's write
    blocks = [(target, part) for target in range(1 if operation == "reduce" else 4) for part in range(packets)]
    firsts = {True: 0, False: 0}

    async def bench(ctx):
        ctx.set(receiver.address, NODE)
        ctx.set(receiver.send, send)
        operators = [rng.randrange(2) for _ in range(rounds + 1)]
        early, taken = [], {}
        for number in range(rounds):
            parity, operator = number % 2, operators[number]
            ctx.set(receiver.parity, parity)
            ctx.set(receiver.operator, operator)
            come = [sums.packet(parity, block, operator, send) for block in blocks for _ in range(rng.randrange(6))]
            rng.shuffle(come)
            # The next operation's first messages come while this one is under way.
            early = [
                sums.packet(1 - parity, block, operators[number + 1], send) for block in blocks if rng.random() < 0.4
            ]
            come = [flit for packet in [*come, *early] for flit in packet]
            own = [flit for block in blocks for flit in sums.data(parity, block, operator)]
            begins, cycle, loaded, quiet = rng.randrange(12), 0, 0, 0
            eject = give = None
            while quiet < 8:
                ctx.set(receiver.loads, cycle >= begins and loaded < len(blocks))
                ctx.set(receiver.begun, cycle >= begins and loaded == len(blocks))
                eject = eject if eject is not None else (come.pop(0) if come and rng.random() < 0.5 else None)
                give = give if give is not None else (own.pop(0) if own and rng.random() < 0.8 else None)
                ctx.set(receiver.eject.valid, eject is not None)
                ctx.set(receiver.eject.payload.data, eject or 0)
                ctx.set(receiver.i.valid, give is not None)
                ctx.set(receiver.i.payload, give or 0)
                _, _, ejected, given, done, valid, *item = await ctx.tick().sample(
                    receiver.eject.ready, receiver.i.ready, receiver.loaded, dut.sort.valid,
                    payload.slot, payload.early, payload.target, payload.begins,
                )  # fmt: skip
                slot, early_one, target, begun = item
                if valid:
                    assert slot not in taken
                    taken[slot] = parity ^ early_one, target
                    firsts[bool(begun)] += 1
                eject, give = None if ejected else eject, None if given else give
                loaded, cycle = loaded + done, cycle + 1
                busy = come or own or eject is not None or give is not None or valid
                quiet = 0 if busy or loaded < len(blocks) else quiet + 1
            ours = [slot for slot, (of_parity, _) in taken.items() if of_parity == parity]
            assert len(ours) == len(blocks)
            for slot in ours:
                _, target = taken.pop(slot)
                block = target, await number_of(ctx, dut, slot)
                assert await contents(ctx, dut, slot) == sums.values.pop((parity, block))
                ctx.set(dut.free.payload, slot)
                ctx.set(dut.free.valid, 1)
                await ctx.tick()
                ctx.set(dut.free.valid, 0)
            assert sorted(taken.values()) == sorted((of_parity, target) for of_parity, (target, _) in sums.values)
            ctx.set(receiver.begun, 0)

    simulate(dut, bench, cycles=20_000)
    assert min(firsts.values()) > 0


async def number_of(ctx, dut, slot):
    """Return which packet of its message a buffer holds."""
    if not dut.messages.part_width:
        return 0
    ctx.set(dut.read.label_slot, slot)
    await ctx.tick()
    return ctx.get(dut.read.label.part)


async def contents(ctx, dut, slot):
    """Return the data flits of a buffer, as they are read."""
    flits = []
    for position in range(1, 1 + dut.messages.payload_flits):
        ctx.set(dut.read.enable, 1)
        ctx.set(dut.read.slot, slot)
        ctx.set(dut.read.flit, position % (1 << len(dut.read.flit)))
        await ctx.tick().repeat(2)
        flits.append(ctx.get(dut.read.data))
    return flits
