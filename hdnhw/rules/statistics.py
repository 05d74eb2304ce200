"""Figures of a routing plan over all pairs: hops, stretch and channel load."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hdnhw.core import Function, Number, Pointer, array_of
from hdnhw.rules.compiled import core_rule
from hdnhw.rules.plan import RoutingPlan
from hdnhw.topology.metrics import neighbor_table

PAIR_BUDGET = 1 << 26
"""Ordered pairs routed at most; larger networks are routed from every node to evenly spread destinations."""


PARTS = 64
"""In which the destinations are routed: a signal is obeyed after each."""

_add = Function(
    "routes_statistics",
    *(Pointer, array_of(np.int32), array_of(np.int32), Number, Number, Number),
    *(array_of(np.int64), Number, array_of(np.int64), array_of(np.float64)),
)


@dataclass(frozen=True)
class RoutingStatistics:
    """Figures over ordered pairs of distinct nodes that have a terminal.

    Attributes
    ----------
    pairs : int
        Ordered pairs routed.
    exhaustive : bool
        Whether these are all pairs.
    max_hops, mean_hops : int, float
    mean_stretch, worst_stretch : float
        Hops over distance, pair by pair.
    worst_excess : int
        Most hops above the distance.
    nonminimal_fraction : float
        Share of pairs whose route is longer than their distance.
    max_channel_load : int or None
        Most routes of all pairs through one channel; None if not exhaustive.
    max_channel_slots : int or None
        Most slots that packets on these routes take of one channel; None if not exhaustive.
    saturation_bound : float or None
        Uniform traffic at which that channel is full, flits per node a cycle.
    """

    pairs: int
    exhaustive: bool
    max_hops: int
    mean_hops: float
    mean_stretch: float
    worst_stretch: float
    worst_excess: int
    nonminimal_fraction: float
    max_channel_load: int | None
    max_channel_slots: int | None
    saturation_bound: float | None


def routing_statistics(
    plan: RoutingPlan,
    *,
    intervals: Sequence[int] | None = None,
    pair_budget: int = PAIR_BUDGET,
    progress: Callable[[float], None] = lambda _: None,
) -> RoutingStatistics:
    """Route all pairs, or from every terminal to as many evenly spread destinations as `pair_budget` allows.

    A packet takes so many slots, `intervals`, of the channels behind each port, one if that is omitted. `progress` is
    told the share that is done.
    """
    network = plan.network
    nodes, terminals = network.num_nodes, network.num_terminals
    count = terminals if nodes * terminals <= pair_budget else max(1, pair_budget // nodes)
    destinations = np.arange(count, dtype=np.int64) * terminals // count
    address = plan.address.of_nodes.astype(np.int32)
    load, table = np.zeros((nodes, len(network.ports)), np.int64), neighbor_table(network)
    figures = np.array([0, 0, 0, 0, 0, 1], np.float64)
    rule, size = core_rule(plan.rule), -(-count // PARTS)
    for first in range(0, count, size):
        progress(first / count)
        some = destinations[first : first + size]
        _add(rule.pointer, address, table, *table.shape, terminals, some, len(some), load, figures)
    total, most, longer, excess, stretch, worst = figures.tolist()
    pairs, exhaustive = count * (terminals - 1), count == terminals
    slots = int((load if intervals is None else load * np.array(intervals, np.int64)).max())
    return RoutingStatistics(
        pairs=pairs,
        exhaustive=exhaustive,
        max_hops=int(most),
        mean_hops=total / pairs,
        mean_stretch=stretch / pairs,
        worst_stretch=worst,
        worst_excess=int(excess),
        nonminimal_fraction=longer / pairs,
        max_channel_load=int(load.max()) if exhaustive else None,
        max_channel_slots=slots if exhaustive else None,
        saturation_bound=(terminals - 1) / slots if exhaustive else None,
    )
