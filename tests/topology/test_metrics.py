"""Metrics against tests/reference/networks.json, networkx and the closed forms."""

import json
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from hdnhw.networks.build import build
from hdnhw.topology import metrics
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.orbits import representatives
from tests.conftest import each

REFERENCE = Path(__file__).parents[1] / "reference" / "networks.json"
INSTANCES = {instance["spec"]: instance for instance in json.loads(REFERENCE.read_text())["instances"]}
OTHERS = [
    "mesh(2)",
    "mesh(5)",
    "mesh(3, 4)",
    "torus(2)",
    "torus(5)",
    "torus(6, 3)",
    "complete(6)",
    "cube(4)",
    "product(mesh(4), torus(2, 5), complete(3))",
    "hdn(torus(4, 3), [[0, 1], [1]])",
    "hdn(torus(2, 5), [[0, 1]])",
    "dualcube(3)",
]


@pytest.mark.parametrize("spec", ["mesh(3, 40)", "torus(7, 9)", "ccc(4)"])
@pytest.mark.parametrize("with_table", [False, True])
def test_a_deep_search_is_ended_in_one_go(monkeypatch, spec, with_table):
    network = build(spec)
    table, source, told = metrics.neighbor_table(network), network.num_nodes // 3, []
    monkeypatch.setattr(metrics, "MOST_LEVELS", 2)
    monkeypatch.setattr(metrics, "FEW_ENTRIES", 0)
    found = metrics.distances_from(network, source, told.append, table=table if with_table else None)
    np.testing.assert_array_equal(found, metrics.table_distances(table, source))
    assert len(told) == (1 if with_table else 3)


def instances(*, most=None, given=None):
    return [
        one
        for one in INSTANCES.values()
        if (most is None or one["n"] <= most) and (given is None or one.get(given) is not None)
    ]


def network_of(instance):
    return build(instance["spec"])


def graph_of(network):
    return nx.Graph((node, other) for node in range(network.num_nodes) for other in network.neighbors(node).values())


def test_the_reference_is_whole():
    assert len(INSTANCES) == 43
    assert max(instance["n"] for instance in INSTANCES.values()) == 32768


@each("instance", instances())
def test_size_and_degree(instance):
    network = network_of(instance)
    assert str(network.spec) == instance["spec"]
    assert network.num_nodes == instance["n"]
    assert metrics.num_edges(network) == instance["edges"]
    assert metrics.degree_bounds(network) == (instance["degree_min"], instance["degree_max"])
    if "degree_paper_convention" in instance:
        assert metrics.degree_paper(network) == instance["degree_paper_convention"]


@each("instance", instances())
def test_sample_adjacency(instance):
    network = network_of(instance)
    assert instance["sample_adjacency"]
    for node, neighbors in instance["sample_adjacency"].items():
        assert sorted(network.neighbors(int(node)).values()) == neighbors


@each("instance", instances())
def test_distances_from_node_0(instance):
    assert metrics.distance_histogram(network_of(instance), 0) == instance["hist_from_node0"]


@each("instance", instances(given="nested_S"))
def test_nested(instance):
    assert network_of(instance).is_nested == instance["nested_S"]


@each("instance", instances(given="node_orbits"))
def test_node_symmetric(instance):
    assert metrics.node_symmetric(network_of(instance)) == (instance["node_orbits"] == 1)


@each("instance", instances(given="diameter"))
def test_diameter_closed_forms(instance):
    network = network_of(instance)
    if instance["spec"].startswith("hsn"):
        assert metrics.diameter_corrected(network) is None
        assert metrics.diameter_formula(network) == instance["diameter_formula_thm2_1"]
        return
    assert metrics.diameter_corrected(network) == instance["diameter"]
    if "diameter_formula_thm1" in instance:
        assert metrics.diameter_formula(network) == instance["diameter_formula_thm1"]


@each("instance", instances(most=2048, given="distance_total_histogram_all_ordered_pairs"))
def test_all_pairs(instance):
    network = network_of(instance)
    histogram = metrics.pair_histogram(network)
    assert histogram == instance["distance_total_histogram_all_ordered_pairs"]
    summary = metrics.summarize_distances(network)
    average = Fraction(instance["avg_distance_excl_self"])
    assert summary == metrics.DistanceSummary(instance["diameter"], average, tuple(instance["hist_from_node0"]))
    nested = isinstance(network, DualNetwork) and network.is_nested
    assert metrics.nested_average_distance(network) == (average if nested else None)


