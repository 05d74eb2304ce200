"""Kernels: compiled when they are called, and interpreted where that is quicker, with the same result."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from shutil import copytree, ignore_patterns

import numpy as np
import pytest
from numba import cfunc, njit
from numba.core import caching

from hdnhw import kernels
from hdnhw.cli import main
from hdnhw.kernels import (
    FEW_STEPS,
    STARTED,
    Compilation,
    Kernel,
    Stopwatch,
    _interpreting,
    compilation,
    compiling,
    interpreted,
    kernel,
)
from hdnhw.kernels.compiling import digest_of_sources
from hdnhw.model import warmup
from hdnhw.model.fabric import Course
from hdnhw.model.kernel.fabric import simulate
from hdnhw.rules.hop import hop_rule
from hdnhw.rules.plan import prove
from hdnhw.spec import parse
from hdnhw.topology.cuts import bisection
from hdnhw.topology.metrics import distances_from, neighbor_table
from hdnhw.topology.network import build
from tests.conftest import each


@kernel("int64(int64)")
def twice(number):
    """Return the double."""
    return 2 * number


@kernel("int64(int64[::1])")
def twice_sum(numbers):
    """Return the double of a sum."""
    total = 0
    for number in numbers:
        total += twice(number)
    return total


def test_a_kernel_calls_another():
    assert twice_sum(np.arange(5)) == twice_sum.py_func(np.arange(5)) == 20
    assert twice.nopython_signatures


def test_without_a_signature_it_is_compiled_for_its_arguments():
    loose = kernel()(lambda number: number + 1)
    assert (loose(1), loose(0.5)) == (2, 1.5)
    assert len(loose.signatures) == 2


@pytest.fixture
def without_numba(monkeypatch):
    """Let it look as if nothing had imported Numba."""
    monkeypatch.delitem(sys.modules, "numba")


@pytest.mark.usefixtures("without_numba")
@pytest.mark.parametrize(("steps", "plain"), [(FEW_STEPS, True), (FEW_STEPS + 1, False)])
def test_few_steps_are_interpreted(steps, plain):
    with interpreted(steps) as said:
        assert said == _interpreting.get() == plain
        with interpreted(FEW_STEPS + 1):
            assert not _interpreting.get()
        assert _interpreting.get() == plain
        with ThreadPoolExecutor(1) as other:
            assert not other.submit(_interpreting.get).result()
    assert not _interpreting.get()


@pytest.mark.parametrize(
    ("steps", "own", "plain"), [(1, False, False), (FEW_STEPS, True, True), (FEW_STEPS + 1, True, False)]
)
def test_once_numba_is_there_only_what_would_be_compiled_for_it_alone_is_interpreted(steps, own, plain):
    assert "numba" in sys.modules
    with interpreted(steps, own=own) as said:
        assert said == plain


def results(text):
    """Return what kernels compute of a network."""
    network = build(parse(text))
    table = neighbor_table(network)
    cut = bisection(table)
    made = prove(hop_rule(network))
    return distances_from(network, 0).tolist(), cut.edges, cut.inside.tolist(), made.proof, made.num_vcs, made.shapes


@pytest.mark.parametrize("text", ["cube(3)", "hdn(cube(1), [[]])", "torus(3, 3)", "petersen()"])
def test_interpreted_kernels_return_the_same(monkeypatch, text):
    with monkeypatch.context() as compiling_all:
        compiling_all.setattr("hdnhw.kernels.FEW_STEPS", -1)
        compiled = results(text)
    numba = sys.modules.pop("numba")
    try:
        monkeypatch.setattr(Kernel, "compiled", property(lambda _: pytest.fail("a kernel was compiled")))
        assert results(text) == compiled
    finally:
        sys.modules["numba"] = numba


def module_of(file):
    """Return the module that a file is now; Python's own cache does not see a change in the same second."""
    module = module_from_spec(spec_from_file_location(file.stem, file))
    exec(compile(file.read_text(), str(file), "exec"), vars(module))
    return module


@pytest.fixture
def source(tmp_path):
    """Return a function in a file of its own; its code can be kept beside it."""
    file = tmp_path / "source.py"
    file.write_text("def twice(number):\n    return 2 * number\n")
    return module_of(file).twice


@pytest.fixture
def told(monkeypatch):
    """Return what was told of compilation."""
    own, lines = Compilation(), []
    own.tell = lines.append
    monkeypatch.setattr(compiling, "compilation", own)
    return lines


