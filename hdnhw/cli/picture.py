"""The command that draws networks, and what goes on in them."""

import argparse
from typing import Any

from hdnhw.cli.faults import add_dead_options, add_waypoints_option
from hdnhw.cli.options import Parser, Result, add_command, add_machine_options, ended, rule_options
from hdnhw.collectives.choices import SPLITS
from hdnhw.library import picture as library
from hdnhw.library.collectives.exchange import SPLIT
from hdnhw.library.picture import DRAWN, LABELS, PICTURE_LIMIT
from hdnhw.library.routes import PATH_ALGORITHMS, ROUTE_ALGORITHMS
from hdnhw.spec import EXCHANGE_ORDERS

OPTIONS = (
    "labels",
    "route",
    "paths",
    "fan",
    "cluster",
    "collective",
    "embed",
    "algorithm",
    "dead_nodes",
    "dead_channels",
    "waypoints",
    "root",
    "step",
    "ports",
    "schedule",
    "split",
)


def picture(options: argparse.Namespace) -> tuple[Result, int]:
    """Draw a network as SVG."""
    asked = {name: getattr(options, name) for name in OPTIONS}
    return ended(library.picture(options.spec, options.output, **asked, **rule_options(options)))


def _add_options(parser: Parser) -> None:
    parser.add_argument(
        "--labels",
        choices=LABELS,
        default="number",
        help="what a node bears: its number (default), or its address as the papers write it",
    )
    drawn = parser.add_mutually_exclusive_group()
    drawn.add_argument("--route", nargs=2, metavar=("SRC", "DST"), help="draw the route from SRC to DST")
    drawn.add_argument(
        "--paths", nargs=2, metavar=("SRC", "DST"), help="draw paths from SRC to DST that share no other node"
    )
    drawn.add_argument(
        "--fan",
        nargs="+",
        metavar=("NODE", "END"),
        help="draw paths from NODE to different clusters of a dual-net: Algorithm 3 of the disjoint-path paper; with "
        "END, a node of the same cluster, Algorithm 5: one path ends there",
    )
    drawn.add_argument("--cluster", metavar="NODE", help="draw the cross-edges that leave NODE's cluster in a dual-net")
    drawn.add_argument(
        "--collective",
        choices=DRAWN,
        help="draw what a schedule sends: arrows in the colour of their step; with all steps a node also bears the "
        "first one that brings it a message, or the last in which it gives some away (gather, reduce, reducescatter)",
    )
    drawn.add_argument("--embed", metavar="GUEST", help="draw a ring, mesh or other network, as embed places it")
    parser.add_argument(
        "--algorithm",
        choices=tuple(dict.fromkeys((*ROUTE_ALGORITHMS, *PATH_ALGORITHMS))),
        help="of --route: paper or hop; of --paths: short, address, flow or paper; as of the commands route and paths",
    )
    add_machine_options(parser, routes=True)
    add_dead_options(parser)
    add_waypoints_option(parser, default=None)
    _add_step_options(parser)


def _add_step_options(parser: Parser) -> None:
    """Add the options that say which schedule, and what of it."""
    parser.add_argument(
        "--root",
        metavar="NODE",
        help="source of a broadcast or scatter, destination of a gather or reduce (default 0); of an allgather or "
        "exchange, the node whose messages alone are drawn, of a reducescatter, the one whose result is",
    )
    parser.add_argument("--step", metavar="N", help="draw this step alone, or some as 0-3; numbers as of --steps")
    parser.add_argument("--ports", choices=("one", "all"), help="ports that a node uses in a step (default one)")
    parser.add_argument(
        "--schedule", choices=EXCHANGE_ORDERS, help="exchange: the papers' order, or the one of fewest words (default)"
    )
    parser.add_argument("--split", choices=SPLITS, help=f"{SPLIT} (default destination)")


def add_picture_command(commands: Any) -> None:
    """Add the command ``picture``."""
    parser = add_command(
        commands,
        "picture",
        picture,
        summary=f"draw a network of up to {PICTURE_LIMIT} nodes, or what goes on in it, as SVG",
        example="hdnhw picture 'rdn(cube(2), 1)' --paths 0 31 -o paths.svg",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="SVG file to write")
    _add_options(parser)
