"""What an engine must know of its steps, beside what the executor counts and what a search finds."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from hdnhw.collectives.program import Program, make_program
from hdnhw.collectives.spread import allgather_schedule
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.networks.build import build
from hdnhw.spec import OPERATIONS


@pytest.mark.parametrize(
    ("text", "gaps"),
    [("cube(3)", False), ("rdn(cube(2), 1)", False), ("torus(3)", False), ("hsn(2, cube(2))", True), ("mesh(3)", True)],
)
def test_words_of_steps_and_nodes_without_a_part(text, gaps):
    program = make_program(build(text), CollectiveSpec(operations=OPERATIONS))
    steps = [{send.step for send in program.sends if send.operation == place} for place in range(len(OPERATIONS))]
    for operation, own in zip(OPERATIONS, steps, strict=True):
        assert sum(program.words_per_step[step] for step in own) == program.cost_of(operation).words
    assert len(program.words_per_step) == sum(map(len, steps))
    nodes = range(program.network.num_nodes)
    ports = {port for link in program.links for port in link.ports}
    assert gaps == any(ports - _ports(program.network, node) for node in nodes)
    assert program.has_gaps == gaps


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("torus(4)", {"pairs0", "pairs1"}),
        ("torus(4, 6)", {"pairs0", "pairs1", "pairs2", "pairs3"}),
        ("hdn(torus(4), [[0]])", {"pairs0", "pairs1", "cross1"}),
        ("cube(3)", {"dim0", "dim1", "dim2"}),
        ("torus(5)", {"dim0_plus", "dim0_minus"}),
        ("mesh(3)", {"dim0_plus", "dim0_minus"}),
    ],
)
def test_nodes_of_even_cycles_exchange_in_pairs(text, names):
    """Whom a node sends to is read of the schedule, by its conditions on each message."""
    network = build(text)
    nodes = range(network.num_nodes)
    program = make_program(network, CollectiveSpec(operations=("allreduce",)))
    assert {link.name for link in program.links} == names
    steps = [(schedule, step) for schedule in program.phases for step in range(len(schedule.steps))]
    for send in program.sends:
        schedule, step = steps[send.step]
        for node in nodes:
            ports = {port for other in nodes for port in schedule.ports_of(step, node, other, other)}
            there = {network.neighbors(node)[network.ports[port].name] for port in ports if port in send.link.ports}
            if send.link.name.startswith("pairs"):
                assert there == {program.behind[send.link.name][node]}
                assert program.behind[send.link.back][there.pop()] == node
                assert {program.port_of(send.link, node)} == ports
            else:
                assert not there or there == {program.behind[send.link.name][node]}


@pytest.mark.parametrize(
    ("ports", "names"),
    [
        ((0, 1, 0, 1), {"pairs0"}),
        ((0, 0, 0, 0), {"dim0_plus", "dim0_minus"}),  # each to the next one, and none back
        ((None, 1, 0, 1), {"dim0_plus", "dim0_minus"}),  # one that sends nothing
    ],
)
def test_a_step_is_one_of_pairs_only_if_every_node_gets_from_the_one_that_it_sends_to(ports, names):
    network = build("torus(4)")
    whole = allgather_schedule(network)
    sent = np.array([[int(port == one) for one in range(2)] for port in ports])
    schedules = {"allgather": (replace(whole, steps=whole.steps[:1]),)}
    program = Program(network, schedules, {"allgather": (SimpleNamespace(sent=sent[np.newaxis]),)})
    assert {link.name for link in program.links} == names
    assert len(program.sends) == len(names)


def _ports(network, node):
    """Return the ports by which a node has a neighbor."""
    names = [port.name for port in network.ports]
    return {names.index(name) for name in network.neighbors(node)}
