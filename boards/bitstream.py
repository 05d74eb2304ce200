"""Make a bitstream of the self-test."""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hdnhw.boards.catalogue import Board
from hdnhw.boards.exerciser import Side
from hdnhw.boards.selftest import SIDES, SelfTest, check_testable
from hdnhw.boards.top import BoardTop, link_resource
from hdnhw.fpga.block_ram import choose_ram, use_output_registers
from hdnhw.fpga.family import DEVICES
from hdnhw.fpga.nextpnr import fmax_of, read_report
from hdnhw.fpga.tools import ToolError, run_tool, tool_versions
from hdnhw.machine.machine import make_machine
from hdnhw.spec import FabricSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.verilog.fabric import ONE_CHIP, EmittedFabric, emit_fabric

BUILD_ROOT = Path("build") / "boards"
DESIGN = "top"
REPORT = "report.json"

PAUSE_SECONDS = 3
"""Time between two runs on a board."""

ACTIVITY_SECONDS = 0.05

PATIENCE_SECONDS = 60
"""Time for which a board waits for the other one."""


@dataclass(frozen=True)
class BoardBuild:
    """What a build gave.

    Attributes
    ----------
    bitstream : Path
        Exists if `passed`.
    work : Path
        Folder of the tools' files and logs.
    fmax_mhz : float
        Of the slowest clock.
    clock_mhz : float
    utilization : dict
        Resource -> {"used", "available"}.
    seconds : float
    tools : dict of str to str
        Versions.
    """

    bitstream: Path
    work: Path
    fmax_mhz: float
    clock_mhz: float
    utilization: dict[str, dict[str, int]]
    seconds: float
    tools: dict[str, str]

    @property
    def passed(self) -> bool:
        """Whether the design is fast enough for the board's clock."""
        return self.fmax_mhz >= self.clock_mhz


def _self_test(fabric: EmittedFabric, board: Board, packets: int, chip: int | None) -> SelfTest:
    return SelfTest(
        fabric,
        divisor=board.divisor,
        packets=packets,
        pause_cycles=PAUSE_SECONDS * board.clock_hz,
        activity_cycles=int(ACTIVITY_SECONDS * board.clock_hz),
        side=None if chip is None else Side(chip, PATIENCE_SECONDS * board.clock_hz),
    )


def build_bitstreams(
    board: Board,
    spec: FabricSpec,
    *,
    packets: int,
    cut: ChipOptions = ONE_CHIP,
    seed: int = 1,
    root: Path = BUILD_ROOT,
    say: Callable[[str], None] = lambda _: None,
) -> list[BoardBuild]:
    """Synthesize, place and route, and pack the self-test of a fabric for a board, or for two that are linked.

    Everything is made in ``ROOT/BOARD/work``, logs included; the bitstream goes to ``ROOT/BOARD`` last, and only if it
    meets the board's clock. One that was there before is gone as soon as the work begins. Those of two boards are
    numbered, ``work-0`` and ``BOARD-0``.

    Parameters
    ----------
    board : Board
    spec : FabricSpec
    packets : int
        Packets of the random test, a node.
    cut : ChipOptions
        Into the chips of two boards.
    seed : int
        Seed of place-and-route.
    root : Path
    say : callable
        Is told what goes on.

    Raises
    ------
    SpecError
        If the fabric cannot be built or tested, or was to be in more block RAMs than the board's device has, or the
        board has no header for the link.
    ToolError
        If a tool fails, or another build for the board is under way.
    """
    machine = make_machine(spec)
    board.check_link(cut)
    check_testable(machine, cut)
    routers = None if cut.chips is None else machine.network.num_nodes // len(SIDES)
    fabric = emit_fabric(choose_ram(spec, DEVICES[board.device], routers=routers), cut=cut)
    folder, chips = root / board.name, [None] if cut.chips is None else SIDES
    with _locked(root / f"{board.name}.lock"):
        shutil.rmtree(folder, ignore_errors=True)
        return [_build_locked(board, fabric, packets, seed, folder, say, chip) for chip in chips]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock file; raise ToolError if somebody else does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ToolError(f"another build for the same board is under way: {path} is locked") from None
        yield


def _build_locked(
    board: Board,
    fabric: EmittedFabric,
    packets: int,
    seed: int,
    folder: Path,
    say: Callable[[str], None],
    chip: int | None,
) -> BoardBuild:
    started = time.monotonic()
    top = BoardTop(_self_test(fabric, board, packets, chip))
    number = "" if chip is None else f"-{chip}"
    work, bitstream = folder / f"work{number}", folder / f"{board.name}{number}{board.bitstream}"
    network = fabric.machine.network
    say(f"{board.name}{number}: {network.spec}, {network.num_nodes} routers; elaborating ...")
    commands = _prepare(board, top, fabric, seed, work)
    for tool, arguments in zip(board.tools, commands, strict=True):
        say(f"  {tool} ...")
        run_tool(tool, arguments, log=work / f"{tool}.log")
        if tool == "yosys":
            use_output_registers(work / f"{DESIGN}.json")
        say(f"    {time.monotonic() - started:.0f} s")
    report = read_report(work / REPORT)
    built = BoardBuild(
        bitstream=bitstream,
        work=work,
        fmax_mhz=round(fmax_of(report), 2),
        clock_mhz=board.clock_hz / 1e6,
        utilization=_utilization(board, report["utilization"]),
        seconds=round(time.monotonic() - started, 1),
        tools=tool_versions(board.tools),
    )
    if built.passed:
        os.replace(work / f"{DESIGN}{board.bitstream}", bitstream)
    return built


def _prepare(board: Board, top: BoardTop, fabric: EmittedFabric, seed: int, work: Path) -> list[list[str]]:
    """Write the files of a build; return the arguments of each tool."""
    platform = board.platform()
    if fabric.chips is not None:
        platform.add_resources([link_resource(board, fabric.chips.cut.link_width)])
    for name, text in fabric.verilog.items():
        platform.add_file(name, text)
    options = f"--seed {seed} --timing-allow-fail --report {REPORT}"
    plan = platform.prepare(top, DESIGN, synth_opts=board.synth_opts, nextpnr_opts=options, emit_src=False)
    plan.extract(work)
    commands: list[list[str]] = json.loads((work / f"{plan.script}.json").read_text())["commands"]
    return [arguments for _, *arguments in commands]


def _utilization(board: Board, report: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    cells = {
        "ecp5": {"comb": "TRELLIS_COMB", "ff": "TRELLIS_FF", "ram": "DP16KD", "lutram": "TRELLIS_RAMW"},
        "ice40": {"comb": "ICESTORM_LC", "ram": "ICESTORM_RAM"},
    }[board.family]
    return {
        name: {"used": report[cell]["used"], "available": report[cell]["available"]} for name, cell in cells.items()
    }
