"""Pipelined schedules: rounds against the least time, values moved one by one, and schedules that break rules."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hdnhw.collectives.executor import ScheduleError
from hdnhw.collectives.pipeline import Sends, execute_pipeline, make_pipeline, run_pipeline, sends_of
from hdnhw.collectives.trees import digit_packing
from hdnhw.networks.build import build
from hdnhw.topology.branchings import best_packing, grown_packing
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.packing import allgather_time, shortest_packing

ROUNDS_ARE_THE_LEAST = [
    "cube(1)",
    "cube(4)",
    "cube(5)",
    "torus(5)",
    "torus(8, 8)",
    "complete(5)",
    "mesh(4, 4)",
    "rdn(cube(2), 1)",
    "rdn(cube(3), 1)",
    "hdn(cube(3), [[2]])",
    "hsn(2, cube(2))",
    "hsn(2, cube(3))",
    "star(4)",
    "petersen()",
]


def table_of(spec):
    return neighbor_table(build(spec))


@pytest.mark.parametrize("spec", ROUNDS_ARE_THE_LEAST)
def test_one_word_a_tree_takes_the_least_time(spec):
    packing = best_packing(table_of(spec))
    rounds, at_best = run_pipeline(make_pipeline(packing, packing.trees), "allgather")
    assert rounds == at_best == allgather_time(packing.table) * packing.trees


@pytest.mark.parametrize("spec", ["hdn(cube(2), [[0]])", "cube(6)", "torus(4, 6)", "dualcube(3)"])
def test_long_blocks_come_near_to_it(spec):
    packing = best_packing(table_of(spec))
    pipeline = make_pipeline(packing, 32 * packing.trees)
    rounds, at_best = run_pipeline(pipeline, "allreduce")
    assert at_best == 64 * packing.load == 2 * pipeline.words * allgather_time(packing.table)
    assert at_best <= rounds <= at_best * Fraction(100, 95)


class Mover:
    """Values of words, moved for all blocks at once, round by round, by what Sends says and nothing else."""

    def __init__(self, table, sends, seed=1):
        self.table, self.sends = table, sends
        self.nodes, self.chunks = len(table), sends.chunks.tolist()
        random = np.random.default_rng(seed)
        self.given = {
            (node, block, tree, chunk): int(random.integers(1 << 60))
            for tree, count in enumerate(self.chunks)
            for chunk in range(count)
            for block in range(self.nodes)
            for node in range(self.nodes)
            if sends.combines or node == block
        }
        self.held = dict(self.given)

    def run(self):
        calendar = [[] for _ in range(self.sends.total)]
        for (tree, block, number), start in np.ndenumerate(self.sends.rounds):
            for chunk in range(self.chunks[tree]):
                sender, port = self.sends.senders[tree, block, number], self.sends.ports[tree, block, number]
                calendar[start + chunk * self.sends.step].append((int(sender), int(port), block, tree, chunk))
        for sends in calendar:
            assert len({send[:2] for send in sends}) == len(sends)
            values = [self.held[sender, *thing] for sender, _, *thing in sends]
            if self.sends.combines:
                for sender, _, *thing in sends:
                    del self.held[sender, *thing]
            for (sender, port, *thing), value in zip(sends, values, strict=True):
                key = int(self.table[sender, port]), *thing
                if self.sends.combines:
                    self.held[key] += value
                else:
                    assert key not in self.held
                    self.held[key] = value


@pytest.mark.parametrize("words", [1, 3, 8])
@pytest.mark.parametrize("spec", ["hdn(cube(2), [[0]])", "torus(3, 4)", "hsn(2, cube(1))", "mesh(2, 4)"])
def test_values_arrive_and_sums_are_right(spec, words):
    packing = best_packing(table_of(spec))
    pipeline = make_pipeline(packing, words)
    assert sum(pipeline.chunks) == words
    gather = Mover(packing.table, sends_of(pipeline, combines=False))
    gather.run()
    expected = {
        (node, *thing): value for (_, *thing), value in gather.given.items() for node in range(len(packing.table))
    }
    assert gather.held == expected
    reduce = Mover(packing.table, sends_of(pipeline, combines=True))
    reduce.run()
    sums = {}
    for (_, block, *rest), value in reduce.given.items():
        sums[block, block, *rest] = sums.get((block, block, *rest), 0) + value
    assert reduce.held == sums


def test_trees_by_digits_and_grown_trees_flow_too():
    network = build("rdn(cube(2), 1)")
    least = allgather_time(neighbor_table(network))
    for packing in (digit_packing(network, 16), grown_packing(neighbor_table(network), least)):
        rounds, _ = run_pipeline(make_pipeline(packing, 20 * packing.trees), "allreduce")
        assert 2 * least * 20 * packing.trees <= rounds <= 2 * least * 20 * packing.trees * Fraction(100, 95)


def changed(sends, field, place, value):
    values = getattr(sends, field).copy()
    values[place] = value
    return replace(sends, **{field: values})


def around(combines):
    """Return the table of a ring of three nodes, and each node's block on its way around it, from it or to it."""
    table = table_of("torus(3)")
    sends = sends_of(make_pipeline(shortest_packing(table), 1), combines=combines)
    senders = (np.array([[[0, 1], [1, 2], [2, 0]]]) + combines) % 3
    ports, rounds = np.zeros((1, 3, 2), np.int64), np.array([[[0, 1]] * 3])
    return table, replace(sends, senders=senders, ports=ports, rounds=rounds, chunks=np.array([1]), total=2)


