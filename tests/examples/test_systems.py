"""The examples that are systems: they run by their line, and find faults of the memories and of their own parts."""

import re
import subprocess

import pytest

from tests.examples.test_examples import ROOT, run

PAGE = (ROOT / "docs" / "system.md").read_text()
TOOLS = ROOT / "build" / "riscv-tools"
FAULTS = {
    "+dram_stuck=0": "core 0: FAIL, core 1: FAIL",
    "+dram_stuck=3ff": "core 0: FAIL, core 1: FAIL",
    "+dram_stuck=80010": "core 0: PASS, core 1: FAIL",
    "+dram_alias=80000": "core 0: FAIL, core 1: PASS",
}
"""Faults of the memory -> what the processors say: one tests what it has written, the other one what was copied."""


@pytest.fixture
def tools(monkeypatch):
    """Install the processor and the compiler, as make does."""
    command = ["make", "--old-file=.venv/.complete", str((TOOLS / ".ready").relative_to(ROOT))]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    monkeypatch.setenv("PYTHONPATH", str(TOOLS))


@pytest.mark.usefixtures("tools")
def test_processors_boot_and_test_the_memory(tmp_path):
    out = tmp_path / "out"
    status, said = run(ROOT / "examples" / "riscv", out)
    assert status == 0, said
    assert re.search(r"%?Warning|%Error", said) is None
    (cycles,) = re.findall(r"^core 0: PASS, core 1: PASS, after (\d+) cycles$", said, re.MULTILINE)
    assert f"after {cycles} cycles" in PAGE
    for fault, wanted in FAULTS.items():
        command = [out / "bench" / "Vbench", f"+rom={out / 'program.bin'}", fault]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert wanted in done.stdout, fault
        assert done.returncode != 0, fault
