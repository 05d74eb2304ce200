"""Tiers follow from costs; a test that was only set up, or took too much, has not passed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drawn import oldest
from tests.tiers import CHEAP, LIMITS, Case, Costs, features_of, tiers_of

ROOT = Path(__file__).parents[1]

(MOST, ROOM, WHOLE), (MOST_FIXED, *_) = LIMITS["test"], LIMITS["fixed"]


def case(name, *features):
    """Return a case of one file."""
    return Case(f"tests/test_x.py::{name}", frozenset(features))


def tiers(seconds, features=None, always=()):
    """Return the tiers of cases by their names, with what each costs and shows."""
    cases = [case(name, *(features or {}).get(name, ())) for name in seconds]
    found = tiers_of(
        cases, Costs({"tests/test_x.py": {"cases": seconds}}), [f"tests/test_x.py::{one}" for one in always]
    )
    assert found.keys() == {one.id for one in cases}
    return {name.partition("::")[2]: tier for name, tier in found.items()}


def test_a_function_is_run_by_its_cheapest_case():
    found = tiers({"a[1]": MOST - 1, "a[2]": MOST - 2, "a[3]": MOST + 1, "b": MOST - 1})
    assert found == {"a[1]": "drawn", "a[2]": "test", "a[3]": "drawn", "b": "test"}


def test_what_is_too_dear_is_run_later():
    assert tiers({"a": MOST + 1, "b": MOST_FIXED + 1}) == {"a": "fixed", "b": "drawn"}


def test_cheap_cases_are_all_run_as_long_as_there_is_room():
    found = tiers({f"a[{number}]": ROOM / 4 + number / 100 for number in range(8)})
    assert list(found.values()) == ["test"] * 3 + ["drawn"] * 5


def test_a_feature_is_run_by_the_cheapest_case_that_has_it():
    """What no other case has is no feature."""
    seconds = {f"a[{number}]": ROOM + number for number in range(6)}
    features = {
        "a[0]": ["x"],
        "a[1]": ["x"],
        "a[2]": ["y", "alone"],
        "a[3]": ["y"],
        "a[4]": ["alone too"],
        "a[5]": ["x", "y"],
    }
    assert [name for name, tier in tiers(seconds, features).items() if tier == "test"] == ["a[0]", "a[2]"]


def test_a_feature_that_is_too_dear_for_one_tier_is_run_in_the_next():
    seconds = {"a[0]": 1.0, "a[1]": MOST + 1, "a[2]": MOST + 2}
    features = {"a[1]": ["x"], "a[2]": ["x"]}
    assert tiers(seconds, features) == {"a[0]": "test", "a[1]": "fixed", "a[2]": "drawn"}


def test_a_file_has_so_much_and_no_more():
    number = int(WHOLE / MOST)
    found = tiers({f"function{one:02}": MOST - 0.1 for one in range(number + 2)})
    assert list(found.values()) == ["test"] * number + ["fixed"] * 2


def test_what_has_failed_once_is_run_by_ci():
    seconds = {"a[0]": ROOM, "a[1]": 1000.0, "b[0]": ROOM, "b[1]": 1000.0, "c[0]": ROOM, "c[1]": 1000.0}
    found = tiers(seconds, always=["a[1]", "b"])
    assert (found["a[1]"], found["b[1]"], found["c[1]"]) == ("fixed", "fixed", "drawn")


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
    assert [read.of(case(name)) for name in ("a[0]", "a[1]")] == [1.0, CHEAP]


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
    others = {"test_wrong_before_a_door": "failed", "test_no_door": "passed"}
    doors = (
        "test_up_to_a_door",
        "test_up_to_a_door_of_a_fixture",
        "test_a_door_of_a_fixture_again",
        "test_slow_to_a_door",
        "test_door_that_is_caught",
    )
    assert found == dict.fromkeys(doors, "set up") | others
    assert "1 failed, 1 passed, 3 deselected, 5 set up" in said.splitlines()[-1]


def test_more_cpu_than_the_budget_fails_also_in_children(verdicts):
    found, said = verdicts()
    assert found == {"test_in_time": "passed", "test_too_long": "failed", "test_children_too_long": "failed"}
    assert "took more than 2 CPU seconds" in said
    assert "CPU seconds, more than 2" in said
    assert "1 failed, 2 passed, 7 deselected, 1 error" in said.splitlines()[-1]


def test_what_was_run_longest_ago_is_run_next():
    log = [{"test": "b"}, {"draw": "fuzz", "seed": 2}, {"test": "a"}]
    assert oldest(["a", "b", "c"], log, 3) == ["c"]
    assert oldest(["a", "b", "c"], log, 2) == ["c", "b"]
    assert oldest(["a", "b"], log, 1) == ["b", "a"]
