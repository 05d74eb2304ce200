"""Messages that are sent step by step among the packets of a load, and what each does to the other."""

import numpy as np
import numpy.typing as npt

from hdnhw.model.fabric import FabricModel
from hdnhw.model.kernel.state import NODE, TAIL_CYCLE, Arrivals
from hdnhw.model.load import LoadSpec
from hdnhw.model.loaded import NO_ARRIVALS, LoadedFabric, tag_of_other, warm_up
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

    Raises
    ------
    SpecError
        If there is no steady state: the load is more than the network carries.
    """

    def __init__(self, model: FabricModel, load: LoadSpec, *, progress: Progress = lambda *_: None) -> None:
        self._model, self._run = model, LoadedFabric(model, load, progress=progress)
        windows, steady = warm_up(self._run)
        if not steady:
            raise SpecError(
                f"background must be less than {model.plan.network.spec} carries, not {load.rate} flits a node and "
                f"cycle of {load.pattern}: queues grow without end"
            )
        self._windows = windows
        self._first = self._run.cycle
        stop = self._first + ALONE_BLOCKS * self._run.block
        self._run.begin("load alone", stop)
        self._windows += self._run.windows(stop)
        self.begin = self._last = self._slot_from(self._run.cycle)
        # A packet that is allocated when a window begins leaves so many cycles later, and ends a step in the next one.
        self._least = (model.timing.out_cycles + 1) // self._length * self._length

    @property
    def _length(self) -> int:
        return self._run.packet_length

    def _slot_from(self, cycle: int) -> int:
        """Return the first cycle from this one on that is as far from an allocation as cycle 0."""
        return cycle + -cycle % self._length

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
        arrivals = Arrivals.of(
            np.full(len(ends), begin), sources, self._model.fabric.address[ends], tag_of_other(sources)
        )
        to_come = np.bincount(ends, minlength=self._model.plan.network.num_nodes)
        while to_come.any():
            # A terminal takes a packet a slot: before so many slots the step does not end.
            stop = max(self._run.cycle, begin) + (int(to_come.max()) - 1) * self._length + self._least
            window, left = self._run.among(arrivals, self._run.allocated(stop))
            arrivals = NO_ARRIVALS
            self._windows.append(window)
            np.subtract.at(to_come, left[:, NODE], 1)
            if len(left):
                self._last = max(self._last, int(left[:, TAIL_CYCLE].max()) + 1)
        return self._last - begin

    def latencies(self) -> tuple[float | None, float | None]:
        """Return the mean latency of the load's messages from creation, alone and of those created since steps began.

        The run goes on until these have left, but no longer than it has taken so far. None for no message.
        """
        born, tail = self._since(self._first, self.begin)
        alone = _mean(tail - born)
        end = self._run.cycle
        self._run.begin("last packets", 2 * end)
        missing = True
        while missing and self._run.cycle < 2 * end:
            self._windows += self._run.windows(self._run.cycle + self._run.block)
            created = sum(int(((w.created >= self.begin) & (w.created < self._last)).sum()) for w in self._windows)
            born, tail = self._since(self.begin, self._last)
            missing = len(born) < created
        return alone, _mean(tail - born)

    def _since(self, first: int, stop: int) -> tuple[Integers, Integers]:
        """Return when messages were created and taken that were created from one cycle on, before another."""
        born = np.concatenate([window.born for window in self._windows])
        tail = np.concatenate([window.tail for window in self._windows])
        within = (born >= first) & (born < stop)
        return born[within], tail[within]


def _mean(values: Integers) -> float | None:
    return round(float(values.mean()), 2) if len(values) else None
