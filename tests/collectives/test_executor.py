"""The executor: what it refuses and what it counts."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import ScheduleError, execute
from hdnhw.collectives.operations import operation_schedule
from hdnhw.collectives.schedule import Builder, Send, Step
from hdnhw.collectives.spread import broadcast_schedule
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import neighbor_table


def schedule_of(text, steps, *, copies=False, root=None):
    """Return a schedule; `steps` takes a builder and returns a list of (port, condition) for each step."""
    maker = Builder(build(text), all_port=True)
    made = [Step("step", tuple(Send(*send) for send in sends)) for sends in steps(maker)]
    return maker.schedule("test", made, copies=copies, root=root)


def test_a_message_that_stays_on_its_way():
    with pytest.raises(
        ScheduleError, match=r"^step 1 of test on cube\(2\): node 0 holds a message in the end that is for"
    ):
        execute(schedule_of("cube(2)", lambda maker: [[(1, ~maker.own[1].eq(maker.dst[1]))], []]))


def test_a_message_over_two_ports():
    with pytest.raises(ScheduleError, match=r"^step 0 of test on cube\(2\): node 0 sends one message over two ports$"):
        execute(
            schedule_of("cube(2)", lambda maker: [[(port, maker.circuit.constant(1)) for port in (0, 1)]]),
            all_port=True,
        )


def test_a_message_over_two_ports_of_many():
    """Conditions of a step are asked for in several programs, of which each has some of the sends."""
    ports = [2, 35]
    schedule = schedule_of(
        "complete(40)",
        lambda maker: [[(port, maker.circuit.constant(int(port in ports))) for port in range(39)]],
    )
    with pytest.raises(
        ScheduleError, match=r"^step 0 of test on complete\(40\): node 0 sends one message over two ports$"
    ):
        execute(schedule, all_port=True)


def test_a_step_of_many_sends():
    counted = execute(exchange_schedule(build("complete(40)"), all_port=True), all_port=True)
    assert (counted.words_per_step, counted.total_words, counted.links_used) == ((1,), 40 * 39, 40 * 39 // 2)


@pytest.mark.parametrize("operation", ["exchange", "allgather"])
@pytest.mark.parametrize("text", ["hdn(cube(2), [[0, 1]])", "torus(3, 4)", "rdn(torus(3), 1)"])
def test_it_counts_what_the_circuit_says(text, operation):
    """Conditions interpreted for one message after the other, which is sent by the nodes that hold it."""
    schedule = operation_schedule(build(text), operation)
    table, counted = neighbor_table(schedule.network), execute(schedule)
    sent, nodes = np.zeros_like(counted.sent), range(len(table))
    for source, target in product(nodes, [0] if schedule.copies else nodes):
        holders = {source}
        for step in range(len(schedule.steps)):
            sends = [(node, port) for node in holders for port in schedule.ports_of(step, node, source, target)]
            for node, port in sends:
                sent[step, node, port] += 1
            if not schedule.copies:
                holders -= {node for node, _ in sends}
            holders |= {int(table[send]) for send in sends}
    assert (sent == counted.sent).all()


def test_a_port_that_is_not_there():
    with pytest.raises(ScheduleError, match=r"^step 0 of test on mesh\(3\): node 2 sends over a port that it does not"):
        execute(schedule_of("mesh(3)", lambda maker: [[(0, maker.circuit.constant(1))]], root=2))


def test_a_copy_that_is_not_there():
    def steps(maker):
        return [[(0, maker.own[1])], [(1, maker.circuit.constant(1))]]

    with pytest.raises(ScheduleError, match=r"node 1 has to send a message that it does not hold$"):
        execute(schedule_of("cube(2)", steps, copies=True, root=0))


def test_a_copy_that_comes_in_the_same_step():
    def steps(maker):
        return [[(1, ~maker.own[0] & ~maker.own[1]), (0, ~maker.own[0] & maker.own[1])]]

    with pytest.raises(ScheduleError, match=r"^step 0 .*: node 1 has to send a message that it does not hold$"):
        execute(schedule_of("cube(2)", steps, copies=True, root=0), all_port=True)


def test_two_copies_in_one_step_are_a_repeat():
    def steps(maker):
        one, other = maker.own[0], maker.own[1]
        return [[(0, ~one & ~other), (1, ~one & ~other)], [(0, ~one & other), (1, one & ~other)]]

    counted = execute(schedule_of("cube(2)", steps, copies=True, root=0), all_port=True)
    assert (counted.repeats, counted.total_words) == (1, 4)


@pytest.mark.parametrize(
    ("ports", "fault"),
    [
        ({3: [0], 1: [1]}, "node 1 gets a contribution for a result that it has given away"),
        ({3: [0, 1]}, "node 3 has to send a message that it does not hold"),
    ],
)
def test_a_result_is_given_away_once(ports, fault):
    """Node 3 gives its part to node 1 in the step in which that gives its own away, or to two nodes."""

    def steps(maker):
        def at(node):
            return maker.circuit.all_of(
                digit.eq(maker.circuit.constant(bit))
                for digit, bit in zip(maker.own.values(), divmod(node, 2), strict=True)
            )

        return [[(port, at(node)) for node, own in ports.items() for port in own]]

    schedule = replace(schedule_of("cube(2)", steps, root=0), combines=True, to_root=True)
    with pytest.raises(ScheduleError, match=f"^step 0 .*: {fault}$"):
        execute(schedule, all_port=True)


def test_a_node_without_the_message():
    with pytest.raises(
        ScheduleError, match=r"node 2 holds a message in the end that is for another node, or lacks one$"
    ):
        execute(schedule_of("cube(2)", lambda maker: [[(1, ~maker.own[0] & ~maker.own[1])]], copies=True, root=0))


def test_two_ports_at_once_are_for_all_ports():
    schedule = exchange_schedule(build("complete(4)"), all_port=True)
    with pytest.raises(ScheduleError, match=r"^step 0 of cluster-first on complete\(4\): node 0 sends over 3 ports$"):
        execute(schedule)
    assert execute(schedule, all_port=True).words_per_step == (1,)


def test_two_ports_to_receive_are_for_all_ports():
    def steps(maker):
        def at(digits, node):
            return digits[0].eq(maker.circuit.constant(node % 3))

        return [
            [(port, at(maker.dst, node) & at(maker.own, node + by)) for port, by in ((0, -1), (1, 1))]
            for node in range(3)
        ]

    schedule = schedule_of("torus(3)", steps)
    with pytest.raises(ScheduleError, match=r"^step 0 of test on torus\(3\): node 0 receives over 2 ports$"):
        execute(schedule)
    assert execute(schedule, all_port=True).words == 3


def test_a_port_twice_in_a_step():
    with pytest.raises(ValueError, match=r"^ports of a step must be distinct, not \[0, 0\]$"):
        schedule_of("cube(1)", lambda maker: [[(0, maker.dst[0]), (0, maker.own[0])]])


def test_too_many_nodes():
    with pytest.raises(SpecError, match=r"^a collective operation is among 2 to 32768 nodes; cube\(16\) has 65536$"):
        execute(broadcast_schedule(build("cube(16)")))


def test_what_is_counted():
    counted = execute(exchange_schedule(build("torus(4)")))
    assert (counted.startups, counted.nonempty_startups, counted.words_per_step) == (2, 2, (2, 2))
    assert (counted.words, counted.total_words, counted.links_used, counted.messages) == (4, 16, 4, 16)
    assert counted.sent.shape == (2, 4, 2)


def test_a_sample_of_the_sources():
    schedule = exchange_schedule(build("rdn(cube(2), 1)"), "paper")
    whole, part = execute(schedule), execute(schedule, sources=[0, 7])
    assert (part.messages, part.total_words * 16) == (64, whole.total_words)
