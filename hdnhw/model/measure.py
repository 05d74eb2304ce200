"""Open-loop measurement: warm up, mark the packets of an interval, and go on at the same load until they have left.

The method is that of Dally and Towles, Principles and Practices of Interconnection Networks, chapter 24: an infinite
queue at every source, latency from the creation of a packet, accepted rate at the terminals.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from hdnhw.model.counts import Counts
from hdnhw.model.fabric import Course, FabricModel
from hdnhw.model.router import CREATED, HEAD_CYCLE, HOPS, TAG, TAIL_CYCLE
from hdnhw.model.watchdog import Watchdog
from hdnhw.spec import SpecError
from hdnhw.traffic.injection import parse_injection
from hdnhw.traffic.packets import Terminals
from hdnhw.traffic.patterns import parse_pattern

__all__ = ["LoadSpec", "Measurement", "Progress", "measure", "summarise", "truncation_point"]

BATCHES = 20
STUDENT = 2.093
"""Of the t-distribution with BATCHES - 1 degrees of freedom: the quantile of 97.5 %."""

WINDOW_PACKETS = 1 << 16
"""Packets, on average, that a window of cycles creates at most."""

BLOCK_SLOTS, LEAST_BLOCK = 40, 200
"""Of a block of the warm-up: slots, and cycles at least."""

LEAST_BLOCKS, MOST_BLOCKS = 10, 60

Integers = npt.NDArray[np.int64]

Progress = Callable[[str, float], None]


@dataclass(frozen=True, kw_only=True)
class LoadSpec:
    """What is offered, and how long it is measured.

    Attributes
    ----------
    pattern : str
        See :func:`hdnhw.traffic.patterns.parse_pattern`.
    injection : str
        See :func:`hdnhw.traffic.injection.parse_injection`.
    rate : float
        Flits a node and cycle, 0 to 1, above 0.
    cycles : int
        Cycles of the interval that is measured.
    warmup : int or None
        Cycles before it; None to find out, see :func:`measure`.
    seed : int

    Raises
    ------
    SpecError
        If a member is out of range.
    """

    pattern: str = "uniform"
    injection: str = "bernoulli"
    rate: float = 0.1
    cycles: int = 10_000
    warmup: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise SpecError(f"rate must be above 0 and at most 1 flit a node and cycle, not {self.rate}")
        if self.cycles < BATCHES:
            raise SpecError(f"cycles must be at least {BATCHES}, not {self.cycles}")
        if self.warmup is not None and self.warmup < 0:
            raise SpecError(f"warmup must be at least 0 cycles, not {self.warmup}")
        if self.seed < 0:
            raise SpecError(f"seed must be at least 0, not {self.seed}")


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured. Latencies are in cycles, rates in flits a node and cycle.

    Attributes
    ----------
    warmup : int
        Cycles before the interval.
    steady : bool
        Whether the warm-up ended in a steady state; True if it was prescribed.
    cycles : int
        Cycles simulated in all.
    created, delivered : int
        Packets created in the interval, and how many of them have come out by the end.
    offered_rate, accepted_rate : float
        Flits created, and taken by terminals, in the interval.
    packet_latency, network_latency : ndarray of int64
        Histograms of the delivered: index c counts packets that took c cycles from creation, and from the acceptance of
        the head flit, to the cycle in which the tail was taken.
    half_width : float
        Of the 95 % confidence interval of the mean packet latency, from the means of 20 batches.
    mean_hops : float
        Channels that the delivered have crossed.
    fairness : float
        Jain's index of the packets that came from each sender and were taken in the interval: 1 if all had the same.
    seconds : float
    counts : Counts or None
        What channels and queues did in the slots that are allocated in a cycle of the interval; None if nothing was
        counted.
    """

    warmup: int
    steady: bool
    cycles: int
    created: int
    delivered: int
    offered_rate: float
    accepted_rate: float
    packet_latency: Integers
    network_latency: Integers
    half_width: float
    mean_hops: float
    fairness: float
    seconds: float
    counts: Counts | None

    @property
    def saturated(self) -> bool:
        """Whether less than 95 % of what was offered was accepted, by more than chance makes of so many packets."""
        return self.accepted_rate < self.offered_rate * (0.95 - 3 / math.sqrt(max(1, self.created)))


