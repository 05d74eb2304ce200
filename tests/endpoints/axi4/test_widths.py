"""Managers and subordinates whose data are narrower than a flit, beside memories that know bytes only."""

import random

import pytest

from hdnhw.endpoints.axi4.accesses import AccessPlayer
from hdnhw.endpoints.axi4.bench import FIXED, INCR, RESERVED, WRAP, beat_addresses
from hdnhw.endpoints.axi4.lanes import LaneSteering
from hdnhw.endpoints.axi4.layout import port_layouts

SIZE = 1 << 12
BACKLOG, PATIENCE = 12, 60
"""Accesses for which a memory waits until it answers all that it has, and cycles at most."""


def drawn(rng, widest, kinds, most=16):
    """Return address, len, size and type of a random burst of so many beats at most."""
    size, kind = rng.randint(0, widest), rng.choice(kinds)
    beats = rng.choice([2, 4, 8, 16]) if kind == WRAP else rng.randint(1, most)
    start = rng.randrange(SIZE - (beats << size))
    return start >> size << size if kind == WRAP else start, beats - 1, size, kind


def beats_of(burst):
    at, length, size, kind = burst
    return beat_addresses(at, beats=length + 1, size=size, burst=kind)


def bytes_of(address, size, width):
    """Return the bytes that a beat names, within its word."""
    end = (address >> size) + 1 << size
    return range(address, min(end, address // width * width + width))


def fields(layout, word):
    return {name: word >> field.offset & (1 << field.width) - 1 for name, field in layout}


def word_at(memory, address, width):
    start = address // width * width
    return int.from_bytes(memory[start : start + width], "little")


@pytest.mark.parametrize(("narrow", "wide"), [(8, 64), (32, 64), (64, 128)])
def test_beats_are_in_the_lanes_of_their_addresses(simulate, send, receive, narrow, wide):
    rng = random.Random(f"{narrow} {wide}")
    near, far = (port_layouts(id_width=2, address_width=12, data_width=bits) for bits in (narrow, wide))
    dut, own, other = LaneSteering(near, far), narrow // 8, wide // 8
    memory = rng.randbytes(SIZE)
    bursts = [drawn(rng, own.bit_length() - 1, [FIXED, INCR, INCR, WRAP]) for _ in range(40)]
    asked = [dict(zip(("addr", "len", "size", "burst"), one, strict=True), id=n % 4) for n, one in enumerate(bursts)]
    beats = [(at, n == len(beats_of(one)) - 1, one) for one in bursts for n, at in enumerate(beats_of(one))]
    written = [{"data": rng.getrandbits(narrow), "strb": rng.getrandbits(own), "last": last} for _, last, _ in beats]
    found = {}

    def pauses():
        return rng.random() < 0.3

    async def asks(ctx):
        await send(ctx, dut.near_aw, asked, pauses)

    async def reads(ctx):
        await send(ctx, dut.near_ar, asked, pauses)

    async def writes(ctx):
        await send(ctx, dut.near_w, written, pauses)

    async def answers(ctx):
        words = [
            {"id": 1, "data": word_at(memory, at, other), "resp": n % 4, "last": last}
            for n, (at, last, _) in enumerate(beats)
        ]
        await receive(ctx, dut.far_ar, 1, pauses)
        ahead = 1
        for (_, last, _), word in zip(beats, words, strict=True):
            await send(ctx, dut.far_r, [word], pauses)
            if last and ahead < len(bursts):
                await receive(ctx, dut.far_ar, 1, pauses)
                ahead += 1

    def collect(name, count):
        async def take(ctx):
            found[name] = await receive(ctx, getattr(dut, name), count, pauses)

        return take

    takers = [collect("far_aw", len(bursts)), collect("far_w", len(beats)), collect("near_r", len(beats))]
    simulate(dut, asks, reads, writes, answers, *takers, cycles=50_000)
    assert [fields(far["aw"], word) for word in found["far_aw"]] == asked
    for (at, _, _), sent, word in zip(beats, written, found["far_w"], strict=True):
        came, lane = fields(far["w"], word), at % other // own
        assert came["strb"] == sent["strb"] << lane * own
        assert came["data"] >> lane * narrow & (1 << narrow) - 1 == sent["data"]
        assert came["last"] == sent["last"]
    for number, ((at, last, _), word) in enumerate(zip(beats, found["near_r"], strict=True)):
        came = fields(near["r"], word)
        assert came == {"id": 1, "data": word_at(memory, at, own), "resp": number % 4, "last": last}


def test_a_beat_too_wide_for_its_port_becomes_a_burst_that_is_refused(simulate, send, receive):
    near, far = (port_layouts(id_width=1, address_width=12, data_width=bits) for bits in (32, 64))
    dut, found = LaneSteering(near, far), []

    async def asks(ctx):
        await send(ctx, dut.near_ar, [{"addr": 8, "len": 0, "size": 3, "burst": INCR}], lambda: False)

    async def takes(ctx):
        found.extend(await receive(ctx, dut.far_ar, 1, lambda: False))

    simulate(dut, asks, takes, cycles=100)
    assert fields(far["ar"], found[0])["burst"] == RESERVED


@pytest.mark.parametrize(("narrow", "wide"), [(32, 32), (32, 64), (16, 128)])
def test_accesses_are_the_beats_of_the_burst(simulate, send, receive, narrow, wide):
    """Each burst, cut into accesses, does to a memory what its beats say; an error of one is that of its burst."""
    rng = random.Random(f"{narrow} {wide}")
    near = port_layouts(id_width=1, address_width=12, data_width=wide)
    dut, own, other = AccessPlayer(near, narrow), narrow // 8, wide // 8
    memory, due = bytearray(rng.randbytes(SIZE)), None
    widest = other.bit_length() - 1
    writes, reads = ([drawn(rng, widest, [FIXED, INCR, INCR], most=16) for _ in range(40)] for _ in range(2))
    before = bytes(memory)
    due = bytearray(memory)
    faults = rng.choices((0, 2, 3), (90, 6, 4), k=SIZE // own)  # responses of the words
    beats, answers = [], []
    for one in writes:
        worst = 0
        for number, at in enumerate(beats_of(one)):
            data, allowed = rng.getrandbits(wide), sum(1 << byte % other for byte in bytes_of(at, one[2], other))
            strobes = allowed & rng.choice([allowed, allowed, rng.getrandbits(other), 0])
            beats.append({"data": data, "strb": strobes, "last": number == one[1]})
            for lane in range(other):
                if strobes >> lane & 1:
                    place = at // other * other + lane
                    due[place] = data >> 8 * lane & 0xFF
                    worst = max(worst, faults[place // own])
        answers.append(worst)
    got = {"b": [], "r": []}
    accesses, waiting = {"aw": [], "ar": []}, {"b": [], "r": []}
    asked = {
        name: [dict(zip(("addr", "len", "size", "burst"), one, strict=True)) for one in bursts]
        for name, bursts in (("aw", writes), ("ar", reads))
    }

    def pauses():
        return rng.random() < 0.3

    def asks(name):
        async def run(ctx):
            await send(ctx, getattr(dut, f"near_{name}"), asked[name], pauses)

        return run

    async def gives(ctx):
        await send(ctx, dut.near_w, beats, pauses)

    def takes(name, count):
        async def run(ctx):
            got[name] = await receive(ctx, getattr(dut, f"near_{name}"), count, pauses)

        return run

    async def writer(ctx):
        while True:
            (address,) = await receive(ctx, dut.far_aw, 1, pauses)
            (word,) = await receive(ctx, dut.far_w, 1, pauses)
            at, size = address & SIZE - 1, address >> 12
            accesses["aw"].append((at, size))
            data, strobes = word & (1 << narrow) - 1, word >> narrow
            assert strobes
            assert strobes & ~sum(1 << byte % own for byte in bytes_of(at, size, own)) == 0
            for lane in range(own):
                if strobes >> lane & 1:
                    memory[at // own * own + lane] = data >> 8 * lane & 0xFF
            waiting["b"].append({"resp": faults[at // own]})

    async def reader(ctx):
        while True:
            (address,) = await receive(ctx, dut.far_ar, 1, pauses)
            at = address & SIZE - 1
            accesses["ar"].append((at, address >> 12))
            waiting["r"].append({"data": word_at(before, at, own), "resp": faults[at // own]})

    def answers_late(name):
        async def run(ctx):
            while True:
                for _ in range(PATIENCE):
                    await ctx.tick()
                    if len(waiting[name]) >= BACKLOG:
                        break
                while waiting[name]:
                    await send(ctx, getattr(dut, f"far_{name}"), [waiting[name].pop(0)], pauses)

        return run

    count = sum(one[1] + 1 for one in reads)
    finite = [asks("aw"), asks("ar"), gives, takes("b", len(writes)), takes("r", count)]
    simulate(dut, *finite, background=[writer, reader, answers_late("b"), answers_late("r")], cycles=200_000)
    assert memory == due
    assert [fields(near["b"], word)["resp"] for word in got["b"]] == answers
    words = iter(got["r"])
    for one in reads:
        for number, at in enumerate(beats_of(one)):
            came, named = fields(near["r"], next(words)), bytes_of(at, one[2], other)
            assert came["last"] == (number == one[1])
            assert came["resp"] == max(faults[byte // own] for byte in named)
            for byte in named:
                assert came["data"] >> 8 * (byte % other) & 0xFF == before[byte]
    assert all(1 << size <= own for name in accesses for _, size in accesses[name])
