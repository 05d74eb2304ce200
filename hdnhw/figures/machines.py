"""Machines on one network as a picture: throughput against latency, and the area of each."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hdnhw.figures.page import Sheet, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST = 2500.0
"""Area of the square around the largest mark, square points."""

COLORS = {True: "#1f6f8b", False: "#c8702a"}
"""Whether packet buffers are in block RAM -> color."""


def machines_sheet(rows: Sequence[dict[str, Any]], network: str, about: Mapping[str, Any]) -> Sheet:
    """Return the figure of :func:`draw_machines` with its table; `about` is what was asked for."""
    return Sheet(
        title=f"Machines on {network}",
        draw=partial(draw_machines, rows, network=network, hops=about["hops"]),
        shows="Gbit/s per node at saturation against nanoseconds at zero load, a mark for each machine, as large as "
        "a router; the table has the figures.",
        tables=[table_of("Machines", rows)],
        options={name.replace("_", " "): value for name, value in about.items()},
    )


def draw_machines(rows: Sequence[dict[str, Any]], *, network: str, hops: int) -> "Figure":
    """Draw Gbit/s per node against nanoseconds; a mark's area is that of a router, and it is filled on the front.

    Parameters
    ----------
    rows : sequence of dict
        As ``hdnhw machines`` prints them.
    network : str
        On which all are built.
    hops : int
        Channels over which the latency is.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.1, 4 + 0.17 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    area = LARGEST / max(row["sites"] for row in rows)
    for number, row in enumerate(rows):
        _draw(axes, number, row, area)
    axes.set_xlim(0, 1.15 * max(row["ns"] for row in rows))
    axes.set_ylim(0, 1.2 * max(row["gbits_per_node"] for row in rows))
    axes.set_xlabel(f"ns over {hops} hops at zero load")
    axes.set_ylabel("Gbit/s per node at saturation")
    what = "area of a mark: sites of a router; filled: on the Pareto front; blue: buffers in block RAM"
    axes.set_title(f"{network}\n{what}", fontsize=9)
    axes.grid(linewidth=0.3)
    figure.legend(loc="outside lower center", fontsize=7, handlelength=0, ncols=2)
    return figure


def _draw(axes: Any, number: int, row: dict[str, Any], area: float) -> None:
    """Draw the mark of a machine, so much `area` a site, and say what its number stands for; small ones come on top."""
    place, color = (row["ns"], row["gbits_per_node"]), COLORS[row["block_rams"] > 0]
    axes.scatter(
        *[[value] for value in place],
        s=area * row["sites"],
        clip_on=False,
        facecolor=color if row["front"] else "none",
        edgecolor=color,
        alpha=0.6,
        zorder=2 + 1 / row["sites"],
    )
    axes.annotate(str(number), place, ha="center", va="center", fontsize=8, zorder=4)
    size = f"{row['sites']} sites" + f", {row['block_rams']} block RAMs" * (row["block_rams"] > 0)
    default = " (default)" * row["default"]
    axes.plot(
        [], [], " ", label=f"{number}  {row['packet']} {row['options']}{default}\n    {size}, {row['fmax_mhz']} MHz"
    )
