"""``make quick`` runs each file of tests that a change can concern, and no more than it must."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests import quick
from tests.closure import Tree

ROOT = Path(__file__).parents[1]

PROJECT = """
[project.scripts]
hdnhw = "hdnhw.__main__:main"
hdnhw-tools = "hdnhw.sim.tools:main"

[project.entry-points."hdnhw.commands"]
build = "hdnhw.boards.commands:add_build"

[project.entry-points."hdnhw.benches"]
axi = "hdnhw.sim.axi:Bench"

[tool.ruff]
line-length = 120

[tool.pytest.ini_options]
addopts = "-p no:cacheprovider"
"""
COMMANDS = "from hdnhw.cli.options import add_command\nfrom hdnhw.{} import run\nadd_command(0, {!r}, run)\n"
FILES = {
    "pyproject.toml": PROJECT,
    "hdnhw/__init__.py": """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from hdnhw.library.info import info
    from hdnhw.library.paths import paths
PLACES = {"hdnhw.library.info": "info", "hdnhw.library.paths": "paths"}
def __getattr__(name):
    from hdnhw.spec.families import makers
    return makers()[name]
""",
    "hdnhw/__main__.py": "def main():\n    from hdnhw.cli import main\n",
    "hdnhw/cli/__init__.py": """
from importlib.metadata import entry_points
import hdnhw.cli.info, hdnhw.cli.paths
GROUP = entry_points(group="hdnhw.commands")
""",
    "hdnhw/cli/options.py": "def add_command(commands, name, run): ...\n",
    "hdnhw/cli/info.py": COMMANDS.format("library.info", "info"),
    "hdnhw/cli/paths.py": COMMANDS.format("library.paths", "paths"),
    "hdnhw/families/__init__.py": "",
    "hdnhw/families/star.py": "def layout():\n    from hdnhw.report import ring\n",
    "hdnhw/library/building.py": "POINT = entry_points(group='hdnhw.commands', name='build')\n",
    "hdnhw/library/info.py": "def run():\n    import hdnhw.model.measure\n",
    "hdnhw/library/paths.py": "def run():\n    import hdnhw.rtl.router\n",
    "hdnhw/model/measure.py": "",
    "hdnhw/page/__init__.py": "",
    "hdnhw/page/inner.py": "",
    "hdnhw/page/page.html": "",
    "hdnhw/report.py": '"""Rings.\n\n>>> from hdnhw.spec.parse import parse\n"""\n',
    "hdnhw/rtl/router.py": "",
    "hdnhw/rules/warm.py": "from importlib import import_module\nTHEM = [import_module(one) for one in ['model']]\n",
    "hdnhw/spec/families.py": 'PACKAGE = "hdnhw.families"\n',
    "hdnhw/spec/parse.py": "",
    "hdnhw/spec/table.py": "",
    "sim/axi.py": 'module = "hdnhw.sim.axi_bench"\n',
    "sim/axi_bench.py": "from .harness import Harness\n",
    "sim/harness.py": "",
    "sim/tools.py": "",
    "boards/commands.py": "def run():\n    import hdnhw.boards.uart\nadd_command(0, 'build', run)\n",
    "boards/uart.py": "",
    "bench/tables.py": "",
    "docs/python.md": "```python\nimport hdnhw\nhdnhw.info(4)\n```\n",
    "docs/notes/one.md": "",
    "examples/chip/run.sh": 'hdnhw-tools verilator "$here/bench.sv"\n',
    "examples/chip/bench.sv": "",
    "Makefile": "",
    "requirements.txt": "",
    "tests/conftest.py": """
import pytest
from hdnhw.cli import main
from hdnhw.library import info
from hdnhw.spec import parse as parsed

def _table():
    from hdnhw.spec import table
    return table

SPECS, TABLE = parsed.SPECS, _table()

@pytest.fixture
def run():
    return _run

def _run(line):
    return main(line)
