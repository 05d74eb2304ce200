"""Collective operations on the model: the steps of a schedule one after the other, and a total exchange simply routed.

A word is a flit. Messages that a node sends over one port in one step go as one, in as many packets as hold its words.
"""

from math import ceil

import numpy as np

from hdnhw.collective.executor import Execution
from hdnhw.model.fabric import model_of
from hdnhw.model.measure import Progress
from hdnhw.model.replay import exchange_on, replay
from hdnhw.model.sweep import Row, machine_row
from hdnhw.routing.statistics import routing_statistics
from hdnhw.spec import FabricSpec
from hdnhw.topology.flow import flow_bound
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.trace import make_trace

__all__ = ["measure_network_exchange", "measure_steps"]


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
    model = model_of(fabric)
    table, cycles = neighbor_table(model.plan.network), []
    for step, sent in enumerate(execution.sent):
        node, port = np.nonzero(sent)
        columns = {
            "cycle": np.zeros(len(node), np.int64),
            "source": node,
            "destination": table[node, port],
            "flits": sent[node, port] * words,
        }
        trace = make_trace("schedule", columns, nodes=len(table), place=lambda message: f"message {message} of a step")
        cycles.append(replay(model, trace).cycles if len(node) else 0)
        progress("steps", (step + 1) / len(execution.sent))
    return machine_row(model.machine) | {"cycles": sum(cycles), "cycles_per_step": cycles}


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
    model = model_of(fabric)
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
