"""What the benches of emitted fabrics have in common: building the Verilog, running a case, judging what it did."""

import json
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from hdnhw.fpga.tools import ToolError
from hdnhw.machine.machine import Machine
from hdnhw.machine.monitor import MonitorMap
from hdnhw.model.fabric import FabricModel
from hdnhw.sim.compare import count_unbalanced
from hdnhw.sim.simulator import BUILD_ARGUMENTS, BUILD_ROOT, Build, control_text
from hdnhw.spec import EndpointSpec
from hdnhw.verilog.fabric import EmittedFabric


def reset_environment(resets: Sequence[int], *, cycles: int = 1) -> dict[str, str]:
    """Return what :func:`hdnhw.sim.streams_bench.begin` is told.

    Parameters
    ----------
    resets : sequence of int
        Cycles after each of which the fabric is reset for one.
    cycles : int
        Of the first reset.
    """
    return {"HDNHW_RESETS": " ".join(map(str, resets)), "HDNHW_RESET_CYCLES": str(cycles)}


class Verdict(Protocol):
    """What a run showed."""

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""


CaseType = TypeVar("CaseType")
VerdictType = TypeVar("VerdictType", bound=Verdict)


@dataclass(frozen=True)
class Run(Generic[VerdictType]):
    """One case run on the Verilog.

    Attributes
    ----------
    test : str
    machine : Machine
    verdict : Verdict
    seconds : float
        Simulation alone.
    build_seconds : float
        0 if the bench had been built before.
    """

    test: str
    machine: Machine
    verdict: VerdictType
    seconds: float
    build_seconds: float


class Bench(ABC, Generic[CaseType, VerdictType]):
    """An emitted fabric in a simulator, with what drives and watches it.

    Parameters
    ----------
    fabric : EmittedFabric
    simulator : str
        ``verilator`` or ``icarus``.
    root : Path, optional
        Folder for builds.

    Attributes
    ----------
    machine : Machine
    build : Build
    name : str
        First part of the names of folders.
    module : str
        The cocotb tests.
    kind : type or None
        The class of endpoints that the fabric must have; None for benches of the terminals below them.
    traces : bool
        Whether Verilator can write a dump.
    summary : str
        What ``hdnhw cosim`` says of a verdict, with its fields in braces; of benches that are the test of a kind.
    start : int
        Seed of what Verilator finds in the registers and memories of a fabric without initial values.

    Raises
    ------
    ValueError
        If the fabric has no such endpoints.
    """

    name: ClassVar[str]
    module: ClassVar[str]
    kind: ClassVar[type[EndpointSpec] | None] = None
    traces = False
    summary: ClassVar[str]
    start = 1

    def __init__(self, fabric: EmittedFabric, *, simulator: str = "verilator", root: Path = BUILD_ROOT) -> None:
        self.fabric, self.machine = fabric, fabric.machine
        if self.kind is not None and not isinstance(self.machine.spec.endpoints, self.kind):
            raise ValueError(f"{self.name} bench must have a fabric with {self.kind.title}, not one without")
        top, files, rules = self.sources()
        arguments: tuple[str, ...] = ("-g2012",)
        if simulator == "verilator":
            files, arguments = {"bench.vlt": control_text(self.blocks, *rules), **files}, BUILD_ARGUMENTS
            arguments += ("--trace",) * self.traces
            if not fabric.initial:
                arguments = (*arguments, "--x-initial", "unique")
        self.build = Build(self.name, files, top, simulator=simulator, arguments=arguments, root=root)

    def asked_case(self, asked: Any) -> CaseType:
        """Return the case that ``hdnhw cosim`` asks for, of :class:`hdnhw.library.cosimulation.CosimOptions`."""
        raise NotImplementedError

    @property
    def about(self) -> dict[str, Any]:
        """What the result of that says beside the network, the test and the verdict."""
        return {}

    @classmethod
    def of(cls, fabric: EmittedFabric) -> "Bench[CaseType, VerdictType]":
        """Return the bench of a fabric with endpoints of the kind."""
        return cls(fabric)

    @property
    def modules(self) -> str:
        """The modules of cocotb that run, with commas between them."""
        return self.module

    @property
    def blocks(self) -> list[str]:
        """Names of the modules that Verilator compiles once, whatever there are of them."""
        return self.fabric.blocks

    @cached_property
    def model(self) -> FabricModel:
        """The cycle-accurate model of the machine."""
        return FabricModel(self.machine)

    @abstractmethod
    def sources(self) -> tuple[str, dict[str, str], list[str]]:
        """Return the top level, the Verilog by file name, and rules of Verilator's control file."""

    def test_name(self, case: CaseType) -> str:
        """Return the name of a case: its `test` if it has one."""
        return getattr(case, "test", self.name)

    @abstractmethod
    def write(self, case: CaseType, folder: Path) -> dict[str, Any]:
        """Write what the bench reads into a folder; return the options of :meth:`hdnhw.sim.simulator.Build.run`."""

    @abstractmethod
    def has_ended(self, folder: Path) -> bool:
        """Tell from its files whether a simulation has come to its end."""

    @abstractmethod
    def check(self, case: CaseType, folder: Path) -> VerdictType:
        """Compare what a simulation wrote with what it should have done."""

    def simulate(self, name: str, write: Callable[[Path], dict[str, Any]]) -> tuple[Path, float, float]:
        """Build if need be, and run what `write` puts into an empty folder; compare nothing.

        Returns
        -------
        folder, seconds, build_seconds
            Of the simulation alone, and of the build, 0 if there was none.

        Raises
        ------
        ToolError
            If the bench cannot be built or does not end.
        """
        build_seconds = self.build.make()
        folder = self.build.clear_run_folder(name)
        options = write(folder)
        if not self.fabric.initial:
            random = ["+verilator+rand+reset+2", f"+verilator+seed+{self.start}"]
            options["plusargs"] = [*options.get("plusargs", []), *random]
        started = time.monotonic()
        self.build.run(self.modules, folder, **options)
        if not self.has_ended(folder):
            raise ToolError(f"the bench did not end, see {folder / 'simulation.log'}")
        return folder, time.monotonic() - started, build_seconds

    def run_case(self, case: CaseType, *, keep: bool = False) -> Run[VerdictType]:
        """Run a case and judge it.

        Parameters
        ----------
        case
        keep : bool
            Whether to keep the files of a run that passed; those of one that failed are kept.

        Raises
        ------
        ToolError
            If the bench cannot be built or does not end.
        """
        name = self.test_name(case)
        folder, seconds, build_seconds = self.simulate(name, lambda folder: self.write(case, folder))
        verdict = self.check(case, folder)
        if verdict.passed and not keep:
            shutil.rmtree(folder)
        return Run(name, self.machine, verdict, seconds, build_seconds)


