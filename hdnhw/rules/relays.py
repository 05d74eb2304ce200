"""The dependency graph of a fabric with relays: virtual channels, injection queues and the buffers of relays."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hdnhw.rules.cdg import DependencyGraph, build_dependency_graph
from hdnhw.rules.plan import Proof, RoutingPlan
from hdnhw.support.errors import RuleError

Edges = npt.NDArray[np.int64]
"""Pairs of vertices, shape (edges, 2)."""


def relay_dependencies(
    graph: DependencyGraph, waypoints: int, queues: int = 1, *, reserved: bool = True
) -> tuple[int, Edges]:
    """Return what a packet that holds a place may wait for before it leaves it.

    Vertices are, in this order: virtual channels, those of node n beginning at ``n * ports * num_vcs``; the injection
    queue of each node; for each queue of relays, of the classes 0 to W in turn, the buffers of each node; and a vertex
    a class that stands for the buffers of all its queues at all nodes, as a packet may ask for any of them.

    Parameters
    ----------
    graph : DependencyGraph
        Of the routing rule: the legs of all packets are its routes, or beginnings of them.
    waypoints : int
        Most that a packet names, W.
    queues : int
        Queues of each class but 0, which has one, at a relay.
    reserved : bool
        Whether packets go to a relay only when a buffer is reserved for them, so that ejection waits for nothing. If
        not, what comes to a relay waits for its buffers.

    Returns
    -------
    count, edges
        Number of vertices, and the dependencies.

    Notes
    -----
    Users take what comes out without waiting for what they send. Requests, grants and notices hold no buffer; they wait
    for injection, and everything that waits for one of them waits for the buffers whose relay sends it. Requests of a
    class wait in one line at a relay, so that one waits for the buffers of all queues that those before it ask for. In
    a queue packets wait for those before them, never the other way: the vertex stands for the first one.
    """
    nodes, channels = graph.used.shape
    inject = nodes * channels + np.arange(nodes)
    of_class = [1] + [queues] * waypoints
    buffers = np.split(nodes * (channels + 1) + np.arange(sum(of_class) * nodes), np.cumsum(of_class)[:-1] * nodes)
    anywhere = nodes * (channels + 1 + sum(of_class)) + np.arange(waypoints + 1)
    node, first, then = np.nonzero(graph.depends)
    target = graph.neighbors[node, first // graph.num_vcs].astype(np.int64)
    edges = [np.column_stack([node * channels + first, target * channels + then])]
    node, channel = np.nonzero(graph.turns[:, channels, :channels])
    edges.append(np.column_stack([inject[node], node * channels + channel]))
    for kind in range(waypoints + 1):
        edges.append(np.column_stack([buffers[kind], np.tile(inject, of_class[kind])]))
        edges.append(np.column_stack([np.full_like(buffers[kind], anywhere[kind]), buffers[kind]]))
        if kind:
            edges.append(np.column_stack([buffers[kind], np.full_like(buffers[kind], anywhere[kind - 1])]))
    if not reserved:
        relayed = np.concatenate(buffers[:waypoints]).reshape(-1, nodes)
        edges += [_arrivals(graph, queue) for queue in relayed]
    return int(anywhere[-1]) + 1, np.concatenate(edges)


def _arrivals(graph: DependencyGraph, buffers: npt.NDArray[np.int64]) -> Edges:
    """Return the dependencies of the virtual channels into each node on its buffers."""
    channels = graph.used.shape[1]
    node, channel = np.nonzero(graph.used)
    return np.column_stack([node * channels + channel, buffers[graph.neighbors[node, channel // graph.num_vcs]]])


def prove_relays(plan: RoutingPlan, waypoints: int, queues: int) -> Proof:
    """Prove that packets by waypoints cannot deadlock, see docs/decisions/0013 and :func:`relay_dependencies`.

    Raises
    ------
    RuleError
        If they can.
    """
    count, edges = relay_dependencies(build_dependency_graph(plan.rule), waypoints, queues)
    if not is_acyclic(count, edges):
        raise RuleError(f"relays of {plan.network.spec} with {waypoints} waypoints can deadlock")
    return Proof("exhaustive", count, len(edges), True)


def is_acyclic(count: int, edges: Edges) -> bool:
    """Tell whether a graph of so many vertices has no cycle."""
    if (edges[:, 0] == edges[:, 1]).any():
        return False
    graph = csr_array((np.ones(len(edges), np.uint8), (edges[:, 0], edges[:, 1])), shape=(count, count))
    components, _ = connected_components(graph, connection="strong")
    return int(components) == count
