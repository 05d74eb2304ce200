"""Reduce, reduce-scatter and gather: messages moved by conditions read node by node, and broken schedules refused."""

from dataclasses import replace

import pytest

from hdnhw.collectives.executor import ScheduleError, execute
from hdnhw.collectives.operations import BACKWARDS, operation_schedule
from hdnhw.networks.build import build
from hdnhw.networks.families.dualnets import dualcube, hdn, rdn
from hdnhw.networks.families.swapped import hsn
from hdnhw.spec import complete, cube, ghc, mesh, torus

SPECS = [
    *(torus(*sizes) for sizes in [(3,), (4,), (5, 2)]),
    *(mesh(*sizes) for sizes in [(3,), (4, 3)]),
    *(complete(3), ghc(3, 4), dualcube(2), dualcube(3)),
    *(rdn(base, 1) for base in (cube(2), torus(3))),
    *(hdn(cube(2), [levels]) for levels in ([0], [0, 1])),
    hdn(cube(1), [[], [0]]),
    *(hsn(2, nucleus) for nucleus in (cube(2), complete(3), torus(5))),
    hsn(2, torus(6), top=3),
]

PAIR = ("multicast", "broadcast")


def neighbor(network, node, port):
    return network.neighbors(node)[network.ports[port].name]


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("all_port", [False, True])
def test_every_contribution_comes_once_to_where_it_is_combined(spec, all_port):
    network = build(spec)
    nodes = network.num_nodes
    for name, target in (("reduce", nodes // 3), ("reducescatter", nodes // 3), ("reducescatter", nodes - 1)):
        schedule = operation_schedule(network, name, root=target, all_port=all_port)
        parts = {node: [node] for node in range(nodes)}
        for step in range(len(schedule.steps)):
            sends = [(node, schedule.ports_of(step, node, 0, target)) for node in range(nodes)]
            leaving = {node: (parts.pop(node), port) for node, ports in sends for port in ports}
            for node, (some, port) in leaving.items():
                parts[neighbor(network, node, port)] += some
        assert list(parts) == [target]
        assert sorted(parts[target]) == list(range(nodes))


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("all_port", [False, True])
def test_every_message_is_gathered_at_the_root(spec, all_port):
    network = build(spec)
    root = network.num_nodes // 3
    schedule = operation_schedule(network, "gather", root=root, all_port=all_port)
    for source in range(network.num_nodes):
        node = source
        for step in range(len(schedule.steps)):
            for port in schedule.ports_of(step, node, source, root):
                node = neighbor(network, node, port)
        assert node == root


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("name", BACKWARDS)
def test_it_costs_what_the_operation_costs_that_it_is_backwards(spec, name):
    network = build(spec)
    root = network.num_nodes // 2
    back, forth = (execute(operation_schedule(network, which, root=root)) for which in (name, BACKWARDS[name]))
    assert back.words_per_step == forth.words_per_step[::-1]
    assert back.total_words == forth.total_words
    assert back.messages == forth.messages


def broken(text, name, change):
    schedule = operation_schedule(build(text), name)
    return replace(schedule, steps=change(schedule.steps))


@pytest.mark.parametrize("name", BACKWARDS)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda steps: steps[1:], id="a step left out"),
        pytest.param(lambda steps: steps[:-1], id="the last step left out"),
        pytest.param(lambda steps: (*steps[:1], *steps), id="a step twice"),
        pytest.param(lambda steps: steps[::-1], id="another order"),
    ],
)
def test_a_contribution_that_is_lost_doubled_or_misordered_is_found(name, change):
    with pytest.raises(ScheduleError, match="step"):
        execute(broken("rdn(cube(2), 1)", name, change))


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("all_port", [False, True])
def test_a_multicast_brings_the_message_to_its_targets_over_edges_of_the_broadcast(spec, all_port):
    network = build(spec)
    nodes, root = network.num_nodes, network.num_nodes // 3
    schedule, broadcast = (operation_schedule(network, name, root=root, all_port=all_port) for name in PAIR)
    for target in {0, nodes // 2, nodes - 1}:
        node = root
        for step in range(len(schedule.steps)):
            for port in schedule.ports_of(step, node, root, target):
                assert broadcast.ports_of(step, node, root, target) == (port,) or all_port
                node = neighbor(network, node, port)
        assert node == target
    every, spread = (execute(one, all_port=all_port) for one in (schedule, broadcast))
    assert (every.sent == spread.sent).all()
    some = execute(schedule, all_port=all_port, targets=[nodes - 1, 0])
    assert (some.sent <= spread.sent).all()
    assert some.messages == 2
