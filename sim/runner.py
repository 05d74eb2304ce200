"""Build the bench of an emitted fabric and run cases on it, under Verilator or Icarus."""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from hdnhw.emit.fabric import EmittedFabric, emit_fabric
from hdnhw.flit import FlitFormat
from hdnhw.model.fabric import FabricModel
from hdnhw.spec import FabricSpec
from hdnhw.topology.faults import Faults
from sim.check import Verdict, check_ejections, count_hop_mismatches
from sim.harness import Channels, harness_text, splice_flips
from sim.simulator import BUILD_ARGUMENTS, BUILD_ROOT, SIMULATORS, Build, SimulatorError, control_text
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
    """An emitted fabric with the bench around it.

    Parameters
    ----------
    spec : FabricSpec
    simulator : str
        ``verilator`` or ``icarus``.
    root : Path, optional
        Folder for builds.
    flips : bool
        Whether errors can be injected, see :mod:`sim.errors`: wires between routers pass an XOR that was not emitted.

    Attributes
    ----------
    channels : list of (int, int, str)
        Node, port index and port name of every channel.
    """

    def __init__(
        self, spec: FabricSpec, *, simulator: str = "verilator", root: Path = BUILD_ROOT, flips: bool = False
    ) -> None:
        self.fabric: EmittedFabric = emit_fabric(spec)
        self.plan = self.fabric.plan
        manifest = self.fabric.manifest
        self.flits = FlitFormat(spec.flit_width, self.plan.address.width, spec.packet_length)
        self.model = FabricModel(
            self.plan,
            packet_length=spec.packet_length,
            buffers=spec.buffers,
            queueing=spec.queueing,
            crc=spec.crc,
        )
        network = self.plan.network
        self.channels: Channels = [
            (node, port, network.ports[port].name)
            for node in range(network.num_nodes)
            for port in self.plan.shape_of(node).ports
        ]
        files = {**self.fabric.verilog, "bench.sv": harness_text(manifest, self.channels, flips=flips)}
        if flips:
            name = f"{manifest['top']}.sv"
            files[name] = splice_flips(files[name], manifest, self.channels)
        arguments: tuple[str, ...] = ("-g2012",)
        if simulator == "verilator":
            files = {"bench.vlt": control_text([*manifest["router_modules"], manifest["ejection_module"]]), **files}
            arguments = BUILD_ARGUMENTS
        self.build = Build(simulator, files, "bench", simulator=simulator, arguments=arguments, root=root)

    def run(
        self,
        test: str,
        *,
        packets: int = 0,
        seed: int = 1,
        faults: Faults | None = None,
        reset_after: int = 0,
        keep: bool = False,
    ) -> Run:
        """Run one case and compare it with the model.

        Parameters
        ----------
        test : str
            ``hops``, ``random``, ``exchange`` or ``faults``.
        packets, seed : int
            See :func:`sim.stimulus.make_case`.
        faults : Faults, optional
            What is dead; the fabric must have the pins.
        reset_after : int
            If not 0, reset the fabric after so many cycles and run the case from the start.
        keep : bool
            Whether to keep the files of a run that passed; those of one that failed are kept.

        Raises
        ------
        SimulatorError
            If the bench cannot be built or does not end.
        """
        model = self.model if faults is None else self.model.with_faults(faults)
        case = make_case(test, model, self.flits, packets=packets, seed=seed)
        return self.run_case(case, reset_after=reset_after, keep=keep)

    def run_case(self, case: Case, *, reset_after: int = 0, keep: bool = False) -> Run:
        """Run any case, see :meth:`run`."""
        build_seconds = self.build.make()
        folder = self.build.clear_run_folder(case.test)
        plusargs = write_case(case, folder, self.plan)
        started = time.monotonic()
        self.simulate(folder, plusargs, reset_after)
        seconds = time.monotonic() - started
        hop_mismatches = count_hop_mismatches(folder, self.plan) if case.test == "hops" else 0
        dropped = int((folder / "dropped").read_text())
        verdict = check_ejections(folder, self.flits.flit_width, dropped, hop_mismatches)
        if verdict.passed and not keep:
            shutil.rmtree(folder)
        routers = self.plan.network.num_nodes
        return Run(case.test, verdict, self.flits.packet_length, seconds, build_seconds, routers)

    def simulate(self, folder: Path, plusargs: dict[str, object], reset_after: int = 0) -> None:
        """Run a case that has been written into a folder, and compare nothing."""
        self.build.run(
            "sim.bench",
            folder,
            test_filter=r"\.reset_in_traffic$" if reset_after else r"\.traffic$",
            plusargs=[f"+{name}={value}" for name, value in plusargs.items()],
            extra_env={"HDNHW_DROPPED": str(folder / "dropped"), "HDNHW_RESET_AFTER": str(reset_after)},
        )
        if not (folder / "dropped").exists():
            raise SimulatorError(f"the bench did not end, see {folder / 'simulation.log'}")
