"""The heavy tests that were run longest ago, new fuzz lines and fabrics: faults they find block nothing; half an hour.

tests/drawn.jsonl has the last run of each test and all seeds, oldest first; it is written after each portion, so a run
that is stopped loses little. A failure is tried on the commit before, and becomes an entry of tests/regressions.toml.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.regressions import FILE as REGRESSIONS
from tests.running import cpu

ROOT = Path(__file__).parents[1]
LOG = Path(__file__).with_name("drawn.jsonl")
PARENT = ROOT / "build" / "parent"

PORTION = 100
"""Tests after which what ran is written down."""

DRAWS = {
    "fuzz": ("tests.fuzz", 300, r"^\[\[line\]\]\n(?:.+\n)+"),
    "lockstep": ("tests.soak.lockstep", 2, r"^    (hdnhw .*)\n"),
}
"""Of what is drawn by a seed: the program, how many it draws, and how it prints what has failed."""


def run(*words, **options):
    """Run a program of this environment in a checkout; return its status and output, which is printed as it comes."""
    command, said = [sys.executable, *words], []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **{"cwd": ROOT, **options}) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            said.append(line)
    return process.returncode, "".join(said)


def git(*words):
    """Return what git prints."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def heavy_tests():
    """Return the ids of all tests that `make test` leaves out."""
    words = ["-m", "pytest", "-n", "0", "--collect-only", "--quiet", "--tier", "fixed,drawn"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


def oldest(tests, log, slices):
    """Return one of so many slices of tests: first those that the log does not have, then by its order."""
    place = {entry["test"]: number for number, entry in enumerate(log) if "test" in entry}
    return sorted(tests, key=lambda test: place.get(test, -1))[: -(-len(tests) // slices)]


def run_tests(tests, cwd=ROOT, **options):
    """Run tests by their ids; return what each took, by its id."""
    with tempfile.TemporaryDirectory() as name:
        chosen, record = Path(name, "tests"), Path(name, "record")
        chosen.write_text("\n".join(tests))
        record.touch()
        run("-m", "pytest", "--quiet", "--record", str(record), f"@{chosen}", cwd=cwd, **options)
        found = [json.loads(line) for line in record.read_text().splitlines()]
    return {one["id"]: one for one in found}


def fail_before(failed):
    """Return those of some tests that fail on the commit before, too."""
    git("worktree", "prune")
    git("worktree", "add", "--force", "--detach", str(PARENT), "HEAD^")
    try:
        found = run_tests(failed, PARENT, env=os.environ | {"PYTHONPATH": str(PARENT)})
    finally:
        git("worktree", "remove", "--force", str(PARENT))
    return {name for name in failed if found.get(name, {}).get("verdict") == "failed"}


def entry(kind, **values):
    """Return an entry of tests/regressions.toml."""
    return "\n".join([f"\n[[{kind}]]", *(f"{name} = {json.dumps(text)}" for name, text in values.items()), ""])


def draw(name, log):
    """Run what is drawn, with the seed after the last one; return its line of the log, and entries of what failed."""
    program, count, pattern = DRAWS[name]
    seed = 1 + max((one["seed"] for one in log if one.get("draw") == name), default=1)
    before = sum(cpu())
    status, said = run("-m", program, "--seed", str(seed), "--count", str(count))
    found = [
        f"\n{text}" if name == "fuzz" else entry("cosim", what="a mismatch", command=text)
        for text in re.findall(pattern, said, re.MULTILINE)
    ]
    verdict, seconds = "failed" if status else "passed", round(sum(cpu()) - before)
    return {"draw": name, "seed": seed, "count": count, "verdict": verdict, "cpu": seconds}, found


class Log:
    """What ran, oldest first; what is added stands in the files at once.

    Parameters
    ----------
    head : str
        The commit on which it runs.
    """

    def __init__(self, head):
        self.head = head
        self.lines = [json.loads(line) for line in LOG.read_text().splitlines()] if LOG.exists() else []

    def add(self, lines, faults):
        """Add what ran, in place of earlier runs of the same tests, and the entries of what failed."""
        tests = {one["test"] for one in lines if "test" in one}
        self.lines = [one for one in self.lines if one.get("test") not in tests]
        self.lines += [one | {"head": self.head} for one in lines]
        LOG.write_text("".join(f"{json.dumps(one)}\n" for one in self.lines))
        with REGRESSIONS.open("a", encoding="utf-8") as file:
            file.writelines(faults)


def main(arguments=None):
    """Run a slice of the heavy tests and what is drawn; the status is 0 whatever they find."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--slices", type=int, default=24, help="of the heavy tests, one of which is run (default 24)")
    slices = parser.parse_args(arguments).slices
    log = Log(git("describe", "--always", "--dirty"))
    tests, counts = oldest(heavy_tests(), log.lines, slices), Counter()
    for begin in range(0, len(tests), PORTION):
        ran = run_tests(portion := tests[begin : begin + PORTION])
        failed = [name for name in portion if ran.get(name, {}).get("verdict") not in ("passed", "skipped")]
        before = fail_before(failed) if failed else set()
        lines = [{"test": name, "verdict": one["verdict"], "cpu": one.get("cpu", 0)} for name, one in ran.items()]
        what = {name: f"failed on {log.head}{' and before' * (name in before)}" for name in failed}
        log.add(lines, [entry("test", what=what[name], test=name) for name in failed])
        counts.update(ran=len(ran), failed=len(failed), before=len(before), entries=len(failed))
    for name in DRAWS:
        line, found = draw(name, log.lines)
        log.add([line], found)
        counts.update(entries=len(found))
    ran, failed, before = counts["ran"], counts["failed"], counts["before"]
    print(f"{ran} of {len(tests)} tests ran, {failed} failed, {before} of them on the commit before too")
    print(f"{counts['entries']} new entries in {REGRESSIONS.relative_to(ROOT)}; {LOG.relative_to(ROOT)} has what ran")


if __name__ == "__main__":
    main()