@pytest.mark.parametrize("text", OTHERS)
def test_against_networkx(text):
    network = build(text)
    graph = graph_of(network)
    degrees = [degree for _, degree in graph.degree]
    assert metrics.num_edges(network) == graph.number_of_edges()
    assert metrics.degree_bounds(network) == (min(degrees), max(degrees))
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    histogram = np.bincount([hops for row in lengths.values() for hops in row.values()])
    assert metrics.pair_histogram(network) == histogram.tolist()
    assert metrics.diameter_corrected(network) == nx.diameter(graph)
    for source in (0, 1, network.num_nodes - 1):
        distances = metrics.distances_from(network, source)
        assert distances.tolist() == [lengths[source][node] for node in range(network.num_nodes)]
    own, rng = range(network.num_nodes), np.random.default_rng(1)
    partners = [rng.integers(network.num_nodes, size=network.num_nodes) for _ in range(2)]
    found = metrics.partner_distances(network, partners)
    assert [each.tolist() for each in found] == [[lengths[node][each[node]] for node in own] for each in partners]
    average = Fraction(int(histogram @ np.arange(len(histogram))), network.num_nodes * (network.num_nodes - 1))
    assert metrics.summarize_distances(network).average_distance == average
    assert metrics.nested_average_distance(network) == average


@each("text", [*OTHERS, "hdn(torus(2, 3, 5), [[1, 2], [0, 1, 2]])"])
def test_neighbor_table(text):
    network = build(text)
    table = metrics.neighbor_table(network)
    assert table.shape == (network.num_nodes, len(network.ports))
    names = [port.name for port in network.ports]
    for node, row in enumerate(table.tolist()):
        assert {name: other for name, other in zip(names, row, strict=True) if other >= 0} == network.neighbors(node)


def test_neighbor_table_marks_the_missing_ports_of_a_path():
    assert metrics.neighbor_table(build("mesh(3)")).tolist() == [[1, -1], [2, 0], [-1, 1]]


@pytest.mark.parametrize("text", ["hdn(cube(2), [[0], [0]])", "mesh(5, 7)"])
def test_searching_in_chunks_changes_nothing(text, monkeypatch):
    network = build(text)
    whole = metrics.neighbor_table(network), metrics.distances_from(network, 3)
    monkeypatch.setattr(metrics, "CHUNK", 7)
    assert np.array_equal(metrics.neighbor_table(network), whole[0])
    assert np.array_equal(metrics.distances_from(network, 3), whole[1])


@pytest.mark.parametrize(
    ("text", "simple", "paper"),
    [("torus(2, 3, 5)", 5, 6), ("torus(2, 2)", 2, 4), ("cube(3)", 3, 3), ("hdn(torus(2, 3, 5), [[], []])", 7, 8)],
)
def test_the_paper_counts_a_cycle_of_two_nodes_twice(text, simple, paper):
    network = build(text)
    assert (metrics.degree_bounds(network), metrics.degree_paper(network)) == ((simple, simple), paper)


def test_one_cluster_a_class_costs_one_hop():
    network = build("hdn(cube(3), [[0, 1, 2], [0]])")
    assert (metrics.diameter_formula(network), metrics.diameter_corrected(network)) == (11, 9)
    assert metrics.summarize_distances(network).diameter == 9


def paper_sizes(text, diameter):
    network = build(text)
    assert metrics.diameter_corrected(network) == diameter
    return network.num_nodes, metrics.degree_paper(network), diameter


@pytest.mark.parametrize(
    ("text", "diameter", "ratio"),
    [
        ("cube(10)", 10, "2.00"),
        ("rdn(torus(5, 5), 1)", 10, "1.46"),
        ("rdn(torus(3, 3, 3), 1)", 8, "1.43"),
        ("torus(10, 10, 10)", 15, "2.11"),
        ("rdn(torus(5, 5), 2)", 22, "1.30"),
        ("rdn(torus(3, 3, 3), 2)", 18, "1.18"),
        ("torus(160, 160, 160)", 240, "11.20"),
    ],
)
def test_cost_ratios_are_those_of_the_paper(text, diameter, ratio):
    """RDN paper, Table I."""
    assert f"{metrics.cost_ratio(*paper_sizes(text, diameter)):.2f}" == ratio


