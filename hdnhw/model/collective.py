"""Collective operations on the model: the steps of a schedule one after the other, and a total exchange simply routed.

A word is a flit. Messages that a node sends over one port in one step go as one, in as many packets as hold its words.
"""

from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.baselines import Baseline
from hdnhw.collectives.comparison import Algorithm
from hdnhw.collectives.executor import Execution
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.model.measure import Progress
from hdnhw.model.replay import exchange_on, replay
from hdnhw.model.sweep import Row, machine_row
from hdnhw.rules.statistics import routing_statistics
from hdnhw.spec import FabricSpec
from hdnhw.topology.flow import flow_bound
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.trace import make_trace

__all__ = ["measure_allreduce", "measure_baseline", "measure_network_exchange", "measure_steps"]

Integers = npt.NDArray[Any]


def measure_steps(fabric: FabricSpec, execution: Execution, *, words: int, progress: Progress = lambda *_: None) -> Row:
    """Run the steps of a schedule on the model; each begins when the last packet of the one before has arrived.

    Parameters
    ----------
    fabric : FabricSpec
    execution : Execution
        What each node sends in each step.
    words : int
        Flits of a message.
    progress : callable
        Is told a stage and the share of the steps that is done.

    Returns
    -------
    dict
        The machine, ``cycles`` and ``cycles_per_step``. A node is told the beginning of a step at no cost.
    """
    model = _direct_model(fabric)
    table, count = neighbor_table(model.plan.network), len(execution.sent)
    steps, cycles = _Steps(model), []
    for step, sent in enumerate(execution.sent):
        node, port = np.nonzero(sent)
        cycles.append(steps.cycles(node, table[node, port], sent[node, port] * words))
        progress("steps", (step + 1) / count)
    return machine_row(model.machine) | {"cycles": sum(cycles), "cycles_per_step": cycles}


def measure_baseline(
    fabric: FabricSpec, baseline: Baseline, *, words: int, progress: Progress = lambda *_: None
) -> Row:
    """Run an algorithm that routes its messages on the model; its steps begin as those of :func:`measure_steps`.

    Parameters
    ----------
    fabric : FabricSpec
    baseline : Baseline
    words : int
        Flits of a block.
    progress : callable
        Is told a stage and the share of the steps that is done.

    Returns
    -------
    dict
        The machine, ``cycles``, and ``cycles_per_step``: for each of the partners those of one step.
    """
    model = _direct_model(fabric)
    steps, cycles, own = _Steps(model), [], np.arange(baseline.nodes)
    for partner in baseline.partners:
        cycles.append(steps.cycles(own, partner, np.full(baseline.nodes, words)))
        progress("steps", len(cycles) / len(baseline.partners))
    return machine_row(model.machine) | {"cycles": sum(cycles) * baseline.repeats, "cycles_per_step": cycles}


def measure_allreduce(
    fabric: FabricSpec, algorithm: Algorithm, *, vector_words: int, progress: Progress = lambda *_: None
) -> Row:
    """Run an algorithm of an all-reduce; see :func:`measure_steps` and :func:`measure_baseline`."""
    words, run = algorithm.words(vector_words), algorithm.run
    if isinstance(run, Baseline):
        return measure_baseline(fabric, run, words=words, progress=progress)
    return measure_steps(fabric, run, words=words, progress=progress)


def _direct_model(fabric: FabricSpec) -> FabricModel:
    """Return the model of a machine whose packets go straight to their destinations."""
    model = model_of(fabric)
    model.plan.check_direct("collectives")
    return model


class _Steps:
    """Runs steps of which each finds the fabric empty, as after a reset: those that are alike are run once."""

    def __init__(self, model: FabricModel) -> None:
        self._model, self._known = model, dict[tuple[bytes, ...], int]()

    def cycles(self, source: Integers, destination: Integers, flits: Integers) -> int:
        """Return the cycles until the last packet of messages that are offered at once has arrived."""
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
        See :func:`hdnhw.model.replay.exchange_on`. For none to wait for another by the timetable, ports need packet
        buffers for the full rate of each class.
    progress : callable
        Is told a stage and the share of the packets that have arrived.

    Returns
    -------
    dict
        ``words``: most flits of messages over any channel, in packets as they are; ``lower_bound_cycles``: for these
        routes, the cycles of the packets over the channel or terminal that has most; ``flow_bound_words`` and
        ``flow_bound_cycles``: the least of both for any routes, None where :func:`hdnhw.topology.flow.flow_bound` has
        none.
    """
    model = _direct_model(fabric)
    network, length = model.plan.network, model.timing.packet_length
    nodes, packets = network.num_nodes, -(-words // length)
    if not at_once:
        progress("timetable", 0.0)
    run = replay(model, exchange_on(model, words=words, at_once=at_once), progress=progress)
    load = routing_statistics(model.plan).max_channel_load
    assert load is not None, "all pairs of so few nodes are routed"
    progress("flow bound", 0.0)
    least = flow_bound(neighbor_table(network))
    return machine_row(model.machine) | {
        "delivered": bool((run.tail >= 0).all()),
        "max_channel_load": load,
        "words": load * words,
        "cycles": run.cycles,
        "lower_bound_cycles": max(load, nodes - 1) * packets * length,
        "flow_bound_words": None if least is None else float(least * words),
        "flow_bound_cycles": None if least is None else max(ceil(least * packets), (nodes - 1) * packets) * length,
    }
