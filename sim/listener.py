"""Run Verilog with a serial line under Verilator and return what the line says."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from hdnhw.sim.simulator import BUILD_ARGUMENTS, BUILD_ROOT, Build

BUILD_ARGS = (*(one for one in BUILD_ARGUMENTS if one != "--hierarchical"), "-Wno-fatal")

CONTROL = """`verilator_config
lint_off
public_flat_rw -module "{top}" -var "clk"
public_flat_rw -module "{top}" -var "rst"
public_flat_rd -module "{top}" -var "tx"
"""
"""Verilator control file: cocotb sees three pins."""


def hear(
    sources: Mapping[str, str],
    top: str,
    *,
    divisor: int,
    endings: Sequence[str],
    runs: int = 1,
    cycle_limit: int,
    plusargs: Sequence[str] = (),
    root: Path = BUILD_ROOT,
) -> str:
    """Simulate the module `top`, which has ports clk, rst and tx, and decode its serial line bit by bit.

    Parameters
    ----------
    sources : mapping of str to str
        File name -> SystemVerilog text.
    top : str
    divisor : int
        Cycles a bit on the line.
    endings : sequence of str
        Lines that end a run.
    runs : int
        Runs to wait for.
    cycle_limit : int
        Most cycles until the last verdict.
    plusargs : sequence of str
        For the simulation, each with its +.
    root : Path
        Folder for builds, which are kept by the digest of the sources.

    Returns
    -------
    str
        The text up to the last ending, with newlines as the only line ends.

    Raises
    ------
    ToolError
        If the simulator fails or time is up.
    """
    files = {"listener.vlt": CONTROL.format(top=top), **sources}
    build = Build("uart", files, top, arguments=BUILD_ARGS, root=root)
    build.make()
    run = build.clear_run_folder()
    environment = {
        "HDNHW_DIVISOR": str(divisor),
        "HDNHW_CYCLE_LIMIT": str(cycle_limit),
        "HDNHW_ENDINGS": " ".join(endings),
        "HDNHW_RUNS": str(runs),
    }
    build.run("hdnhw.sim.uart", run, plusargs=list(plusargs), extra_env=environment)
    text = (run / "text").read_bytes().decode("ascii").replace("\r\n", "\n")
    shutil.rmtree(run)
    return text
