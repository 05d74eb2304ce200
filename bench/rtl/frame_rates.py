"""What AXI4-Stream endpoints reach: the rate and the idle latency of frames, measured on the emitted Verilog."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.fpga.tools import ToolError
from hdnhw.sim.runner import TopLevelBench


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Sources that never pause, to sinks that always take.

    Attributes
    ----------
    bytes : int
        Of every frame.
    destinations : dict of int to list of int
        Source node -> the nodes among which it chooses the destination of each frame at random.
    warmup, cycles : int
        Cycles before those that count, and those.
    """

    bytes: int
    destinations: dict[int, list[int]]
    warmup: int = 1500
    cycles: int = 4000


@dataclass(frozen=True, kw_only=True)
class Latencies:
    """Single frames from one node to another, each in an idle fabric, one for each phase of the slots."""

    bytes: int
    source: int
    destination: int


@dataclass(frozen=True)
class FrameTiming:
    """What a run measured.

    Attributes
    ----------
    frames : int
        Of :class:`Rates`: frames that came out whole in the cycles that count.
    latencies : list of int
        Of :class:`Latencies`: cycles from the one in which the first transfer was taken to the one of the last
        transfer out, for each phase.
    """

    frames: int
    latencies: list[int]


@dataclass(frozen=True)
class FrameTimings:
    """What each run measured.

    Attributes
    ----------
    asked : int
        Runs that were asked for.
    runs : list of FrameTiming
    """

    asked: int
    runs: list[FrameTiming]

    @property
    def passed(self) -> bool:
        """Whether frames came out in every run."""
        return len(self.runs) == self.asked and all(run.frames or run.latencies for run in self.runs)


class FrameRates(TopLevelBench[Sequence[Rates | Latencies], FrameTimings]):
    """An emitted fabric with AXI endpoints under Verilator, driven at full speed.

    Parameters
    ----------
    fabric : EmittedFabric
        With AXI4-Stream endpoints.
    root : Path, optional
        Folder for builds.
    """

    name, module, kind = "rates", "bench.rtl.frame_rates_bench", AxiStreamSpec

    def told(self, case: Sequence[Rates | Latencies]) -> Any:
        """See :meth:`TopLevelBench.told`."""
        layout = self.machine.address
        return {
            "addresses": [layout.of_node(node) for node in range(layout.network.num_nodes)],
            "keep_width": self.machine.endpoint_format.keep_width,
            "phases": self.machine.spec.packet_length,
            "runs": [{"kind": type(run).__name__, **vars(run)} for run in case],
        }

    def check(self, case: Sequence[Rates | Latencies], folder: Path) -> FrameTimings:
        """See :meth:`Bench.check`."""
        runs = json.loads((folder / "result.json").read_text())
        return FrameTimings(len(case), [FrameTiming(**run) for run in runs])

    def measure(self, case: Sequence[Rates | Latencies]) -> list[FrameTiming]:
        """Do some runs, each from reset; return what each measured.

        Raises
        ------
        ToolError
            If the bench cannot be built or does not end, or in a run no frame comes out.
        """
        verdict = self.run_case(case).verdict
        if not verdict.passed:
            raise ToolError(f"no frame came out, see {self.build.run_folder(self.name)}")
        return verdict.runs
