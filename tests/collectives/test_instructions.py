"""Instructions of register machines, run one node at a time in any order, against sums of all contributions."""

import random
from dataclasses import replace

import numpy as np
import pytest

from hdnhw.collectives.executor import ScheduleError
from hdnhw.collectives.instructions import HOST, Kind, make_register_program
from hdnhw.collectives.operators import operator_of
from hdnhw.collectives.registers import OWN, RESULT, RegisterSchedule, RegisterStep, Update
from hdnhw.collectives.schedule import Builder, Send
from hdnhw.networks.build import build
from hdnhw.rules.arrays import ARRAY_OPERATIONS
from hdnhw.spec import REGISTER_OPERATIONS
from hdnhw.topology.address import AddressLayout

NETWORKS = [
    "cube(3)", "mesh(5)", "torus(5)", "torus(6)", "complete(6)", "product(mesh(3), complete(4))", "rdn(cube(2), 1)",
    "hdn(cube(1), [[], [0]])", "hdn(torus(3), [[0]])", "hsn(2, cube(2))", "dualcube(2)",
]  # fmt: skip


class Nodes:
    """Nodes that each go through the same operations on their own, and packets, which arrive when they are sent."""

    def __init__(self, program, operations, contributions):
        self.program, self.operations = program, operations
        self.network, count = program.network, program.network.num_nodes
        self.combine, self.identity = operator_of("sum", "uint8").combine, np.uint8(0)
        self.given, self.results = contributions, np.zeros_like(contributions)
        digits = np.array([self.network.decode(node) for node in range(count)]).T
        whens = [condition.when for each in program.instructions for condition in (each, *each.sends)]
        terms = {when.index: when for when in whens}
        values = program.circuit.run(terms.values(), lambda name: digits[int(name[3:])], ARRAY_OPERATIONS)
        self.conditions = {index: np.broadcast_to(value, count) for index, value in zip(terms, values, strict=True)}
        self.at = [(0, 0)] * count
        self.values = [{HOST: contributions[0, node]} for node in range(count)]
        self.places, self.waiting = {}, [None] * count

    def step(self, node):
        """Do the next instruction of a node; return whether it could.

        Like an engine, a node goes on while the last combination waits for its packet, up to one that reads or writes.
        """
        operation, place = self.at[node]
        each = self.program.code[self.operations[operation]][place]
        goes = self.conditions[each.when.index][node]
        waiting = self.waiting[node]
        needs_it = goes and waiting is not None and (each.kind is not Kind.SEND or waiting.register == each.register)
        if needs_it and not self.combine_waiting(node, operation % 2):
            return False
        if goes and each.kind is Kind.SEND:
            self._send(node, operation % 2, each)
        if goes and each.kind in (Kind.COMBINE, Kind.WAIT):
            self.waiting[node] = each
        self.at[node] = operation, place + 1
        if each.kind is Kind.GIVE:
            self._end(node, operation, each)
        return True

    def _send(self, node, parity, each):
        (port,) = [send.port for send in each.sends if self.conditions[send.when.index][node]]
        other = self.network.neighbors(node)[self.network.ports[port].name]
        there = (other, parity, each.packet)
        assert there not in self.places, "a packet came before the one that was there was done with"
        self.places[there] = self.values[node][each.register]

    def combine_waiting(self, node, parity):
        """Do what waits; return whether its packet is there."""
        each, values = self.waiting[node], self.values[node]
        packet = self.places.get((node, parity, each.packet))
        if packet is None and (each.kind is Kind.WAIT or each.reads_packet):
            return False
        if each.kind is Kind.COMBINE:
            other = self.identity if each.other is None else values.get(each.other)
            if each.other == HOST:
                del values[HOST]
            if each.reads_packet:
                other = packet
            values[each.register] = other if each.one is None else self.combine(values[each.one], other)
        self.waiting[node] = None
        return True

    def _end(self, node, operation, each):
        self.results[operation, node] = self.values[node][each.register]
        self.at[node] = operation + 1, 0
        came = [there for there in self.places if there[:2] == (node, operation % 2)]
        execution = self.program.executions[self.operations[operation]]
        assert len(came) == (execution.sent * (execution.neighbors == node)).sum(), "a packet may come after the end"
        for there in came:
            del self.places[there]
        if operation + 1 < len(self.operations):
            self.values[node] = {HOST: self.given[operation + 1, node]}

    def run(self, rng, most):
        """Let nodes run in any order, each for up to so many instructions, until all are done."""
        left = list(range(self.network.num_nodes))
        while left:
            rng.shuffle(left)
            before = list(self.at)
            for node in left:
                for _ in range(rng.randint(1, most)):
                    if self.at[node][0] == len(self.operations) or not self.step(node):
                        break
            assert self.at != before, "nodes wait for each other"
            left = [node for node in left if self.at[node][0] < len(self.operations)]


def due(network, operations, given):
    order = np.argsort(AddressLayout(network).of_nodes)
    results = np.zeros_like(given)
    for place, operation in enumerate(operations):
        sums = given[place, order].cumsum(dtype=np.uint8)
        if operation == "exscan":
            sums = sums - given[place, order]
        results[place, order] = sums[-1] if operation == "allreduce-short" else sums
    return results


