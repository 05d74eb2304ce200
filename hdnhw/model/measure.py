"""Open-loop measurement: warm up, mark the messages of an interval, and go on at the same load until they have left.

A message becomes the packets that hold its flits, given to its source at once; as routing is deterministic and queues
are in order, the last of them arrives last. Without lengths a message is a packet.

The method is that of Dally and Towles, Principles and Practices of Interconnection Networks, chapter 24: an infinite
queue at every source, latency from the creation of a packet, accepted rate at the terminals.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from hdnhw.kernels import Stopwatch
from hdnhw.model.counts import Counts
from hdnhw.model.fabric import Course, FabricModel
from hdnhw.model.kernel.state import CREATED, DESTINATION, HEAD_CYCLE, HOPS, NODE, TAG, TAIL_CYCLE, Arrivals
from hdnhw.model.watchdog import Watchdog
from hdnhw.spec import SpecError
from hdnhw.topology.network import Network
from hdnhw.traffic.load import Load, Messages
from hdnhw.traffic.packets import Terminals

__all__ = [
    "LEAST_RATE",
    "LoadSpec",
    "Measurement",
    "Progress",
    "bins",
    "grows",
    "measure",
    "summarise",
    "truncation_point",
    "zero_load_latency",
]

BATCHES = 20
STUDENT = 2.093
"""Of the t-distribution with BATCHES - 1 degrees of freedom: the quantile of 97.5 %."""

WINDOW_PACKETS = 1 << 16
"""Packets, on average, that a window of cycles creates at most."""

BLOCK_SLOTS, LEAST_BLOCK = 40, 200
"""Of a block of the warm-up: slots, and cycles at least."""

LEAST_BLOCKS, MOST_BLOCKS = 10, 60

STANDARD_ERRORS = 5
"""Above 0 is the slope of latencies that grow; fewer are found where bursts of messages are as long as batches."""

LONE_PACKETS, LONE_SLOTS = 8000, 100
"""Packets that are offered to find the latency at zero load, and the mean of the slots from one to the next."""

MOST_BINS = 40
"""Of a histogram that is shown."""

LEAST_RATE, MOST_CYCLES = 1e-9, 500_000_000
"""Of a load: flits a node and cycle; cycles of the interval and of the warm-up, so that all fit into 31 bits."""

_LAST, _FIRST, _SOURCE = 1, 2, 2
"""Of a packet's tag: whether it is the last or the first of its message, and how far to the left its source stands."""

Integers = npt.NDArray[np.int64]
Packets = npt.NDArray[np.int32]
"""Rows of packets that have left, or columns of them."""

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
    lengths : str or None
        Of messages, see :func:`hdnhw.traffic.lengths.parse_lengths`; None for one packet.
    rate : float
        Flits of packets a node and cycle, 1e-9 to 1.
    cycles : int
        Cycles of the interval that is measured, 20 to 500,000,000.
    warmup : int or None
        Cycles before it, up to 500,000,000; None to find out, see :func:`measure`.
    seed : int

    Raises
    ------
    SpecError
        If a member is out of range.
    """

    pattern: str = "uniform"
    injection: str = "bernoulli"
    lengths: str | None = None
    rate: float = 0.1
    cycles: int = 10_000
    warmup: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if not LEAST_RATE <= self.rate <= 1:
            raise SpecError(f"rate must be {LEAST_RATE} to 1 flit a node and cycle, not {self.rate}")
        if not BATCHES <= self.cycles <= MOST_CYCLES:
            raise SpecError(f"cycles must be {BATCHES} to {MOST_CYCLES}, not {self.cycles}")
        if self.warmup is not None and not 0 <= self.warmup <= MOST_CYCLES:
            raise SpecError(f"warmup must be 0 to {MOST_CYCLES} cycles, not {self.warmup}")
        if self.seed < 0:
            raise SpecError(f"seed must be at least 0, not {self.seed}")

    def on(self, network: Network, packet_length: int) -> Load:
        """Return what is created on a network with packets of so many flits."""
        return Load(
            network,
            packet_length,
            pattern=self.pattern,
            injection=self.injection,
            lengths=self.lengths,
            rate=self.rate,
            seed=self.seed,
        )


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


def measure(
    model: FabricModel, load: LoadSpec, *, counting: bool = False, progress: Progress = lambda *_: None
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
    progress : callable
        Is told a stage and the share of it that is done; of the warm-up and of the last packets, which end when they
        can, the share of the longest there is.

    Raises
    ------
    SpecError
        If the pattern, the injection process or the lengths cannot be, or the interval is too short for counts.
    HangError
        If there are packets that will never arrive, see :class:`hdnhw.model.watchdog.Watchdog`.
    """
    if counting and load.cycles < model.timing.packet_length:
        raise SpecError(f"cycles must be at least the {model.timing.packet_length} of a slot, not {load.cycles}")
    watch = Stopwatch()
    run = _Run(model, load, counting, progress)
    windows, steady = ([], True) if load.warmup is not None else _warm_up(run)
    start = run.cycle if load.warmup is None else load.warmup
    tally = _Tally(len(model.fabric.address), start, start + load.cycles)
    run.begin("measurement", tally.stop)
    for window in chain(windows, run.windows(tally.start)):
        tally.take(window)
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
    rate = max(LEAST_RATE, 1 / (LONE_SLOTS * model.plan.network.num_nodes))
    cycles = min(MOST_CYCLES, LONE_PACKETS * LONE_SLOTS * model.timing.packet_length)
    lone = measure(model, replace(load, injection="bernoulli", rate=rate, cycles=cycles, warmup=0))
    summary = summarise(lone.packet_latency)
    return None if summary is None else summary["mean"]


