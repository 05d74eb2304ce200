"""Progress bars, read from the screen of a terminal that a few lines imitate."""

import io
import os
import re
import sys
import time
from contextlib import redirect_stderr

import pytest

from hdnhw.cli import main
from hdnhw.support.progress import Clock, ProgressBar, say


class Terminal(io.StringIO):
    """A terminal that keeps every screen it has shown."""

    def __init__(self):
        super().__init__()
        self.lines, self.shown = [""], []

    def isatty(self):
        return True

    def fileno(self):
        return 2

    def write(self, text):
        """Take text; what stands in a line is always written over whole, with spaces at the end if need be."""
        assert "\033" not in text
        for part in re.findall(r"\r|\n|[^\r\n]+", text):
            if part == "\n":
                self.lines.append("")
            else:
                self.lines[-1] = "" if part == "\r" else (self.lines[-1] + part).rstrip()
        self.shown.append(self.lines[-1])
        return len(text)


@pytest.fixture(autouse=True)
def columns(monkeypatch):
    monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((81, 20)))


def test_bar_and_messages():
    with redirect_stderr(Terminal()) as terminal, ProgressBar() as progress:
        progress.show("warm-up", 0.25)
        assert terminal.lines == [" 25 %|####            | 00:00<00:00 warm-up"]
        progress.say("done: 1")
        assert terminal.lines == ["done: 1", " 25 %|####            | 00:00<00:00 warm-up"]
        progress.show("the last of all packets, " + 100 * "x", 1.2)
        assert terminal.lines[1].startswith("100 %|################| 00:00<00:00 the last")
        assert len(terminal.lines[1]) == 80
    assert terminal.lines == ["done: 1", ""]


def test_an_error_finds_an_empty_line():
    def fail():
        with ProgressBar() as progress:
            progress.show("warm-up", 0.5)
            raise KeyboardInterrupt

    with redirect_stderr(Terminal()) as terminal, pytest.raises(KeyboardInterrupt):
        fail()
    assert any("warm-up" in line for line in terminal.shown)
    assert terminal.lines == [""]


def test_nothing_but_messages_where_no_terminal_is(capsys):
    with ProgressBar() as progress:
        progress.show("warm-up", 0.25)
        progress.say("done: 1")
    assert capsys.readouterr().err == "done: 1\n"


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("hdnhw.support.progress.PATIENCE", 0.02)
    monkeypatch.setattr("hdnhw.support.progress.TICK", 0.001)


@pytest.mark.usefixtures("impatient")
def test_a_clock_where_nothing_is_shown():
    with redirect_stderr(Terminal()) as terminal:
        with Clock():
            while not terminal.lines[-1]:
                time.sleep(0.001)
            say("on we go")
            assert terminal.lines == ["on we go", "working, 00:00"]
            with ProgressBar() as progress:
                progress.show("warm-up", 0.5)
                time.sleep(0.1)
                assert terminal.lines[-1] == " 50 %|########        | 00:00<00:00 warm-up"
            while not terminal.lines[-1]:
                time.sleep(0.001)
        assert terminal.lines[-1] == ""
        time.sleep(0.1)
    assert terminal.lines == ["on we go", ""]


def test_a_clock_waits_for_a_while():
    with redirect_stderr(Terminal()) as terminal, Clock():
        time.sleep(0.01)
    assert terminal.shown == []


