"""Run the tests of what has changed since they passed: ``make quick``.

A file of tests is run if the digest of all that it depends on (`tests.closure`) is not the one with which it passed
last. Runs of pytest note that themselves, those of ``make test`` too: this module is a plugin of it.
"""

import contextlib
import fcntl
import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import closure
from tests.closure import SETTINGS, Tree, blob_id

ROOT = Path(__file__).parents[1]
STATE = Path("build") / "quick.json"
COSTS = Path("tests") / "costs.json"
"""CPU seconds of each file of tests, where they were measured."""
READER = blob_id(Path(closure.__file__).read_bytes())
"""Facts that another version of the reader noted are not of use."""
WRITER = blob_id(Path(__file__).read_bytes())
"""Nor is a file that another version of this module wrote."""
ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
"""How a run ends that has collected all: then what has no test for it has nothing to fail."""
KEPT = 20
"""Digests of a file of tests that are known to have passed."""
SHOWN = 12
"""Most changed files that are named."""


def costs(root: Path = ROOT) -> dict[str, float]:
    """Return the CPU seconds of files of tests, as far as they are known."""
    file = root / COSTS
    return {test: own["seconds"] for test, own in json.loads(file.read_text()).items()} if file.exists() else {}


def _git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True).stdout


def working_tree(root: Path = ROOT, known: dict[str, Any] | None = None) -> Tree:
    """Return the files that git knows or would take, as they are now."""
    files = {}
    for name in set(_git(root, "ls-files", "-coz", "--exclude-standard").decode().split("\0")) - {""}:
        path = root / name
        if path.is_file():
            files[name] = path.read_bytes()
    return Tree(files, known)


def blobs_of(commit: str, root: Path = ROOT) -> dict[str, str]:
    """Return the digests of the files of a commit."""
    rows = [row.split("\t") for row in _git(root, "ls-tree", "-rz", commit).decode().split("\0")[:-1]]
    return {name: about.split()[2] for about, name in rows if not about.startswith("120000")}  # which is a link


