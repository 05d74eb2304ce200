"""Commands about collective operations."""

import argparse
from typing import Any

from hdnhw.cli.faults import add_dead_options
from hdnhw.cli.options import (
    DRAWN,
    Parser,
    Result,
    add_command,
    add_drawing_options,
    add_machine_options,
    ended,
    machine_options,
)
from hdnhw.collectives.choices import COMBINING, NUMBERS, SPLITS
from hdnhw.library.collectives import exchange as exchanges
from hdnhw.library.collectives import operations
from hdnhw.library.collectives.combining import ALGORITHMS
from hdnhw.library.collectives.exchange import SCHEDULES
from hdnhw.library.collectives.operations import OPERATIONS
from hdnhw.library.collectives.schedules import BACKGROUND, PLACES, PORTS
from hdnhw.library.collectives.trees import TREES
from hdnhw.spec import OPERATORS

COUNTED = ("words", "message_packets", "ports", "on", "steps", *DRAWN, "startup_time", "word_time", *BACKGROUND)
"""Options of both commands."""


def exchange(options: argparse.Namespace) -> tuple[Result, int]:
    """Run a total exchange and count what it costs, beside the bound and the papers' formulas."""
    names = ("schedule", "split", "lengths", "trace", "seed", "at_once", *COUNTED)
    asked = {name: getattr(options, name) for name in names}
    return ended(exchanges.exchange(options.spec, **asked, **machine_options(options)))


def collective(options: argparse.Namespace) -> tuple[Result, int]:
    """Run a collective operation other than a total exchange and count what it costs."""
    combined = ("operator", "numbers", "algorithm", "sizes", "bandwidth")
    names = ("op", "root", "targets", "dead_nodes", "dead_channels", *combined, "as_printed", "trees", *COUNTED)
    asked = {name: getattr(options, name) for name in names}
    return ended(operations.collective(options.spec, **asked, **machine_options(options)))


def _add_combining_options(parser: Parser) -> None:
    combined = f"{', '.join(COMBINING)}: "
    parser.add_argument("--operator", choices=OPERATORS, help=f"{combined}what combines contributions (default sum)")
    parser.add_argument("--numbers", choices=NUMBERS, help=f"{combined}what a word is (default int32)")
    parser.add_argument(
        "--algorithm",
        choices=ALGORITHMS,
        help="allreduce: whole vectors in the fewest start-ups, or a reduce-scatter and an all-gather of blocks in the "
        "fewest words (default: what takes less time of these two); or what MPI libraries run on any network, its "
        "messages routed: the ring of node numbers, or recursive doubling",
    )
    parser.add_argument(
        "--sizes", metavar="M,...", help="allreduce: compare all algorithms on vectors of so many words each"
    )
    parser.add_argument(
        "--bandwidth",
        metavar="FILE",
        help="allreduce: draw words of the vector a cycle against its size, for all algorithms, in .svg, .png or .pdf; "
        "with --on model the cycles of the model beside the cost model",
    )


def add_split_option(parser: Parser, default: str | None = None) -> None:
    """Add the option that says where messages of a total exchange cross from."""
    parser.add_argument(
        "--split",
        choices=SPLITS,
        default=default,
        help="which node of a super-node a message crosses from, in the order of the papers: the one with the base "
        "digits of its destination (default), with its own, with their sum, or its first",
    )


def _add_options(parser: Parser) -> None:
    parser.add_argument(
        "--words",
        type=int,
        metavar="M",
        help="words, or flits, of a message (default 1; on rtl those of whole packets, one if omitted); of an "
        "allreduce or scan, of each node's vector",
    )
    parser.add_argument(
        "--message-packets",
        type=int,
        metavar="M",
        help="on rtl: packets of a message of the engines, in place of --words (default 1)",
    )
    parser.add_argument("--ports", choices=PORTS, default="one", help="ports that a node uses in a step (default one)")
    parser.add_argument(
        "--on",
        choices=PLACES,
        help="count what the schedule sends (default), or run its steps on the cycle-accurate model as well, or the "
        "operation on engines in the emitted Verilog",
    )
    parser.add_argument("--steps", action="store_true", help="show a table of the steps")
    add_drawing_options(parser, "which port each node uses in each step")
    parser.add_argument("--startup-time", type=float, metavar="T", help="t_s of the cost model, for the time")
    parser.add_argument("--word-time", type=float, metavar="T", help="t_w of the cost model, for the time")
    _add_background_options(parser)
    add_machine_options(parser, timed=True)


def _add_background_options(parser: Parser) -> None:
    parser.add_argument(
        "--background",
        type=float,
        metavar="RATE",
        help="on model: run the operation also among packets of RATE flits a node and cycle, in their steady state",
    )
    parser.add_argument(
        "--background-pattern", metavar="PATTERN", help="where these go, as packets of simulate (default uniform)"
    )
    parser.add_argument("--background-seed", type=int, metavar="S", help="of their random numbers (default 1)")
    parser.add_argument(
        "--repeats", type=int, metavar="R", help="how often the operation is run among them (default 5)"
    )


def add_collective_commands(commands: Any) -> None:
    """Add the commands ``exchange`` and ``collective``."""
    parser = add_command(
        commands,
        "exchange",
        exchange,
        summary="run a total exchange and count what it costs",
        example="hdnhw exchange 'rdn(cube(3), 1)' --schedule cluster-first --steps",
    )
    parser.add_argument(
        "--schedule",
        choices=SCHEDULES,
        default="cluster-first",
        help="the papers' order, the one of fewest words (default), or packets that are simply routed",
    )
    add_split_option(parser, default="destination")
    unequal = parser.add_mutually_exclusive_group()
    unequal.add_argument(
        "--lengths",
        metavar="DIST",
        help="words of each message: a number, uniform(LEAST, MOST) or mix(LENGTH, SHARE, ...)",
    )
    unequal.add_argument(
        "--trace", metavar="FILE", help="words of each message: those of all messages of a trace from a node to a node"
    )
    parser.add_argument("--seed", type=int, metavar="S", help="of the random numbers of --lengths (default 1)")
    parser.add_argument("--at-once", action="store_true", help="network: offer all messages in cycle 0")
    _add_options(parser)
    parser = add_command(
        commands,
        "collective",
        collective,
        summary="run a collective operation and count what it costs: broadcast to scan",
        example="hdnhw collective 'rdn(cube(3), 1)' --op allreduce --words 1024",
    )
    parser.add_argument("--op", choices=OPERATIONS, required=True, help="which one")
    parser.add_argument(
        "--root", metavar="NODE", help="node number or address of the only source, or destination (default 0)"
    )
    parser.add_argument("--targets", nargs="+", metavar="NODE", help="multicast: the nodes that get the message")
    add_dead_options(parser)
    _add_combining_options(parser)
    parser.add_argument(
        "--as-printed", action="store_true", help="allgather: send also what the partner already has, as in the paper"
    )
    parser.add_argument(
        "--trees",
        choices=TREES,
        nargs="?",
        const="best",
        help="allgather, reducescatter, allreduce with --ports all: long vectors in chunks of a word along spanning "
        "trees, packed for this network (default) or by the digits of addresses, beside the fewest rounds there can be",
    )
    _add_options(parser)