@pytest.mark.parametrize("combines", [False, True])
@pytest.mark.parametrize(
    ("field", "place", "value", "fault"),
    [
        ("rounds", (0, 0, 1), 0, "round 0: node {} has to send a chunk that it does not hold"),
        ("senders", (0, 0, 1), 0, "round 1: node {} (gets what it has|lacks something in the end)"),
        ("chunks", (0,), 2, "round {}: node {} sends two chunks over one port"),
    ],
)
def test_what_breaks_the_rules_is_found(combines, field, place, value, fault):
    table, sends = around(combines)
    assert execute_pipeline(table, sends) == 2
    values = getattr(sends, field).copy()
    values[place] = value
    wrong = replace(sends, **{field: values}, step=0)
    with pytest.raises(ScheduleError, match=fault.replace("{}", "[012]")):
        execute_pipeline(table, wrong)


@pytest.mark.parametrize("combines", [False, True])
def test_what_does_not_arrive_is_found(combines):
    table, sends = around(combines)
    short = {name: np.ascontiguousarray(getattr(sends, name)[:, :, :1]) for name in ("senders", "ports", "rounds")}
    with pytest.raises(ScheduleError, match=r"round 1: node [012] lacks something in the end"):
        execute_pipeline(table, replace(sends, **short))


@pytest.mark.parametrize("combines", [False, True])
def test_a_port_that_is_not_there_is_found(combines):
    table, sends = around(combines)
    table = table.copy()
    table[2, 0] = -1
    with pytest.raises(ScheduleError, match="node 2 sends over a port that it does not have"):
        execute_pipeline(table, sends)


def test_a_copy_to_who_has_it_is_found():
    table, sends = around(combines=False)
    ports = sends.ports.copy()
    ports[0, 0, 1] = 1
    with pytest.raises(ScheduleError, match="round 1: node 0 gets what it has"):
        execute_pipeline(table, replace(sends, ports=ports))


@pytest.mark.parametrize(
    ("hops", "rounds", "fault"),
    [
        ([(2, 1), (1, 0)], [0, 0], "round 0: node 1 has to send a chunk that it does not hold"),
        ([(2, 1), (2, 1)], [0, 1], "round 1: node 2 has to send a chunk that it does not hold"),
    ],
)
def test_a_partial_result_is_given_away_once_it_is_there(hops, rounds, fault):
    table = neighbor_table(build("mesh(3)"))
    ports = [table[node].tolist().index(other) for node, other in hops]
    arrays = (np.tile(np.array(row, np.int64), (1, 3, 1)) for row in ([node for node, _ in hops], ports, rounds))
    with pytest.raises(ScheduleError, match=f"^{fault}$"):
        execute_pipeline(table, Sends(True, *arrays, np.ones(1, np.int64), 1, 2))
