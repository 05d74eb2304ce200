"""Commands that help to choose a network: side by side, or by a search."""

from hdnhw.cli.options import AT_MOST, Command, Result
from hdnhw.library import choosing

DIGITS = 4
"""Of numbers in a table on a terminal, behind the point."""


def _compared(found: Result) -> Result:
    return {"networks": _shown([_with_bound(row) for row in found["networks"]])}


def _designed(found: Result) -> Result:
    return found | {name: _shown(found[name]) for name in ("front", "networks")}


def _with_bound(row: Result) -> Result:
    """Return a row as a table shows it: a bisection that is not proved as a bound, in one column."""
    shown = {name: value for name, value in row.items() if name != "bisection_exact"}
    return shown | ({"bisection": f"{AT_MOST}{row['bisection']}"} if row["bisection_exact"] is False else {})


def _shown(rows: list[Result]) -> list[Result]:
    """Return rows as a table shows them: numbers are rounded."""
    return [{k: round(v, DIGITS) if isinstance(v, float) else v for k, v in row.items()} for row in rows]


COMMANDS = (
    Command(
        choosing.compare,
        purpose="networks",
        example="hdnhw compare 'rdn(cube(3), 1)' 'torus(8, 16)' 'hcn(3)' --plot networks.svg",
        shown=_compared,
    ),
    Command(
        choosing.design,
        purpose="networks",
        example="hdnhw design --nodes 1024 --degree 5 --sort average_distance --plot front.svg",
        shown=_designed,
    ),
)
