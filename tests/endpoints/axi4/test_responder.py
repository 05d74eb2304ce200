"""What a memory answers goes back to who asked: the response of a write; data and worst response of a read."""

import random

import pytest

from hdnhw.endpoints.axi4.format import MemoryKind
from hdnhw.endpoints.axi4.responder import AnswerCollector
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.machine.machine import make_machine
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec


@pytest.fixture
def memory():
    spec = FabricSpec(network=parse("torus(3)"), packet_length=6, endpoints=AxiMemorySpec())
    return make_machine(spec).endpoint_format


def origins(rng, memory):
    """Return who asked, and what they call it, of 40 requests."""
    return [{"src": rng.randrange(3), "tag": rng.randrange(memory.tags)} for _ in range(40)]


def test_responses_of_writes(simulate, send, receive, memory):
    dut, rng, got = AnswerCollector(memory), random.Random(1), []
    asked, answers = origins(rng, memory), [rng.randrange(4) for _ in range(40)]

    def pause():
        return rng.random() < 0.3

    async def ask(ctx):
        await send(ctx, dut.writes, asked, pause)

    async def answer(ctx):
        await send(ctx, dut.b, [{"id": 0, "resp": resp} for resp in answers], pause)

    async def sink(ctx):
        got.extend(await receive(ctx, dut.written.head, len(asked), pause))

    simulate(dut, ask, answer, sink)
    heads = [dut.written.head.payload.shape().from_bits(bits) for bits in got]
    assert [(head.kind, head.dst, head.tag, head.size) for head in heads] == [
        (MemoryKind.WRITTEN, one["src"], one["tag"], resp) for one, resp in zip(asked, answers, strict=True)
    ]


def test_data_and_worst_response_of_reads(simulate, send, receive, memory):
    dut, rng, got = AnswerCollector(memory), random.Random(2), []
    asked = origins(rng, memory)
    parts = [
        [(rng.getrandbits(32), rng.choice([0, 0, 0, 1, 2, 3])) for _ in range(rng.randint(1, memory.payload_flits))]
        for _ in asked
    ]

    def pause():
        return rng.random() < 0.3

    async def ask(ctx):
        await send(ctx, dut.reads, asked, pause)

    async def answer(ctx):
        for part in parts:
            beats = [{"id": 0, "data": word, "resp": resp, "last": 0} for word, resp in part]
            await send(ctx, dut.r, [*beats[:-1], {**beats[-1], "last": 1}], pause)

    async def sink(ctx):
        for _ in asked:
            (bits,) = await receive(ctx, dut.data.head, 1, pause)
            head = dut.data.head.payload.shape().from_bits(bits)
            words = []
            for place in range(head.end + 1):
                ctx.set(dut.data.index, place)
                words.append(ctx.get(dut.data.data))
                await ctx.tick()
            ctx.set(dut.data.done, 1)
            await ctx.tick()
            ctx.set(dut.data.done, 0)
            got.append((head.kind, head.dst, head.tag, head.size, words))

    simulate(dut, ask, answer, sink)
    assert got == [
        (MemoryKind.DATA, one["src"], one["tag"], max(resp for _, resp in part), [word for word, _ in part])
        for one, part in zip(asked, parts, strict=True)
    ]
