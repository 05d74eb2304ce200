"""The cocotb test of AXI4 endpoints: managers and memories of cocotbext-axi at every node, or the blocks of a system.

The runner, :mod:`hdnhw.endpoints.axi4.bench`, writes what to do into the working folder, and checks what this bench
writes down.
"""

import json
import logging
import random
from functools import partial
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.queue import Queue
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time
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
from cocotbext.axi.stream import define_stream

from hdnhw.sim.clocks_bench import PATIENCE, QUIET, runs, start_clocks, wait_for

ID_OF_THREAD = 1
"""The plain manager's thread T has the ID T modulo this and one: two threads share an ID."""

ANSWERS = (2, 4)
"""Places of B and R among the channels of a port."""

NO_LIMIT = -1
"""Of transfers that have been taken, and wait in a client."""

KINDS = ("managers", "memories", "sources", "sinks")
"""Of blocks, in the case."""

LONGEST_RUN = 1000
"""Cycles after which the pause of a channel is looked at again, if it does not end."""

LONGEST_RESET = 40
"""Cycles of the reset of a block, at most."""

NULL_SHARE = 0.2
"""Share of a source's transfers that have null bytes among the others, or nothing else."""

TransferBus, Transfer, TransferSource, TransferSink, _ = define_stream(
    "Transfer",
    signals=["tdata", "tkeep", "tlast", "tvalid", "tready"],
    optional_signals=["tdest", "tid"],
    valid_signal="tvalid",
    ready_signal="tready",
)
STREAMS = {"source": TransferSource, "sink": TransferSink}


class _Region(SparseMemoryRegion):
    """What a memory holds; bytes that are bad are neither read nor written."""

    def __init__(self, about: dict[str, Any], memory: SparseMemory) -> None:
        super().__init__(about["size"], memory)
        self._about = about

    def _check(self, address: int, length: int) -> None:
        base = max(start for start, _, _ in self._about["contents"] if start <= address)
        part = self._about["part"][str(base)]
        if (address - base) % part + length > part - self._about["bad"]:
            raise ValueError("bad")

    async def read(self, address: int, length: int, **kwargs: Any) -> Any:
        self._check(address, length)
        return await super().read(address, length, **kwargs)

    async def write(self, address: int, data: bytes, **kwargs: Any) -> None:
        self._check(address, len(data))
        await super().write(address, data, **kwargs)


def _channels(client: Any) -> list[Any]:
    """Return the channels at which a client may pause, AW, W, B, AR and R, or its one stream."""
    if isinstance(client, (TransferSource, TransferSink)):
        return [client]
    return getattr(client, "channels", None) or [
        getattr(half, f"{name}_channel")
        for half, names in ((client.write_if, ("aw", "w", "b")), (client.read_if, ("ar", "r")))
        for name in names
    ]


