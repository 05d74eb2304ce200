"""What a write changes, byte by byte: from the beats of a burst to parts, and from parts to the beats at a memory."""

import random

import pytest

from hdnhw.endpoints.axi4.format import MemoryKind
from hdnhw.endpoints.axi4.requester import WriteRequester
from hdnhw.endpoints.axi4.responder import RequestPlayer
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.machine.machine import make_machine
from hdnhw.networks.parse import parse
from hdnhw.rtl.header import header_layout
from hdnhw.spec import FabricSpec
from tests.endpoints.axi4.test_splitter import FIXED, INCR, WRAP, addresses

SIZES = {"words": (32, 8), "default": (64, 4), "bytes": (8, 20), "wide": (128, 12), "one beat": (64, 2)}


@pytest.fixture(params=SIZES)
def machine(request):
    width, length = SIZES[request.param]
    endpoints = AxiMemorySpec(memory_bits=16, outstanding=4)
    return make_machine(
        FabricSpec(network=parse("torus(3)"), flit_width=width, packet_length=length, endpoints=endpoints)
    )


def lanes(address, size, width):
    """Return the strobes of all bytes of a beat of ``2 ** size`` bytes in a word of `width` bytes."""
    first = address % width >> size << size
    return ((1 << (1 << size)) - 1) << first


def draw(rng, width):
    """Return a burst to node 2 and its beats: data and strobes, most of them whole; some write what they should not."""
    size, burst = rng.randint(0, width.bit_length() - 1), rng.choice([FIXED, INCR, INCR, WRAP])
    beats = {FIXED: rng.randint(1, 16), INCR: rng.randint(1, 40), WRAP: rng.choice([2, 4, 8, 16])}[burst]
    start = rng.randrange(4096 - (beats << size))
    start = start if burst == INCR and rng.random() < 0.5 else start >> size << size
    words = []
    for address in addresses(start, beats, size, burst):
        whole = lanes(address, size, width)
        words.append((address, rng.getrandbits(8 * width), whole if rng.random() < 0.7 else rng.getrandbits(width)))
    return (start, beats - 1, size, burst), words


def test_parts_have_the_strobes_of_the_burst(simulate, send, receive, machine):
    memory, rng = machine.endpoint_format, random.Random(1)
    width, most, dut = memory.bytes, memory.payload_flits, WriteRequester(memory, machine.address)
    bursts, got, responses, most_owed = [draw(rng, width) for _ in range(40)], [], [], 0
    nodes = [3 if rng.random() < 0.1 else 2 for _ in bursts]  # 3 is no node
    total = sum(len(words) for to, (_, words) in zip(nodes, bursts, strict=True) if to == 2)

    def pause():
        return rng.random() < 0.2

    async def ask(ctx):
        items = [
            {"id": i % 16, "addr": to << 16 | a, "len": n, "size": s, "burst": b}
            for i, (to, ((a, n, s, b), _)) in enumerate(zip(nodes, bursts, strict=True))
        ]
        await send(ctx, dut.aw, items, pause)

    async def write(ctx):
        for _, words in bursts:
            items = [{"data": data, "strb": strobes, "last": 0} for _, data, strobes in words]
            await send(ctx, dut.w, [*items[:-1], {**items[-1], "last": 1}], pause)

    async def network(ctx):
        """Take packets, and answer them late: when every tag is in use there is no other packet."""
        nonlocal most_owed
        count, owed = 0, []

        async def answer():
            ctx.set(dut.answer.tag, owed.pop(0))
            ctx.set(dut.answered, 1)
            await ctx.tick()
            ctx.set(dut.answered, 0)

        while count < total:
            if len(owed) == memory.tags:
                for _ in range(2 * most + 8):
                    assert not ctx.get(dut.packet.head.valid)
                    await ctx.tick()
            while len(owed) == memory.tags or (owed and rng.random() < 0.2):
                await answer()
            quiet = 0
            while not ctx.get(dut.packet.head.valid):  # parts that are refused have tags, too
                await ctx.tick()
                quiet += 1
                if owed and quiet % (4 * most + 20) == 0:
                    await answer()
            (bits,) = await receive(ctx, dut.packet.head, 1, pause)
            head = dut.packet.head.payload.shape().from_bits(bits)
            words = []
            for _ in range(head.end + 1):
                while pause():
                    await ctx.tick()
                words.append(ctx.get(dut.packet.data))
                ctx.set(dut.packet.take, 1)
                await ctx.tick()
                ctx.set(dut.packet.take, 0)
            count += len(words)
            got.append(({name: getattr(head, name) for name in memory.header_fields}, words))
            assert head.tag not in owed
            owed.append(head.tag)
            most_owed = max(most_owed, len(owed))
        while owed:
            await answer()

    async def answers(ctx):
        responses.extend(await receive(ctx, dut.b, len(bursts), pause))

    simulate(dut, ask, write, network, answers, cycles=30_000)
    assert most_owed == memory.tags
    came = [dut.b.payload.shape().from_bits(bits) for bits in responses]
    assert [(one.id, one.resp) for one in came] == [(i % 16, 3 if to == 3 else 0) for i, to in enumerate(nodes)]
    parts = iter(got)
    for to, ((_, _, size, burst), words) in zip(nodes, bursts, strict=True):
        place = 0 if to == 2 else len(words)
        while place < len(words):
            part, data = next(parts)
            left, last = words[place : place + len(data)], len(data) - 1
            assert (part["kind"], part["dst"], part["size"]) == (MemoryKind.WRITE, 2, size)
            assert data == [word for _, word, _ in left]
            assert addresses(part["addr"], len(data), size, FIXED if part["fixed"] else INCR) == [a for a, _, _ in left]
            assert part["strobes"] % (1 << width) == left[0][2]
            assert most == 1 or last == 0 or part["strobes"] >> width == left[last][2]
            whole = [strobes == lanes(address, size, width) for address, _, strobes in left]
            assert all(whole[1:-1])
            place += len(data)
            turns = burst == WRAP and place < len(words) and words[place][0] < left[last][0]
            assert len(data) == most or place == len(words) or turns or (last and not whole[last])
    assert next(parts, None) is None


