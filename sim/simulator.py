"""The simulators: finding them, building Verilog once, running a cocotb test on it."""

import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cocotb_tools.runner import get_runner

from hdnhw.fpga.tools import ToolError
from hdnhw.sim.tools import tool_environment, verilator_home

BUILD_ROOT = Path("build") / "sim"

BUILD_ARGUMENTS = ("--no-public-flat-rw", "--hierarchical", "--build", "-j", "2", "-O3", "--x-initial", "0")
"""Of Verilator. Benches mark what cocotb touches: all signals public would cost most of the speed."""


ZEROED = """\
#include <cstdlib>
#include <cstring>
#include <new>

void* operator new(std::size_t size, std::align_val_t alignment) {
    const std::size_t unit = static_cast<std::size_t>(alignment);
    const std::size_t whole = (size + unit - 1) / unit * unit;
    void* const memory = std::aligned_alloc(unit, whole);
    if (!memory) throw std::bad_alloc{};
    return std::memset(memory, 0, whole);
}
"""
"""Linked into what Verilator builds: models begin as zeros.

Verilator 5.49 numbers the evaluations of a block that is compiled once (``m_seqnum`` of its container) from whatever
the memory held before. Where that is shortly before the number's end, the block gives old outputs in the cycle in which
it comes round, and packets are lost: seen once in some thousand runs.
"""


def control_text(modules: Sequence[str], *lines: str) -> str:
    """Return a Verilator control file: each of `modules` is compiled once, not once an instance.

    The wrappers that Verilator makes for them look like combinational loops to it, and it warns of what it made itself.
    """
    rules = ['lint_off -file "*bench.sv"', "lint_off -rule UNOPTFLAT", *lines]
    return "\n".join(["`verilator_config", *rules, *(f'hier_block -module "{name}"' for name in modules), ""])


LOG = "build.log"
"""Of a build, in its folder."""

NOT_PLAIN = " \t\n\"'#$%&()*:;<>?[\\]`{|}~"
"""Characters of a path that make or a shell would not take as they are."""


class Build:
    """Verilog in a simulator, built once and kept by the digest of its text and of the tools, if it is as it was built.

    Parameters
    ----------
    kind : str
        First part of the folder's name.
    files : mapping of str to str
        File name -> text, in the order in which the simulator reads them.
    top : str
        Top-level module.
    simulator : str
        ``verilator`` or ``icarus``.
    arguments : sequence of str
        Of the simulator's build.
    root : Path
        Folder for builds.

    Raises
    ------
    ValueError
        If it has to be built, and what that needs is not installed.

    Attributes
    ----------
    simulator : str
    folder : Path
        Folder of the build; its log is build.log there.
    """

    def __init__(
        self,
        kind: str,
        files: Mapping[str, str],
        top: str,
        *,
        simulator: str = "verilator",
        arguments: Sequence[str] = BUILD_ARGUMENTS,
        root: Path = BUILD_ROOT,
    ) -> None:
        self._files, self._top, self.simulator, self._arguments = files, top, simulator, arguments
        self._linked = {"zeroed.cpp": ZEROED} if simulator == "verilator" else {}
        text = "\0".join([top, *arguments, *files, *files.values(), *self._linked.values(), *_tools(simulator)])
        self.folder = root.resolve() / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        if not self._is_built():
            _check_tools(simulator)

    def _is_built(self) -> bool:
        """Whether all that can be run in the folder is as it was when it was built there."""
        built = self.folder / "built"
        return built.is_file() and built.read_text() == _programs(self.folder)

    def make(self) -> float:
        """Build unless that was done before; return the seconds it took. Other processes that want the same wait.

        Raises
        ------
        ToolError
            If the simulator refuses.
        ValueError
            If it is not installed.
        """
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with self.folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._is_built():
                return 0.0
            started = time.monotonic()
            shutil.rmtree(self.folder, ignore_errors=True)
            self._make()
            (self.folder / "built").write_text(_programs(self.folder))
            return time.monotonic() - started

    def _make(self) -> None:
        log = self.folder / LOG
        _find_simulator(self.simulator, objects=self.folder.parent / "objects")
        with _plain(self.folder) as folder:
            sources = folder / "sources"
            sources.mkdir(parents=True)
            for name, text in {**self._files, **self._linked}.items():
                (sources / name).write_text(text)
            arguments = [*self._arguments, *(str(sources / name) for name in self._linked)]
            try:
                self._compile([sources / name for name in self._files], arguments, folder)
            except (SystemExit, RuntimeError) as error:
                raise ToolError(f"{self.simulator} could not build the bench, see {log}") from error

    def _compile(self, sources: Sequence[Path], arguments: Sequence[str], folder: Path) -> None:
        """Build in a folder that make takes; raise SystemExit or RuntimeError if the simulator refuses."""
        get_runner(self.simulator).build(
            sources=sources,
            hdl_toplevel=self._top,
            build_args=arguments,
            build_dir=folder,
            timescale=("1ns", "1ns"),
            log_file=folder / LOG,
            always=True,
        )

    def run_folder(self, name: str = "run") -> Path:
        """Return the folder in which this process keeps the files of a run."""
        return self.folder / f"{name}-{os.getpid()}"

    def clear_run_folder(self, name: str = "run") -> Path:
        """Make the folder of :meth:`run_folder` empty and return it."""
        folder = self.run_folder(name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def run(self, module: str, folder: Path, **options: Any) -> None:
        """Run a cocotb test module on what was built, with `folder` as the working folder of the simulation.

        Raises
        ------
        ToolError
            If the test fails.
        """
        _find_simulator(self.simulator)
        try:
            get_runner(self.simulator).test(
                test_module=module,
                hdl_toplevel=self._top,
                hdl_toplevel_lang="verilog",
                build_dir=self.folder,
                test_dir=folder,
                results_xml=str(folder / "results.xml"),
                log_file=folder / "simulation.log",
                **options,
            )
        except (SystemExit, RuntimeError) as error:
            raise ToolError(f"{self.simulator} failed, see {folder / 'simulation.log'}") from error


@contextmanager
def _plain(folder: Path) -> Iterator[Path]:
    """Give a folder whose name make files take: this one, or a temporary one that is copied to it at the end."""
    if _is_plain(folder):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="hdnhw-") as name:
        try:
            yield Path(name)
        finally:
            shutil.copytree(name, folder, dirs_exist_ok=True)


