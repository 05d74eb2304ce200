"""The cocotb test behind :mod:`bench.rtl.waves`: drive the terminals by cycles and write down every wire of the top."""

import json
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

PERIOD_NS = 10


class Source:
    """Packets of one node, offered flit by flit, each packet from a cycle on."""

    def __init__(self, dut: Any, node: int, packets: list[dict[str, Any]]) -> None:
        self.valid, self.ready, self.payload = (
            getattr(dut, f"inject_{node}_{member}") for member in ("valid", "ready", "payload")
        )
        self.flits = [(packet["cycle"], flit) for packet in packets for flit in packet["flits"]]

    def offer(self, cycle: int) -> None:
        """Set what is offered in this cycle."""
        offered = bool(self.flits) and self.flits[0][0] <= cycle
        self.valid.value = int(offered)
        if offered:
            self.payload.value = self.flits[0][1]

    def settle(self) -> None:
        """Forget the flit that is being taken."""
        if int(self.valid.value) and int(self.ready.value):
            self.flits.pop(0)


@cocotb.test()
async def record(dut: Any) -> None:
    """Play a scene; the first cycle without reset is cycle 0."""
    scene = json.loads(Path("scene.json").read_text())
    nodes = range(scene["nodes"])
    sources = [Source(dut, node, [packet for packet in scene["packets"] if packet["source"] == node]) for node in nodes]
    sinks = [getattr(dut, f"eject_{node}_ready") for node in nodes]
    wires = {name: getattr(dut, name) for name in scene["wires"]}
    traces: dict[str, list[int]] = {name: [] for name in wires}
    dut.rst.value = 1
    for source in sources:
        source.valid.value = source.payload.value = 0
    Clock(dut.clk, PERIOD_NS, "ns").start()
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0
    for cycle in range(scene["cycles"]):
        for source in sources:
            source.offer(cycle)
        for sink in sinks:
            sink.value = int(not scene["stall"][0] <= cycle < scene["stall"][1])
        await FallingEdge(dut.clk)
        for name, wire in wires.items():
            traces[name].append(int(wire.value))
        for source in sources:
            source.settle()
        await RisingEdge(dut.clk)
    Path("traces.json").write_text(json.dumps(traces))