def test_a_memory_gets_the_strobes_of_the_part(simulate, send, receive, machine):
    memory, rng = machine.endpoint_format, random.Random(2)
    width, most, dut = memory.bytes, memory.payload_flits, RequestPlayer(memory)
    layout, flit_width, parts, flits = header_layout(memory), memory.flits.flit_width, [], []
    for _ in range(60):
        (address, _, size, burst), words = draw(rng, width)
        words, fixed = words[: rng.randint(1, most)], burst == FIXED
        places = addresses(address, len(words), size, FIXED if fixed else INCR)
        strobes = [lanes(place, size, width) for place in places]
        strobes[0], strobes[-1] = (rng.getrandbits(width) for _ in range(2))
        ends = strobes[0] | (strobes[-1] << width if len(strobes) > 1 else rng.getrandbits(width) << width)
        head = {"kind": MemoryKind.WRITE, "end": len(words) - 1, "size": size, "fixed": fixed, "addr": address}
        head["strobes"] = ends & (1 << memory.header_fields["strobes"]) - 1
        bits = layout.const(head).as_bits()
        header = [bits >> place * flit_width & (1 << flit_width) - 1 for place in range(memory.header_flits)]
        filling = [rng.getrandbits(flit_width) for _ in range(most - len(words))]
        flits += [*header, *(data for _, data, _ in words), *filling]
        parts.append(((address, len(words) - 1, size, INCR if not fixed else FIXED), words, strobes))
    got = {"aw": [], "w": []}

    def pause():
        return rng.random() < 0.2

    async def network(ctx):
        await send(ctx, dut.request, flits, pause)

    async def beats(ctx, name, count):
        got[name] = await receive(ctx, getattr(dut, name), count, pause)

    async def waits(ctx):
        await receive(ctx, dut.writes, len(parts), pause)

    simulate(
        dut,
        network,
        waits,
        lambda ctx: beats(ctx, "aw", len(parts)),
        lambda ctx: beats(ctx, "w", sum(len(words) for _, words, _ in parts)),
        cycles=30_000,
    )
    heads = [dut.aw.payload.shape().from_bits(bits) for bits in got["aw"]]
    assert [(head.addr, head.len, head.size, head.burst) for head in heads] == [asked for asked, _, _ in parts]
    words = [dut.w.payload.shape().from_bits(bits) for bits in got["w"]]
    assert [(word.data, word.strb, word.last) for word in words] == [
        (data, strb, place == len(strobes) - 1)
        for _, beats, strobes in parts
        for place, ((_, data, _), strb) in enumerate(zip(beats, strobes, strict=True))
    ]