@pytest.mark.parametrize("text", NETWORKS)
def test_nodes_may_run_ahead_as_far_as_they_can(text):
    network, rng = build(text), random.Random(text)
    program = make_register_program(network, REGISTER_OPERATIONS)
    operations = [*REGISTER_OPERATIONS, rng.choice(REGISTER_OPERATIONS), "scan"]
    given = np.random.default_rng(1).integers(0, 256, (len(operations), network.num_nodes), np.uint8)
    for most in (1 << 20, 3):
        nodes = Nodes(program, operations, given)
        nodes.run(rng, most)
        assert (nodes.results == due(network, operations, given)).all()


def test_what_is_not_sent_next_is_combined_while_packets_are_under_way():
    code = make_register_program(build("cube(2)"), ["scan"]).code["scan"]
    kinds = [(each.kind.name, each.register) for each in code]
    first, second = (place for place, kind in enumerate(kinds) if kind[0] == "SEND")
    assert ("COMBINE", "total") in kinds[first:second]
    assert kinds[second + 1] == ("COMBINE", RESULT)
    assert kinds[-1] == ("GIVE", RESULT)


def written(code):
    return [each.register for each in code if each.kind is Kind.COMBINE]


def test_what_is_not_read_is_not_made_and_what_is_copied_is_made_where_it_belongs():
    codes = make_register_program(build("hsn(2, cube(2))"), REGISTER_OPERATIONS).code
    assert written(codes["allreduce-short"])[-2:] == ["total2", RESULT]
    for code in codes.values():
        for place, each in enumerate(code):
            readers = [
                later for later in code[place + 1 :] if each.register in (later.one, later.other, later.register)
            ]
            assert each.kind is not Kind.COMBINE or readers


def test_ports_of_a_step_are_one_instruction():
    code = make_register_program(build("torus(8)"), ["allreduce-short"]).code["allreduce-short"]
    assert [len(each.sends) for each in code if each.kind is Kind.SEND] == [2] * 4


def handmade(*steps, start=(("result", (OWN,)),)):
    """Return a schedule on two nodes from (registers, updates) of each step."""
    builder = Builder(build("cube(1)"), all_port=False)
    one = builder.circuit.constant(1)

    def updates(some):
        return tuple(Update(register, terms, one) for register, terms in some)

    made = tuple(RegisterStep("dim0", (Send(0, one),), sent, updates(some)) for sent, some in steps)
    return RegisterSchedule(builder.network, "test", builder.circuit, updates(start), made)


@pytest.mark.parametrize(
    ("start", "sent", "registers"),
    [
        ([("result", (OWN,))], "result", ("result",)),
        ([("total", (OWN,)), ("result", (OWN,))], "total", ("total", "result")),
        ([("result", (OWN,))], OWN, (OWN, "result")),
        ([("total", (OWN,)), ("total", ("total", "total")), ("result", (OWN,))], "total", (OWN, "total", "result")),
    ],
)
def test_the_own_vector_is_taken_from_the_host_once(start, sent, registers, monkeypatch):
    schedule = handmade(((sent,), [("result", ("result", f"in.{sent}"))]), start=start)
    monkeypatch.setattr("hdnhw.collectives.instructions.register_schedule", lambda *_: schedule)
    program = make_register_program(schedule.network, ["allreduce-short"])
    given = np.array([[[3], [5]]], np.uint8)
    nodes = Nodes(program, ["allreduce-short"], given)
    nodes.run(random.Random(1), 3)
    twice = 2 if start[1:2] == [("total", ("total", "total"))] else 1
    assert nodes.results[0, :, 0].tolist() == [3 + 5 * twice, 5 + 3 * twice]
    assert program.registers == registers


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            [((OWN,), []), (("result",), [("result", ("in.own",))])],
            "test reads in.own in a step in which it does not come",
        ),
        ([((OWN,), [("result", ("result",) * 3)])], "an update of result reads it more than twice"),
    ],
)
def test_what_cannot_be_instructions(steps, message, monkeypatch):
    schedule = handmade(*steps)
    monkeypatch.setattr("hdnhw.collectives.instructions.register_schedule", lambda *_: schedule)
    with pytest.raises(ScheduleError, match=f"^{message}$"):
        make_register_program(schedule.network, ["scan"])


def test_a_node_that_could_be_two_operations_ahead_is_refused(monkeypatch):
    schedule = handmade(((OWN,), [("result", ("result", "in.own"))]))
    (step,) = schedule.steps
    zero = schedule.circuit.input("own0", 2).eq(schedule.circuit.constant(0))
    one_way = replace(schedule, steps=(replace(step, sends=(Send(0, zero),)),))
    monkeypatch.setattr("hdnhw.collectives.instructions.register_schedule", lambda *_: one_way)
    with pytest.raises(ScheduleError, match=r"^scan: a node may end before one that it sends to has begun$"):
        make_register_program(schedule.network, ["scan"])
