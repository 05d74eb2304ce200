"""The self-test under Verilator, its serial line decoded."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from hdnhw.boards.selftest import SelfTest, check_testable
from hdnhw.sim.listener import hear
from hdnhw.sim.simulator import BUILD_ROOT
from hdnhw.verilog.fabric import EmittedFabric
from hdnhw.verilog.verilog import module_text

TOP = "selftest"
DIVISOR = 4
"""Cycles a bit: a real line would take a hundred times as long."""

PAUSE_CYCLES = 100
ENDINGS = ("PASS", "FAIL")
CYCLE_LIMIT = 10_000_000
"""Most cycles of a run."""


def self_test_sources(fabric: EmittedFabric, *, packets: int) -> dict[str, str]:
    """Return the Verilog of what a board holds but for a faster serial line and shorter pauses, by file name.

    Parameters
    ----------
    fabric : EmittedFabric
    packets : int
        Packets of the random test, a node.

    Raises
    ------
    SpecError
        If the fabric cannot be tested.
    """
    check_testable(fabric.machine)
    test = SelfTest(fabric, divisor=DIVISOR, packets=packets, pause_cycles=PAUSE_CYCLES)
    return {f"{TOP}.sv": module_text(test, TOP, flatten=True), **fabric.verilog}


def hear_self_test(
    sources: Mapping[str, str], *, runs: int = 1, plusargs: Sequence[str] = (), root: Path = BUILD_ROOT
) -> str:
    """Simulate the sources of a self-test until `runs` runs have ended; return the text from the serial line.

    Raises
    ------
    ToolError
        If there is no verdict in time.
    """
    limit = CYCLE_LIMIT * runs
    return hear(
        sources, TOP, divisor=DIVISOR, endings=ENDINGS, runs=runs, cycle_limit=limit, plusargs=plusargs, root=root
    )
