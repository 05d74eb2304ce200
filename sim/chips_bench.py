"""Cocotb on a network on several chips: clocks, resets, cables that are cut, and the counts in the end."""

import json
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Timer

STEP = 2000
"""Cycles of the first chip after which counts are looked at."""

QUIET = 100
"""Steps without a packet after which nothing more is waited for."""


def counts(value: Any, width: int) -> list[int]:
    """Return the numbers that a vector is joined of."""
    bits, number = len(value), int(value.value)
    return [number >> place & (1 << width) - 1 for place in range(0, bits, width)]


async def begin(dut: Any, case: dict[str, Any]) -> None:
    """Start all clocks, and reset each chip for some cycles of its own."""
    for name in ("errors", "packets", "exchange", "gap"):
        getattr(dut, name).value = int(case[name])
    dut.cut.value = 0
    for chip, period in enumerate(case["periods"]):
        getattr(dut, f"rst_{chip}").value = 1
        Clock(getattr(dut, f"clk_{chip}"), period, "ns").start()

    for chip, period in enumerate(case["wires"]):
        Clock(getattr(dut, f"wire_clk_{chip}"), period, "ns").start()

    async def release(chip: int, cycles: int) -> None:
        await ClockCycles(getattr(dut, f"clk_{chip}"), cycles)
        getattr(dut, f"rst_{chip}").value = 0

    for chip, cycles in enumerate(case["resets"]):
        cocotb.start_soon(release(chip, cycles))


async def cut(dut: Any, case: dict[str, Any]) -> None:
    """Cut one cable after the other, and join it again."""
    for before, cable, cycles in case["cuts"]:
        await ClockCycles(dut.clk_0, before)
        dut.cut.value = 1 << cable
        await ClockCycles(dut.clk_0, cycles)
        dut.cut.value = 0


@cocotb.test()
async def packets(dut: Any) -> None:
    """Let all nodes send, wait until nothing more comes, and read the counts."""
    case = json.loads(Path("case.json").read_text())
    await begin(dut, case)
    cutting = cocotb.start_soon(cut(dut, case))
    due, came, quiet, steps = case["packets"] * (len(dut.sent) // 32), 0, 0, 0
    while quiet < QUIET and (came < due or not cutting.done()):
        await Timer(case["periods"][0] * STEP, "ns")
        steps += 1
        now = sum(counts(dut.came, 32))
        quiet, came = 0 if now != came else quiet + 1, now
    await Timer(case["periods"][0] * STEP, "ns")
    result: dict[str, Any] = {name: counts(getattr(dut, name), width) for name, width in case["counts"].items()}
    Path("result.json").write_text(json.dumps({**result, "cycles": steps * STEP}))
