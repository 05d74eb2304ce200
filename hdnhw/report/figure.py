"""Figures as files and in pages: formats, style, and the line below that says what they are of and what made them."""

from collections.abc import Sequence
from importlib import import_module
from io import BytesIO, StringIO
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from hdnhw.files import check_output, replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

__all__ = ["check_plot", "figure_svg", "save_figure"]

SUFFIXES = (".svg", ".png", ".pdf")

STYLE: "dict[RcKeyType, Any]" = {"svg.hashsalt": "hdnhw", "svg.fonttype": "none"}
"""Ids that do not change from run to run, and text as text."""

SMALL, LETTERS, LINE = 7, 19, 0.14
"""Of the text below a figure: size in points, letters an inch, and inches a line."""


def check_plot(path: Path) -> None:
    """Raise SpecError unless figures can be drawn to a file of this name."""
    check_output("plot", path, SUFFIXES)
    import_module("matplotlib.figure")  # an error now, not after the work


def save_figure(figure: "Figure", path: Path, caption: Sequence[str] = ()) -> None:
    """Write a figure; it is drawn in memory, as some formats make another error of a full disk.

    Parameters
    ----------
    figure : Figure
    path : Path
        A file whose suffix :func:`check_plot` accepts. The same figure gives the same SVG.
    caption : sequence of str
        Lines below it: what it is of, and the command that makes it. Long ones are broken.

    Raises
    ------
    SpecError
        See :func:`check_plot`.
    """
    from matplotlib import rc_context

    check_plot(path)
    _write_below(figure, caption)
    drawn = BytesIO()
    with rc_context(STYLE):
        figure.savefig(drawn, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None)
    with replacing(path) as new:
        new.write_bytes(drawn.getvalue())


def figure_svg(figure: "Figure") -> str:
    """Return a figure as an element ``svg`` of a page: transparent, without metadata."""
    from matplotlib import rc_context

    text = StringIO()
    with rc_context(STYLE):
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(text, format="svg", transparent=True, metadata=nothing)
    return text.getvalue()[text.getvalue().index("<svg") :]


def _write_below(figure: "Figure", caption: Sequence[str]) -> None:
    """Make room below a figure and write lines there, behind what its label says already."""
    if not caption:
        return
    width, height = figure.get_size_inches()
    lines = [part for line in caption for part in wrap(line, int(width * LETTERS), subsequent_indent="  ")]
    there = figure.get_supxlabel()
    figure.set_size_inches(width, height + LINE * len(lines))
    text = "\n".join([*([there] if there else []), *lines])
    figure.supxlabel(text.replace("$", r"\$"), x=0.01, ha="left", fontsize=SMALL)
