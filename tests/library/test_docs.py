"""The Python of README.md, docs/python.md and the pages to start with, run."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [PAGE, ROOT / "README.md"], ids=lambda page: page.name)
def test_programs_of_pages_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    programs = [block for block in BLOCK.findall(page.read_text()) if ">>>" not in block]
    assert programs
    for program in programs:
        exec(compile(program, str(page), "exec"), {"__name__": "__main__"})
    assert "8 " in capsys.readouterr().out
    assert (tmp_path / "build" / "rdn" / "fabric.sv").exists()
    assert (tmp_path / "curves.svg").exists() or page != PAGE


@pytest.mark.parametrize("page", [PAGE, *PAGE.parent.glob("start-*.md")], ids=lambda page: page.name)
def test_examples_of_a_page_give_what_it_says(page):
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert failed == 0
    assert tried >= 3


@pytest.mark.parametrize("given", [["script.py"], ["-"]], ids=["script", "typed in"])
def test_a_program_that_starts_processes_needs_no_guard(given, tmp_path):
    program = """
import hdnhw
print(hdnhw.faults("cube(2)", rate=0, trials=1, waypoints=0, workers=1).reached)
print([row["verdict"] for row in hdnhw.papers(claim=["HDN-2", "DC-2"], workers=1).claims])
"""
    (tmp_path / "script.py").write_text(program)
    done = subprocess.run([sys.executable, *given], cwd=tmp_path, input=program, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[1.0]\n['holds', 'holds']\n"), done.stderr