class State:
    """What is known of earlier runs, kept in a file.

    Attributes
    ----------
    passed : dict
        By files of tests, the digests with which all their tests passed, the last one first, how many these are, and
        the CPU seconds that they took; None once one failed.
    green : dict
        The digests of all files when all tests had passed.
    known : dict
        Facts of sources, see :class:`tests.closure.Tree`.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.file = root / STATE
        kept: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):
            kept = json.loads(self.file.read_text())
        kept = kept if kept.get("writer") == WRITER else {}
        self.passed: dict[str, Any] = kept.get("passed", {})
        self.green: dict[str, str] = kept.get("green", {})
        self.known: dict[str, Any] = kept.get("known", {}) if kept.get("reader") == READER else {}

    def begin(self, root: Path, tree: Tree) -> str:
        """At first use, take what has no note as passed at the commit before this work; return what to say of it."""
        if self.green:
            return ""
        commit = base_of(root)
        self.green = blobs_of(commit, root)
        changed = self.changed(tree)
        changed |= {SETTINGS} if "pyproject.toml" in changed else set()
        unknown = self.green.keys() & set(tree.test_files()) - self.passed.keys()
        for test in unknown:  # of a file that is gone, nothing says who read it
            is_same = self.green.keys() <= tree.files.keys() and changed.isdisjoint(tree.closure(test))
            self.passed[test] = [[tree.digest(test)] if is_same else [], None, None]
        return f"first use: {len(unknown)} files of tests have no note, and are taken as passed at commit {commit[:12]}"

    def changed(self, tree: Tree) -> set[str]:
        """Return the files that are not as they were when all tests had passed."""
        files = (tree.digests.keys() | self.green.keys()) - {SETTINGS}
        return {file for file in files if tree.digests.get(file) != self.green.get(file)}

    def is_stale(self, tree: Tree, test: str) -> bool:
        """Return whether a file of tests is to be run."""
        note = self.passed.get(test)
        return note is None or tree.digest(test) not in note[0]

    def note(self, test: str, digest: str, number: int, seconds: float) -> None:
        """Note that all tests of a file have passed; what passed before is known, too, until one fails."""
        before = [one for one in (self.passed.get(test) or [[]])[0] if one != digest]
        self.passed[test] = [[digest, *before][:KEPT], number, round(seconds, 2)]

    def write(self, tree: Tree) -> None:
        """Keep it, with the facts of this tree alone."""
        tests = tree.test_files()
        if not any(self.is_stale(tree, test) for test in tests):
            self.green = tree.digests
        passed = {test: note for test, note in self.passed.items() if test in tests}
        digests = set(tree.digests.values())
        known = {digest: facts for digest, facts in tree.known.items() if digest in digests}
        made = self.file.with_suffix(f".{os.getpid()}")
        kept = {"passed": passed, "green": self.green, "known": known, "reader": READER, "writer": WRITER}
        made.write_text(json.dumps(kept))
        made.replace(self.file)


@contextlib.contextmanager
def noted(root: Path) -> Iterator[State]:
    """Yield the state while no other run reads or writes it."""
    (root / STATE).parent.mkdir(exist_ok=True)
    with (root / STATE).with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield State(root)


def base_of(root: Path) -> str:
    """Return the last commit that this work has in common with what it goes to; without such a branch, the last one."""
    with contextlib.suppress(subprocess.CalledProcessError):
        return _git(root, "merge-base", "HEAD", "@{upstream}").decode().strip()
    return _git(root, "rev-parse", "HEAD").decode().strip()


def chosen(tree: Tree, state: State, cost: dict[str, float]) -> list[str]:
    """Return the files of tests to be run: those that failed first, then what takes little and depends on little."""
    stale = [test for test in tree.test_files() if state.is_stale(tree, test)]
    size = {test: (cost.get(test, 0.0), len(tree.closure(test))) for test in stale}
    return sorted(stale, key=lambda test: (state.passed.get(test) is not None, size[test], test))


def report(tree: Tree, state: State, tests: list[str]) -> list[str]:
    """Return what to say of a choice."""
    changed = sorted(state.changed(tree))
    readers = Counter(file for test in tree.test_files() for file in tree.closure(test))
    lines = [f"{file}: {_read(readers[file]) if file in tree.digests else 'gone'}" for file in changed[:SHOWN]]
    lines += [f"and {len(changed) - SHOWN} more"] if len(changed) > SHOWN else []
    notes = [(state.passed.get(test) or [None, None, None])[1:] for test in tests]
    number, seconds = (sum(filter(None, numbers)) for numbers in zip(*notes, strict=True)) if notes else (0, 0)
    failed = sum(state.passed.get(test) is None for test in tests)
    every = len(tree.test_files())
    said = [
        f"changed since all passed: {len(changed)} files; to be run: {len(tests)} of {every} files of tests",
        f"{'at least ' * any(None in note for note in notes)}{number} tests in {seconds:.0f} CPU seconds",
        *([f"first {failed} new or failed"] if failed else []),
    ]
    return [*lines, ", ".join(said)]


def choose(root: Path, cost: dict[str, float]) -> tuple[list[str], list[str]]:
    """Return the files of tests to be run, and what to say."""
    with noted(root) as state:
        tree = working_tree(root, state.known)
        first = state.begin(root, tree)
        tests = chosen(tree, state, cost)
        lines = report(tree, state, tests)
        state.write(tree)
    return tests, [first, *lines] if first else lines


def _read(readers: int) -> str:
    return f"{readers} files of tests" if readers else "no test reads it"


def main() -> int:
    """Lint, choose and run."""
    tests, lines = choose(ROOT, costs())
    for line in lines:
        print(f"quick: {line}", flush=True)
    checks = ["make", "--silent", "--keep-going", "lint"]
    statuses = [subprocess.run(checks, cwd=ROOT, check=False).returncode]
    if tests:
        command = [sys.executable, "-m", "pytest", "--quick", "--failed-first", *tests]
        statuses.append(subprocess.run(command, cwd=ROOT, check=False).returncode)
    return int(any(statuses))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--quick``: files of tests are run in the order in which they are given."""
    parser.getgroup("hdnhw").addoption("--quick", action="store_true", help="run files in the order given")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order tests as their files are given."""
    if config.option.quick:
        given = {config.invocation_params.dir / test: place for place, test in enumerate(config.args)}
        items.sort(key=lambda item: given.get(item.path, len(given)))


def pytest_configure(config: pytest.Config) -> None:
    """Note what passes, once for all workers; where git knows nothing of these files, nothing is noted."""
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            config.pluginmanager.register(Notes(config))


def _file_of(test: str) -> str:
    return test.partition("::")[0]


class Notes:
    """Notes of one run which files of tests passed: all of their tests that ``make test`` has, with unchanged files."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.root = config, config.rootpath
        self.tree = working_tree(self.root, State(self.root).known)
        self.collected, self.done, self.failed = set[str](), set[str](), set[str]()
        self.seconds = Counter[str]()

    def is_whole(self) -> bool:
        """Return whether no test of a file of ``make test`` was left out."""
        narrowed = any(
            self.config.getoption(name, None) for name in ("keyword", "markexpr", "deselect", "lf", "set_up")
        )
        return self.config.option.tier == "test" and not narrowed and "::" not in "".join(self.config.args)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without workers."""
        self.collected |= {item.nodeid for item in session.items}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:  # noqa: ARG002
        """With workers, each of which collects all."""
        self.collected |= {*ids}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be imported."""
        self.failed |= {_file_of(report.nodeid)} if report.failed else set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the end of a test."""
        self.failed |= {_file_of(report.nodeid)} if report.failed else set()
        if report.when == "teardown":
            self.done.add(report.nodeid)
            self.seconds[_file_of(report.nodeid)] += dict(report.user_properties).get("cpu", 0)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write it down."""
        now, number = working_tree(self.root, self.tree.known), Counter(map(_file_of, self.collected))
        tests = set(now.test_files()) & set(self.tree.test_files())
        passed = set[str]()
        left = self.failed.union(map(_file_of, self.collected - self.done))
        for test in tests - left if self.is_whole() else ():
            given = any(test == one or test.startswith(f"{one.rstrip('/')}/") for one in self.config.args)
            if given and (exitstatus in ENDED or number[test]) and now.digest(test) == self.tree.digest(test):
                passed.add(test)
        with noted(self.root) as state:
            state.passed.update(dict.fromkeys(tests & self.failed))
            for test in passed:
                state.note(test, now.digest(test), number[test], self.seconds[test])
            state.write(now)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except subprocess.CalledProcessError as error:
        print(f"quick: {shlex.join(error.cmd)} must succeed here: {error.stderr.decode().strip()}", file=sys.stderr)
        sys.exit(2)
