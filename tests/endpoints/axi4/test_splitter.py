"""Bursts cut into parts, against the addresses of the beats by the rules of AXI4."""

import random

import pytest

from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi4.splitter import BurstSplitter
from hdnhw.machine.machine import make_machine
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec

SIZES = {"words": (32, 8), "bytes": (8, 20), "wide": (1024, 4), "one beat": (64, 3)}
FIXED, INCR, WRAP = range(3)


def addresses(addr, beats, size, burst):
    """Return the address of each beat, as IHI 0022 has it (A3.4.1)."""
    aligned = addr >> size << size
    if burst == FIXED:
        return [addr] * beats
    if burst == INCR:
        return [addr, *(aligned + (n << size) for n in range(1, beats))]
    total = beats << size
    lower = addr // total * total
    return [lower + (addr + (n << size) - lower) % total for n in range(beats)]


def draw(rng, bits, widest, address):
    """Return a random burst that AXI4 allows: address, len, size, type."""
    size, burst = rng.randint(0, widest), rng.choice([FIXED, INCR, INCR, WRAP])
    beats = {FIXED: rng.randint(1, 16), INCR: rng.randint(1, 256), WRAP: rng.choice([2, 4, 8, 16])}[burst]
    beats = min(beats, 4096 >> size)
    place = rng.randrange((1 << bits) // 4096) * 4096
    room = 4096 - (beats << size)
    offset = rng.randint(0, room) if burst != WRAP else rng.randrange(4096) >> size << size
    return address << bits | place + offset, beats - 1, size, burst


@pytest.mark.parametrize("name", SIZES)
def test_parts_are_the_beats_of_the_burst(simulate, send, receive, name):
    width, length = SIZES[name]
    spec = FabricSpec(
        network=parse("torus(3)"), flit_width=width, packet_length=length, endpoints=AxiMemorySpec(memory_bits=16)
    )
    machine, rng = make_machine(spec), random.Random(name)
    memory = machine.endpoint_format
    dut = BurstSplitter(memory, machine.address)
    widest = memory.bytes.bit_length() - 1
    bursts = [(number % 16, *draw(rng, 16, widest, rng.randrange(4))) for number in range(60)]
    bursts += [(1, 5, 3, widest, 3), (2, 6, 0, widest + 1, INCR)] if widest < 7 else [(1, 5, 3, widest, 3)]
    got = []

    async def user(ctx):
        ctx.set(dut.address, 1)
        items = [{"id": i, "addr": a, "len": n, "size": s & 7, "burst": b} for i, a, n, s, b in bursts]
        await send(ctx, dut.burst, items, lambda: rng.random() < 0.3)

    async def sink(ctx):
        for burst in bursts:
            parts, last = [], False
            while not last:
                (word,) = await receive(ctx, dut.part, 1, lambda: rng.random() < 0.3)
                parts.append(fields(dut, word))
                last = parts[-1]["last"]
            got.append((burst, parts))

    simulate(dut, user, sink, cycles=200_000)
    assert len(got) == len(bursts)
    for (number, addr, beats, size, burst), parts in got:
        assert all(part["id"] == number for part in parts)
        if burst == 3 or size > widest or addr >> 16 == 3:
            assert all(part["refused"] for part in parts)
            assert all(part["resp"] == (3 if addr >> 16 == 3 else 2) for part in parts)
            assert sum(part["end"] + 1 for part in parts) == beats + 1
            continue
        assert not any(part["refused"] for part in parts)
        assert all(part["dst"] == addr >> 16 for part in parts)
        assert all(part["own"] == (addr >> 16 == 1) for part in parts)
        assert all(part["size"] == size for part in parts)
        assert all(part["end"] < memory.payload_flits for part in parts)
        came = [
            one
            for part in parts
            for one in addresses(part["addr"], part["end"] + 1, size, FIXED if part["fixed"] else INCR)
        ]
        assert came == addresses(addr & 0xFFFF, beats + 1, size, burst)


def fields(dut, word):
    """Return the fields of a part."""
    values = {}
    for name, field in dut.part.payload.shape():
        values[name] = word >> field.offset & (1 << field.width) - 1
    return values
