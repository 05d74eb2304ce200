"""What routing still joins against the share of nodes that are dead."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hdnhw.figures.figure import SERIES
from hdnhw.figures.page import Sheet, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "osD^vPX*d"
"""By the most waypoints."""


def fault_rates_sheet(rows: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> Sheet:
    """Return the figure of :func:`draw_fault_rates` with its table; `about` says of which network it is."""
    return Sheet(
        title=f"Pairs that routing joins among dead nodes: {about['spec']}",
        draw=partial(draw_fault_rates, rows, about),
        shows="The share of the connected pairs that routing joins against the share of dead nodes, a line for each "
        "number of waypoints, and the share of pairs that are connected at all; the table has the figures.",
        tables=[table_of("Rates", rows)],
        options={name.replace("_", " "): value for name, value in about.items()},
    )


def draw_fault_rates(rows: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> "Figure":
    """Draw shares of pairs, a line for each number of waypoints.

    Parameters
    ----------
    rows : sequence of dict
        As ``hdnhw faults --fault-rates`` prints them as JSON, the least rate first.
    about : mapping of str to Any
        Spec and nodes of the network.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.add_subplot()
    rates = [100 * row["rate"] for row in rows]
    axes.plot(rates, [row["connected"] for row in rows], "k--", linewidth=1, label="connected, of all healthy pairs")
    for most in range(len(rows[0]["reached"])):
        shares = [row["reached"][most] for row in rows]
        look, color = f"{MARKERS[most % len(MARKERS)]}-", SERIES[most % len(SERIES)]
        name = "no waypoint" if most == 0 else f"up to {most} waypoint{'s' * (most > 1)}"
        axes.plot(
            rates, shares, look, color=color, markersize=4, linewidth=1.2, label=f"joined by {name}, of the connected"
        )
    axes.set_xlabel("dead nodes, %")
    axes.set_ylabel("share of pairs")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.02)
    axes.set_title(f"{about['spec']}, {about['nodes']} nodes", fontsize=10)
    axes.grid(linewidth=0.3)
    axes.legend(fontsize=8)
    return figure
