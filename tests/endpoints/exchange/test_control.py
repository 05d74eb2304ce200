"""The timetable slot by slot, and the control with generators played by the bench."""

import random

import pytest

from hdnhw.endpoints.exchange.control import ExchangeControl, Timetable
from hdnhw.endpoints.exchange.generator import COUNT_CYCLES

SLOTS = [5, 0, 3, 7, 0, 0, 1]


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_offsets_come_in_the_last_phase_of_their_slots(simulate, length):
    for begin in range(length):
        dut, seen = Timetable(SLOTS, offset_width=3, packet_length=length), []

        async def bench(ctx, dut=dut, seen=seen, begin=begin):
            for _ in range(2):
                while ctx.get(dut.valid) or len(seen) % length != begin:
                    seen.append(await watch(ctx, dut))
                ctx.set(dut.start, 1)
                seen.append(await watch(ctx, dut))
                ctx.set(dut.start, 0)
                for _ in range(length * (len(SLOTS) + 2)):
                    seen.append(await watch(ctx, dut))

        simulate(dut, bench)
        starts = [(cycle, offset) for cycle, (valid, offset, _) in enumerate(seen) if valid]
        assert [offset for _, offset in starts] == 2 * [offset for offset in SLOTS if offset]
        assert {cycle % length for cycle, _ in starts} == {length - 1}
        half = len(starts) // 2
        for cycle, offset in starts:
            run = starts[:half] if (cycle, offset) in starts[:half] else starts[half:]
            assert (cycle - run[0][0]) // length == SLOTS.index(offset)
        firsts = [cycle for cycle, (*_, first) in enumerate(seen) if first]
        assert firsts == [starts[0][0], starts[half][0]]


async def watch(ctx, dut):
    """Return (valid, offset, first) of this cycle."""
    return (await ctx.tick().sample(dut.valid, dut.offset, dut.first))[2:]


@pytest.mark.parametrize("nodes", [2, 3, 7, 16])
def test_a_run_is_counted_from_its_first_head_to_its_last_tail(simulate, nodes):
    rng = random.Random(nodes)
    dut = ExchangeControl(SLOTS, num_nodes=nodes, offset_width=3, packet_length=4)

    async def play(ctx, tails):
        """Count packets as generators do: those whose tails are taken in these cycles after the first head."""
        ctx.set(dut.start, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        assert ctx.get(dut.clear)
        assert not ctx.get(dut.done)
        await ctx.tick()
        for node in dut.nodes:
            ctx.set(node.done, 0)
        while not ctx.get(dut.go):
            assert not ctx.get(dut.clear)
            await ctx.tick()
        for cycle in range(-1, max(tails) + COUNT_CYCLES + 1):
            for node, tail in zip(dut.nodes, tails, strict=True):
                ctx.set(node.done, cycle >= tail + COUNT_CYCLES)
            assert not ctx.get(dut.done)
            await ctx.tick()

    async def bench(ctx):
        for _ in range(3):
            tails = [rng.randrange(4 * len(SLOTS), 60) for _ in range(nodes)]
            counts = [(rng.randrange(1, nodes), rng.randrange(nodes)) for _ in range(nodes)]
            for node, (received, wrong) in zip(dut.nodes, counts, strict=True):
                ctx.set(node.received, received)
                ctx.set(node.wrong, wrong)
            await play(ctx, tails)
            ctx.set(dut.start, 1)  # is ignored
            while not ctx.get(dut.done):
                await ctx.tick()
            ctx.set(dut.start, 0)
            for _ in range(3):
                assert ctx.get(dut.done)
                assert ctx.get(dut.cycles) == max(tails) + 1
                assert (ctx.get(dut.received), ctx.get(dut.wrong)) == tuple(map(sum, zip(*counts, strict=True)))
                await ctx.tick()

    simulate(dut, bench)
