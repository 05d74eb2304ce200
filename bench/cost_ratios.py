"""The least CR_w of dual-nets, products and Kautz graphs beside the Moore bound, with its figure; twenty seconds."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product as pairs
from math import log2, prod
from pathlib import Path

from hdnhw.figures.cost_ratios import draw_cost_ratios
from hdnhw.figures.figure import check_plot, save_figure
from hdnhw.networks.build import build
from hdnhw.networks.design import measure, search
from hdnhw.networks.families.dualnets import hdn, rdn
from hdnhw.networks.parse import parse
from hdnhw.spec import complete, cube, product, torus
from hdnhw.spec.products import Factor, Product
from hdnhw.topology.metrics import degree_bounds, distances_from, summarize_distances, weighted_cost_ratio

MOST_NODES, MOST_COST = 1 << 20, 40
"""Of the networks; cost is ports and diameter together."""

COMPARED = ((64, 5, 2.0), (256, 6, 2.0), (1024, 6, 1.5))
"""Nodes, ports and range of searches by `hdnhw design` with which the best are compared."""

RANDOM = ("jellyfish(128, 5, 1)", "jellyfish(2048, 5, 1)")
"""Random graphs that are compared."""

TORI = [(side,) * dimensions for dimensions in (2, 3) for side in range(3, 1025) if side**dimensions <= MOST_NODES]
"""Square and cubic tori."""


@dataclass(frozen=True)
class Part:
    """A factor of the base, and how many levels' super-nodes hold it, the lowest ones as S is nested."""

    factor: Factor
    held: int


Networks = dict[int, dict[int, tuple[int, tuple[Part, ...]]]]
"""For each cost the sizes of which that is the least, with the levels and the base of a network."""


def moore(ports: int, diameter: int) -> int:
    """Return the most nodes that a network of so many ports and hops can have."""
    return 1 + ports * sum(int((ports - 1) ** hops) for hops in range(diameter))


def most_by_moore(cost: int) -> tuple[int, int, int]:
    """Return the most nodes for ports and diameter of this sum, and both."""
    return max((moore(ports, cost - ports), ports, cost - ports) for ports in range(1, cost))


def parts(levels: int, cost: int) -> Iterator[tuple[int, int, Part]]:
    """Yield every part of a base of so many levels: what it adds to the cost, what it multiplies the nodes by.

    With a factor of p nodes, d ports and diameter D in the super-nodes of the lowest h levels, w = 2^(k - h) of k
    levels, nodes are multiplied by p^w, and d + w D is added.
    """
    for held in range(levels + 1):
        weight = 2 ** (levels - held)
        factors = [Factor("cycle", size) for size in range(2, 2 * cost) if size != 4]
        factors += [Factor("complete", size) for size in range(4, cost + 1)]
        for factor in factors:
            added = factor.degree + weight * factor.diameter
            if added <= cost and factor.size**weight <= MOST_NODES:
                yield added, factor.size**weight, Part(factor, held)


def largest(levels: int) -> dict[int, dict[int, tuple[Part, ...]]]:
    """Return for each cost the sizes of all bases up to MOST_NODES in all, with one base of each."""
    own, most = 2 ** (2**levels - 1), MOST_NODES // 2 ** (2**levels - 1)
    start = levels + 2 ** (levels + 1) - 2
    found: dict[int, dict[int, tuple[Part, ...]]] = {start: {1: ()}}
    every = sorted(parts(levels, MOST_COST - start), key=lambda item: item[:2])
    for cost in range(start + 1, MOST_COST + 1):
        here: dict[int, tuple[Part, ...]] = {}
        for added, factor, part in every:
            for size, base in found.get(cost - added, {}).items():
                if size * factor <= most:
                    here.setdefault(size * factor, (*base, part))
        found[cost] = here
    return {cost: {own * size: base for size, base in bases.items() if base} for cost, bases in found.items()}


def spec_of(levels: int, base: tuple[Part, ...]) -> str:
    """Return the spec of a base and its super-nodes."""
    order = sorted(base, key=lambda part: (part.factor.kind == "complete", part.factor.size, part.held))
    rings = [part.factor.size for part in order if part.factor.kind == "cycle"]
    full = [complete(part.factor.size) for part in order if part.factor.kind == "complete"]
    small: list[Product] = [cube(len(rings)) if set(rings) == {2} else torus(*rings)] if rings else []
    factors = [*small, *full]
    whole = factors[0] if len(factors) == 1 else product(*factors)
    if levels == 0:
        return str(whole)
    inside = [[place for place, part in enumerate(order) if part.held >= level] for level in range(1, levels + 1)]
    return str(hdn(whole, inside) if any(inside) else rdn(whole, levels))


def all_networks() -> Networks:
    """Return the least cost of each size."""
    least: dict[int, tuple[int, int, tuple[Part, ...]]] = {}
    for levels in range(5):
        for cost, sizes in largest(levels).items():
            for size, base in sizes.items():
                if (size not in least or cost < least[size][0]) and not _is_whole(levels, base):
                    least[size] = (cost, levels, base)
    by_cost: Networks = {}
    for size, (cost, levels, base) in least.items():
        by_cost.setdefault(cost, {})[size] = (levels, base)
    return by_cost


def _is_whole(levels: int, base: tuple[Part, ...]) -> bool:
    """Return whether level 1 has one cluster a class: isomorphic to a network of one level less, listed there."""
    return levels > 0 and all(part.held for part in base)


def ratio(cost: int, nodes: int) -> float:
    """Return CR_w."""
    return cost / (2 * log2(nodes))


