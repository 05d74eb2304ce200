"""The command as a process: its streams, its end by signals, and faults of its own."""

import html
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet
import pytest

import hdnhw
from hdnhw.cli import main
from hdnhw.support.processes import PATIENCE

COMMAND = [sys.executable, "-m", "hdnhw"]


def shell(line, **environment):
    """Return (status, out, err) of a command line of a shell."""
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m hdnhw {line}', sys.executable],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_version():
    assert shell("--version") == (0, f"hdnhw {version('hdnhw')}\n", "")
    assert hdnhw.__version__ == version("hdnhw")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("info 'cube(2)' >&-", (2, "", "hdnhw: standard output must not be closed\n")),
        ("info 'cube(2)' > /dev/full", (2, "", "hdnhw: [Errno 28] No space left on device\n")),
        ("info 'cube(2' 2>&-", (2, "", "")),
        ("info 'cube(2)' --wrong 2>&-", (2, "", "")),
        ("info 'cube(2' 2> /dev/full", (2, "", "")),
        ("> /dev/full", (2, "", "hdnhw: [Errno 28] No space left on device\n")),
        ("--help > /dev/full", (2, "", "hdnhw: [Errno 28] No space left on device\n")),
        ("info --help > /dev/full 2>&1", (2, "", "")),
        ("--version > /dev/full", (2, "", "hdnhw: [Errno 28] No space left on device\n")),
        ("info --wrong 2> /dev/full", (2, "", "")),
    ],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_streams_that_take_nothing(line, said, unbuffered):
    assert shell(line, PYTHONUNBUFFERED=unbuffered) == said


def test_names_that_the_output_cannot_spell(tmp_path):
    status, out, err = shell(f"picture 'cube(2)' -o '{tmp_path}/grün.svg'", PYTHONIOENCODING="ascii")
    assert (status, err) == (0, "")
    assert "gr\\xfcn.svg" in out
    assert (tmp_path / "grün.svg").exists()


def test_a_fault_of_the_program_is_one_line_and_a_report(tmp_path, monkeypatch, capsys):
    def fail(_):
        raise ArithmeticError("what should not be")

    monkeypatch.setattr("hdnhw.library.info.network_of", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["info", "cube(3)"]) == 70
    out, err = capsys.readouterr()
    said = "hdnhw: a fault of the program, ArithmeticError: what should not be; please report it, with "
    assert (out, err.startswith(said), err.count("\n")) == ("", True, 1)
    (report,) = tmp_path.iterdir()
    assert err.removeprefix(said) == f"{report}\n"
    text = report.read_text()
    assert text.startswith("hdnhw info 'cube(3)'\nTraceback (most recent call last):\n")
    assert text.endswith("ArithmeticError: what should not be\n")


LOST = """
import signal, sys, time
from hdnhw.cli import main
class Dies:
    def __del__(self):
        signal.raise_signal({0})
def work(_):
    Dies()
    print("goes on", file=sys.stderr)
    time.sleep(60)
import hdnhw.library.info
hdnhw.library.info.network_of = work
sys.exit(main(["info", "cube(3)"]))
"""


