"""What nodes hear of members in a join, played node by node, beside what the executor counts of a multicast."""

import random

import numpy as np
import pytest

from hdnhw.collectives.executor import execute
from hdnhw.collectives.operations import operation_schedule
from hdnhw.collectives.program import make_program
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.networks.build import build
from hdnhw.spec import JOIN, MULTICAST, OPERATIONS

TEXTS = [
    *("torus(5)", "torus(3, 3)", "torus(4, 6)", "mesh(4, 3)", "ghc(3, 4)", "complete(7)", "dualcube(3)"),
    *("rdn(cube(2), 1)", "rdn(torus(3), 1)", "hdn(cube(2), [[0]])", "hdn(cube(1), [[], [0]])"),
    *("hsn(2, cube(2))", "hsn(3, cube(1))", "hsn(2, torus(6), top=3)", "product(mesh(3), complete(4))"),
]


def program_of(text, *, root=0, operations=(MULTICAST,)):
    return make_program(build(text), CollectiveSpec(operations=operations, root=root))


def ports_of(program, send, node):
    """Return the ports by which a node goes in a send, as the schedule has it, if it holds the root's message."""
    first = program.sends[program.numbers_of(send.operation)[0]].step
    root = send.schedule.root
    return set(send.link.ports) & set(send.schedule.ports_of(send.step - first, node, root, node))


def play(program, members):
    """Return for each send of the multicast which nodes use it for a group, after a join step by step."""
    nodes = range(program.network.num_nodes)
    join, multicast = (program.numbers_of(program.operations.index(name)) for name in (JOIN, MULTICAST))
    joined = [node in members for node in nodes]
    uses = {number: set() for number in multicast}
    for step in sorted({program.sends[number].step for number in join}):
        before = list(joined)
        for number in program.numbers_of_step(step):
            (there,) = (one for one, told in zip(multicast, program.told_by, strict=True) if told == number)
            behind = program.behind[program.sends[there].link.name]
            for node in nodes:
                if behind[node] >= 0 and before[behind[node]] and ports_of(program, program.sends[there], node):
                    uses[there].add(node)
                    joined[node] = True
    return uses


@pytest.mark.parametrize("text", TEXTS)
def test_a_node_hears_in_time_of_all_members_behind_its_sends(text):
    rng = random.Random(text)
    nodes = build(text).num_nodes
    program = program_of(text, root=nodes // 3)
    groups = [[], list(range(nodes)), [nodes // 3], *(rng.sample(range(nodes), rng.randint(1, 4)) for _ in range(4))]
    schedule = operation_schedule(program.network, MULTICAST, root=nodes // 3)
    first = program.sends[program.numbers_of(program.operations.index(MULTICAST))[0]].step
    for group in groups:
        used = np.zeros_like(program.sent_in(MULTICAST))
        for number, senders in play(program, group).items():
            send = program.sends[number]
            for node in senders:
                used[send.step - first, node, program.port_of(send.link, node)] += 1
        assert (used == execute(schedule, targets=group).sent).all()


@pytest.mark.parametrize("text", TEXTS)
def test_a_join_goes_the_edges_of_a_multicast_backwards_and_moves_nothing(text):
    program = program_of(text, root=1)
    join, multicast = (program.numbers_of(program.operations.index(name)) for name in (JOIN, MULTICAST))
    assert sorted(program.told_by) == list(join)
    steps = [program.sends[numbers[0]].step for numbers in (join, multicast)]
    for number, told in zip(multicast, program.told_by, strict=True):
        there, back = program.sends[number], program.sends[told]
        assert (back.link.name, back.link.back) == (there.link.back, there.link.name)
        assert there.step - steps[1] + back.step - steps[0] == len(program.packets_of(JOIN)) - 1
        for node in range(program.network.num_nodes):
            neighbor = program.behind[there.link.name][node]
            goes = bool(ports_of(program, there, node))
            assert goes == (neighbor >= 0 and bool(ports_of(program, back, neighbor)))
    assert not program.sent_in(JOIN).any()
    assert program.packets_of(JOIN, 3) == (1,) * len(program.packets_of(MULTICAST))
    assert program.packets_of(MULTICAST, 3) == (3,) * len(program.packets_of(MULTICAST))


@pytest.mark.parametrize("text", ["torus(4, 4)", "hsn(2, cube(2))", "ghc(3, 4)"])
def test_a_multicast_is_to_an_engine_what_a_broadcast_is(text):
    both = program_of(text, operations=("broadcast", MULTICAST), root=2)
    assert both.operations == ("broadcast", JOIN, MULTICAST)
    alone = program_of(text, operations=("broadcast",), root=2)
    assert both.buffers(5, 3) == alone.buffers(5, 3)
    assert (both.sent_in(MULTICAST) == alone.sent_in("broadcast")).all()
    assert both.cost_of(MULTICAST) == alone.cost_of("broadcast")
    assert both.source_of(MULTICAST) == 2
    assert both.has_groups
    assert not alone.has_groups


@pytest.mark.parametrize("one", [JOIN, MULTICAST])
def test_join_and_multicast_come_together(one):
    spec = CollectiveSpec(operations=("scan", one, "scatter", "barrier"))
    assert spec.operations == ("scatter", JOIN, MULTICAST, "barrier", "scan")
    assert spec.parts[0].operations == ("scatter", JOIN, MULTICAST)
    assert not {JOIN, MULTICAST} & set(CollectiveSpec().operations)


@pytest.mark.parametrize("text", ["mesh(4)", "hsn(2, complete(3))", "torus(3, 3)"])
def test_programs_with_groups_keep_up(text):
    make_program(build(text), CollectiveSpec(operations=OPERATIONS, root=2))