def print_meetings(by_cost: Networks) -> None:
    """Print the sizes for which no network can have a lower cost."""
    bounds = {cost: most_by_moore(cost)[0] for cost in range(2, MOST_COST)}
    met = [size for cost, sizes in by_cost.items() for size in sizes if cost == 2 or size > bounds[cost - 1]]
    print(f"sizes of {sum(map(len, by_cost.values()))} at which the least cost is the Moore bound's: {sorted(met)}")


def check_design(by_cost: Networks) -> None:
    """Compare the least costs with those that `hdnhw design` lists, for some sizes."""
    least = {size: cost for cost, sizes in by_cost.items() for size in sizes}
    compared = 0
    for nodes, ports, within in COMPARED:
        for design in search(nodes, ports, within):
            compared += 1
            cost = design.degree + design.diameter
            assert cost > MOST_COST or least[design.nodes] <= cost, str(design.spec)
    print(f"no better among {compared} networks that hdnhw design lists: {COMPARED}")


def checked(spec: str, nodes: int, cost: int) -> str:
    """Return ports and diameter of a network, by the closed forms and by search."""
    found, network = measure(parse(spec)), build(spec)  # type: ignore[arg-type]
    ports, searched = degree_bounds(network)[1], summarize_distances(network).diameter
    assert (network.num_nodes, ports, searched) == (found.nodes, found.degree, found.diameter)
    assert (nodes, cost) == (found.nodes, found.degree + found.diameter), spec
    return f"{spec}: {found.degree} ports, diameter {found.diameter}"


def print_largest(by_cost: Networks) -> list[tuple[int, float, str]]:
    """Print the largest network of each cost, while they grow, beside the Moore bound."""
    rows: list[tuple[int, float, str]] = []
    print(f"{'cost':>4} {'Moore bound':>14} {'d':>2} {'D':>2} {'CR_w':>5} {'largest':>8} {'CR_w':>5}  network")
    for cost in range(2, max(by_cost) + 1):
        bound, ports, diameter = most_by_moore(cost)
        size = max(by_cost.get(cost, {0: ()}))
        if rows and size <= rows[-1][0]:
            break
        spec = spec_of(*by_cost[cost][size])
        rows.append((size, ratio(cost, size), spec))
        text = f"{cost:4} {bound:14} {ports:2} {diameter:2} {ratio(cost, bound):5.3f}"
        print(f"{text} {size:8} {ratio(cost, size):5.3f}  {checked(spec, size, cost)}", flush=True)
    return rows


def kautz_graphs() -> dict[int, tuple[int, str]]:
    """Return nodes and spec of the largest Kautz graph of each cost, while they grow."""
    by_cost: dict[int, tuple[int, str]] = {}
    for d, n in pairs(range(2, MOST_COST), repeat=2):
        nodes, cost = d**n + d ** (n - 1), 2 * d - (n == 2) + n
        if nodes <= MOST_NODES and cost <= MOST_COST and nodes > by_cost.get(cost, (0, ""))[0]:
            by_cost[cost] = nodes, f"kautz({d}, {n})"
    found: dict[int, tuple[int, str]] = {}
    for cost, made in sorted(by_cost.items()):
        if not found or made > max(found.values()):
            found[cost] = made
    return found


def print_kautz(by_cost: Networks) -> list[tuple[int, float]]:
    """Print the largest Kautz graph of each cost beside the largest of the other networks; return nodes and CR_w.

    Its diameter is n: n shifts lead from any word to any other one, and a search finds that no fewer lead from 1010..
    to some.
    """
    print(f"{'cost':>4} {'largest':>8} {'CR_w':>5} {'Kautz':>8} {'CR_w':>5}  graph")
    points = []
    for cost, (nodes, spec) in kautz_graphs().items():
        network = build(spec)
        ports, n = degree_bounds(network)[1], len(network.radices)
        farthest = distances_from(network, network.parse_node(".".join("10" * n)[: 2 * n - 1])).max()
        assert (network.num_nodes, ports + n, farthest) == (nodes, cost, n), spec
        points.append((nodes, ratio(cost, nodes)))
        size = max(by_cost[cost])
        text = f"{cost:4} {size:8} {ratio(cost, size):5.3f} {nodes:8} {ratio(cost, nodes):5.3f}"
        print(f"{text}  {spec}: {ports} ports, diameter {n}", flush=True)
    return points


def print_random() -> list[tuple[int, float]]:
    """Print nodes, ports and diameter of random graphs; return nodes and CR_w."""
    points = []
    for spec in RANDOM:
        network = build(spec)
        ports, diameter = degree_bounds(network)[1], summarize_distances(network).diameter
        assert diameter is not None
        points.append((network.num_nodes, weighted_cost_ratio(network.num_nodes, ports, diameter)))
        print(f"{spec}: {ports} ports, diameter {diameter}, CR_w {points[-1][1]:.3f}")
    return points


def main() -> None:
    """Print the largest network of each cost beside the Moore bound, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, default=Path("docs/results/cost-ratio.svg"), help="file to draw to")
    options = parser.parse_args()
    check_plot(options.plot)
    by_cost = all_networks()
    rows = print_largest(by_cost)
    print_meetings(by_cost)
    check_design(by_cost)
    points = [(size, ratio(cost, size)) for cost, sizes in by_cost.items() for size in sizes]
    tori = [(prod(sizes), ratio(2 * len(sizes) + sum(size // 2 for size in sizes), prod(sizes))) for sizes in TORI]
    others = {
        "tori of two and three equal rings": tori,
        "Kautz graphs: the largest of each d + D": print_kautz(by_cost),
        "random graphs of 128 and 2048 nodes": print_random(),
    }
    moore = [most_by_moore(cost)[0] for cost in range(2, MOST_COST)]
    title = "Cost ratio CR_w against nodes"
    save_figure(draw_cost_ratios(points, rows, moore, others), options.plot, title=title)


if __name__ == "__main__":
    main()
