"""Open-loop measurement: warm up, mark the messages of an interval, and go on at the same load until they have left.

A message becomes the packets that hold its flits, given to its source at once, and has arrived when all of them have:
with adaptive routing they may overtake each other. Without lengths a message is a packet.

The method is that of Dally and Towles, Principles and Practices of Interconnection Networks, chapter 24: an infinite
queue at every source, latency from the creation of a packet, accepted rate at the terminals.
"""

import math
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain

import numpy as np
import numpy.typing as npt

from hdnhw.kernels import Stopwatch
from hdnhw.model.counts import Counts
from hdnhw.model.fabric import FabricModel
from hdnhw.model.flows import Flows
from hdnhw.model.load import BATCHES, LEAST_RATE, MOST_CYCLES, LoadSpec
from hdnhw.model.loaded import LoadedFabric, Window, warm_up
from hdnhw.model.statistics import grows, half_width, summarise
from hdnhw.model.tally import count_messages, count_taken, longest_latencies
from hdnhw.progress import Progress
from hdnhw.spec import SpecError

__all__ = [
    "Measurement",
    "measure",
    "zero_load_latency",
]

LONE_PACKETS, LONE_SLOTS = 8000, 100
"""Packets that are offered to find the latency at zero load, and the mean of the slots from one to the next."""

Integers = npt.NDArray[np.int64]


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
    run = LoadedFabric(model, load, counting=counting, threads=threads, progress=progress)
    windows, steady = ([], True) if load.warmup is not None else warm_up(run)
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

    def take(self, window: Window) -> None:
        """Count a window."""
        marked = slice(*np.searchsorted(window.created, [self.start, self.stop]))
        packets = window.packets[marked]
        self.created += len(packets)
        if self._digest is not None:
            whole = np.vstack([window.created[marked] - self.start, window.ends[:, marked]])
            self._digest.update(np.ascontiguousarray(whole.T).tobytes())
        self._packets += int(packets.sum())
        self._flits += int(window.flits[marked].sum())
        interval = self.start, self.stop
        self._elsewhere += count_taken(window.source, window.taken, window.arrived, *interval, self._taken)
        self._finish(window)

    def _finish(self, window: Window) -> None:
        """Count the messages that left."""
        interval = self.start, self.stop
        self._stranded += int(((window.stranded >= self.start) & (window.stranded < self.stop)).sum())
        if self._flows is not None:
            marked = (window.born >= self.start) & (window.born < self.stop)
            latency = window.tail[marked] - window.born[marked]
            self._flows.add(window.begin[marked], window.end[marked], latency)
        cycles = window.born, window.head, window.tail
        delivered, *longest = longest_latencies(*cycles, *interval)
        self._delivered += delivered
        self._histograms = [_grown(*each) for each in zip(self._histograms, longest, strict=True)]
        self._hops += count_messages(*cycles, window.hops, *interval, *self._histograms, self._batches)

    def result(self, run: LoadedFabric, steady: bool, counts: Counts | None, seconds: float) -> Measurement:
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


def _grown(histogram: Integers, longest: int) -> Integers:
    """Return a histogram with a place for so many cycles."""
    missing = longest + 1 - len(histogram)
    return np.append(histogram, np.zeros(missing, np.int64)) if missing > 0 else histogram
