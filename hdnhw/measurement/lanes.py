"""Many loads on one small machine at once, each in a lane of the core's vectors: what is measured is the same.

All lanes allocate the same slot of the same router at a time, of other loads, so none has to wait for the branches of
another. A lane whose load has been measured begins with the next one, whatever the others do.
"""

import ctypes
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hdnhw.core import Function, Number, Pointer, array_of, optional
from hdnhw.core.traffic import CoreTraffic
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.loaded import MOST_BLOCKS, NO_ARRIVALS, LoadedFabric, block_of
from hdnhw.measurement.measure import Measurement, measuring
from hdnhw.model.core import PACKET_WORDS, CoreFabric, Words, checked, waiting_of
from hdnhw.model.course import Course, core_machine
from hdnhw.model.engines import COMPILED
from hdnhw.model.fabric import SCHEMES, FabricModel
from hdnhw.model.tally import Ledger
from hdnhw.support.progress import Progress, Stopwatch
from hdnhw.support.ranks import ranks
from hdnhw.traffic.packets import Terminals

LANES = 32
"""As ``hdnhw/core/src/lanes.hpp`` has them."""

LEAST_LOADS = 16
"""For which lanes, which take as long for one as for all, are faster than one run after the other."""

MOST_NODES, MOST_WAYS, MOST_PACKETS = 256, 8, 1 << 16
"""What bytes have room for: nodes, and ways of a router to others; and two bytes: packets in all routers."""

MOST_CREATED = 1 << 22
"""Messages of a load: if all wait in all lanes, they take a gibibyte."""

_make = Function("lanes_make", Pointer, Number, Pointer, result=Number)
_free = Function("lanes_free", Pointer)
_reset = Function("lanes_reset", Pointer, Number)
_load = Function("lanes_load", Pointer, Number, Pointer, Number, Pointer, result=Number)
_advance = Function("lanes_advance", Pointer, Number, result=Number)
_rows = Function("lanes_rows", Pointer, Number, optional(np.int32), result=Number)
_found = Function("lanes_found", Pointer, Number, optional(np.int32), result=Number)
_credits = Function("lanes_credits", Pointer, Number, array_of(np.int32))
_numbers = Function("lanes_numbers", Pointer, Number, array_of(np.int64))


def in_reach(model: FabricModel, loads: Sequence[LoadSpec]) -> bool:
    """Return whether lanes can measure loads on a machine, and are faster."""
    given = model.given
    ways = given["ports"] << given["vc_bits"]
    return (
        len(loads) >= LEAST_LOADS
        and model.engine == COMPILED
        and ranks().size == 1
        and model.faults is None
        and not any(load.has_lengths for load in loads)
        and all(_created(model, load) <= MOST_CREATED for load in loads)
        and SCHEMES[given["scheme"]] == ""
        and given["rounds"] == 0
        and not model.machine.offset
        and not given["gapless"]
        and given["nodes"] <= MOST_NODES
        and 0 < ways <= MOST_WAYS
        and given["vc_bits"] <= 1
        and bool((given["several"] == (given["vc_bits"] > 0)).all())
        and bool((given["interval"] == 1).all())
        and given["room"].max() < 256
        and given["nodes"] * (ways * given["room"][:ways].max() + 1) <= MOST_PACKETS
    )


def _created(model: FabricModel, load: LoadSpec) -> float:
    """Return the messages of a load in all cycles that a run may take, but for a longer interval."""
    timing, network = model.timing, model.plan.network
    warmup = MOST_BLOCKS * block_of(timing.packet_length) if load.warmup is None else load.warmup
    return load.rate / timing.packet_length * network.num_terminals * 2 * (warmup + load.cycles)


class EndlessRouteError(Exception):
    """A route does not end at its destination: a single run tells which."""


class _Lane(CoreFabric):
    """A lane as a fabric that others may be ahead of: it is advanced to where all have gone on."""

    def __init__(self, lanes: "Lanes", number: int) -> None:
        self._lanes, self._number, self._loads = lanes, number, list[Any]()
        self.origin = lanes.slot

    def load(self, traffic: CoreTraffic, first: int, ledger: Ledger | None) -> None:
        self._loads += [traffic, ledger]
        checked(_load(self._lanes.pointer, self._number, traffic.pointer, first, ledger and ledger.pointer))

    def advance(self, *_: Any, **__: Any) -> Words:
        """Return the packets that have left and are in no ledger."""
        rows = np.empty((_rows(self._lanes.pointer, self._number, None), PACKET_WORDS), np.int32)
        _rows(self._lanes.pointer, self._number, rows)
        return rows

    def found(self) -> Words:
        """Return the packets in queues of routers."""
        rows = np.empty((_found(self._lanes.pointer, self._number, None), 11), np.int32)
        _found(self._lanes.pointer, self._number, rows)
        return rows

    def waiting(self) -> Words:
        machine = self._lanes.machine
        return waiting_of(self.found(), self.credits(), machine.ports * machine.vcs)

    def farthest(self) -> None:
        """Return None: when lanes are made, all routes are followed to their end."""

    def credits(self, **_: Any) -> Words:
        """Return those that may be sent to, and those of which news is coming."""
        free = np.empty((self._lanes.machine.nodes, self._lanes.machine.queues), np.int32)
        _credits(self._lanes.pointer, self._number, free)
        return free

    def numbers(self) -> dict[str, int]:
        words = np.empty(5, np.int64)
        _numbers(self._lanes.pointer, self._number, words)
        return {"lost": 0, **dict(zip(("slot", "sent", "left", "offered", "holds"), words.tolist(), strict=True))}