class TopLevelBench(Bench[CaseType, VerdictType]):
    """A fabric whose ports cocotb drives and watches itself: it is told a case in JSON, and writes a result.

    With a monitor, a run fails whose packets are not all counted as come and gone at each router.
    """

    @property
    def modules(self) -> str:
        """See :attr:`Bench.modules`."""
        return self.module + ",hdnhw.sim.monitored" * self.machine.spec.monitor

    def sources(self) -> tuple[str, dict[str, str], list[str]]:
        """See :meth:`Bench.sources`; cocotb sees all wires of the top level, which of several chips is the system."""
        chips, top, files = self.fabric.chips, self.fabric.top, self.fabric.checked
        if chips is not None:
            top, files = chips.system, {**files, chips.system_file: chips.system_text}
        return top, files, [f'public_flat_rw -module "{top}" -var "*"']

    def told(self, case: CaseType) -> Any:
        """Return what cocotb is told of a case, as JSON can hold it."""
        return case

    def write(self, case: CaseType, folder: Path) -> dict[str, Any]:
        """See :meth:`Bench.write`."""
        (folder / "case.json").write_text(json.dumps(self.told(case)))
        return {}

    def simulate(self, name: str, write: Callable[[Path], dict[str, Any]]) -> tuple[Path, float, float]:
        """See :meth:`Bench.simulate`."""
        if not self.machine.spec.monitor:
            return super().simulate(name, write)
        own, around = MonitorMap.of(self.machine), self.fabric.endpoints
        clock = "clk" if around is None else around.clock
        told = {"HDNHW_MONITOR": str(own.address(own.nodes, 0)), "HDNHW_CLOCK": clock}
        found = super().simulate(name, lambda folder: {**write(folder), "extra_env": told})
        words = list(map(int, (found[0] / "words").read_text().split()))
        if wrong := count_unbalanced(words, self.machine):
            raise ToolError(f"the monitors of {wrong} routers have lost count, see {found[0] / 'words'}")
        return found

    def has_ended(self, folder: Path) -> bool:
        """See :meth:`Bench.has_ended`."""
        return (folder / "result.json").exists()
