"""Figures 12 to 14 of the disjoint-path paper drawn anew, with routing by waypoints among them."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hdnhw.figures.figure import SERIES
from hdnhw.figures.page import Sheet, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = {
    "all_paths": "share of pairs with all paths (figure 12)",
    "any_path": "share of pairs with a path (figure 13), or joined",
    "mean_hops": "mean length of the paths left, hops (figure 14)",
    "mean_clusters": "mean clusters on the paths left",
}
COLORS = dict(zip("ABC", SERIES, strict=False))
LINES = ("-", "--", ":")
MARKERS = "oxs^vD+*."
"""By turns, for the most waypoints."""


def path_faults_sheet(
    left: Sequence[dict[str, Any]], joined: Sequence[dict[str, Any]], about: Mapping[str, Any]
) -> Sheet:
    """Return the figure of :func:`draw_path_faults` with its tables; `about` says of which network it is."""
    return Sheet(
        title=f"Disjoint paths among failed nodes: {about['spec']}",
        draw=partial(draw_path_faults, left, joined),
        shows="What is left of disjoint paths, and what waypoints join, against the share of nodes that have failed, a "
        "color for each case; the tables have the figures.",
        tables=[table_of("Paths left", left), *([table_of("Waypoints left", joined)] if joined else [])],
        options=about,
    )


def draw_path_faults(left: Sequence[dict[str, Any]], joined: Sequence[dict[str, Any]]) -> "Figure":
    """Draw what is left against the rate of faults, a panel for each figure: a color for each case.

    Parameters
    ----------
    left : sequence of dict
        As :func:`hdnhw.claims.literal.case_survey.paths_left` returns them; a dash for each kind of paths.
    joined : sequence of dict
        As :func:`hdnhw.claims.literal.case_survey.waypoints_left` does, drawn beside the share of pairs with a path; a
        marker for each number of waypoints.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.1, 7.5), layout="constrained")
    kinds = list(dict.fromkeys(row["paths"] for row in left))
    for axes, (name, label) in zip(figure.subplots(2, 2).flat, PANELS.items(), strict=True):
        for (kind, case), rows in groupby(left, key=lambda row: (row["paths"], row["case"])):
            line = LINES[kinds.index(kind) % len(LINES)]
            _draw(axes, [(row["rate"], row[name]) for row in rows], line, COLORS[case], f"case {case}, paths: {kind}")
        if name == "any_path":
            _draw_waypoints(axes, joined)
            handles = axes.get_legend_handles_labels()
        axes.set_xlabel("failed nodes, %")
        axes.set_title(label, fontsize=8)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.grid(linewidth=0.3)
    figure.legend(*handles, loc="outside upper center", ncols=2, fontsize=7.5)
    return figure


def _draw_waypoints(axes: Any, joined: Sequence[dict[str, Any]]) -> None:
    """Draw the share of pairs that at most so many waypoints join, a thin line for each number and case."""
    for most in range(len(joined[0]["reached"]) if joined else 0):
        for case, rows in groupby(joined, key=lambda row: row["case"]):
            style = f"{MARKERS[most % len(MARKERS)]}-"
            points = [(row["rate"], row["reached"][most]) for row in rows]
            _draw(axes, points, style, COLORS[case], f"case {case}, {most} waypoints", linewidth=0.5, markersize=4)


def _draw(axes: Any, points: Sequence[tuple[float, float]], style: str, color: str, label: str, **how: Any) -> None:
    axes.plot(
        *zip(*((100 * rate, value) for rate, value in points), strict=True), style, color=color, label=label, **how
    )
