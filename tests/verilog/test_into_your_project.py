"""The top level of docs/into-your-project.md: tools read it without a word, and what node 0 sends reaches node 7."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hdnhw.cli import main
from hdnhw.sim.tools import tool_environment
from tests.verilog.readers import SLANG

PAGE = (Path(__file__).parents[2] / "docs" / "into-your-project.md").read_text()
FILES = ["noc/fabric.sv", "noc/fabric_axi.sv", "noc/fabric_axi_flat.v", "top.v"]

BENCH = """module bench;
  bit clk = 0, rst_n = 0;
  wire led;
  always #5 clk = !clk;
  initial begin
    repeat (5) @(negedge clk);
    rst_n = 1;
    dut.count = 32'h00fffff0;
    repeat (2000) @(negedge clk) if (led && dut.count > 32'h01000000) begin
      $display("arrived");
      $finish;
    end
  end
  top dut (.*);
endmodule
"""
"""Node 7 shows bit 24 of what it takes, so it must have taken what node 0 counted."""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (command,) = re.findall(r"^hdnhw (emit .*)$", PAGE, re.MULTILINE)
        assert main(shlex.split(command)) == 0
    (folder / "top.v").write_text(re.search(r"^```verilog\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1])
    return folder


def test_the_page_names_what_is_written(project):
    cells = re.findall(r"^\| (`.*?) \|", PAGE.partition("## Top level")[0], re.MULTILINE)
    names = re.findall(r"`([\w.]+)`", " ".join(cells))
    assert sorted(names) == sorted(path.name for path in (project / "noc").iterdir())
    assert f"FILES are `{' '.join(FILES)}`" in PAGE


def test_tools_read_it(project):
    script = f"read_verilog -sv -Inoc {' '.join(FILES)}; hierarchy -check -top top; proc; check -assert"
    yosys = ["hdnhw-yosys", "-q", "-p", script]
    verilator = ["verilator", "--lint-only", "--top-module", "top", "-Inoc", *FILES]
    slang = [sys.executable, "-c", SLANG, "--top", "top", "-I", "noc", *FILES]
    for command in (yosys, verilator, slang):
        done = _run(command, project)
        assert done.returncode == 0, done.stderr
        assert not re.search("warning", done.stdout + done.stderr, re.IGNORECASE)


def test_frames_arrive(project):
    (project / "bench.sv").write_text(BENCH)
    build = ["verilator", "--binary", "--timing", "-O0", "--top-module", "bench", "-Inoc", "bench.sv", *FILES]
    assert _run(build, project).returncode == 0
    assert "arrived" in _run(["obj_dir/Vbench"], project).stdout


def _run(command, folder):
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=tool_environment(os.environ)
    )
