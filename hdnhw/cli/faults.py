"""Commands about dead nodes and channels."""

import argparse
from typing import Any

from hdnhw.cli.options import (
    DRAWN,
    Result,
    add_command,
    add_drawing_options,
    add_machine_options,
    add_worker_options,
    ended,
    rule_options,
)
from hdnhw.library import faults as library
from hdnhw.library.faults import BY_CASE, MOST_BY_DEFAULT, PATH_KINDS

DIGITS = 4
"""Of numbers in a table."""

TABLES = ("paths_left", "rates", "waypoints_left")
"""Keys with rows."""

OPTIONS = (
    *("rate", "channel_rate", "trials", "waypoints", "seed", "by_case", *BY_CASE, "workers", "cluster"),
    *DRAWN,
)


def faults(options: argparse.Namespace) -> tuple[Result, int]:
    """Count which pairs routing still joins, plainly and by waypoints, when nodes and channels are dead."""
    asked = {name: getattr(options, name) for name in OPTIONS}
    found, status = ended(library.faults(options.spec, **asked, **rule_options(options)))
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


def waypoints(options: argparse.Namespace) -> tuple[Result, int]:
    """Find the waypoints from a node to others around what is dead."""
    names = ("dead_nodes", "dead_channels", "waypoints", "one_way")
    asked = {name: getattr(options, name) for name in names}
    return ended(library.waypoints(options.spec, options.src, options.dst, **asked, **rule_options(options)))


def add_dead_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name what is dead."""
    parser.add_argument("--dead-nodes", metavar="NODE", nargs="+", default=[], help="dead routers")
    parser.add_argument(
        "--dead-channels", metavar="NODE:PORT", nargs="+", default=[], help="dead channels, by the node that they leave"
    )


def add_waypoints_option(parser: argparse.ArgumentParser, default: int | None = MOST_BY_DEFAULT) -> None:
    """Add the option that says how many waypoints a packet names."""
    told = f"most waypoints that a packet names (default {MOST_BY_DEFAULT})"
    parser.add_argument("--waypoints", type=int, default=default, metavar="W", help=told)


def add_faults_commands(commands: Any) -> None:
    """Add the commands ``faults`` and ``waypoints``."""
    parser = add_command(
        commands,
        "faults",
        faults,
        summary="count the pairs that routing still joins when nodes and channels are dead, by number of waypoints",
        example="hdnhw faults 'hdn(cube(3), [[0], [0, 1, 2]])' --rate 0.1 --trials 100",
    )
    parser.add_argument("--rate", type=float, metavar="F", help="share of the nodes (default 0.1)")
    parser.add_argument("--channel-rate", type=float, metavar="F", help="share of the other channels (default 0)")
    parser.add_argument("--trials", type=int, default=100, metavar="N", help="sets of faults (default 100)")
    add_waypoints_option(parser)
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the random numbers (default 1)")
    _add_case_options(parser)
    add_machine_options(parser, routes=True)
    add_worker_options(parser)
    parser = add_command(
        commands,
        "waypoints",
        waypoints,
        summary="find the waypoints that lead from a node around what is dead",
        example="hdnhw waypoints 'hdn(cube(3), [[2]])' 0 --dead-nodes 1 17 --dead-channels 0:cross1",
    )
    parser.add_argument("src", metavar="SRC", help="node number or address")
    parser.add_argument("dst", metavar="DST", nargs="?", help="node number or address; all nodes if omitted")
    add_dead_options(parser)
    add_waypoints_option(parser)
    parser.add_argument(
        "--one-way",
        action="store_true",
        help="do not ask that the legs to waypoints be healthy in both directions, as relays need them",
    )
    add_machine_options(parser, routes=True)


def _add_case_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``faults --by-case``."""
    parser.add_argument(
        "--by-case",
        action="store_true",
        help="on a dual-net, for pairs in one cluster (A), in clusters of two classes (B) and in two of a class (C): "
        "what is left of disjoint paths made without knowing the faults, beside what waypoints join",
    )
    parser.add_argument(
        "--rates", metavar="F,F,...", help=f"shares of the nodes, a row for each (by case, default {BY_CASE['rates']})"
    )
    parser.add_argument(
        "--paths",
        nargs="+",
        choices=PATH_KINDS,
        help="by the algorithms of `hdnhw paths` (default short), or mended: the paper's Algorithm 6 over third "
        "clusters and without loops",
    )
    parser.add_argument("--pairs", type=int, metavar="P", help="drawn of each case (default 1000)")
    add_drawing_options(parser, "what is left against the rate")