@pytest.fixture
def read_only(monkeypatch):
    """Return what makes all folders for machine code such that nothing can be written; a superuser could otherwise."""

    def refuse(_):
        raise PermissionError

    return lambda: monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", refuse)


def test_code_is_kept_beside_the_source_and_read_where_nothing_can_be_written(source, told, read_only, tmp_path):
    before = compiling.compilation.seconds
    first = compiling.compiled(source, "int64(int64)")
    assert (compiling.folder_of(first), told) == (tmp_path / "__pycache__", [True])
    assert compiling.compilation.seconds > before
    read_only()
    again = compiling.compiled(source, "int64(int64)")
    assert compiling.folder_of(again) == tmp_path / "__pycache__"
    assert (again(4), sum(again.stats.cache_hits.values())) == (8, 1)
    other = compiling.compiled(source, "float64(float64)")  # of this there is no code
    assert (other(0.5), sum(other.stats.cache_hits.values())) == (1.0, 0)
    assert told == [True]


def test_without_a_folder_it_is_compiled_each_time(source, told, read_only, tmp_path):
    read_only()
    for _ in range(2):
        made = compiling.compiled(source)
        assert not compiling.is_there(made)
        assert (compiling.folder_of(made), made(4)) == (None, 8)
        assert compiling.is_there(made)
    assert told == [False]
    assert not list(tmp_path.glob("__pycache__/*.nbi"))


TIMES = "def scaled(number):\n    return {} * number"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Keep code in an empty folder; there is one place for what is made from a text. Return what loads or compiles."""
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "PLACES", 1)

    def load(factor):
        compiling.compiled_text.cache_clear()
        return compiling.compiled_text(TIMES.format(factor), "int64(int64)")

    yield load
    compiling.compiled_text.cache_clear()


def test_what_is_made_from_a_text_is_kept_by_its_digest(place, read_only, tmp_path):
    for factor, hits in ((3, 0), (3, 1), (4, 0), (4, 1), (3, 0)):
        made = place(factor)
        assert (made.ctypes(5), made.cache_hits) == (5 * factor, hits)
        assert len(list(tmp_path.rglob("*.nb?"))) == 1
    assert compiling.compiled_text(TIMES.format(3), "int64(int64)") is made
    read_only()
    assert [place(5).cache_hits for _ in range(2)] == [0, 0]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Return a copy of hdnhw whose sources are looked at, and what changes a file there; its time of change is old."""
    root = tmp_path / "hdnhw"
    copytree(compiling.ROOT / "hdnhw", root, ignore=ignore_patterns("__pycache__", "boards", "sim"))
    monkeypatch.setattr(compiling, "ROOT", tmp_path)
    time = count(1)

    def write(file, text):
        file.write_text(text)
        os.utime(file, ns=(next(time),) * 2)

    return root, write


