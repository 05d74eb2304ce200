"""The cocotb test of a fabric with collective engines; ``bench`` builds it and reads its logs."""

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from hdnhw.sim.streams_bench import begin


@cocotb.test()
async def operations(dut: Any) -> None:
    """Reset, as often as is asked for, and wait until all nodes have their results, or the bench's own cycle limit."""
    await begin(dut)
    await RisingEdge(dut.finished)
    await ClockCycles(dut.clk, 2)
