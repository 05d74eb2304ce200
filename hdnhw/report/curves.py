"""Load curves: latency against the rate that is offered."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hdnhw.spec import SpecError

__all__ = ["check_plot", "plot_curves"]

SUFFIXES = (".svg", ".png", ".pdf")

CEILING = 6
"""Latencies are shown up to so many times the lowest one."""


def check_plot(path: Path) -> None:
    """Raise SpecError unless curves can be drawn to a file of this name."""
    if path.suffix not in SUFFIXES:
        raise SpecError(f"plot must be a file {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, not {str(path)!r}")


def plot_curves(curves: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw mean packet latency against the offered rate, a line for each network.

    Parameters
    ----------
    curves : sequence of dict
        As :meth:`hdnhw.model.sweep.Sweep.run` returns them.
    path : Path
        A file whose suffix :func:`check_plot` accepts. The same curves give the same SVG.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    check_plot(path)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    lowest, highest = float("inf"), 0.0
    for curve in curves:
        rows = [row for row in curve["points"] if row["packet_latency"] and not row["saturated"]]
        rates, latencies = [row["offered_rate"] for row in rows], [row["packet_latency"]["mean"] for row in rows]
        saturation = curve["saturation_rate"]
        name = f"{curve['spec']}, {curve['nodes']} nodes" + ("" if saturation is None else f": {saturation:.3f}")
        axes.plot(rates, latencies, marker="o", markersize=3, linewidth=1.2, label=name)
        lowest, highest = min([lowest, *latencies]), max([highest, *latencies])
    if highest:
        axes.set_ylim(0, min(CEILING * lowest, 1.05 * highest))
    axes.set_xlim(left=0)
    axes.set_xlabel("offered rate, flits a node and cycle")
    axes.set_ylabel("mean packet latency, cycles")
    axes.grid(linewidth=0.3)
    figure.legend(loc="outside upper center", ncols=2, fontsize=8, title="network: saturation", title_fontsize=8)
    with rc_context({"svg.hashsalt": "hdnhw", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
