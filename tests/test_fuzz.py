"""The fuzzer sees each kind of fault, and draws lines of all commands."""

import argparse
import json
import mmap
import os
import random
import signal
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path
from zlib import crc32

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


def waits(_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1000)


def computes(_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        pass


def lets_another_compute(_):
    if os.fork():
        waits(_)
    computes(_)


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
    ],
)
def test_a_fault_is_seen(monkeypatch, command, what):
    monkeypatch.setattr(fuzz, "main", command)
    counts, faults = fuzz.run(3, 30, processes=10)
    assert counts["fault"] == len(faults) > 0
    assert what in faults


@pytest.mark.parametrize(("command", "patience"), [(waits, 1), (computes, 1000), (lets_another_compute, 1000)])
def test_what_never_ends_is_ended(monkeypatch, command, patience):
    """Time is that of processors, of all that a line has started; what takes none has a limit in seconds as well."""
    monkeypatch.setattr(fuzz, "main", command)
    monkeypatch.setattr(fuzz, "GRACE", 0.3)
    monkeypatch.setattr(fuzz, "PATIENCE", patience)
    counts, faults = fuzz.run(3, 1, seconds=0.3)
    assert (counts, faults) == (Counter(fault=1), ["did not end in 0.3 CPU seconds when it was told to"])


@pytest.mark.parametrize(("command", "what"), [(refuses, "refused"), (lambda _: 0, "accepted"), (obeys, "stopped")])
def test_what_is_none(monkeypatch, command, what):
    monkeypatch.setattr(fuzz, "main", command)
    monkeypatch.setattr(fuzz, "PATIENCE", 1)
    counts, faults = fuzz.run(4, 8, seconds=1, processes=8, parser=without_json())
    assert (counts, faults) == (Counter({what: 8}), [])


def without_json():
    parser = argparse.ArgumentParser()
    parser.add_subparsers().add_parser("only").add_argument("spec", metavar="SPEC")
    return parser


def test_lines_are_of_all_commands_and_the_same_for_a_seed():
    def lines():
        parser = command_parser()
        return [fuzz.Draw(random.Random(f"1 {number}"), ["trace.txt"]).line(parser) for number in range(6000)]

    drawn = lines()
    assert drawn == lines()
    (commands,) = (action.choices for action in command_parser()._actions if action.choices)
    assert {words[0] for words in drawn} == set(commands)


def test_a_fault_is_printed_as_an_entry_that_repeats_it(monkeypatch, capsys):
    """Words, streams and damaged files are the same, whatever would be drawn by then."""
    seen = []

    def command(words):
        files = {path.name: crc32(path.read_bytes()) for path in sorted(Path().iterdir())}
        print(json.dumps([words, files]), flush=True)
        raise ArithmeticError

    def start(case, start=fuzz.start):
        seen.append(case)
        start(case)

    monkeypatch.setattr(fuzz, "main", command)
    monkeypatch.setattr(fuzz, "start", start)
    fuzz.run(8, 80, processes=10)
    drawn, damaged = {case.drawn: case for case in seen}, 0
    printed = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("  ")]
    entries = tomllib.loads("\n".join(printed))["line"]
    assert len(entries) == len(drawn) == 80
    assert len({entry["streams"] for entry in entries}) == 5
    assert any(fuzz.NOT_UTF8 in word for case in seen for word in case.words)
    for entry in entries[:30]:
        what, said = fuzz.run_line(entry["line"], entry["streams"], entry["drawn"])
        case = seen[-1]
        first = drawn[entry["drawn"]]
        assert what == entry["what"] == "status 99"
        assert (case.words, case.streams) == (first.words, first.streams)
        if case.streams == "as they are":
            assert said.partition("\n")[0] == first.said.partition("\n")[0]
            damaged += fuzz.run_line(entry["line"])[1].partition("\n")[0] != said.partition("\n")[0]
    assert damaged > 0


def test_a_damaged_file_is_read_by_its_line_and_damaged_the_same_way_again(monkeypatch):
    def command(words):
        files = {str(path): crc32(path.read_bytes()) for path in sorted(Path().rglob("*")) if path.is_file()}
        print(json.dumps([words, files]), flush=True)
        raise ArithmeticError

    monkeypatch.setattr(fuzz, "main", command)
    seen, follow = [], fuzz.follow
    monkeypatch.setattr(
        fuzz, "follow", lambda *given: (seen.append((one, what)) or (one, what) for one, what in follow(*given))
    )
    fuzz.run(1, 60, processes=10, of_files=True)
    said = {case.drawn: json.loads(case.said.partition("\n")[0]) for case, _ in seen}
    assert {what for _, what in seen} == {"status 99"}
    sound = {
        name: Counter(files[name] for _, files in said.values()).most_common(1)[0][0] for name in said["files 1 0"][1]
    }
    for words, files in said.values():
        changed = [name for name in files if files[name] != sound[name]]
        assert len(changed) <= 1
        assert all(name in " ".join(words) or name.partition("/")[0] in " ".join(words) for name in changed)
    assert {words[0] for words, _ in said.values()} >= {
        "prove",
        "simulate",
        "exchange",
        "sweep",
        "info",
        "export",
    }
    words, files = said["files 1 7"]
    assert json.loads(fuzz.run_line(fuzz.shlex.join(["hdnhw", *words]), drawn="files 1 7")[1].partition("\n")[0]) == [
        words,
        files,
    ]


def test_what_the_runner_holds_is_not_taken_from_a_line():
    with mmap.mmap(-1, fuzz.MEMORY, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ):
        assert fuzz.run_line("hdnhw info 'cube(2)'")[0] == "accepted"
