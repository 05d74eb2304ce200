"""Open-loop measurement: warm up, mark the messages of an interval, and go on at the same load until they have left.

A message becomes the packets that hold its flits, given to its source at once; as routing is deterministic and queues
are in order, the last of them arrives last. Without lengths a message is a packet.

The method is that of Dally and Towles, Principles and Practices of Interconnection Networks, chapter 24: an infinite
queue at every source, latency from the creation of a packet, accepted rate at the terminals.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain

import numpy as np
import numpy.typing as npt

from hdnhw.kernels import Stopwatch
from hdnhw.model.counts import Counts
from hdnhw.model.fabric import Course, FabricModel
from hdnhw.model.flows import Flows
from hdnhw.model.kernel.state import CREATED, DESTINATION, HEAD_CYCLE, HOPS, NODE, TAG, TAIL_CYCLE, Arrivals
from hdnhw.model.load import BATCHES, LEAST_RATE, MOST_CYCLES, LoadSpec
from hdnhw.model.statistics import grows, half_width, summarise, truncation_point
from hdnhw.model.watchdog import Watchdog
from hdnhw.spec import SpecError
from hdnhw.traffic.load import CommonLoad, Load, Messages
from hdnhw.traffic.packets import Terminals

__all__ = [
    "Measurement",
    "Progress",
    "measure",
    "zero_load_latency",
]

WINDOW_PACKETS = 1 << 16
"""Packets, on average, that a window of cycles creates at most."""

BLOCK_SLOTS, LEAST_BLOCK = 40, 200
"""Of a block of the warm-up: slots, and cycles at least."""

LEAST_BLOCKS, MOST_BLOCKS = 10, 60

LONE_PACKETS, LONE_SLOTS = 8000, 100
"""Packets that are offered to find the latency at zero load, and the mean of the slots from one to the next."""

_LAST, _FIRST, _SOURCE = 1, 2, 2
"""Of a packet's tag: whether it is the last or the first of its message, and how far to the left its source stands."""

Integers = npt.NDArray[np.int64]
Packets = npt.NDArray[np.int32]
"""Rows of packets that have left, or columns of them."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured. Latencies are in cycles, rates in flits of packets a node and cycle.

    Attributes
    ----------
    warmup : int
        Cycles before the interval.
    steady : bool
        Whether the latencies would be the same had more cycles been measured, as far as can be seen: a warm-up that was
        not prescribed ended in a steady state, the mean latency did not grow in the interval, see :func:`grows`, and
        all messages of the interval have left.
    cycles : int
        Cycles simulated in all.
    created, delivered, stranded : int
        Messages created in the interval, how many of them have come out by the end, and how many where their route
        meets something dead. Dead nodes create none.
    packets : int
        Packets of the created.
    payload_share : float
        Of the flits of these packets, how many are flits of messages; the others are padding.
    offered_rate, accepted_rate, stranded_rate : float
        Flits created, and taken by terminals, in the interval: by those they are for, and by others.
    packet_latency, network_latency : ndarray of int64
        Histograms of the delivered: index c counts messages that took c cycles from creation, and from the acceptance
        of the first head flit, to the cycle in which the last tail was taken.
    half_width : float
        Of the 95 % confidence interval of the mean latency from creation, from the means of 20 batches.
    mean_hops : float
        Channels that the delivered have crossed.
    flit_hops : int
        Flits sent over channels between routers in all the cycles.
    fairness : float
        Jain's index of the packets that came from each sender and were taken in the interval: 1 if all had the same.
    seconds : float
    counts : Counts or None
        What channels and queues did in the slots that are allocated in a cycle of the interval; None if nothing was
        counted.
    messages : str
        Alike where the messages created in the interval are: their cycles, sources and destinations. Only where common
        random numbers were asked for.
    """

    warmup: int
    steady: bool
    cycles: int
    created: int
    delivered: int
    stranded: int
    packets: int
    payload_share: float
    offered_rate: float
    accepted_rate: float
    stranded_rate: float
    packet_latency: Integers
    network_latency: Integers
    half_width: float
    mean_hops: float
    flit_hops: int
    fairness: float
    seconds: float
    counts: Counts | None
    messages: str = ""


