"""Mutants in the project's own benches, each run a simulation under cocotb of its own, some of them at a time."""

import resource
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from hdnhw.fpga.tools import ToolError
from hdnhw.support.processes import PATIENCE
from hdnhw.verilog.fabric import EmittedFabric
from tests.mutants.designs import Design, Trial
from tests.mutants.schemata import NUMBER, Mutant, with_mutants

SECONDS = 60
"""Of CPU time, after which a run that does not end is given up."""

QUIET = '`verilator_config\nlint_off -file "*"\n`verilog\n'
"""In front of the text with mutants, which no lint is meant for."""

_TRIALS: dict[str, Trial] = {}
"""Of the design that is looked at; workers are forks."""


def killers_in_benches(
    design: Design, fabric: EmittedFabric, mutants: Sequence[Mutant], numbers: Sequence[int], *, workers: int
) -> list[str | None]:
    """Run mutants through the trials of a design, each until a bench sees a difference; return the trial, or None.

    Parameters
    ----------
    design : Design
    fabric : EmittedFabric
        Of the design.
    mutants : sequence of Mutant
    numbers : sequence of int
        Of these, which to run.
    workers : int
        Runs at a time.

    Raises
    ------
    RuntimeError
        If a bench sees a difference in the original.
    """
    assert design.trials is not None
    name = f"{fabric.top}.sv"
    files = {**fabric.files, name: QUIET + with_mutants(fabric.files[name], mutants)}
    _TRIALS.clear()
    _TRIALS.update(design.trials(replace(fabric, files=files)))
    for bench, _ in _TRIALS.values():
        bench.build.make()
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        check_original(pool.submit(_killer, 0).result())
        return list(pool.map(_killer, numbers))


def check_original(killer: str | None) -> None:
    """Raise RuntimeError if a case has killed the original."""
    if killer is not None:
        raise RuntimeError(f"original must pass all cases, not differ in {killer!r}")


def _killer(number: int) -> str | None:
    return next((name for name, trial in _TRIALS.items() if not _passes(number, trial)), None)


def _passes(number: int, trial: Trial) -> bool:
    """Tell whether a run of a mutant ends, and its bench sees nothing wrong; the original has no limit."""
    bench, case = trial

    def write(folder: Path) -> Mapping[str, Any]:
        options = bench.write(case, folder)
        return {**options, "plusargs": [*options.get("plusargs", []), f"+{NUMBER}={number}"]}

    try:
        with _within(SECONDS if number else 0):
            folder, *_ = bench.simulate(f"mutant-{number}", write)
            return bool(bench.check(case, folder).passed)
    except (ToolError, TimeoutError, ArithmeticError, LookupError, ValueError):  # what is read is what a mutant wrote
        return False
    finally:
        shutil.rmtree(bench.build.run_folder(f"mutant-{number}"), ignore_errors=True)


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in what takes more CPU time, if not 0, here or in a process that is started here.

    So does what takes :data:`PATIENCE` times that by the clock; a simulation ends with what waits for it.
    """

    def stop(*_: object) -> None:
        raise TimeoutError(f"no end within {seconds} seconds")

    before = {number: signal.signal(number, stop) for number in (signal.SIGALRM, signal.SIGXCPU)}
    limits = resource.getrlimit(resource.RLIMIT_CPU)
    if seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time()) + seconds, limits[1]))
    signal.alarm(PATIENCE * seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_CPU, limits)
        for number, handler in before.items():
            signal.signal(number, handler)