def _tools(simulator: str) -> list[str]:
    """Return what tells the tools that make and run a build from others."""
    programs = [shutil.which(name) for name in (("g++",) if simulator == "verilator" else ("iverilog", "vvp"))]
    states = [(path, os.stat(path).st_size, os.stat(path).st_mtime_ns) for path in programs if path is not None]
    return [version(name) for name in ("cocotb", "verilator")] + [str(states)]


def _programs(folder: Path) -> str:
    """Return the digests of what is run or loaded of a build."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    run = [path for path in files if os.access(path, os.X_OK) or path.suffix in (".so", ".vvp")]
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.name}\n" for path in run)


def _is_plain(path: Path) -> bool:
    return not any(character in str(path) for character in NOT_PLAIN)


def _check_tools(simulator: str) -> None:
    """Raise ValueError unless all that builds of the simulator need is installed."""
    if simulator != "verilator":
        if shutil.which("iverilog") is None:
            raise ValueError(
                "simulator icarus is not installed: iverilog is not on the path; verilator comes with hdnhw"
            )
        return
    missing = [tool for tool in ("make", "g++", "perl") if shutil.which(tool) is None]
    if missing:
        raise ValueError(f"verilator needs {', '.join(missing)} from the system: please install that")
    if not _is_plain(verilator_home()):
        home = str(verilator_home())
        raise ValueError(f"verilator must be installed in a folder whose name make takes, not in {home!r}")


def _find_simulator(simulator: str, objects: Path | None = None) -> None:
    """Put the simulator on the path; `objects` is a folder in which a build keeps compiled libraries."""
    if simulator != "verilator":
        return
    os.environ |= tool_environment(os.environ, {} if objects is None else kept_objects(objects))


def kept_objects(folder: Path) -> dict[str, str]:
    """Return the variables of make by which builds share what they compile of Verilator's own sources, in a folder."""
    if not _is_plain(folder):
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    program = Path(__file__).with_name("object_cache.py")
    return {"OBJCACHE": "\\ ".join(map(str, (sys.executable, "-I", "-S", program, folder)))}