def measure(
    model: FabricModel,
    load: LoadSpec,
    *,
    counting: bool = False,
    common: bool = False,
    flows: Flows | None = None,
    threads: int = 1,
    progress: Progress = lambda *_: None,
) -> Measurement:
    """Measure a fabric under a load.

    Without a prescribed warm-up, blocks of cycles are simulated until the truncation point of their mean latencies that
    leaves the smallest standard error (MSER, White 1997) lies in their first half. A network beyond saturation does not
    get there: its warm-up ends after 60 blocks. The messages of the interval have as many cycles to leave as warm-up
    and interval took.

    Parameters
    ----------
    model : FabricModel
    load : LoadSpec
    counting : bool
        Whether to count what channels and queues do; the rest is the same without.
    common : bool
        Whether to use common random numbers: the messages of the interval are drawn anew at its begin, and are the
        same on all networks of as many nodes to which as many messages are offered, whatever their warm-up.
    flows : Flows, optional
        Where the latencies of the messages of the interval are added, by source and destination.
    threads : int
        That share the nodes among them; all but the seconds is the same whatever their number.
    progress : callable
        Is told a stage and the share of it that is done; of the warm-up and of the last packets, which end when they
        can, the share of the longest there is.

    Raises
    ------
    SpecError
        If the pattern, the injection process, the lengths or the threads cannot be, or the interval is too short for
        counts.
    HangError
        If there are packets that will never arrive, see :class:`hdnhw.model.watchdog.Watchdog`.
    """
    if counting and load.cycles < model.timing.packet_length:
        raise SpecError(f"cycles must be at least the {model.timing.packet_length} of a slot, not {load.cycles}")
    watch = Stopwatch()
    run = _Run(model, load, counting, threads, progress)
    windows, steady = ([], True) if load.warmup is not None else _warm_up(run)
    start = run.cycle if load.warmup is None else run.allocated(load.warmup) if common else load.warmup
    tally = _Tally(model.plan.network.num_terminals, start, start + load.cycles, common, flows)
    run.begin("measurement", tally.stop)
    for window in chain(windows, run.windows(tally.start)):
        tally.take(window)
    if common:
        run.draw_anew()
    before = run.course.counts()
    for window in run.windows(tally.stop):
        tally.take(window)
    counts = run.course.counts().since(before) if counting else None
    run.begin("last packets", 2 * tally.stop)
    while tally.left < tally.created and run.cycle < 2 * tally.stop:
        for window in run.windows(run.cycle + run.block):
            tally.take(window)
    run.watchdog.look(last=True)
    return tally.result(run, steady, counts, watch.seconds)


def zero_load_latency(model: FabricModel, load: LoadSpec) -> float | None:
    """Measure the mean latency of messages that meet no others: a packet in 100 slots in the whole network, on average.

    Parameters
    ----------
    model : FabricModel
    load : LoadSpec
        Its pattern, lengths and seed are used.

    Returns
    -------
    float or None
        None if there was no message.
    """
    rate = max(LEAST_RATE, 1 / (LONE_SLOTS * model.plan.network.num_terminals))
    cycles = min(MOST_CYCLES, LONE_PACKETS * LONE_SLOTS * model.timing.packet_length)
    lone = measure(model, replace(load, injection="bernoulli", rate=rate, cycles=cycles, warmup=0))
    summary = summarise(lone.packet_latency)
    return None if summary is None else summary["mean"]


