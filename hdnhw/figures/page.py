"""A figure with tables and options as one HTML file that needs nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.figures.figure import figure_svg
from hdnhw.support.files import check_output
from hdnhw.support.naming import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIBRARIES = ("hdnhw", "numpy", "matplotlib")
"""On whose versions the page depends."""

NOTHING = "—"
"""Where there is no figure."""

UNSTABLE = ("seconds", "router_cycles_per_second")
"""Figures that differ from run to run."""

DIGITS = 6
"""Of a number in a table, if nobody says how many."""


@dataclass(frozen=True)
class Line:
    """A line of a table: cells, and whether it is pale; a link makes of the first cell a heading that leads there."""

    cells: Sequence[str]
    is_pale: bool = False
    link: str | None = None


@dataclass(frozen=True)
class Group:
    """Lines under a heading of their own, if any, to which links lead."""

    lines: Sequence[Line]
    name: str | None = None
    ident: str | None = None


@dataclass(frozen=True)
class Table:
    """A table: heading, id, names of columns, groups of lines, and paragraphs below it, those of notes with a name."""

    heading: str
    ident: str
    columns: Sequence[str]
    groups: Sequence[Group]
    text: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """What is drawn, and what stands beside it on a page.

    Attributes
    ----------
    title : str
    draw : callable
        Makes the figure.
    shows : str
        What it shows, for those who cannot see it.
    tables : sequence of Table
    options : mapping of str to object
        What all had in common, the machine and the load if there are any: name -> value.
    heading, caption : str
        Above and below the figure.
    """

    title: str
    draw: "Callable[[], Figure]"
    shows: str
    tables: Sequence[Table]
    options: Mapping[str, Any]
    heading: str = "Figure"
    caption: str = ""


def check_page(path: Path) -> None:
    """Raise SpecError unless a page can be written to a file of this name."""
    check_output(named("html"), path, (".html", ".htm"))
    import_module("matplotlib.figure")  # an error now, not after the work


def page_of(sheet: Sheet, command: str) -> str:
    """Return a sheet as HTML; it is the same for the same figures and versions.

    Parameters
    ----------
    sheet : Sheet
    command : str
        What makes the page: a command line, or the name of a function.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    template = environment.from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    return template.render(
        sheet=sheet,
        figure=figure_svg(sheet.draw()),
        options={name: shown(value) for name, value in sheet.options.items()},
        command=command,
        versions={name: version(name) for name in LIBRARIES},
    )


def table_of(heading: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return rows as a table, a column for each key of any of them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [Line([shown(row.get(name)) for name in names]) for row in rows]
    columns = [name.replace("_", " ") for name in names]
    return Table(heading, heading.lower().replace(" ", "-"), columns, [Group(lines)])


def figures_table(figures: Mapping[str, Any]) -> Table:
    """Return single figures below each other, without those that differ from run to run."""
    rows = [
        {"figure": name.replace("_", " "), "value": value} for name, value in figures.items() if name not in UNSTABLE
    ]
    return table_of("Figures", rows)


def shown(value: Any) -> str:
    """Return a value as a page shows it.

    Examples
    --------
    >>> shown(None), shown(True), shown(0.123456789), shown([1, 0.5])
    ('—', 'yes', '0.123457', '1, 0.5')
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(part) for part in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {shown(part)}" for name, part in value.items())
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)
