"""Messages that are sent step by step among the packets of a load, and what each does to the other."""

import numpy as np
import numpy.typing as npt

from hdnhw.model.core import NODE, TAIL_CYCLE, Arrivals
from hdnhw.model.course import MAX_CYCLE
from hdnhw.model.fabric import FabricModel
from hdnhw.model.load import LoadSpec
from hdnhw.model.loaded import NO_ARRIVALS, LoadedFabric, Window, tag_of_other, warm_up
from hdnhw.progress import Progress
from hdnhw.spec import SpecError
from hdnhw.traffic.lengths import packets_of

__all__ = ["BusyFabric"]

ALONE_BLOCKS = 10
"""Blocks of cycles, as those of a warm-up, in which the load is measured alone."""

Integers = npt.NDArray[np.int64]


class BusyFabric:
    """A fabric in the steady state of a load, in which messages are sent step by step.

    Parameters
    ----------
    model : FabricModel
    load : LoadSpec
        Its cycles are not used.
    progress : callable
        Is told a stage and the share of it that is done.

    Attributes
    ----------
    begin : int
        Cycle in which the first step begins.

    Raises
    ------
    SpecError
        If there is no steady state: the load is more than the network carries.
    """

    def __init__(self, model: FabricModel, load: LoadSpec, *, progress: Progress = lambda *_: None) -> None:
        self._model, self._run = model, LoadedFabric(model, load, progress=progress)
        if not warm_up(self._run)[1]:
            raise SpecError(
                f"background must be less than {model.plan.network.spec} carries, not {load.rate} flits a node and "
                f"cycle of {load.pattern}: queues grow without end"
            )
        stop = self._run.cycle + ALONE_BLOCKS * self._run.block
        self._alone, self._during = _Latency(self._run.cycle, stop), _Latency(MAX_CYCLE, MAX_CYCLE)
        self._run.begin("load alone", stop)
        for window in self._run.windows(stop):
            self._note(window)
        self.begin = self._last = self._during.start = self._slot_from(self._run.cycle)

    @property
    def _length(self) -> int:
        return self._run.packet_length

    def _slot_from(self, cycle: int) -> int:
        """Return the first cycle from this one on that is as far from an allocation as cycle 0."""
        return cycle + -cycle % self._length

    def _note(self, window: Window) -> None:
        for latency in (self._alone, self._during):
            latency.add(window)

    def step(self, source: Integers, destination: Integers, flits: Integers) -> int:
        """Send messages at once; return the cycles until the last packet of them has arrived.

        Parameters
        ----------
        source, destination, flits : ndarray of int64, shape (messages,)
            A node sends its messages in this order.

        Returns
        -------
        int
            From the beginning of a slot, the first one behind the end of the step before.
        """
        if not len(source):
            return 0
        begin = self._slot_from(self._last)
        packets = packets_of(flits, self._length)
        sources, ends = np.repeat(source, packets), np.repeat(destination, packets)
        arrivals = Arrivals.of(np.full(len(ends), begin), sources, self._model.address[ends], tag_of_other(sources))
        to_come = np.bincount(ends, minlength=self._model.plan.network.num_nodes)
        while to_come.any():
            # A terminal takes a packet a slot: before so many slots the step does not end.
            cycles = min((int(to_come.max()) - 1) * self._length, self._run.most_cycles)
            cycles += self._model.window_slots * self._length
            window, left = self._run.among(arrivals, self._run.allocated(max(self._run.cycle, begin) + cycles))
            arrivals = NO_ARRIVALS
            self._note(window)
            np.subtract.at(to_come, left[:, NODE], 1)
            if len(left):
                self._last = max(self._last, int(left[:, TAIL_CYCLE].max()) + 1)
        return self._last - begin

    def latencies(self) -> tuple[float | None, float | None]:
        """Return the mean latency of the load's messages from creation: alone, and of those created during the steps.

        The run goes on until these have left, but no longer than it has taken so far. None for no message.
        """
        end = self._during.stop = self._run.cycle
        self._run.begin("last packets", 2 * end)
        while self._during.messages < self._during.created and self._run.cycle < 2 * end:
            for window in self._run.windows(self._run.cycle + self._run.block):
                self._note(window)
        return self._alone.mean, self._during.mean


class _Latency:
    """The latency of the messages that are created from one cycle on, before another.

    Attributes
    ----------
    start, stop : int
    created, messages : int
        How many there are, and how many of them have left.
    """

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop, self.created, self.messages, self._sum = start, stop, 0, 0, 0

    @property
    def mean(self) -> float | None:
        """Cycles from creation; None if no message has left."""
        return round(self._sum / self.messages, 2) if self.messages else None

    def add(self, window: Window) -> None:
        """Count the messages of some cycles."""
        first, last = np.searchsorted(window.created, [self.start, self.stop])
        self.created += int(last - first)
        within = (window.born >= self.start) & (window.born < self.stop)
        self.messages += int(within.sum())
        self._sum += int((window.tail - window.born)[within].sum(dtype=np.int64))
