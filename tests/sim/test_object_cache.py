"""The compiler that keeps Verilator's library and headers: each is made once for the same sources and command."""

import stat

import pytest

from hdnhw.sim.object_cache import HEADER, compile_or_copy

COMPILER = """#!/bin/sh
# one
echo "$@" >> {log}
case "$*" in *broken*) exit 3;; esac
while [ "$1" != -o ]; do shift; done
cat "$3" > "$2"
"""


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Return a function that compiles a source, and one that returns the commands that the compiler was run with."""
    log, compiler, library = tmp_path / "log", tmp_path / "g++", tmp_path / "home" / "include"
    library.mkdir(parents=True)
    (tmp_path / "objects").mkdir()
    for name in ("verilated.cpp", "verilated_timing.cpp", "broken.cpp", "verilated.h"):
        (library / name).write_text(name)
    (tmp_path / "bench.cpp").write_text('#include "Vbench.h"\n')
    (tmp_path / "own.cpp").write_text("#include <new>\n")
    log.touch()
    compiler.write_text(COMPILER.format(log=log))
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VERILATOR_ROOT", str(tmp_path / "home"))

    def compiled(source, *flags, target="out.o"):
        command = [str(compiler), *flags, "-c", "-o", str(tmp_path / target), str(source)]
        return compile_or_copy(str(tmp_path / "objects"), command)

    return tmp_path, library, compiled, lambda: log.read_text().splitlines()


def test_the_library_is_compiled_once(world):
    folder, library, compiled, runs = world
    assert [compiled(library / "verilated.cpp") for _ in range(3)] == [0, 0, 0]
    assert (len(runs()), (folder / "out.o").read_text()) == (1, "verilated.cpp")
    (folder / "out.o").unlink()
    assert compiled(library / "verilated.cpp") == 0
    assert (len(runs()), (folder / "out.o").read_text()) == (1, "verilated.cpp")


def test_what_changes_is_compiled_again(world):
    folder, library, compiled, runs = world
    compiled(library / "verilated.cpp")
    compiled(library / "verilated.cpp", "-O2")
    assert len(runs()) == 2
    (library / "verilated.h").write_text("another header")
    compiled(library / "verilated.cpp")
    assert len(runs()) == 3
    (folder / "g++").write_text((folder / "g++").read_text().replace("# one", "# another"))
    compiled(library / "verilated.cpp")
    assert len(runs()) == 4


def test_the_library_is_the_same_with_time_but_for_what_makes_time(world):
    _, library, compiled, runs = world
    for name, count in (("verilated.cpp", 1), ("verilated_timing.cpp", 3)):
        for options in (["-DVM_TIMING=0"], ["-DVM_TIMING=1", "-fcoroutines"]):
            assert compiled(library / name, *options) == 0
        assert len(runs()) == count


def test_headers_are_compiled_once_for_all_that_verilator_writes(world):
    folder, _, compiled, runs = world
    assert [compiled(folder / "bench.cpp", "-O1", *options) for options in ((), ("-fPIC", "-MMD"))] == [0, 0]
    header, *benches = runs()
    (name,) = (folder / "objects").glob("header-*.h")
    assert name.read_text() == name.with_suffix(".h.gch").read_text() == HEADER
    assert header.startswith("-O1 -x c++-header -o ")
    assert benches == [f"-O1 -c -include {name} -o {folder}/out.o {folder}/bench.cpp"] * 2
    assert compiled(folder / "bench.cpp", "-O0") == 0
    assert len(runs()) == 5


def test_headers_of_one_build_are_not_compiled(world, monkeypatch):
    """Of large designs, Verilator compiles each file for itself, and their headers for each design."""
    folder, _, _, runs = world
    monkeypatch.chdir(folder)
    compiler, objects = str(folder / "g++"), str(folder / "objects")
    own = ["-x", "c++-header", "Vbench__pch.h", "-o", "Vbench__pch.h.fast.gch"]
    assert compile_or_copy(objects, [compiler, "-O1", *own]) == 0
    assert runs() == []
    assert (folder / "Vbench__pch.h.fast.gch").exists()
    assert compile_or_copy(objects, [compiler, "-O1", "-include", "Vbench__pch.h.fast", "-c", "bench.cpp"]) == 0
    (name,) = (folder / "objects").glob("header-*.h")
    assert runs()[1:] == [f"-O1 -c -include {name} -o bench.o bench.cpp"]
    assert (folder / "bench.o").exists()


def test_other_sources_are_compiled_as_they_are(world):
    folder, _, compiled, runs = world
    assert [compiled(folder / "own.cpp") for _ in range(2)] == [0, 0]
    assert (len(runs()), list((folder / "objects").iterdir())) == (2, [])


def test_of_a_source_that_fails_nothing_is_kept(world):
    folder, library, compiled, runs = world
    assert [compiled(library / "broken.cpp") for _ in range(2)] == [3, 3]
    assert (len(runs()), [path.suffix for path in (folder / "objects").iterdir()]) == (2, [".lock"])
