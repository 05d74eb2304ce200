"""HSN paper, sections 4.1 and 5.3: diameters that are optimal for their degree up to a constant, and the constants.

The least diameter of so many nodes of a degree is the Moore bound.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import factorial, log2

from hdnhw.claims.claim import Case, Finding
from hdnhw.claims.hsn_corollaries import least_diameter
from hdnhw.claims.hsn_nuclei import claim_of, diameter_of
from hdnhw.claims.words import by_order, grown
from hdnhw.networks.build import build
from hdnhw.topology.metrics import degree_bounds

SEARCHED = 1024
"""Nodes of a network of which degree and diameter are searched, at most; of larger ones they are the closed forms."""

STARS = range(3, 11)
"""Symbols of star graphs that are nuclei."""

DIMENSIONS = (8, 16, 32, 64, 128, 256)
"""Of hypercubes."""


@dataclass(frozen=True)
class Shape:
    """A network's size, degree and diameter, by closed forms."""

    text: str
    nodes: int
    degree: int
    diameter: int

    @property
    def order(self) -> float:
        """``log2 N / log2 log2 N``."""
        return log2(self.nodes) / log2(log2(self.nodes))

    @property
    def ratio(self) -> float:
        """The diameter over the least one."""
        return self.diameter / least_diameter(self.nodes, self.degree)

    def check(self) -> None:
        """Compare a small network with what a search finds."""
        if self.nodes <= SEARCHED:
            network = build(self.text)
            found = network.num_nodes, degree_bounds(network)[1], diameter_of(network)
            assert found == (self.nodes, self.degree, self.diameter), f"closed forms of {self.text}"


def _swapped(levels: int, nucleus: Shape) -> Shape:
    """Return HSN(l, G) by equations 2 and 4 and Theorem 2.1."""
    return Shape(
        f"hsn({levels}, {nucleus.text})",
        nucleus.nodes**levels,
        nucleus.degree + levels - 1,
        nucleus.diameter * levels + levels - 1,
    )


