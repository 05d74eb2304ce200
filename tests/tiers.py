"""Which run a test belongs to, by its cost in tests/costs.json: no tier is chosen by hand.

``test`` is what ``make test`` runs, ``fixed`` what CI runs besides, ``drawn`` the rest. In each file the cheapest cases
come first. A feature is a test function, or a value that several cases of a file share: it is run by the cheapest case
that has it. A dear case whose features others of its tier show is left to a later one.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COSTS = Path(__file__).with_name("costs.json")

TIERS = ("test", "fixed", "drawn")

LIMITS = {"test": (5.0, 1.0, 8.0), "fixed": (20.0, 0.0, 15.0)}
"""Of a tier, the most CPU seconds of a case that is the first to show a feature, those of cases of a file that show
none, and those of all cases of a file."""

LEAST = 0.5
"""CPU seconds below which a case is not in the table by itself."""

CHEAP = 0.05
"""CPU seconds of a case of which nothing is known; where all known ones of its function are dear, it is like them."""


@dataclass(frozen=True)
class Case:
    """A test with its parameters.

    Attributes
    ----------
    id : str
        Node id of pytest.
    features : frozenset of str
        What it shows, :func:`features_of`.
    group : str
        Cases of a file with the same name here share what one of them pays for; "" is that of a case by itself.
    """

    id: str
    features: frozenset[str] = field(default=frozenset(), compare=False)
    group: str = field(default="", compare=False)

    @property
    def file(self) -> str:
        """Its file."""
        return self.id.partition("::")[0]

    @property
    def function(self) -> str:
        """Its id without parameters."""
        return self.id.partition("[")[0]


class Costs:
    """The table: of each file, the CPU seconds of its dear cases, and those of all others of a function.

    Parameters
    ----------
    files : dict
        File -> ``{"kinds": {kind: seconds}, "cases": {case: seconds}, "others": {function: [cases, seconds]}}``: what
        its CPU went to when it was last run, its dear cases, and the sum of the others of a function.
    """

    def __init__(self, files: dict[str, dict[str, Any]]) -> None:
        self._files = files

    @classmethod
    def read(cls, path: Path = COSTS) -> "Costs":
        """Read the table of a file; it is empty if there is none."""
        return cls(json.loads(path.read_text()) if path.exists() else {})

    def update(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Take in what a run has written down: of each case, it stands in place of what was known of it."""
        functions: dict[str, dict[str, list[tuple[str, Mapping[str, Any]]]]] = defaultdict(lambda: defaultdict(list))
        for record in records:
            if record["verdict"] == "passed":
                file, _, name = record["id"].partition("::")
                functions[file][name.partition("[")[0]].append((name, record))
        for file, found in functions.items():
            own = self._files.setdefault(file, {"cases": {}, "others": {}})
            ran = {name for cases in found.values() for name, _ in cases}
            own["cases"] = {name: seconds for name, seconds in own["cases"].items() if name not in ran}
            for function, cases in found.items():
                own["cases"] |= {name: record["cpu"] for name, record in cases if record["cpu"] >= LEAST}
                others = [record["cpu"] for _, record in cases if record["cpu"] < LEAST]
                own["others"].pop(function, None)
                if sum(others) >= LEAST or (others and len(others) < len(cases)):
                    own["others"][function] = [len(others), round(sum(others), 2)]
            kinds: Counter[str] = Counter()
            for cases in found.values():
                for _, record in cases:
                    kinds.update(record["kinds"])
            own["kinds"] = {kind: round(seconds, 1) for kind, seconds in kinds.most_common() if seconds >= LEAST}

    def write(self, path: Path = COSTS) -> None:
        """Write the table to a file, a line for each case, dearest files first."""
        blocks = []
        for file, own in sorted(self._files.items(), key=lambda pair: (-_total(pair[1]), pair[0])):
            parts = [f' "seconds": {_total(own):.1f}', f' "kinds": {json.dumps(own["kinds"])}']
            for name in ("cases", "others"):
                rows = ",".join(f"\n  {json.dumps(case)}: {json.dumps(seconds)}" for case, seconds in own[name].items())
                parts.append(f' "{name}": {{{rows}}}')
            blocks.append(f"{json.dumps(file)}: {{\n" + ",\n".join(parts) + "}")
        path.write_text("{" + ",\n".join(blocks) + "}\n")

    def of(self, case: Case) -> float:
        """Return the CPU seconds that a case is expected to take."""
        own = self._files.get(case.file, {"cases": {}})
        name, function = (one.partition("::")[2] for one in (case.id, case.function))
        if (seconds := own["cases"].get(name)) is not None:
            return float(seconds)
        if function in own.get("others", {}):
            number, total = own["others"][function]
            return float(total / number)
        return float(
            min((cost for one, cost in own["cases"].items() if one.partition("[")[0] == function), default=CHEAP)
        )


def _total(own: Mapping[str, Any]) -> float:
    return sum(own["cases"].values()) + sum(seconds for _, seconds in own["others"].values())


def features_of(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the parameters of a case show: options with their values, networks, other values with their names."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from (f"{key}={each!r}" for key, each in value.items())
        elif isinstance(value, str):
            yield value
            yield from re.findall(r"\b[a-z]\w*(?=\()", value)
        else:
            yield f"{name}={value!r}"


def tiers_of(cases: Iterable[Case], costs: Costs, always: Iterable[str] = ()) -> dict[str, str]:
    """Return the tier of each case by its id; those of whole files are decided by themselves.

    Parameters
    ----------
    cases : iterable of Case
        All of each file.
    costs : Costs
    always : iterable of str
        Ids of cases, and of functions with all their cases, that CI runs whatever they cost.
    """
    named = set(always)
    files: dict[str, dict[str, list[Case]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        files[case.file][case.group or case.id].append(case)
    found = {}
    for groups in files.values():
        count = Counter(feature for own in groups.values() for case in own for feature in case.features)
        left = [(sum(map(costs.of, own)), own) for own in groups.values()]
        left.sort(key=lambda pair: (pair[0], pair[1][0].id))
        shown: Counter[str] = Counter()
        for tier, (most, room, whole) in LIMITS.items():
            spent, taken, later, dear = 0.0, 0.0, [], []
            if not room:
                firsts = {case.function: own for _, own in reversed(left) for case in own if case.function not in shown}
                left.sort(key=lambda pair: all(firsts.get(case.function) is not pair[1] for case in pair[1]))
            for seconds, own in left:
                new = {case.function for case in own} | {one for case in own for one in case.features if count[one] > 1}
                spent += seconds
                is_named = tier == "fixed" and any({case.id, case.function} & named for case in own)
                is_first = bool(new - shown.keys()) and seconds <= most and (taken + seconds <= whole or not taken)
                if spent <= room or is_first or is_named:
                    found |= {case.id: tier for case in own}
                    shown.update(new)
                    taken += seconds
                    if seconds >= LEAST and not is_named:
                        dear.append((seconds, own, new))
                else:
                    later.append((seconds, own))
            for seconds, own, new in reversed(dear):
                if all(shown[one] > 1 for one in new):
                    shown.subtract(new)
                    later.append((seconds, own))
            left = sorted(later, key=lambda pair: (pair[0], pair[1][0].id))
        found |= {case.id: "drawn" for _, own in left for case in own}
    return found


def main(paths: Iterable[str]) -> None:
    """Take the records of runs into the table: ``python -m tests.tiers RECORD...``."""
    costs = Costs.read()
    for path in paths:
        costs.update(map(json.loads, Path(path).read_text().splitlines()))
    costs.write()


if __name__ == "__main__":
    main(sys.argv[1:])
