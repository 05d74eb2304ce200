"""Figures of a routing plan over all pairs: hops, stretch and channel load."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hdnhw.kernels import kernel
from hdnhw.rules.decision import ROUTE, VC_SHIFT
from hdnhw.rules.plan import RoutingPlan
from hdnhw.topology.metrics import neighbor_table

__all__ = ["RoutingStatistics", "routing_statistics"]

PAIR_BUDGET = 1 << 26
"""Ordered pairs routed at most; larger networks are routed from every node to evenly spread destinations."""


PARTS = 64
"""In which the destinations are routed: a signal is obeyed after each."""


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
    saturation_bound : float or None
        Uniform traffic at which that channel is full, flits a node a cycle.
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
    saturation_bound: float | None


@kernel("void(int32[:, ::1], int64, int64[::1], int64[::1])")
def _search(neighbors: Any, source: int, distance: Any, queue: Any) -> None:
    """Fill `distance` from `source` by breadth-first search."""
    distance[:] = -1
    distance[source] = 0
    queue[0] = source
    start, end = 0, 1
    while start < end:
        node = queue[start]
        start += 1
        for port in range(neighbors.shape[1]):
            other = neighbors[node, port]
            if other >= 0 and distance[other] < 0:
                distance[other] = distance[node] + 1
                queue[end] = other
                end += 1


@kernel(f"void({ROUTE}, int64[::1], int32[:, ::1], int64, int64[::1], int64[::1], int64[::1])")
def _walk(route: Any, address: Any, neighbors: Any, dst: int, port_of: Any, hops: Any, stack: Any) -> None:
    """Fill the port that every node takes towards `dst` and its hops to there."""
    nodes = neighbors.shape[0]
    hops[:] = -1
    hops[dst] = 0
    for start in range(nodes):
        size, node = 0, start
        while hops[node] < 0:
            stack[size] = node
            size += 1
            port_of[node] = route(address[node], address[dst]) & ((1 << VC_SHIFT) - 1)
            node = neighbors[node, port_of[node]]
        count = hops[node]
        while size:
            size -= 1
            count += 1
            hops[stack[size]] = count


@kernel("void(int32[:, ::1], int64, int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1])")
def _add_load(neighbors: Any, terminals: int, port_of: Any, hops: Any, order: Any, flow: Any, load: Any) -> None:
    """Send one packet from every terminal and count what passes each channel, farthest nodes first."""
    nodes = neighbors.shape[0]
    starts = np.zeros(hops.max() + 2, np.int64)
    for node in range(nodes):
        starts[hops[node] + 1] += 1
    for hop in range(1, len(starts)):
        starts[hop] += starts[hop - 1]
    for node in range(nodes):
        order[starts[hops[node]]] = node
        starts[hops[node]] += 1
    flow[:] = 0
    flow[:terminals] = 1
    for item in range(nodes - 1, 0, -1):
        node = order[item]
        load[node, port_of[node]] += flow[node]
        flow[neighbors[node, port_of[node]]] += flow[node]


@kernel(f"void({ROUTE}, int64[::1], int32[:, ::1], int64, int64[::1], int64[:, ::1], float64[::1])")
def _gather(
    route: Any, address: Any, neighbors: Any, terminals: int, destinations: Any, load: Any, figures: Any
) -> None:
    """Add to the figures what is sent to some destinations: hops, most hops, longer pairs, excess, stretch, worst."""
    nodes = neighbors.shape[0]
    distance, queue, port_of = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    hops, stack, flow = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for dst in destinations:
        _search(neighbors, dst, distance, queue)
        _walk(route, address, neighbors, dst, port_of, hops, stack)
        _add_load(neighbors, terminals, port_of, hops, stack, flow, load)
        for node in range(terminals):
            if node != dst:
                figures[0] += hops[node]
                figures[1] = max(figures[1], hops[node])
                figures[2] += hops[node] > distance[node]
                figures[3] = max(figures[3], hops[node] - distance[node])
                figures[4] += hops[node] / distance[node]
                figures[5] = max(figures[5], hops[node] / distance[node])


def routing_statistics(
    plan: RoutingPlan, *, pair_budget: int = PAIR_BUDGET, progress: Callable[[float], None] = lambda _: None
) -> RoutingStatistics:
    """Route all pairs, or from every terminal to as many evenly spread destinations as `pair_budget` allows.

    `progress` is told the share that is done.
    """
    network = plan.network
    nodes, terminals = network.num_nodes, network.num_terminals
    count = terminals if nodes * terminals <= pair_budget else max(1, pair_budget // nodes)
    destinations = np.arange(count, dtype=np.int64) * terminals // count
    address = np.ascontiguousarray(plan.address.of_node(np.arange(nodes, dtype=np.int64)))
    load, table = np.zeros((nodes, len(network.ports)), np.int64), neighbor_table(network)
    figures = np.array([0, 0, 0, 0, 0, 1], np.float64)
    size = -(-count // PARTS)
    for first in range(0, count, size):
        progress(first / count)
        _gather(plan.route, address, table, terminals, destinations[first : first + size], load, figures)
    total, most, longer, excess, stretch, worst = figures.tolist()
    pairs, exhaustive = count * (terminals - 1), count == terminals
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
        saturation_bound=(terminals - 1) / int(load.max()) if exhaustive else None,
    )
