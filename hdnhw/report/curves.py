"""Load curves: latency against the rate that is offered."""

from collections.abc import Sequence
from importlib import import_module
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.files import check_output, replacing

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

__all__ = ["STYLE", "SUFFIXES", "check_plot", "curves_svg", "plot_curves", "save_figure"]

SUFFIXES = (".svg", ".png", ".pdf")

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
    return figure
