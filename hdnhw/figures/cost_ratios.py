"""The cost ratio CR_w of many networks against their size, with a bound from below."""

from collections.abc import Mapping, Sequence
from math import log2
from typing import TYPE_CHECKING

from hdnhw.figures.figure import SERIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Point = tuple[int, float]


def draw_cost_ratios(
    points: Sequence[Point],
    best: Sequence[tuple[int, float, str]],
    moore: Sequence[int],
    others: Mapping[str, Sequence[Point]],
) -> "Figure":
    """Draw CR_w against nodes.

    Parameters
    ----------
    points : sequence of (int, float)
        Nodes and CR_w of networks.
    best : sequence of (int, float, str)
        The largest network of each cost, and its spec: named.
    moore : sequence of int
        The most nodes by the Moore bound for ports and diameter of sum 2, 3, and so on.
    others : mapping of str to sequence of (int, float)
        Other networks, by what they are called; up to three.
    """
    from matplotlib.figure import Figure

    most = max(nodes for nodes, _ in points)
    figure = Figure(figsize=(7.1, 9), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(*zip(*points, strict=True), ".", color=SERIES[0], markersize=2, alpha=0.4, zorder=1, rasterized=True)
    sizes, ratios, specs = zip(*sorted(best), strict=True)
    axes.plot(
        sizes, ratios, "o", color=SERIES[0], markersize=4, label="dual-nets and products: the largest of each d + D"
    )
    for number, (nodes, ratio, spec) in enumerate(zip(sizes, ratios, specs, strict=True), start=1):
        axes.annotate(str(number), (nodes, ratio), (0, 5), textcoords="offset points", ha="center", fontsize=7)
        axes.plot([], [], " ", label=f"{number}  {spec}: {nodes}, {ratio:.3f}")
    axes.plot(
        *zip(*_bound(moore, most), strict=True), "-", color=SERIES[1], linewidth=1, label="least by the Moore bound"
    )
    for (label, those), marker, color in zip(others.items(), "^sx", (SERIES[2], SERIES[3], SERIES[6]), strict=False):
        axes.plot(*zip(*those, strict=True), marker, color=color, markersize=4, label=label)
    axes.axhline(1, color=SERIES[5], linewidth=1, label="hypercubes")
    axes.set_xscale("log", base=2)
    axes.set_ylim(0.3, 1.3)
    axes.set_xlabel("nodes")
    axes.set_ylabel("CR_w")
    axes.grid(linewidth=0.3)
    figure.legend(loc="outside lower center", fontsize=7)
    return figure


def _bound(moore: Sequence[int], most: int) -> list[tuple[float, float]]:
    """Return the corners of the least CR_w: from one size to the next the cost is the same."""
    corners: list[tuple[float, float]] = []
    first = 2
    for cost, last in enumerate(moore, start=2):
        corners += [(nodes, cost / (2 * log2(nodes))) for nodes in (first, min(last, most)) if nodes <= most]
        first = last + 1
        if first > most:
            break
    return corners