@dataclass(frozen=True, eq=False)
class _Window:
    """Some cycles of a run.

    Of the messages created, in the order of cycles: when, source and destination (rows of `ends`), and how many packets
    and flits. Of the packets that left: their source, the cycle of the tail, whether they were at their destination.
    Of the messages that left at their destination: the cycles in which they were created, their head was accepted and
    their last tail taken, the channels that they crossed, their source and destination; of those
    that left elsewhere: the cycles in which they were created.
    """

    created: Integers
    ends: Integers
    packets: Integers
    flits: Integers
    source: Packets
    taken: Packets
    arrived: npt.NDArray[np.bool_]
    born: Packets
    head: Packets
    tail: Packets
    hops: Packets
    begin: Packets
    end: Packets
    stranded: Packets


class _Beginnings:
    """When the first packets of messages were accepted whose last ones are under way.

    A source creates one message a cycle at most: source and cycle name it.
    """

    def __init__(self) -> None:
        self._message, self._cycle = np.empty(0, np.int64), np.empty(0, np.int32)

    def add(self, message: Integers, cycle: Packets) -> None:
        """Keep the cycles in which messages began."""
        message, cycle = np.append(self._message, message), np.append(self._cycle, cycle)
        order = np.argsort(message)
        self._message, self._cycle = message[order], cycle[order]

    def take(self, message: Integers) -> Packets:
        """Return the cycles in which messages began, and forget them."""
        place = np.searchsorted(self._message, message)
        cycle = self._cycle[place]
        self._message, self._cycle = np.delete(self._message, place), np.delete(self._cycle, place)
        return cycle


