"""The cocotb test of a fabric with AXI endpoints: cocotbext-axi drives and takes every stream, and reads the registers.

The runner, :mod:`hdnhw.endpoints.axi_stream.bench`, writes what to send into the working folder, and checks what this
bench writes down.
"""

import json
import logging
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from hdnhw.sim.clocks_bench import QUIET, pauses, start_clocks, wait_for

PERIOD_NS = 10


class Bench:
    """The fabric and the clients at its ports."""

    def __init__(self, dut: Any, case: dict[str, Any], log: Any) -> None:
        self.dut, self.case, self.log, self.count = dut, case, log, 0
        for name in ("cocotb", "cocotb.axi"):
            logging.getLogger(name).setLevel(logging.WARNING)
        nodes = range(len(case["addresses"]))
        suffixes = [f"_{node}" if case["periods"] else "" for node in nodes]
        ends = [(getattr(dut, f"aclk{end}"), getattr(dut, f"aresetn{end}"), False) for end in suffixes]
        self.sources = [AxiStreamSource(AxiStreamBus.from_prefix(dut, f"s_axis_{n}"), *ends[n]) for n in nodes]
        self.sinks = [AxiStreamSink(AxiStreamBus.from_prefix(dut, f"m_axis_{n}"), *ends[n]) for n in nodes]
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.aclk, dut.aresetn, False)

    async def start(self) -> None:
        """Start the clocks, reset, let everybody pause."""
        await (self._start_clocks() if self.case["periods"] else self._start_clock())
        for node, (source, sink) in enumerate(zip(self.sources, self.sinks, strict=True)):
            source.set_pause_generator(pauses(f"{self.case['seed']} source {node}"))
            sink.set_pause_generator(pauses(f"{self.case['seed']} sink {node}", self.case["hold"]))
            cocotb.start_soon(self.collect(node))

    async def _start_clocks(self) -> None:
        """Start a clock for each node beside the fabric's."""
        dut, periods = self.dut, list(enumerate(self.case["periods"]))
        clocks = [(dut.aclk, self.case["period"]), *((getattr(dut, f"aclk_{n}"), period) for n, period in periods)]
        resets = [dut.aresetn, *(getattr(dut, f"aresetn_{node}") for node, _ in periods)]
        await start_clocks(clocks, resets, active=0, seed=f"{self.case['seed']} start")

    async def _start_clock(self) -> None:
        """Start the only clock."""
        for level in (1, 0):  # the clients see a reset that begins, before the first edge of the clock
            self.dut.aresetn.value = level
            await Timer(PERIOD_NS, "ns")
        Clock(self.dut.aclk, PERIOD_NS, "ns").start(start_high=False)
        await ClockCycles(self.dut.aclk, 2)
        self.dut.aresetn.value = 1

    def send(self, frames: list[dict[str, Any]]) -> None:
        """Hand all frames to their sources."""
        for frame in frames:
            data = bytes.fromhex(frame["data"])
            self.sources[frame["source"]].send_nowait(AxiStreamFrame(data, tdest=frame["dest"], tuser=frame["user"]))

    async def collect(self, node: int) -> None:
        """Write down every frame that comes out at a node."""
        while True:
            frame = await self.sinks[node].recv(compact=False)
            kept = bytes(byte for byte, keep in zip(frame.tdata, frame.tkeep, strict=True) if keep)
            values = {name: sorted(set(getattr(frame, name))) for name in ("tid", "tuser")}
            print(json.dumps({"node": node, **values, "data": kept.hex()}), file=self.log)
            self.count += 1

    async def finish(self, expected: int) -> int:
        """Wait until so many frames have come in all, or none for long; return the cycles."""
        cycles = await wait_for(expected, lambda: self.count, self.dut.aclk)
        await ClockCycles(self.dut.aclk, QUIET)
        return cycles

    async def read(self, address: int) -> tuple[int, int]:
        """Return (value, response) of a register."""
        answer = await self.registers.read(address, 4)
        return int.from_bytes(answer.data, "little"), int(answer.resp)

    async def read_all(self) -> dict[str, Any]:
        """Return the values of all registers, and the responses of addresses without one."""
        layout = self.case["registers"]
        values: dict[str, Any] = {"fabric": {}, "nodes": []}
        for name, offset in layout["fabric"].items():
            values["fabric"][name] = await self.read(offset)
        for node in range(len(self.case["addresses"])):
            base = layout["node_base"] + node * layout["node_stride"]
            values["nodes"].append({name: await self.read(base + offset) for name, offset in layout["node"].items()})
        first, stride, length = layout["node_base"], layout["node_stride"], len(self.case["addresses"])
        holes = [first - 4, first + stride - 4, first + length * stride]
        # Each bit of an address by itself: of a number of a register, and of a node that there is not.
        bits = [1 << bit for bit in range(stride.bit_length() - 1, first.bit_length() - 1)]
        holes += [*bits, *(first + bit for bit in bits if bit >= length * stride)]
        values["holes"] = [(await self.read(address))[1] for address in holes]
        return values

    async def reset(self) -> list[int]:
        """Reset by the control register; return the responses of that write and of one to a read-only register."""
        control = self.case["registers"]["fabric"]["control"]
        answers = [await self.registers.write(address, b"\1\0\0\0") for address in (control, 0)]
        while (await self.read(control))[0]:
            await RisingEdge(self.dut.aclk)
        return [int(answer.resp) for answer in answers]


@cocotb.test()
async def frames(dut: Any) -> None:
    """Send all frames, read the registers, reset, read again, and send a few more."""
    case = json.loads(Path("case.json").read_text())
    with Path("frames.log").open("w", encoding="ascii") as log:
        bench = Bench(dut, case, log)
        await bench.start()
        bench.send(case["frames"])
        result: dict[str, Any] = {"cycles": await bench.finish(case["expected"])}
        result["registers"] = await bench.read_all()
        if bench.count == case["expected"]:
            result["writes"] = await bench.reset()
            result["cleared"] = await bench.read_all()
            bench.send(case["after_reset"])
            await bench.finish(case["expected"] + case["expected_after_reset"])
    Path("result.json").write_text(json.dumps(result))
