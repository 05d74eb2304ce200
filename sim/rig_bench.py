"""The cocotb test of a router among neighbors; :mod:`hdnhw.sim.rig` builds it and reads its log."""

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

PERIOD_NS = 10


@cocotb.test()
async def neighbors(dut: Any) -> None:
    """Let the bench run to its end; it resets the router itself."""
    Clock(dut.clk, PERIOD_NS, "ns").start(start_high=False)
    await RisingEdge(dut.finished)
