"""The command that makes a page on which a network is explored."""

import argparse
from typing import Any

from hdnhw.cli.options import Parser, Result, add_command, add_machine_options, ended, machine_options
from hdnhw.library import explorer
from hdnhw.library.picture import PICTURE_LIMIT

RUN = ("root", "rate", "pattern", "cycles", "seed")
"""Options that say what is played and recorded."""


def explore(options: argparse.Namespace) -> tuple[Result, int]:
    """Write the page of a network."""
    asked = {name: getattr(options, name) for name in RUN if getattr(options, name) is not None}
    command = options.command.replace(" --json", "")
    return ended(explorer.explore(options.spec, options.output, command=command, **asked, **machine_options(options)))


def add_explore_command(commands: Any) -> None:
    """Add the command ``explore``."""
    parser: Parser = add_command(
        commands,
        "explore",
        explore,
        summary=f"write a page on which a network of up to {PICTURE_LIMIT} nodes is explored: routes, disjoint "
        "paths, collective operations, packets",
        example="hdnhw explore 'rdn(cube(2), 1)' -o page.html",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="HTML file to write")
    parser.add_argument("--root", metavar="NODE", help="source of the broadcast and the scatter (default 0)")
    parser.add_argument("--rate", type=float, metavar="R", help="flits a node and cycle that are offered (default 0.2)")
    pattern = parser.add_argument("--pattern")
    parser.helps.append((pattern, lambda: "where packets go, as of simulate (default uniform)"))
    parser.add_argument(
        "--cycles", type=int, metavar="N", help="cycles from reset on in which packets are created (default 400)"
    )
    parser.add_argument("--seed", type=int, help="of the random numbers (default 1)")
    add_machine_options(parser, timed=True)