class _Run:
    """A fabric under a load, a window of cycles at a time."""

    def __init__(self, model: FabricModel, load: LoadSpec, counting: bool, threads: int, progress: Progress) -> None:
        self._model, self._progress, self.cycle = model, progress, 0
        self._spec, self._load = load, load.on(model.plan.network, self.packet_length)
        self.senders = self._load.senders
        if model.faults is not None:
            self.senders = self.senders[~model.faults.nodes[self.senders]]
        per_cycle = load.rate / self.packet_length * len(self.senders)
        self._most_cycles = max(1, int(WINDOW_PACKETS / per_cycle))
        self._messages: Load | CommonLoad = self._load
        room = max(1024, len(model.fabric.address))
        self.course = Course(model, Terminals(), room=room, counting=counting, threads=threads)
        self._beginnings, self.watchdog = (
            _Beginnings(),
            Watchdog(model, self.course, source_of=lambda tag: tag >> _SOURCE),
        )

    @property
    def packet_length(self) -> int:
        """Flits a packet."""
        return self._model.timing.packet_length

    @property
    def terminals(self) -> int:
        """Nodes that have a terminal: all but switches."""
        return self._model.plan.network.num_terminals

    @property
    def flit_hops(self) -> int:
        """Flits sent over channels between routers."""
        return self.course.packets_sent * self.packet_length

    @property
    def block(self) -> int:
        """Cycles of a block of the warm-up."""
        return max(LEAST_BLOCK, BLOCK_SLOTS * self.packet_length)

    def allocated(self, cycle: int) -> int:
        """Return the first cycle from this one on in which a slot is allocated."""
        return cycle + (self._model.timing.sample_phase - cycle) % self.packet_length

    def draw_anew(self) -> None:
        """Let the messages from now on be those of common random numbers."""
        load = self._spec.on(self._model.plan.network, self.packet_length, anew=True)
        self._messages = CommonLoad(load, 1 << (self._most_cycles.bit_length() - 1))  # the same if a rate is rounded

    def begin(self, stage: str, end: int) -> None:
        """Begin a stage that ends at cycle `end` at the latest."""
        self._stage, self._start, self._end = stage, self.cycle, end
        self._progress(stage, 0.0)

    def windows(self, stop: int) -> Iterator[_Window]:
        """Simulate up to cycle `stop`, or the first one behind it at which a slot is allocated."""
        while self.cycle < stop:
            yield self._window(min(stop, self.cycle + self._most_cycles))
            self._progress(self._stage, (self.cycle - self._start) / (self._end - self._start))

    def _window(self, stop: int) -> _Window:
        stop = self.allocated(stop)
        messages = self._messages.window(stop - self.cycle)
        if self._model.faults is not None:
            messages = messages.of_sources(~self._model.faults.nodes)
        created = messages.cycle + self.cycle
        left = self.course.advance(self._offer(created, messages), packets=1 << 62, limit=stop)
        self.cycle = stop
        self.watchdog.look()
        ended, head = self._ended(left)
        source, taken = left[:, TAG] >> _SOURCE, left[:, TAIL_CYCLE]
        arrived = self._is_home(left)
        home = arrived if ended is left else self._is_home(ended)
        stranded = ended[~home, CREATED]
        if len(stranded):
            ended, head = ended[home], head[home]
        return _Window(
            created,
            np.stack([messages.source, messages.destination]),
            messages.packets,
            messages.flits,
            source,
            taken,
            arrived,
            ended[:, CREATED],
            head,
            ended[:, TAIL_CYCLE],
            ended[:, HOPS],
            ended[:, TAG] >> _SOURCE,
            ended[:, NODE],
            stranded,
        )

    def _is_home(self, packets: Packets) -> npt.NDArray[np.bool_]:
        """Tell which packets have left at their destination."""
        home: npt.NDArray[np.bool_] = self._model.fabric.address[packets[:, NODE]] == packets[:, DESTINATION]
        return home

    def _offer(self, created: Integers, messages: Messages) -> Arrivals:
        """Return the packets of messages as their sources get them to send."""
        source, destination = messages.source, self._model.fabric.address[messages.destination]
        tag = source << _SOURCE | _FIRST | _LAST
        if not self._load.one_packet:
            packets = messages.packets
            created, source, destination, tag = (
                np.repeat(column, packets) for column in (created, source, destination, tag)
            )
            ends = np.cumsum(packets)
            last, first = np.zeros((2, len(tag)), np.bool_)
            last[ends - 1], first[ends - packets] = True, True
            tag &= ~np.where(last, 0, _LAST) & ~np.where(first, 0, _FIRST)
        return Arrivals.of(created, source, destination, tag)

    def _ended(self, left: Packets) -> tuple[Packets, Packets]:
        """Return the last packets of messages among those that have left, and when these messages were accepted."""
        if self._load.one_packet:
            return left, left[:, HEAD_CYCLE]
        first, last = left[:, TAG] & _FIRST != 0, left[:, TAG] & _LAST != 0
        begun, messages = left[first & ~last], left[last]
        head, several = messages[:, HEAD_CYCLE].copy(), ~first[last]
        self._beginnings.add(self._names(begun), begun[:, HEAD_CYCLE])
        head[several] = self._beginnings.take(self._names(messages[several]))
        return messages, head

    def _names(self, packets: Packets) -> Integers:
        """Return a number for the message of each packet."""
        return packets[:, CREATED] * np.int64(len(self._model.fabric.address)) + (packets[:, TAG] >> _SOURCE)


def _warm_up(run: _Run) -> tuple[list[_Window], bool]:
    """Simulate until the mean latency of blocks of cycles is steady; return (the last block, whether it is).

    Some of the last block's messages are taken behind its end.
    """
    run.begin("warm-up", MOST_BLOCKS * run.block)
    means: list[float] = []
    while len(means) < MOST_BLOCKS:
        windows = list(run.windows(run.cycle + run.block))
        latencies = np.concatenate([window.tail - window.born for window in windows])
        means.append(float(latencies.mean()) if len(latencies) else 0.0)
        if len(means) >= LEAST_BLOCKS and truncation_point(means) < len(means) // 2:
            return windows, True
    return windows, False


