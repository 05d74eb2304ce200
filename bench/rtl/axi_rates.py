"""What AXI4 endpoints reach: idle latency and rate of reads and writes, measured on the emitted Verilog."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.fpga.tools import ToolError
from hdnhw.sim.runner import TopLevelBench


@dataclass(frozen=True, kw_only=True)
class Load:
    """Managers that ask for bursts without a pause, up to 32 of them unanswered, and always take answers.

    Attributes
    ----------
    beats : int
        Of every burst.
    managers, memories : list of int
        Their nodes. Every burst goes to one of the memories at random, never to that of the manager's own node.
    reads, writes : bool
    warmup, cycles : int
        Cycles before those that count, and those.
    """

    beats: int
    managers: list[int]
    memories: list[int]
    reads: bool = False
    writes: bool = False
    warmup: int = 1000
    cycles: int = 3200


@dataclass(frozen=True, kw_only=True)
class Lone:
    """Single bursts of one manager, each in an idle fabric, one for each phase of the slots."""

    beats: int
    source: int
    destination: int
    write: bool


@dataclass(frozen=True)
class BurstTiming:
    """What a run measured.

    Attributes
    ----------
    beats : int
        Of :class:`Load`: beats that managers got and gave in the cycles that count.
    latencies : list of int
        Of :class:`Lone`: cycles from the first one with the address to that of the last answer, for each phase.
    wrong : int
        Beats that did not have the data, the strobes, the response, the ID or the mark of the last that are due.
    """

    beats: int
    latencies: list[int]
    wrong: int


@dataclass(frozen=True)
class BurstTimings:
    """What each run measured.

    Attributes
    ----------
    asked : int
        Runs that were asked for.
    runs : list of BurstTiming
    """

    asked: int
    runs: list[BurstTiming]

    @property
    def passed(self) -> bool:
        """Whether bursts were answered in every run, and all rightly."""
        return len(self.runs) == self.asked and all((run.beats or run.latencies) and not run.wrong for run in self.runs)

    def of(self, folder: Path) -> list[BurstTiming]:
        """Return the runs, if they passed.

        Raises
        ------
        ToolError
            If an answer is missing or wrong; it names the folder.
        """
        if not self.passed:
            raise ToolError(f"answers are missing or wrong, see {folder}")
        return self.runs


def told(
    addresses: list[int], *, memory_bits: int, width: int, phases: int, case: Sequence[Load | Lone]
) -> dict[str, Any]:
    """Return what the bench is told: where memories begin, their address bits, bytes of a beat, single bursts, runs."""
    runs = [{"kind": type(run).__name__, **vars(run)} for run in case]
    return {"addresses": addresses, "memory_bits": memory_bits, "bytes": width, "phases": phases, "runs": runs}


def read_timings(case: Sequence[Load | Lone], folder: Path) -> BurstTimings:
    """Read what the bench wrote of runs."""
    runs = json.loads((folder / "result.json").read_text())
    return BurstTimings(len(case), [BurstTiming(**run) for run in runs])


class AxiRates(TopLevelBench[Sequence[Load | Lone], BurstTimings]):
    """An emitted fabric with AXI4 endpoints under Verilator, with memories that answer in the next cycle.

    Parameters
    ----------
    fabric : EmittedFabric
        With AXI4 endpoints.
    root : Path, optional
        Folder for builds.
    """

    reaches_own = True
    name, module, kind = "axi_rates", "bench.rtl.axi_rates_bench", AxiMemorySpec

    def told(self, case: Sequence[Load | Lone]) -> Any:
        """See :meth:`TopLevelBench.told`."""
        layout, endpoint_format = self.machine.address, self.machine.endpoint_format
        return told(
            [layout.of_node(node) for node in range(layout.network.num_nodes)],
            memory_bits=endpoint_format.endpoints.memory_bits,
            width=endpoint_format.bytes,
            phases=self.machine.spec.packet_length,
            case=case,
        )

    def check(self, case: Sequence[Load | Lone], folder: Path) -> BurstTimings:
        """See :meth:`Bench.check`."""
        return read_timings(case, folder)

    def measure(self, case: Sequence[Load | Lone]) -> list[BurstTiming]:
        """Do some runs, each from reset; return what each measured.

        Raises
        ------
        ToolError
            If the bench cannot be built or does not end, or in a run an answer is missing or wrong.
        """
        return self.run_case(case).verdict.of(self.build.run_folder(self.name))