@dataclass(frozen=True, eq=False)
class _Window:
    """Some cycles of a run.

    Of the messages created, in the order of cycles: when, and how many packets and flits. Of the packets that left:
    their source, the cycle of the tail, and whether they were at their destination. Of the messages that left at their
    destination: the cycles in which they were created, their head was accepted and their last tail taken, and the
    channels that they crossed; of those that left elsewhere: the cycles in which they were created.
    """

    created: Integers
    packets: Integers
    flits: Integers
    source: Packets
    taken: Packets
    arrived: npt.NDArray[np.bool_]
    born: Packets
    head: Packets
    tail: Packets
    hops: Packets
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

    def __init__(self, model: FabricModel, load: LoadSpec, counting: bool, progress: Progress) -> None:
        self._model, self._progress, self.cycle = model, progress, 0
        self._load = load.on(model.plan.network, self.packet_length)
        self.senders = self._load.senders
        if model.faults is not None:
            self.senders = self.senders[~model.faults.nodes[self.senders]]
        per_cycle = load.rate / self.packet_length * len(self.senders)
        self._most_cycles = max(1, int(WINDOW_PACKETS / per_cycle))
        self.course = Course(model, Terminals(), room=max(1024, len(model.fabric.address)), counting=counting)
        self._beginnings, self.watchdog = (
            _Beginnings(),
            Watchdog(model, self.course, source_of=lambda tag: tag >> _SOURCE),
        )

    @property
    def packet_length(self) -> int:
        """Flits a packet."""
        return self._model.timing.packet_length

    @property
    def flit_hops(self) -> int:
        """Flits sent over channels between routers."""
        return self.course.packets_sent * self.packet_length

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
        messages = self._load.window(stop - self.cycle)
        if self._model.faults is not None:
            messages = messages.of_sources(~self._model.faults.nodes)
        created = messages.cycle + self.cycle
        left = self.course.advance(self._offer(created, messages), packets=1 << 62, limit=stop)
        self.cycle = stop
        self.watchdog.look()
        ended, head = self._ended(left)
        source, taken = left[:, TAG] >> _SOURCE, left[:, TAIL_CYCLE]
        home = self._is_home(ended)
        born, tail, hops = (ended[home, column] for column in (CREATED, TAIL_CYCLE, HOPS))
        return _Window(
            created,
            messages.packets,
            messages.flits,
            source,
            taken,
            self._is_home(left),
            born,
            head[home],
            tail,
            hops,
            ended[~home, CREATED],
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


def grows(means: npt.NDArray[np.float64]) -> bool:
    """Tell whether values grow: whether the slope of the least-squares line is over 5 of its standard errors above 0.

    Parameters
    ----------
    means : ndarray of float64, shape (values,)
        At equal distances; NaN where there is none. Where more than half are NaN, nothing is seen to grow.

    Examples
    --------
    >>> grows(np.array([1.0, 2.1, 2.9, 4.2, 5.0])), grows(np.array([1.0, 1.2, 0.9, 1.1, 1.2]))
    (True, False)
    """
    (there,) = np.nonzero(~np.isnan(means))
    if len(there) <= max(2, len(means) // 2):
        return False
    place, value = there - there.mean(), means[there] - means[there].mean()
    squares = place @ place
    slope = place @ value / squares
    left = value - slope * place
    error = math.sqrt(left @ left / (len(there) - 2) / squares)
    return bool(slope > STANDARD_ERRORS * error)


class _Tally:
    """Statistics of the messages created in an interval, and of packets taken in it."""

    def __init__(self, nodes: int, start: int, stop: int) -> None:
        self.start, self.stop, self.created, self._delivered, self._stranded = start, stop, 0, 0, 0
        self._packets, self._flits = 0, 0
        self._taken, self._elsewhere = np.zeros(nodes, np.int64), 0
        self._hops = 0
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
        self._packets += int(packets.sum())
        self._flits += int(window.flits[marked].sum())
        in_interval = (window.taken >= self.start) & (window.taken < self.stop)
        home = in_interval & window.arrived
        self._taken += np.bincount(window.source[home], minlength=len(self._taken))
        self._elsewhere += int(in_interval.sum() - home.sum())
        self._finish(window)

    def _finish(self, window: _Window) -> None:
        """Count the messages that left."""
        marked = (window.born >= self.start) & (window.born < self.stop)
        born, tail = window.born[marked], window.tail[marked]
        self._delivered += len(born)
        self._stranded += int(((window.stranded >= self.start) & (window.stranded < self.stop)).sum())
        self._hops += int(window.hops[marked].sum())
        for index, since in enumerate((born, window.head[marked])):
            self._histograms[index] = _added(self._histograms[index], np.bincount(tail - since))
        batch = (born - self.start).astype(np.int64) * BATCHES // (self.stop - self.start)
        self._batches[0] += np.bincount(batch, minlength=BATCHES)
        self._batches[1] += np.bincount(batch, weights=tail - born, minlength=BATCHES)

    def result(self, run: _Run, steady: bool, counts: Counts | None, seconds: float) -> Measurement:
        """Sum up."""
        flits = run.packet_length / (len(self._taken) * (self.stop - self.start))
        messages, sums = self._batches
        means = np.divide(sums, messages, out=np.full(BATCHES, math.nan), where=messages > 0)
        spread = np.std(means, ddof=1) if messages.all() else math.inf
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
            half_width=float(STUDENT * spread / math.sqrt(BATCHES)),
            mean_hops=self._hops / self._delivered if self._delivered else math.nan,
            flit_hops=run.flit_hops,
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


def bins(histogram: Integers) -> list[dict[str, int]]:
    """Return a histogram in at most :data:`MOST_BINS` bins of one width, which is 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> bins(np.array([0, 2, 0, 1]))
    [{'from': 1, 'to': 1, 'messages': 2}, {'from': 2, 'to': 2, 'messages': 0}, {'from': 3, 'to': 3, 'messages': 1}]
    """
    there = np.flatnonzero(histogram)
    if not len(there):
        return []
    least, most = int(there[0]), int(there[-1])
    widths = (step * 10**power for power in range(20) for step in (1, 2, 5))
    width = next(width for width in widths if most // width - least // width < MOST_BINS)
    first = least // width * width
    counts = np.add.reduceat(histogram[: most + 1], np.arange(first, most + 1, width))
    return [
        {"from": low, "to": low + width - 1, "messages": int(count)}
        for low, count in zip(range(first, most + 1, width), counts, strict=True)
    ]


def _added(one: Integers, other: Integers) -> Integers:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    longer = longer.copy()
    longer[: len(shorter)] += shorter
    return longer
