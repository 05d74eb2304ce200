"""Commands that help to choose a network: side by side, or by a search."""

import argparse
from typing import Any

from hdnhw.cli.options import AT_MOST, DONE, DRAWN, Result, add_command, add_degree_weight_option, add_drawing_options
from hdnhw.library import choosing

DIGITS = 4
"""Of numbers in a table on a terminal, behind the point."""


def compare(options: argparse.Namespace) -> tuple[Result, int]:
    """Print networks side by side."""
    names = ("degree_weight", *DRAWN)
    found = choosing.compare(*options.specs, **{name: getattr(options, name) for name in names})
    return found if options.json else {"networks": _shown([_with_bound(row) for row in found.networks])}, DONE


def design(options: argparse.Namespace) -> tuple[Result, int]:
    """Search for networks near a size."""
    names = ("nodes", "degree", "within", "all", "longest_ring", "sort", "degree_weight", "limit", *DRAWN)
    found = choosing.design(**{name: getattr(options, name) for name in names})
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
    )
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="networks, for example 'rdn(cube(3), 1)'")
    add_drawing_options(parser, "bars of the figures")
    add_degree_weight_option(parser)
    _add_design(commands)


def _add_design(commands: Any) -> None:
    parser = add_command(
        commands,
        "design",
        design,
        summary="search all dual-nets and products near a size for the best networks",
        example="hdnhw design --nodes 1024 --degree 5 --sort average_distance --plot front.svg",
        spec=False,
    )
    parser.add_argument("--nodes", type=int, required=True, metavar="N", help="nodes wished for")
    parser.add_argument("--degree", type=int, required=True, metavar="D", help="most ports of a router to others")
    parser.add_argument(
        "--within", type=float, default=2.0, metavar="F", help="from N / F to N * F nodes are as good (default 2)"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="dual-nets with super-nodes that are not nested too: neither node-symmetric nor always routed shortest",
    )
    parser.add_argument(
        "--longest-ring",
        type=int,
        metavar="R",
        help="most nodes of a ring that is a factor (default 64, or fewer where there are too many candidates)",
    )
    parser.add_argument(
        "--sort",
        default="cr_w",
        metavar="KEY",
        help="what the list goes by, the best first: cr_w (default), average_distance, capacity (degree / average "
        "distance), degree, diameter, links or nodes",
    )
    add_degree_weight_option(parser)
    parser.add_argument("--limit", type=int, default=20, metavar="M", help="networks listed (default 20)")
    add_drawing_options(parser, "the Pareto front")
