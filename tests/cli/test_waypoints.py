"""``hdnhw waypoints``: legs walked hop by hop, and what is not connected searched by networkx."""

import json
from itertools import pairwise

import networkx
import pytest

from hdnhw.rules.plan import plan

SPEC = "hdn(cube(2), [[0]])"


def test_every_way_leads_around_what_is_dead(run):
    dead_nodes, dead_channels = [6, 9], ["0:cross1", "2:dim0", "12:dim1"]
    line = f"waypoints '{SPEC}' 0 --waypoints 2 --dead-nodes 9 6 --dead-channels {' '.join(dead_channels)} --json"
    status, out, _ = run(line)
    assert status == 0
    result = json.loads(out)
    assert (result["dead_nodes"], result["dead_channels"]) == (dead_nodes, ["0:cross1", "2:dim0", "12:dim1"])
    rule, network = plan(SPEC).rule, plan(SPEC).network
    graph = networkx.DiGraph()
    for node in range(16):
        for name, other in network.neighbors(node).items():
            if f"{node}:{name}" not in dead_channels and node not in dead_nodes and other not in dead_nodes:
                graph.add_edge(node, other)

    def walk(src, dst):
        nodes = [*(node for node, _, _ in rule.route(src, dst)), dst]
        return all(graph.has_edge(*edge) for edge in pairwise(nodes)), len(nodes) - 1

    reaches = {}
    for way in result["ways"]:
        reaches.setdefault(way["reach"], []).append(way["dst"])
        if way["waypoints"] is None:
            continue
        stops = [0, *way["waypoints"], way["dst"]]
        legs = [walk(*leg) for leg in pairwise(stops)]
        assert all(healthy for healthy, _ in legs)
        assert sum(hops for _, hops in legs) == way["hops"]
        assert all(walk(there, here)[0] for here, there in pairwise(stops[:-1]))
        assert (way["reach"] == "plain") == (not way["waypoints"])
    assert reaches["dead"] == dead_nodes
    joined = networkx.descendants(graph, 0)
    assert set(reaches.get("not connected", [])) == set(range(1, 16)) - joined - set(dead_nodes)
    assert len(reaches["waypoints"]) > 3


def test_one_destination_and_more_than_is_allowed(run):
    status, out, _ = run(f"waypoints '{SPEC}' 0 8 --waypoints 0 --dead-channels 0:cross1 --json")
    assert status == 0
    (way,) = json.loads(out)["ways"]
    assert way == {"dst": 8, "reach": "needs more waypoints", "waypoints": None, "hops": None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--dead-nodes 0", "source must be a healthy node; 0 is dead"),
        ("--dead-channels cross1", "dead-channels must be NODE:PORT, such as 0:dim0, not 'cross1'"),
        ("--dead-channels 3:up", "port of node 3 must be one of dim0, dim1, cross1, not 'up'"),
        ("--dead-nodes 99", "must be 0 to 15, not 99"),
        ("--waypoints 9", "--waypoints must be 0 to 8, not 9"),
    ],
)
def test_bad_input_is_one_line(run, arguments, message):
    status, _, error = run(f"waypoints '{SPEC}' 0 {arguments}")
    assert status == 2
    assert message in error
    assert error.count("\n") == 1
