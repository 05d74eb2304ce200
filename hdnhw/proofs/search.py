"""What ABC says of a rig: proved, refuted with a run that shows it, or undecided."""

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import getsource
from pathlib import Path
from typing import TypeVar

from hdnhw.flow import abc, yosys
from hdnhw.flow.abc import Verdict, find_output, prove_outputs
from hdnhw.flow.kept import kept_result
from hdnhw.flow.tools import tool_versions
from hdnhw.processes import Budget, SpentError
from hdnhw.proofs import rig as rig_module
from hdnhw.proofs.finding import Finding
from hdnhw.proofs.netlist import read_text
from hdnhw.proofs.rig import Rig, RigError

__all__ = ["PROOF_ROOT", "Settled", "answer_of", "settle"]

PROOF_ROOT = Path("build") / "prove"

RigType = TypeVar("RigType", bound=Rig)

_SEARCH = (abc, yosys, rig_module, sys.modules[__name__])
"""What looks for answers: those of another text of it are looked for anew."""

_METHOD = "property-directed reachability"

_FIRST_SLOTS = 48
"""Slots within which all must have happened that a rig is meant to let happen, or it does not say much: messages of
several short packets take most of them."""

_FEW_SLOTS = 6
"""Slots within which a claim is looked for that does not hold, when a hint does not."""


@dataclass(frozen=True)
class Settled:
    """An answer for all claims of a rig.

    Attributes
    ----------
    answer : str
        One of :data:`hdnhw.proofs.finding.ANSWERS`.
    why : str
        What is wrong, or why there is no answer.
    trace : Path or None
        Of a refutation, the waveform of a run in which a claim does not hold, in VCD.
    """

    answer: str
    why: str
    trace: Path | None = None

    def finding(self, name: str, module: str, part: str, *, cases: int | None = None) -> Finding:
        """Return it as what is found of property `name`."""
        return Finding(
            property=name,
            module=module,
            part=part,
            answer=self.answer,
            method=_METHOD,
            cases=cases,
            why=self.why,
            trace=str(self.trace or ""),
        )


def answer_of(make: Callable[[], RigType], *, seconds: float, root: Path) -> tuple[RigType | None, Settled]:
    """Make a rig, and return it and the answer for it; no rig, and no answer, if the text does not fit it."""
    try:
        rig = make()
    except RigError as error:
        return None, Settled("undecided", str(error))
    return rig, settle(rig, seconds=seconds, root=root)


def settle(rig: Rig, *, seconds: float, root: Path = PROOF_ROOT) -> Settled:
    """Answer for all claims of a rig; take the answer from ``ROOT/DIGEST`` if it is there already.

    Parameters
    ----------
    rig : Rig
    seconds : float
        CPU seconds of Yosys and ABC after which a search is given up.
    root : Path
        What is undecided is not kept.

    Raises
    ------
    ToolError
        If Yosys or ABC fails.
    """
    parts = [rig.text(), rig.script(), tool_versions(["yosys"]), *map(getsource, _SEARCH)]
    folder = root / hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def make(work: Path) -> dict[str, str]:
        answer, why = _settle(rig, seconds, work / "trace.vcd")
        return {"answer": answer, "why": why}

    result, _ = kept_result(folder, make, keeps=lambda result: result["answer"] != "undecided")
    trace = folder / "trace.vcd"
    return Settled(result["answer"], result["why"], trace if trace.exists() else None)


def _settle(rig: Rig, seconds: float, trace: Path) -> tuple[str, str]:
    budget = Budget(seconds)
    with tempfile.TemporaryDirectory() as folder:
        try:
            circuit = rig.circuit(Path(folder), budget)
        except SpentError:
            verdict = None
        else:
            verdict = _prove(rig, circuit, budget)
        if verdict is None:
            return "undecided", f"no answer within {seconds:g} CPU seconds"
        if not verdict.proved:
            _write_trace(rig, Path(folder), verdict.run, trace)
            return "refuted", f"{rig.claims[verdict.output or 0][0]}, in cycle {verdict.cycle}"
        moves = [len(rig.claims) + len(rig.hints)]
        seen = find_output(circuit, cycles=_FIRST_SLOTS * rig.slot, budget=Budget(seconds), outputs=moves)
    if seen is None or seen.proved:
        return "undecided", "the rig has not seen packets everywhere"
    return "proved", ""


def _prove(rig: Rig, circuit: Path, budget: Budget) -> Verdict | None:
    """Prove claims and hints together; a hint that does not hold is dropped, and the rest is tried again.

    As a claim may not hold for the same reason, a short run is looked for first in which one does not.
    """
    claims = range(len(rig.claims))
    outputs = [*range(len(rig.claims) + len(rig.hints))]
    verdict = prove_outputs(circuit, budget=budget, outputs=outputs)
    if verdict is None or verdict.output is None or verdict.output in claims:
        return verdict
    short = Budget(budget.left / 2)
    wrong = find_output(circuit, cycles=_FEW_SLOTS * rig.slot, budget=short, outputs=claims)
    if wrong is not None and wrong.output is not None:
        return wrong
    budget.spent += short.spent
    while verdict is not None and verdict.output is not None and verdict.output not in claims:
        outputs.remove(verdict.output)
        verdict = prove_outputs(circuit, budget=budget, outputs=outputs)
    return verdict


def _write_trace(rig: Rig, folder: Path, run: Sequence[str], path: Path) -> None:
    """Simulate a rig with the inputs of each cycle, and write the waveform."""
    places: dict[tuple[str, str], dict[int, int]] = {}
    for line in (folder / "rig.map").read_text().splitlines():
        kind, *found = line.split()
        if kind in ("input", "init") and found[2] != "clk":
            places.setdefault((kind, found[2]), {})[int(found[1])] = int(found[0])
    signals, columns = [], []
    for (kind, name), bits in places.items():
        for bit, column in bits.items():
            signals.append({"path": [f"\\{name}"], "width": 1, "offset": bit, "init_only": kind == "init"})
            columns.append(column)
    steps = [{"bits": "".join(inputs[column] for column in reversed(columns))} for inputs in run]
    clock = {"path": ["\\clk"], "edge": "posedge", "offset": 0}
    witness = {"format": "Yosys Witness Trace", "clocks": [clock], "signals": signals, "steps": steps}
    (folder / "run.yw").write_text(json.dumps(witness))
    read_text(f"{rig.script()}sim -r run.yw -zinit -vcd run.vcd\n", cwd=folder)
    shutil.copyfile(folder / "run.vcd", path)
