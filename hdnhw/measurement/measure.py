"""Open-loop measurement: warm up, mark the messages of an interval, and go on at the same load until they have left.

A message becomes the packets that hold its flits, given to its source at once, and has arrived when all of them have:
with adaptive routing they may overtake each other. Without lengths a message is a packet.

The method is that of Dally and Towles, Principles and Practices of Interconnection Networks, chapter 24: an infinite
queue at every source, latency from the creation of a packet, accepted rate at the terminals.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hdnhw.measurement.load import BATCHES, LoadSpec
from hdnhw.measurement.loaded import LoadedFabric, Steps, done, warming_up
from hdnhw.measurement.statistics import LEAST_TIMES, grows, interval, mean_of, piles_up, summarize
from hdnhw.model.counts import Counts
from hdnhw.model.fabric import FabricModel
from hdnhw.model.flows import Flows
from hdnhw.model.tally import Told
from hdnhw.spec.load import LEAST_RATE, MOST_CYCLES
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Progress, Stopwatch

LONE_PACKETS, LONE_SLOTS = 8000, 100
"""Packets that are offered to find the latency at zero load, and the mean of the slots from one to the next."""

RELAXATION = 4
"""Times the square of the wait over the flits of a message: the cycles in which queues forget how long they were.

In heavy traffic that time grows with the square of the wait (Whitt, Planning queueing simulations, Management Science
35, 1989). The wait is that of the queues in which most is waited: half the mean square over the mean, which is the mean
where waits are exponential. Of 25 loads on five networks, integrated autocorrelation times from long runs were 2 to 4
times as long wherever the wait was a fifth of the latency or more. A run that is too short to see it seems less
correlated than it is.
"""

SPREAD = 2 / 3
"""Times the mean wait: the standard deviation of the mean over a relaxation time.

Waits are about exponential in heavy traffic: the mean of one queue over such a time is as wide as itself, and that of
many queues, which are not independent, less. At the same loads it was 0.1 to 0.8 times. Long waits are rare, and a run
without one seems more certain than it is.
"""

STEADY_TIMES = 2
"""Relaxation times that an interval must have for its queues to have shown that they do not grow."""

LONGER, MOST_LONGER, MARGIN = 8, 128, 1.2
"""Times as long, at most, is an interval for the sake of its precision as the one before, and as the first; and by how
much longer than what the one before asks for."""

MOST_ROUTER_CYCLES = 1 << 28
"""Of an interval that is longer than the first: ten seconds or so."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured. Latencies are in cycles, rates in flits of packets per node per cycle.

    Attributes
    ----------
    warmup : int
        Cycles before the interval.
    interval : int
        Cycles measured.
    steady : bool or None
        Whether the latencies would be the same had more cycles been measured. False: messages of the interval were
        still under way at the end, packets piled up in it, see :func:`hdnhw.measurement.statistics.piles_up`, or
        latencies grew, see :func:`hdnhw.measurement.statistics.grows`. None: it had no message, or less than two
        relaxation times of the queues, and is too short to tell.
    note : str or None
        Why it is not steady, or not as precise as was asked for.
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
    half_width, accepted_half_width : float
        Of the 95 % confidence intervals of the mean latency from creation and of the accepted rate; infinite where the
        interval has too few independent parts to tell, see :func:`hdnhw.measurement.statistics.interval`.
    times : float
        Independent parts of the interval: how many relaxation times it has.
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
    interval: int
    steady: bool | None
    note: str | None
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
    accepted_half_width: float
    times: float
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

    If the load asks for a precision, it is measured anew with a longer interval until that is reached, packets pile up
    or the interval is 128 times as long, or of 2**28 cycles times routers. The result is that of the last one alone.

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
        Set to the latencies of the messages of the interval, by source and destination.
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

    def begin(load: LoadSpec) -> LoadedFabric:
        return LoadedFabric(model, load, counting=counting, threads=threads, progress=progress)

    return done(measuring(model, load, begin, counting=counting, common=common, flows=flows))


