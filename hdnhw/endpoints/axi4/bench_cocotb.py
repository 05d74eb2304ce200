"""The cocotb test of a fabric with AXI4 endpoints: managers and memories of cocotbext-axi at every node.

The runner, :mod:`hdnhw.endpoints.axi4.bench`, writes what to do into the working folder, and checks what this bench
writes down.
"""

import json
import logging
import random
from itertools import chain
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.queue import Queue
from cocotb.triggers import RisingEdge, Timer
from cocotbext.axi import AxiBus, AxiMaster, AxiRam
from cocotbext.axi.axi_channels import (
    AxiARBus,
    AxiARSource,
    AxiARTransaction,
    AxiAWBus,
    AxiAWSource,
    AxiAWTransaction,
    AxiBBus,
    AxiBSink,
    AxiRBus,
    AxiRSink,
    AxiWBus,
    AxiWSource,
    AxiWTransaction,
)

from hdnhw.sim.clocks_bench import runs, start_clocks, wait_for

ID_OF_THREAD = 1
"""The plain manager's thread T has the ID T modulo this and one: two threads share an ID."""

ANSWERS = (2, 4)
"""Places of B and R among the channels of a port."""

NO_LIMIT = -1
"""Of transfers that have been taken, and wait in a client."""


async def pause(channel: Any, period: int, seed: str, hold: int) -> None:
    """Let a client pause at a channel, for `hold` cycles and then as :func:`runs` says; this wakes up less often."""
    await RisingEdge(channel.clock)
    for pauses, cycles in chain([(True, hold)] if hold else [], runs(seed)):
        channel.pause = pauses
        await Timer(cycles * period, "ns")


class PlainManager:
    """A manager that sends bursts as they are; answers come in the order of the requests."""

    def __init__(self, dut: Any, prefix: str, *ends: Any) -> None:
        self.aw = AxiAWSource(AxiAWBus.from_prefix(dut, prefix), *ends)
        self.w = AxiWSource(AxiWBus.from_prefix(dut, prefix), *ends)
        self.b = AxiBSink(AxiBBus.from_prefix(dut, prefix), *ends)
        self.ar = AxiARSource(AxiARBus.from_prefix(dut, prefix), *ends)
        self.r = AxiRSink(AxiRBus.from_prefix(dut, prefix), *ends)
        self.channels = [self.aw, self.w, self.b, self.ar, self.r]
        self._writes: list[tuple[int, Queue[Any]]] = []
        self._reads: list[tuple[int, int, Queue[Any]]] = []

    def start(self) -> None:
        """Begin to take answers."""
        cocotb.start_soon(self._take_responses())
        cocotb.start_soon(self._take_data())

    async def play(self, burst: dict[str, Any], number: int) -> dict[str, Any]:
        """Send a burst and return its answer."""
        answer: Queue[dict[str, Any]] = Queue()
        size, kind, beats = burst["size"], burst["burst"], burst["len"] + 1
        if "beats" in burst:
            self._writes.append((number, answer))
            where = {"awaddr": burst["address"], "awlen": beats - 1, "awsize": size, "awburst": kind}
            self.aw.send_nowait(AxiAWTransaction(awid=number, **where))
            for place, (data, strobes) in enumerate(burst["beats"]):
                self.w.send_nowait(AxiWTransaction(wdata=data, wstrb=strobes, wlast=place == beats - 1))
        else:
            self._reads.append((number, beats, answer))
            where = {"araddr": burst["address"], "arlen": beats - 1, "arsize": size, "arburst": kind}
            self.ar.send_nowait(AxiARTransaction(arid=number, **where))
        return await answer.get()

    async def _take_responses(self) -> None:
        while True:
            response = await self.b.recv()
            number, answer = self._writes.pop(0)
            assert int(response.bid) == number, "a response came out of order"
            answer.put_nowait({"responses": [int(response.bresp)]})

    async def _take_data(self) -> None:
        while True:
            beats = [await self.r.recv()]
            number, count, answer = self._reads.pop(0)
            while len(beats) < count:
                beats.append(await self.r.recv())
            assert all(int(beat.rid) == number for beat in beats), "data came out of order"
            assert [int(beat.rlast) for beat in beats] == [0] * (count - 1) + [1]
            responses = sorted({int(beat.rresp) for beat in beats})
            answer.put_nowait({"responses": responses, "beats": [int(beat.rdata) for beat in beats]})


