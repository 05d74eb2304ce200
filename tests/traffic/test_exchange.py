"""Who sends to whom in a total exchange, and when: every pair once, and by a timetable nobody waits."""

from itertools import accumulate, permutations

import numpy as np
import pytest

from hdnhw.networks.build import build
from hdnhw.rules.plan import plan
from hdnhw.support.errors import SpecError
from hdnhw.traffic.exchange import broadcast_slots, exchange_circuit, exchange_order, exchange_trace, timetable

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
    order = exchange_order(build(text))
    nodes = len(order)
    pairs = {(source, target) for source, row in enumerate(order.tolist()) for target in row}
    assert pairs == set(permutations(range(nodes), 2))
    assert all(len(set(column)) == nodes for column in order.T.tolist())


@pytest.mark.parametrize("text", [*SYMMETRIC, "hdn(cube(2), [[0], [0]])", "hdn(torus(3, 4), [[0]])"])
def test_nodes_and_offsets_are_a_group(text):
    """The offset x, then y, is one offset for all nodes: that to which x leads if y begins there."""
    network = build(text)
    nodes = network.num_nodes
    number = np.ravel_multi_index(network.decode(np.arange(nodes)), network.radices)  # of a node, its digits in order
    then = np.column_stack([np.arange(nodes), exchange_order(network)])
    as_offset = then[0]  # node 0 and an offset give the node with its digits
    assert number[as_offset].tolist() == list(range(nodes))
    for x in range(nodes):
        for y in range(nodes):
            assert (then[then[:, x], y] == then[:, number[then[as_offset[x], y]]]).all()


def test_a_destination_digit_by_digit():
    network = build("hdn(torus(3, 4), [[0]])")
    circuit, outputs = exchange_circuit(network)
    for node in range(network.num_nodes):
        c, u, b0, b1 = network.decode(node)
        for offset in range(network.num_nodes):
            oc, ou, ob0, ob1 = network.decode(offset)
            inputs = {f"own{place}": digit for place, digit in enumerate((c, u, b0, b1))}
            inputs |= {f"off{place}": digit for place, digit in enumerate((oc, ou, ob0, ob1))}
            cluster, inner = (b1, u) if oc else (u, b1)
            due = [(c + oc) % 2, (cluster + ou) % 4, (b0 + ob0) % 3, (inner + ob1) % 4]
            assert circuit.run(outputs, inputs.__getitem__) == due


@pytest.mark.parametrize("text", SYMMETRIC)
def test_packets_of_one_offset_take_the_same_ports_from_all_nodes(text):
    rule = plan(text).rule
    order = exchange_order(rule.network)
    for column in order.T.tolist():
        words = {tuple(port for _, port, _ in rule.route(source, target)) for source, target in enumerate(column)}
        assert len(words) == 1


@pytest.mark.parametrize("text", [*SYMMETRIC, *OTHERS[1:]])
@pytest.mark.parametrize("least", [1, 3])
def test_by_a_timetable_no_channel_and_no_terminal_is_wanted_twice_in_a_slot(text, least):
    routing = plan(text)
    hop_slots = [least + number % least for number in range(len(routing.network.ports))]
    order = exchange_order(routing.network)
    start, slots = timetable(routing, order, hop_slots=hop_slots)
    wanted = set()
    for source, row in enumerate(order.tolist()):
        for target, slot in zip(row, start[source].tolist(), strict=True):
            hops = routing.rule.route(source, target)
            places = [(node, port) for node, port, _ in hops]
            after = [0, *accumulate(hop_slots[port] for _, port, _ in hops)]
            mine = {(slot, source, "in"), *((slot + own, *place) for own, place in zip(after, places, strict=False))}
            mine.add((last := slot + after[-1], target, "out"))
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


@pytest.mark.parametrize("text", SYMMETRIC)
def test_a_timetable_that_all_nodes_share(text):
    routing = plan(text)
    network, address = routing.network, routing.address
    each = [1] * len(network.ports)
    start, _ = timetable(routing, exchange_order(network), hop_slots=each)
    slots = broadcast_slots(routing, hop_slots=each)
    digits = [address.unpack(offset) for offset in slots]
    numbers = [int(np.ravel_multi_index(digit, network.radices)) for digit in digits]
    assert {number: slot for slot, number in enumerate(numbers) if number} == dict(enumerate(start[0].tolist(), 1))
    assert slots[0]
    assert slots[-1]


@pytest.mark.parametrize("text", ["torus(4, 5)", "mesh(3, 4)", "hdn(cube(1), [[], [0]])"])
def test_no_timetable_is_the_same_at_all_nodes(text):
    with pytest.raises(SpecError, match=r"^no timetable is the same at all nodes of .*, where routes depend on where"):
        broadcast_slots(plan(text), hop_slots=[1] * 9)


def test_a_timetable_for_too_many():
    with pytest.raises(SpecError, match=r"^a timetable is for at most 1024 nodes; cube\(11\) has 2048: use at_once$"):
        broadcast_slots(plan("cube(11)"), hop_slots=[1] * 11)
