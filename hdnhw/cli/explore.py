"""The command that makes a page on which a network is explored."""

import argparse
from typing import Any

from hdnhw.cli.options import Result, add_command, add_machine_options, asked_of, ended
from hdnhw.library import explorer
from hdnhw.library.picture import PICTURE_LIMIT


def explore(options: argparse.Namespace) -> tuple[Result, int]:
    """Write the page of a network."""
    asked = asked_of(options) | {"command": options.command.replace(" --json", "")}
    return ended(explorer.explore(options.spec, options.output, **asked))


def add_explore_command(commands: Any) -> None:
    """Add the command ``explore``."""
    parser = add_command(
        commands,
        "explore",
        explore,
        summary=f"write a page on which a network of up to {PICTURE_LIMIT} nodes is explored: routes, disjoint "
        "paths, collective operations, packets",
        example="hdnhw explore 'rdn(cube(2), 1)' -o page.html",
        asks=explorer.ExploreOptions,
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="HTML file to write")
    add_machine_options(parser, timed=True)
