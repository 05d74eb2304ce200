"""The cocotb test that listens to serial lines; :mod:`hdnhw.sim.listener` says by environment what and how long."""

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Combine, FallingEdge, SimTimeoutError, Timer, with_timeout

PERIOD_NS, DIFFERENCE_NS = 10_000, 2
"""Of the clock of the first line, and how much longer that of the next one is."""

RESET_CYCLES, LATER_CYCLES = 4, 3001
"""Of the reset of the first line, and how much longer that of the next one is."""


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


async def _receive_runs(dut: Any, line: str, number: int, path: Path) -> None:
    """Reset one line, and write what it says to a file, character by character, up to the verdict of the last run."""
    clk, rst, tx = (getattr(dut, f"{pin}{line}") for pin in ("clk", "rst", "tx"))
    period = PERIOD_NS + number * DIFFERENCE_NS
    bit_ns = int(os.environ["HDNHW_DIVISOR"]) * period
    rst.value = 1
    Clock(clk, period, "ns").start()
    await ClockCycles(clk, RESET_CYCLES + number * LATER_CYCLES)
    rst.value = 0
    endings = [f"\n{ending}\r\n".encode("ascii") for ending in os.environ["HDNHW_ENDINGS"].split()]
    text, left = b"", int(os.environ["HDNHW_RUNS"])
    with path.open("wb", buffering=0) as file:
        while left:
            byte = bytes([await _receive_byte(tx, bit_ns)])
            file.write(byte)
            text += byte
            left -= any(text.endswith(ending) for ending in endings)


@cocotb.test()
async def listen(dut: Any) -> None:
    """Decode all lines until as many runs of each as asked have ended, or time is up."""
    limit, lines = int(os.environ["HDNHW_CYCLE_LIMIT"]), os.environ["HDNHW_LINES"].split(",")
    paths = [Path(f"text{line}") for line in lines]
    hearing = [cocotb.start_soon(_receive_runs(dut, line, number, paths[number])) for number, line in enumerate(lines)]
    try:
        await with_timeout(Combine(*hearing), limit * PERIOD_NS, "ns")
    except SimTimeoutError:
        said = [path.read_bytes() for path in paths]
        raise AssertionError(f"no verdict in {limit} cycles after {said!r}") from None