def _star(n: int) -> Shape:
    return Shape(f"star({n})", factorial(n), n - 1, 3 * (n - 1) // 2)


def _grid(size: int, dimensions: int) -> Shape:
    sizes = ", ".join([str(size)] * dimensions)
    return Shape(f"ghc({sizes})", size**dimensions, dimensions * (size - 1), dimensions)


def _optimal(shapes: Iterable[Shape]) -> Finding:
    """Compare diameters with the least ones."""
    cases, rows = [], []
    for shape in shapes:
        shape.check()
        rows.append(
            {
                "network": shape.text,
                "log2 N": f"{log2(shape.nodes):.1f}",
                "degree": shape.degree,
                "D": shape.diameter,
                "least": least_diameter(shape.nodes, shape.degree),
                "ratio": f"{shape.ratio:.2f}",
            }
        )
        cases.append(Case(shape.text, shape.nodes, "of the order of the least", f"{shape.ratio:.2f} times", holds=True))
    worst = max(rows, key=lambda row: float(str(row["ratio"])))
    found = by_order(cases, [{"D": float(str(row["ratio"]))} for row in rows], table=rows)
    return replace(found, computed=f"{found.computed}; at most {worst['ratio']} times the least, {worst['network']}")


def star_nuclei() -> Finding:
    """Take HSNs of star graphs of as few nodes, or of as few symbols, as sqrt(log N / log log N).

    With few nodes, n! of them, l grows as n!^2: the degree is about l, the diameter 3 n l / 2, log N / log l is l / 2.
    """
    cases, rows = [], []
    first, quotients = 0.0, []
    for n in STARS:
        nucleus = _star(n)
        levels = _most_levels(nucleus, nucleus.nodes)
        degree, digits = nucleus.degree + levels - 1, levels * log2(nucleus.nodes)
        least = (digits - log2(degree / (degree - 2))) / log2(degree - 1)
        ratio = (nucleus.diameter * levels + levels - 1) / least
        fewer = _swapped(_most_levels(nucleus, n), nucleus)
        fewer.check()
        first = first or fewer.ratio
        quotients.append({"D": ratio})
        row = {"n": n, "nodes of the nucleus": nucleus.nodes, "l": levels, "ratio": f"{ratio:.2f}"}
        rows.append(row | {"l for n symbols": _most_levels(nucleus, n), "its ratio": f"{fewer.ratio:.2f}"})
        cases.append(
            Case(
                network=f"hsn({levels}, star({n}))",
                nodes=nucleus.nodes,
                published="of the order of the least",
                computed=f"{ratio:.2f} times",
                holds=True,
                corrected=fewer.ratio <= first,
            )
        )
    corrected = "for star graphs of n = Omega(sqrt(log N / log log N)) symbols"
    of = "star graphs, at as many levels as their nodes allow"
    found = by_order(cases, quotients, of=of, corrected=corrected, table=rows)
    return replace(found, computed=f"{found.computed}: {rows[0]['ratio']} to {rows[-1]['ratio']} times the least")


def _most_levels(nucleus: Shape, size: int) -> int:
    """Return the largest l, 2 at least, for which a size reaches sqrt(log2 N / log2 log2 N), N that of HSN(l, G)."""
    levels, step = 2, 1
    bits = log2(nucleus.nodes)

    def reaches(levels: int) -> bool:
        return size**2 >= levels * bits / log2(levels * bits)

    while reaches(levels + step):
        step *= 2
    while step:
        levels += step * reaches(levels + step)
        step //= 2
    return levels


def grid_nuclei() -> Finding:
    """Take HSNs of generalized hypercubes of a degree of at least log N / log log N."""
    nuclei = [_grid(size, dimensions) for size, dimensions in product(range(3, 33), (2, 3))]
    pairs = [(nucleus, _swapped(levels, nucleus)) for nucleus, levels in product(nuclei, range(2, 17))]
    return _optimal(shape for nucleus, shape in pairs if nucleus.degree >= shape.order)


def as_the_star() -> Finding:
    """Compare HSN(l, K_M), M = Theta(log N / log log N), with star graphs and hypercubes."""
    swapped = [_swapped(levels, Shape(f"complete({levels})", levels, levels - 1, 1)) for levels in range(4, 33)]
    stars = [_star(n) for n in range(4, 33)]
    cases, rows, quotients = [], [], []
    for shape in [*swapped, *stars]:
        shape.check()
        sizes = {"degree": shape.degree / shape.order, "D": shape.diameter / shape.order, "of the least": shape.ratio}
        row = {name: f"{size:.2f}" for name, size in sizes.items()}
        rows.append({"network": shape.text, "log2 N": f"{log2(shape.nodes):.1f}", **row})
        quotients.append(sizes)
        cases.append(Case(shape.text, shape.nodes, "as the star graph", row, holds=True))
    ratios = [Shape(f"cube({n})", 2**n, n, n).ratio for n in DIMENSIONS]
    rows += [
        {"network": f"cube({n})", "log2 N": f"{n:.1f}", "degree": "", "D": "", "of the least": f"{ratio:.2f}"}
        for n, ratio in zip(DIMENSIONS, ratios, strict=True)
    ]
    cases.append(
        Case(
            network="hypercubes",
            nodes=2 ** DIMENSIONS[-1],
            published="worse",
            computed=[round(ratio, 2) for ratio in ratios],
            holds=ratios == sorted(ratios) and ratios[-1] > max(shape.ratio for shape in swapped),
        )
    )
    found = by_order(cases, [*quotients, {}], table=rows)
    rate = grown("log2 N / log2 log2 N", [shape.order for shape in [*swapped, *stars]])
    return replace(found, computed=f"{found.computed}; {rate}")


READING = "optimal beside the Moore bound of the size and degree"

CLAIMS = (
    claim_of(
        "section 4.1",
        "degree and diameter of HSN(l, K_M) for M = Theta(log N / log log N), beside the star graph and the hypercube",
        "optimal as of the star graph, and better than of the hypercube",
        as_the_star,
        reading=f"M = l, 4 to 32; degree and diameter of both of the order of log2 N / log2 log2 N; {READING}; the "
        "hypercube's ratio to it grows beyond that of any HSN of the row",
    ),
    claim_of(
        "section 5.3",
        "diameter of HSNs of star graphs of Omega(sqrt(log N / log log N)) nodes",
        "asymptotically optimal",
        star_nuclei,
        reading=f"{READING}, at the most levels for which the nodes reach the square root; of the correction, the "
        "ratio is nowhere larger than with star(3)",
    ),
    claim_of(
        "section 5.3",
        "diameter of HSNs of generalized hypercubes, their size and dimension chosen properly",
        "asymptotically optimal",
        grid_nuclei,
        reading=f"properly: 2 or 3 dimensions, and a degree of log2 N / log2 log2 N or more; {READING}",
    ),
)
