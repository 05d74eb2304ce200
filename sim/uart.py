"""The cocotb test that listens to a serial line; :mod:`hdnhw.sim.listener` says by environment what and how long."""

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, SimTimeoutError, Timer, with_timeout

PERIOD_NS = 10
RESET_CYCLES = 4


async def _receive_byte(line: Any, bit_ns: int) -> int:
    """Wait for a start bit and return the byte after it, each bit taken in its middle."""
    await FallingEdge(line)
    await Timer(bit_ns // 2, "ns")
    assert int(line.value) == 0, "the start bit was a glitch"
    byte = 0
    for position in range(8):
        await Timer(bit_ns, "ns")
        byte |= int(line.value) << position
    await Timer(bit_ns, "ns")
    assert int(line.value) == 1, "the stop bit must be high"
    return byte


async def _receive_runs(line: Any, bit_ns: int, path: Path) -> None:
    """Write what the line says to a file, character by character, up to the verdict of the last run."""
    endings = [f"\n{ending}\r\n".encode("ascii") for ending in os.environ["HDNHW_ENDINGS"].split()]
    text, left = b"", int(os.environ["HDNHW_RUNS"])
    with path.open("wb", buffering=0) as file:
        while left:
            byte = bytes([await _receive_byte(line, bit_ns)])
            file.write(byte)
            text += byte
            left -= any(text.endswith(ending) for ending in endings)


@cocotb.test()
async def listen(dut: Any) -> None:
    """Reset, then decode the line until as many runs as asked have ended, or time is up."""
    bit_ns = int(os.environ["HDNHW_DIVISOR"]) * PERIOD_NS
    limit = int(os.environ["HDNHW_CYCLE_LIMIT"])
    dut.rst.value = 1
    Clock(dut.clk, PERIOD_NS, "ns").start()
    await ClockCycles(dut.clk, RESET_CYCLES)
    dut.rst.value = 0
    path = Path("text")
    try:
        await with_timeout(_receive_runs(dut.tx, bit_ns, path), limit * PERIOD_NS, "ns")
    except SimTimeoutError:
        raise AssertionError(f"no verdict in {limit} cycles after {path.read_bytes()!r}") from None
