"""Collective operations on the model: the steps of a schedule one after the other, and a total exchange simply routed.

A word is a flit. Messages that a node sends over one port in one step go as one, in as many packets as hold its words.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.baselines import Baseline
from hdnhw.collectives.comparison import Algorithm
from hdnhw.collectives.executor import Execution
from hdnhw.measurement.background import BusyFabric
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.replay import exchange_on, replay
from hdnhw.measurement.results import Row
from hdnhw.measurement.sweep import machine_row
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.rules.statistics import routing_statistics
from hdnhw.spec import FabricSpec
from hdnhw.spec.load import MOST_REPEATS
from hdnhw.support.errors import SpecError
from hdnhw.support.progress import Progress
from hdnhw.topology.flow import flow_bound
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.trace import make_trace

Integers = npt.NDArray[Any]

Step = tuple[Integers, Integers, Integers]
"""Source, destination and flits of the messages of a step."""


@dataclass(frozen=True)
class Among:
    """Packets among which an operation is run as well.

    Attributes
    ----------
    load : LoadSpec
        Its cycles are not used.
    repeats : int
        How often the operation is run, one behind the other.

    Raises
    ------
    SpecError
        If the repeats are out of range.
    """

    load: LoadSpec
    repeats: int = 5

    def __post_init__(self) -> None:
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise SpecError(f"repeats must be 1 to {MOST_REPEATS}, not {self.repeats}")


def measure_steps(
    fabric: FabricSpec,
    execution: Execution,
    *,
    words: int,
    among: Among | None = None,
    progress: Progress = lambda *_: None,
) -> Row:
    """Run the steps of a schedule on the model; each begins when the last packet of the one before has arrived.

    Parameters
    ----------
    fabric : FabricSpec
    execution : Execution
        What each node sends in each step.
    words : int
        Flits of a message.
    among : Among, optional
        Packets among which it is run as well.
    progress : callable
        Is told a stage and the share of the steps that is done.

    Returns
    -------
    dict
        The machine, ``cycles`` and ``cycles_per_step`` in an empty network. A node is told the beginning of a step at
        no cost. With `among` also ``background``: what that is, the mean latency of its messages ``alone`` and of those
        created ``during`` the operation; and for all runs of the operation ``busy_cycles``, with the mean, and
        ``slowdown``, the mean beside ``cycles``.

    Raises
    ------
    SpecError
        If the load of `among` has no steady state.
    """
    model = direct_model(fabric)
    table = neighbor_table(model.plan.network)

    def messages(step: int) -> Step:
        node, port = np.nonzero(execution.sent[step])
        return node, table[node, port], execution.sent[step][node, port] * words

    return _measured(model, messages, len(execution.sent), 1, among, progress)


def measure_baseline(
    fabric: FabricSpec,
    baseline: Baseline,
    *,
    words: int,
    among: Among | None = None,
    progress: Progress = lambda *_: None,
) -> Row:
    """Run an algorithm that routes its messages on the model; its steps begin as those of :func:`measure_steps`.

    Parameters
    ----------
    fabric : FabricSpec
    baseline : Baseline
    words : int
        Flits of a block.
    among : Among, optional
        Packets among which it is run as well.
    progress : callable
        Is told a stage and the share of the steps that is done.

    Returns
    -------
    dict
        As of :func:`measure_steps`; ``cycles_per_step`` has for each of the partners those of one step.
    """
    model, own = direct_model(fabric), np.arange(baseline.nodes)

    def messages(step: int) -> Step:
        return own, baseline.partners[step], np.full(baseline.nodes, words)

    return _measured(model, messages, len(baseline.partners), baseline.repeats, among, progress)


def _measured(
    model: FabricModel, messages: Callable[[int], Step], steps: int, times: int, among: Among | None, progress: Progress
) -> Row:
    """Run steps, each so many times, in an empty fabric, and among other packets if there are some."""
    quiet, cycles = _QuietFabric(model), list[int]()
    for step in range(steps):
        cycles.append(quiet.step(*messages(step)))
        progress("steps", (step + 1) / steps)
    row = machine_row(model.machine) | {"cycles": sum(cycles) * times, "cycles_per_step": cycles}
    if among is None:
        return row
    load, busy, runs = among.load, BusyFabric(model, among.load, progress=progress), list[int]()
    for number in range(among.repeats):
        run = 0
        for step in range(steps):
            for _ in range(times):
                run += busy.step(*messages(step))
            progress(f"run {number + 1} among other packets", (step + 1) / steps)
        runs.append(run)
    alone, during = busy.latencies()
    about = {"pattern": load.pattern, "rate": load.rate, "seed": load.seed, "alone": alone, "during": during}
    mean = sum(runs) / len(runs)
    return row | {
        "background": about,
        "busy_cycles": {"mean": round(mean, 1), "runs": runs},
        "slowdown": round(mean / row["cycles"], 4) if row["cycles"] else None,
    }


def measure_allreduce(fabric: FabricSpec, algorithm: Algorithm, *, vector_words: int) -> Row:
    """Run an algorithm of an all-reduce; see :func:`measure_steps` and :func:`measure_baseline`."""
    words, run = algorithm.words(vector_words), algorithm.run
    if isinstance(run, Baseline):
        return measure_baseline(fabric, run, words=words)
    return measure_steps(fabric, run, words=words)


def direct_model(fabric: FabricSpec) -> FabricModel:
    """Return the model of a machine whose packets go straight to their destinations."""
    model = model_of(fabric)
    model.plan.check_direct("collectives")
    return model


class _QuietFabric:
    """A fabric that each step finds empty, as after a reset: those that are alike are run once."""

    def __init__(self, model: FabricModel) -> None:
        self._model, self._known = model, dict[tuple[bytes, ...], int]()

    def step(self, source: Integers, destination: Integers, flits: Integers) -> int:
        """Send messages at once; return the cycles until the last packet of them has arrived."""
        if not len(source):
            return 0
        columns = {
            "cycle": np.zeros(len(source), np.int64),
            "source": source,
            "destination": destination,
            "flits": flits,
        }
        key = tuple(column.tobytes() for column in columns.values())
        if key not in self._known:
            trace = make_trace(
                "schedule",
                columns,
                nodes=self._model.plan.network.num_nodes,
                place=lambda message: f"message {message} of a step",
            )
            self._known[key] = replay(self._model, trace).cycles
        return self._known[key]


def measure_network_exchange(
    fabric: FabricSpec, *, words: int, at_once: bool = False, progress: Progress = lambda *_: None
) -> Row:
    """Run a total exchange whose packets are simply routed, in the same relative order at every node.

    Parameters
    ----------
    fabric : FabricSpec
    words : int
        Flits of a message.
    at_once : bool
        See :func:`hdnhw.measurement.replay.exchange_on`. For none to wait for another by the timetable, ports need
        packet buffers for the full rate of each class.
    progress : callable
        Is told a stage and the share of the packets that have arrived.

    Returns
    -------
    dict
        ``words``: most flits of messages over any channel, in packets as they are; ``lower_bound_cycles``: for these
        routes, the cycles of the packets over the channel or terminal that takes longest; ``flow_bound_words`` and
        ``flow_bound_cycles``: the least of both for any routes, None where :func:`hdnhw.topology.flow.flow_bound` has
        none, and the cycles where channels are narrow: it counts all alike.
    """
    model = direct_model(fabric)
    network, length = model.plan.network, model.timing.packet_length
    nodes, packets = network.num_nodes, -(-words // length)
    if not at_once:
        progress("timetable", 0.0)
    run = replay(model, exchange_on(model, words=words, at_once=at_once), progress=progress)
    found = routing_statistics(model.plan, intervals=model.machine.channels.intervals)
    load, slots = found.max_channel_load, found.max_channel_slots
    assert load is not None, "all pairs of so few nodes are routed"
    assert slots is not None
    progress("flow bound", 0.0)
    least = flow_bound(neighbor_table(network))
    cycles = None if least is None else max(ceil(least * packets), (nodes - 1) * packets) * length
    return machine_row(model.machine) | {
        "delivered": bool((run.tail >= 0).all()),
        "max_channel_load": load,
        "words": load * words,
        "cycles": run.cycles,
        "lower_bound_cycles": max(slots, nodes - 1) * packets * length,
        "flow_bound_words": None if least is None else float(least * words),
        "flow_bound_cycles": None if model.machine.is_narrow else cycles,
    }
