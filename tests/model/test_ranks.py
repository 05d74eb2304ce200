"""A run is the same whatever the number of ranks, processes that mpirun starts; one of them alone prints and writes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hdnhw.cli import main
from hdnhw.support import ranks
from hdnhw.support.files import replacing
from tests.conftest import each

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
MPIRUN = shutil.which("mpirun", path=f"{BIN}{os.pathsep}{os.environ['PATH']}")
SECONDS = 300
"""In which a run must end."""

needs_mpirun = pytest.mark.skipif(MPIRUN is None, reason="mpirun is not installed")


def run(count, *words, cwd=ROOT, env=None):
    """Run Python with these arguments on so many ranks; return what has become of it."""
    command = [*((MPIRUN, "-n", str(count)) if count else ()), sys.executable, *words]
    own = os.environ | {"PYTHONPATH": str(ROOT)} | (env or {})
    return subprocess.run(command, cwd=cwd, env=own, capture_output=True, text=True, timeout=SECONDS)


def found(count, threads):
    done = run(count, "-m", "tests.model.rank_cases", str(threads))
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def alone():
    return found(0, 1)[1]


@needs_mpirun
@pytest.mark.parametrize(("count", "threads"), [(2, 1), (3, 2), (4, 1)])
def test_ranks_find_what_one_process_finds(alone, count, threads):
    alike, theirs = found(count, threads)
    assert alike == count
    assert [name for name in alone if alone[name] != theirs[name]] == []
    assert theirs.keys() == alone.keys()


@needs_mpirun
def test_one_rank_prints_and_writes(tmp_path):
    files = ["--channels", "channels.csv", "--flows", "flows.csv"]
    load = ["simulate", "torus(4, 3)", "--rate", "0.2", "--lengths", "20", "--cycles", "500", "--json", *files]
    made = {}
    for count in (0, 3):
        folder = tmp_path / str(count)
        folder.mkdir()
        done = run(count, "-m", "hdnhw", *load, cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        row = json.loads(done.stdout)
        del row["seconds"], row["router_cycles_per_second"]
        made[count] = row, {path.name: path.read_bytes() for path in folder.iterdir()}
    assert made[0] == made[3]
    assert made[0][1].keys() == {"channels.csv", "flows.csv"}


@needs_mpirun
@each(
    ("words", "said"),
    [
        ("simulate cube(3) --rate 7", "--rate must be 1e-09 to 1 flits per node per cycle, not 7.0"),
        (
            "simulate cube(3) --engine reference",
            "mpirun, which has started 2 processes, does not go with engine reference",
        ),
        ("info cube(3)", "mpirun, which has started 2 processes, does not go with info"),
    ],
)
def test_what_is_refused_is_said_once(words, said):
    done = run(2, "-m", "hdnhw", *words.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"hdnhw: {said}\n")


FAILING = """
import hdnhw
from hdnhw.cli import main
from hdnhw.model.course import Course
from hdnhw.support.ranks import ranks

def advance(course, *given, **options):
    global left
    left -= 1
    if not left and ranks().rank == 1:
        raise {error}
    return was(course, *given, **options)

was, Course.advance, left = Course.advance, advance, 5
{call}
"""


@needs_mpirun
@each(
    ("error", "call", "said"),
    [
        (
            "MemoryError",
            "exit(main(['simulate', 'cube(4)', '--cycles', '5000']))",
            "hdnhw: there is not enough memory\n",
        ),
        ("RuntimeError('lost')", "hdnhw.simulate('cube(4)', cycles=5000)", "RuntimeError: lost\n"),
    ],
)
def test_a_rank_that_fails_ends_all(error, call, said):
    done = run(3, "-c", FAILING.format(error=error, call=call))
    assert done.returncode != 0
    assert done.stderr.count(said) == 1
    assert "simulate" not in done.stdout


@pytest.fixture
def _started(monkeypatch):
    """Let there be two processes, of which this is the second."""
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setenv("PMI_RANK", "1")


@pytest.mark.usefixtures("_started")
def test_the_second_rank_writes_nothing(tmp_path):
    with replacing(tmp_path / "file") as new:
        new.write_text("text")
    assert list(tmp_path.iterdir()) == []
    assert not ranks.is_first()


@pytest.mark.usefixtures("_started")
@each("name", ["mpi4py", "mpi4py.MPI"])
def test_what_is_missing_is_said(monkeypatch, capsys, name):
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setitem(sys.modules, name, None)
    ranks.ranks.cache_clear()
    assert main(["simulate", "cube(3)", "--rate", "0.1"]) == 2
    ranks.ranks.cache_clear()
    said = "this needs mpi4py of the extra mpi, which is not installed: pip install 'hdnhw[mpi]'"
    assert said.split(" of ")[1] in capsys.readouterr().err


def test_an_mpi_that_is_not_that_of_mpirun_is_refused():
    done = run(0, "-m", "hdnhw", "simulate", "cube(3)", env={"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"})
    assert done.returncode == 2
    said = "hdnhw: 2 processes were started, and mpi4py sees 1: it must be of the MPI whose mpirun this is\n"
    assert done.stderr.endswith(said)  # mpi4py has a word, too
