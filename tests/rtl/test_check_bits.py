"""Check bits in logic against arithmetic, and routers that look at them."""

import random

import pytest
from amaranth.hdl import Module, Signal

from hdnhw.machine.crc import check_of, check_width
from hdnhw.machine.machine import make_machine
from hdnhw.rtl.check_bits import PacketCheck, check_bits
from hdnhw.rtl.router import Router
from tests.specs import fabric_spec


@pytest.mark.parametrize("width", [1, 8, 32, 119, 120])
def test_check_bits_are_those_of_arithmetic(simulate, width):
    m, flit = Module(), Signal(width)
    bits = Signal(check_width(width))
    m.d.comb += bits.eq(check_bits(flit))
    rng = random.Random(width)

    async def bench(ctx):
        for value in (0, (1 << width) - 1, *(rng.getrandbits(width) for _ in range(50))):
            ctx.set(flit, value)
            await ctx.delay(1e-7)
            assert ctx.get(bits) == check_of(value, width)

    simulate(m, bench)


@pytest.mark.parametrize(("length", "gap"), [(1, 0), (1, 0.5), (4, 0), (4, 0.5)])
def test_each_packet_is_judged_by_itself(simulate, length, gap):
    """A wrong flit in any place, or several; what is wrong and not valid does not count."""
    rng, dut, told, expected = random.Random(length + gap), PacketCheck(flit_width=9), [], []
    packets = [{rng.randrange(length) for _ in range(rng.choice([0, 0, 1, 2]))} for _ in range(60)]

    async def sender(ctx):
        for wrong in packets:
            expected.append(bool(wrong))
            for place in range(length):
                while rng.random() < gap:
                    ctx.set(dut.valid, 0)
                    ctx.set(dut.check, rng.getrandbits(8))
                    await ctx.tick()
                flit = rng.getrandbits(9)
                ctx.set(dut.valid, 1)
                ctx.set(dut.data, flit)
                ctx.set(dut.check, check_of(flit, 9) ^ (1 << rng.randrange(8) if place in wrong else 0))
                ctx.set(dut.tail, place == length - 1)
                await ctx.tick()
        ctx.set(dut.valid, 0)

    async def watcher(ctx):
        before = False
        while len(told) < len(packets):
            _, _, wrong, was_wrong, done, bad = await ctx.tick().sample(dut.wrong, dut.was_wrong, dut.done, dut.bad)
            assert was_wrong == before
            before = wrong
            told.extend([bool(bad)] * done)

    simulate(dut, sender, watcher)
    assert told == expected
    assert 10 < sum(told) < 50


@pytest.mark.parametrize("length", [1, 4, 8])
def test_a_wrong_head_is_ejected_and_a_wrong_body_goes_on(simulate, length):
    """Packets come by one channel of a ring's router, for its other neighbor; some with errors in the head or tail."""
    spec = fabric_spec("torus(5)", packet_length=length, flit_width=16, buffers=16, crc=True)
    machine = make_machine(spec)
    timing, dut = machine.timing, Router(machine, machine.plan.shapes[0])
    came, out, slots = dut.dim0_minus_i, {"dim0_plus_o": [], "eject": []}, 4
    errors = {1: (length - 1, 1 << 20), 2: (0, 1 << 1), 4: (0, 1 << 16), 5: (length - 1, 1 << 2)}
    packets = []
    for number in range(7):
        words = [word | check_of(word, 16) << 16 for word in (number << 8 | 3, *range(number, number + length - 1))]
        place, mask = errors.get(number, (0, 0))
        words[place] ^= mask
        packets.append(words)

    async def bench(ctx):
        ctx.set(dut.address, 2)
        for cycle in range((slots * len(packets) + 8) * length):
            number, flit = divmod(cycle - length - timing.channel_cycles, slots * length)
            sends = 0 <= number < len(packets) and flit < length
            ctx.set(came.valid, sends)
            if sends:
                ctx.set(came.data, packets[number][flit] & 0xFFFF)
                ctx.set(came.check, packets[number][flit] >> 16)
            for name, words in out.items():
                channel = getattr(dut, name)
                if ctx.get(channel.valid):
                    words.append(ctx.get(channel.check) << 16 | ctx.get(channel.data))
            await ctx.tick()
        assert ctx.get(dut.dim0_minus_errors) == len(errors)
        assert ctx.get(dut.dim0_plus_errors) == 0

    simulate(dut, bench, cycles=3000)
    stay = {number for number, (place, _) in errors.items() if place == 0}
    assert out["eject"] == [word for number in sorted(stay) for word in packets[number]]
    assert out["dim0_plus_o"] == [word for number in sorted(set(range(7)) - stay) for word in packets[number]]
