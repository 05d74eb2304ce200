"""What a drawn check has found once does not come back: the entries of tests/regressions.toml."""

import ast
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hdnhw.cli import main
from tests import fuzz
from tests.regressions import always, entries

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("entry", entries("line"), ids=lambda entry: entry["line"][6:40])
def test_a_line_is_accepted_or_refused(entry):
    what, said = fuzz.run_line(entry["line"], **{name: entry[name] for name in ("streams", "drawn") if name in entry})
    assert what == ("refused" if "says" in entry else "accepted"), said[-2000:]
    assert entry.get("says", "") in said


@pytest.mark.parametrize("entry", entries("cosim"), ids=lambda entry: entry["command"][6:40])
def test_a_simulation_passes(entry, capsys):
    assert main(shlex.split(entry["command"])[1:]) == 0, capsys.readouterr()


def test_named_tests_are_there():
    """Functions by reading, cases by collecting them."""
    for test in always():
        file, _, case = test.partition("::")
        names = {node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)}
        assert case.partition("[")[0] in names, test
    collect = [sys.executable, "-m", "pytest", "-n", "0", "-m", "", "--collect-only", "--quiet"]
    cases = [test for test in always() if test.endswith("]")]
    done = subprocess.run([*collect, *cases], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
