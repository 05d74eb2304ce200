"""Run Verilog with a serial line under Verilator and return what the line says."""

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from sim.simulator import BUILD_ROOT, build_once, build_verilog, run_test

__all__ = ["hear"]

BUILD_ARGS = ("--no-public-flat-rw", "--build", "-j", "2", "-O3", "--x-initial", "0", "-Wno-fatal")

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
    SimulatorError
        If the simulator fails or time is up.
    """
    control = CONTROL.format(top=top)
    digest = hashlib.sha256("\0".join([control, *BUILD_ARGS, *sources, *sources.values()]).encode()).hexdigest()
    folder = root.resolve() / f"uart-{digest[:16]}"

    def build() -> None:
        files = {"listener.vlt": control, **sources}
        for name, text in files.items():
            (folder / name).write_text(text)
        build_verilog("verilator", [folder / name for name in files], top, folder, BUILD_ARGS)

    build_once(folder, build)
    run = folder / f"run-{os.getpid()}"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir()
    environment = {
        "HDNHW_DIVISOR": str(divisor),
        "HDNHW_CYCLE_LIMIT": str(cycle_limit),
        "HDNHW_ENDINGS": " ".join(endings),
        "HDNHW_RUNS": str(runs),
        "HDNHW_TEXT": str(run / "text"),
    }
    run_test("verilator", "sim.uart", top, folder, run, plusargs=list(plusargs), extra_env=environment)
    text = (run / "text").read_bytes().decode("ascii").replace("\r\n", "\n")
    shutil.rmtree(run)
    return text
