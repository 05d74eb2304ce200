"""The cocotb test; :mod:`hdnhw.sim.streams` builds the bench and writes the case into the working folder."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from hdnhw.machine.monitor import WORD_BYTES

PERIOD_NS = 10


def reader(dut: Any, clk: Any) -> Callable[[int], Awaitable[int]]:
    """Return what reads a word of the monitor by its address, -1 where there is none."""
    dut.monitor_arvalid.value = 0
    dut.monitor_rready.value = 1

    async def read(address: int) -> int:
        await FallingEdge(clk)
        dut.monitor_araddr.value = address
        dut.monitor_arvalid.value = 1
        await FallingEdge(clk)
        while not int(dut.monitor_arready.value):
            await FallingEdge(clk)
        await RisingEdge(clk)
        dut.monitor_arvalid.value = 0
        await FallingEdge(clk)
        while not int(dut.monitor_rvalid.value):
            await FallingEdge(clk)
        return -1 if int(dut.monitor_rresp.value) else int(dut.monitor_rdata.value)

    return read


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
    if addresses := os.environ.get("HDNHW_MONITOR"):
        await write_words(dut, dut.clk, int(addresses))
    Path("dropped").write_text(str(int(dut.dropped_total.value)))


async def write_words(dut: Any, clk: Any, end: int) -> None:
    """Write what a monitor says at each address up to the end, once all is counted."""
    read = reader(dut, clk)
    await ClockCycles(clk, end)
    words = [await read(address) for address in range(0, end, WORD_BYTES)]
    Path("words").write_text(" ".join(map(str, words)))


@cocotb.test()
async def traffic(dut: Any) -> None:
    """Send the case's packets, from the start after each reset; the runner compares the logs."""
    await begin(dut)
    await _finish(dut)
