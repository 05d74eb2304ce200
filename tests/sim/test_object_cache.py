"""The compiler that keeps objects of Verilator's library: each is compiled once for the same sources and command."""

import stat

import pytest

from hdnhw.sim.object_cache import compile_or_copy

COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo one; exit; fi
echo "$@" >> {log}
case "$*" in *broken*) exit 3;; esac
while [ "$1" != -o ]; do shift; done
cat "$3" > "$2"
"""


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Return a function that compiles a source, and one that returns how often the compiler has run."""
    log, compiler, library = tmp_path / "log", tmp_path / "g++", tmp_path / "home" / "include"
    library.mkdir(parents=True)
    (tmp_path / "objects").mkdir()
    (library / "verilated.cpp").write_text("library")
    (library / "broken.cpp").write_text("broken")
    (library / "verilated.h").write_text("header")
    (tmp_path / "bench.cpp").write_text("bench")
    log.touch()
    compiler.write_text(COMPILER.format(log=log))
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VERILATOR_ROOT", str(tmp_path / "home"))

    def compiled(source, *flags, target="out.o"):
        command = [str(compiler), *flags, "-c", "-o", str(tmp_path / target), str(source)]
        return compile_or_copy(tmp_path / "objects", command)

    return tmp_path, library, compiled, lambda: len(log.read_text().splitlines())


def test_the_library_is_compiled_once(world):
    folder, library, compiled, runs = world
    assert [compiled(library / "verilated.cpp") for _ in range(3)] == [0, 0, 0]
    assert (runs(), (folder / "out.o").read_text()) == (1, "library")
    (folder / "out.o").unlink()
    assert compiled(library / "verilated.cpp") == 0
    assert (runs(), (folder / "out.o").read_text()) == (1, "library")


def test_what_changes_is_compiled_again(world):
    folder, library, compiled, runs = world
    compiled(library / "verilated.cpp")
    compiled(library / "verilated.cpp", "-O2")
    assert runs() == 2
    (library / "verilated.h").write_text("another header")
    compiled(library / "verilated.cpp")
    assert runs() == 3
    (folder / "g++").write_text((folder / "g++").read_text().replace("echo one", "echo two"))
    compiled(library / "verilated.cpp")
    assert runs() == 4


def test_what_is_not_of_the_library_is_always_compiled(world):
    folder, _, compiled, runs = world
    assert [compiled(folder / "bench.cpp") for _ in range(2)] == [0, 0]
    assert (runs(), list((folder / "objects").iterdir())) == (2, [])


def test_of_a_source_that_fails_nothing_is_kept(world):
    folder, library, compiled, runs = world
    assert [compiled(library / "broken.cpp") for _ in range(2)] == [3, 3]
    assert (runs(), list((folder / "objects").iterdir())) == (2, [])