def measure(
    model: FabricModel, load: LoadSpec, *, counting: bool = False, progress: Progress = lambda *_: None
) -> Measurement:
    """Measure a fabric under a load.

    Without a prescribed warm-up, blocks of cycles are simulated until the truncation point of their mean latencies that
    leaves the smallest standard error (MSER, White 1997) lies in their first half. A network beyond saturation does not
    get there: its warm-up ends after 60 blocks. The packets of the interval have as many cycles to leave as warm-up and
    interval took.

    Parameters
    ----------
    model : FabricModel
    load : LoadSpec
    counting : bool
        Whether to count what channels and queues do; the rest is the same without.
    progress : callable
        Is told a stage and the share of it that is done; of the warm-up and of the last packets, which end when they
        can, the share of the longest there is.

    Raises
    ------
    SpecError
        If the pattern or the injection process cannot be, or the interval is too short to count anything in it.
    HangError
        If there are packets that will never arrive, see :class:`hdnhw.model.watchdog.Watchdog`.
    """
    if counting and load.cycles < model.timing.packet_length:
        raise SpecError(f"cycles must be at least the {model.timing.packet_length} of a slot, not {load.cycles}")
    started = time.perf_counter()
    run = _Run(model, load, counting, progress)
    windows, steady = ([], True) if load.warmup is not None else _warm_up(run)
    start = run.cycle if load.warmup is None else load.warmup
    tally = _Tally(len(model.address), start, start + load.cycles)
    run.begin("measurement", tally.stop)
    for window in chain(windows, run.windows(tally.start)):
        tally.take(window)
    before = run.course.counts()
    for window in run.windows(tally.stop):
        tally.take(window)
    counts = run.course.counts().since(before) if counting else None
    run.begin("last packets", 2 * tally.stop)
    while tally.delivered < tally.created and run.cycle < 2 * tally.stop:
        for window in run.windows(run.cycle + run.block):
            tally.take(window)
    run.watchdog.look(last=True)
    return tally.result(run, steady, counts, time.perf_counter() - started)


@dataclass(frozen=True, eq=False)
class _Window:
    """Some cycles of a run: when packets were created, sorted; and those that left, tagged with their source."""

    created: Integers
    left: npt.NDArray[np.int32]


class _Run:
    """A fabric under a load, a window of cycles at a time."""

    def __init__(self, model: FabricModel, load: LoadSpec, counting: bool, progress: Progress) -> None:
        self._model, self._progress, self.cycle = model, progress, 0
        network = model.plan.network
        self._pattern = parse_pattern(load.pattern, network)
        seeds = np.random.SeedSequence(load.seed).spawn(2)
        arrivals, self._rng = (np.random.default_rng(seed) for seed in seeds)
        self.senders = self._pattern.senders
        self._injection = parse_injection(
            load.injection,
            senders=len(self.senders),
            rate=load.rate,
            packet_length=model.timing.packet_length,
            rng=arrivals,
        )
        per_cycle = load.rate / model.timing.packet_length * len(self.senders)
        self._most_cycles = max(1, int(WINDOW_PACKETS / per_cycle))
        self.course = Course(model, Terminals(), room=max(1024, network.num_nodes), counting=counting)
        self.watchdog = Watchdog(model, self.course)

    @property
    def packet_length(self) -> int:
        """Flits a packet."""
        return self._model.timing.packet_length

    @property
    def block(self) -> int:
        """Cycles of a block of the warm-up."""
        return max(LEAST_BLOCK, BLOCK_SLOTS * self.packet_length)

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
        timing = self._model.timing
        stop += (timing.sample_phase - stop) % timing.packet_length
        created, sender = self._injection.window(stop - self.cycle)
        created += self.cycle
        source = self.senders[sender]
        destination = self._model.address[self._pattern.draw(source, self._rng)].astype(np.int32)
        tag = source.astype(np.int32)
        left = self.course.advance((created, tag, destination, tag), packets=1 << 62, limit=stop)
        self.cycle = stop
        self.watchdog.look()
        return _Window(created, left)


def _warm_up(run: _Run) -> tuple[list[_Window], bool]:
    """Simulate until the mean latency of blocks of cycles is steady; return (the last block, whether it is).

    Some of the last block's packets are taken behind its end.
    """
    run.begin("warm-up", MOST_BLOCKS * run.block)
    means: list[float] = []
    while len(means) < MOST_BLOCKS:
        windows = list(run.windows(run.cycle + run.block))
        latencies = np.concatenate([window.left[:, TAIL_CYCLE] - window.left[:, CREATED] for window in windows])
        means.append(float(latencies.mean()) if len(latencies) else 0.0)
        if len(means) >= LEAST_BLOCKS and truncation_point(means) < len(means) // 2:
            return windows, True
    return windows, False