""",
    "tests/reference/figures.json": "",
}


def tree(**changed):
    """Return the tree with a file of tests, ``test``, and other files by their names."""
    files = FILES | {"tests/test_it.py": changed.pop("test", "")} | changed.pop("files", {})
    assert not changed
    links = {"hdnhw/sim": "sim", "hdnhw/boards": "boards"}
    return Tree({name: text.encode() for name, text in files.items()}, links)


def reached(test, **files):
    return tree(test=test, **files).closure("tests/test_it.py")


@pytest.mark.parametrize(
    ("test", "files"),
    [
        ("import hdnhw.model.measure", ["hdnhw/model/measure.py"]),
        ("def test():\n    from hdnhw.model import measure", ["hdnhw/model/measure.py"]),
        ("from hdnhw.sim import axi", ["sim/axi.py", "sim/axi_bench.py", "sim/harness.py"]),
        ("import bench.tables", ["bench/tables.py"]),
        ("from hdnhw.spec.families import makers", ["hdnhw/families/star.py", "hdnhw/report.py"]),
        ("import hdnhw.rules.warm", ["hdnhw/model/measure.py"]),
        ("GROUP = 'hdnhw.benches'", ["sim/axi_bench.py"]),
        ("monkeypatch.setattr('hdnhw.rtl.router.SIZE', 1)", ["hdnhw/rtl/router.py"]),
        ("code = 'import sys; from hdnhw.rtl.router import SIZE'", ["hdnhw/rtl/router.py"]),
        ("command = [sys.executable, '-m', 'hdnhw', 'paths']", ["hdnhw/__main__.py", "hdnhw/rtl/router.py"]),
        ("def test(run):\n    run('paths 3')", ["hdnhw/rtl/router.py", "boards/commands.py"]),
        ("def test(run):\n    run('build 3')", ["boards/uart.py"]),
        ("import hdnhw.library.building\nLINE = 'info'", ["boards/uart.py"]),
        ("def test(run):\n    run(LINE)", ["boards/uart.py", "hdnhw/rtl/router.py", "hdnhw/model/measure.py"]),
        (
            "from hdnhw.cli import command_parser\ncommand_parser()\nLINE = 'info'",
            ["boards/uart.py", "hdnhw/rtl/router.py"],
        ),
        ("import hdnhw\nhdnhw.paths(3)", ["hdnhw/rtl/router.py"]),
        ("from hdnhw import paths", ["hdnhw/rtl/router.py"]),
        ("import hdnhw\nhdnhw.star(3)", ["hdnhw/families/star.py"]),
        (
            "import hdnhw\nfor name in NAMES:\n    getattr(hdnhw, name)",
            ["hdnhw/rtl/router.py", "hdnhw/model/measure.py"],
        ),
        ("import hdnhw.page", ["hdnhw/page/page.html"]),
        ("import hdnhw.page.inner", ["hdnhw/page/inner.py", "hdnhw/page/__init__.py"]),
        ("exec((ROOT / 'docs' / 'python.md').read_text())", ["docs/python.md", "hdnhw/model/measure.py"]),
        ("PAGES = (ROOT / 'docs').rglob('*.md')", ["docs/python.md", "docs/notes/one.md"]),
        ("FILE = ROOT / 'examples' / name", ["examples/chip/bench.sv", "examples/chip/run.sh", "sim/tools.py"]),
        ("FILE = EXAMPLE / 'run.sh'", ["examples/chip/bench.sv", "sim/tools.py"]),
        ("FILE = NOTES / 'one.md'", ["docs/notes/one.md"]),
        ("FILE = Path(__file__).parent / 'reference' / 'figures.json'", ["tests/reference/figures.json"]),
        ("FILE = 'bench/tables.py'", ["bench/tables.py"]),
        (
            "PATHS = [ROOT / one for one in ['hdnhw', 'sim']]\nPATHS[0].rglob('*.py')",
            ["hdnhw/model/measure.py", "sim/axi.py"],
        ),
        ("shutil.copytree(ROOT / 'hdnhw', folder)", ["hdnhw/page/page.html", "hdnhw/rtl/router.py"]),
        ("subprocess.run(['make', '-n'])", ["Makefile"]),
        ("subprocess.run(['git', 'ls-files'])", ["ls-files"]),
        ("import beside", ["tests/beside.py", "hdnhw/rtl/router.py"]),
        ("", ["requirements.txt", "tests/conftest.py", "hdnhw/spec/parse.py", "hdnhw/spec/table.py"]),
    ],
)
def test_what_a_test_depends_on(test, files):
    beside = {"tests/beside.py": "import hdnhw.rtl.router"}
    assert set(files) <= reached(test, files=beside)
    assert not set(files) & reached("", files=beside) or not test


@pytest.mark.parametrize(
    ("test", "files"),
    [
        ("def test(run):\n    run('info 3')", ["boards/uart.py", "hdnhw/rtl/router.py"]),
        ("import hdnhw\nhdnhw.info(3)", ["hdnhw/rtl/router.py"]),
        ("import hdnhw.page", ["hdnhw/model/measure.py", "hdnhw/rtl/router.py"]),
        ("def test():\n    run = 3", ["hdnhw/__main__.py", "hdnhw/model/measure.py"]),
        ("from hdnhw.library import info", ["hdnhw/rtl/router.py"]),
        ("PAGE = ROOT / 'docs' / 'python.md'", ["docs/notes/one.md", "hdnhw/model/measure.py"]),
        ("FAMILIES = 'sim'", ["sim/axi.py"]),
        ("'''See hdnhw.rtl.router.'''", ["hdnhw/rtl/router.py"]),
        ("if TYPE_CHECKING:\n    import hdnhw.rtl.router", ["hdnhw/rtl/router.py"]),
    ],
)
def test_what_it_does_not_depend_on(test, files):
    assert not set(files) & reached(test)


def test_what_loads_at_import_is_not_called():
    """The conftest.py imports the command line for a fixture: where that is not asked for, no command is run."""
    assert {"hdnhw/cli/paths.py", "hdnhw/library/paths.py"} <= reached("")
    assert "hdnhw/spec/families.py" not in reached("")


def test_a_docstring_with_examples_is_a_file_of_tests():
    one = tree()
    assert [test for test in one.test_files() if test.startswith("hdnhw/")] == ["hdnhw/report.py"]
    assert {"hdnhw/report.py", "hdnhw/spec/parse.py"} <= one.closure("hdnhw/report.py")
    assert "tests/conftest.py" not in one.closure("hdnhw/report.py")


@pytest.mark.parametrize(
    ("file", "text", "is_other"),
    [
        ("hdnhw/model/measure.py", "# a comment", True),
        ("hdnhw/rtl/router.py", "", False),
        ("hdnhw/rtl/router.py", "# a comment", False),
        ("requirements.txt", "numpy==2", True),
        ("pyproject.toml", PROJECT.replace("-p no", "-q -p no"), True),
        ("pyproject.toml", PROJECT.replace("120", "80"), False),
        ("hdnhw/new.py", "", False),
    ],
)
def test_the_digest_is_of_what_a_test_depends_on(file, text, is_other):
    test = "import hdnhw.model.measure"
    digests = [tree(test=test, files=files).digest("tests/test_it.py") for files in ({}, {file: text})]
    assert (digests[0] != digests[1]) == is_other


def test_a_module_that_goes_changes_the_digest():
    test = "import hdnhw.model.measure"
    other = tree(test=test)
    del other.files["hdnhw/model/measure.py"]
    assert other.digest("tests/test_it.py") != tree(test=test).digest("tests/test_it.py")


@cache
def checkout():
    return quick.working_tree()


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("hdnhw/families/star.py", "tests/families/test_families.py"),
        ("hdnhw/families/star.py", "hdnhw/families/star.py"),
        ("hdnhw/library/simulation.py", "tests/library/test_commands.py"),
        ("hdnhw/model/kernel/fabric.py", "tests/cli/test_tables.py"),
        ("hdnhw/rtl/router.py", "tests/verilog/test_fabric.py"),
        ("hdnhw/rtl/router.py", "tests/rtl/test_router.py"),
        ("hdnhw/report/page.html", "tests/report/test_page.py"),
        ("hdnhw/fusesoc/generate.py", "tests/verilog/test_core.py"),
        ("sim/axi4_bench.py", "tests/sim/test_axi4.py"),
        ("sim/collective.py", "tests/test_machine.py"),
        ("boards/uart.py", "tests/boards/test_uart.py"),
        ("boards/commands.py", "tests/test_cli.py"),
        ("bench/tables.py", "tests/bench/test_tables.py"),
        ("docs/python.md", "tests/library/test_docs.py"),
        ("docs/decisions/0001-one-rule-as-a-circuit.md", "tests/test_docs.py"),
        ("examples/litex/bench.sv", "tests/examples/test_examples.py"),
        ("examples/litex/chip.py", "tests/examples/test_examples.py"),
        ("constraints/fabric.lpf", "tests/constraints/test_constraints.py"),
        ("website/mkdocs.yml", "tests/website/test_site.py"),
        ("tests/reference/networks.json", "tests/rules/test_hop.py"),
        ("tests/verilog/readers.py", "tests/verilog/test_readers.py"),
        ("tests/fuzz.py", "tests/test_fuzz.py"),
        ("Makefile", "tests/test_docs.py"),
        ("CHANGELOG.md", "tests/test_docs.py"),
    ],
)
def test_files_of_this_checkout(file, test):
    assert file in checkout().files
    assert file in checkout().closure(test)


@pytest.mark.parametrize(
    ("test", "file"),
    [
        ("tests/test_crc.py", "hdnhw/topology/graph.py"),
        ("tests/rtl/test_arbiter.py", "hdnhw/cli/options.py"),
        ("tests/topology/test_metrics.py", "hdnhw/model/fabric.py"),
        ("tests/cli/test_papers.py", "boards/uart.py"),
    ],
)
def test_what_does_not_concern_a_test_of_this_checkout(test, file):
    """An edge too many, from a file that all tests depend on, would choose everything."""
    assert file in checkout().files
    assert file not in checkout().closure(test)


def test_no_module_is_without_tests():
    """Benches that only measure are not tested, and what is written for them alone."""
    reached = frozenset().union(*map(checkout().closure, checkout().test_files()))
    modules = {file for file in checkout().files if file.endswith(".py") and file.startswith(("hdnhw/", "boards/"))}
    assert modules - reached == set()


READING = "from pathlib import Path\nexec(Path('hdnhw/{0}.py').read_text())\ndef test_{0}():\n"


@pytest.fixture
def project(tmp_path):
    """Return a function that runs pytest, and one that chooses, in a small clone."""

    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=tmp_path, check=True)

    files = {
        "pyproject.toml": PROJECT.replace("-p no", "-p tests.running -p tests.quick -p no"),
        "hdnhw/a.py": "A = 1",
        "hdnhw/b.py": "B = 2",
        "tests/test_a.py": READING.format("a") + "    assert A == 1",
        "tests/test_b.py": READING.format("b") + "    assert B\ndef test_c(): ...",
        ".gitignore": "build\n__pycache__\n.pytest_cache",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")

    def run(*arguments, status=None):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--import-mode=importlib", *arguments]
        paths = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, cwd=tmp_path, env=paths, capture_output=True, text=True, check=False)
        assert done.returncode in ((0, 1) if status is None else (status,)), done.stdout + done.stderr
        return done.stdout

    def choose():
        return quick.choose(tmp_path, {})

    return tmp_path, run, choose


def test_runs_note_what_passed(project):
    folder, run, choose = project
    tests, (said, *lines) = choose()
    assert (tests, lines) == ([], ["changed since all passed: 0 files; to be run: 0 of 2 files of tests, 0 tests"])
    assert said.startswith("first use: 2 files of tests have no note, and are taken as passed at commit ")
    (folder / "hdnhw" / "b.py").write_text("B = 3")
    (folder / "hdnhw" / "c.py").write_text("")
    assert choose() == (
        ["tests/test_b.py"],
        [
            "hdnhw/b.py: 1 files of tests",
            "hdnhw/c.py: no test reads it",
            "changed since all passed: 2 files; to be run: 1 of 2 files of tests, at least 0 tests",
        ],
    )
    run("-k", "test_b", "tests")
    run("tests/test_b.py::test_b")
    assert choose()[0] == ["tests/test_b.py"]
    run("tests")
    assert choose()[0] == []
    assert json.loads((folder / quick.STATE).read_text())["passed"]["tests/test_b.py"][1] == 2


def test_what_failed_is_first_until_it_passes(project):
    folder, run, choose = project
    choose()
    (folder / "hdnhw" / "a.py").write_text("A = 2")
    (folder / "tests" / "test_b.py").write_text("def test_b():\n    assert False")
    said = run("--quick", "tests/test_b.py", "tests/test_a.py", "-v")
    assert said.index("test_b.py::test_b FAILED") < said.index("test_a.py::test_a FAILED")
    (folder / "hdnhw" / "a.py").write_text("A = 1")
    assert sorted(choose()[0]) == ["tests/test_a.py", "tests/test_b.py"]
    run("tests")
    tests, lines = choose()
    assert (tests, lines[-1].rpartition(", ")[2]) == (["tests/test_b.py"], "first 1 new or failed")
    (folder / "hdnhw" / "a.py").write_text("A = 1.0")
    state, one = quick.State(folder), quick.working_tree(folder)
    assert quick.chosen(one, state, {"tests/test_b.py": 9}) == ["tests/test_b.py", "tests/test_a.py"]


def test_what_takes_little_is_before_what_takes_long(project):
    folder, _, choose = project
    choose()
    (folder / "requirements.txt").write_text("")
    state, one = quick.State(folder), quick.working_tree(folder)
    assert quick.chosen(one, state, {"tests/test_a.py": 3, "tests/test_b.py": 2}) == [
        "tests/test_b.py",
        "tests/test_a.py",
    ]
    assert (
        "about 5 CPU seconds"
        in quick.report(
            one, state, ["tests/test_a.py", "tests/test_b.py"], {"tests/test_a.py": 3, "tests/test_b.py": 2}
        )[-1]
    )
    assert quick.costs(folder) == {}


def test_a_run_that_is_stopped_keeps_what_passed(project):
    folder, run, choose = project
    choose()
    (folder / "hdnhw" / "a.py").write_text("A = 1.0")
    (folder / "tests" / "test_b.py").write_text("def test_b():\n    raise KeyboardInterrupt\ndef test_c(): ...")
    (folder / "tests" / "test_c.py").write_text("def test_c(): ...")
    run("--quick", "tests/test_a.py", "tests/test_b.py", "tests/test_c.py", status=2)
    assert sorted(choose()[0]) == ["tests/test_b.py", "tests/test_c.py"]


def test_a_file_that_changes_while_it_is_run_has_not_passed(project):
    folder, run, choose = project
    choose()
    (folder / "tests" / "test_b.py").write_text(READING.format("b") + "    Path('hdnhw/b.py').write_text('')")
    run("tests")
    assert choose()[0] == ["tests/test_b.py"]


def test_without_git_tests_run_and_nothing_is_noted(project):
    folder, run, choose = project
    (folder / ".git").rename(folder / "other")
    assert "3 passed" in run("tests")
    assert not (folder / quick.STATE).exists()
    with pytest.raises(subprocess.CalledProcessError):
        choose()