@pytest.mark.parametrize(
    ("text", "diameter", "ratio"),
    [
        ("cube(10)", 10, "1.00"),
        ("torus(10, 10, 10)", 15, "1.05"),
        ("hdn(torus(2, 3, 5), [[]])", 10, "0.79"),
        ("hdn(torus(2, 3, 5), [[0]])", 9, "0.82"),
        ("hdn(torus(2, 3, 5), [[1]])", 9, "0.87"),
        ("torus(80, 80, 80)", 120, "3.32"),
        ("hdn(torus(2, 3, 5), [[0], [0]])", 19, "0.69"),
        ("hdn(torus(2, 3, 5), [[0], [2]])", 18, "0.71"),
        ("hdn(torus(2, 3, 5), [[2], [0]])", 17, "0.74"),
    ],
)
def test_weighted_cost_ratios_are_those_of_the_paper(text, diameter, ratio):
    """HDN paper, Table 3; with the simple degree they are less (docs/papers/errata.md, E10)."""
    sizes = paper_sizes(text, diameter)
    assert f"{metrics.weighted_cost_ratio(*sizes):.2f}" == ratio
    assert metrics.weighted_cost_ratio(*sizes, degree_weight=1) == sizes[1] / np.log2(sizes[0])


def test_large_networks_are_searched_from_one_source_or_not_at_all():
    nested, other = (build(text) for text in ("rdn(torus(3), 2)", "hdn(cube(2), [[0], [0, 1]])"))
    assert metrics.summarize_distances(nested, budget=0) == metrics.summarize_distances(nested)
    own = tuple(INSTANCES["hdn(cube(2), [[0], [0, 1]])"]["hist_from_node0"])
    one_by_one = 4 * 128 * metrics.ONE_BY_ONE
    assert metrics.summarize_distances(other, budget=one_by_one - 1) == metrics.DistanceSummary(None, None, own)
    assert metrics.summarize_distances(other, budget=one_by_one).diameter == 10


def test_a_network_without_known_orbits_is_searched_from_every_node_or_not_at_all():
    network = build("hsn(2, cube(2))")
    own = tuple(metrics.distance_histogram(network, 0))
    assert metrics.summarize_distances(network, budget=255) == metrics.DistanceSummary(None, None, own)
    assert metrics.summarize_distances(network, budget=256).diameter == 5


@pytest.mark.parametrize("text", ["hdn(torus(2, 3), [[1], [0]])", "mesh(4, 4, 4, 4)", "hdn(complete(4), [[], [0]])"])
def test_one_search_an_orbit_finds_what_all_do(text):
    network = build(text)
    assert len(representatives(network)) * metrics.ONE_BY_ONE <= network.num_nodes
    histogram = metrics.pair_histogram(network)
    pairs = network.num_nodes * (network.num_nodes - 1)
    average = Fraction(sum(hops * count for hops, count in enumerate(histogram)), pairs)
    found = metrics.summarize_distances(network)
    assert (found.diameter, found.average_distance) == (len(histogram) - 1, average)


def test_progress_is_told(monkeypatch):
    monkeypatch.setattr(metrics, "FEW_ENTRIES", 0)
    network = build("hdn(cube(2), [[0], [0, 1]])")
    reached, sources = [], []
    metrics.distances_from(network, 0, reached.append)
    metrics.pair_histogram(network, sources.append)
    assert reached[:3] == [5, 13, 26]
    assert reached[-1] == 128
    assert sources == [64, 128]
    shares = []
    metrics.summarize_distances(network, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize("text", ["hdn(cube(2), [[0], [0, 1]])", "mesh(5, 7)", "dualcube(3)"])
def test_a_table_at_hand_changes_nothing(text):
    network = build(text)
    table = metrics.neighbor_table(network)
    for source in (0, 7):
        assert np.array_equal(
            metrics.distances_from(network, source, table=table), metrics.distances_from(network, source)
        )


def test_distances_of_more_than_fifteen_bits():
    network = build("mesh(33000)")
    assert metrics.distances_from(network, 0)[-1] == 32999


def test_source_out_of_range():
    with pytest.raises(ValueError, match=r"node of cube\(3\) must be 0 to 7, not 8"):
        metrics.distances_from(build("cube(3)"), 8)


def test_symmetry_that_no_theorem_tells():
    plain, linked, ring = (build(text) for text in ("hcn(2)", "hsn(2, cube(2))", "hcn(1)"))
    assert (plain.node_symmetric, metrics.node_symmetric(plain)) == (None, False)
    assert metrics.node_symmetric(plain, budget=255) is None
    assert linked.node_symmetric is False
    assert metrics.node_symmetric(ring) is None
    assert metrics.degree_paper(linked) == 3
