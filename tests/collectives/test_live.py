"""Broadcasts among dead nodes, replayed message by message."""

import networkx
import numpy as np

from hdnhw.collectives.live import live_broadcast
from hdnhw.networks.build import build
from hdnhw.topology.faults import Faults, draw_faults
from hdnhw.topology.metrics import neighbor_table
from tests.conftest import each


def graph_of(network, faults):
    """Return the live channels of a network, one by one."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(np.flatnonzero(~faults.nodes).tolist())
    names = [port.name for port in network.ports]
    for node in graph:
        for name, other in network.neighbors(node).items():
            if not faults.nodes[other] and not faults.channels[node, names.index(name)]:
                graph.add_edge(node, other)
    return graph


def check(network, faults, root):
    """Replay a broadcast; return it, and how many steps it takes above what any takes."""
    found, graph = live_broadcast(neighbor_table(network), faults, root), graph_of(network, faults)
    holders = {root}
    for step in found.steps:
        senders, targets = zip(*step, strict=True)
        assert holders.issuperset(senders)
        assert holders.isdisjoint(targets)
        assert len(set(senders)) == len(set(targets)) == len(step)
        assert all(graph.has_edge(*ends) for ends in step)
        holders.update(targets)
    hops = networkx.single_source_shortest_path_length(graph, root)
    assert holders == set(hops)
    assert (found.live, found.reached, found.eccentricity) == (len(graph), len(hops), max(hops.values()))
    assert found.lower_bound == max(*hops.values(), int(np.ceil(np.log2(len(hops)))))
    return found, len(found.steps) - found.lower_bound


NONE = ["cube(4)", "dualcube(3)", "rdn(cube(3), 1)", "torus(4, 6)", "hdn(cube(2), [[0], [0, 1]])", "hsn(2, cube(2))"]


@each("text", NONE)
def test_without_faults_it_takes_as_few_steps_as_there_can_be(text):
    network = build(text)
    nothing = Faults(np.zeros(network.num_nodes, bool), np.zeros((network.num_nodes, len(network.ports)), bool))
    assert check(network, nothing, network.num_nodes // 3)[1] == 0


@each("text", ["dualcube(3)", "rdn(cube(2), 1)", "rdn(torus(3), 1)", "hdn(cube(1), [[], [0]])", "petersen()"])
def test_fewer_dead_nodes_than_ports_leave_all_live_ones_reached(text):
    network, random = build(text), np.random.default_rng(5)
    for _ in range(20):
        faults = draw_faults(neighbor_table(network), random, nodes=len(network.ports) - 1)
        found, above = check(network, faults, int(random.choice(np.flatnonzero(~faults.nodes))))
        assert found.reached == found.live
        assert above <= 3


def test_what_is_cut_off_is_not_reached():
    network, random = build("torus(4, 4)"), np.random.default_rng(3)
    missed = 0
    for _ in range(30):
        faults = draw_faults(neighbor_table(network), random, nodes=5, channels=12)
        found, _ = check(network, faults, int(np.flatnonzero(~faults.nodes)[0]))
        missed += found.reached < found.live
    assert missed


def test_the_command_shows_steps_and_what_is_not_reached(run):
    status, out, _ = run("collective 'torus(5)' --op broadcast --dead-nodes 2 4 --root 0 --steps --json")
    assert status == 1
    assert '"live": 3, "reached": 2, "delivered": false, "startups": 1' in out
    assert '"steps": [{"step": 0, "sends": [[0, 1]]}]' in out
