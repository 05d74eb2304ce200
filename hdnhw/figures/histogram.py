"""How many messages took how long."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hdnhw.figures.page import Sheet, figures_table, table_of
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import options_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OPTIONS = ("spec", "nodes", "pattern", "injection", "lengths", "rate", "interval", "seed", "format", "dependencies")
"""Keys of what was asked for, beside those of the machine."""

COLOR, MEAN = "#1f6f8b", "#c8702a"


def histogram_sheet(row: Mapping[str, Any]) -> Sheet:
    """Return the figure of :func:`draw_histogram` with its table.

    Parameters
    ----------
    row : mapping of str to Any
        As ``hdnhw simulate --histogram`` prints it as JSON.
    """
    rows = {name: value for name, value in row.items() if _are_rows(value)}
    asked = {name: row[name] for name in (*OPTIONS, *options_of(FabricSpec)) if row.get(name) is not None}
    figures = {name: value for name, value in row.items() if name not in rows and name not in asked}
    return Sheet(
        title=f"Latency on {row['spec']}",
        draw=partial(draw_histogram, row),
        shows="Messages against packet latency in cycles, a bar for each interval; the table has the figures.",
        tables=[figures_table(figures), *(table_of(name.capitalize(), value) for name, value in rows.items())],
        options={name.replace("_", " "): value for name, value in asked.items()},
    )


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def draw_histogram(row: Mapping[str, Any]) -> "Figure":
    """Draw a bar for each bin of latencies, and lines at the mean and at percentiles.

    Parameters
    ----------
    row : mapping of str to Any
        As ``hdnhw simulate --histogram`` prints it as JSON.
    """
    from matplotlib.figure import Figure

    bins: Sequence[Mapping[str, int]] = row["histogram"]
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    left = [one["from"] - 0.5 for one in bins]
    widths = [one["to"] - one["from"] + 1 for one in bins]
    axes.bar(
        left, [one["messages"] for one in bins], widths, align="edge", color=COLOR, edgecolor="white", linewidth=0.3
    )
    for dash, (name, value) in zip(("-", "--", ":", "-."), (row["packet_latency"] or {}).items(), strict=False):
        axes.axvline(value, color=MEAN, linestyle=dash, linewidth=1.2, label=f"{name} {value:g}")
    axes.set_xlabel("packet latency, cycles")
    axes.set_ylabel("messages")
    axes.set_title(f"{row['spec']}, {row['nodes']} nodes", fontsize=10)
    axes.grid(linewidth=0.3)
    if row["packet_latency"]:
        axes.legend(fontsize=8)
    return figure
