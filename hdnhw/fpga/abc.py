"""ABC, which pyosys brings as a program: it proves that outputs of a circuit stay 0 whatever comes in."""

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hdnhw.fpga.tools import ToolError
from hdnhw.support.processes import Budget, SpentError

_REDUCE = "scleanup; scorr -F 2 -C 100000; dc2"
"""Merge what is the same in every state that can be reached, and outputs that are 0, by induction over two cycles."""


@dataclass(frozen=True)
class Verdict:
    """What ABC has found.

    Attributes
    ----------
    proved : bool
        That every output that was asked for is 0 in every cycle.
    output, cycle : int or None
        An output that can be 1, and the cycle in which it is, from 0; without an output, none is before that cycle.
    run : tuple of str
        For each cycle up to that one, the inputs that lead there, a digit each.
    """

    proved: bool
    output: int | None = None
    cycle: int | None = None
    run: tuple[str, ...] = ()


def abc_path() -> Path:
    """Return the path of ABC.

    Raises
    ------
    ToolError
        If it is not where pyosys has it.
    """
    found = importlib.util.find_spec("pyosys")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    paths = [Path(folder) / "yosys-abc" for folder in folders]
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        raise ToolError("abc is not installed: pyosys has no yosys-abc beside it: pip install 'hdnhw[flow]'")
    return path


def prove_outputs(circuit: Path, *, budget: Budget, outputs: Sequence[int] | None = None) -> Verdict | None:
    """Prove by property-directed reachability that outputs of a circuit in AIGER are 0 in every cycle.

    Parameters
    ----------
    circuit : Path
    budget : Budget
    outputs : sequence of int, optional
        Which; all if not given.

    Returns
    -------
    Verdict or None
        None if there is no answer within the budget.

    Raises
    ------
    ToolError
        If ABC fails.
    """
    return _run(circuit, budget, outputs)


def find_output(
    circuit: Path, *, cycles: int, budget: Budget, outputs: Sequence[int] | None = None, reduce: bool = True
) -> Verdict | None:
    """Look for inputs by which an output is 1 within some cycles: as :func:`prove_outputs`, but nothing is proved.

    Parameters
    ----------
    reduce : bool
        Whether what is the same in every state is merged before, which takes long in a large circuit.
    """
    return _run(circuit, budget, outputs, cycles=cycles, reduce=reduce)


def find_invariant(circuit: Path, *, budget: Budget, outputs: Sequence[int]) -> str | None:
    """Look for an inductive invariant by which outputs of a circuit in AIGER are 0 in every cycle.

    Nothing is merged before, so that it is one of the registers of the circuit, all of which are 0 at first.

    Returns
    -------
    str or None
        What it forbids, in PLA; empty if gates alone make the outputs 0. None if there is none within the budget.
    """
    found = circuit.with_name("invariant.pla")
    found.unlink(missing_ok=True)
    chosen = _with_outputs(circuit, outputs)
    try:
        done = budget.run(
            [abc_path(), "-c", f"read_aiger {chosen.name}; pdr -d -I {found.name}; print_status"], cwd=circuit.parent
        )
    except SpentError:
        return None
    if found.exists():
        return found.read_text()
    return "" if "All outputs solved" in done.stdout + done.stderr else None


def _run(
    circuit: Path, budget: Budget, outputs: Sequence[int] | None, *, cycles: int | None = None, reduce: bool = True
) -> Verdict | None:
    """Prove that outputs are 0, or with a number of `cycles` look for one that is 1 within them."""
    witness = circuit.with_name("run.aiw")
    witness.unlink(missing_ok=True)
    if outputs is not None:
        circuit = _with_outputs(circuit, outputs)
    before, search = _REDUCE if reduce else "scleanup", "pdr" if cycles is None else f"bmc3 -F {cycles}"
    script = f"read_aiger {circuit.name}; {before}; {search}; print_status; write_cex -a {witness.name}"
    try:
        done = budget.run([abc_path(), "-c", script], cwd=circuit.parent)
    except SpentError:
        return None
    said = done.stdout + done.stderr
    asserted = re.search(r"Output (\d+) of miter .* was asserted in frame (\d+)", said)
    if asserted is not None:
        # First comes the state in which it begins, empty without registers; last a remark.
        _, *run = (line for line in witness.read_text().splitlines() if not line.startswith("#"))
        output = int(asserted[1])
        return Verdict(False, output if outputs is None else outputs[output], int(asserted[2]), tuple(run))
    if "All outputs solved" in said:  # no search has a limit of its own: all were 0 before it began
        return Verdict(True)
    status = re.search(r"^Status = (-?\d)", said, re.MULTILINE)
    if status is None:
        raise ToolError(f"abc has failed: {said.strip().splitlines()[-1] if said.strip() else 'no output'}")
    if status[1] == "1":
        return Verdict(True)
    has_all = cycles is not None and f"No output asserted in {cycles} frames" in said
    return Verdict(False, cycle=cycles) if has_all else None


def _with_outputs(circuit: Path, outputs: Sequence[int]) -> Path:
    """Write a circuit with some of its outputs: a head, a line for each latch and each output, and the gates."""
    head, rest = circuit.read_bytes().split(b"\n", 1)
    *sizes, latches, number, gates = head.split(b" ")
    lines = rest.split(b"\n", int(latches) + int(number))
    chosen = [lines[int(latches) + output] for output in outputs]
    head = b" ".join([*sizes, latches, b"%d" % len(chosen), gates])
    path = circuit.with_name("chosen.aig")
    path.write_bytes(b"\n".join([head, *lines[: int(latches)], *chosen, lines[-1]]))
    return path
