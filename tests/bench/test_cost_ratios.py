"""The least cost of each size against a listing of all candidates of `hdnhw design`."""

from itertools import product

from bench import cost_ratios
from hdnhw.figures.cost_ratios import draw_cost_ratios
from hdnhw.figures.figure import save_figure
from hdnhw.networks.build import build
from hdnhw.networks.design import candidates, measure
from hdnhw.networks.parse import parse
from hdnhw.topology.metrics import degree_bounds, summarize_distances

NODES, COST = 200, 12


def test_least_costs_are_those_of_a_listing(monkeypatch):
    monkeypatch.setattr(cost_ratios, "MOST_NODES", NODES)
    monkeypatch.setattr(cost_ratios, "MOST_COST", COST)
    found = {size: cost for cost, sizes in cost_ratios.all_networks().items() for size in sizes}
    listed = {}
    for spec in candidates(2, NODES, COST - 1, longest_ring=2 * COST):
        design = measure(spec)
        cost = design.degree + design.diameter
        if cost <= COST:
            listed[design.nodes] = min(cost, listed.get(design.nodes, cost))
    assert found == listed


def test_specs_are_of_the_size_and_cost_that_is_said(monkeypatch):
    monkeypatch.setattr(cost_ratios, "MOST_NODES", NODES)
    monkeypatch.setattr(cost_ratios, "MOST_COST", COST)
    for cost, sizes in cost_ratios.all_networks().items():
        for size, network in sizes.items():
            design = measure(parse(cost_ratios.spec_of(*network)))
            assert (design.nodes, design.degree + design.diameter) == (size, cost)


def test_the_moore_bound():
    assert [cost_ratios.most_by_moore(cost) for cost in (2, 4, 5, 9)] == [(2, 1, 1), (5, 2, 2), (10, 3, 2), (485, 4, 5)]


def test_the_same_picture_twice(tmp_path):
    for name in ("a.svg", "b.svg"):
        points, best = [(4, 1.0), (5, 0.861)], [(5, 0.861, "torus(5)")]
        save_figure(draw_cost_ratios(points, best, [2, 3, 5], {"tori": [(9, 1.1)]}), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert ">1  torus(5): 5, 0.861<" in (tmp_path / "a.svg").read_text()


def test_the_largest_kautz_graph_of_each_cost(monkeypatch):
    monkeypatch.setattr(cost_ratios, "MOST_NODES", 120)
    largest = {}
    for d, n in product(range(2, 8), range(2, 6)):
        network = build(f"kautz({d}, {n})")
        if network.num_nodes <= 120:
            cost = degree_bounds(network)[1] + summarize_distances(network).diameter
            largest[cost] = max(largest.get(cost, 0), network.num_nodes)
    costs = [cost for cost in largest if cost <= 12]
    growing = {
        cost: largest[cost] for cost in costs if all(largest[less] < largest[cost] for less in costs if less < cost)
    }
    assert {cost: nodes for cost, (nodes, _) in cost_ratios.kautz_graphs().items() if cost <= 12} == growing
