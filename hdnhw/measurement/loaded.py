"""A fabric under a load, some cycles at a time, up to its steady state and on; other packets may be sent among it."""

from collections.abc import Generator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.statistics import truncation_point
from hdnhw.model.core import DESTINATION, NODE, TAG, Arrivals
from hdnhw.model.course import Course
from hdnhw.model.fabric import FabricModel
from hdnhw.model.reference import Reference
from hdnhw.model.tally import Ledger
from hdnhw.model.watchdog import Watchdog
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Progress
from hdnhw.traffic.load import Load
from hdnhw.traffic.packets import Terminals

WINDOW_PACKETS = 1 << 16
"""Packets, on average, that are created at most between two looks at a run."""

BLOCK_SLOTS, LEAST_BLOCK = 40, 200
"""Of a block of the warm-up: slots, and cycles at least."""

LEAST_BLOCKS, MOST_BLOCKS = 10, 60

_ALONE, _FIRST, _SOURCE = 1, 2, 2
"""Of a packet's tag: whether it is all of its message, or the first of several, and how far to the left its source
stands; as ``hdnhw/core/src/ledger.hpp`` has them."""

Integers = npt.NDArray[np.int64]
Packets = npt.NDArray[np.int32]
"""Rows of packets that have left."""

NO_ARRIVALS = Arrivals.of([], [], [], [])

Result = TypeVar("Result")
Steps = Generator[tuple["LoadedFabric", int], None, Result]
"""What is done with a run, step by step: a step yields the run and the cycle up to which it is to be simulated next."""


def block_of(packet_length: int) -> int:
    """Return the cycles of a block of the warm-up."""
    return max(LEAST_BLOCK, BLOCK_SLOTS * packet_length)


def done(steps: Steps[Result]) -> Result:
    """Return the result of steps, of which each is simulated by itself."""
    while True:
        try:
            run, stop = next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        run.among(NO_ARRIVALS, stop)


