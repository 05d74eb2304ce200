"""Scripts of Yosys in one process: each as Amaranth runs it alone."""

import resource
import subprocess
import sys
from functools import partial

import pytest
from amaranth.back.verilog import YosysError, find_yosys

from hdnhw.machine.machine import make_machine
from hdnhw.rtl.ejection import ejection_buffer
from hdnhw.verilog.verilog import module_script
from hdnhw.verilog.yosys import run_scripts
from tests.specs import fabric_spec


def test_each_script_starts_anew():
    machines = [make_machine(fabric_spec("cube(1)", packet_length=length)) for length in (2, 3)]
    scripts = [module_script(ejection_buffer(machine), "ejection", flatten=True) for machine in machines]
    yosys = find_yosys(lambda _: True)
    alone = [yosys.run(["-q", "-"], script, ignore_warnings=True) for script in scripts]
    assert alone[0] != alone[1]
    assert run_scripts([*scripts, *reversed(scripts)]) == [*alone, *reversed(alone)]


def test_what_yosys_refuses_is_said():
    with pytest.raises(YosysError, match=r"No such command: nonsense"):
        run_scripts(["help\n", "nonsense\n", "help\n"])


@pytest.mark.parametrize("most", [1 << 13, 1 << 18])
def test_a_limit_of_the_system_on_files_is_one_line(most, tmp_path):
    """The first is less than a script has, the second than the runtime writes."""
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
    command = [sys.executable, "-m", "hdnhw", "emit", "cube(2)", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("hdnhw: [Errno 27] File too large: ")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("chosen", ["system", "builtin"])
def test_the_environment_chooses_the_program(chosen, monkeypatch, tmp_path):
    """A Yosys of the system runs each script by itself."""
    program = tmp_path / "yosys"
    program.write_text('#!/bin/sh\ncase $1 in -V) echo "Yosys 0.60 (git)";; *) cat;; esac\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("AMARANTH_USE_YOSYS", chosen)
    assert run_scripts(["help\n", "help -all\n"]) == (["help\n", "help -all\n"] if chosen == "system" else ["", ""])
