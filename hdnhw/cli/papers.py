"""The command that checks the papers."""

import argparse
from typing import Any

from hdnhw.cli.options import Result, add_command, asked_of, ended
from hdnhw.library import papers as library


def papers(options: argparse.Namespace) -> tuple[Result, int]:
    """Check the claims of the papers."""
    asked = asked_of(options) | {"command": options.command.replace(" --json", "")}
    found, status = ended(library.papers(output=options.output, **asked))
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
        asks=library.PapersOptions,
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="folder for papers.md, its pictures and tables, errata.md"
    )
