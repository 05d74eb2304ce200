"""Figures as files and in pages: formats, style, and metadata that say what they are of and what made them."""

from importlib import import_module
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from hdnhw.support.files import check_output, replacing
from hdnhw.support.naming import named
from hdnhw.support.progress import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#333333")
"""Colors of what is drawn side by side, which the color-blind tell apart, too (Okabe and Ito, 2008)."""

SUFFIXES = (".svg", ".png", ".pdf")

STYLE: "dict[RcKeyType, Any]" = {"svg.hashsalt": "hdnhw", "svg.fonttype": "none", "pdf.fonttype": 42}
"""Ids that do not change from run to run, text as text, and fonts that publishers take."""

METADATA = {
    ".svg": ("Title", "Description", "Source"),
    ".png": ("Title", "Description", "Source"),
    ".pdf": ("Title", "Subject", "Keywords"),
}
"""By suffix, what the metadata call the title, the settings and the command."""

DOTS = 300
"""An inch of a PNG has."""

DATES = {".svg": "Date", ".pdf": "CreationDate"}
"""By suffix, a date that would be there."""


def check_plot(path: Path, option: str = "plot") -> None:
    """Raise SpecError unless figures can be drawn to a file of this name, which an option gives."""
    check_output(named(option), path, SUFFIXES)
    import_module("matplotlib.figure")  # an error now, not after the work


def save_figure(figure: "Figure", path: Path, *, title: str = "", settings: str = "", command: str = "") -> None:
    """Write a figure; it is drawn in memory, as some formats make another error of a full disk.

    Parameters
    ----------
    figure : Figure
    path : Path
        A file whose suffix :func:`check_plot` accepts. The same figure gives the same SVG.
    title, settings, command : str
        What it is of, with which options, and what makes it: they go into the metadata.

    Raises
    ------
    SpecError
        See :func:`check_plot`.
    """
    from matplotlib import rc_context

    check_plot(path)
    drawn = BytesIO()
    said = zip(METADATA[path.suffix], (title, settings, command), strict=True)
    metadata: dict[str, str | None] = {name: text for name, text in said if text}
    metadata |= {DATES[suffix]: None for suffix in DATES if suffix == path.suffix}
    with rc_context(STYLE), catch_warnings(record=True) as warned:
        simplefilter("always")
        figure.savefig(
            drawn, format=path.suffix[1:], metadata=metadata, dpi=DOTS if path.suffix == ".png" else "figure"
        )
    for reason in {str(one.message): None for one in warned}:
        if "collapsed" in reason:
            sizes = f"make {named('figure_size')} larger or {named('font_size')} smaller"
            reason = f"the figure has no room for what stands in it: {sizes}"
        say(f"{path}: {reason}")
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
