"""Replays against runs in one piece of the packets that the messages became, offered when they say they were."""

from functools import cache
from itertools import permutations

import numpy as np
import pytest

from hdnhw.machine.machine import make_machine
from hdnhw.measurement.replay import measure_exchange, measure_trace, offered_rate, replay
from hdnhw.model.fabric import FabricModel
from hdnhw.support.errors import SpecError
from hdnhw.traffic.exchange import exchange_order
from hdnhw.traffic.packets import Traffic
from hdnhw.traffic.trace import Trace
from tests.specs import fabric_spec

NODES = 32


@cache
def model_of(length):
    return FabricModel(make_machine(fabric_spec("rdn(cube(2), 1)", packet_length=length)))


def trace_of(messages, dependencies=()):
    """Make a trace of (cycle, source, destination, flits) and pairs of messages, the later of which waits."""
    cycle, source, destination, flits = np.array(messages).T
    pairs = sorted(dependencies)
    first = np.searchsorted([earlier for earlier, _ in pairs], np.arange(len(messages) + 1))
    return Trace("text", cycle, source, destination, flits, first, np.array([later for _, later in pairs], dtype=int))


def run_at_once(model, messages, created):
    """Return (head, tail) of messages created in these cycles: their packets run from reset without a pause."""
    own = [[] for _ in range(NODES)]
    for message in sorted(range(len(messages)), key=lambda message: (created[message], message)):
        _, source, destination, flits = messages[message]
        for _ in range(0, flits, model.timing.packet_length):
            own[source].append((message, (int(model.plan.address.of_node(destination)), created[message])))
    result = model.run(Traffic.from_lists([[packet for _, packet in packets] for packets in own]), max_cycles=1 << 20)
    message_of = [message for packets in own for message, _ in packets]
    head, tail = {}, {}
    for packet, message in enumerate(message_of):
        head.setdefault(message, int(result.head_cycle[packet]))
    for packet, cycle in zip(result.packet.tolist(), result.cycle.tolist(), strict=True):
        tail[message_of[packet]] = cycle
    return [head[message] for message in range(len(messages))], [tail[message] for message in range(len(messages))]


def random_messages(count, spread, seed):
    rng = np.random.default_rng(seed)
    columns = (rng.integers(0, high, count) for high in (spread, NODES, NODES, 20))
    return [(cycle, source, destination, flits + 1) for cycle, source, destination, flits in zip(*columns, strict=True)]


@pytest.mark.parametrize("end", [0, 1])
def test_a_run_ends_behind_its_last_tail_at_routers_whose_slots_begin_half_a_slot_before_others_too(end):
    machine = make_machine(fabric_spec("cube(3)", buffers=2, switching="cut-through"))
    for cycle in range(machine.timing.packet_length):
        run = replay(FabricModel(machine), trace_of([(cycle, 1 - end, end, 1)]))
        assert run.cycles == run.tail[0] + 1


@pytest.mark.parametrize("length", [1, 4, 8])
@pytest.mark.parametrize("spread", [1, 60, 100_000])
def test_messages_without_dependencies(length, spread):
    model, messages = model_of(length), random_messages(150, spread, seed=length)
    run = replay(model, trace_of(messages))
    created = [cycle for cycle, *_ in messages]
    assert run.created.tolist() == created
    head, tail = run_at_once(model, messages, created)
    assert (run.head.tolist(), run.tail.tolist()) == (head, tail)
    assert run.packets.tolist() == [-(-flits // length) for *_, flits in messages]
    assert run.cycles == max(tail) + 1
    assert run.taken == run.packets.sum()
    assert run.hops.tolist() == [len(model.plan.rule.route(int(src), int(dst))) for _, src, dst, _ in messages]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 9, 16])
@pytest.mark.parametrize("spread", [30, 3000])
def test_messages_wait_for_others_to_the_cycle(length, spread):
    model, rng = model_of(length), np.random.default_rng(length)
    messages = random_messages(200, spread, seed=spread)
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, 200, (300, 2)).tolist() if pair[0] != pair[1]}
    run = replay(model, trace_of(messages, pairs))
    expected = [cycle for cycle, *_ in messages]
    for earlier, later in pairs:
        expected[later] = max(expected[later], int(run.tail[earlier]) + 1)
    assert run.created.tolist() == expected
    assert sum(created > cycle for created, (cycle, *_) in zip(expected, messages, strict=True)) > 50
    assert (run.head.tolist(), run.tail.tolist()) == run_at_once(model, messages, expected)


@pytest.mark.parametrize("length", [1, 4, 8])
def test_an_answer_to_an_empty_fabric(length):
    """A request of a flit, sent in cycle 5, and an answer of 9 flits that may not be sent before cycle 1."""
    timing = model_of(length).timing
    run = replay(model_of(length), trace_of([(5, 0, 1, 1), (1, 1, 0, 9)], [(0, 1)]))
    tail = 5 + timing.zero_load_latency(1, 5 % length)
    assert (run.tail[0], run.created[1], run.head[1]) == (tail, tail + 1, tail + 1)


