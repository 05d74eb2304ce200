"""Tiers follow from costs; a test that was only set up, or took too much, has not passed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import each
from tests.drawn import oldest
from tests.tiers import CHEAP, LIMITS, Case, Costs, features_of, tiers_of

ROOT = Path(__file__).parents[1]

(MOST, ROOM, WHOLE), (MOST_FIXED, _, WHOLE_FIXED) = LIMITS["test"], LIMITS["fixed"]


def case(name, *features):
    """Return a case of one file."""
    return Case(f"tests/test_x.py::{name}", frozenset(features))


@each(
    ("seconds", "features", "always", "expected"),
    [
        # A function is run by its cheapest case.
        ({"a[1]": MOST - 1, "a[2]": MOST - 2, "a[3]": MOST + 1, "b": MOST - 1}, {}, [], "drawn test drawn test"),
        # What is too dear is run later.
        ({"a": MOST + 1, "b": MOST_FIXED + 1}, {}, [], "fixed drawn"),
        # Cheap cases are all run as long as there is room.
        ({f"a[{n}]": ROOM / 4 + n / 100 for n in range(6)}, {}, [], "test test test drawn drawn drawn"),
        # A feature is run by the cheapest case that has it; what no other case has is no feature.
        (
            {f"a[{n}]": ROOM + n for n in range(6)},
            {"a[0]": "x", "a[1]": "x", "a[2]": "yz", "a[3]": "y", "a[4]": "w", "a[5]": "xy"},
            [],
            "test drawn test drawn drawn drawn",
        ),
        # A dear case whose features others show is left to a later tier, unless it has failed once.
        (
            {"a[0]": 1.1, "a[1]": 1.2, "a[2]": 1.3, "a[3]": 1000.0},
            {"a[0]": "x", "a[1]": "xy", "a[2]": "yz", "a[3]": "z"},
            [],
            "test drawn test drawn",
        ),
        ({"a[0]": MOST + 1, "a[1]": MOST + 2}, {"a[0]": "x", "a[1]": "x"}, ["a[0]", "a[1]"], "fixed fixed"),
        # Of what is too dear for the first tier, functions come before values.
        (
            {"a[0]": 0.36 * WHOLE_FIXED, "a[1]": 0.37 * WHOLE_FIXED, "a[2]": 1000.0, "b": 0.40 * WHOLE_FIXED},
            {"a[1]": "x", "a[2]": "x"},
            [],
            "fixed drawn drawn fixed",
        ),
        # A feature that is too dear for one tier is run in the next.
        ({"a[0]": 1.0, "a[1]": MOST + 1, "a[2]": MOST + 2}, {"a[1]": "x", "a[2]": "x"}, [], "test fixed drawn"),
        # A file has so much and no more.
        ({f"f{n}": MOST - 0.1 for n in range(int(WHOLE / MOST) + 1)}, {}, [], "test " * int(WHOLE / MOST) + "fixed"),
        # What has failed once is run by CI.
        ({"a[0]": ROOM, "a[1]": 1000.0, "b[0]": ROOM, "b[1]": 1000.0}, {}, ["a[1]"], "test fixed test drawn"),
        ({"a[0]": ROOM, "a[1]": 1000.0, "b[0]": ROOM, "b[1]": 1000.0}, {}, ["b"], "test drawn test fixed"),
    ],
)
def test_the_tier_of_each_case(seconds, features, always, expected):
    cases = [case(name, *features.get(name, "")) for name in seconds]
    found = tiers_of(cases, Costs({"tests/test_x.py": {"cases": seconds}}), [case(name).id for name in always])
    assert [found[one.id] for one in cases] == expected.split()


def test_features_are_options_and_values():
    values = {"network": "hdn(cube(2), [[0]])", "options": {"lanes": 2, "crc": True}, "length": 4}
    assert set(features_of(values)) == {"hdn(cube(2), [[0]])", "hdn", "cube", "lanes=2", "crc=True", "length=4"}


def test_costs_of_what_was_measured_and_of_what_was_not(tmp_path):
    costs = Costs({})
    record = {"verdict": "passed", "kinds": {"g++": 3.0}}
    ran = [("a[0]", 5.0), ("a[1]", 0.4), ("a[2]", 0.2), ("b", 0.1)]
    costs.update({**record, "id": case(name).id, "cpu": seconds} for name, seconds in ran)
    costs.update([{"verdict": "failed", "kinds": {}, "id": case("c").id, "cpu": 50.0}])
    costs.write(tmp_path / "costs.json")
    read = Costs.read(tmp_path / "costs.json")
    found = [read.of(case(name)) for name in ("a[0]", "a[1]", "a[new]", "b", "c")]
    assert found == pytest.approx([5.0, 0.3, 0.3, CHEAP, CHEAP])
    read.update([{**record, "id": case("a[0]").id, "cpu": 1.0}])
    assert [read.of(case(name)) for name in ("a[0]", "a[1]")] == [1.0, 1.0]


PROGRAM = """
import subprocess
import sys
import pytest

