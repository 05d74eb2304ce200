"""Messages that are sent step by step among the packets of a load, and what each does to the other."""

import numpy as np
import numpy.typing as npt

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.loaded import NO_ARRIVALS, LoadedFabric, tag_of_other, warm_up
from hdnhw.model.core import NODE, TAIL_CYCLE, Arrivals
from hdnhw.model.course import MAX_CYCLE
from hdnhw.model.fabric import FabricModel
from hdnhw.model.tally import Told
from hdnhw.support.errors import SpecError
from hdnhw.support.progress import Progress
from hdnhw.traffic.lengths import packets_of

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
        if not warm_up(self._run):
            raise SpecError(
                f"background must be less than {model.plan.network.spec} carries, not {load.rate} flits per node per "
                f"cycle of {load.pattern}: queues grow without end"
            )
        stop = self._run.cycle + ALONE_BLOCKS * self._run.block
        self._alone = self._run.ledger.tally(self._run.cycle, stop, 1)
        self._run.begin("load alone", stop)
        self._run.go_on(stop)
        self.begin = self._last = self._slot_from(self._run.cycle)
        self._during = self._run.ledger.tally(self.begin, MAX_CYCLE, 1)

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
        arrivals = Arrivals.of(np.full(len(ends), begin), sources, self._model.address[ends], tag_of_other(sources))
        to_come = np.bincount(ends, minlength=self._model.plan.network.num_nodes)
        while to_come.any():
            # A terminal takes a packet per slot: before so many slots the step does not end.
            cycles = min((int(to_come.max()) - 1) * self._length, self._run.most_cycles)
            cycles += self._model.window_slots * self._length
            left = self._run.among(arrivals, self._run.allocated(max(self._run.cycle, begin) + cycles))
            arrivals = NO_ARRIVALS
            np.subtract.at(to_come, left[:, NODE], 1)
            if len(left):
                self._last = max(self._last, int(left[:, TAIL_CYCLE].max()) + 1)
        return self._last - begin

    def latencies(self) -> tuple[float | None, float | None]:
        """Return the mean latency of the load's messages from creation: alone, and of those created during the steps.

        The run goes on until these have left, but no longer than it has taken so far. None for no message.
        """
        end = self._run.cycle
        self._during.stop(end)
        self._run.begin("last packets", 2 * end)
        while (told := self._during.read()).left < told.created and self._run.cycle < 2 * end:
            self._run.go_on(self._run.cycle + self._run.block)
        return _mean(self._alone.read()), _mean(told)


def _mean(told: Told) -> float | None:
    """Return the mean latency in cycles, None if no message has arrived."""
    return round(told.waited / told.delivered, 2) if told.delivered else None
