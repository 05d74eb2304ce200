"""Narrow channels: what comes out, and in which cycle, against a list of packets and one line of arithmetic."""

import random

import pytest

from hdnhw.machine.machine import make_machine
from hdnhw.rtl.narrow import NarrowChannel
from tests.specs import fabric_spec

PACKETS = 120


@pytest.mark.parametrize(
    ("width", "options"),
    [
        (16, {}),
        (13, {"packet_length": 3, "buffers": 2, "ram": "distributed"}),
        (20, {"packet_length": 4, "crc": True, "lanes": 2, "channel_latency": 6}),
        (7, {"packet_length": 1, "channel_latency": 3}),
        (31, {"packet_length": 2, "buffers": 1, "lanes": 2}),
        (1, {"packet_length": 2, "buffers": 16}),
        (8, {"packet_length": 16, "switching": "cut-through", "lanes": 2}),
    ],
)
def test_packets_come_out_whole_in_their_order_and_when_they_are_due(simulate, width, options):
    """All that is not said to mean something is random, and credits are as many as the router may have."""
    machine = make_machine(fabric_spec("mesh(4)", channel_width=width, **options))
    length, flit, check = machine.spec.packet_length, machine.spec.flit_width, machine.spec.crc
    vcs, dut, rng = machine.plan.num_vcs[0], NarrowChannel(machine, 0), random.Random(width)
    taken, interval = machine.channels.stages[0], machine.channels.intervals[0]
    free_from, due, waits, seen, credits = 0, [], 0, [], []
    limit, room = 4 * PACKETS * length * interval, dict.fromkeys(range(vcs), machine.vc_buffers(0))

    async def bench(ctx):
        nonlocal free_from, waits
        cycle, packet, left, told, held = 0, None, PACKETS, 0, []
        while len(seen) < PACKETS * length and cycle < limit:
            phase, burst = cycle % length, cycle // (40 * length * interval) % 2
            if phase == 0:
                packet = None
                vc = rng.choice([vc for vc in room if room[vc]] or [None])
                if left and vc is not None and rng.random() < (1 if burst else 0.7 / interval):
                    packet = vc, [rng.getrandbits(machine.word_width) for _ in range(length)]
                    left -= 1
                    room[vc] -= 1
                    start = max(cycle + 1, free_from)
                    waits += start > cycle + 1
                    free_from = start + interval * length
                    due.append((start + taken, packet))
            # A flit that is set now comes in the next cycle, and its virtual channel is told in this one.
            if vcs > 1:
                ctx.set(dut.i.vc, packet[0] if packet else rng.randrange(vcs))
            back = rng.getrandbits(vcs)
            ctx.set(dut.o.credit, back)
            credits.append((back, ctx.get(dut.i.credit)))
            if ctx.get(dut.o.valid):
                seen.append((cycle, told, ctx.get(dut.o.data), ctx.get(dut.o.check) if check else 0))
            told = ctx.get(dut.o.vc) if vcs > 1 else 0
            await ctx.tick()
            word = packet[1][phase] if packet else rng.getrandbits(machine.word_width)
            ctx.set(dut.i.valid, packet is not None)
            ctx.set(dut.i.data, word & (1 << flit) - 1)
            if check:
                ctx.set(dut.i.check, word >> flit)
            cycle += 1
            held += [vc for when, (vc, _) in due if cycle == when + length]
            while held and rng.random() < 0.2:
                room[held.pop(0)] += 1

    simulate(dut, bench, cycles=limit + 2)
    mask = (1 << flit) - 1
    assert seen == [
        (when + number, vc, word & mask, word >> flit) for when, (vc, words) in due for number, word in enumerate(words)
    ]
    assert len(due) == PACKETS
    assert waits > PACKETS // 12
    late = machine.channels.credit_stages[0]
    assert [back for _, back in credits[late:]] == [given for given, _ in credits[: len(credits) - late]]
