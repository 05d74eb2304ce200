"""The Python of README.md, docs/python.md, the pages to start with and docstrings, run."""

import ast
import doctest
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from hdnhw.cli import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
EXAMPLE = re.compile("^ *>>> ", flags=re.MULTILINE)
MODULES = sorted(
    str(path.relative_to(ROOT)) for path in (ROOT / "hdnhw").rglob("*.py") if EXAMPLE.search(path.read_text())
)
"""The modules of the package that have examples in docstrings."""
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
    assert (tmp_path / "curves.pdf").exists() or page != PAGE


def test_shell_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    (block,) = re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert [line[0] for line in lines] == ["pip"] + ["hdnhw"] * (len(lines) - 1)
    for _, *arguments in lines[1:]:
        assert main(arguments) == 0
    assert {path.name for path in tmp_path.iterdir()} >= {"curves.svg", "page.html", "noc"}
    shown = re.search(r"nodes\)  # (\d+) (\[.*\])\n.*# ([\d.]+)\n", text)
    out = capsys.readouterr().out
    assert f"{shown[2]}\n" in out
    assert f'packet_latency            {{"mean": {shown[3]},' in out


@pytest.mark.parametrize("page", [PAGE, *PAGE.parent.glob("start-*.md")], ids=lambda page: page.name)
def test_examples_of_a_page_give_what_it_says(page):
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert failed == 0
    assert tried >= 3


@pytest.mark.parametrize("path", MODULES)
def test_examples_of_docstrings_give_what_they_say(path):
    source = (ROOT / path).read_text()
    names = vars(import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")))
    parser, runner, found = doctest.DocTestParser(), doctest.DocTestRunner(), 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
            text := ast.get_docstring(node, clean=False)
        ):
            of_node = getattr(node, "name", path)
            examples = parser.get_doctest(text, dict(names), of_node, str(ROOT / path), node.body[0].lineno - 1)
            runner.run(examples)
            found += len(examples.examples)
    assert found == len(EXAMPLE.findall(source))
    assert runner.failures == 0


@pytest.mark.parametrize("given", [["script.py"], ["-"]], ids=["script", "typed in"])
def test_a_program_that_starts_processes_needs_no_guard(given, tmp_path):
    program = """
import hdnhw
print(hdnhw.faults("cube(2)", fault_rate=0, trials=1, waypoints=0, workers=1).reached)
print([row["verdict"] for row in hdnhw.papers(claim=["HDN-2", "DC-2"], workers=1).claims])
"""
    (tmp_path / "script.py").write_text(program)
    done = subprocess.run([sys.executable, *given], cwd=tmp_path, input=program, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[1.0]\n['holds', 'holds']\n"), done.stderr
