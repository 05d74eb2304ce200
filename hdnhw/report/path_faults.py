"""Disjoint paths among failed nodes: figures 12 to 14 of the disjoint-path paper, drawn anew."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hdnhw.report.curves import STYLE, save_figure

__all__ = ["plot_path_faults"]

PANELS = {
    "all_paths": "share of pairs with all paths (figure 12)",
    "any_path": "share of pairs with a path (figure 13)",
    "mean_hops": "mean length of the paths left, hops (figure 14)",
}
LINES = ("-", "--", ":")


def plot_path_faults(found: Mapping[str, Mapping[str, Sequence[Any]]], path: Path) -> None:
    """Draw what is left of paths against the rate of faults, a panel for each figure.

    Parameters
    ----------
    found : mapping of str to mapping of str to sequence of FaultPoint
        Kind of paths -> case of pairs -> a point for each rate; a colour for each case, a dash for each kind.
    path : Path
        A file that ends in .svg, .png or .pdf.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(11, 4.2), layout="constrained")
        for axes, (name, label) in zip(figure.subplots(1, len(PANELS)), PANELS.items(), strict=True):
            for line, (kind, cases) in zip(LINES, found.items(), strict=False):
                for number, (case, points) in enumerate(sorted(cases.items())):
                    rows = [(100 * point.rate, getattr(point, name)) for point in points]
                    axes.plot(*zip(*rows, strict=True), line, color=f"C{number}", label=f"case {case}, {kind}")
            axes.set_xlabel("failed nodes, %")
            axes.set_title(label, fontsize=9)
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0)
            axes.grid(linewidth=0.3)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(found), fontsize=8)
        save_figure(figure, path)
