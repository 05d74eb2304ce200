"""The command ``hdnhw build``."""

import argparse
from typing import Any

from boards.build import build_bitstream
from boards.catalogue import BOARDS, Board, find_board
from boards.simulation import hear_self_test, self_test_sources
from boards.terminal import check_packets
from hdnhw.cli import Result, add_command, add_fabric_options, fabric_spec, say
from hdnhw.emit.fabric import emit_fabric
from hdnhw.flow.tools import ToolError
from hdnhw.spec import FabricSpec
from sim.simulator import SimulatorError

__all__ = ["add_build"]

PACKETS = 1000
"""Packets of the random test, a node, on a board."""

SIMULATED_PACKETS = 50


def _simulate(board: Board, spec: FabricSpec, packets: int) -> tuple[Result, int]:
    say(f"{board.name}: simulating the self-test of {spec.network} ...")
    text = hear_self_test(self_test_sources(emit_fabric(spec), packets=packets))
    passed = text.endswith("\nPASS\n")
    result = {"board": board.name, "spec": str(spec.network), "text": text.splitlines(), "passed": passed}
    return result, 0 if passed else 1


def _build(board: Board, spec: FabricSpec, packets: int, seed: int) -> tuple[Result, int]:
    built = build_bitstream(board, spec, packets=packets, seed=seed, say=say)
    result = {
        "board": board.name,
        "spec": str(spec.network),
        "packet_length": spec.packet_length,
        "flit_width": spec.flit_width,
        "bitstream": str(built.bitstream) if built.passed else None,
        "bytes": built.bitstream.stat().st_size if built.passed else None,
        "fmax_mhz": built.fmax_mhz,
        "clock_mhz": built.clock_mhz,
        "utilisation": built.utilisation,
        "seconds": built.seconds,
        "tools": built.tools,
        "passed": built.passed,
    }
    if built.passed:
        say(f"to load it: {board.flash.format(built.bitstream)}")
        return result, 0
    log = built.work / f"{board.tools[1]}.log"
    say(
        f"hdnhw: {built.fmax_mhz} MHz is below the board's clock of {built.clock_mhz} MHz: no bitstream kept, see {log}"
    )
    return result, 1


def build(options: argparse.Namespace) -> tuple[Result, int]:
    """Build the self-test of a fabric for a board, or simulate it."""
    board = find_board(options.board)
    spec = fabric_spec(options, board.fabric)
    default = SIMULATED_PACKETS if options.simulate else PACKETS
    packets = check_packets(default if options.packets is None else options.packets)
    try:
        return _simulate(board, spec, packets) if options.simulate else _build(board, spec, packets, options.seed)
    except (SimulatorError, ToolError) as error:
        say(f"hdnhw: {error}")
        return {"board": board.name, "spec": str(spec.network), "passed": False, "error": str(error)}, 1


def add_build(commands: Any) -> None:
    """Add ``hdnhw build``."""
    parser = add_command(
        commands,
        "build",
        build,
        summary="make a bitstream in which a fabric tests itself and reports over UART",
        example="hdnhw build ulx3s-85f 'rdn(cube(2), 1)'",
        spec=False,
    )
    parser.add_argument("board", metavar="BOARD", help=f"one of {', '.join(BOARDS)}")
    parser.add_argument("spec", metavar="SPEC", nargs="?", help="network; each board has a default, as for the sizes")
    add_fabric_options(parser, length="the board's", width="the board's")
    parser.add_argument(
        "--packets",
        type=int,
        metavar="N",
        help=f"packets of the random test, a node (default {PACKETS}; in simulation {SIMULATED_PACKETS})",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of place-and-route (default 1)")
    parser.add_argument("--simulate", action="store_true", help="run it under Verilator instead; decode the UART")
