"""The flow bound against closed forms, cuts, routings, and programs written another way."""

from fractions import Fraction
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from hdnhw.networks.build import build
from hdnhw.networks.parse import parse
from hdnhw.rules.plan import plan
from hdnhw.rules.statistics import routing_statistics
from hdnhw.topology import flow
from hdnhw.topology.flow import flow_bound, least_load
from hdnhw.topology.metrics import neighbor_table


def bound_of(text):
    return flow_bound(neighbor_table(build(text)))


def table_of(graph):
    rows = [sorted(graph[node]) for node in sorted(graph)]
    width = max(map(len, rows))
    return np.array([row + [-1] * (width - len(row)) for row in rows], np.int32)


def arcs_of(table):
    return [(src, int(dst)) for src, row in enumerate(table) for dst in row if dst >= 0]


def by_sources(table):
    """Solve the program with a variable for each source and channel, and no use of symmetry."""
    arcs, nodes = arcs_of(table), len(table)
    balance = np.zeros((nodes * nodes, nodes * len(arcs) + 1))
    load = np.zeros((len(arcs), nodes * len(arcs) + 1))
    load[:, -1] = -1
    for source in range(nodes):
        for place, (src, dst) in enumerate(arcs):
            column = source * len(arcs) + place
            balance[source * nodes + dst, column] += 1
            balance[source * nodes + src, column] -= 1
            load[place, column] = 1
    supply = [1 - nodes if node == source else 1 for source in range(nodes) for node in range(nodes)]
    cost = np.eye(1, balance.shape[1], balance.shape[1] - 1)[0]
    return scipy.optimize.linprog(cost, A_ub=load, b_ub=np.zeros(len(arcs)), A_eq=balance, b_eq=supply).fun


def by_paths(graph):
    """Solve the program with a variable for each simple path."""
    places = {arc: place for place, arc in enumerate(graph.to_directed().edges)}
    pairs = list(permutations(graph, 2))
    paths = [(row, path) for row, (src, dst) in enumerate(pairs) for path in nx.all_simple_edge_paths(graph, src, dst)]
    load, once = np.zeros((len(places), len(paths) + 1)), np.zeros((len(pairs), len(paths) + 1))
    load[:, -1] = -1
    for column, (row, path) in enumerate(paths):
        once[row, column] = 1
        for arc in path:
            load[places[arc], column] = 1
    cost = np.eye(1, len(paths) + 1, len(paths))[0]
    return scipy.optimize.linprog(cost, A_ub=load, b_ub=np.zeros(len(places)), A_eq=once, b_eq=np.ones(len(pairs))).fun


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_closed_forms(n):
    assert bound_of(f"complete({n})") == 1
    assert bound_of(f"cube({n})") == Fraction(2**n, 2)
    assert bound_of(f"mesh({n})") == (n // 2) * ((n + 1) // 2)
    if n > 2:
        assert bound_of(f"torus({n})") == Fraction(n * n // 4, 2)
        assert bound_of(f"torus({n}, {n + 1})") == Fraction(n * ((n + 1) ** 2 // 4), 2)
        assert bound_of(f"ghc(3, {n})") == n


@pytest.mark.parametrize(
    ("make", "bound"),
    [
        (nx.petersen_graph, 5),
        (lambda: nx.star_graph(6), 6),
        (lambda: nx.complete_bipartite_graph(3, 3), Fraction(7, 3)),
    ],
)
def test_edge_symmetric_graphs_share_the_distances(make, bound):
    assert flow_bound(table_of(make())) == bound


@given(st.integers(2, 7), st.integers(0, 10**6))
@settings(max_examples=20)
def test_random_networks_against_the_program_of_all_sources(nodes, seed):
    graph = nx.random_labeled_tree(nodes, seed=seed)
    graph.add_edges_from(nx.gnp_random_graph(nodes, 0.3, seed=seed).edges)
    table, flow = table_of(graph), least_load(table_of(graph))
    assert float(flow.at_least) == pytest.approx(by_sources(table), rel=2e-6)
    assert flow.reached == pytest.approx(by_sources(table), rel=1e-7)


@pytest.mark.parametrize(
    "text", ["mesh(2, 3)", "torus(6)", "cube(3)", "product(mesh(3), complete(3))", "rdn(cube(1), 1)"]
)
def test_against_the_program_of_all_paths(text):
    table = neighbor_table(build(text))
    assert float(flow_bound(table)) == pytest.approx(by_paths(nx.DiGraph(arcs_of(table)).to_undirected()), rel=2e-6)


@pytest.mark.parametrize(
    "text",
    [
        "hdn(cube(2), [[0]])",
        "mesh(4, 4)",
    ],
)
def test_no_less_than_any_cut_and_no_more_than_the_routing(text):
    network = build(text)
    table, bound = neighbor_table(network), bound_of(text)
    assert bound <= routing_statistics(plan(network.spec)).max_channel_load
    generator = np.random.default_rng(5)
    for size in range(1, network.num_nodes):
        inside = np.zeros(network.num_nodes + 1, bool)
        inside[generator.permutation(network.num_nodes)[:size]] = True
        cut = int((inside[:-1, None] & ~inside[table] & (table >= 0)).sum())
        assert size * (network.num_nodes - size) <= bound * cut


@pytest.mark.parametrize(
    ("text", "bound", "routed"),
    [
        ("rdn(cube(3), 1)", 176, 176),
        ("hdn(cube(2), [[0], [0, 1]])", 256, 256),
        ("mesh(5, 6)", 45, 45),
        ("torus(4, 6)", 18, 20),
    ],
)
def test_beside_the_load_of_the_routing(text, bound, routed):
    spec = parse(text)
    assert (bound_of(text), routing_statistics(plan(spec)).max_channel_load) == (bound, routed)


def test_1024_nodes_and_32768():
    assert bound_of("hdn(cube(3), [[0], [0, 1, 2]])") == 2560
    assert bound_of("rdn(cube(3), 2)") == 90_112


def test_none_where_it_is_too_large(monkeypatch):
    assert bound_of("cube(16)") is None
    assert bound_of("mesh(30, 31)") is None
    monkeypatch.setattr(flow, "MOST_FLOWS", 107)
    assert bound_of("mesh(3, 4)") is None
    monkeypatch.setattr(flow, "MOST_FLOWS", 108)
    assert bound_of("mesh(3, 4)") == 12
