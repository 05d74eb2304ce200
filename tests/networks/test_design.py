"""The search for networks: beside breadth-first search, and beside all bases and super-nodes written out."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, pairwise, product
from math import prod

import networkx as nx
import pytest

from hdnhw.networks import design
from hdnhw.networks.build import build
from hdnhw.networks.design import ORDERS, candidates, front, measure, search
from hdnhw.networks.parse import parse
from hdnhw.support.errors import SpecError


def graph_of(spec):
    network = build(spec)
    graph = nx.Graph((node, other) for node in range(network.num_nodes) for other in network.neighbors(node).values())
    assert len(graph) == network.num_nodes
    return graph


def distances(graph):
    """Return how many ordered pairs lie at each distance, by breadth-first search from every node."""
    return Counter(chain.from_iterable(nx.single_source_shortest_path_length(graph, node).values() for node in graph))


@pytest.mark.parametrize("nested", [True, False])
def test_figures_are_those_of_breadth_first_search(nested):
    looked = Counter()
    for spec in candidates(2, 240, 4, nested=nested, longest_ring=10):
        found, graph = measure(spec), graph_of(spec)
        pairs, nodes = distances(graph), len(graph)
        assert (found.nodes, found.links, found.diameter) == (nodes, graph.number_of_edges(), max(pairs)), spec
        assert {degree for _, degree in graph.degree} == {found.degree}, spec
        assert found.average_distance == Fraction(sum(d * n for d, n in pairs.items()), nodes * (nodes - 1)), spec
        assert found.capacity == pytest.approx(
            nodes * (nodes - 1) * found.degree / sum(d * n for d, n in pairs.items())
        )
        looked[spec.__class__.__name__, found.nested] += 1
    assert looked["Product", True] > 40
    assert looked["DualNet", True] > 12
    assert (looked["DualNet", False] == 0) is nested


@pytest.mark.parametrize("spec", ["hdn(torus(2, 3), [[0], [0]])", "rdn(cube(2), 2)"])
def test_figures_of_larger_ones(spec):
    """Nested: nodes are alike."""
    found, graph = measure(parse(spec)), graph_of(parse(spec))
    own = nx.single_source_shortest_path_length(graph, 0).values()
    assert found.nodes > 1000
    assert found.average_distance == Fraction(sum(own), len(graph) - 1)
    assert found.diameter == max(own)


def test_a_closed_form_of_the_diameter_without_a_search(monkeypatch):
    spec = parse("hdn(cube(1), [[], [0]])")
    searched = measure(spec)
    monkeypatch.setattr(design, "MOST_SEARCHED", 10)
    assert measure(spec) == replace(searched, average_distance=None)


def written_bases(most, degree, longest_ring):
    """Yield the text, the sizes and the ports of every product in the bounds, as often as it can be written."""
    factors = [("torus", n, min(n - 1, 2)) for n in range(2, longest_ring + 1)]
    factors += [("complete", n, n - 1) for n in range(2, degree + 2)]
    for length in range(1, degree + 1):
        for chosen in combinations_with_replacement(factors, length):
            names, sizes, ports = zip(*chosen, strict=True)
            if prod(sizes) <= most and sum(ports) <= degree:
                parts = (f"{name}({size})" for name, size in zip(names, sizes, strict=True))
                yield f"product({', '.join(parts)})", sizes, sum(ports)


def every_network(most, degree, nested, longest_ring):
    """Yield the text of every product and dual-net in the bounds, as often as it can be written."""
    for text, sizes, ports in written_bases(most, degree, longest_ring):
        yield text
        sets = list(chain.from_iterable(combinations(range(len(sizes)), n) for n in range(len(sizes) + 1)))
        for levels in range(1, degree - ports + 1):
            for inside in product(sets, repeat=levels):
                nodes = prod(sizes)
                for held in inside:
                    nodes = 2 * nodes * nodes // prod(sizes[factor] for factor in held)
                if nodes <= most and not (nested and any(not set(b) <= set(a) for a, b in pairwise(inside))):
                    yield f"hdn({text}, {[list(held) for held in inside]})"


def shape(graph):
    """Return what isomorphic graphs have in common."""
    return len(graph), graph.number_of_edges(), *sorted(distances(graph).items())


@pytest.mark.parametrize(
    ("most", "degree", "nested", "least"),
    [
        (72, 4, True, 40),
        (130, 4, False, 45),
        (160, 5, True, 90),
        (160, 5, False, 90),
    ],
)
def test_every_network_is_found_once(most, degree, nested, least):
    """Each of the family, however written, is isomorphic to exactly one candidate."""
    known, met = {}, set()
    for spec in candidates(2, most, degree, nested=nested, longest_ring=8):
        graph = graph_of(spec)
        known.setdefault(shape(graph), []).append(graph)
    for text in every_network(most, degree, nested, longest_ring=8):
        graph = graph_of(parse(text))
        key = shape(graph)
        same = [place for place, other in enumerate(known.get(key, [])) if nx.vf2pp_is_isomorphic(graph, other)]
        assert len(same) == 1, text
        met.add((key, *same))
    assert len(met) == sum(map(len, known.values())) > least


def test_the_front_is_what_nothing_beats():
    found = search(200, 5, 1.5, nested=False)

    def beats(one, other):
        pairs = [
            (one.degree, other.degree),
            (one.average_distance, other.average_distance),
            (-min(one.nodes, 200), -min(other.nodes, 200)),
        ]
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    expected = [one for one in found if not any(beats(other, one) for other in found)]
    assert {one.spec for one in front(found, 200)} == {one.spec for one in expected}
    assert 4 < len(expected) < len(found) / 20
    assert {one.nodes >= 200 for one in expected} == {False, True}


def test_a_network_of_unknown_distances_is_not_on_the_front(monkeypatch):
    monkeypatch.setattr(design, "MOST_SEARCHED", 100)
    found = search(128, 4, 1, nested=False)
    unknown = [one for one in found if one.average_distance is None]
    assert unknown
    assert not {one.spec for one in unknown} & {one.spec for one in front(found, 128)}
    for order in ("average_distance", "capacity"):
        ordered = sorted(found, key=ORDERS[order])
        assert [one.average_distance for one in ordered[-len(unknown) :]] == [None] * len(unknown)
    assert all(one.capacity is None for one in unknown)


def test_thousands_of_candidates():
    found = search(1024, 6, 2)
    assert len(found) == len({str(one.spec) for one in found}) > 4000
    assert all(512 <= one.nodes <= 2048 and one.degree <= 6 and one.nested for one in found)
    assert all(parse(str(one.spec)) == one.spec for one in found[::50])


def test_a_search_that_finds_nothing():
    with pytest.raises(SpecError, match=r"^no dual-net or product has 50 to 200 nodes of at most 1 ports$"):
        search(100, 1, 2)


@pytest.mark.parametrize("limit", ["MOST_CHOICES", "MOST_CANDIDATES"])
def test_what_is_named_when_there_are_too_many_works(monkeypatch, limit):
    monkeypatch.setattr(design, limit, 100)
    with pytest.raises(SpecError, match=r" 100 .*: it works with longest_ring=\d+ or degree=\d+") as error:
        search(128, 4, 2)
    ring, degree = map(int, re.findall(r"[a-z_]+=(\d+)", str(error.value)))
    assert search(128, 4, 2, longest_ring=ring)
    assert search(128, degree, 2)
    with pytest.raises(SpecError, match="it works with"):
        search(128, degree + 1, 2)


def test_a_ring_that_fits(monkeypatch):
    assert design.fitting_ring(128, 4, 2) == 64
    monkeypatch.setattr(design, "MOST_CANDIDATES", 100)
    ring = design.fitting_ring(128, 4, 2)
    assert 8 <= ring < 64
    assert len(search(128, 4, 2, longest_ring=ring)) <= 100
    monkeypatch.setattr(design, "MOST_CANDIDATES", 1)
    assert design.fitting_ring(128, 4, 2) is None
    with pytest.raises(SpecError, match=r"more than 1 candidates: ask for fewer nodes or ports|it works with"):
        search(128, 4, 2)