class _Tally:
    """Statistics of the messages created in an interval, and of packets taken in it."""

    def __init__(self, nodes: int, start: int, stop: int, common: bool, flows: Flows | None) -> None:
        self.start, self.stop, self.created, self._delivered, self._stranded = start, stop, 0, 0, 0
        self._packets, self._flits, self._digest = 0, 0, sha256() if common else None
        self._taken, self._elsewhere = np.zeros(nodes, np.int64), 0
        self._hops, self._flows = 0, flows
        self._histograms = [np.zeros(1, np.int64), np.zeros(1, np.int64)]
        self._batches = np.zeros((2, BATCHES), np.float64)

    @property
    def left(self) -> int:
        """Messages of the interval that have left, wherever."""
        return self._delivered + self._stranded

    def take(self, window: _Window) -> None:
        """Count a window."""
        marked = slice(*np.searchsorted(window.created, [self.start, self.stop]))
        packets = window.packets[marked]
        self.created += len(packets)
        if self._digest is not None:
            whole = np.vstack([window.created[marked] - self.start, window.ends[:, marked]])
            self._digest.update(np.ascontiguousarray(whole.T).tobytes())
        self._packets += int(packets.sum())
        self._flits += int(window.flits[marked].sum())
        in_interval = (window.taken >= self.start) & (window.taken < self.stop)
        home = in_interval & window.arrived
        taken = int(home.sum())
        if taken:
            self._taken += np.bincount(window.source[home], minlength=len(self._taken))
        self._elsewhere += int(in_interval.sum()) - taken
        self._finish(window)

    def _finish(self, window: _Window) -> None:
        """Count the messages that left."""
        marked = (window.born >= self.start) & (window.born < self.stop)
        self._stranded += int(((window.stranded >= self.start) & (window.stranded < self.stop)).sum())
        if not marked.any():
            return
        born, tail = window.born[marked], window.tail[marked]
        self._delivered += len(born)
        self._hops += int(window.hops[marked].sum())
        if self._flows is not None:
            self._flows.add(window.begin[marked], window.end[marked], tail - born)
        for index, since in enumerate((born, window.head[marked])):
            self._histograms[index] = _added(self._histograms[index], np.bincount(tail - since))
        batch = (born - self.start).astype(np.int64) * BATCHES // (self.stop - self.start)
        self._batches[0] += np.bincount(batch, minlength=BATCHES)
        self._batches[1] += np.bincount(batch, weights=tail - born, minlength=BATCHES)

    def result(self, run: _Run, steady: bool, counts: Counts | None, seconds: float) -> Measurement:
        """Sum up."""
        flits = run.packet_length / (run.terminals * (self.stop - self.start))
        messages, sums = self._batches
        means = np.divide(sums, messages, out=np.full(BATCHES, math.nan), where=messages > 0)
        taken = self._taken[run.senders].astype(np.float64)
        squares = len(taken) * (taken**2).sum()
        return Measurement(
            warmup=self.start,
            steady=steady and self.left == self.created and not grows(means),
            cycles=run.cycle,
            created=self.created,
            delivered=self._delivered,
            stranded=self._stranded,
            packets=self._packets,
            payload_share=self._flits / (self._packets * run.packet_length) if self._packets else math.nan,
            offered_rate=self._packets * flits,
            accepted_rate=int(self._taken.sum()) * flits,
            stranded_rate=self._elsewhere * flits,
            packet_latency=self._histograms[0],
            network_latency=self._histograms[1],
            half_width=half_width(means) if messages.all() else math.inf,
            mean_hops=self._hops / self._delivered if self._delivered else math.nan,
            flit_hops=run.flit_hops,
            fairness=float(taken.sum() ** 2 / squares) if squares else math.nan,
            seconds=seconds,
            counts=counts,
            messages="" if self._digest is None else self._digest.hexdigest()[:32],
        )


def _added(one: Integers, other: Integers) -> Integers:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    longer = longer.copy()
    longer[: len(shorter)] += shorter
    return longer
