"""The cocotb test of a fabric with a clock for each node; also what it shares with benches of endpoints.

The runner, :mod:`hdnhw.sim.clocks`, writes what to send into the working folder, and checks what this bench writes.
"""

import json
import logging
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Timer
from cocotbext.axi.stream import define_stream

RESET_CYCLES = 16
"""Of the slowest clock."""
PATIENCE = 20_000
"""Cycles in which nothing comes after which the rest is taken to be lost."""
QUIET = 500
"""Cycles after the last packet in which a stray one would come."""

FlitBus, Flit, FlitSource, FlitSink, _ = define_stream(
    "Flit", signals=["payload", "valid", "ready"], valid_signal="valid", ready_signal="ready"
)


def runs(seed: str) -> Iterator[tuple[bool, int]]:
    """Yield whether to pause, and for how many cycles; lengths and the share of pauses differ from seed to seed."""
    rng = random.Random(seed)
    share, longest = rng.choice([0.0, 0.1, 0.3, 0.5, 0.8]), rng.choice([1, 3, 20])
    while True:
        yield rng.random() < share, rng.randint(1, longest)


def pauses(seed: str, hold: int = 0) -> Iterator[bool]:
    """Yield for each cycle whether to pause; in the first ones, of which there are `hold`, always."""
    yield from [True] * hold
    for pause, cycles in runs(seed):
        yield from [pause] * cycles


async def wait_for(expected: int, count: Callable[[], int], clock: Any) -> int:
    """Wait until so many have come, as `count` says, or none for long; return the cycles, in steps of 100."""
    cycles, quiet, before = 0, 0, count()
    while count() < expected and quiet < PATIENCE:
        await ClockCycles(clock, 100)
        cycles += 100
        quiet = quiet + 100 if count() == before else 0
        before = count()
    return cycles


async def start_clocks(clocks: list[tuple[Any, int]], resets: list[Any], *, active: int, seed: str) -> None:
    """Start clocks, (signal, period in ns) each, at random times, and end their resets in random order.

    All resets begin before the first edge of a clock, and the first one ends when the slowest clock has run for 16
    cycles.
    """
    rng, slowest = random.Random(seed), max(period for _, period in clocks)
    for level in (1 - active, active):  # the clients see a reset that begins
        for reset in resets:
            reset.value = level
        await Timer(slowest, "ns")
    for clock, period in clocks:
        await Timer(rng.randint(1, period), "ns")
        Clock(clock, period, "ns").start(start_high=False)
    await Timer(RESET_CYCLES * slowest, "ns")
    for reset in rng.sample(resets, len(resets)):
        reset.value = 1 - active
        await Timer(rng.randint(1, 20 * slowest // len(resets)), "ns")


class Bench:
    """The fabric and the clients at its terminals."""

    def __init__(self, dut: Any, case: dict[str, Any], log: Any) -> None:
        self.dut, self.case, self.log, self.count = dut, case, log, 0
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        self.nodes = range(len(case["periods"]))
        ends = [(getattr(dut, f"clk_{node}"), getattr(dut, f"rst_{node}")) for node in self.nodes]
        self.sources = [FlitSource(FlitBus.from_prefix(dut, f"inject_{node}"), *ends[node]) for node in self.nodes]
        self.sinks = [FlitSink(FlitBus.from_prefix(dut, f"eject_{node}"), *ends[node]) for node in self.nodes]

    async def start(self, period: int) -> None:
        """Start the clocks, reset, let everybody pause."""
        dut, seed = self.dut, self.case["seed"]
        clocks = [(getattr(dut, f"clk_{node}"), self.case["periods"][node]) for node in self.nodes]
        resets = [dut.rst, *(getattr(dut, f"rst_{node}") for node in self.nodes)]
        await start_clocks([(dut.clk, period), *clocks], resets, active=1, seed=f"{seed} start")
        for node in self.nodes:
            self.sources[node].set_pause_generator(pauses(f"{seed} source {node}"))
            self.sinks[node].set_pause_generator(pauses(f"{seed} sink {node}"))
            cocotb.start_soon(self.collect(node))

    def send(self, packets: list[dict[str, Any]]) -> None:
        """Hand all packets to their sources."""
        for packet in packets:
            for flit in packet["flits"]:
                self.sources[packet["source"]].send_nowait(Flit(payload=flit))

    async def collect(self, node: int) -> None:
        """Write down every packet that comes out at a node."""
        width = len(getattr(self.dut, f"eject_{node}_payload")) - 1
        flits: list[int] = []
        while True:
            word = int((await self.sinks[node].recv()).payload)
            flits.append(word & (1 << width) - 1)
            if word >> width:
                print(json.dumps({"node": node, "flits": flits}), file=self.log)
                flits = []
                self.count += 1

    async def finish(self, expected: int) -> int:
        """Wait until so many packets have come in all, or none for long; return the cycles."""
        cycles = await wait_for(expected, lambda: self.count, self.dut.clk)
        await ClockCycles(self.dut.clk, QUIET)
        return cycles


@cocotb.test()
async def packets(dut: Any) -> None:
    """Send all packets, and read the counters."""
    case = json.loads(Path("case.json").read_text())
    with Path("packets.log").open("w", encoding="ascii") as log:
        bench = Bench(dut, case, log)
        await bench.start(case["period"])
        bench.send(case["packets"])
        cycles = await bench.finish(case["expected"])
    dropped = [int(getattr(dut, f"dropped_{node}").value) for node in bench.nodes]
    Path("result.json").write_text(json.dumps({"cycles": cycles, "dropped": dropped}))
