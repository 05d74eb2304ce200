"""Single mutants of emitted Verilog, or COUNT of each design, against the project's own benches; 20 minutes.

A mutant that computes the same as the original in every state is equivalent. Each other one runs through the cases of
its design until one sees a difference. Of engines, some that none sees are proved never to differ in a run.
The others stand in survivors.toml with a reason; one that does not stand there fails, and so does one that stands there
and does not survive.
"""

import hashlib
import re
import sys
import tempfile
import time
import tomllib
from argparse import Namespace
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from hdnhw.cli.options import Parser
from hdnhw.sim.simulator import BUILD_ROOT
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric
from tests.mutants.designs import DESIGNS, Design, mutants_of, stream_cases, text_of_all
from tests.mutants.engines import ENGINES
from tests.mutants.equivalence import equivalent_mutants
from tests.mutants.program import MutantBench
from tests.mutants.schemata import Mutant
from tests.mutants.sequential import never_different
from tests.mutants.trials import check_original, killers_in_benches

KNOWN = DESIGNS | ENGINES
"""All designs by name."""

FIRST = (*DESIGNS, "collective")
"""Those that are looked at where none is named; the other engines are looked at by themselves."""

SURVIVORS = Path(__file__).with_name("survivors.toml")

WORKERS = 2

SECONDS = 120
"""After which a proof that a mutant never differs is given up."""


@dataclass(frozen=True)
class Outcome:
    """What became of the mutants of a design.

    Attributes
    ----------
    mutants : tuple of Mutant
        Those that were looked at.
    equivalent : frozenset of int
        Numbers of those that compute the same as the original.
    killed : dict of int to str
        The case that sees a difference, by number.
    never : frozenset of int
        Numbers of those that never give anything else in a run, and differ in other states.
    """

    mutants: tuple[Mutant, ...]
    equivalent: frozenset[int]
    killed: dict[int, str]
    never: frozenset[int] = frozenset()

    @property
    def survivors(self) -> list[str]:
        """The keys of the others."""
        gone = self.equivalent | self.never | self.killed.keys()
        return [one.key for one in self.mutants if one.number not in gone]

    @property
    def unseen(self) -> set[str]:
        """The keys of these and of those that never differ, which a proof may not find in its time."""
        return {*self.survivors, *(one.key for one in self.mutants if one.number in self.never)}


def check_design(
    design: Design, fabric: EmittedFabric, mutants: Sequence[Mutant], *, root: Path = BUILD_ROOT
) -> Outcome:
    """Run mutants of a fabric through the cases of its benches, each until one sees a difference.

    Parameters
    ----------
    design : Design
    fabric : EmittedFabric
        Of the design.
    mutants : sequence of Mutant
        Among :func:`tests.mutants.designs.mutants_of`.
    root : Path
        Folder for builds of programs.

    Raises
    ------
    RuntimeError
        If a case sees a difference in the original.
    """
    equivalent = equivalent_mutants(text_of_all(fabric), mutants)
    numbers = [one.number for one in mutants if one.number not in equivalent]
    if design.trials is None:
        killers = _killers_in_program(fabric, mutants, numbers, root)
    else:
        killers = killers_in_benches(design, fabric, mutants, numbers, workers=WORKERS)
    killed = {number: name for number, name in zip(numbers, killers, strict=True) if name is not None}
    left = [number for number in numbers if design.runs and number not in killed]
    never = never_different(text_of_all(fabric), mutants, left, seconds=SECONDS, workers=WORKERS)
    return Outcome(tuple(mutants), frozenset(equivalent), killed, frozenset(never))


def _killers_in_program(
    fabric: EmittedFabric, mutants: Sequence[Mutant], numbers: Sequence[int], root: Path
) -> list[str | None]:
    """Return the case of bare streams that sees a difference for each number, or None."""
    bench = MutantBench(fabric, mutants, root=root)
    bench.make()
    cases = stream_cases(bench)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(WORKERS) as workers:
        places: SimpleQueue[Path] = SimpleQueue()
        for place in range(WORKERS):
            places.put(Path(folder) / str(place))

        def killer(number: int) -> str | None:
            place = places.get()
            try:
                differ = (name for name, case in cases.items() if bench.sees(number, case, place / name))
                return next(differ, None)
            finally:
                places.put(place)

        check_original(killer(0))
        return list(workers.map(killer, numbers))


