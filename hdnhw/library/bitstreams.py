"""What ``hdnhw build`` does."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hdnhw.boards.bitstream import build_bitstream
from hdnhw.boards.catalogue import PACKETS, SIMULATED_PACKETS, Board, find_board
from hdnhw.fpga.tools import ToolError
from hdnhw.library.boards import BuildOptions
from hdnhw.library.options import given
from hdnhw.library.result import Result
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.support.progress import say
from hdnhw.verilog.fabric import emit_fabric


def _simulate(board: Board, spec: FabricSpec, packets: int) -> Result:
    from hdnhw.boards.verilated import hear_self_test, self_test_sources

    say(f"{board.name}: simulating the self-test of {spec.network} ...")
    text = hear_self_test(self_test_sources(emit_fabric(spec), packets=packets))
    say(text.rstrip())
    passed = text.endswith("\nPASS\n")
    result = {"board": board.name, "spec": str(spec.network), "text": text.splitlines(), "passed": passed}
    return Result(result, passed=passed)


def _build(board: Board, spec: FabricSpec, packets: int, seed: int) -> Result:
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
        "utilization": built.utilization,
        "seconds": built.seconds,
        "tools": built.tools,
        "passed": built.passed,
    }
    if built.passed:
        say(f"to load it: {board.flash.format(built.bitstream)}")
        return Result(result)
    log = built.work / f"{board.tools[1]}.log"
    say(
        f"hdnhw: {built.fmax_mhz} MHz is below the board's clock of {built.clock_mhz} MHz: no bitstream kept, see {log}"
    )
    return Result(result, passed=False)


def build(name: str, network: str | None, asked: BuildOptions, machine: Mapping[str, Any]) -> Result:
    """Build the self-test of a fabric for a board, or simulate it."""
    board = find_board(name)
    options = {"network": None if network is None else parse(network), **machine}
    spec = replace(board.fabric, **given(options))
    packets = asked.packets or (SIMULATED_PACKETS if asked.simulate else PACKETS)
    try:
        return _simulate(board, spec, packets) if asked.simulate else _build(board, spec, packets, asked.seed)
    except ToolError as error:
        say(f"hdnhw: {error}")
        about = {"board": board.name, "spec": str(spec.network), "passed": False, "error": str(error)}
        return Result(about, passed=False)
