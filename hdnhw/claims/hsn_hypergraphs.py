"""HSN paper, sections 2.1, 2.4 and 5.3: nuclei whose nodes share buses.

A bus is a hyperedge: it counts as one link at each of its nodes, and takes a message from any of them to any other in
one hop. A buslet is one bus. In the networks of the package a bus is a switch, at two hops; here the hyperedges are
written down from the paper's words and searched.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod

from hdnhw.claims.claim import Case, Finding, judge
from hdnhw.claims.hsn_nuclei import claim_of

Hyperedges = list[tuple[int, ...]]
"""Nodes of each bus or link."""

NUCLEI = ((2,), (3,), (4,), (8,), (2, 2), (2, 3), (3, 3), (4, 4), (2, 2, 2), (2, 3, 4))
"""Sides of grids whose rows, in every direction, are buses; of one side that is a buslet."""

MOST = 256
"""Nodes of a network, at most."""


def _buses(sides: Sequence[int]) -> Hyperedges:
    """Return the buses of a grid: the nodes that differ in one coordinate."""
    buses: dict[tuple[int, ...], list[int]] = {}
    for number, node in enumerate(product(*map(range, sides))):
        for place in range(len(sides)):
            buses.setdefault((place, *node[:place], -1, *node[place + 1 :]), []).append(number)
    return [tuple(bus) for bus in buses.values()]


def _swapped(levels: int, nucleus: Hyperedges, size: int) -> Hyperedges:
    """Return the hyperedges of HSN(l, G): X_1 over those of G, and X_l X_(l-1:2) X_1 to X_1 X_(l-1:2) X_l."""
    found = [tuple(first + node for node in edge) for first in range(0, size**levels, size) for edge in nucleus]
    for node, level in product(range(size**levels), range(2, levels + 1)):
        weight = size ** (level - 1)
        upper, own = node // weight % size, node % size
        if own < upper:
            found.append((node, node + (own - upper) * weight + upper - own))
    return found


def _degree_and_diameter(hyperedges: Hyperedges, nodes: int) -> tuple[int, int]:
    """Return the most hyperedges at a node, and the most that lie between two nodes, by search from every node."""
    at: list[list[int]] = [[] for _ in range(nodes)]
    for number, edge in enumerate(hyperedges):
        for node in edge:
            at[node].append(number)
    others = [sorted({other for number in numbers for other in hyperedges[number]}) for numbers in at]
    return max(map(len, at)), max(_farthest(others, node) for node in range(nodes))


def _farthest(others: Sequence[Iterable[int]], start: int) -> int:
    reached, frontier, hops = {start}, [start], -1
    while frontier:
        found = {there for here in frontier for there in others[here]} - reached
        reached |= found
        frontier, hops = sorted(found), hops + 1
    return hops


def bus_nuclei() -> Finding:
    """Search HSNs of buslets and of grids of buses: degree and diameter."""
    cases = []
    for sides, levels in product(NUCLEI, range(2, 7)):
        size = prod(sides)
        if size**levels <= MOST:
            nucleus = _buses(sides)
            own_degree, own_diameter = _degree_and_diameter(nucleus, size)
            assert (own_degree, own_diameter) == (len(sides), len(sides)), "a node is on one bus a direction"
            found = _degree_and_diameter(_swapped(levels, nucleus, size), size**levels)
            published = own_degree + levels - 1, own_diameter * levels + levels - 1
            what = f"a buslet of {size}" if len(sides) == 1 else f"buses over {sides}"
            cases.append(Case(f"HSN({levels}, {what})", size**levels, published, found, holds=published == found))
    return judge(cases)


CLAIMS = (
    claim_of(
        "sections 2.1 and 5.3",
        "degree and diameter where the nucleus is a hypergraph: a buslet, or a grid of buses",
        "d_1 + l - 1 and D_1 l + l - 1 (equation 4 and Theorem 2.1)",
        bus_nuclei,
        reading="a bus is one link at each of its nodes, and one hop between any two: d_1 = D_1 = 1 of a buslet",
    ),
)
