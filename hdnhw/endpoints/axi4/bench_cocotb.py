"""The cocotb test of AXI4 endpoints: managers and memories of cocotbext-axi at every node, or those of a system.

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
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiLiteSlave, AxiMaster, AxiSlave, SparseMemoryRegion
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
from cocotbext.axi.sparse_memory import SparseMemory

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
        self.managers: list[Any] = [self._client(one) for one in case["managers"]]
        self.contents = [SparseMemory(one["size"]) for one in case["memories"]]
        for memory, one in zip(self.contents, case["memories"], strict=True):
            for start, size, seed in one["contents"]:
                memory.write(start, random.Random(seed).randbytes(size))
        self.memories: list[Any] = [
            self._client(one, target=SparseMemoryRegion(one["size"], memory))
            for one, memory in zip(case["memories"], self.contents, strict=True)
        ]
        self.answers: list[list[list[Any]]] = [[[] for _ in threads] for threads in case["threads"]]

    def _client(self, about: dict[str, Any], **target: Any) -> Any:
        """Return what stands at a port."""
        dut, end = self.dut, about["end"]
        ends = (getattr(dut, f"aclk{end}"), getattr(dut, f"aresetn{end}"), False)
        if about["client"] == "plain":
            return PlainManager(dut, about["port"], *ends)
        if about["client"] == "lite":
            lite = AxiLiteBus.from_prefix(dut, about["port"])
            return (AxiLiteSlave if target else AxiLiteMaster)(lite, *ends[:2], **target, reset_active_level=ends[2])
        bus = AxiBus.from_prefix(dut, about["port"])
        return (AxiSlave if target else AxiMaster)(bus, *ends[:2], **target, reset_active_level=ends[2])

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
        for about, client in zip([*case["managers"], *case["memories"]], [*self.managers, *self.memories], strict=True):
            channels = getattr(client, "channels", None) or [
                getattr(client.write_if, f"{name}_channel") for name in ("aw", "w", "b")
            ] + [getattr(client.read_if, f"{name}_channel") for name in ("ar", "r")]
            for number, channel in enumerate(channels):
                period = case["clocks"][about["end"]]
                name = f"{case['seed']} {about['port']} {number}"
                hold = case["hold"] if client in self.memories else 0
                if hold and case["to_one"] and number not in ANSWERS:
                    hold, channel.queue_occupancy_limit = 0, NO_LIMIT
                cocotb.start_soon(pause(channel, period, name, hold))
            if isinstance(client, PlainManager):
                client.start()

    async def play(self, number: int, thread: int) -> None:
        """Send the bursts of a thread, one after the other, and keep the answers."""
        manager = self.managers[number]
        for burst in self.case["threads"][number][thread]:
            size = {} if isinstance(manager, AxiLiteMaster) else {"size": burst["size"]}
            if isinstance(manager, PlainManager):
                answer = await manager.play(burst, thread & ID_OF_THREAD)
            elif "data" in burst:
                answer = await manager.write(burst["address"], bytes.fromhex(burst["data"]), **size)
                answer = {"responses": [int(answer.resp)]}
            else:
                answer = await manager.read(burst["address"], burst["length"], **size)
                answer = {"responses": [int(answer.resp)], "data": bytes(answer.data).hex()}
            self.answers[number][thread].append(answer)
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
    for number, threads in enumerate(case["threads"]):
        for thread in range(len(threads)):
            cocotb.start_soon(bench.play(number, thread))
    cycles = await bench.finish()
    memories = [
        [memory.read(start, size).hex() for start, size, _ in one["contents"]]
        for memory, one in zip(bench.contents, case["memories"], strict=True)
    ]
    Path("result.json").write_text(json.dumps({"cycles": cycles, "threads": bench.answers, "memories": memories}))
