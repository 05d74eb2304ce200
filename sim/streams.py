"""Packets at the bare streams of an emitted fabric, against the model."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from hdnhw.machine.monitor import MonitorMap
from hdnhw.sim.compare import (
    StreamVerdict,
    check_ejections,
    count_early_mismatches,
    count_hop_mismatches,
    count_word_mismatches,
)
from hdnhw.sim.harness import Channels, harness_text, splice_flips
from hdnhw.sim.runner import Bench, Run, Verdict, reset_environment
from hdnhw.sim.simulator import BUILD_ROOT
from hdnhw.sim.stimulus import Case, make_case, write_case
from hdnhw.topology.faults import Faults
from hdnhw.verilog.fabric import EmittedFabric

CaseType = TypeVar("CaseType")
VerdictType = TypeVar("VerdictType", bound=Verdict)


class HarnessBench(Bench[CaseType, VerdictType]):
    """A fabric in the bench of :mod:`hdnhw.sim.harness`: of bare streams, or with relays, which have the same.

    Parameters
    ----------
    fabric, simulator, root
        See :class:`Bench`.
    flips : bool
        Whether errors can be injected, see :mod:`hdnhw.sim.errors`: wires between routers pass an XOR, not emitted.
    flat : bool
        Whether Verilator compiles each router for itself: twice the work to build 32 of them, half of it in a cycle.
    dump : bool
        Whether a run writes ``dump.vcd``, with the wires between the routers.

    Attributes
    ----------
    channels : list of (int, int, str)
        Node, port index and port name of every channel.
    """

    name, module = "streams", "hdnhw.sim.streams_bench"
    channels: Channels

    def __init__(
        self,
        fabric: EmittedFabric,
        *,
        flips: bool = False,
        flat: bool = False,
        dump: bool = False,
        simulator: str = "verilator",
        root: Path = BUILD_ROOT,
    ) -> None:
        self._flips, self._flat, self.traces = flips, flat, dump
        super().__init__(fabric, simulator=simulator, root=root)

    @property
    def blocks(self) -> list[str]:
        """See :attr:`Bench.blocks`."""
        return [] if self._flat else super().blocks

    def sources(self) -> tuple[str, dict[str, str], list[str]]:
        """See :meth:`Bench.sources`."""
        ports, plan = self.machine.network.ports, self.machine.plan
        self.channels = [
            (node, port, ports[port].name)
            for node in range(self.machine.network.num_nodes)
            for port in plan.shape_of(node).ports
        ]
        text = harness_text(self.fabric, self.channels, flips=self._flips, dump=self.traces)
        files = {**self.fabric.checked, "bench.sv": text}
        if self._flips:
            name = f"{self.fabric.modules.top}.sv"
            files[name] = splice_flips(files[name], self.machine, self.channels)
        return "bench", files, []

    def has_ended(self, folder: Path) -> bool:
        """See :meth:`Bench.has_ended`."""
        return (folder / "dropped").exists()

    def dropped(self, folder: Path) -> int:
        """Return how many packets the fabric says it has dropped."""
        return int((folder / "dropped").read_text())

    def options(self, plusargs: dict[str, Any], resets: Sequence[int] = ()) -> dict[str, Any]:
        """Return the options of :meth:`hdnhw.sim.simulator.Build.run`."""
        cycles = 4 if self.machine.spec.dead_pins else 1  # what is dead from the start gets through in the reset
        return {
            "plusargs": [f"+{name}={value}" for name, value in plusargs.items()],
            "extra_env": reset_environment(resets, cycles=cycles),
        }


class StreamBench(HarnessBench[Case, StreamVerdict]):
    """A fabric of bare streams, see :class:`HarnessBench`."""

    def run(
        self,
        test: str,
        *,
        packets: int = 0,
        seed: int = 1,
        faults: Faults | None = None,
        resets: Sequence[int] = (),
        keep: bool = False,
    ) -> Run[StreamVerdict]:
        """Run one case and compare it with the model.

        Parameters
        ----------
        test : str
            ``hops``, ``random``, ``exchange``, ``faults`` or ``held``.
        packets, seed : int
            See :func:`hdnhw.sim.stimulus.make_case`.
        faults : Faults, optional
            What is dead; the fabric must have the pins.
        resets : sequence of int
            Cycles after each of which the fabric is reset for one, and the case runs from the start.
        keep : bool
            See :meth:`Bench.run_case`.
        """
        model = self.model if faults is None else self.model.with_faults(faults)
        return self.run_case(make_case(test, model, packets=packets, seed=seed, resets=resets), keep=keep)

    def write(self, case: Case, folder: Path) -> dict[str, Any]:
        """See :meth:`Bench.write`."""
        options = self.options(write_case(case, folder, self.machine), case.resets)
        if self.machine.spec.monitor:
            own = MonitorMap.of(self.machine)
            options["extra_env"]["HDNHW_MONITOR"] = str(own.address(own.nodes, 0))
        return options

    def check(self, case: Case, folder: Path) -> StreamVerdict:
        """See :meth:`Bench.check`."""
        hop_mismatches = count_hop_mismatches(folder, self.machine) if case.test == "hops" else 0
        verdict = check_ejections(folder, self.machine.flits, self.dropped(folder), hop_mismatches)
        wrong = count_early_mismatches(folder, self.machine.flits, case.resets)
        counts = case.expected.counts
        words = 0 if counts is None else count_word_mismatches(folder, self.machine, counts, case.expected.dropped)
        return replace(verdict, cycle_mismatches=verdict.cycle_mismatches + wrong, word_mismatches=words)
