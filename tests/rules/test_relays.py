"""The dependencies of packets by waypoints, beside networkx, and what is wrong without reserved slots."""

from dataclasses import replace

import networkx
import numpy as np
import pytest

from hdnhw.rules.cdg import build_dependency_graph
from hdnhw.rules.plan import plan
from hdnhw.rules.relays import is_acyclic, prove_relays, relay_dependencies
from hdnhw.support.errors import RuleError

SPECS = ["hdn(cube(2), [[0]])", "rdn(cube(1), 1)", "torus(5)", "mesh(2, 3)", "hsn(2, cube(2))", "ccc(3)"]


@pytest.mark.parametrize(("waypoints", "queues"), [(1, 1), (1, 4), (3, 1), (3, 2)])
@pytest.mark.parametrize("text", SPECS)
def test_slots_wait_in_one_direction(text, waypoints, queues):
    routing = plan(text)
    graph = build_dependency_graph(routing.rule)
    count, edges = relay_dependencies(graph, waypoints, queues)
    assert networkx.is_directed_acyclic_graph(networkx.DiGraph(edges.tolist()))
    assert is_acyclic(count, edges)
    proof = prove_relays(routing, waypoints, queues)
    assert (proof.channels, proof.edges) == (count, len(edges))
    nodes = routing.network.num_nodes
    buffers = 1 + waypoints * queues
    assert count == nodes * (graph.num_ports * graph.num_vcs + 1 + buffers) + waypoints + 1
    assert len(edges) > graph.num_edges + nodes * (3 * waypoints * queues + 2)


@pytest.mark.parametrize("queues", [1, 4])
@pytest.mark.parametrize("text", SPECS)
def test_without_reserved_slots_packets_of_both_legs_wait_for_each_other(text, queues):
    count, edges = relay_dependencies(build_dependency_graph(plan(text).rule), 1, queues, reserved=False)
    assert not is_acyclic(count, edges)
    cycle = networkx.find_cycle(networkx.DiGraph(edges.tolist()))
    slots = count - 2 - (1 + queues) * plan(text).network.num_nodes
    assert any(slots <= one < count - 2 for one, _ in cycle), "the circle goes through the slot of a relay"


def test_a_cycle_and_a_loop_are_found():
    assert is_acyclic(3, np.array([[0, 1], [1, 2], [0, 2]]))
    assert not is_acyclic(3, np.array([[0, 1], [1, 2], [2, 0]]))
    assert not is_acyclic(3, np.array([[0, 1], [1, 1]]))


def test_relays_over_a_rule_that_can_deadlock_are_refused():
    made = plan("torus(7)")
    around = replace(made, rule=replace(made.rule, take=made.rule.take[::-1]))
    with pytest.raises(RuleError, match=r"^relays of torus\(7\) with 1 waypoints can deadlock$"):
        prove_relays(around, 1, 2)
