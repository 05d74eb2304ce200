"""Kernels: compiled when they are called, and interpreted where that is quicker, with the same result."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest
from numba import cfunc, njit
from numba.core import caching

from hdnhw import kernels
from hdnhw.cli import main
from hdnhw.kernels import FEW_STEPS, Compilation, Kernel, Stopwatch, compilation, compiling, interpreted, kernel
from hdnhw.model import warmup
from hdnhw.model.fabric import Course
from hdnhw.model.kernel.fabric import simulate
from hdnhw.rules.hop import hop_rule
from hdnhw.rules.plan import prove
from hdnhw.spec import parse
from hdnhw.topology.cuts import bisection
from hdnhw.topology.metrics import distances_from, neighbor_table
from hdnhw.topology.network import build


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
        assert said == Kernel._interpreting == plain
        with interpreted(FEW_STEPS + 1):
            assert not Kernel._interpreting
        assert Kernel._interpreting == plain
    assert not Kernel._interpreting


def test_once_numba_is_there_nothing_is_interpreted():
    assert "numba" in sys.modules
    with interpreted(1) as plain:
        assert not plain


def results(text):
    """Return what kernels compute of a network."""
    network = build(parse(text))
    table = neighbor_table(network)
    cut = bisection(table)
    made = prove(hop_rule(network))
    return distances_from(network, 0).tolist(), cut.edges, cut.inside.tolist(), made.proof, made.num_vcs, made.shapes


@pytest.mark.parametrize("text", ["cube(3)", "hdn(cube(1), [[]])", "torus(3, 3)", "petersen()"])
def test_interpreted_kernels_return_the_same(monkeypatch, text):
    compiled = results(text)
    numba = sys.modules.pop("numba")
    try:
        monkeypatch.setattr(Kernel, "compiled", property(lambda _: pytest.fail("a kernel was compiled")))
        assert results(text) == compiled
    finally:
        sys.modules["numba"] = numba


@pytest.fixture
def source(tmp_path):
    """Return a function in a file of its own; its code can be kept beside it."""
    file = tmp_path / "source.py"
    file.write_text("def twice(number):\n    return 2 * number\n")
    spec = spec_from_file_location("source", file)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


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
    first = compiling.compiled(source, "int64(int64)")
    assert (compiling.folder_of(first), told) == (tmp_path / "__pycache__", [True])
    read_only()
    again = compiling.compiled(source, "int64(int64)")
    assert (compiling.folder_of(again), again(4), sum(again.stats.cache_hits.values())) == (
        tmp_path / "__pycache__",
        8,
        1,
    )
    other = compiling.compiled(source, "float64(float64)")  # of this there is no code
    assert (other(0.5), sum(other.stats.cache_hits.values())) == (1.0, 0)
    assert told == [True]


def test_without_a_folder_it_is_compiled_each_time(source, told, read_only, tmp_path):
    read_only()
    for _ in range(2):
        made = compiling.compiled(source, "int64(int64)")
        assert (compiling.folder_of(made), made(4)) == (None, 8)
    assert told == [False]
    assert not list(tmp_path.glob("__pycache__/*.nbi"))


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


def test_the_time_of_compilation_is_added_up(source, told):  # noqa: ARG001
    before = compiling.compilation.seconds
    compiling.compiled(source, "int64(int64)")
    assert compiling.compilation.seconds > before


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


def test_without_a_folder_code_is_there_once_it_is_loaded(source, told, read_only):  # noqa: ARG001
    read_only()
    made = compiling.compiled(source)
    assert not compiling.is_there(made)
    assert made(4) == 8
    assert compiling.is_there(made)
    assert not compiling.is_there(compiling.compiled(source))


def test_warming_up_compiles_the_model_though_it_sends_few_packets(monkeypatch):
    went, advance = [], Course.advance
    monkeypatch.setattr(Course, "advance", lambda course, *a, **b: went.append(course._go) or advance(course, *a, **b))
    monkeypatch.setattr(warmup, "measure", lambda *_: None)
    warmup.compile_model()
    assert went == [simulate.compiled]