@pytest.mark.usefixtures("impatient")
def test_no_clock_where_no_terminal_is(capsys):
    with Clock():
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_a_closed_stream_takes_no_bar(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    with ProgressBar() as progress, Clock():
        progress.show("warm-up", 0.5)
        progress.say("done: 1")


def test_a_stage_begins_anew():
    with redirect_stderr(Terminal()) as terminal, ProgressBar() as progress:
        for what, share in (("warm-up", 0.5), ("measurement", 0.0), ("measurement", 0.004), ("measurement", 0.01)):
            progress.show(what, share)
    told = [int(line[:3]) for line in terminal.shown if "measurement" in line]
    assert list(dict.fromkeys(told)) == [0, 1]


def test_a_notebook_without_widgets_shows_no_bar(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    with ProgressBar() as progress:
        progress.show("warm-up", 0.5)
        progress.say("done: 1")
    assert capsys.readouterr().err == "done: 1\n"


def test_a_notebook_shows_its_own_bar(monkeypatch):
    """tqdm gives notebooks another class; it is told of all in the same way."""
    from tqdm import tqdm
    from tqdm.notebook import tqdm_notebook

    made = []

    class Widget(tqdm_notebook):
        def __init__(self, **options):
            tqdm.__init__(self, **options | {"file": io.StringIO()})
            made.append(self)

        def display(self, *_, **__):
            pass

        reset, close, clear = tqdm.reset, tqdm.close, tqdm.clear
        status_printer = staticmethod(tqdm.status_printer)

    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr("tqdm.auto.tqdm", Widget)
    with ProgressBar() as progress:
        progress.show("warm-up", 0.5)
        (bar,) = made
        assert (bar.n, bar.total, bar.desc, "{bar}" in bar.bar_format) == (50, 100, "warm-up", True)


def shares(terminal, what):
    return [int(re.search(r"(\d+) %", line)[1]) for line in terminal.shown if what in line]


def test_simulate(capsys):
    with redirect_stderr(Terminal()) as terminal:
        assert main(["simulate", "cube(3)", "--packet-length", "1", "--json"]) == 0
    assert terminal.lines == [""]
    for stage in ("warm-up", "measurement"):
        told = shares(terminal, stage)
        assert told[0] == 0
        assert told == sorted(told)
    assert shares(terminal, "measurement")[-1] == 100
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize("spec", ["cube(3)", "hdn(complete(3), [[], [0]])", "hcn(2)"])
def test_info(capsys, spec):
    """One search, one from each of five kinds of nodes, and one from every node."""
    with redirect_stderr(Terminal()) as terminal:
        assert main(["info", spec, "--json"]) == 0
    assert terminal.lines == [""]
    told = shares(terminal, "searching")
    assert told == sorted(told)
    assert told[-1] == 100
    assert capsys.readouterr().out.count("\n") == 1


def test_routing(capsys):
    with redirect_stderr(Terminal()) as terminal:
        assert main(["routing", "cube(7)", "--json"]) == 0
    told = shares(terminal, "routing")
    assert (told[0], told[-1], len(set(told)), told) == (0, 98, 64, sorted(told))
    assert terminal.lines == [""]
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize("rates", [["--rates", "0.1,0.2,0.3,0.4"], []])
def test_sweep(capsys, rates):
    line = ["sweep", "cube(2)", "--packet-length", "1", "--cycles", "200", "--warmup", "20", "--workers", "1", "--json"]
    with redirect_stderr(Terminal()) as terminal:
        assert main([*line, *rates]) == 0
    assert all(re.fullmatch(r"\d+: cube\(2\), offered .*", message) for message in terminal.lines[:-1])
    assert terminal.lines[-1] == ""
    told = shares(terminal, "points: cube(2)")
    assert told[0] == 0
    assert told == sorted(told)
    measured = len(terminal.lines) - 1
    assert re.search(rf"\d+ of {measured} points: cube\(2\)", " ".join(terminal.shown))
    assert capsys.readouterr().out.count("\n") == 1


def test_machines(capsys, monkeypatch, tmp_path):
    def synthesize(_, *, say, **__):
        say("yosys ...")
        return {"family": "ecp5", "comb_sites": 9, "ram_cells": {}, "fmax_mhz": 200.0, "fmax_of_seed": [200.0]}

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hdnhw.fpga.side_by_side.synthesize", synthesize)
    with redirect_stderr(Terminal()) as terminal:
        assert main(["machines", "cube(2)", "--machine", "", "--machine", "--packet-length 4", "--json"]) == 0
    assert list(dict.fromkeys(shares(terminal, "of 2 machines: "))) == [0, 50]
    told = shares(terminal, "points: cube(2)")
    assert told[0] == 0
    assert told == sorted(told)
    assert terminal.lines == [""]
    assert capsys.readouterr().out.count("\n") == 1
