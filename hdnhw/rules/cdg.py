"""The channel dependency graph of a routing rule, built in full, and the search for a cycle in it.

A vertex is a virtual channel (node, port, vc); there is an edge from one to the next if some packet, from any source to
any destination, holds the first while it waits for the second (Dally and Seitz, 1987). Acyclic means deadlock-free.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, Pointer, array_of
from hdnhw.rules.compiled import core_rule
from hdnhw.rules.hop import HopRule
from hdnhw.rules.table import TableRule
from hdnhw.support.errors import RuleError, SpecError
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.metrics import neighbor_table

MOST_DEPENDENCIES = 1 << 31
"""Pairs of virtual channels that meet at a router, of all routers: as many bytes, twice."""

_TABLE = array_of(np.int32), Number, Number
_follow = Function(
    "routes_dependencies",
    *(Pointer, array_of(np.int32), *_TABLE, array_of(np.int64), Number, Number),
    *(array_of(np.uint8), array_of(np.uint8), array_of(np.uint8)),
    result=Number,
)
_cycles = Function("routes_cycles", array_of(np.uint8), *_TABLE, Number, array_of(np.uint8))


@dataclass(frozen=True)
class DependencyGraph:
    """The virtual channels a rule uses and their dependencies.

    Attributes
    ----------
    num_ports, num_vcs : int
        Network ports per node; most virtual channels of any port.
    used : ndarray of uint8, shape (nodes, ports * num_vcs)
        Whether virtual channel ``port * num_vcs + vc`` leaving the node carries any packet.
    depends : ndarray of uint8, shape (nodes, ports * num_vcs, ports * num_vcs)
        Whether a packet that leaves the node by the first virtual channel leaves the next node by the second.
    turns : ndarray of uint8, shape (nodes, ports * num_vcs + 1, ports * num_vcs + 1)
        Whether a packet comes in by the first virtual channel, ``port * num_vcs + vc`` (the last index is injection),
        and leaves by the second (ejection).
    neighbors : ndarray of int32, shape (nodes, ports)
    """

    num_ports: int
    num_vcs: int
    used: npt.NDArray[np.uint8]
    depends: npt.NDArray[np.uint8]
    turns: npt.NDArray[np.uint8]
    neighbors: npt.NDArray[np.int32]

    @property
    def num_channels(self) -> int:
        """Virtual channels that carry some packet."""
        return int(self.used.sum())

    @property
    def num_edges(self) -> int:
        """Dependencies between them."""
        return int(self.depends.sum(dtype=np.int64))

    def find_cycle(self) -> list[tuple[int, int, int]] | None:
        """Return virtual channels (node, port, vc), each waiting for the next and the last for the first, or None."""
        left = np.empty_like(self.used)
        _cycles(self.depends, self.neighbors, *self.neighbors.shape, self.num_vcs, left)
        waiting = np.argwhere(left & self.used)
        if not len(waiting):
            return None
        # Every channel that is left has a holder that is left too, so a walk backwards must close a cycle.
        holders: dict[tuple[int, int], tuple[int, int]] = {}
        remaining = {(int(node), int(channel)) for node, channel in waiting}
        for node, channel in remaining:
            target = int(self.neighbors[node, channel // self.num_vcs])
            for following in np.flatnonzero(self.depends[node, channel]):
                if (target, int(following)) in remaining:
                    holders[target, int(following)] = (node, channel)
        walk, place = [], next(iter(sorted(holders)))
        while place not in walk:
            walk.append(place)
            place = holders[place]
        cycle = walk[walk.index(place) :][::-1]
        return [(node, channel // self.num_vcs, channel % self.num_vcs) for node, channel in cycle]


def build_dependency_graph(rule: HopRule | TableRule) -> DependencyGraph:
    """Build the full channel dependency graph by taking every hop from every node to every destination.

    Raises
    ------
    RuleError
        If a hop leaves the network or its virtual channels, or a packet stops anywhere but at its destination.
    SpecError
        If the graph would be too large.
    """
    network = rule.network
    nodes, ports, num_vcs = network.num_nodes, len(network.ports), max(rule.num_vcs, default=1)
    channels = ports * num_vcs
    if nodes * channels * channels > MOST_DEPENDENCIES:
        raise SpecError(
            f"routing of {network.spec} is not proved deadlock-free: the dependencies of {nodes} nodes with {channels} "
            "virtual channels each are too many"
        )
    neighbors = neighbor_table(network)
    used = np.zeros((nodes, channels), np.uint8)
    depends = np.zeros((nodes, channels, channels), np.uint8)
    turns = np.zeros((nodes, channels + 1, channels + 1), np.uint8)
    address = AddressLayout(network).of_nodes.astype(np.int32)
    opposite = np.array([port.opposite for port in network.ports], dtype=np.int64)
    given = address, neighbors, nodes, ports, opposite, network.num_terminals, num_vcs
    bad = _follow(core_rule(rule, strict=True).pointer, *given, used, depends, turns)
    if bad >= 0:
        raise RuleError(f"rule of {network.spec} takes no valid hop at node {bad // nodes} to {bad % nodes}")
    return DependencyGraph(ports, num_vcs, used, depends, turns, neighbors)
