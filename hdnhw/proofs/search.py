"""What ABC says of a rig: proved, refuted with a run that shows it, or undecided."""

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getsource
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hdnhw.fpga import abc, yosys
from hdnhw.fpga.abc import Verdict, find_invariant, find_output, prove_outputs
from hdnhw.fpga.kept import kept_result
from hdnhw.fpga.tools import tool_versions
from hdnhw.proofs import invariant as invariant_module
from hdnhw.proofs import rig as rig_module
from hdnhw.proofs.finding import Finding
from hdnhw.proofs.invariant import check_invariant, named_invariant
from hdnhw.proofs.netlist import read_text
from hdnhw.proofs.rig import TOO_FEW, Rig, RigError
from hdnhw.support.processes import Budget, SpentError

PROOF_ROOT = Path("build") / "prove"

RigType = TypeVar("RigType", bound=Rig)

_SEARCH = (abc, yosys, invariant_module, rig_module, sys.modules[__name__])
"""What looks for answers: those of another text of it are looked for anew."""

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
    invariant : mapping
        Of what is proved, if one was looked for: ``rig``, its digest; ``outputs``, the numbers of the claims and hints
        that it proves; and what :mod:`hdnhw.proofs.invariant` has.
    method : str
        How it was found.
    """

    answer: str
    why: str
    trace: Path | None = None
    invariant: Mapping[str, Any] = field(default_factory=dict)
    method: str = "property-directed reachability"

    def finding(self, name: str, module: str, part: str, *, cases: int | None = None) -> Finding:
        """Return it as what is found of property `name`."""
        return Finding(
            property=name,
            module=module,
            part=part,
            answer=self.answer,
            method=self.method,
            cases=cases,
            why=self.why,
            trace=str(self.trace or ""),
            invariant=self.invariant,
        )


class Settle(Protocol):
    """What answers for a rig, as :func:`settle` does."""

    def __call__(self, rig: Rig, *, seconds: float, root: Path) -> Settled: ...


def answer_of(
    make: Callable[[], RigType], settle: Settle, *, seconds: float, root: Path
) -> tuple[RigType | None, Settled]:
    """Make a rig, and return it and the answer for it; no rig, and no answer, if the text does not fit it."""
    try:
        rig = make()
    except RigError as error:
        return None, Settled("undecided", str(error))
    return rig, settle(rig, seconds=seconds, root=root)


def settle(rig: Rig, *, seconds: float, root: Path = PROOF_ROOT, invariants: bool = False) -> Settled:
    """Answer for all claims of a rig; take the answer from ``ROOT/DIGEST`` if it is there already.

    Parameters
    ----------
    rig : Rig
    seconds : float
        CPU seconds of Yosys and ABC after which a search is given up.
    root : Path
        What is undecided is not kept.
    invariants : bool
        Whether an inductive invariant is looked for, in as many seconds again, if all is proved.

    Raises
    ------
    ToolError
        If Yosys or ABC fails.
    """
    parts = [rig.text(), rig.script(), tool_versions(["yosys"]), *map(getsource, _SEARCH)]
    folder = root / hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    result, _ = kept_result(
        folder, lambda work: _settle(rig, seconds, work / "trace.vcd"), keeps=lambda one: one["answer"] != "undecided"
    )
    invariant: Mapping[str, Any] = {}
    if invariants and result["answer"] == "proved":
        known = folder.with_name(f"{folder.name}-invariant")
        invariant, _ = kept_result(known, lambda _: _invariant(rig, seconds, result["outputs"]), keeps=bool)
    trace = folder / "trace.vcd"
    shown = trace if trace.exists() else None
    method = f"bounded model checking, {rig.cycles} cycles" if rig.cycles else Settled.method
    return Settled(result["answer"], result["why"], shown, invariant, method)


def _settle(rig: Rig, seconds: float, trace: Path) -> dict[str, Any]:
    budget = Budget(seconds)
    with tempfile.TemporaryDirectory() as folder:
        try:
            circuit = rig.circuit(Path(folder), budget)
        except SpentError:
            verdict, outputs = None, list[int]()
        else:
            verdict, outputs = (_check if rig.cycles else _prove)(rig, circuit, budget)
        if verdict is None:
            return {"answer": "undecided", "why": f"no answer within {seconds:g} CPU seconds"}
        if verdict.output is not None:
            if rig.claims[verdict.output][0] == TOO_FEW:
                return {"answer": "undecided", "why": TOO_FEW}
            _write_trace(rig, Path(folder), verdict.run, trace)
            why = f"{rig.claims[verdict.output][0]}, in cycle {verdict.cycle}"
            return {"answer": "refuted", "why": why}
        moves = [len(rig.claims) + len(rig.hints)]
        within = rig.cycles + 1 if rig.cycles else _FIRST_SLOTS * rig.slot
        seen = find_output(circuit, cycles=within, budget=Budget(seconds), outputs=moves, reduce=not rig.cycles)
    if seen is None or seen.output is None:
        return {"answer": "undecided", "why": "the rig has not seen packets everywhere"}
    return {"answer": "bounded" if rig.cycles else "proved", "why": "", "outputs": outputs}


def _check(rig: Rig, circuit: Path, budget: Budget) -> tuple[Verdict | None, list[int]]:
    """Check claims in each cycle of the schedule of a rig; return the verdict and which they are."""
    claims = [*range(len(rig.claims))]
    return find_output(circuit, cycles=rig.cycles, budget=budget, outputs=claims, reduce=False), claims


def _prove(rig: Rig, circuit: Path, budget: Budget) -> tuple[Verdict | None, list[int]]:
    """Prove claims and hints together; return the verdict and those that hold if all is proved.

    A hint that does not hold is dropped, and the rest is tried again. As a claim may not hold for the same reason, a
    short run is looked for first in which one does not.
    """
    claims = range(len(rig.claims))
    outputs = [*range(len(rig.claims) + len(rig.hints))]
    verdict = prove_outputs(circuit, budget=budget, outputs=outputs)
    if verdict is None or verdict.output is None or verdict.output in claims:
        return verdict, outputs
    short = Budget(budget.left / 2)
    wrong = find_output(circuit, cycles=_FEW_SLOTS * rig.slot, budget=short, outputs=claims)
    if wrong is not None and wrong.output is not None:
        return wrong, outputs
    budget.spent += short.spent
    while verdict is not None and verdict.output is not None and verdict.output not in claims:
        outputs.remove(verdict.output)
        verdict = prove_outputs(circuit, budget=budget, outputs=outputs)
    return verdict, outputs


def _invariant(rig: Rig, seconds: float, outputs: Sequence[int]) -> dict[str, Any]:
    """Return an invariant by which outputs of a rig are 0 in every cycle; nothing if there is none within a budget."""
    budget = Budget(seconds)
    with tempfile.TemporaryDirectory() as folder:
        try:
            circuit = rig.circuit(Path(folder), budget)
        except SpentError:
            return {}
        own = {"rig": rig.digest, "outputs": [*outputs]}
        if rig.steps:
            steps = {"steps": rig.steps}
            return {} if check_invariant(circuit, steps, outputs) else {**own, **steps}
        found = find_invariant(circuit, budget=budget, outputs=outputs)
        return {} if found is None else {**own, **named_invariant(circuit, found)}


class Recheck:
    """Answers for rigs by invariants that are known: another solver checks them on circuits made of the text anew.

    Parameters
    ----------
    invariants : iterable of mapping
        As of :class:`Settled`.
    """

    def __init__(self, invariants: Iterable[Mapping[str, Any]]) -> None:
        self._known = {one.get("rig"): one for one in invariants}

    def __call__(self, rig: Rig, *, seconds: float, root: Path) -> Settled:
        """See :func:`settle`; nothing is kept in `root`."""
        del root
        known = self._known.get(rig.digest)
        if known is None:
            why = "the end of a schedule has no invariant" if rig.cycles else "the certificate has no invariant for it"
            return Settled("undecided", why)
        outputs = known.get("outputs")
        if not isinstance(outputs, list) or not set(range(len(rig.claims))) <= set(outputs):
            return Settled("refuted", "its invariant leaves out a claim")
        with tempfile.TemporaryDirectory() as folder:
            try:
                circuit = rig.circuit(Path(folder), Budget(seconds))
            except SpentError:
                return Settled("undecided", f"no circuit within {seconds:g} CPU seconds")
            why = check_invariant(circuit, known, outputs)
        answer = ("refuted", f"its invariant is none: {why}") if why else ("proved", "")
        return Settled(*answer, method="inductive invariant, by z3")


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
