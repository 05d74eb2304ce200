"""The example design: it is what its page says, and Verilator and Yosys read it with the fabric it is for."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hdnhw.cli import main
from hdnhw.sim.simulator import verilator_home

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "axi_wrapper"
PAGE = (ROOT / "docs" / "integration.md").read_text()


@pytest.fixture(scope="module")
def fabric(tmp_path_factory):
    """Return the files of the fabric that the page's command emits."""
    (line,) = re.findall(r"^\.venv/bin/hdnhw (emit .* -o build/axi_wrapper .*)$", PAGE, re.MULTILINE)
    folder = tmp_path_factory.mktemp("axi_wrapper")
    assert main(shlex.split(line.replace("build/axi_wrapper", str(folder)))) == 0
    return [folder / name for name in ("fabric.sv", "fabric_axi.sv")]


def lint(*arguments):
    home = verilator_home()
    command = [str(home / "bin" / "verilator_bin"), "--lint-only", "--top-module", "top", *map(str, arguments)]
    environment = os.environ | {"VERILATOR_ROOT": str(home)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("- ")]
    assert bool(said) == bool(done.returncode)
    return said


def test_verilator_has_nothing_to_say(fabric):
    assert lint(EXAMPLE / "top.sv", *fabric) == []


def test_all_warnings_on_have_nothing_to_say_of_the_example(fabric):
    assert lint("-Wall", EXAMPLE / "fabric.vlt", EXAMPLE / "top.sv", *fabric) == []


def test_verilator_sees_a_port_that_is_missing(fabric, tmp_path):
    source = tmp_path / "top.sv"
    source.write_text((EXAMPLE / "top.sv").read_text().replace("`NODE(15)", "`NODE(14)"))
    assert any("%Error" in line or "%Warning" in line for line in lint(source, *fabric))


def test_yosys_reads_it(fabric):
    files = " ".join(map(str, [EXAMPLE / "top.sv", *fabric]))
    script = f"read_verilog -sv {files}; hierarchy -check -top top; proc; check -assert"
    command = [sys.executable, "-m", "hdnhw.flow.yosys", "-q", "-p", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
