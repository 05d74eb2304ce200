"""The command that looks inside a running fabric."""

import argparse
import sys
from typing import Any

from hdnhw.cli import print_result
from hdnhw.cli.options import Command
from hdnhw.cli.waves import tree
from hdnhw.library import watch as library
from hdnhw.library.result import Result as Found

CLEAR = "\x1b[H\x1b[2J"
"""What empties a terminal."""


def _refresh(found: Found) -> None:
    """Print a table in place of the one before."""
    if sys.stdout.isatty():
        print(CLEAR, end="")
    print_result(tree(found), as_json=False)
    sys.stdout.flush()


class _Watch(Command):
    """Prints each table when it is there."""

    def asked(self, options: argparse.Namespace) -> dict[str, Any]:
        """See :meth:`Command.asked`."""
        return super().asked(options) | ({} if options.json else {"seen": _refresh})


COMMANDS = (
    _Watch(
        library.watch,
        purpose="hardware",
        example="hdnhw watch /dev/ttyUSB0 build/noc",
        arguments={
            "place": "serial line, or tcp:HOST:PORT",
            "folder": "folder of the emitted fabric",
        },
        shown=tree,
    ),
)
