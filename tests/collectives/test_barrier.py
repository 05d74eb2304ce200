"""The rounds of barriers beside the diameter as networkx finds it, and as messages to neighbors spread."""

import networkx as nx
import pytest

from hdnhw.collectives import barrier
from hdnhw.collectives.barrier import barrier_cycles, barrier_rounds, signal_cycles
from hdnhw.networks.build import build
from hdnhw.topology.metrics import DistanceSummary

NETWORKS = ["hdn(cube(1), [[]])", "rdn(cube(2), 1)", "torus(4, 5)", "hsn(2, complete(3))", "mesh(4, 2)", "star(4)"]


@pytest.mark.parametrize("text", NETWORKS)
def test_after_so_many_rounds_each_node_has_heard_of_all_and_not_before(text):
    network = build(text)
    near = {node: list(network.neighbors(node).values()) for node in range(network.num_nodes)}
    rounds = barrier_rounds(network)
    assert rounds == nx.diameter(nx.Graph(near))
    heard = [{node} for node in near]
    for _ in range(rounds):
        assert min(map(len, heard)) < len(near)
        heard = [heard[node].union(*(heard[other] for other in near[node])) for node in near]
    assert min(map(len, heard)) == len(near)


def test_cycles_grow_with_registers_on_channels():
    assert [signal_cycles(registers) for registers in (0, 1)] == [1, 2]
    assert [barrier_cycles(6, registers) for registers in (0, 1)] == [7, 13]


def test_too_large_to_be_searched(monkeypatch):
    monkeypatch.setattr(barrier, "summarize_distances", lambda _: DistanceSummary(None, None, (1, 2, 1)))
    message = r"^network must be small enough to be searched from every node, not cube\(2\)$"
    with pytest.raises(ValueError, match=message):
        barrier_rounds(build("cube(2)"))
