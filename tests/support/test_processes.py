"""Limits of CPU time: what takes too much is ended, and what only waits is not."""

import sys

import pytest

from hdnhw.support.processes import Budget, SpentError

BURN = [sys.executable, "-c", "while True: pass"]


@pytest.mark.parametrize("command", [BURN, ["sh", "-c", '"$@"; exit 1', "sh", *BURN]])
def test_a_program_that_takes_too_much_is_ended(command):
    """So is one that it has started."""
    budget = Budget(1)
    with pytest.raises(SpentError):
        budget.run(command)
    assert budget.left == 0
    with pytest.raises(SpentError):
        budget.run(["true"])


def test_a_limit_holds_for_what_a_program_starts():
    shown = ["sh", "-c", "ulimit -S -t; sh -c 'ulimit -S -t'"]
    assert Budget(7.2).run(shown).stdout == "8\n8\n"
    assert Budget().run(shown).returncode == 0


def test_waiting_is_not_counted():
    """It waits for longer than its limit, as it would on a machine that is busy."""
    budget = Budget(1)
    assert budget.run(["sleep", "2"]).returncode == 0
    assert budget.left > 0


def test_a_program_that_waits_for_ever_is_ended():
    budget = Budget(0.02)
    with pytest.raises(SpentError):
        budget.run(["sleep", "1000"])


def test_what_programs_take_is_summed_up(tmp_path):
    budget, spent = Budget(), []
    for _ in range(2):
        done = budget.run(
            ["sh", "-c", "pwd; echo $SAID >&2; sum=0; while [ $sum -lt 99999 ]; do sum=$((sum + 1)); done; exit 3"],
            cwd=tmp_path,
            env={"SAID": "it"},
        )
        assert (done.returncode, done.stdout, done.stderr) == (3, f"{tmp_path}\n", "it\n")
        spent.append(budget.spent)
    assert 0 < spent[0] < spent[1]