async def pause(channel: Any, period: int, seed: str, hold: int) -> None:
    """Let a client pause at a channel, for `hold` cycles and then as :func:`runs` says; this wakes up less often."""
    await RisingEdge(channel.clock)
    before, length = bool(hold), hold
    for pauses, cycles in runs(seed):
        if pauses == before and length < LONGEST_RUN:
            length += cycles
            continue
        channel.pause = before
        await Timer(max(1, length) * period, "ns")
        before, length = pauses, cycles


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
        self._takes: list[Any] = []

    def start(self) -> None:
        """Begin to take answers."""
        self._takes = [cocotb.start_soon(self._take_responses()), cocotb.start_soon(self._take_data())]

    def flush(self) -> None:
        """Forget what is under way, as a reset does."""
        for one in (*self._takes, *self.channels):
            (one.clear if one in self.channels else one.cancel)()
        for answer in [one[-1] for one in self._writes] + [one[-1] for one in self._reads]:
            answer.put_nowait(None)
        self._writes, self._reads = [], []
        self.start()

    async def play(self, burst: dict[str, Any], number: int, said: dict[str, int]) -> dict[str, Any]:
        """Send a burst, with what else its addresses say, and return its answer."""
        answer: Queue[dict[str, Any]] = Queue()
        size, kind, beats = burst["size"], burst["burst"], burst["len"] + 1
        if "beats" in burst:
            self._writes.append((number, answer))
            where = {"awaddr": burst["address"], "awlen": beats - 1, "awsize": size, "awburst": kind}
            where |= {f"aw{name}": value for name, value in said.items()}
            self.aw.send_nowait(AxiAWTransaction(awid=number, **where))
            for place, (data, strobes) in enumerate(burst["beats"]):
                self.w.send_nowait(AxiWTransaction(wdata=data, wstrb=strobes, wlast=place == beats - 1))
        else:
            self._reads.append((number, beats, answer))
            where = {"araddr": burst["address"], "arlen": beats - 1, "arsize": size, "arburst": kind}
            where |= {f"ar{name}": value for name, value in said.items()}
            self.ar.send_nowait(AxiARTransaction(arid=number, **where))
        return await answer.get()

    async def _take_responses(self) -> None:
        while True:
            response = await self.b.recv()
            assert self._writes, "a response to nothing"
            number, answer = self._writes.pop(0)
            assert int(response.bid) == number, "a response came out of order"
            answer.put_nowait({"responses": [int(response.bresp)]})

    async def _take_data(self) -> None:
        while True:
            beats = [await self.r.recv()]
            assert self._reads, "data of nothing"
            number, count, answer = self._reads[0]
            while len(beats) < count:
                beats.append(await self.r.recv())
            self._reads.pop(0)
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
        self.resets: list[tuple[str, float, float]] = []
        self.wrong_attributes = 0
        for memory, one in zip(self.contents, case["memories"], strict=True):
            for start, size, seed in one["contents"]:
                memory.write(start, random.Random(seed).randbytes(size))
        self.memories: list[Any] = [
            self._client(one, target=_Region(one, memory))
            for one, memory in zip(case["memories"], self.contents, strict=True)
        ]
        for client, one in zip(self.memories, case["memories"], strict=True):
            for channel in (client.write_if.aw_channel, client.read_if.ar_channel) if "threads_each" in case else ():
                channel.recv = partial(self._checked, channel.recv, one)
        self.sources = [self._client(one) for one in case.get("sources", [])]
        self.sinks = [self._client(one) for one in case.get("sinks", [])]
        self.sent: list[list[tuple[float, float]]] = [[] for _ in self.sources]
        self.received: list[list[tuple[int, str, float]]] = [[] for _ in self.sinks]
        self.partial: dict[str, dict[int, bytearray]] = {one["port"]: {} for one in case.get("sinks", [])}
        self.transfers = 0
        self.answers: list[list[list[Any]]] = [[[] for _ in threads] for threads in case["threads"]]

    def _client(self, about: dict[str, Any], **target: Any) -> Any:
        """Return what stands at a port."""
        dut, end = self.dut, about["end"]
        ends = (getattr(dut, f"aclk{end}"), getattr(dut, about.get("reset") or f"aresetn{end}"), False)
        if about["client"] in STREAMS:
            return STREAMS[about["client"]](TransferBus.from_prefix(dut, about["port"]), *ends)
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
        blocks = [one for kind in KINDS for one in case.get(kind, [])]
        resets += [getattr(dut, one["reset"]) for one in blocks if one.get("reset")]
        await start_clocks(clocks, resets, active=0, seed=f"{case['seed']} start")
        clients = [client for kind in KINDS for client in getattr(self, kind)]
        for about, client in zip(blocks, clients, strict=True):
            for number, channel in enumerate(_channels(client)):
                period = case["clocks"][about["end"]]
                name = f"{case['seed']} {about['port']} {number}"
                hold = case["hold"] if client in (self.sinks or self.memories) else 0
                if hold and case["to_one"] and number not in ANSWERS:
                    hold, channel.queue_occupancy_limit = 0, NO_LIMIT
                cocotb.start_soon(pause(channel, period, name, hold))
            if isinstance(client, PlainManager):
                client.start()
            if case.get("resets") and about.get("reset"):
                cocotb.start_soon(self._reset(about, client))

    async def _reset(self, about: dict[str, Any], client: Any) -> None:
        """Reset a block now and then."""
        rng, pin = random.Random(f"{self.case['seed']} {about['port']} resets"), getattr(self.dut, about["reset"])
        clock = getattr(self.dut, f"aclk{about['end']}")
        while True:
            await ClockCycles(clock, rng.randint(*self.case["resets"]))
            pin.value = 0
            begin, cycles = get_sim_time("ns"), rng.randint(1, LONGEST_RESET)
            self.resets.append((about["port"], begin, begin + cycles * self.case["clocks"][about["end"]]))
            await FallingEdge(pin)  # behind what the clients take at this edge of the clock
            if isinstance(client, PlainManager):
                client.flush()
            elif client in (*self.sources, *self.sinks):
                client.clear()
                self.partial.get(about["port"], {}).clear()
            await ClockCycles(clock, cycles)
            pin.value = 1

    async def _checked(self, recv: Any, about: dict[str, Any]) -> Any:
        """Take an address at a memory; count it if its attributes are not those of the thread to which it belongs."""
        found = await recv()
        fields = {name[2:]: int(getattr(found, name)) for name in found._signals}
        base = max(start for start, _, _ in about["contents"] if start <= fields["addr"])
        manager, thread = divmod((fields["addr"] - base) // about["part"][str(base)], self.case["threads_each"])
        due = self.case["managers"][manager]["attributes"][thread]
        self.wrong_attributes += any(fields.get(name, value) != value for name, value in due.items())
        return found

    async def give(self, number: int) -> None:
        """Send the frames of a source, one after the other."""
        about, source = self.case["sources"][number], self.sources[number]
        width, pin = len(source.bus.tdata) // 8, getattr(self.dut, about.get("reset") or f"aresetn{about['end']}")
        rng = random.Random(f"{self.case['seed']} lanes {number}")
        for dest, text in about["frames"]:
            while not pin.value:
                await RisingEdge(pin)
            begin, frame = get_sim_time("ns"), bytes.fromhex(text)
            while frame:
                keep = rng.getrandbits(width) if rng.random() < NULL_SHARE else (1 << min(width, len(frame))) - 1
                lanes = [lane for lane in range(width) if keep >> lane & 1][: len(frame)]
                word = sum(byte << 8 * lane for lane, byte in zip(lanes, frame, strict=False))
                frame, keep = frame[len(lanes) :], sum(1 << lane for lane in lanes)
                source.send_nowait(Transfer(tdata=word, tkeep=keep, tlast=not frame, tdest=dest))
            await source.wait()
            self.sent[number].append((begin, get_sim_time("ns")))
            self.count += 1

    async def take(self, number: int) -> None:
        """Write down the frames that come to a sink; those of several sources may come part by part."""
        begun = self.partial[self.case["sinks"][number]["port"]]
        while True:
            beat = await self.sinks[number].recv()
            self.transfers += 1
            frame = begun.setdefault(int(beat.tid), bytearray())
            data, keep = int(beat.tdata), int(beat.tkeep)
            frame += bytes(data >> 8 * lane & 0xFF for lane in range(len(beat.tkeep)) if keep >> lane & 1)
            if int(beat.tlast):
                del begun[int(beat.tid)]
                self.received[number].append((int(beat.tid), frame.hex(), get_sim_time("ns")))

    async def play(self, number: int, thread: int) -> None:
        """Send the bursts of a thread, one after the other, and keep the answers."""
        manager, attributes = self.managers[number], self.case["managers"][number].get("attributes")
        said = attributes[thread] if attributes else {}
        for burst in self.case["threads"][number][thread]:
            is_lite, begin = isinstance(manager, AxiLiteMaster), get_sim_time("ns")
            more = {"prot": said["prot"]} if is_lite else {"size": burst["size"], **said}
            if isinstance(manager, PlainManager):
                answer = await manager.play(burst, thread & ID_OF_THREAD, said)
            elif "data" in burst:
                answer = await manager.write(burst["address"], bytes.fromhex(burst["data"]), **more)
                answer = answer and {"responses": [int(answer.resp)]}
            else:
                answer = await manager.read(burst["address"], burst["length"], **more)
                answer = answer and {"responses": [int(answer.resp)], "data": bytes(answer.data).hex()}
            times = {"begin": begin, "end": get_sim_time("ns")}
            self.answers[number][thread].append((answer or {"responses": []}) | times)
            self.count += 1

    async def finish(self) -> int:
        """Wait until all bursts are answered and all frames are there, or none is for long; return the cycles."""
        expected = sum(len(bursts) for threads in self.case["threads"] for bursts in threads)
        expected += sum(len(one["frames"]) for one in self.case.get("sources", []))
        clock = getattr(self.dut, f"aclk{next(iter(self.case['clocks']))}")
        cycles, before = await wait_for(expected, lambda: self.count, clock), -1
        for _ in range(PATIENCE // QUIET):
            if self.transfers == before or not self.sinks:
                break
            before = self.transfers
            await ClockCycles(clock, QUIET)
        return cycles


@cocotb.test()
async def bursts(dut: Any) -> None:
    """Send all bursts, and write down the answers and what the memories hold."""
    case = json.loads(Path("case.json").read_text())
    bench = Bench(dut, case)
    await bench.start()
    for number, threads in enumerate(case["threads"]):
        for thread in range(len(threads)):
            cocotb.start_soon(bench.play(number, thread))
    for number in range(len(bench.sources)):
        cocotb.start_soon(bench.give(number))
    for number in range(len(bench.sinks)):
        cocotb.start_soon(bench.take(number))
    cycles = await bench.finish()
    memories = [
        [memory.read(start, size).hex() for start, size, _ in one["contents"]]
        for memory, one in zip(bench.contents, case["memories"], strict=True)
    ]
    result = {"cycles": cycles, "threads": bench.answers, "memories": memories, "resets": bench.resets}
    result |= {
        "end": get_sim_time("ns"),
        "sent": bench.sent,
        "received": bench.received,
        "wrong_attributes": bench.wrong_attributes,
    }
    Path("result.json").write_text(json.dumps(result))
