"""The examples: each runs by its one line, moves frames or words, and finds them as they were sent."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hdnhw.sim.simulator import BUILD_ROOT, kept_objects
from hdnhw.sim.tools import tool_environment
from tests.specs import fabric_spec

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/run.sh"))
SYSTEMS = ("riscv",)
"""Of these, those with tests of their own in test_systems.py."""
PAGE = (ROOT / "docs" / "integration.md").read_text()
BESIDE = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def run(folder, out):
    """Run an example as its line of the Makefile does; return the status and what was printed."""
    command = ["sh", str(folder / "run.sh"), str(out)]
    kept = kept_objects(ROOT / BUILD_ROOT / "objects")
    environment = tool_environment(os.environ | {"PATH": BESIDE, "HOME": str(out.parent)}, kept)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=out.parent)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in SYSTEMS])
def test_it_moves_frames(name, tmp_path):
    if name == "vhdl" and shutil.which("ghdl", path=BESIDE) is None:
        pytest.skip("no GHDL for this processor")
    status, said = run(ROOT / "examples" / name, tmp_path / "out")
    assert status == 0, said
    assert re.search(r"^[1-9]\d* (?:frames|words) from [1-9]\d* nodes, each as (?:sent|computed)$", said, re.MULTILINE)
    assert re.search(r"%?Warning|%Error", said) is None


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_line_is_documented(name):
    assert f"make example-{name}\n" in PAGE
    line = subprocess.run(["make", "-n", f"example-{name}"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"sh examples/{name}/run.sh\n" in line.stdout


@pytest.mark.parametrize(
    ("name", "file", "text", "other"),
    [
        ("axi_wrapper", "top.sv", "ADDRESS_OF_NODE[3:0]", "ADDRESS_OF_NODE[7:4]"),
        ("axi_wrapper", "top.sv", ".NUMBER(node[3:0])", ".NUMBER(4'd1)"),
        ("litex_soc", "soc.py", "noc.m_axi[RAM]", "noc.m_axi[0]"),
        ("amaranth", "sensors.py", "address.of_node(0), fabric", "address.of_node(1), fabric"),
        ("litex_link", "chips.py", "rx.last.eq(is_end)", "rx.last.eq(0)"),
        ("litex_link", "chips.py", "numbers[chip]", "numbers[0]"),
        ("accelerators", "soc.sv", "SINK[frame[1:0]]", "SINK[0]"),
        ("accelerators", "soc.sv", "1024 * from", "1024 * gather_tid"),
        ("accelerators", "accelerator.sv", "i_tlast ? 0 : value", "value"),
    ],
)
def test_it_finds_what_is_wrong(name, file, text, other, tmp_path):
    folder = tmp_path / name
    shutil.copytree(ROOT / "examples" / name, folder)
    shutil.copy(ROOT / "examples" / "memory.sv", tmp_path)
    source = (folder / file).read_text()
    assert text in source
    (folder / file).write_text(source.replace(text, other))
    status, said = run(folder, tmp_path / "out")
    assert status != 0
    assert "each as" not in said


def test_yosys_reads_the_design_in_verilog(tmp_path):
    from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
    from hdnhw.verilog.fabric import emit_fabric, write_fabric

    spec = fabric_spec("hdn(cube(2), [[0]])", endpoints=AxiStreamSpec(tuser_width=4))
    write_fabric(emit_fabric(spec, wrapper=True), tmp_path)
    files = f"fabric.sv fabric_axi.sv fabric_axi_wrap.sv {ROOT / 'examples' / 'axi_wrapper' / 'top.sv'}"
    script = f"read_verilog -sv -I. {files}; hierarchy -check -top top; proc; check -assert"
    command = [sys.executable, "-m", "hdnhw.fpga.yosys", "-q", "-p", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
