"""Bandwidth of the algorithms of an all-reduce against the size of the vector."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from hdnhw.figures.figure import SERIES
from hdnhw.figures.page import Sheet, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {"short": ("o", "-"), "long": ("s", "--"), "ring": ("^", "-."), "doubling": ("D", ":")}
"""Marker and line of each algorithm."""


def bandwidth_sheet(result: dict[str, Any], machine: Mapping[str, Any]) -> Sheet:
    """Return the figure of :func:`draw_bandwidth` with its table; `machine` is what options say of it."""
    names = ("spec", "nodes", "on", "startup_time", "word_time")
    return Sheet(
        title=f"All-reduce on {result['spec']}",
        draw=partial(draw_bandwidth, result),
        shows="Words of the vector a cycle against words of the vector, a line for each algorithm, and the bound; the "
        "table has the times, in cycles.",
        tables=[table_of("Times", result["sizes"])],
        options={name.replace("_", " "): value for name, value in {n: result[n] for n in names}.items()}
        | dict(machine),
    )


def draw_bandwidth(result: dict[str, Any]) -> "Figure":
    """Draw words of the vector a cycle: the cost model as lines, the model as points, and the bound.

    Parameters
    ----------
    result : dict
        As ``hdnhw collective SPEC --op allreduce --sizes M,...`` prints it as JSON.
    """
    from matplotlib.figure import Figure

    rows = result["sizes"]
    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.add_subplot()
    axes.loglog(*_rate(rows, "bound"), "k-", linewidth=0.7, label="bound")
    for color, (name, (marker, line)) in zip(SERIES, LOOKS.items(), strict=False):
        if name not in rows[0]:
            continue
        label = f"{name}, {result['startups'][name]} start-ups"
        axes.loglog(*_rate(rows, name), color=color, linestyle=line, linewidth=1.2, label=label)
        if f"{name}_cycles" in rows[0]:
            axes.loglog(*_rate(rows, f"{name}_cycles"), color=color, marker=marker, markersize=5, linestyle="none")
    _finish(axes, result)
    return figure


def _rate(rows: list[dict[str, Any]], name: str) -> tuple[list[int], list[float]]:
    sizes = [row["vector_words"] for row in rows]
    return sizes, [size / row[name] for size, row in zip(sizes, rows, strict=True)]


def _finish(axes: Any, result: dict[str, Any]) -> None:
    from matplotlib.lines import Line2D

    sizes = [row["vector_words"] for row in result["sizes"]]
    axes.set_xticks(sizes, labels=[f"{size:,}" for size in sizes], fontsize=8)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("words of the vector")
    axes.set_ylabel("words of the vector a cycle")
    axes.grid(linewidth=0.3)
    axes.set_title(f"All-reduce on {result['spec']}, {result['nodes']} nodes", fontsize=10)
    handles, _ = axes.get_legend_handles_labels()
    times = f"t_s = {result['startup_time']:g}, t_w = {result['word_time']:g} cycles"
    handles.append(Line2D([], [], color="gray", label=f"cost model, {times}"))
    if result["on"] == "model":
        handles.append(Line2D([], [], color="gray", marker="o", linestyle="none", label="cycle-accurate model"))
    axes.legend(handles=handles, fontsize=8, loc="lower right")
