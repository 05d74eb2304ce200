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
    """Return who asked, whether that is the node's own manager, what they call it, and its last beat, 40 times."""
    ends = range(memory.payload_flits)
    return [
        {
            "own": rng.randrange(2),
            "src": rng.randrange(3),
            "tag": rng.randrange(memory.tags),
            "end": (end := rng.choice(ends)),
            "single": end == 0,
        }
        for _ in range(40)
    ]


async def watch(ctx, dut, number, pause, count):
    """Return the answers and the data that the node's own manager gets, while now and then it gets others."""
    answers, words, answer = [], [], dut.answer[number]
    wires = (dut.answers[number], answer.tag, answer.resp, dut.write, dut.index, dut.word)
    while len(answers) < count:
        is_blocked = pause()
        ctx.set(dut.blocked[number], is_blocked)
        _, _, comes, tag, resp, write, index, word = await ctx.tick().sample(*wires)
        if not is_blocked:
            answers += [(tag, resp)] if comes else []
            words += [(index, word)] if write else []
    return answers, words


def test_responses_of_writes(simulate, send, receive, memory):
    dut, rng, got, own = AnswerCollector(memory), random.Random(1), [], []
    asked, answers = origins(rng, memory), [rng.randrange(4) for _ in range(40)]
    ours = [one["own"] for one in asked].count(1)

    def pause():
        return rng.random() < 0.3

    async def ask(ctx):
        for one in asked:
            await send(ctx, dut.writes, [one], pause)
            await ctx.tick()

    async def answer(ctx):
        await send(ctx, dut.b, [{"id": 0, "resp": resp} for resp in answers], pause)

    async def sink(ctx):
        got.extend(await receive(ctx, dut.written.head, len(asked) - ours, pause))

    async def manager(ctx):
        own.extend(await watch(ctx, dut, 0, pause, ours))

    simulate(dut, ask, answer, sink, manager)
    due = list(zip(asked, answers, strict=True))
    heads = [dut.written.head.payload.shape().from_bits(bits) for bits in got]
    assert [(head.kind, head.dst, head.tag, head.size) for head in heads] == [
        (MemoryKind.WRITTEN, one["src"], one["tag"], resp) for one, resp in due if not one["own"]
    ]
    assert own == [[(one["tag"], resp) for one, resp in due if one["own"]], []]


def test_data_and_worst_response_of_reads(simulate, send, receive, memory):
    dut, rng, got, own = AnswerCollector(memory), random.Random(2), [], []
    asked = origins(rng, memory)
    parts = [[(rng.getrandbits(32), rng.choice([0, 0, 0, 1, 2, 3])) for _ in range(one["end"] + 1)] for one in asked]
    ours = [one["own"] for one in asked].count(1)

    def pause():
        return rng.random() < 0.3

    async def ask(ctx):
        for one in asked:
            await send(ctx, dut.reads, [one], pause)
            await ctx.tick()

    async def answer(ctx):
        for part in parts:
            beats = [{"id": 0, "data": word, "resp": resp, "last": 0} for word, resp in part]
            await send(ctx, dut.r, [*beats[:-1], {**beats[-1], "last": 1}], pause)

    async def sink(ctx):
        """Take more words than there are: those behind the last one are not taken."""
        for _ in range(len(asked) - ours):
            (bits,) = await receive(ctx, dut.data.head, 1, pause)
            head = dut.data.head.payload.shape().from_bits(bits)
            words = []
            for place in range(memory.payload_flits):
                while pause():
                    await ctx.tick()
                if place <= head.end:
                    words.append(ctx.get(dut.data.data))
                ctx.set(dut.data.take, 1)
                await ctx.tick()
                ctx.set(dut.data.take, 0)
            got.append((head.kind, head.dst, head.tag, head.size, words))

    async def manager(ctx):
        own.extend(await watch(ctx, dut, 1, pause, ours))

    simulate(dut, ask, answer, sink, manager)
    due = [
        (one, max(resp for _, resp in part), [word for word, _ in part]) for one, part in zip(asked, parts, strict=True)
    ]
    assert got == [(MemoryKind.DATA, one["src"], one["tag"], resp, words) for one, resp, words in due if not one["own"]]
    assert own == [
        [(one["tag"], resp) for one, resp, _ in due if one["own"]],
        [pair for one, _, words in due if one["own"] for pair in enumerate(words)],
    ]
