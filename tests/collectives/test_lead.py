"""The check that no node is two operations ahead of one that it sends to, against plain sets, and on programs."""

import random
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from hdnhw.collectives import program as programs
from hdnhw.collectives.executor import ScheduleError
from hdnhw.collectives.instructions import make_register_program
from hdnhw.collectives.lead import check_lead
from hdnhw.collectives.program import make_program
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.networks.build import build
from hdnhw.spec import OPERATIONS, REGISTER_OPERATIONS


def keeps_up(operations, nodes):
    """Tell by sets whether each node knows at the end of an operation that all that it ever sends to have begun it."""
    pairs = {pair for steps in operations.values() for step in steps for pair in step}
    for steps in operations.values():
        known = [{node} for node in range(nodes)]
        for step in steps:
            before = [set(each) for each in known]
            for sender, receiver in step:
                known[receiver] |= before[sender]
        if any(receiver not in known[sender] for sender, receiver in pairs):
            return False
    return True


def arrays(operations):
    return {
        name: [(np.array([a for a, _ in step], int), np.array([b for _, b in step], int)) for step in steps]
        for name, steps in operations.items()
    }


def test_drawn_operations_are_judged_as_by_sets():
    rng, seen = random.Random(1), set()
    for _ in range(200):
        nodes = rng.randint(2, 4)
        edges = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
        steps = [rng.sample(edges, rng.randint(1, len(edges))) for _ in range(rng.randint(2, 5))]
        operations = {"one": steps[:1], "other": steps[1:]}
        try:
            check_lead(arrays(operations), nodes)
            keeps = True
        except ScheduleError:
            keeps = False
        assert keeps == keeps_up(operations, nodes)
        seen.add(keeps)
    assert seen == {True, False}


def test_an_operation_that_says_too_little_for_another_is_refused():
    """Alone either would do: nodes send to those of which they hear."""
    both = {"near": [[(0, 1), (1, 0), (1, 2), (2, 1)]], "far": [[(0, 2), (2, 0)]]}
    for name, steps in both.items():
        check_lead(arrays({name: steps}), 3)
    with pytest.raises(ScheduleError, match=r"^near: a node may end before one that it sends to has begun$"):
        check_lead(arrays(both), 3)


@pytest.mark.parametrize("text", ["mesh(4)", "hsn(2, complete(3))"])
def test_programs_keep_up(text):
    network = build(text)
    make_program(network, CollectiveSpec(operations=OPERATIONS, root=network.num_nodes // 2))
    make_register_program(network, REGISTER_OPERATIONS)


def test_a_program_that_does_not_is_refused(monkeypatch):
    """Each operation over one of two dimensions alone: nobody hears of the neighbor in the other one."""
    network, spec = build("mesh(2, 2)"), CollectiveSpec(operations=("broadcast",))
    whole = programs.operation_phases(network, "broadcast")[0]
    one, other = ((replace(whole, steps=(step,)),) for step in whole.steps)
    monkeypatch.setattr(programs, "execute", lambda _: SimpleNamespace(sent=np.ones((1, 4, 2))))
    made = iter([one, one, other])
    monkeypatch.setattr(programs, "operation_phases", lambda *_, **__: next(made))
    make_program(network, spec)
    with pytest.raises(ScheduleError, match=r"^broadcast: a node may end before one that it sends to has begun$"):
        make_program(network, replace(spec, operations=("broadcast", "scatter")))