def read_survivors(path: Path = SURVIVORS) -> dict[str, dict[str, str]]:
    """Return the reasons of the survivors that are known, by design and key."""
    listed = tomllib.loads(path.read_text())
    return {
        design: {key: entry["reason"] for entry in entries for key in entry["mutants"]}
        for design, entries in listed.items()
    }


def compare(outcome: Outcome, known: Collection[str], keys: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the survivors that are not known, and the known ones that do not survive or are no mutants.

    Parameters
    ----------
    outcome : Outcome
    known : collection of str
        Keys of known survivors.
    keys : iterable of str
        Of all mutants of the design; known ones that were not looked at, or never differ, are taken for survivors.
    """
    unseen, looked_at, there = outcome.unseen, {one.key for one in outcome.mutants}, set(keys)
    new = [key for key in outcome.survivors if key not in known]
    return new, [key for key in known if key not in there or (key in looked_at and key not in unseen)]


def _report(outcome: Outcome, known: Mapping[str, str], new: list[str], stale: list[str], minutes: float) -> None:
    """Print what became of the mutants of a design."""
    by_case = Counter(outcome.killed.values())
    reasons = Counter(known[key] for key in outcome.survivors if key in known)
    print(f"  mutants     {len(outcome.mutants):5}")
    print(f"  equivalent  {len(outcome.equivalent):5}")
    print(f"  never differ{len(outcome.never):5}\n" * bool(outcome.never), end="")
    print(f"  killed      {len(outcome.killed):5}")
    for case, count in by_case.most_common():
        print(f"    {count:5}  {case}")
    print(f"  survivors   {len(outcome.survivors):5}")
    for reason, count in reasons.most_common():
        print(f"    {count:5}  {reason}")
    for words, keys in (("survives, and is not listed", new), ("is listed, and does not survive", stale)):
        print(*(f"  {words}: {key}" for key in keys), sep="\n", end="\n" * bool(keys))
    print(f"  minutes     {minutes:7.1f}", flush=True)


def parse_drawn(parser: Parser, arguments: Sequence[str] | None, *, count: int | None = None) -> Namespace:
    """Parse a command line that says, too, how many mutants are drawn and by which seed; `count` is the default."""
    parser.add_argument("--seed", type=int, default=1, help="draws the mutants (default 1)")
    default = "all" if count is None else count
    parser.add_argument("--count", type=int, default=count, help=f"mutants of each design (default: {default})")
    options = parser.parse_args(arguments)
    if options.seed < 0 or (options.count is not None and options.count < 1):
        parser.error(f"seed must be at least 0 and count at least 1, not {options.seed} and {options.count}")
    return options


def draw(mutants: Sequence[Mutant], seed: int, count: int | None) -> Sequence[Mutant]:
    """Return as many mutants, all if there are no more, by a number of each: others in the text change no choice."""
    by_chance = sorted(mutants, key=lambda one: hashlib.sha256(f"{seed} {one.key}".encode()).digest())
    return sorted(by_chance[:count], key=lambda one: one.number)


def all_of(design: Design) -> list[Mutant]:
    """Return the mutants of a design, of what it is about, without those that are looked at beside it."""
    there: set[str] = set()
    if design.beside:
        there = {one.key for one in mutants_of(emit_fabric(KNOWN[design.beside].spec))}
    mutants = [one for one in mutants_of(emit_fabric(design.spec)) if one.key not in there]
    return [one for one in mutants if re.search(design.about, one.place)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check some designs, or the first; return 1 if a survivor is not listed, or a listed one none."""
    parser = Parser(prog="tests/mutants/check.py", description=__doc__)
    parser.add_argument(
        "designs", nargs="*", metavar="DESIGN", help=f"among {', '.join(KNOWN)} (default: {', '.join(FIRST)})"
    )
    options = parse_drawn(parser, arguments)
    if unknown := [name for name in options.designs if name not in KNOWN]:
        parser.error(f"design must be among {', '.join(KNOWN)}, not {unknown[0]!r}")
    listed, faults = read_survivors(), 0
    for name in options.designs or FIRST:
        started = time.monotonic()
        design, known = KNOWN[name], listed.get(name, {})
        fabric, mutants = emit_fabric(design.spec), all_of(design)
        print(f"{name}: {design.spec.network}, {len(mutants)} mutants", flush=True)
        outcome = check_design(design, fabric, draw(mutants, options.seed, options.count or design.sample))
        new, stale = compare(outcome, known, [one.key for one in mutants])
        _report(outcome, known, new, stale, (time.monotonic() - started) / 60)
        faults += len(new) + len(stale)
    print(f"passed {'false' if faults else 'true'}")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