def burn(seconds):
    import time
    while time.process_time() < seconds:
        pass

def test_in_time(): pass
def test_too_long(): burn(60)
def test_children_too_long():
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 3: pass"])
@pytest.fixture(scope="module")
def built():
    subprocess.run(["true"])
def test_up_to_a_door():
    with pytest.raises(ZeroDivisionError):
        subprocess.run(["true"])
def test_up_to_a_door_of_a_fixture(built): pass
def test_a_door_of_a_fixture_again(built): pass
def test_wrong_before_a_door():
    assert not subprocess.run
    subprocess.run(["true"])
def test_no_door(): pass
def test_slow_to_a_door():
    burn(60)
def test_no_door_but_processes():
    import os, time
    if not os.fork():
        time.sleep(1000)
def test_door_that_is_caught():
    try:
        subprocess.run(["true"])
    except BaseException:
        assert False
"""

OPTIONS = """
from tests.running import Running, pytest_addoption, pytest_configure
from tests.tiers import Costs

Running.budget = lambda *_: 2
heavy = Costs({{"test_x.py": {{"cases": dict.fromkeys({heavy}, 1e6)}}}})
Costs.read = lambda: heavy
"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """Return a function that runs a file of tests, those with doors of a later tier: verdicts, and what was printed."""
    folder = tmp_path_factory.mktemp("running")
    heavy = re.findall(r"def (test_\w*door\w*)", PROGRAM)
    (folder / "test_x.py").write_text(PROGRAM)
    (folder / "conftest.py").write_text(OPTIONS.format(heavy=heavy))

    def run(*options):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--record", "record", *options]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        ran = map(json.loads, (folder / "record").read_text().splitlines())
        (folder / "record").unlink()
        return {one["id"].partition("::")[2]: one["verdict"] for one in ran}, done.stdout

    return run


def test_what_is_only_set_up_is_not_called_passed(verdicts):
    found, said = verdicts("--tier", "fixed,drawn", "--set-up")
    others = {"test_wrong_before_a_door": "failed", "test_no_door": "passed", "test_no_door_but_processes": "passed"}
    assert found == dict.fromkeys(found, "set up") | others
    assert "1 failed, 2 passed, 3 deselected, 5 set up" in said.splitlines()[-1]


def test_more_cpu_than_the_budget_fails_also_in_children(verdicts):
    found, said = verdicts()
    assert found == {"test_in_time": "passed", "test_too_long": "failed", "test_children_too_long": "failed"}
    assert "took more than 2 CPU seconds" in said
    assert "CPU seconds, more than 2" in said
    assert "1 failed, 2 passed, 8 deselected, 1 error" in said.splitlines()[-1]


def test_what_was_run_longest_ago_is_run_next():
    log = [{"test": "b"}, {"draw": "fuzz", "seed": 2}, {"test": "a"}]
    assert oldest(["a", "b", "c"], log, 3) == ["c"]
    assert oldest(["a", "b", "c"], log, 2) == ["c", "b"]
    assert oldest(["a", "b"], log, 1) == ["b", "a"]