class Bench:
    """The fabric and the clients at its ports."""

    def __init__(self, dut: Any, case: dict[str, Any]) -> None:
        self.dut, self.case, self.count = dut, case, 0
        for name in ("cocotb", "cocotb.axi"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self.nodes = range(case["nodes"])
        ends = [(getattr(dut, f"aclk{end}"), getattr(dut, f"aresetn{end}"), False) for end in case["ends"]]
        self.managers: list[Any] = [
            AxiMaster(AxiBus.from_prefix(dut, f"s_axi_{node}"), *ends[node]) for node in self.nodes[:-1]
        ]
        self.managers.append(PlainManager(dut, f"s_axi_{self.nodes[-1]}", *ends[-1]))
        size = 1 << case["memory_bits"]
        self.memories = [
            AxiRam(AxiBus.from_prefix(dut, f"m_axi_{node}"), *ends[node], size=size) for node in self.nodes
        ]
        self.used = len(case["threads"]) * len(case["threads"][0]) << case["region_bits"]
        for memory, seed in zip(self.memories, case["contents"], strict=True):
            memory.write(0, random.Random(seed).randbytes(self.used))
        self.answers: list[list[list[Any]]] = [[[] for _ in threads] for threads in case["threads"]]

    async def start(self) -> None:
        """Start the clocks, reset, let everybody pause."""
        dut, case = self.dut, self.case
        for name, value in case.get("inputs", {}).items():
            getattr(dut, name).value = value
        for name, period in case.get("wires", {}).items():
            Clock(getattr(dut, name), period, "ns").start()
        clocks = [(getattr(dut, f"aclk{end}"), period) for end, period in case["clocks"].items()]
        resets = [getattr(dut, f"aresetn{end}") for end in case["clocks"]]
        await start_clocks(clocks, resets, active=0, seed=f"{case['seed']} start")
        for node, client in [*enumerate(self.managers), *enumerate(self.memories)]:
            channels = getattr(client, "channels", None) or [
                getattr(client.write_if, f"{name}_channel") for name in ("aw", "w", "b")
            ] + [getattr(client.read_if, f"{name}_channel") for name in ("ar", "r")]
            for number, channel in enumerate(channels):
                period = case["clocks"][case["ends"][node]]
                name = f"{case['seed']} {type(client).__name__} {node} {number}"
                hold = case["hold"] if client in self.memories else 0
                if hold and case["to_one"] and number not in ANSWERS:
                    hold, channel.queue_occupancy_limit = 0, NO_LIMIT
                cocotb.start_soon(pause(channel, period, name, hold))
        self.managers[-1].start()

    async def play(self, node: int, thread: int) -> None:
        """Send the bursts of a thread, one after the other, and keep the answers."""
        manager = self.managers[node]
        for burst in self.case["threads"][node][thread]:
            if node == self.nodes[-1]:
                answer = await manager.play(burst, thread & ID_OF_THREAD)
            elif "data" in burst:
                answer = await manager.write(burst["address"], bytes.fromhex(burst["data"]), size=burst["size"])
                answer = {"responses": [int(answer.resp)]}
            else:
                answer = await manager.read(burst["address"], burst["length"], size=burst["size"])
                answer = {"responses": [int(answer.resp)], "data": bytes(answer.data).hex()}
            self.answers[node][thread].append(answer)
            self.count += 1

    async def finish(self) -> int:
        """Wait until all bursts are answered, or none is for long; return the cycles."""
        expected = sum(len(bursts) for threads in self.case["threads"] for bursts in threads)
        first = next(iter(self.case["clocks"]))
        return await wait_for(expected, lambda: self.count, getattr(self.dut, f"aclk{first}"))


@cocotb.test()
async def bursts(dut: Any) -> None:
    """Send all bursts, and write down the answers and what the memories hold."""
    case = json.loads(Path("case.json").read_text())
    bench = Bench(dut, case)
    await bench.start()
    for node, threads in enumerate(case["threads"]):
        for thread in range(len(threads)):
            cocotb.start_soon(bench.play(node, thread))
    cycles = await bench.finish()
    memories = [memory.read(0, bench.used).hex() for memory in bench.memories]
    Path("result.json").write_text(json.dumps({"cycles": cycles, "threads": bench.answers, "memories": memories}))