SAMPLED = 400
"""Messages whose routes say how long hops are."""


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
    """A fabric under a load.

    Parameters
    ----------
    model : FabricModel
    load : LoadSpec
    counting : bool
        See :class:`hdnhw.model.fabric.Course`.
    threads : int
    course : Course, optional
        Of the model at reset, if another one than its own is to be used.
    progress : callable
        Is told a stage and the share of it that is done.

    Attributes
    ----------
    cycle : int
        The next one to be simulated.
    most_cycles : int
        Between two looks at the run.
    ledger : Ledger
        Of the messages of the load.
    """

    def __init__(
        self,
        model: FabricModel,
        load: LoadSpec,
        *,
        counting: bool = False,
        threads: int = 1,
        course: Course | None = None,
        progress: Progress = lambda *_: None,
    ) -> None:
        self._model, self._spec, self._progress, self.cycle = model, load, progress, 0
        messages = self._messages_of(anew=False)
        self.senders = messages.senders
        if not len(self.senders):
            raise SpecError(f"{named('faults')} must leave a node that sends alive, and all of them are dead")
        per_cycle = load.rate / self.packet_length * len(self.senders)
        self.most_cycles = max(1, int(WINDOW_PACKETS / per_cycle))
        self.course = course or model.course(Terminals(), counting=counting, threads=threads)
        self.ledger = Ledger(model.plan.network.num_nodes, threads)
        self.watchdog = Watchdog(model, self.course, source_of=_source_of)
        self._take(messages)

    @property
    def packet_length(self) -> int:
        """Flits a packet."""
        return self._model.timing.packet_length

    def unloaded_latency(self, hops: tuple[float, float], packets: tuple[float, float]) -> tuple[float, float]:
        """Return mean and variance of the latency of messages that meet no others, from those of hops and packets."""
        timing, length, (hop, spread) = self._model.timing, self.packet_length, self._hop_cycles()
        own = [timing.zero_load_latency(0, phase) for phase in range(length)]
        mean = hop * hops[0] + sum(own) / length + length * (packets[0] - 1)
        return mean, hop**2 * hops[1] + spread + (length**2 - 1) / 12 + length**2 * packets[1]

    def _hop_cycles(self) -> tuple[float, float]:
        """Return the mean cycles of a hop, and the variance of a route's beside those: where they differ, of a sample.

        It has the shortest routes of some messages: those of other schemes are made of as many hops of each type.
        """
        machine, plan = self._model.machine, self._model.plan
        if not any(machine.channels.stages):
            return machine.timing.hop_cycles, 0.0
        wanted = max(1, int(SAMPLED * self.packet_length / (self._spec.rate * len(self.senders))))
        drawn = self._messages_of(anew=False).window(wanted)
        pairs = zip(drawn.source[:SAMPLED].tolist(), drawn.destination[:SAMPLED].tolist(), strict=True)
        routes = [[machine.hop_cycles(port) for _, port, _ in plan.rule.route(*pair)] for pair in pairs]
        hops, cycles = np.array([(len(route), sum(route)) for route in routes] or [(0, 0)]).T
        mean = cycles.sum() / max(1, hops.sum())
        return float(mean), float(np.var(cycles - mean * hops))

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
        return block_of(self.packet_length)

    def allocated(self, cycle: int) -> int:
        """Return the first cycle from this one on in which a slot is allocated."""
        return cycle + (self._model.timing.sample_phase - cycle) % self.packet_length

    def draw_anew(self) -> None:
        """Let the messages from now on be those of common random numbers."""
        self._take(self._messages_of(anew=True))

    def _messages_of(self, *, anew: bool) -> Load:
        dead = None if self._model.faults is None else self._model.faults.nodes
        return self._spec.on(self._model.plan.network, self.packet_length, dead=dead, anew=anew)

    def _take(self, messages: Load) -> None:
        """Let the messages from now on be these."""
        self._messages = messages
        if not isinstance(self.course, Reference):
            self.course.core.load(messages.core, self.cycle, self.ledger)

    def begin(self, stage: str, end: int) -> None:
        """Begin a stage that ends at cycle `end` at the latest."""
        self._stage, self._start, self._end = stage, self.cycle, end
        self._progress(stage, 0.0)

    def go_on(self, stop: int) -> None:
        """Simulate up to cycle `stop`, or the first one behind it at which a slot is allocated."""
        done(self.going_on(stop))

    def going_on(self, stop: int) -> Steps[None]:
        """Do the same step by step."""
        while self.cycle < stop:
            yield self, self.allocated(min(stop, self.cycle + self.most_cycles))
            self._progress(self._stage, (self.cycle - self._start) / (self._end - self._start))

    def among(self, others: Arrivals, stop: int) -> Packets:
        """Simulate up to cycle `stop`, in which a slot is allocated, with other packets among those of the load.

        Parameters
        ----------
        others : Arrivals
            Packets with the tags of :func:`tag_of_other` that sources get to send, before those of the load of the same
            cycle.
        stop : int

        Returns
        -------
        ndarray of int32, shape (packets, PACKET_WORDS)
            The other packets that have left.
        """
        course = self.course
        left = (
            self._feed(course, others, stop)
            if isinstance(course, Reference)
            else course.advance(others, packets=1 << 62, limit=stop)
        )
        self.cycle = stop
        self.watchdog.look()
        return left

    def _feed(self, course: Reference, others: Arrivals, stop: int) -> Packets:
        """Do for a reference what the core does for itself: give it the messages, and enter them."""
        messages = self._messages.window(stop - self.cycle).later(self.cycle)
        packets = messages.packets
        tag = np.repeat(messages.source << _SOURCE | np.where(packets == 1, _ALONE, 0), packets)
        tag[(np.cumsum(packets) - packets)[packets > 1]] |= _FIRST
        ends = self._model.address[messages.destination]
        cycle, source, destination = np.repeat([messages.cycle, messages.source, ends], packets, axis=1)
        arrivals = _merged(others, Arrivals.of(cycle, source, destination, tag))
        left = course.advance(arrivals, packets=1 << 62, limit=stop)
        is_own = left[:, TAG] >= 0
        own = left[is_own]
        self.ledger.enter(stop, messages, own, self._model.address[own[:, NODE]] == own[:, DESTINATION])
        return left[~is_own]


def warm_up(run: LoadedFabric) -> bool:
    """Simulate until the mean latency of blocks of cycles is steady; return whether it is."""
    return done(warming_up(run))


def warming_up(run: LoadedFabric) -> Steps[bool]:
    """Do the same step by step."""
    run.begin("warm-up", MOST_BLOCKS * run.block)
    means: list[float] = []
    before = run.ledger.ended()
    while len(means) < MOST_BLOCKS:
        yield from run.going_on(run.cycle + run.block)
        now = run.ledger.ended()
        messages, waited = (one - other for one, other in zip(now, before, strict=True))
        means.append(waited / messages if messages else 0.0)
        before = now
        if len(means) >= LEAST_BLOCKS and truncation_point(means) < len(means) // 2:
            return True
    return False
