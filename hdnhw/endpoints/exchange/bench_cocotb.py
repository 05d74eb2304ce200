"""The cocotb test of a fabric with generators: it starts a total exchange twice, and reads what the hardware counts.

The runner, :mod:`hdnhw.endpoints.exchange.bench`, compares what the bench in Verilog writes down.
"""

import json
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, First, RisingEdge

PERIOD_NS = 10


async def _start(dut: Any) -> None:
    dut.start.value = 1
    await ClockCycles(dut.clk, 1)
    dut.start.value = 0


@cocotb.test()
async def exchanges(dut: Any) -> None:
    """Reset, and begin runs that are reset; then start and wait, once for each of the case's waits."""
    case = json.loads(Path("case.json").read_text())
    dut.rst.value, dut.start.value = 1, 0
    Clock(dut.clk, PERIOD_NS, "ns").start(start_high=False)
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    for cycles in case["resets"]:
        await _start(dut)
        await ClockCycles(dut.clk, cycles)
        dut.rst.value = 1
        await ClockCycles(dut.clk, 1)
        dut.rst.value = 0
    result = []
    for wait in case["waits"]:
        await ClockCycles(dut.clk, wait)
        await _start(dut)
        await First(RisingEdge(dut.done), ClockCycles(dut.clk, case["limit"]))
        await ClockCycles(dut.clk, 2)
        result.append({name: int(getattr(dut, name).value) for name in ("done", "cycles", "received", "wrong")})
    Path("result.json").write_text(json.dumps(result))
