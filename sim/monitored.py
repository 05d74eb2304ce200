"""The words of a monitor at the end of a run, whatever stands at the terminals: a test of cocotb behind another."""

import os
from typing import Any

import cocotb
from cocotb.clock import Clock

from hdnhw.sim.streams_bench import PERIOD_NS, write_words


@cocotb.test()
async def monitored(dut: Any) -> None:
    """Write the words of a fabric that rests: its clock goes on, and nothing else does."""
    clk = getattr(dut, os.environ["HDNHW_CLOCK"])
    Clock(clk, PERIOD_NS, unit="ns").start()
    await write_words(dut, clk, int(os.environ["HDNHW_MONITOR"]))
