"""``make quick`` runs each file of tests that a change can concern, and no more than it must."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests import quick
from tests.closure import Tree
from tests.conftest import each

ROOT = Path(__file__).parents[1]
ROUTER, INFO, KERNEL = "hdnhw/rtl/router.py", "hdnhw/library/info.py", "hdnhw/model/course.py"
UART, AXI, PAGE = "boards/uart.py", "hdnhw/endpoints/axi_stream/bench_cocotb.py", "docs/python.md"


@cache
def checkout():
    return quick.working_tree()


def tree_with(files):
    """Return this checkout with other contents of some files."""
    contents = {name: text.encode() for name, text in files.items()}
    return Tree(checkout().files | contents, checkout().known)


@each(
    ("test", "files", "others"),
    [
        ("", ["requirements.txt", "tests/conftest.py"], ["hdnhw/cli/__init__.py", "hdnhw/networks/parse.py"]),
        ("import hdnhw.library.info", [INFO, "hdnhw/topology/metrics.py"], [ROUTER, "hdnhw/cli/__init__.py"]),
        ("def test():\n    from hdnhw.library import info", [INFO], []),
        ("if TYPE_CHECKING:\n    import hdnhw.rtl.router", [], [ROUTER]),
        ("'''See hdnhw.rtl.router.'''", [], [ROUTER]),
        ("import fuzz", ["tests/fuzz.py", "hdnhw/cli/machines.py"], []),
        ("from hdnhw.endpoints.axi_stream import bench", [AXI, "sim/object_cache.py"], [UART]),
        ("monkeypatch.setattr('hdnhw.rtl.router.SIZE', 1)", [ROUTER], []),
        ("code = 'import sys; from hdnhw.rtl.router import SIZE'", [ROUTER], []),
        ("import hdnhw.networks.registry", ["hdnhw/networks/families/star.py"], [ROUTER]),
        ("declared('bench')", [AXI, "hdnhw/endpoints/axi4/bench.py"], [UART]),
        ("TOOLS = BIN / 'hdnhw-tools'", ["sim/tools.py"], [AXI]),
        ("import hdnhw\nhdnhw.info(3)", [INFO], [KERNEL]),
        ("from hdnhw import emit", [ROUTER], ["hdnhw/library/picture.py"]),
        ("import hdnhw\nhdnhw.star(3)", ["hdnhw/networks/families/star.py"], [INFO]),
        ("getattr(hdnhw, name)", [ROUTER, INFO, KERNEL], []),
        ("import hdnhw.cli.network", ["hdnhw/cli/options.py", "hdnhw/library/info.py"], ["hdnhw/claims/hsn.py"]),
        ("def test(run):\n    run('info 3')", [INFO, "hdnhw/library/papers.py", "hdnhw/library/boards.py"], [UART]),
        ("def test(run):\n    run('build 3')", [UART], ["hdnhw/claims/hsn.py"]),
        ("def test(refused):\n    refused('papers')", ["hdnhw/claims/hsn.py"], [UART]),
        ("def test(run):\n    run(LINE)", [UART, "hdnhw/claims/hsn.py"], []),
        ("from hdnhw.cli import command_parser\nLINE = 'info'\ncommand_parser()", [UART, "hdnhw/claims/hsn.py"], []),
        ("command = [sys.executable, '-m', 'hdnhw', 'papers']", ["hdnhw/__main__.py", "hdnhw/claims/hsn.py"], [UART]),
        ("def test(simulate):\n    run = 3", [], ["hdnhw/cli/__init__.py"]),
        ("import hdnhw.figures.page", ["hdnhw/figures/page.html"], ["hdnhw/figures/explorer/keys.js"]),
        ("import hdnhw.core.rule", ["hdnhw/core/src/rule.cpp", "CMakeLists.txt"], [ROUTER]),
        ("import hdnhw.figures.explorer.page", ["hdnhw/figures/explorer/keys.js"], [ROUTER]),
        ("FILE = ROOT / 'docs' / 'python.md'", [PAGE, INFO, ROUTER], ["docs/hardware.md"]),
        ("FILES = (ROOT / 'docs').rglob('*.md')", [PAGE, "docs/results/README.md"], ["docs/layers.svg"]),
        ("FILES = __file__, PAGE.parent.glob('start-*.md')", ["docs/start-hardware.md"], [PAGE]),
        ("FILE = f'docs/{name}'", [PAGE], []),
        ("FILE = ROOT / 'examples' / name", ["examples/litex/bench.sv", "hdnhw/litex.py", "sim/tools.py"], [PAGE]),
        ("FILE = EXAMPLE / 'run.sh'", ["examples/litex/bench.sv"], ["constraints/fabric.lpf"]),
        ("FILE = Path(__file__).parent / 'reference' / 'networks.json'", ["tests/reference/networks.json"], [PAGE]),
        ("FILE = Path(__file__).parents[2] / 'constraints'", ["constraints/fabric.lpf"], [PAGE]),
        ("FILE = 'bench/tables.py'", ["bench/tables.py"], ["bench/pictures.py"]),
        ("FAMILY = 'sim', 'docs', tmp_path / 'docs' / 'python.md'", [], ["sim/runner.py", PAGE]),
        ("PATHS = [ROOT / one for one in ['website', 'sim']]", ["website/links.py", "sim/runner.py"], []),
        ("shutil.copytree(ROOT / 'hdnhw', folder)", ["hdnhw/figures/page.html", ROUTER], ["bench/tables.py"]),
        ("subprocess.run(['make', '-n'])", ["Makefile"], [PAGE]),
        ("subprocess.run(['git', 'ls-files'])", ["Makefile", PAGE, AXI], []),
        ("tests/networks/test_families.py", ["hdnhw/networks/families/star.py"], ["docs/hardware.md"]),
        ("tests/cli/test_papers.py", ["hdnhw/cli/papers.py", "hdnhw/claims/hsn.py"], [UART]),
        ("tests/machine/test_crc.py", ["hdnhw/machine/crc.py"], ["hdnhw/topology/graph.py"]),
        ("tests/topology/test_metrics.py", ["tests/reference/networks.json"], ["hdnhw/model/fabric.py"]),
        ("tests/rtl/test_arbiter.py", ["tests/rtl/conftest.py", ROUTER], ["hdnhw/cli/options.py"]),
        ("tests/verilog/test_core.py", [ROUTER, "hdnhw/fusesoc/generate.py", "hdnhw/fusesoc/generator.core"], [UART]),
        ("tests/endpoints/axi4/test_bench.py", ["hdnhw/endpoints/axi4/bench_cocotb.py"], [UART]),
        ("tests/machine/test_machine.py", ["hdnhw/endpoints/collective/bench.py"], []),
        ("tests/boards/test_uart.py", [UART], ["hdnhw/cli/__init__.py"]),
        ("tests/bench/test_tables.py", ["bench/tables.py", "README.md"], []),
        ("tests/library/test_docs.py", [PAGE, "docs/start-hardware.md", "hdnhw/topology/places.py"], []),
        ("tests/test_docs.py", ["docs/decisions/0001-one-rule-as-a-circuit.md", "Makefile", "CHANGELOG.md"], []),
        ("tests/examples/test_examples.py", ["examples/litex/bench.sv", "examples/litex/chip.py"], []),
        ("tests/website/test_site.py", ["website/mkdocs.yml", "docs/notebooks/05-faults.ipynb", "docs/layers.svg"], []),
    ],
)
def test_what_a_test_depends_on(test, files, others):
    """A test that is there, or a source. An edge too many, from a file that all depend on, would choose everything."""
    is_there = test in checkout().files
    tree = checkout() if is_there else tree_with({"tests/test_it.py": test})
    reached = tree.closure(test if is_there else "tests/test_it.py")
    assert set(files) <= reached
    assert reached.isdisjoint(others)
    assert {*files, *others} <= checkout().files.keys()


def test_no_module_is_without_tests():
    """Benches that only measure are not tested, and what is written for them alone."""
    reached = frozenset().union(*map(checkout().closure, checkout().test_files()))
    assert {file for file in checkout().files if re.match(r"(hdnhw|boards)/.*\.py", file)} <= reached


PROJECT = (ROOT / "pyproject.toml").read_text()


@each(
    ("file", "text", "is_other"),
    [
        (INFO, "# a comment", True),
        (ROUTER, "# a comment", False),
        ("requirements.txt", "numpy==2", True),
        ("pyproject.toml", PROJECT.replace("-ra", "-r a"), True),
        ("pyproject.toml", PROJECT.replace("line-length = 120", "line-length = 80"), False),
        ("hdnhw/new.py", "", False),
    ],
)
def test_the_digest_is_of_what_a_test_depends_on(file, text, is_other):
    test = {"tests/test_it.py": "import hdnhw.library.info"}
    digests = [tree_with(test | files).digest("tests/test_it.py") for files in ({}, {file: text})]
    assert (digests[0] != digests[1]) == is_other


READING = "from pathlib import Path\nexec(Path('hdnhw/{0}.py').read_text())\ndef test_{0}():\n"


@pytest.fixture
def project(tmp_path):
    """Return a function that runs pytest, and one that chooses, in a small clone."""

    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=tmp_path, check=True)

    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p tests.running -p tests.quick'",
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

    return tmp_path, run, lambda: quick.choose(tmp_path, {})


def test_runs_note_what_passed(project):
    folder, run, choose = project
    tests, (said, *lines) = choose()
    assert (tests, lines) == (
        [],
        ["changed since all passed: 0 files; to be run: 0 of 2 files of tests, 0 tests in 0 CPU seconds"],
    )
    assert said.startswith("first use: 2 files of tests have no note, and are taken as passed at commit ")
    (folder / "hdnhw" / "b.py").write_text("B = 3")
    (folder / "hdnhw" / "c.py").write_text("")
    assert choose() == (
        ["tests/test_b.py"],
        [
            "hdnhw/b.py: 1 files of tests",
            "hdnhw/c.py: no test reads it",
            "changed since all passed: 2 files; to be run: 1 of 2 files of tests, at least 0 tests in 0 CPU seconds",
        ],
    )
    run("-k", "test_b", "tests")
    run("tests/test_b.py::test_b")
    assert choose()[0] == ["tests/test_b.py"]
    run("tests")
    assert choose()[0] == []
    assert json.loads((folder / quick.STATE).read_text())["passed"]["tests/test_b.py"][1] == 2


def test_what_passed_before_need_not_run_again(project):
    folder, run, choose = project
    choose()
    text = (folder / "hdnhw" / "b.py").read_text()
    (folder / "hdnhw" / "b.py").write_text("B = 3")
    run("tests")
    (folder / "hdnhw" / "b.py").write_text(text)
    assert choose()[0] == []
    (folder / "hdnhw" / "b.py").write_text("B = 4")
    assert choose()[0] == ["tests/test_b.py"]


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
    state, one, cost = quick.State(folder), quick.working_tree(folder), {"tests/test_a.py": 3, "tests/test_b.py": 2}
    tests = quick.chosen(one, state, cost)
    assert tests == ["tests/test_b.py", "tests/test_a.py"]
    assert quick.costs(folder) == {}


def test_what_a_choice_takes_is_what_it_took(project):
    folder, _, choose = project
    choose()
    state, one = quick.State(folder), quick.working_tree(folder)
    state.note("tests/test_a.py", "another digest", 3, 1.6)
    said = quick.report(one, state, ["tests/test_a.py"])[-1]
    assert said.endswith("1 of 2 files of tests, 3 tests in 2 CPU seconds")
    assert "at least 3 tests" in quick.report(one, state, ["tests/test_a.py", "tests/test_b.py"])[-1]


def test_a_run_notes_what_its_tests_took(project):
    folder, run, _ = project
    busy = "import time\ndef test_{}():\n    while time.process_time() < {}: ...\n"
    (folder / "tests" / "test_c.py").write_text(busy.format("c", "3") + busy.format("d", "4"))
    run("tests/test_c.py")
    number, seconds = quick.State(folder).passed["tests/test_c.py"][1:]
    assert number == 2
    assert 1 <= seconds <= 4


def test_what_another_version_has_noted_is_not_of_use(project):
    folder, _, choose = project
    choose()
    kept = json.loads((folder / quick.STATE).read_text())
    (folder / quick.STATE).write_text(json.dumps(kept | {"writer": "another"}))
    assert choose()[1][0].startswith("first use")


@pytest.mark.parametrize(("file", "reading"), [("hdnhw/a.py", "a"), ("hdnhw/c.py", ""), ("pyproject.toml", "ab")])
def test_what_has_changed_at_first_use_has_not_passed(project, file, reading):
    folder, _, choose = project
    (folder / file).write_text("# other")
    assert sorted(choose()[0]) == [f"tests/test_{name}.py" for name in reading]


def test_of_what_is_gone_at_first_use_nobody_knows_who_read_it(project):
    folder, _, choose = project
    (folder / "hdnhw" / "b.py").unlink()
    assert sorted(choose()[0]) == ["tests/test_a.py", "tests/test_b.py"]


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
