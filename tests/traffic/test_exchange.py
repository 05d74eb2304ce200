"""Who sends to whom in a total exchange, and when: every pair once, and by a timetable nobody waits."""

from itertools import permutations

import numpy as np
import pytest

from hdnhw.routing.plan import plan
from hdnhw.spec import parse
from hdnhw.topology.network import build
from hdnhw.traffic.exchange import exchange_order, exchange_trace, timetable

SYMMETRIC = ["rdn(cube(2), 1)", "hdn(cube(3), [[2]])", "cube(4)", "ghc(3, 4)", "rdn(complete(3), 1)", "dualcube(3)"]
OTHERS = [
    "hdn(cube(2), [[0], [0, 1]])",
    "hdn(torus(3, 4), [[0]])",
    "torus(4, 5)",
    "mesh(3, 4)",
    "hdn(cube(1), [[], [0]])",
    "hsn(2, cube(2))",
    "star(4)",
    "ccc(3)",
]


@pytest.mark.parametrize("text", [*SYMMETRIC, *OTHERS])
def test_every_node_sends_to_every_other_and_one_offset_is_a_permutation(text):
    order = exchange_order(build(parse(text)))
    nodes = len(order)
    pairs = {(source, target) for source, row in enumerate(order.tolist()) for target in row}
    assert pairs == set(permutations(range(nodes), 2))
    assert all(len(set(column)) == nodes for column in order.T.tolist())


@pytest.mark.parametrize("text", SYMMETRIC)
def test_packets_of_one_offset_take_the_same_ports_from_all_nodes(text):
    rule = plan(parse(text)).rule
    order = exchange_order(rule.network)
    for column in order.T.tolist():
        words = {tuple(port for _, port, _ in rule.route(source, target)) for source, target in enumerate(column)}
        assert len(words) == 1


@pytest.mark.parametrize("text", [*SYMMETRIC, *OTHERS[1:]])
@pytest.mark.parametrize("hop_slots", [1, 3])
def test_by_a_timetable_no_channel_and_no_terminal_is_wanted_twice_in_a_slot(text, hop_slots):
    routing = plan(parse(text))
    order = exchange_order(routing.network)
    start, slots = timetable(routing, order, hop_slots=hop_slots)
    wanted = set()
    for source, row in enumerate(order.tolist()):
        for target, slot in zip(row, start[source].tolist(), strict=True):
            hops = routing.rule.route(source, target)
            places = [(node, port) for node, port, _ in hops]
            mine = {(slot, source, "in"), *((slot + hop * hop_slots, *place) for hop, place in enumerate(places))}
            mine.add((last := slot + len(hops) * hop_slots, target, "out"))
            assert wanted.isdisjoint(mine)
            assert len(mine) == len(hops) + 2
            assert last < slots
            wanted |= mine
    if text in SYMMETRIC:
        assert (start == start[0]).all()


def test_a_trace_has_the_messages_of_a_node_in_the_order_of_their_starts():
    order, start = np.array([[1, 2], [0, 2], [0, 1]]), np.array([[4, 0], [0, 4], [0, 0]])
    trace = exchange_trace(order, 5, start)
    assert trace.source.tolist() == [0, 0, 1, 1, 2, 2]
    assert trace.destination.tolist() == [2, 1, 0, 2, 0, 1]
    assert trace.cycle.tolist() == [0, 4, 0, 4, 0, 0]
    assert (trace.form, trace.flits.tolist(), len(trace.dependent)) == ("exchange", [5] * 6, 0)
    assert exchange_trace(order, 5).cycle.tolist() == [0] * 6
