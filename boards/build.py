"""What ``hdnhw build`` does."""

import argparse

from hdnhw.boards.bitstream import build_bitstream
from hdnhw.boards.catalogue import PACKETS, SIMULATED_PACKETS, Board, find_board
from hdnhw.boards.terminal import check_packets
from hdnhw.cli import Result, fabric_spec, say
from hdnhw.flow.tools import ToolError
from hdnhw.spec import FabricSpec
from hdnhw.verilog.fabric import emit_fabric


def _simulate(board: Board, spec: FabricSpec, packets: int) -> tuple[Result, int]:
    from hdnhw.boards.simulation import hear_self_test, self_test_sources

    say(f"{board.name}: simulating the self-test of {spec.network} ...")
    text = hear_self_test(self_test_sources(emit_fabric(spec), packets=packets))
    say(text.rstrip())
    passed = text.endswith("\nPASS\n")
    result = {"board": board.name, "spec": str(spec.network), "text": text.splitlines(), "passed": passed}
    return result, 0 if passed else 1


def _build(board: Board, spec: FabricSpec, packets: int, seed: int) -> tuple[Result, int]:
    board.platform()  # an error now if the extra is missing, not after a word of the work
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
    except ToolError as error:
        say(f"hdnhw: {error}")
        return {"board": board.name, "spec": str(spec.network), "passed": False, "error": str(error)}, 1