@pytest.mark.parametrize(("name", "status", "last"), [("SIGTERM", 143, "terminated"), ("SIGINT", 130, "interrupted")])
def test_a_signal_in_a_destructor_is_not_lost(name, status, last):
    done = subprocess.run(
        [sys.executable, "-c", LOST.format(f"signal.{name}")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (status, f"goes on\nhdnhw: {last}\n")


INTERRUPTS = """
import sys
class Finder:
    def find_spec(self, name, *_):
        if name == "hdnhw.cli":
            exec("raise KeyboardInterrupt")
sys.meta_path.insert(0, Finder())
"""


def test_an_interrupt_that_passes_an_exec_has_its_status(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTS)
    done = subprocess.run(
        [sys.executable, "-m", "hdnhw", "info", "cube(3)"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "hdnhw: interrupted\n")


def test_of_an_argument_of_any_length_the_ends_are_told():
    status, out, err = shell(f"info 'cube({'9' * 5000})'")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert len(err) < 1100
    assert err.startswith("hdnhw: spec 'cube(999")
    assert " ... 999" in err


def test_too_little_memory_is_one_line(monkeypatch, capsys):
    def fail(_):
        raise MemoryError("1 TiB")

    monkeypatch.setattr("hdnhw.library.info.network_of", fail)
    assert main(["info", "cube(3)"]) == 2
    assert capsys.readouterr() == ("", "hdnhw: there is not enough memory: 1 TiB\n")


RATES = "0.02,0.04,0.06,0.08,0.1,0.12"
SWEEP = ["sweep", "mesh(3, 3)", "--rates", RATES, "--workers", "2", "--results", "r.parquet", "--cycles"]
SHORT, LONG = "300000", "20000000"
"""Cycles: with the second, measuring takes longer than starting."""

SECONDS = PATIENCE * 120
"""By the clock, within which what is told to end has ended, however busy the machine is."""

MEASURED = re.compile(r"\d: (mesh\(3, 3\), offered .*)")
MOMENTS = 10
SIGNALS = [
    (signal.SIGTERM, False, 143, "hdnhw: terminated"),
    (signal.SIGINT, True, 130, "hdnhw: interrupted"),  # as a terminal does
    (signal.SIGKILL, False, -9, None),
]


def start_sweep(folder, cycles):
    return subprocess.Popen(
        [*COMMAND, *SWEEP, cycles],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # it is ignored where a shell runs the tests with &
    )


def stop(process, number, to_all):
    """Send a signal to a process or its group; return what it printed and said until the last one of it was gone."""
    (os.killpg if to_all else os.kill)(process.pid, number)
    out, err = process.communicate(timeout=SECONDS)  # the streams end when no process has them
    limit = time.monotonic() + SECONDS
    while members(process.pid):
        assert time.monotonic() < limit
        time.sleep(0.01)
    return out, err.splitlines()


def members(session):
    """Return the processes of a session that are alive."""
    alive = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, of = path.read_text().rpartition(") ")[2].split()[:4]
            alive += [path.parent.name] * (int(of) == session and state != "Z")
    return alive


def go_on(folder, cycles):
    """Run the sweep again: all points are there, and measured if they were not kept; return how many were kept."""
    file = folder / "r.parquet"
    kept = pyarrow.parquet.read_table(file).num_rows if file.exists() else 0
    again = subprocess.run([*COMMAND, *SWEEP, cycles, "--json"], cwd=folder, capture_output=True, text=True, check=True)
    assert len(again.stderr.splitlines()) == 6 - kept
    assert [row["rate"] for row in json.loads(again.stdout)["points"]] == list(map(float, RATES.split(",")))
    return kept


@pytest.mark.parametrize(("number", "to_all", "status", "last"), SIGNALS)
def test_a_sweep_that_is_stopped_leaves_no_process_and_goes_on(tmp_path, number, to_all, status, last):
    process = start_sweep(tmp_path, SHORT)
    assert process.stderr is not None
    said = process.stderr.readline()
    out, err = stop(process, number, to_all)
    assert (process.returncode, out) == (status, "")
    told = [line for line in [said.strip(), *err] if not MEASURED.fullmatch(line)]
    if last is not None:  # a process that is killed says nothing, but Python's resource tracker may
        assert told == [last]
    assert 1 <= go_on(tmp_path, SHORT) < 6


@pytest.fixture(scope="module")
def seconds(tmp_path_factory):
    """Return how long the sweep takes."""
    process, started = start_sweep(tmp_path_factory.mktemp("whole"), LONG), time.monotonic()
    process.communicate()
    return time.monotonic() - started


@pytest.mark.parametrize("moment", range(MOMENTS))
@pytest.mark.parametrize(("number", "to_all", "status", "last"), SIGNALS)
def test_a_sweep_that_is_stopped_at_any_moment_goes_on(tmp_path, seconds, moment, number, to_all, status, last):
    process, after = start_sweep(tmp_path, LONG), seconds * (moment + 0.5) / MOMENTS
    time.sleep(after)
    out, err = stop(process, number, to_all)
    told = [line for line in err if not MEASURED.fullmatch(line)]
    kept = go_on(tmp_path, LONG)
    name = signal.Signals(number).name
    print(f"{name} after {after:.2f} s: status {process.returncode}, {len(err) - len(told)} points said, {kept} kept")
    assert len(err) - len(told) <= kept
    if kept == 6 and not told:  # it had come to its end
        assert process.returncode in (0, -number)
    else:
        assert (process.returncode, out) == (status, "")
        assert last is None or told == [last]


def test_a_name_that_is_not_utf_8(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"\x80")
    files = ["--results", f"{name}.parquet", "--html", f"{name}.html", "--plot", f"{name}.svg"]
    assert main(["sweep", "cube(2)", "--rates", "0.1", "--cycles", "100", "--workers", "1", *files]) == 0
    page = next(tmp_path.glob("*.html")).read_text()
    command = html.unescape(re.search("hdnhw sweep .*html[^<]*", page)[0])
    words = subprocess.run(["bash", "-c", f"printf '%s\\n' {command}"], capture_output=True, check=True).stdout
    assert b"\n\x80.parquet\n" in words
