"""Run Verilog with serial lines under Verilator and return what the lines say."""

import shutil
from collections.abc import Mapping, Sequence

from hdnhw.sim.simulator import BUILD_ARGUMENTS, Build

BUILD_ARGS = (*(one for one in BUILD_ARGUMENTS if one != "--hierarchical"), "-Wno-fatal")

CONTROL = """`verilator_config
lint_off
{rules}"""
"""Verilator control file: cocotb sees three pins a line."""

PINS = {"clk": "rw", "rst": "rw", "tx": "rd"}
"""What a line has, and what cocotb does with it."""


def hear(
    sources: Mapping[str, str],
    top: str,
    *,
    divisor: int,
    endings: Sequence[str],
    lines: Sequence[str] = ("",),
    runs: int = 1,
    cycle_limit: int,
    plusargs: Sequence[str] = (),
) -> list[str]:
    """Simulate the module `top`, which has ports clk, rst and tx, and decode its serial line bit by bit.

    Of several lines the clocks differ a little, and resets end one after the other.

    Parameters
    ----------
    sources : mapping of str to str
        File name -> SystemVerilog text.
    top : str
    divisor : int
        Cycles a bit on the line.
    endings : sequence of str
        Lines that end a run.
    lines : sequence of str
        What the ports of each line have behind these names.
    runs : int
        Runs to wait for, of each line.
    cycle_limit : int
        Most cycles until the last verdict.
    plusargs : sequence of str
        For the simulation, each with its +.

    Returns
    -------
    list of str
        The text of each line up to the last ending, with newlines as the only line ends.

    Raises
    ------
    ToolError
        If the simulator fails or time is up.
    """
    pins = [(f"{pin}{line}", access) for line in lines for pin, access in PINS.items()]
    rules = "".join(f'public_flat_{access} -module "{top}" -var "{pin}"\n' for pin, access in pins)
    files = {"listener.vlt": CONTROL.format(rules=rules), **sources}
    build = Build("uart", files, top, arguments=BUILD_ARGS)
    build.make()
    run = build.clear_run_folder()
    environment = {
        "HDNHW_DIVISOR": str(divisor),
        "HDNHW_CYCLE_LIMIT": str(cycle_limit),
        "HDNHW_ENDINGS": " ".join(endings),
        "HDNHW_RUNS": str(runs),
        "HDNHW_LINES": ",".join(lines),
    }
    build.run("hdnhw.sim.uart", run, plusargs=list(plusargs), extra_env=environment)
    texts = [(run / f"text{line}").read_bytes().decode("ascii").replace("\r\n", "\n") for line in lines]
    shutil.rmtree(run)
    return texts
