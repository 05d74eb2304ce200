"""The cocotb test; :mod:`hdnhw.sim.streams` builds the bench and writes the case into the working folder."""

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

PERIOD_NS = 10


async def begin(dut: Any) -> None:
    """Start the clock and reset, as :func:`hdnhw.sim.runner.reset_environment` says, and reset again now and then."""
    dut.rst.value = 1
    Clock(dut.clk, PERIOD_NS, "ns").start(start_high=False)
    await ClockCycles(dut.clk, int(os.environ["HDNHW_RESET_CYCLES"]))
    dut.rst.value = 0
    for cycles in map(int, os.environ["HDNHW_RESETS"].split()):
        await ClockCycles(dut.clk, cycles)
        assert int(dut.finished.value) == 0, "the traffic ended before the reset"
        dut.rst.value = 1
        await ClockCycles(dut.clk, 1)
        dut.rst.value = 0


async def _finish(dut: Any) -> None:
    """Wait until all packets have come out, or the bench's own cycle limit."""
    await RisingEdge(dut.finished)
    await ClockCycles(dut.clk, 2)
    Path("dropped").write_text(str(int(dut.dropped_total.value)))


@cocotb.test()
async def traffic(dut: Any) -> None:
    """Send the case's packets, from the start after each reset; the runner compares the logs."""
    await begin(dut)
    await _finish(dut)
