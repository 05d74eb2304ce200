"""A fabric under a load, some cycles at a time, up to its steady state and on; other packets may be sent among it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.model.core import (
    CREATED,
    DESTINATION,
    HEAD_CYCLE,
    HOPS,
    NODE,
    TAG,
    TAIL_CYCLE,
    Arrivals,
)
from hdnhw.model.fabric import FabricModel
from hdnhw.model.load import LoadSpec
from hdnhw.model.statistics import truncation_point
from hdnhw.model.tally import ends_messages
from hdnhw.model.watchdog import Watchdog
from hdnhw.progress import Progress
from hdnhw.spec import SpecError
from hdnhw.traffic.load import CommonLoad, Load, Messages
from hdnhw.traffic.packets import Terminals

__all__ = ["NO_ARRIVALS", "LoadedFabric", "Window", "tag_of_other", "warm_up"]

WINDOW_PACKETS = 1 << 16
"""Packets, on average, that a window of cycles creates at most."""

BLOCK_SLOTS, LEAST_BLOCK = 40, 200
"""Of a block of the warm-up: slots, and cycles at least."""

LEAST_BLOCKS, MOST_BLOCKS = 10, 60

_ALONE, _FIRST, _SOURCE = 1, 2, 2
"""Of a packet's tag: whether it is all of its message, or the first of several, and how far to the left its source
stands."""

Integers = npt.NDArray[np.int64]
Packets = npt.NDArray[np.int32]
"""Rows of packets that have left, or columns of them."""

NO_ARRIVALS = Arrivals.of([], [], [], [])


@dataclass(frozen=True, eq=False)
class Window:
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


class _UnderWay:
    """Messages of several packets of which some have not left.

    A source creates one message a cycle at most: source and cycle name it. Its packets may leave in any order.
    """

    def __init__(self) -> None:
        self._message, self._missing = np.empty(0, np.int64), np.empty(0, np.int64)
        self._head, self._tail = np.empty(0, np.int32), np.empty(0, np.int32)

    def add(self, message: Integers, packets: Integers) -> None:
        """Note messages that are offered, of so many packets."""
        message, missing = np.append(self._message, message), np.append(self._missing, packets)
        none = np.full(len(packets), -1, np.int32)
        order = np.argsort(message)
        self._message, self._missing = message[order], missing[order]
        self._head, self._tail = np.append(self._head, none)[order], np.append(self._tail, none)[order]

    def take(self, message: Integers, packets: Packets, first: npt.NDArray[np.bool_]) -> tuple[Packets, Packets]:
        """Note packets that have left, of these messages, and which are the first of one; forget messages that ended.

        Return the packets that were the last to leave, of those messages, and when these were accepted.
        """
        place = np.searchsorted(self._message, message)
        self._head[place[first]] = packets[first, HEAD_CYCLE]
        last = ends_messages(place, packets[:, TAIL_CYCLE], self._missing, self._tail)
        ended, head = packets[last], self._head[place[last]]
        there = self._missing > 0
        self._message, self._missing = self._message[there], self._missing[there]
        self._head, self._tail = self._head[there], self._tail[there]
        return ended, head


def tag_of_other(source: Integers) -> Integers:
    """Return the tags of packets from these nodes that are not of the load."""
    return ~source


def _source_of(tag: int) -> int:
    return ~tag if tag < 0 else tag >> _SOURCE


def _merged(first: Arrivals, second: Arrivals) -> Arrivals:
    """Return all of both, the first before the second of the same cycle."""
    order = np.argsort(np.append(first.cycle, second.cycle), kind="stable")
    cycle, *words = (np.append(getattr(first, name), getattr(second, name))[order] for name in Arrivals._fields)
    return Arrivals.of(cycle, *words)


class LoadedFabric:
    """A fabric under a load, a window of cycles at a time.

    Parameters
    ----------
    model : FabricModel
    load : LoadSpec
    counting : bool
        See :class:`hdnhw.model.fabric.Course`.
    threads : int
    progress : callable
        Is told a stage and the share of it that is done.

    Attributes
    ----------
    cycle : int
        The next one to be simulated.
    most_cycles : int
        Of a window.
    """

    def __init__(
        self,
        model: FabricModel,
        load: LoadSpec,
        *,
        counting: bool = False,
        threads: int = 1,
        progress: Progress = lambda *_: None,
    ) -> None:
        self._model, self._progress, self.cycle = model, progress, 0
        self._spec, self._load = load, load.on(model.plan.network, self.packet_length)
        self.senders = self._load.senders
        if model.faults is not None:
            self.senders = self.senders[~model.faults.nodes[self.senders]]
        if not len(self.senders):
            raise SpecError("faults must leave a node that sends alive, and all of them are dead")
        per_cycle = load.rate / self.packet_length * len(self.senders)
        self.most_cycles = max(1, int(WINDOW_PACKETS / per_cycle))
        self._messages: Load | CommonLoad = self._load
        self.course = model.course(Terminals(), counting=counting, threads=threads)
        self._under_way, self.watchdog = _UnderWay(), Watchdog(model, self.course, source_of=_source_of)

    @property
    def packet_length(self) -> int:
        """Flits a packet."""
        return self._model.timing.packet_length

    def unloaded_latency(self, hops: tuple[float, float], packets: tuple[float, float]) -> tuple[float, float]:
        """Return mean and variance of the latency of messages that meet no others, from those of hops and packets."""
        timing, length = self._model.timing, self.packet_length
        own = [timing.zero_load_latency(0, phase) for phase in range(length)]
        mean = timing.hop_cycles * hops[0] + sum(own) / length + length * (packets[0] - 1)
        return mean, timing.hop_cycles**2 * hops[1] + (length**2 - 1) / 12 + length**2 * packets[1]

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
        self._messages = CommonLoad(load, 1 << (self.most_cycles.bit_length() - 1))  # the same if a rate is rounded

    def begin(self, stage: str, end: int) -> None:
        """Begin a stage that ends at cycle `end` at the latest."""
        self._stage, self._start, self._end = stage, self.cycle, end
        self._progress(stage, 0.0)

    def windows(self, stop: int) -> Iterator[Window]:
        """Simulate up to cycle `stop`, or the first one behind it at which a slot is allocated."""
        while self.cycle < stop:
            yield self._window(self.allocated(min(stop, self.cycle + self.most_cycles)))[0]
            self._progress(self._stage, (self.cycle - self._start) / (self._end - self._start))

    def among(self, others: Arrivals, stop: int) -> tuple[Window, Packets]:
        """Simulate up to cycle `stop`, in which a slot is allocated, with other packets among those of the load.

        Parameters
        ----------
        others : Arrivals
            Packets with the tags of :func:`tag_of_other` that sources get to send, before those of the load of the same
            cycle.
        stop : int

        Returns
        -------
        window : Window
            The load.
        left : ndarray of int32, shape (packets, PACKET_WORDS)
            The other packets that have left.
        """
        return self._window(stop, others)

    def _window(self, stop: int, others: Arrivals | None = None) -> tuple[Window, Packets]:
        """Simulate some cycles; without `others` there must be no packets but those of the load."""
        messages = self._messages.window(stop - self.cycle)
        if self._model.faults is not None:
            messages = messages.of_sources(~self._model.faults.nodes)
        created = messages.cycle + self.cycle
        offers = self._offer(created, messages)
        offers = offers if others is None else _merged(others, offers)
        left = self.course.advance(offers, packets=1 << 62, limit=stop)
        left_of_others = left[:0]
        if others is not None:
            mine = left[:, TAG] >= 0
            left, left_of_others = left[mine], left[~mine]
        self.cycle = stop
        self.watchdog.look()
        ended, head = self._ended(left)
        source, taken = left[:, TAG] >> _SOURCE, left[:, TAIL_CYCLE]
        arrived = self._is_home(left)
        home = arrived if ended is left else self._is_home(ended)
        stranded = ended[~home, CREATED]
        if len(stranded):
            ended, head = ended[home], head[home]
        window = Window(
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
        return window, left_of_others

    def _is_home(self, packets: Packets) -> npt.NDArray[np.bool_]:
        """Tell which packets have left at their destination."""
        home: npt.NDArray[np.bool_] = self._model.address[packets[:, NODE]] == packets[:, DESTINATION]
        return home

    def _offer(self, created: Integers, messages: Messages) -> Arrivals:
        """Return the packets of messages as their sources get them to send."""
        source, destination = messages.source, self._model.address[messages.destination]
        tag = source << _SOURCE
        if self._load.one_packet:
            return Arrivals.of(created, source, destination, tag | _ALONE)
        packets = messages.packets
        several = packets > 1
        self._under_way.add(self._names(created[several], source[several]), packets[several])
        tag[~several] |= _ALONE
        created, source, destination, tag = (
            np.repeat(column, packets) for column in (created, source, destination, tag)
        )
        begins = np.cumsum(packets) - packets
        tag[begins[several]] |= _FIRST
        return Arrivals.of(created, source, destination, tag)

    def _ended(self, left: Packets) -> tuple[Packets, Packets]:
        """Return the packets with which messages have left whole, and when these messages were accepted."""
        if self._load.one_packet:
            return left, left[:, HEAD_CYCLE]
        is_alone = left[:, TAG] & _ALONE != 0
        alone, others = left[is_alone], left[~is_alone]
        names = self._names(others[:, CREATED], others[:, TAG] >> _SOURCE)
        ended, head = self._under_way.take(names, others, others[:, TAG] & _FIRST != 0)
        return np.concatenate([alone, ended]), np.append(alone[:, HEAD_CYCLE], head)

    def _names(self, created: npt.NDArray[Any], source: npt.NDArray[Any]) -> Integers:
        """Return a number for each message that a source has created in a cycle."""
        name: Integers = created * np.int64(len(self._model.address)) + source
        return name


def warm_up(run: LoadedFabric) -> tuple[list[Window], bool]:
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
