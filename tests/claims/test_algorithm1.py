"""The papers' Algorithm 1 against the reference figures, on every ordered pair."""

import json
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from hdnhw.claims.literal.algorithm1 import algorithm1_lengths, algorithm1_route
from hdnhw.networks.build import build
from hdnhw.topology.metrics import neighbor_table

REFERENCE = Path(__file__).parents[1] / "reference" / "networks.json"
INSTANCES = [
    pytest.param(instance, id=instance["spec"])
    for instance in json.loads(REFERENCE.read_text())["instances"]
    if "routing_algorithm1" in instance and instance["n"] <= 1024
]
OTHERS = [
    "torus(6, 3)",
    "mesh(4, 3)",
    "product(mesh(2, 5), complete(4), torus(2))",
    "cube(4)",
    "dualcube(1)",
    "dualcube(2)",
    "dualcube(4)",
]


def all_distances(table):
    """Return the matrix of distances, growing every ball at once."""
    n = len(table)
    neighbors = np.where(table < 0, np.arange(n)[:, None], table)
    distances = np.full((n, n), -1, dtype=np.int16)
    ball = np.eye(n, dtype=bool)
    for hops in range(n):
        distances[ball & (distances < 0)] = hops
        if ball.all():
            break
        ball = ball | ball[neighbors].any(axis=1)
    assert (distances >= 0).all()
    return distances


def all_lengths(network, table):
    """Return the matrix of route lengths; every route must join its ends by edges."""
    n = network.num_nodes
    is_edge = np.zeros((n, n), dtype=bool)
    is_edge[np.arange(n)[:, None], np.where(table < 0, np.arange(n)[:, None], table)] = True
    np.fill_diagonal(is_edge, False)
    lengths = np.empty((n, n), dtype=np.int64)
    for src in range(n):
        routes = [algorithm1_route(network, src, dst) for dst in range(n)]
        counts = np.array([len(route) for route in routes])
        nodes = np.fromiter(chain.from_iterable(routes), dtype=np.int64, count=counts.sum())
        last = np.cumsum(counts) - 1
        assert (nodes[last - counts + 1] == src).all()
        assert (nodes[last] == np.arange(n)).all()
        inside = np.ones(len(nodes), dtype=bool)
        inside[last] = False
        assert is_edge[nodes[:-1], nodes[1:]][inside[:-1]].all()
        lengths[src] = counts - 1
    return lengths


@pytest.mark.parametrize("instance", INSTANCES)
def test_reference_figures(instance):
    network = build(instance["spec"])
    table = neighbor_table(network)
    distances, lengths = all_distances(table), all_lengths(network, table)
    apart = ~np.eye(len(table), dtype=bool)
    stretch = lengths[apart] / distances[apart]
    figures = {
        "nonmin_frac": (lengths > distances)[apart].mean(),
        "worst_stretch": stretch.max(),
        "worst_abs": (lengths - distances).max(),
        "mean_stretch": stretch.mean(),
        "mean_len": lengths[apart].mean(),
        "mean_dist": distances[apart].mean(),
        "ratio_means": lengths[apart].mean() / distances[apart].mean(),
        "max_len": lengths.max(),
    }
    assert figures == pytest.approx(instance["routing_algorithm1"], rel=0, abs=6e-7)
    assert instance["routing_vectors"]
    for vector in instance["routing_vectors"]:
        pair = vector["src"], vector["dst"]
        assert (lengths[pair], distances[pair]) == (vector["alg1"], vector["bfs"])


@pytest.mark.parametrize("text", OTHERS)
def test_shortest_on_products_and_dual_cubes(text):
    network = build(text)
    table = neighbor_table(network)
    assert np.array_equal(all_lengths(network, table), all_distances(table))


@pytest.mark.parametrize(
    ("text", "src", "dst", "route"),
    [
        ("torus(6)", 1, 4, [1, 2, 3, 4]),
        ("torus(6)", 4, 1, [4, 5, 0, 1]),
        ("torus(5)", 0, 3, [0, 4, 3]),
        ("mesh(4)", 3, 1, [3, 2, 1]),
        ("complete(5)", 4, 1, [4, 1]),
        ("torus(2, 4)", 1, 6, [1, 5, 6]),
        ("cube(3)", 0, 7, [0, 4, 6, 7]),
        ("dualcube(3)", 0b00000, 0b10000, [0b00000, 0b10000]),
        ("dualcube(3)", 0b00001, 0b11010, [0b00001, 0b00011, 0b00010, 0b10010, 0b11010]),
        ("rdn(cube(3), 1)", 9, 9, [9]),
    ],
)
def test_base_routing_is_dimension_order(text, src, dst, route):
    assert algorithm1_route(build(text), src, dst) == route


def test_same_class_starts_with_the_cross_edge():
    network = build("rdn(cube(2), 1)")
    src, dst = network.parse_node("0.0/0.1"), network.parse_node("0.3/0.1")
    steps = [network.format_node(node) for node in algorithm1_route(network, src, dst)]
    assert steps == ["0.0/0.1", "1.1/0.0", "1.1/1.0", "1.1/1.1", "0.3/0.1"]


def test_counterexample_of_e3_comes_back_to_a_node():
    network = build("hdn(cube(2), [[0], [0, 1]])")
    src, dst = network.parse_node("0.0/0.0/0.1"), network.parse_node("1.0/1.1/0.0")
    route = algorithm1_route(network, src, dst)
    steps = [network.format_node(node) for node in route]
    assert steps == ["0.0/0.0/0.1", "1.0/0.0/0.1", "1.0/0.0/0.0", "1.0/0.0/0.1", "1.0/1.1/0.0"]
    assert all_distances(neighbor_table(network))[src, dst] == 2


@pytest.mark.parametrize(
    ("text", "percent"), [("hdn(cube(2), [[0], [0, 1]])", 11), ("hdn(cube(2), [[0], [0]])", 0), ("rdn(torus(3), 1)", 0)]
)
def test_share_of_routes_that_come_back(text, percent):
    network = build(text)
    n = network.num_nodes
    routes = [algorithm1_route(network, src, dst) for src in range(n) for dst in range(n)]
    back = sum(len(set(route)) < len(route) for route in routes)
    assert round(100 * back / (n * (n - 1))) == percent


@pytest.mark.parametrize(("src", "dst", "bad"), [(-1, 0, -1), (0, 128, 128), (128, -1, 128)])
def test_node_out_of_range(src, dst, bad):
    with pytest.raises(ValueError, match=rf"^node of rdn\(cube\(3\), 1\) must be 0 to 127, not {bad}$"):
        algorithm1_route(build("rdn(cube(3), 1)"), src, dst)


@pytest.mark.parametrize(
    "text",
    [
        "hdn(cube(2), [[0], [0, 1]])",
        "hdn(torus(2, 3), [[1], [0, 1]])",
        "hdn(complete(2), [[0], [0], [0]])",
        "hdn(complete(2), [[], []])",
        "torus(5, 2)",
    ],
)
def test_lengths_without_routes(text):
    network = build(text)
    nodes, some = range(network.num_nodes), [5, network.num_nodes - 1]
    lengths = algorithm1_lengths(network)
    assert lengths.tolist() == [[len(algorithm1_route(network, u, v)) - 1 for v in nodes] for u in nodes]
    assert algorithm1_lengths(network, some).tolist() == lengths[some].tolist()
