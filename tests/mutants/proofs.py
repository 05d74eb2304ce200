"""30 random mutants, or COUNT, of each of two routers against `hdnhw prove` and the benches; ten minutes.

A mutant that is proved may differ from the original in what no proof claims: when packets leave, and who goes first. So
benches may see packets in other cycles; a packet that they see lost, misled or changed says that a proof is wrong.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from hdnhw.cli.options import Parser
from hdnhw.proofs.delivery import prove_delivery
from hdnhw.proofs.finding import SECONDS, Finding
from hdnhw.proofs.prove import prove_routing
from hdnhw.sim.simulator import BUILD_ROOT
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric
from tests.mutants.check import WORKERS, draw, parse_drawn
from tests.mutants.designs import mutants_of, stream_cases, text_of_all
from tests.mutants.equivalence import equivalent_mutants
from tests.mutants.program import MutantBench, Seen
from tests.mutants.schemata import Mutant
from tests.specs import fabric_spec

NETWORKS = ("hdn(cube(1), [[]])", "torus(4, 4)")
"""Of one router each, which a proof takes less than a minute for."""

PATIENCE = 8
"""How many times as long as the original a mutant may take for the packets of a case."""


@dataclass(frozen=True)
class Judged:
    """What is said of a mutant.

    Attributes
    ----------
    mutant : Mutant
    answer : str
        ``equivalent``, or that of the proofs: ``refuted`` if one is, else ``undecided`` if one is, else ``proved``.
    why : str
        Of the first that is refuted, or else undecided.
    seen : Seen, optional
        What the benches see of one that is not refuted.
    """

    mutant: Mutant
    answer: str
    why: str = ""
    seen: Seen | None = None


def with_text(fabric: EmittedFabric, text: str) -> EmittedFabric:
    """Return a fabric with another text."""
    return replace(fabric, files={**fabric.files, f"{fabric.modules.top}.sv": text})


def mutated(fabric: EmittedFabric, mutant: Mutant) -> EmittedFabric:
    """Return a fabric with a mutant in its text."""
    lines = fabric.files[f"{fabric.modules.top}.sv"].split("\n")
    lines[mutant.line] = f"{mutant.before}{mutant.mutated}{mutant.behind}"
    return with_text(fabric, "\n".join(lines))


def answer_of_all(findings: Iterable[Finding]) -> tuple[str, str]:
    """Return the answer for all findings, and why: of the first that is refuted, or else the last undecided one."""
    answer, why = "proved", ""
    for one in findings:
        if one.answer != "proved":
            answer, why = one.answer, f"{one.property} of {one.part}: {one.why}"
        if one.answer == "refuted":
            break
    return answer, why


def prove_mutant(fabric: EmittedFabric, mutant: Mutant, *, seconds: float = SECONDS) -> Judged:
    """Prove a mutant part by part until one is refuted."""
    broken = mutated(fabric, mutant)
    with tempfile.TemporaryDirectory() as folder:
        findings = chain(prove_routing(broken), prove_delivery(broken, seconds=seconds, root=Path(folder)))
        return Judged(mutant, *answer_of_all(findings))


def judge_mutants(
    fabric: EmittedFabric, mutants: Sequence[Mutant], *, seconds: float = SECONDS, root: Path = BUILD_ROOT
) -> Iterator[Judged]:
    """Judge mutants of a fabric: yield the equivalent ones, the refuted ones, and those that benches have looked at.

    Parameters
    ----------
    fabric : EmittedFabric
    mutants : sequence of Mutant
        Among :func:`tests.mutants.designs.mutants_of`.
    seconds : float
        After so many of CPU time, a search is given up.
    root : Path
        Folder for builds.
    """
    equivalent = equivalent_mutants(text_of_all(fabric), mutants)
    yield from (Judged(one, "equivalent") for one in mutants if one.number in equivalent)
    others = [one for one in mutants if one.number not in equivalent]
    left: list[Judged] = []
    with ThreadPoolExecutor(WORKERS) as workers:
        for judged in workers.map(lambda one: prove_mutant(fabric, one, seconds=seconds), others):
            if judged.answer == "refuted":
                yield judged
            else:
                left.append(judged)
    if not left:
        return
    bench = MutantBench(fabric, [one.mutant for one in left], patience=PATIENCE, root=root)
    bench.make()
    cases = stream_cases(bench)
    with tempfile.TemporaryDirectory() as folder:
        for judged in left:
            number = judged.mutant.number
            yield replace(
                judged, seen=max(bench.sees(number, case, Path(folder) / name) for name, case in cases.items())
            )


def wrong_proofs(judged: Sequence[Judged]) -> list[Judged]:
    """Return those that are proved although a bench sees a packet lost, misled or changed."""
    return [one for one in judged if one.answer == "proved" and one.seen is Seen.PACKETS]


def _report(judged: Sequence[Judged], minutes: float) -> None:
    answers = Counter(one.answer for one in judged)
    print(f"  mutants     {len(judged):5}")
    for answer in ("equivalent", "refuted", "undecided", "proved"):
        print(f"  {answer:11} {answers[answer]:5}")
    for one in judged:
        if one.seen is not None:
            print(
                f"    {one.answer}, benches see {one.seen.name.lower()}: {one.mutant.key}{one.why and f' ({one.why})'}"
            )
    print(f"  minutes     {minutes:7.1f}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check some mutants of each network's router; return 1 if one is proved whose packets do not arrive."""
    parser = Parser(prog="tests/mutants/proofs.py", description=__doc__)
    parser.add_argument("networks", nargs="*", metavar="SPEC", help=f"networks (default: {', '.join(NETWORKS)})")
    options = parse_drawn(parser, arguments, count=30)
    wrong: list[Judged] = []
    for network in options.networks or NETWORKS:
        started = time.monotonic()
        fabric = emit_fabric(fabric_spec(network))
        print(network, flush=True)
        judged: list[Judged] = []
        for router in fabric.modules.routers:
            mutants = [one for one in mutants_of(fabric) if one.module == router]
            judged += judge_mutants(fabric, draw(mutants, options.seed, options.count))
        _report(judged, (time.monotonic() - started) / 60)
        wrong += wrong_proofs(judged)
    print(f"passed {'false' if wrong else 'true'}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