def truncation_point(means: Sequence[float]) -> int:
    """Return how many values at the beginning to leave out, half of them at most, by the MSER of White (1997).

    Examples
    --------
    >>> truncation_point([9.0, 5.0, 1.1, 0.9, 1.0, 1.1, 0.9, 1.0])
    2
    """
    values = np.asarray(means, dtype=np.float64)
    errors = [values[start:].var() / (len(values) - start) for start in range(len(values) // 2 + 1)]
    return int(np.argmin(errors))


class _Tally:
    """Statistics of the packets created in an interval, and of those taken in it."""

    def __init__(self, nodes: int, start: int, stop: int) -> None:
        self.start, self.stop, self.created, self.delivered = start, stop, 0, 0
        self._taken = np.zeros(nodes, np.int64)
        self._hops = 0
        self._histograms = [np.zeros(1, np.int64), np.zeros(1, np.int64)]
        self._batches = np.zeros((2, BATCHES), np.float64)

    def take(self, window: _Window) -> None:
        """Count a window."""
        first, last = np.searchsorted(window.created, [self.start, self.stop])
        self.created += int(last - first)
        cycle = window.left[:, TAIL_CYCLE]
        taken = window.left[(cycle >= self.start) & (cycle < self.stop), TAG]
        self._taken += np.bincount(taken, minlength=len(self._taken))
        created = window.left[:, CREATED]
        marked = (created >= self.start) & (created < self.stop)
        packets, created, cycle = window.left[marked], created[marked], cycle[marked]
        self.delivered += len(packets)
        self._hops += int(packets[:, HOPS].sum())
        for index, column in enumerate((CREATED, HEAD_CYCLE)):
            self._histograms[index] = _added(self._histograms[index], np.bincount(cycle - packets[:, column]))
        batch = (created - self.start).astype(np.int64) * BATCHES // (self.stop - self.start)
        self._batches[0] += np.bincount(batch, minlength=BATCHES)
        self._batches[1] += np.bincount(batch, weights=cycle - created, minlength=BATCHES)

    def result(self, run: _Run, steady: bool, counts: Counts | None, seconds: float) -> Measurement:
        """Sum up."""
        flits = run.packet_length / (len(self._taken) * (self.stop - self.start))
        packets, sums = self._batches
        spread = np.std(sums / packets, ddof=1) if packets.all() else math.inf
        taken = self._taken[run.senders].astype(np.float64)
        squares = len(taken) * (taken**2).sum()
        return Measurement(
            warmup=self.start,
            steady=steady,
            cycles=run.cycle,
            created=self.created,
            delivered=self.delivered,
            offered_rate=self.created * flits,
            accepted_rate=int(self._taken.sum()) * flits,
            packet_latency=self._histograms[0],
            network_latency=self._histograms[1],
            half_width=float(STUDENT * spread / math.sqrt(BATCHES)),
            mean_hops=self._hops / self.delivered if self.delivered else math.nan,
            fairness=float(taken.sum() ** 2 / squares) if squares else math.nan,
            seconds=seconds,
            counts=counts,
        )


def summarise(histogram: Integers) -> dict[str, float] | None:
    """Return mean, median (the lower one of two), 95th and 99th percentile and maximum of a histogram; None if empty.

    Examples
    --------
    >>> summarise(np.array([0, 2, 1, 1]))
    {'mean': 1.75, 'p50': 1, 'p95': 3, 'p99': 3, 'max': 3}
    """
    total = int(histogram.sum())
    if not total:
        return None
    below = np.cumsum(histogram)
    rank = {f"p{percent}": int(np.searchsorted(below, -(-total * percent // 100))) for percent in (50, 95, 99)}
    mean = round(float(histogram @ np.arange(len(histogram))) / total, 4)
    return {"mean": mean, **rank, "max": int(np.flatnonzero(histogram)[-1])}


def _added(one: Integers, other: Integers) -> Integers:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    longer = longer.copy()
    longer[: len(shorter)] += shorter
    return longer
