"""The files into which a command draws what it has found: a figure, and a page with figure, tables and options."""

from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hdnhw.figures.figure import check_plot, save_figure
from hdnhw.figures.look import Look
from hdnhw.figures.page import Sheet, check_page, page_of, shown
from hdnhw.support.files import check_distinct, replacing
from hdnhw.support.naming import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Outputs:
    """The files that were asked for, looked at before the work.

    Attributes
    ----------
    plot, html : path or None
    command : str
        What makes them: a command line, or the name of a function.
    look : Look
        Of the figure.
    name : str
        Option that names the plot.

    Raises
    ------
    SpecError
        If one cannot be written, or both are the same.
    """

    plot: str | PathLike[str] | None
    html: str | PathLike[str] | None
    command: str
    look: Look = field(default_factory=Look)
    name: str = "plot"

    def __post_init__(self) -> None:
        files = {named(self.name): self.plot, named("html"): self.html}
        check_distinct({name: path if path is None else str(path) for name, path in files.items()})
        if self.plot is not None:
            check_plot(Path(self.plot), self.name)
        if self.html is not None:
            check_page(Path(self.html))

    @property
    def are_asked(self) -> bool:
        """Whether there is any."""
        return self.plot is not None or self.html is not None

    def _drawn(self, sheet: Sheet) -> "Figure":
        return self.look.apply(sheet.draw())

    def write(self, sheet: Sheet) -> None:
        """Write a sheet to the files that were asked for; the metadata of a plot have its options and the command."""
        sheet = replace(sheet, draw=partial(self._drawn, sheet))
        if self.plot is not None:
            said = "; ".join(f"{name}: {shown(value)}" for name, value in sheet.options.items() if value is not None)
            save_figure(sheet.draw(), Path(self.plot), title=sheet.title, settings=said, command=self.command)
        if self.html is not None:
            page = page_of(sheet, self.command)
            with replacing(Path(self.html)) as new:
                new.write_text(page, encoding="utf-8")
