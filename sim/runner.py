"""Build the bench of an emitted fabric and run cases on it, under Verilator or Icarus."""

import hashlib
import os
import shutil
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hdnhw.emit.fabric import EmittedFabric, emit_fabric, write_fabric
from hdnhw.flit import FlitFormat
from hdnhw.model.fabric import FabricModel
from hdnhw.spec import FabricSpec
from sim.check import Verdict, check_ejections, count_hop_mismatches
from sim.harness import harness_text
from sim.simulator import (
    BUILD_ARGUMENTS,
    BUILD_ROOT,
    SIMULATORS,
    SimulatorError,
    build_once,
    build_verilog,
    control_text,
    run_test,
)
from sim.stimulus import Case, make_case, write_case

__all__ = ["SIMULATORS", "Bench", "Run", "SimulatorError"]


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
        self.model = FabricModel(
            self.plan, packet_length=spec.packet_length, buffers=spec.buffers, queueing=spec.queueing
        )
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
        return control_text(modules)

    @property
    def _build_args(self) -> list[str]:
        if self.simulator == "icarus":
            return ["-g2012"]
        return list(BUILD_ARGUMENTS)

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
        build_verilog(self.simulator, files, "bench", self.folder, self._build_args)

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
        case = make_case(test, self.model, self.flits, packets=packets, seed=seed)
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
            self.simulator,
            "sim.bench",
            "bench",
            self.folder,
            folder,
            test_filter=r"\.reset_in_traffic$" if reset_after else r"\.traffic$",
            plusargs=[f"+{name}={value}" for name, value in plusargs.items()],
            extra_env={"HDNHW_DROPPED": str(folder / "dropped"), "HDNHW_RESET_AFTER": str(reset_after)},
        )
        if not (folder / "dropped").exists():
            raise SimulatorError(f"the bench did not end, see {folder / 'simulation.log'}")
