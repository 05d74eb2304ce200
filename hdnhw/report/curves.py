"""Load curves: latency against the rate that is offered."""

from collections.abc import Sequence
from importlib import import_module
from io import BytesIO, StringIO
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.files import check_output, replacing

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

__all__ = ["STYLE", "SUFFIXES", "check_plot", "curves_svg", "plot_curves", "save_figure"]

SUFFIXES = (".svg", ".png", ".pdf")

MARKERS = "osD^vPX"
"""By turns, as the ten colours are and, every ten curves, the dashes: no two of 280 curves look the same."""

DASHES = ("-", "--", ":", "-.")

CEILING = 6
"""Latencies are shown up to so many times the lowest one."""

STYLE: "dict[RcKeyType, Any]" = {"svg.hashsalt": "hdnhw", "svg.fonttype": "none"}
"""Ids that do not change from run to run, and text as text."""


def check_plot(path: Path) -> None:
    """Raise SpecError unless curves can be drawn to a file of this name."""
    check_output("plot", path, SUFFIXES)
    import_module("matplotlib.figure")  # an error now, not after the work


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

    with rc_context(STYLE):
        save_figure(_draw(curves), path)


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure; it is drawn in memory, as some formats make another error of a full disk.

    Raises
    ------
    SpecError
        See :func:`check_plot`.
    """
    check_plot(path)
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None)
    with replacing(path) as new:
        new.write_bytes(drawn.getvalue())


def curves_svg(curves: Sequence[dict[str, Any]]) -> str:
    """Return the figure of :func:`plot_curves` as an element ``svg`` of a page: transparent, without metadata."""
    from matplotlib import rc_context

    text = StringIO()
    with rc_context(STYLE):
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        _draw(curves).savefig(text, format="svg", transparent=True, metadata=nothing)
    return text.getvalue()[text.getvalue().index("<svg") :]


def _draw(curves: Sequence[dict[str, Any]]) -> Any:
    from matplotlib.figure import Figure

    there = dict.fromkeys(curve["note"] for curve in curves if curve["note"])
    notes = {note: "*" * number for number, note in enumerate(there, start=1)}
    figure = Figure(figsize=(7, 4 + 0.18 * ceil(len(curves) / 2) + 0.15 * len(notes)), layout="constrained")
    axes = figure.add_subplot()
    lowest, highest = float("inf"), 0.0
    for number, curve in enumerate(curves):
        rows = [row for row in curve["points"] if row["packet_latency"] and row["steady"]]
        rates, latencies = [row["offered_rate"] for row in rows], [row["packet_latency"]["mean"] for row in rows]
        look = f"C{number % 10}{MARKERS[number % len(MARKERS)]}{DASHES[number // 10 % len(DASHES)]}"
        axes.plot(
            rates, latencies, look, markersize=4, linewidth=1.2, label=_label(curve) + notes.get(curve["note"], "")
        )
        lowest, highest = min([lowest, *latencies]), max([highest, *latencies])
    if highest:
        axes.set_ylim(0, min(CEILING * lowest, 1.05 * highest))
    axes.set_xlim(left=0)
    axes.set_xlabel("offered rate, flits a node and cycle")
    axes.set_ylabel("mean packet latency, cycles")
    axes.grid(linewidth=0.3)
    title = "network: saturation throughput, flits a node and cycle"
    figure.legend(loc="outside upper center", ncols=2, fontsize=8, title=title, title_fontsize=8)
    figure.supxlabel("\n".join(f"{mark} {note}" for note, mark in notes.items()), x=0.01, ha="left", fontsize=7)
    return figure


def _label(curve: dict[str, Any]) -> str:
    throughput = curve["saturation_throughput"]
    return f"{curve['spec']}, {curve['nodes']} nodes" + ("" if throughput is None else f": {throughput:.3f}")
