"""Networks side by side, and the front of a search, as pictures."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hdnhw.figures.curves import MARKERS
from hdnhw.figures.figure import SERIES
from hdnhw.figures.page import Sheet, table_of
from hdnhw.networks.design import Design

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = {
    "nodes": "nodes",
    "degree": "ports",
    "diameter": "diameter, hops",
    "average_distance": "average distance, hops",
    "cr_w": "CR_w",
    "bisection": "bisection, edges",
    "num_vcs": "buffer classes",
    "saturation_bound": "saturation bound,\nflits/node/cycle",
}
"""Key of a row -> title of its panel."""

GAP = 6
"""Between the text behind a bar and the frame, pixels."""

PLACES = ((0.0, 8.0), (0.0, -8.0), (-9.0, 0.0), (9.0, 0.0))
"""Where the number of a point may stand, in points from it, the first that is free."""

AWAY = 7.0
"""Between a number and another point or number, at least, if it can be; points."""

NAMED = 24
"""Networks of a front that are named, at most."""


def comparison_sheet(rows: Sequence[dict[str, Any]], weight: float) -> Sheet:
    """Return the figure of :func:`draw_comparison` with its table; `weight` is w1 of CR_w."""
    return Sheet(
        title="Networks side by side: " + ", ".join(row["spec"] for row in rows),
        draw=partial(draw_comparison, rows),
        shows="A bar for each figure of each network; the table has the figures.",
        tables=[table_of("Networks", rows)],
        options={"w1 of CR_w": weight},
    )


def draw_comparison(rows: Sequence[dict[str, Any]]) -> "Figure":
    """Draw a bar for each figure of each network.

    Parameters
    ----------
    rows : sequence of dict
        As ``hdnhw compare`` prints them; a figure that is None is said to be unknown.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 1.2 + 0.8 * len(rows)), layout="constrained")
    grid = figure.subplots(2, len(PANELS) // 2, sharey=True)
    for axes, (key, title) in zip(grid.flat, PANELS.items(), strict=True):
        values = [row[key] for row in rows]
        axes.barh(range(len(rows)), [value or 0 for value in values], color="#1f6f8b", height=0.6)
        for place, row in enumerate(rows):
            text = "unknown" if row[key] is None else f"{row[key]:.4g}" if isinstance(row[key], float) else row[key]
            least = "at most " if key == "bisection" and row["bisection_exact"] is False else ""
            axes.annotate(f" {least}{text}", (row[key] or 0, place), va="center", fontsize=7)
        axes.set_title(title, fontsize=8)
        axes.set_yticks(range(len(rows)), labels=[row["spec"] for row in rows], fontsize=8)
        axes.tick_params(axis="x", labelsize=7)
    grid.flat[0].invert_yaxis()
    figure.draw_without_rendering()
    for axes in grid.flat:
        _make_room(axes)
    return figure


def _make_room(axes: Any) -> None:
    """Widen the axis of bars until the text behind each is inside the frame."""
    width = axes.bbox.width
    ends = [text.xy[0] / (1 - (text.get_window_extent().width + GAP) / width) for text in axes.texts]
    axes.set_xlim(0, max(ends) or 1)


def front_sheet(
    found: Sequence[Design],
    front: Sequence[Design],
    about: Mapping[str, Any],
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Sheet:
    """Return the figure of :func:`draw_front` with its tables; `about` and `rows` are what ``design`` returns."""
    return Sheet(
        title=f"Networks of about {about['nodes']} nodes with at most {about['degree']} ports",
        draw=partial(draw_front, found, front, nodes=about["nodes"]),
        shows="Average distance in hops against nodes, a dot for each candidate; lines join the front of each number "
        "of ports.",
        tables=[table_of("Front", rows["front"]), table_of("Networks", rows["networks"])],
        options={name.replace("_", " "): value for name, value in about.items()},
    )


def draw_front(found: Sequence[Design], front: Sequence[Design], *, nodes: int) -> "Figure":
    """Draw average distance against nodes, a color for each number of ports; lines join the front of each.

    Parameters
    ----------
    found : sequence of Design
        All candidates, the best first.
    front : sequence of Design
        Those on the front, as :func:`hdnhw.networks.design.front` returns them; the best are named.
    nodes : int
        Nodes wished for; a line is drawn there.
    """
    from matplotlib.figure import Figure

    chosen = {one.spec for one in front}
    named = [one for one in found if one.spec in chosen][:NAMED]
    figure = Figure(figsize=(7.1, 6.5), layout="constrained")
    axes = figure.add_subplot()
    colors = _draw_degrees(axes, found, front)
    axes.set_ylim(0, 1.5 * max(_points(front)[1], default=1))
    ordered = sorted(named, key=lambda one: (one.degree, one.nodes))
    for number, (one, offset) in enumerate(zip(ordered, _label_places(axes, ordered), strict=True), start=1):
        ((x,), (y,)) = _points([one])
        axes.annotate(str(number), (x, y), offset, textcoords="offset points", ha="center", va="center", fontsize=7)
        color = colors[one.degree]
        axes.plot(
            [], [], "o", color=color, markersize=4, label=f"{number}  {one.spec}: {one.nodes} nodes, {y:.2f} hops"
        )
    axes.axvline(nodes, color="#888", linewidth=0.8, zorder=0)
    axes.set_xlabel("nodes")
    axes.set_ylabel("average distance, hops")
    axes.grid(linewidth=0.3)
    figure.legend(loc="outside lower center", fontsize=7, ncols=2)
    return figure


def _draw_degrees(axes: Any, found: Sequence[Design], front: Sequence[Design]) -> dict[int, str]:
    """Draw a dot for each candidate, and join those on the front; return the color of each number of ports."""
    colors = {degree: SERIES[place % len(SERIES)] for place, degree in enumerate(sorted({one.degree for one in found}))}
    for degree, color in colors.items():
        own = [one for one in found if one.degree == degree]
        axes.plot(*_points(own), ".", color=color, markersize=2, alpha=0.4, zorder=1, rasterized=True)
        best = sorted((one for one in front if one.degree == degree), key=lambda one: one.nodes)
        line = f"{MARKERS[degree % len(MARKERS)]}-"
        axes.plot(*_points(best), line, color=color, markersize=4, linewidth=1, label=f"best of {degree} ports")
    return colors


def _label_places(axes: Any, named: Sequence[Design]) -> list[tuple[float, float]]:
    """Return where the number of each point stands, in points from it: where it is farthest from points and numbers."""
    axes.figure.draw_without_rendering()
    points = axes.transData.transform(np.transpose(_points(named))) if named else np.empty((0, 2))
    scale = axes.figure.dpi / 72
    taken, offsets = list(points), []
    for point in points:
        free = [min(np.hypot(*(point + scale * np.array(place) - other)) for other in taken) for place in PLACES]
        offsets.append(PLACES[int(np.argmax(np.minimum(free, AWAY * scale)))])
        taken.append(point + scale * np.array(offsets[-1]))
    return offsets


def _points(designs: Sequence[Design]) -> tuple[list[int], list[float]]:
    known = [one for one in designs if one.average_distance is not None]
    return [one.nodes for one in known], [float(one.average_distance) for one in known if one.average_distance]
