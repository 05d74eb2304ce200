"""Replay of a trace: its messages are offered in their cycles, or when those that they wait for have arrived.

The run goes on in windows so short that no message that arrives in one could have been waited for in it: the order of
events is that of a run in one piece.
"""

import heapq
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.measurement.results import Row
from hdnhw.measurement.statistics import bins, summarize
from hdnhw.measurement.sweep import machine_row
from hdnhw.model.core import HEAD_CYCLE, HOPS, TAG, TAIL_CYCLE, Arrivals
from hdnhw.model.course import MAX_CYCLE
from hdnhw.model.engines import COMPILED
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.model.watchdog import Watchdog
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Progress, Stopwatch
from hdnhw.traffic.exchange import check_size, exchange_order, exchange_trace, timetable
from hdnhw.traffic.lengths import packets_of
from hdnhw.traffic.packets import Terminals
from hdnhw.traffic.trace import Trace
from hdnhw.traffic.tracefile import read_trace

MOST_PACKETS = 1 << 27
"""Of a trace."""

WINDOW_SLOTS = 1 << 14
"""Slots of a window if no message waits for another."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Replay:
    """What became of the messages of a trace. Arrays have the shape (messages,), -1 where there is no such cycle.

    Attributes
    ----------
    created : ndarray of int64
        Cycle from which on the message was offered: its own, or the one behind that in which the last tail of those
        arrived that it waits for, and its delay.
    head : ndarray of int64
        Cycle in which its first head flit was accepted.
    tail : ndarray of int64
        Cycle in which its last tail was taken.
    hops : ndarray of int64
        Channels that it crossed.
    packets : ndarray of int64
        Packets that it is made of.
    taken : int
        Packets that terminals have taken.
    cycles : int
        Cycles simulated.
    seconds : float
    """

    created: Integers
    head: Integers
    tail: Integers
    hops: Integers
    packets: Integers
    taken: int
    cycles: int
    seconds: float


def replay(
    model: FabricModel,
    trace: Trace,
    *,
    limit: int | None = None,
    threads: int = 1,
    progress: Progress = lambda *_: None,
) -> Replay:
    """Send the messages of a trace until all have arrived, or up to cycle `limit`.

    Parameters
    ----------
    model : FabricModel
    trace : Trace
    limit : int, optional
    threads : int
        See :func:`hdnhw.measurement.measure.measure`.
    progress : callable
        Is told a stage and the share of the packets that have arrived.

    Raises
    ------
    SpecError
        If the limit or the threads are out of range, or the messages have too many packets.
    HangError
        See :class:`hdnhw.model.watchdog.Watchdog`.
    """
    if limit is not None and not 1 <= limit <= MAX_CYCLE:
        raise SpecError(f"{named('cycles')} must be 1 to {MAX_CYCLE}, not {limit}")
    watch = Stopwatch()
    run = _Run(model, trace, MAX_CYCLE if limit is None else limit, threads)
    while run.goes_on:
        run.advance()
        progress("trace", run.share)
    return run.result(watch.seconds)


class _Calendar:
    """Which messages are offered when.

    Attributes
    ----------
    cycle : ndarray of int64, shape (messages,)
        From which on each is offered, as far as is known.
    """

    def __init__(self, trace: Trace) -> None:
        self.cycle = trace.cycle.copy()
        self._first, self._dependent = trace.first, trace.dependent
        self._delay = np.zeros(len(trace), np.int64) if trace.delay is None else trace.delay
        self._waits = np.bincount(trace.dependent, minlength=len(trace))
        free = np.flatnonzero(self._waits == 0)
        self._free = free[np.argsort(trace.cycle[free], kind="stable")]
        self._free_cycle, self._at = trace.cycle[self._free], 0
        self._freed: list[tuple[int, int]] = []

    @property
    def next_cycle(self) -> int:
        """Cycle of the next message that waits for no other, or one that is never reached."""
        freed = self._freed[0][0] if self._freed else MAX_CYCLE
        free = int(self._free_cycle[self._at]) if self._at < len(self._free) else MAX_CYCLE
        return min(free, freed)

    def take(self, stop: int) -> Integers:
        """Return the messages that are offered before a cycle, in the order of cycles and of the trace."""
        end = self._at + int(np.searchsorted(self._free_cycle[self._at :], stop))
        due, self._at = self._free[self._at : end], end
        freed = []
        while self._freed and self._freed[0][0] < stop:
            freed.append(heapq.heappop(self._freed)[1])
        if freed:
            due = np.append(due, freed)
            due = due[np.lexsort((due, self.cycle[due]))]
        return due

    def arrive(self, messages: Integers, tail: Integers) -> None:
        """Free the messages that have waited for these alone, whose last tails are taken in these cycles."""
        for message, cycle in zip(messages.tolist(), tail.tolist(), strict=True):
            for dependent in self._dependent[self._first[message] : self._first[message + 1]].tolist():
                self.cycle[dependent] = max(self.cycle[dependent], cycle + 1 + self._delay[dependent])
                self._waits[dependent] -= 1
                if not self._waits[dependent]:
                    heapq.heappush(self._freed, (int(self.cycle[dependent]), dependent))


class _Run:
    """A fabric and the messages of a trace; packets are numbered message after message, and tagged so."""

    def __init__(self, model: FabricModel, trace: Trace, limit: int, threads: int) -> None:
        length = model.timing.packet_length
        self._model, self._trace, self._limit, self.cycle = model, trace, limit, 0
        self._packets = packets_of(trace.flits, length)
        self._first = np.append(0, np.cumsum(self._packets))
        self._total, self._offered, self._taken = int(self._first[-1]), 0, 0
        if self._total > MOST_PACKETS:
            raise SpecError(f"a trace must have at most {MOST_PACKETS} packets, not {self._total}")
        self._message = np.repeat(np.arange(len(trace)), self._packets)
        self._course, self._calendar = model.course(Terminals(), threads=threads), _Calendar(trace)
        self._watchdog = Watchdog(
            model, self._course, source_of=lambda number: int(trace.source[self._message[number]])
        )
        self._destination = model.address[trace.destination].astype(np.int32)
        self._created, self._head, self._tail, self._hops, self._latest = np.full((5, len(trace)), -1)
        self._missing = self._packets.copy()
        self._slots = model.window_slots if len(trace.dependent) else WINDOW_SLOTS

    @property
    def goes_on(self) -> bool:
        """Whether a packet is to be delivered before the limit."""
        return self._course.packets_gone < self._total and self.cycle < self._limit

    @property
    def share(self) -> float:
        """Share of the packets that have arrived."""
        return self._course.packets_gone / self._total

    def advance(self) -> None:
        """Simulate a window; if nothing is under way, from the next message on."""
        length, begin = self._model.timing.packet_length, self.cycle
        if self._course.packets_gone == self._offered:
            begin = max(begin, self._calendar.next_cycle)
        begin -= (begin - self._model.timing.sample_phase) % length
        stop = min(begin + self._slots * length, self._limit)
        arrivals = self._offer(self._calendar.take(stop))
        left = self._course.advance(arrivals, packets=self._total, limit=stop)
        self.cycle = stop
        self._watchdog.look()
        self._note_heads(left)
        left = left[left[:, TAIL_CYCLE] < self._limit]
        self._taken += len(left)
        message = self._message[left[:, TAG]]
        ends = _ends_messages(message, left[:, TAIL_CYCLE], self._missing, self._latest)
        message, left = message[ends], left[ends]
        self._tail[message], self._hops[message] = left[:, TAIL_CYCLE], left[:, HOPS]
        self._calendar.arrive(message, self._tail[message])

    def _note_heads(self, packets: npt.NDArray[np.int32]) -> None:
        message = self._message[packets[:, TAG]]
        firsts = packets[:, TAG] == self._first[message]
        self._head[message[firsts]] = packets[firsts, HEAD_CYCLE]

    def _offer(self, messages: Integers) -> Arrivals:
        """Return the packets of messages as their sources get them to send."""
        created, packets = self._calendar.cycle[messages], self._packets[messages]
        self._created[messages] = created
        before = np.cumsum(packets) - packets
        number = np.repeat(self._first[messages] - before, packets) + np.arange(packets.sum())
        self._offered += len(number)
        source, destination = self._trace.source[messages], self._destination[messages]
        message = np.repeat(np.arange(len(messages)), packets)
        return Arrivals.of(created[message], source[message], destination[message], number)

    def result(self, seconds: float) -> Replay:
        """Sum up."""
        self._note_heads(self._course.packets)
        return Replay(
            created=self._created,
            head=self._head,
            tail=self._tail,
            hops=self._hops,
            packets=self._packets,
            taken=self._taken,
            cycles=min(self._course.cycles, self._limit) if self._course.packets_gone == self._total else self._limit,
            seconds=seconds,
        )


def measure_trace(
    fabric: FabricSpec,
    path: Path,
    *,
    cycles: int | None,
    histogram: bool = False,
    threads: int = 1,
    engine: str = COMPILED,
    progress: Progress = lambda *_: None,
) -> Row:
    """Replay a trace file and return what the command ``simulate --trace`` prints.

    Parameters
    ----------
    fabric : FabricSpec
    path : Path
        See :func:`hdnhw.traffic.tracefile.read_trace`.
    cycles : int or None
        At which the run ends, if not all messages have arrived before.
    histogram : bool
        Whether that of the latencies is in the row.
    threads : int
        See :func:`hdnhw.measurement.measure.measure`.
    engine : str
        One of :data:`hdnhw.model.engines.ENGINES`.
    progress : callable
        Is told a stage and the share of the packets that have arrived.
    """
    model = model_of(fabric, engine)
    model.plan.check_direct("a trace")
    nodes, length = model.plan.network.num_terminals, model.timing.packet_length
    trace = read_trace(path, nodes=nodes, packet_length=length, flit_width=fabric.flit_width, limit=cycles)
    head = {"flit_width": fabric.flit_width, "trace": str(path), "format": trace.form}
    return machine_row(model.machine) | head | _row(model, trace, cycles, histogram, threads, progress)


def offered_rate(trace: Trace, *, nodes: int, packet_length: int, limit: int) -> float | None:
    """Return the flits of packets per node per cycle that terminals would send if each could send one per cycle.

    Every message of a cycle before `limit` is offered in its own cycle, whatever it waits for; the cycles count from
    the first message to the one in which the last flit is sent. None if there is no message.
    """
    order = np.lexsort((trace.cycle, trace.source))
    order = order[trace.cycle[order] < limit]
    if not len(order):
        return None
    cycle, source = trace.cycle[order], trace.source[order]
    flits = packets_of(trace.flits[order], packet_length) * packet_length
    to_come = np.cumsum(flits[::-1])[::-1]  # of this message and all behind it, those of later sources too
    ends = np.searchsorted(source, source, side="right")
    to_come -= np.append(to_come, 0)[ends]
    return float(flits.sum() / (nodes * ((cycle + to_come).max() - cycle.min())))


def exchange_on(model: FabricModel, *, words: int, at_once: bool = False) -> Trace:
    """Return the messages of a total exchange that is simply routed, in the same relative order at every node.

    Parameters
    ----------
    model : FabricModel
    words : int
        Flits of a message.
    at_once : bool
        Whether every node offers all its messages in cycle 0; otherwise their packets start by a timetable, see
        :func:`hdnhw.traffic.exchange.timetable`, once for each packet of a message.

    Raises
    ------
    SpecError
        If there are too many nodes, or too many for a timetable, or channels are too narrow for one.
    """
    network, length = model.plan.network, model.timing.packet_length
    check_size(network, timed=not at_once)
    order = exchange_order(network)
    if at_once:
        return exchange_trace(order, words)
    if model.machine.is_narrow:
        raise SpecError(model.machine.no_timetable)
    packets = -(-words // length)
    once, slots = timetable(model.plan, order, hop_slots=model.machine.hop_slots)
    start = np.concatenate([(once + turn * slots) * length for turn in range(packets)], axis=1)
    return exchange_trace(np.tile(order, (1, packets)), length, start)


def measure_exchange(
    fabric: FabricSpec,
    *,
    cycles: int | None,
    histogram: bool = False,
    threads: int = 1,
    engine: str = COMPILED,
    progress: Progress = lambda *_: None,
) -> Row:
    """Run a total exchange of one packet each; return what ``simulate --pattern exchange`` prints.

    The parameters are those of :func:`measure_trace`.
    """
    model = model_of(fabric, engine)
    model.plan.check_direct("a total exchange")
    trace = exchange_on(model, words=model.timing.packet_length, at_once=True)
    row = _row(model, trace, cycles, histogram, threads, progress)
    return machine_row(model.machine) | {"pattern": trace.form} | row


def _row(
    model: FabricModel, trace: Trace, cycles: int | None, histogram: bool, threads: int, progress: Progress
) -> Row:
    run = replay(model, trace, limit=cycles, threads=threads, progress=progress)
    nodes, length = model.plan.network.num_terminals, model.timing.packet_length
    created, arrived = run.created >= 0, run.tail >= 0
    packets, tail = int(run.packets[created].sum()), run.tail[arrived]
    latency = np.bincount(tail - run.created[arrived])
    flits = length / (nodes * max(1, run.cycles - int(trace.cycle.min())))
    offered = offered_rate(trace, nodes=nodes, packet_length=length, limit=run.cycles)
    return {
        "dependencies": "honored" if len(trace.dependent) else "none",
        "complete": bool(arrived.all()) and trace.whole,
        "offered_rate": None if offered is None else round(offered, 6),
        "accepted_rate": round(run.taken * flits, 6),
        "created": int(created.sum()),
        "packets": packets,
        "payload_share": round(int(trace.flits[created].sum()) / (packets * length), 6) if packets else None,
        "delivered": len(tail),
        "packet_latency": summarize(latency),
        "network_latency": summarize(np.bincount(tail - run.head[arrived])),
        "mean_hops": round(float(run.hops[arrived].mean()), 4) if len(tail) else None,
        "cycles": run.cycles,
        "seconds": round(run.seconds, 3),
        "router_cycles_per_second": round(model.plan.network.num_nodes * run.cycles / run.seconds),
    } | ({"histogram": bins(latency)} if histogram else {})


def _ends_messages(
    message: npt.NDArray[Any], tail: npt.NDArray[Any], missing: npt.NDArray[Any], latest: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """Note packets that have left, and tell with which of them a message has left whole: they come in any order.

    Parameters
    ----------
    message, tail : ndarray of integers, shape (packets,)
        The place of each packet's message in the next two, and the cycle in which its tail was taken.
    missing, latest : ndarray of integers, shape (messages,)
        How many packets of each message have not left, and the latest tail of those that have: they are updated.
    """
    np.subtract.at(missing, message, 1)
    np.maximum.at(latest, message, tail)
    is_last: npt.NDArray[np.bool_] = (missing[message] == 0) & (latest[message] == tail)
    return is_last