@pytest.mark.parametrize("pairs", [(), [(index, index + 40) for index in range(40)]])
def test_a_limit_ends_a_run(pairs):
    messages = random_messages(80, 400, seed=2)
    whole = replay(model_of(4), trace_of(messages, pairs))
    for limit in (1, 150, 399, whole.cycles - 1, whole.cycles, whole.cycles + 50):
        run = replay(model_of(4), trace_of(messages, pairs), limit=limit)
        assert run.created.tolist() == np.where(whole.created < limit, whole.created, -1).tolist()
        assert run.tail.tolist() == np.where(whole.tail < limit, whole.tail, -1).tolist()
        assert run.cycles == min(limit, whole.cycles)


def test_what_is_reported(tmp_path):
    path = tmp_path / "two.txt"
    path.write_text("10 0 1 9\n10 0 0 1 # to itself\n")
    row = measure_trace(fabric_spec("complete(2)", packet_length=4), path, cycles=None)
    assert (row["format"], row["dependencies"], row["complete"]) == ("text", "none", True)
    assert (row["created"], row["packets"], row["delivered"], row["mean_hops"]) == (2, 4, 2, 0.5)
    assert row["payload_share"] == 10 / 16
    assert row["accepted_rate"] == round(16 / 2 / (row["cycles"] - 10), 6)
    assert row["offered_rate"] == round(16 / 2 / 16, 6)
    assert row["packet_latency"]["max"] == row["cycles"] - 1 - 10
    cut = measure_trace(fabric_spec("complete(2)", packet_length=4), path, cycles=5)
    assert (cut["cycles"], cut["complete"], cut["created"], cut["packets"], cut["delivered"]) == (5, False, 0, 0, 0)
    assert cut["payload_share"] is cut["packet_latency"] is cut["mean_hops"] is cut["offered_rate"] is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("count", "spread", "limit"), [(60, 10, 10**6), (60, 3000, 10**6), (40, 3000, 1500)])
def test_what_is_offered_is_what_terminals_could_send(seed, count, spread, limit):
    """Terminals that are simulated cycle by cycle, and send a flit whenever one has some."""
    trace = trace_of(random_messages(count, spread, seed=seed), [(0, 1)])
    left, sent, cycle, last = np.zeros(NODES, int), 0, 0, 0
    while cycle < min(spread + 1, limit) or left.any():
        for message in np.flatnonzero((trace.cycle == cycle) & (trace.cycle < limit)):
            left[trace.source[message]] += -(-trace.flits[message] // 4) * 4
        sent, last = sent + np.count_nonzero(left), cycle if left.any() else last
        left, cycle = np.maximum(left - 1, 0), cycle + 1
    rate = offered_rate(trace, nodes=NODES, packet_length=4, limit=limit)
    assert rate == pytest.approx(sent / (NODES * (last + 1 - trace.cycle.min())))
    assert rate <= 1


def test_a_total_exchange_offers_all_that_terminals_can_send():
    row = measure_exchange(fabric_spec("cube(3)"), cycles=None)
    assert row["offered_rate"] == 1
    assert row["accepted_rate"] < 1


@pytest.mark.parametrize("limit", [0, -1, 1 << 31])
def test_limits_that_cannot_be(limit):
    with pytest.raises(SpecError, match=f"^cycles must be 1 to 2147483647, not {limit}$"):
        replay(model_of(4), trace_of([(0, 0, 1, 1)]), limit=limit)


def test_too_many_packets():
    with pytest.raises(SpecError, match=r"^a trace must have at most 134217728 packets, not 135266304$"):
        replay(model_of(1), trace_of([(0, 0, 1, 1 << 20)] * 129))


@pytest.mark.parametrize("length", [1, 8])
def test_a_total_exchange(length):
    pairs = [
        (source, target)
        for source, row in enumerate(exchange_order(model_of(length).plan.network).tolist())
        for target in row
    ]
    assert sorted(pairs) == list(permutations(range(NODES), 2))
    messages = [(0, source, target, length) for source, target in pairs]
    model = model_of(length)
    _, tail = run_at_once(model, messages, [0] * len(messages))
    row = measure_exchange(fabric_spec("rdn(cube(2), 1)", packet_length=length), cycles=None)
    assert (row["complete"], row["delivered"], row["cycles"]) == (True, len(pairs), max(tail) + 1)
    assert row["packet_latency"]["mean"] == pytest.approx(np.mean(tail), abs=1e-4)


def test_a_total_exchange_of_too_many():
    with pytest.raises(SpecError, match=r"^a total exchange is among 2 to 8192 nodes; cube\(14\) has 16384$"):
        measure_exchange(fabric_spec("cube(14)"), cycles=None)
