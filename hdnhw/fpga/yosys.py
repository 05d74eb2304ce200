"""Yosys as a command, from pyosys: PyPI has the library, which is native code, but no executable of it.

``hdnhw-yosys`` takes the part of Yosys's own command line that build scripts use, so that it can stand in for it.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hdnhw.support.processes import Budget


class YosysError(Exception):
    """Yosys has refused a script; the message is its last line."""


def run_yosys(script: str, *, cwd: Path | None = None, budget: Budget | None = None) -> str:
    """Run a script in a process of its own, as pyosys ends the process on an error; return what Yosys printed.

    Raises
    ------
    YosysError
        If Yosys fails.
    SpentError
        If it takes more than a budget has.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".ys") as file:
        file.write(script)
        file.flush()
        done = (budget or Budget()).run([sys.executable, "-m", "hdnhw.fpga.yosys", file.name], cwd=cwd)
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise YosysError(next((line for line in reversed(said) if "ERROR" in line), said[-1] if said else "no output"))
    return done.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Run Yosys scripts given as files or with -p, in order; the files end with the process."""
    parser = argparse.ArgumentParser(prog="hdnhw-yosys", description="Yosys, from pyosys.")
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    parser.add_argument("-l", "--log", metavar="FILE", help="write the log to FILE, not to standard output")
    parser.add_argument("-p", "--commands", action="append", default=[], metavar="COMMANDS")
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT")
    options = parser.parse_args(arguments)
    if options.log or options.quiet:
        log = os.open(options.log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, sys.stdout.fileno())
    from pyosys import libyosys

    design = libyosys.Design()
    for script in options.scripts:
        libyosys.run_pass(f"script {script}", design)
    for command in (command for commands in options.commands for command in commands.split(";") if command.strip()):
        libyosys.run_pass(command.strip(), design)
    libyosys.log_flush()
    os._exit(0)  # the library's own end takes longer than a small script


if __name__ == "__main__":
    main()
