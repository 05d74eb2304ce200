"""The command that checks the papers."""

import argparse
from typing import Any

from hdnhw.cli.options import Result, add_command, ended
from hdnhw.library import papers as library


def papers(options: argparse.Namespace) -> tuple[Result, int]:
    """Check the claims of the papers."""
    asked = {name: getattr(options, name) for name in ("paper", "claim", "workers", "output")}
    found, status = ended(library.papers(**asked, command=options.command.replace(" --json", "")))
    return found if options.json else {**found, "claims": [_line(row) for row in found["claims"]]}, status


def _line(row: Result) -> Result:
    """Return what the table on a terminal has room for."""
    names = ("id", "where", "claim", "published", "computed", "verdict", "seconds", "memory_mib")
    return {name: row[name] for name in names}


def add_papers_command(commands: Any) -> None:
    """Add the command ``papers``."""
    parser = add_command(
        commands,
        "papers",
        papers,
        summary="check every table, theorem and numeric claim of the papers",
        example="hdnhw papers --paper HDN -o docs",
        spec=False,
    )
    parser.add_argument("--paper", action="append", metavar="NAME", help="HDN, RDN, DISJ, HSN or DC (default all)")
    parser.add_argument("--claim", action="append", metavar="ID", help="one claim, as HDN-7 (first column)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a processor)")
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="folder for papers.md, its pictures and tables, errata.md"
    )
