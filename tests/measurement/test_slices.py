"""Schedules in slices: every message is moved in the cycles in which the model has moved its packets."""

from itertools import groupby

import numpy as np
import pytest

from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.measurement import slices as sliced
from hdnhw.measurement.collective import measure_steps
from hdnhw.measurement.replay import replay
from hdnhw.measurement.slices import measure_slices, sliced_trace
from hdnhw.model.fabric import model_of
from hdnhw.networks.build import build
from hdnhw.spec import FabricSpec
from tests.specs import fabric_spec

FAR = {"channel_latency": "cross*=40", "channel_width": "cross*=8"}


def follow(schedule, execution, trace, created, tail, words, slices):
    """Move each message of a total exchange; return where those of each slice are in the end.

    What comes counts from the cycle behind that of its tail on, in the order of steps. A message is made when it is
    offered of what its node has, and has to be as long as it was.
    """
    nodes, count = schedule.network.num_nodes, len(trace) // slices
    held = {(part, node): {(node, end) for end in range(nodes)} for part in range(slices) for node in range(nodes)}
    step = np.tile(np.nonzero(execution.sent)[0], slices)
    due = {}
    for number, (target, at) in enumerate(zip(trace.destination.tolist(), step.tolist(), strict=True)):
        due.setdefault((number // count, target), []).append((at, number))
    moved, done = {}, dict.fromkeys(held, 0)
    events = sorted(
        [(cycle, 1, number) for number, cycle in enumerate(created.tolist())]
        + [(cycle + 1, 0, number) for number, cycle in enumerate(tail.tolist())]
    )
    came = set()
    for _, kind, number in events:
        part, source = number // count, int(trace.source[number])
        if not kind:
            came.add(number)
            continue
        place = (part, source)
        for at, earlier in sorted(due.get(place, ()))[done[place] :]:
            if at >= step[number]:
                break
            assert earlier in came, "a node sends before it has what the steps before bring it"
            held[place] |= moved[earlier]
            done[place] += 1
        (port,) = {
            port
            for port in range(execution.sent.shape[2])
            if execution.sent[step[number], source, port]
            and execution.neighbors[source, port] == trace.destination[number]
        }
        moved[number] = {one for one in held[place] if schedule.ports_of(int(step[number]), source, *one) == (port,)}
        share = words // slices + (part < words % slices)
        assert len(moved[number]) * share == trace.flits[number]
        held[place] -= moved[number]
    for place, own in due.items():
        for _, number in sorted(own)[done[place] :]:
            held[place] |= moved[number]
    return held


def test_a_message_waits_for_all_that_its_node_needs():
    run = execute(exchange_schedule(build("hdn(cube(2), [[0]])")))
    trace, step = sliced_trace(run, 4, 4), np.tile(np.nonzero(run.sent)[0], 4)
    part = np.arange(len(trace)) // (len(trace) // 4)
    waits = [set() for _ in trace.source]
    for message in range(len(trace)):
        for later in trace.dependent[trace.first[message] : trace.first[message + 1]].tolist():
            waits[later].add(message)
    for message, found in enumerate(waits):
        here = trace.destination == trace.source[message]
        needed = here & (part == part[message]) & (step < step[message])
        ahead = here & (part == part[message] - sliced.AHEAD) & (step == step[message])
        assert found == set(np.flatnonzero(needed | ahead).tolist())


@pytest.mark.parametrize(("text", "words", "slices"), [("rdn(cube(1), 1)", 20, 3), ("hdn(cube(2), [[0]])", 9, 9)])
def test_messages_arrive_in_slices(text, words, slices):
    network = build(text)
    schedule = exchange_schedule(network)
    run, fabric = execute(schedule), FabricSpec(network=network.spec, **FAR)
    trace = sliced_trace(run, words, slices)
    assert trace.flits.sum() == run.total_words * words
    found = replay(model_of(fabric), trace)
    held = follow(schedule, run, trace, found.created, found.tail, words, slices)
    everyone = range(network.num_nodes)
    assert all(own == {(source, node) for source in everyone} for (_, node), own in held.items())
    assert measure_slices(fabric, run, words=words, slices=slices)["sliced_cycles"] == found.cycles
    early = found.created - 1
    with pytest.raises(AssertionError, match="sends before it has"):
        follow(schedule, run, trace, early, found.tail, words, slices)


def test_a_link_is_busy_while_other_slices_take_other_steps():
    network = build("rdn(cube(2), 1)")
    run, fabric = execute(exchange_schedule(network)), FabricSpec(network=network.spec, buffers=16, **FAR)
    row = measure_slices(fabric, run, words=16, slices=8)
    crossing = sum(
        own
        for own, step in zip(run.words_per_step, exchange_schedule(network).steps, strict=True)
        if "cross" in step.stage
    )
    assert row["lower_bound_cycles"] == crossing * 16 * 4
    assert row["lower_bound_cycles"] < row["sliced_cycles"] < 0.75 * measure_steps(fabric, run, words=16)["cycles"]


def test_no_more_slices_of_a_step_are_under_way_than_said():
    run = execute(exchange_schedule(build("rdn(cube(1), 1)")))
    trace = sliced_trace(run, 8, 8)
    found = replay(model_of(fabric_spec("rdn(cube(1), 1)", **FAR)), trace)
    step = np.tile(np.nonzero(run.sent)[0], 8)
    order = np.lexsort((trace.source, step))
    for _, own in groupby(order.tolist(), key=lambda number: (step[number], trace.source[number])):
        own = list(own)
        back = [
            int(np.flatnonzero((trace.destination == trace.source[n]) & (step == step[n]))[n // (len(trace) // 8)])
            for n in own
        ]
        for first, third in zip(back, own[sliced.AHEAD :], strict=False):
            assert found.created[third] > found.tail[first]