def measuring(
    model: FabricModel,
    load: LoadSpec,
    begin: Callable[[LoadSpec], LoadedFabric],
    *,
    counting: bool = False,
    common: bool = False,
    flows: Flows | None = None,
) -> Steps[Measurement]:
    """Do the same step by step, in runs that `begin` begins."""
    if counting and load.cycles < model.timing.packet_length:
        raise SpecError(
            f"{named('cycles')} must be at least the {model.timing.packet_length} of a slot, not {load.cycles}"
        )
    most = min(MOST_CYCLES, MOST_LONGER * load.cycles, MOST_ROUTER_CYCLES // model.plan.network.num_nodes)
    most = max(load.cycles, most)
    while True:
        watch = Stopwatch()
        run = begin(load)
        measured = yield from _measure(run, load, counting, common, flows, watch)
        longer = _longer(measured, load.precision)
        if not longer:
            return measured
        if load.cycles == most:
            return replace(measured, note=measured.note or _imprecise(measured))
        load = replace(load, cycles=min(most, int(min(LONGER, max(2, longer)) * load.cycles)))


def _longer(measured: Measurement, precision: float | None) -> float:
    """Return how many times as long an interval needs to be for a precision; 0 if it is reached, or out of reach."""
    if precision is None or measured.steady is False:
        return 0
    if not measured.created:
        return LONGER
    if math.isinf(measured.half_width):
        return MARGIN * LEAST_TIMES / max(measured.times, 1 / LONGER)
    wide = measured.half_width / (precision * mean_of(measured.packet_latency))
    return MARGIN * wide**2 if wide > 1 else 0


def _imprecise(measured: Measurement) -> str:
    share = measured.half_width / mean_of(measured.packet_latency)
    what = "has no interval" if math.isinf(share) else f"is within {100 * share:.2g} % of itself, no less,"
    return f"not precise: the mean latency {what} after {measured.interval} cycles"


def _measure(
    run: LoadedFabric, load: LoadSpec, counting: bool, common: bool, flows: Flows | None, watch: Stopwatch
) -> Steps[Measurement]:
    """Measure an interval."""
    if load.warmup is None:
        yield from warming_up(run)
    if flows is not None:
        flows.clear()
    start = run.cycle if load.warmup is None else run.allocated(load.warmup) if common else load.warmup
    stop = start + load.cycles
    tally = run.ledger.tally(start, stop, min(BATCHES, load.cycles), flows)
    run.begin("measurement", stop)
    yield from run.going_on(start)
    if common:
        run.draw_anew()
    before = run.course.counts() if counting else None
    yield from run.going_on(stop)
    counts = None if before is None else run.course.counts().since(before)
    run.begin("last packets", 2 * stop)
    told = tally.read()
    while told.left < told.created and run.cycle < 2 * stop:
        yield from run.going_on(run.cycle + run.block)
        told = tally.read()
    run.watchdog.look(last=True)
    tally.end()
    found = _Interval(start, stop, told, tally.taken(), tally.histogram(), tally.histogram(from_head=True))
    return found.measured(run, counts, f"{told.digest % (1 << 64):016x}" if common else "", watch.seconds)


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
    lone = measure(model, replace(load, injection="bernoulli", rate=rate, cycles=cycles, warmup=0, precision=None))
    summary = summarize(lone.packet_latency)
    return None if summary is None else summary["mean"]


@dataclass(frozen=True, eq=False)
class _Interval:
    """The messages created in an interval, and the packets taken in it."""

    start: int
    stop: int
    told: Told
    taken: Integers
    packet_latency: Integers
    network_latency: Integers

    def _steady(self, times: float) -> tuple[bool | None, str | None]:
        """Return whether the interval is of a steady state, and why not."""
        told, cycles = self.told, self.stop - self.start
        if not told.created:
            return None, "not known to be steady: there is no message in the interval"
        if told.left < told.created:
            return False, f"not steady: {told.created - told.left} of {told.created} messages were still under way"
        if piles_up(told.offered, told.arrived + told.elsewhere):
            return False, "not steady: fewer packets are accepted than offered"
        growing = grows(told.latencies.astype(np.float64), told.messages.astype(np.float64))
        if growing and times >= LEAST_TIMES:
            return False, "not steady: latencies grow in the interval"
        if growing or times < STEADY_TIMES:
            return None, f"not known to be steady: {cycles} cycles are too few at this load"
        return True, None

    def _waits(self, run: LoadedFabric) -> tuple[float, float]:
        """Return the time in which queues forget how long they were, in batches, and the mean wait, in cycles."""
        told = self.told
        if not told.delivered:
            return 0.0, 0.0
        hops, hop_squares = told.hops / told.delivered, told.hop_squares / told.delivered
        packets, packet_squares = told.packets / told.created, told.packet_squares / told.created
        unloaded, own = run.unloaded_latency((hops, hop_squares - hops**2), (packets, packet_squares - packets**2))
        latency = mean_of(self.packet_latency)
        squares = np.arange(len(self.packet_latency)) ** 2 @ self.packet_latency
        variance = squares / told.delivered - latency**2
        wait = max(0.0, latency - unloaded)
        longest = max(wait, (wait**2 + float(variance) - own) / (2 * wait)) if wait else 0.0
        cycles = RELAXATION * longest**2 / (run.packet_length * packets)
        return float(cycles * told.offered.size / (self.stop - self.start)), wait

    def measured(self, run: LoadedFabric, counts: Counts | None, messages: str, seconds: float) -> Measurement:
        """Sum up."""
        told, cycles = self.told, self.stop - self.start
        flits = run.packet_length / (run.terminals * cycles)
        relaxation, wait = self._waits(run)
        sums, weights = told.latencies.astype(np.float64), told.messages.astype(np.float64)
        half_width, times = interval(sums, weights, relaxation, SPREAD * wait)
        steady, note = self._steady(times)
        forgotten = 0 if steady is False else relaxation  # an overloaded network accepts what it can
        accepted, _ = interval(told.arrived.astype(np.float64), np.ones(len(told.arrived)), forgotten)
        taken = self.taken[run.senders].astype(np.float64)
        squares = len(taken) * (taken**2).sum()
        return Measurement(
            warmup=self.start,
            interval=cycles,
            steady=steady,
            note=note,
            cycles=run.cycle,
            created=told.created,
            delivered=told.delivered,
            stranded=told.stranded,
            packets=told.packets,
            payload_share=told.flits / (told.packets * run.packet_length) if told.packets else math.nan,
            offered_rate=told.packets * flits,
            accepted_rate=int(told.arrived.sum()) * flits,
            stranded_rate=int(told.elsewhere.sum()) * flits,
            packet_latency=self.packet_latency,
            network_latency=self.network_latency,
            half_width=half_width if steady else math.inf,
            accepted_half_width=accepted * len(told.arrived) * flits,
            times=times,
            mean_hops=told.hops / told.delivered if told.delivered else math.nan,
            flit_hops=run.flit_hops,
            fairness=float(taken.sum() ** 2 / squares) if squares else math.nan,
            seconds=seconds,
            counts=counts,
            messages=messages,
        )