def test_all_that_the_core_imports_is_part_of_its_digest(monkeypatch):
    seen, read = set(), compiling._read
    monkeypatch.setattr(compiling, "_read", lambda source, changed: seen.add(source) or read(source, changed))
    digest_of_sources(compiling.ROOT / "hdnhw/model/kernel/fabric.py")
    program = """
import sys, hdnhw.model.kernel.fabric
own = [one for name, one in sys.modules.items() if name.startswith("hdnhw.") and not hasattr(one, "__path__")]
print(*(one.__file__ for one in own), sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {Path(line) for line in done.stdout.split()} <= seen


@each(
    ("name", "before", "after", "is_same"),
    [
        ("rules/decision.py", "VC_SHIFT = 8", "VC_SHIFT = 9", False),
        ("model/kernel/threads.py", "PATIENCE = ", "PATIENCE = 1 + ", False),
        ("rules/decision.py", "VC_SHIFT = 8", "\n# two lines more\nVC_SHIFT = 8", True),
        ("rules/decision.py", '"""What ', '"""Whatever ', True),
        ("rules/decision.py", '"""A decision ', '"""The decision ', True),
        ("model/kernel/queue.py", "def push_packet(", "def pushed_packet(", False),
        ("model/kernel/native.py", "return ", "return 1 and ", False),
        ("model/kernel/state.py", "class Parts(", "class Part(", False),
        ("kernels/compiling.py", "nogil=True", "nogil=False", False),
        ("topology/metrics.py", "import", "import math\nimport", True),
    ],
)
def test_what_the_digest_of_the_core_is_of(tree, name, before, after, is_same):
    root, write = tree
    core, text = root / "model/kernel/fabric.py", (root / name).read_text()
    digests = []
    for content in (text, text.replace(before, after, 1), text):
        write(root / name, content)
        digests.append(digest_of_sources(core))
    assert before in text
    assert [digests[0] == one for one in digests[1:]] == [is_same, True]


def test_of_a_file_that_has_changed_since_the_program_began_the_time_is_part_of_the_digest(tree):
    root, _ = tree
    core, state = root / "model/kernel/fabric.py", root / "model/kernel/state.py"
    digest = digest_of_sources(core)
    os.utime(state, ns=(0, STARTED))
    assert digest_of_sources(core) == digest
    os.utime(state, ns=(0, STARTED + 1))
    assert digest_of_sources(core) != digest


@pytest.mark.parametrize(
    ("imports", "name"), [("hdnhw.other import SHIFT", "SHIFT"), ("hdnhw import other", "other.SHIFT")]
)
def test_a_kernel_does_what_the_constants_say_that_it_imports(imports, name, tmp_path, monkeypatch):
    """A constant of another file changes while the code is kept: once the old code was run."""
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "ROOT", tmp_path)
    (tmp_path / "hdnhw").mkdir()
    other, user = tmp_path / "hdnhw" / "other.py", tmp_path / "user.py"
    user.write_text(f"from {imports}\ndef shifted(number):\n    return number << {name}\n")
    for shift, hits in ((8, 0), (8, 1), (9, 0), (9, 1)):
        other.write_text(f"SHIFT = {shift}\n")
        os.utime(other, ns=(shift, shift))
        monkeypatch.setitem(sys.modules, "hdnhw.other", module_of(other))
        shifted = compiling.compiled(module_of(user).shifted, "int64(int64)")
        assert (shifted(1), sum(shifted.stats.cache_hits.values())) == (1 << shift, hits)


def test_of_what_is_never_kept_nothing_is_told(told):
    cfunc("int64(int64)")(lambda number: number + 1)
    njit("int64(int64)")(lambda number: number + 1)
    assert told == []


def test_a_stopwatch_leaves_compilation_out(monkeypatch):
    watch = Stopwatch()
    monkeypatch.setattr(compilation, "seconds", compilation.seconds + 1000)
    assert watch.seconds < 0


def test_what_is_counted_is_counted_once(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(kernels.time, "perf_counter", lambda: next(clock))
    own = Compilation()
    with own.counted(), own.counted():
        own.seconds += 50
    assert own.seconds == 3


def test_warm_up_says_where_the_code_is_kept(capsys):
    assert main(["warm-up"]) == 0
    out, _ = capsys.readouterr()
    assert str(compiling.folder_of(simulate)) in out


def test_warm_up_without_a_folder(capsys, monkeypatch):
    monkeypatch.setattr("hdnhw.model.warmup.folder_of", lambda _: None)
    assert main(["warm-up"]) == 2
    said = "hdnhw: no folder to keep what is compiled can be written: NUMBA_CACHE_DIR must name one that can\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(
    ("is_kept", "often"),
    [(True, "once"), (False, "in each run: no folder to keep it can be written, NUMBA_CACHE_DIR may name one")],
)
def test_a_command_says_once_that_it_compiles(capsys, monkeypatch, is_kept, often):
    own = Compilation()
    monkeypatch.setattr("hdnhw.cli.compilation", own)
    assert main(["neighbors", "cube(2)", "0"]) == 0
    capsys.readouterr()
    own.announce(is_kept)
    own.announce(is_kept)
    assert capsys.readouterr().err == f"hdnhw: compiling, about a minute, {often}\n"


def test_code_is_there_once_it_is_loaded_or_kept(source, told, tmp_path):  # noqa: ARG001
    made = compiling.compiled(source)
    assert not compiling.is_there(made)
    assert made(4) == 8
    assert compiling.is_there(made)
    assert compiling.is_there(compiling.compiled(source))
    (tmp_path / "source.py").write_text("def twice(number):\n    return number * 2 + 0\n")
    assert not compiling.is_there(compiling.compiled(source))


def test_warming_up_compiles_the_model_though_it_sends_few_packets(monkeypatch):
    went, advance = [], Course.advance
    monkeypatch.setattr(Course, "advance", lambda course, *a, **b: went.append(course._go) or advance(course, *a, **b))
    monkeypatch.setattr(warmup, "measure", lambda *_: None)
    warmup.compile_model()
    assert went == [simulate.compiled]
