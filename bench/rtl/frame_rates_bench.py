"""The cocotb test that measures frames; :mod:`bench.rtl.frame_rates` writes its case and reads what it writes down."""

import json
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer

PERIOD_NS = 10
RESET_CYCLES = 2
PATIENCE = 20_000
"""Cycles in which a single frame must have come out."""


class Source:
    """A node whose user offers frames of one length, without a pause, and what its stream is to say."""

    def __init__(self, dut: Any, node: int, case: dict[str, Any], length: int) -> None:
        names = ("tvalid", "tready", "tdata", "tkeep", "tlast", "tdest", "tuser")
        self.valid, self.ready, self.data, self.keep, self.last, self.dest, self.user = (
            getattr(dut, f"s_axis_{node}_{name}") for name in names
        )
        width = case["keep_width"]
        self.beats = -(-length // width)
        self.full, self.rest = (1 << width) - 1, (1 << length - width * (self.beats - 1)) - 1
        self.beat = 0

    def offer(self, address: int) -> None:
        """Offer the first transfer of a frame."""
        self.beat, self.valid.value, self.dest.value = 0, 1, address
        self._mark()

    def advance(self) -> bool:
        """Offer the transfer behind the one that was taken; return whether that one was the last of its frame."""
        self.beat += 1
        if self.beat == self.beats:
            return True
        self._mark()
        return False

    def _mark(self) -> None:
        if self.beat in (0, self.beats - 1):
            is_last = self.beat == self.beats - 1
            self.last.value, self.keep.value = int(is_last), self.rest if is_last else self.full


class Bench:
    """The fabric, and the cycle that it is in."""

    def __init__(self, dut: Any, case: dict[str, Any]) -> None:
        self.dut, self.case, self.nodes = dut, case, range(len(case["addresses"]))
        self.sinks = [
            (getattr(dut, f"m_axis_{node}_tvalid"), getattr(dut, f"m_axis_{node}_tlast")) for node in self.nodes
        ]

    async def start(self) -> None:
        """Reset, and wait until the endpoints have left it."""
        dut = self.dut
        for node in self.nodes:
            for name in ("tvalid", "tdata", "tkeep", "tlast", "tdest", "tuser"):
                getattr(dut, f"s_axis_{node}_{name}").value = 0
            getattr(dut, f"m_axis_{node}_tready").value = 1
        dut.aresetn.value = 0
        await ClockCycles(dut.aclk, RESET_CYCLES)
        dut.aresetn.value = 1
        while not int(dut.s_axis_0_tready.value):
            await RisingEdge(dut.aclk)

    async def rates(self, run: dict[str, Any]) -> dict[str, Any]:
        """Count the frames that come out."""
        await self.start()
        rng = random.Random(str(run["destinations"]))
        choices = {int(node): [self.case["addresses"][n] for n in to] for node, to in run["destinations"].items()}
        sources = {node: Source(self.dut, node, self.case, run["bytes"]) for node in choices}
        for node, source in sources.items():
            source.offer(rng.choice(choices[node]))
        frames = 0
        for cycle in range(run["warmup"] + run["cycles"]):
            await RisingEdge(self.dut.aclk)
            for node, source in sources.items():
                if int(source.ready.value) and source.advance():
                    source.offer(rng.choice(choices[node]))
            if cycle >= run["warmup"]:
                frames += sum(int(valid.value) and int(last.value) for valid, last in self.sinks)
        return {"frames": frames, "latencies": []}

    async def latencies(self, run: dict[str, Any]) -> dict[str, Any]:
        """Send one frame for each phase."""
        await self.start()
        source = Source(self.dut, run["source"], self.case, run["bytes"])
        seen = []
        for _ in range(self.case["phases"]):
            seen.append(await self._latency(source, run["destination"]))
            quiet = 8 * self.case["phases"] + 1 + -seen[-1] % self.case["phases"]
            await ClockCycles(self.dut.aclk, quiet)
        return {"frames": 0, "latencies": seen}

    async def _latency(self, source: Source, destination: int) -> int:
        valid, last = self.sinks[destination]
        source.offer(self.case["addresses"][destination])
        sending, began = True, None
        for cycle in range(PATIENCE):
            await RisingEdge(self.dut.aclk)
            if int(valid.value) and int(last.value):
                assert began is not None
                return cycle - began
            if sending and int(source.ready.value):
                began = cycle if began is None else began
                if source.advance():
                    sending, source.valid.value = False, 0
        raise AssertionError("a frame has not come out")


@cocotb.test()
async def measure(dut: Any) -> None:
    """Do all runs, each from reset."""
    case = json.loads(Path("case.json").read_text())
    bench = Bench(dut, case)
    for level in (1, 0):
        dut.aresetn.value = level
        await Timer(PERIOD_NS, "ns")
    Clock(dut.aclk, PERIOD_NS, "ns").start(start_high=False)
    result = [await getattr(bench, run["kind"].lower())(run) for run in case["runs"]]
    Path("result.json").write_text(json.dumps(result))
