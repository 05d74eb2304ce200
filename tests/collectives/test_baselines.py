"""Algorithms whose messages are routed: results beside sums, distances beside searches, and what a wrong step does."""

from dataclasses import replace

import numpy as np
import pytest

from hdnhw.collectives import baselines
from hdnhw.collectives.baselines import baseline_of, farthest_hops, run_baseline
from hdnhw.collectives.operators import operator_of
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import distances_from


@pytest.mark.parametrize("text", ["cube(1)", "rdn(cube(2), 1)", "torus(3, 5)", "star(4)"])
@pytest.mark.parametrize(("name", "numbers"), [("sum", "uint8"), ("min", "int64"), ("sum", "float32")])
def test_results_are_right(text, name, numbers):
    network = build(text)
    nodes = network.num_nodes
    ring = run_baseline(baseline_of("ring", network), operator_of(name, numbers), words=3)
    assert (ring.blocks, ring.wrong, ring.nodes_agree) == (nodes, 0, True)
    if nodes & (nodes - 1) == 0:
        doubling = run_baseline(baseline_of("doubling", network), operator_of(name, numbers), words=3)
        assert (doubling.blocks, doubling.wrong, doubling.nodes_agree) == (1, 0, True)


def test_of_large_vectors_some_blocks_are_moved(monkeypatch):
    monkeypatch.setattr(baselines, "MOST_VALUES", 32 * 2 * 5)
    ring = run_baseline(baseline_of("ring", build("cube(5)")), operator_of("xor", "int16"), words=2)
    assert (ring.blocks, ring.wrong, ring.nodes_agree) == (5, 0, True)


def test_a_wrong_step_is_seen():
    network, total = build("cube(3)"), operator_of("sum", "int32")
    ring, doubling = (baseline_of(name, network) for name in ("ring", "doubling"))
    early = run_baseline(replace(ring, combining=ring.combining - 1), total)
    assert early.wrong == 8 * 8
    assert early.nodes_agree
    late = run_baseline(replace(ring, combining=ring.combining + 1), total)
    assert late.wrong > 0
    again = run_baseline(replace(doubling, partners=(doubling.partners[0], *doubling.partners[:2])), total)
    assert (again.wrong, again.nodes_agree) == (8, False)


@pytest.mark.parametrize(
    ("name", "startups", "cost"), [("ring", 62, "62 t_s + 186 t_w"), ("doubling", 5, "5 t_s + 325 t_w")]
)
def test_counts(name, startups, cost):
    baseline = baseline_of(name, build("torus(4, 8)"))
    assert baseline.startups == startups
    assert str(baseline.cost(65)) == cost


@pytest.mark.parametrize("text", ["rdn(cube(2), 1)", "torus(4, 8)", "cube(7)"])
def test_how_far_messages_go(text):
    network = build(text)
    for name in ("ring", "doubling"):
        baseline = baseline_of(name, network)
        searched = np.array([distances_from(network, node) for node in range(network.num_nodes)])
        own = np.arange(network.num_nodes)
        assert farthest_hops(network, baseline) == [searched[own, partner].max() for partner in baseline.partners]


def test_doubling_needs_a_power_of_two():
    with pytest.raises(SpecError, match=r"^doubling is for a power of two of nodes; star\(4\) has 24$"):
        baseline_of("doubling", build("star(4)"))