class Lanes:
    """Lanes of a machine, each a fabric at reset or under a load.

    Parameters
    ----------
    model : FabricModel
        See :func:`in_reach`.

    Raises
    ------
    EndlessRouteError

    Attributes
    ----------
    slot : int
        Slots that have been allocated in all lanes.
    """

    def __init__(self, model: FabricModel) -> None:
        self.model, self.machine, self.slot = model, core_machine(model, Terminals()), 0
        made = ctypes.c_void_p()
        checked(_make(self.machine.pointer, model.plan.network.num_terminals, ctypes.addressof(made)))
        if made.value is None:
            raise EndlessRouteError
        self.pointer = made.value
        weakref.finalize(self, _free, made.value)

    def course(self, lane: int) -> Course:
        """Return a lane from reset on, which is now."""
        self.clear(lane)
        return Course(self.model, Terminals(), core=_Lane(self, lane))

    def clear(self, lane: int) -> None:
        """Forget the load of a lane, and all packets."""
        _reset(self.pointer, lane)

    def advance(self, slot: int) -> None:
        """Allocate all slots before this one in all lanes."""
        checked(_advance(self.pointer, slot - self.slot))
        self.slot = slot


class _Run:
    """A load that is measured in a lane; by itself from where it begins anew when it is not `worth` a lane any more."""

    def __init__(
        self, lanes: Lanes, lane: int, load: LoadSpec, worth: Callable[[], bool], common: bool, told: Progress
    ) -> None:
        model, self._alone = lanes.model, False
        self._timing = model.timing
        self.result: Measurement | None = None

        def begin(load: LoadSpec) -> LoadedFabric:
            course, self._origin, self._alone = lanes.course(lane), lanes.slot, not worth()
            return LoadedFabric(model, load, course=None if self._alone else course, progress=told)

        self._steps = measuring(model, load, begin, common=common)
        self._next()

    def _next(self) -> None:
        try:
            self._fabric, self._stop = next(self._steps)
        except StopIteration as end:
            self.result = end.value

    @property
    def due(self) -> int:
        """Slots before which it has nothing to look at."""
        return self._origin + (self._stop - self._timing.sample_phase) // self._timing.packet_length

    def step(self) -> None:
        """Take a step to where all lanes are, and all that are left if it is alone."""
        self._fabric.among(NO_ARRIVALS, self._stop)
        self._next()
        while self._alone and self.result is None:
            self._fabric.among(NO_ARRIVALS, self._stop)
            self._next()


def measure_lanes(
    model: FabricModel, loads: Sequence[LoadSpec], *, common: bool = False, progress: Progress = lambda *_: None
) -> list[Measurement]:
    """Measure loads that are :func:`in_reach`, as :func:`hdnhw.measurement.measure.measure` does, but for the seconds.

    The seconds are shared among the loads by the cycles that each took.

    Parameters
    ----------
    model : FabricModel
    loads : sequence of LoadSpec
    common : bool
        See :func:`hdnhw.measurement.measure.measure`.
    progress : callable
        Is told how many are done.

    Raises
    ------
    EndlessRouteError
    """
    watch, lanes, found = Stopwatch(), Lanes(model), dict[int, Measurement]()
    numbers, running = iter(range(len(loads))), dict[int, tuple[int, _Run]]()

    def told(stage: str, share: float) -> None:
        progress(f"{len(found)} of {len(loads)} loads: {stage}", (len(found) + share) / len(loads))

    def is_worth() -> bool:
        return len(loads) - len(found) >= LEAST_LOADS

    def fill(lane: int) -> None:
        number = next(numbers, None)
        if number is not None:
            running[lane] = number, _Run(lanes, lane, loads[number], is_worth, common, told)

    for lane in range(LANES):
        fill(lane)
    while running:
        lanes.advance(min(run.due for _, run in running.values()))
        for lane, (number, run) in [*running.items()]:
            if run.due != lanes.slot:
                continue
            run.step()
            if run.result is not None:
                found[number] = run.result
                del running[lane]
                lanes.clear(lane)
                fill(lane)
    share = watch.seconds / sum(each.cycles for each in found.values())
    return [replace(found[number], seconds=share * found[number].cycles) for number in range(len(loads))]
