"""The HDN paper's (C, U, SN, N): beside the neighbors that the codec of digits finds."""

import json

import pytest

from hdnhw.claims.literal.four_parts import four_parts, node_at_parts
from hdnhw.networks.build import build

NETWORKS = ["hdn(cube(2), [[0], [0, 1]])", "hdn(torus(2, 3), [[1]])", "rdn(cube(1), 2)", "dualcube(3)"]


@pytest.mark.parametrize("text", NETWORKS)
def test_cross_edges_exchange_cluster_and_super_node(text):
    network = build(text)
    seen = set()
    for node in range(network.num_nodes):
        parts = four_parts(network, node)
        assert node_at_parts(network, parts[0]) == node
        seen.add(parts[0])
        for place, (class_id, cluster, super_node, inner) in enumerate(parts):
            there = network.neighbors(node)[f"cross{len(parts) - place}"]
            after = four_parts(network, there)
            assert after[place] == (1 - class_id, super_node, cluster, inner)
    assert len(seen) == network.num_nodes


def test_a_node_by_its_four_parts(run):
    by_parts, by_number = (
        json.loads(run(f"neighbors 'hdn(cube(2), [[0]])' {node} --json")[1]) for node in ("0,1,0,1", "6")
    )
    assert by_parts == by_number
    assert by_number["four_parts"] == {"1": [0, 1, 0, 1]}
    for command in ("route", "paths"):
        nodes = [json.loads(run(f"{command} 'hdn(cube(2), [[0]])' 0 {node} --json")[1]) for node in ("0,1,0,1", "6")]
        assert nodes[0] == nodes[1]
    assert json.loads(run("neighbors 'cube(3)' 6 --json")[1])["four_parts"] is None


@pytest.mark.parametrize("parts", ["2,0,0,0", "0,2,0,0", "0,0,2,0", "0,0,0,2"])
def test_parts_out_of_range(run, parts):
    status, out, err = run(f"neighbors 'hdn(cube(2), [[0]])' {parts}")
    assert (status, out) == (2, "")
    assert err == f"hdnhw: C,U,SN,N of hdn(cube(2), [[0]]) must be 0 to 1, 0 to 1, 0 to 1, 0 to 1, not {parts}\n"
