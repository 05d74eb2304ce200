"""Commands about dead nodes and channels."""

import argparse
from typing import Any

from hdnhw.cli.options import Result, add_command, add_machine_options, asked_of, calls, ended
from hdnhw.library import faults as library

DIGITS = 4
"""Of numbers in a table."""

TABLES = ("paths_left", "rates", "waypoints_left")
"""Keys with rows."""


def faults(options: argparse.Namespace) -> tuple[Result, int]:
    """Count which pairs routing still joins, plainly and by waypoints, when nodes and channels are dead."""
    found, status = ended(library.faults(options.spec, **asked_of(options)))
    if not options.json:
        found = {name: _shown(value) if name in TABLES else value for name, value in found.items()}
    return found, status


def _shown(rows: list[Result]) -> list[Result]:
    """Return rows as a table shows them: numbers rounded, and for a list a column for each number of waypoints."""

    def shown(value: Any) -> Any:
        if isinstance(value, list):
            return {str(most): shown(part) for most, part in enumerate(value)}
        return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value

    return [{name: shown(value) for name, value in row.items()} for row in rows]


def add_faults_commands(commands: Any) -> None:
    """Add the commands ``faults`` and ``waypoints``."""
    parser = add_command(
        commands,
        "faults",
        faults,
        summary="count the pairs that routing still joins when nodes and channels are dead, by number of waypoints",
        example="hdnhw faults 'hdn(cube(3), [[0], [0, 1, 2]])' --rate 0.1 --trials 100",
        asks=library.FaultOptions,
    )
    add_machine_options(parser, routes=True)
    parser = add_command(
        commands,
        "waypoints",
        calls(library.waypoints, "spec", "src", "dst"),
        summary="find the waypoints that lead from a node around what is dead",
        example="hdnhw waypoints 'hdn(cube(3), [[2]])' 0 --dead-nodes 1 17 --dead-channels 0:cross1",
        asks=library.WaypointOptions,
    )
    parser.add_argument("src", metavar="SRC", help="node number or address")
    parser.add_argument("dst", metavar="DST", nargs="?", help="node number or address; all nodes if omitted")
    add_machine_options(parser, routes=True)
