"""The fuzzer sees each kind of fault, and draws lines of all commands."""

import argparse
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from hdnhw.cli import command_parser

sys.path.insert(0, str(Path(__file__).parent))
import fuzz

sys.path.pop(0)


def traceback(_):
    raise ArithmeticError


def two_lines(_):
    print("hdnhw: one\nhdnhw: two", file=sys.stderr)
    return 2


def leaves_a_file(_):
    Path("made").touch()
    print("hdnhw: no", file=sys.stderr)
    return 2


def spoils_a_file(_):
    Path("trace.txt").write_text("spoilt")
    print("hdnhw: no", file=sys.stderr)
    return 2


def no_json(words):
    print('{"value": NaN}' if "--json" in words else "")
    return 0


def output_and_refusal(_):
    print("result")
    print("hdnhw: no", file=sys.stderr)
    return 2


def obeys(_):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    time.sleep(1000)


def never_ends(_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1000)


def refuses(_):
    print("hdnhw: no", file=sys.stderr)
    return 2


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (traceback, "status 99"),
        (lambda _: 70, "status 70"),
        (two_lines, "refused in 2 lines, and 0 characters of output"),
        (leaves_a_file, "refused, and changed ['made']"),
        (spoils_a_file, "refused, and changed ['trace.txt']"),
        (no_json, "JSON: NaN"),
        (output_and_refusal, "refused in 1 lines, and 7 characters of output"),
        (never_ends, "did not end in 0.2 seconds when it was told to"),
    ],
)
def test_a_fault_is_seen(monkeypatch, command, what):
    monkeypatch.setattr(fuzz, "main", command)
    monkeypatch.setattr(fuzz, "GRACE", 0.2)
    counts, faults = fuzz.run(3, 30, seconds=0.2, processes=10)
    assert counts["fault"] == len(faults) > 0
    assert what in {found for _, _, found in faults}


@pytest.mark.parametrize(("command", "what"), [(refuses, "refused"), (lambda _: 0, "accepted"), (obeys, "stopped")])
def test_what_is_none(monkeypatch, command, what):
    monkeypatch.setattr(fuzz, "main", command)
    counts, faults = fuzz.run(4, 8, seconds=1, processes=8, parser=without_json())
    assert (counts, faults) == (Counter({what: 8}), [])


def without_json():
    parser = argparse.ArgumentParser()
    parser.add_subparsers().add_parser("only").add_argument("spec", metavar="SPEC")
    return parser


def test_lines_are_of_all_commands_and_the_same_for_a_seed():
    def lines():
        parser = command_parser()
        return [fuzz.Draw(random.Random(f"1 {number}"), ["trace.txt"]).line(parser) for number in range(2000)]

    drawn = lines()
    assert drawn == lines()
    (commands,) = (action.choices for action in command_parser()._actions if action.choices)
    assert {words[0] for words in drawn} == set(commands)
