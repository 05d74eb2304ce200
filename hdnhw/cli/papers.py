"""The command that checks the papers."""

from hdnhw.cli.options import Command, Result
from hdnhw.library import papers as library

SHOWN = ("id", "where", "claim", "published", "computed", "verdict", "seconds", "memory_mib")
"""What the table on a terminal has room for."""


def _shown(found: Result) -> Result:
    return found | {"claims": [_line(row) for row in found["claims"]]}


def _line(row: Result) -> Result:
    return {name: row[name] for name in SHOWN}


COMMANDS = (
    Command(
        library.papers,
        purpose="papers",
        example="hdnhw papers --paper HDN -o papers",
        arguments={"output": "DIR folder for the pages, their pictures and tables"},
        shown=_shown,
    ),
)
