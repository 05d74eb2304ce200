"""The cocotb test of a fabric with collective engines; :mod:`hdnhw.sim.collective` builds it and reads its logs."""

import os
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

__all__ = ["operations"]

PERIOD_NS = 10


@cocotb.test()
async def operations(dut: Any) -> None:
    """Reset, as often as is asked for, and wait until all nodes have their results, or the bench's own cycle limit."""
    dut.rst.value = 1
    Clock(dut.clk, PERIOD_NS, "ns").start(start_high=False)
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    for cycles in map(int, os.environ["HDNHW_RESETS"].split()):
        await ClockCycles(dut.clk, cycles)
        dut.rst.value = 1
        await ClockCycles(dut.clk, 1)
        dut.rst.value = 0
    await RisingEdge(dut.finished)
    await ClockCycles(dut.clk, 2)
