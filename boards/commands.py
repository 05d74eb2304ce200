"""The command ``hdnhw build``."""

import argparse
from typing import Any

from hdnhw.boards.catalogue import BOARDS, PACKETS, SIMULATED_PACKETS
from hdnhw.cli import Result, add_command, add_machine_options


def _build(options: argparse.Namespace) -> tuple[Result, int]:
    from hdnhw.boards.build import build

    return build(options)


def add_build(commands: Any) -> None:
    """Add ``hdnhw build``."""
    parser = add_command(
        commands,
        "build",
        _build,
        summary="make a bitstream in which a fabric tests itself and reports over UART",
        example="hdnhw build ulx3s-85f 'rdn(cube(2), 1)'",
        spec=False,
    )
    parser.add_argument("board", metavar="BOARD", help=f"one of {', '.join(BOARDS)}")
    parser.add_argument("spec", metavar="SPEC", nargs="?", help="network; each board has a default, as for the sizes")
    own = ("packet_length", "flit_width", "buffers", "crossbar")
    add_machine_options(parser, defaults=dict.fromkeys(own, "the board's"), pins=False)
    parser.add_argument(
        "--packets",
        type=int,
        metavar="N",
        help=f"packets of the random test, a node (default {PACKETS}; in simulation {SIMULATED_PACKETS})",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of place-and-route (default 1)")
    parser.add_argument("--simulate", action="store_true", help="run it under Verilator instead; decode the UART")
