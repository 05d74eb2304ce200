"""What ``hdnhw build`` does."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hdnhw.boards.bitstream import BoardBuild, build_bitstreams
from hdnhw.boards.catalogue import PACKETS, SIMULATED_PACKETS, Board, find_board
from hdnhw.fpga.tools import ToolError
from hdnhw.library.boards import BuildOptions
from hdnhw.library.options import given
from hdnhw.library.result import Result
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import say
from hdnhw.verilog.fabric import emit_fabric


def _simulate(board: Board, spec: FabricSpec, packets: int, cut: ChipOptions) -> Result:
    from hdnhw.boards.verilated import hear_pair, hear_self_test, self_test_sources

    sources = self_test_sources(emit_fabric(spec, cut=cut), packets=packets)
    say(f"{board.name}: simulating the self-test of {spec.network} ...")
    texts = [hear_self_test(sources)] if cut.chips is None else hear_pair(sources)
    for text in texts:
        say(text.rstrip())
    passed = all(text.endswith("\nPASS\n") for text in texts)
    lines = [line for text in texts for line in text.splitlines()]
    return Result({"board": board.name, "spec": str(spec.network), "text": lines, "passed": passed}, passed=passed)


def _build(board: Board, spec: FabricSpec, packets: int, asked: BuildOptions) -> Result:
    board.platform()  # an error now if the extra is missing, not after a word of the work
    built = build_bitstreams(board, spec, packets=packets, cut=asked, seed=asked.seed, say=say)
    about = {"board": board.name, "spec": str(spec.network)}
    sizes = {"packet_length": spec.packet_length, "flit_width": spec.flit_width}
    passed, rows = all(each.passed for each in built), [_row(board, each) for each in built]
    if asked.chips is None:
        return Result({**about, **sizes, **rows[0]}, passed=passed)
    cut = {name: getattr(asked, name) for name in options_of(ChipOptions)}
    return Result({**about, **cut, **sizes, "boards": rows, "passed": passed}, passed=passed)


def _row(board: Board, built: BoardBuild) -> dict[str, Any]:
    """Return what there is to say of one bitstream."""
    row = {
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
        return row
    log = built.work / f"{board.tools[1]}.log"
    say(
        f"hdnhw: {built.fmax_mhz} MHz is below the board's clock of {built.clock_mhz} MHz: no bitstream kept, see {log}"
    )
    return row


def build(name: str, network: str | None, asked: BuildOptions, machine: Mapping[str, Any]) -> Result:
    """Build the self-test of a fabric for a board, or simulate it."""
    board = find_board(name)
    options = {"network": None if network is None else parse(network), **machine}
    spec = replace(board.fabric, **given(options))
    packets = asked.packets or (SIMULATED_PACKETS if asked.simulate else PACKETS)
    if asked.chips is not None and asked.packets is not None:
        raise SpecError(f"{named('packets')} is for the random test of one board, not for {named('chips')}")
    board.check_link(asked)
    try:
        return _simulate(board, spec, packets, asked) if asked.simulate else _build(board, spec, packets, asked)
    except ToolError as error:
        say(f"hdnhw: {error}")
        about = {"board": board.name, "spec": str(spec.network), "passed": False, "error": str(error)}
        return Result(about, passed=False)
