"""Commands that help to choose a network: side by side, or by a search."""

import argparse
from typing import Any

from hdnhw.cli.options import AT_MOST, DONE, Result, add_command, asked_of
from hdnhw.library import choosing

DIGITS = 4
"""Of numbers in a table on a terminal, behind the point."""


def compare(options: argparse.Namespace) -> tuple[Result, int]:
    """Print networks side by side."""
    found = choosing.compare(*options.specs, **asked_of(options))
    return found if options.json else {"networks": _shown([_with_bound(row) for row in found.networks])}, DONE


def design(options: argparse.Namespace) -> tuple[Result, int]:
    """Search for networks near a size."""
    found = choosing.design(**asked_of(options))
    return found if options.json else found | {name: _shown(found[name]) for name in ("front", "networks")}, DONE


def _with_bound(row: Result) -> Result:
    """Return a row as a table shows it: a bisection that is not proved as a bound, in one column."""
    shown = {name: value for name, value in row.items() if name != "bisection_exact"}
    return shown | ({"bisection": f"{AT_MOST}{row['bisection']}"} if row["bisection_exact"] is False else {})


def _shown(rows: list[Result]) -> list[Result]:
    """Return rows as a table shows them: numbers are rounded."""
    return [{k: round(v, DIGITS) if isinstance(v, float) else v for k, v in row.items()} for row in rows]


def add_choosing_commands(commands: Any) -> None:
    """Add the commands ``compare`` and ``design``."""
    parser = add_command(
        commands,
        "compare",
        compare,
        summary="print networks side by side",
        example="hdnhw compare 'rdn(cube(3), 1)' 'torus(8, 16)' 'hcn(3)' --plot networks.svg",
        spec=False,
        asks=choosing.CompareOptions,
    )
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="networks, for example 'rdn(cube(3), 1)'")
    add_command(
        commands,
        "design",
        design,
        summary="search all dual-nets and products near a size for the best networks",
        example="hdnhw design --nodes 1024 --degree 5 --sort average_distance --plot front.svg",
        spec=False,
        asks=choosing.DesignOptions,
    )
