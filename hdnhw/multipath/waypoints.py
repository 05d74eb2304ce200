"""Routing around dead routers and channels: a packet may name nodes that it passes on its way.

Between two of them it goes by the table-free rule. At a waypoint it leaves the fabric and enters it again, so each leg
is a route like any other and needs no further buffer class.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, Pointer, array_of
from hdnhw.rules.compiled import core_rule
from hdnhw.rules.plan import RoutingPlan
from hdnhw.support.errors import SpecError
from hdnhw.topology.faults import Faults
from hdnhw.topology.metrics import neighbor_table

MAX_NODES = 1 << 13
"""Largest network of which all legs are looked at; a table of its routes has 64 MiB."""

FAR = 1 << 20
"""Hops where there is no route."""

Matrix = npt.NDArray[np.uint64]
"""Truth values of ordered pairs, shape (nodes, words): bit v % 64 of word v // 64 of row u is that of u and v."""

_TABLE = array_of(np.int32), Number, Number
_ports = Function("routes_ports", Pointer, array_of(np.int32), Number, array_of(np.uint8))
_legs = Function("routes_legs", array_of(np.uint8), *_TABLE, array_of(np.int16))
_connect = Function("search_connected", *_TABLE, array_of(np.uint64))
_join = Function("search_join", array_of(np.uint64), array_of(np.uint64), Number, array_of(np.uint64))


class RouteTable:
    """The next port of all routes of a plan: what the rule says, written down for a search over many faults.

    Attributes
    ----------
    neighbors : ndarray of int32, shape (num_nodes, ports)
    ports : ndarray of uint8, shape (num_nodes, num_nodes)
        The port that is taken, by destination and node.

    Raises
    ------
    SpecError
        If the network is too large, or has switches without terminals.
    """

    def __init__(self, plan: RoutingPlan) -> None:
        network = plan.network
        if network.num_terminals < network.num_nodes:
            raise SpecError(f"waypoints are nodes with terminals; {network.spec} has switches without")
        if network.num_nodes > MAX_NODES:
            raise SpecError(f"waypoints need at most {MAX_NODES} nodes; {network.spec} has {network.num_nodes}")
        self.neighbors = neighbor_table(network)
        nodes = np.arange(network.num_nodes, dtype=np.int64)
        self.ports = np.empty((len(nodes), len(nodes)), np.uint8)
        _ports(core_rule(plan.rule).pointer, plan.address.of_node(nodes).astype(np.int32), len(nodes), self.ports)

    def legs(self, faults: Faults | None = None) -> npt.NDArray[np.int16]:
        """Return the hops of each route that meets nothing dead, -1 for those that do.

        Without faults, nothing is.

        Returns
        -------
        ndarray of int16, shape (num_nodes, num_nodes)
            By source and destination; 0 from a healthy node to itself.
        """
        hops, alive = np.empty(self.ports.shape, np.int16), self.neighbors if faults is None else self._alive(faults)
        _legs(self.ports, alive, *alive.shape, hops)
        if faults is not None:
            np.fill_diagonal(hops, np.where(faults.nodes, -1, 0))
        return np.ascontiguousarray(hops.T)

    def connected(self, faults: Faults) -> Matrix:
        """Return between which healthy nodes there is any path."""
        reached = np.zeros((len(self.neighbors), -(-len(self.neighbors) // 64)), np.uint64)
        alive = self._alive(faults)
        _connect(alive, *alive.shape, reached)
        reached[faults.nodes] = 0
        return reached

    def _alive(self, faults: Faults) -> npt.NDArray[np.int32]:
        """Return the neighbors over healthy channels."""
        return np.where(faults.all_channels(self.neighbors), np.int32(-1), self.neighbors)


def _pack(flags: npt.NDArray[np.bool_]) -> Matrix:
    nodes = len(flags)
    padded = np.zeros((nodes, -(-nodes // 64) * 64), np.uint8)
    padded[:, :nodes] = flags
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


class Way(NamedTuple):
    """How a node is reached.

    Attributes
    ----------
    reach : str
        ``plain``, ``waypoints``; or why it is not: ``dead``, ``not connected``, ``needs more waypoints``.
    waypoints : list of int or None
    hops : int or None
        Of all legs.
    """

    reach: str
    waypoints: list[int] | None
    hops: int | None


class Detours:
    """What waypoints do for a set of faults.

    Notes
    -----
    With `two_way`, every leg but the last must be healthy in both directions, as it must be for a waypoint that
    answers.
    """

    def __init__(self, table: RouteTable, faults: Faults) -> None:
        self._table, self._faults = table, faults
        self._any = table.legs(faults)

    def _legs(self, two_way: bool) -> npt.NDArray[np.int16]:
        """Return the hops of the legs to waypoints."""
        return np.where(self._any.T >= 0, self._any, np.int16(-1)) if two_way else self._any

    @cached_property
    def connected(self) -> Matrix:
        """Between which healthy nodes there is any path at all."""
        return self._table.connected(self._faults)

    def reached(self, most: int, *, two_way: bool = False) -> list[Matrix]:
        """Return which pairs are joined by at most 0, 1, ... `most` waypoints."""
        legs, last = _pack(self._legs(two_way) >= 0), _pack(self._any >= 0)
        result = [last]
        for _ in range(most):
            joined = np.zeros_like(last)
            _join(legs, result[-1], len(joined), joined)
            result.append(joined | result[-1])
        return result

    def joined(self, among: Sequence[npt.NDArray[np.bool_]], most: int) -> list[list[float]]:
        """Return the share of pairs of two healthy nodes that are connected, and joined by at most 0, 1, ... waypoints.

        Parameters
        ----------
        among : sequence of ndarray of bool, shape (num_nodes, num_nodes)
            Of which pairs; a row is returned for each, of ones where it has no pair of healthy nodes.
        most : int
            Waypoints.
        """
        alive = ~self._faults.nodes
        reached = [self.connected, *self.reached(most)]
        rows = []
        for pairs in among:
            healthy = _pack(pairs & alive & alive[:, None])
            count = int(np.bitwise_count(healthy).sum())
            hits = [int(np.bitwise_count(matrix & healthy).sum()) for matrix in reached]
            rows.append([hit / count if count else 1.0 for hit in hits])
        return rows

    def choose(self, source: int, most: int, *, two_way: bool = False) -> list[tuple[int, ...] | None]:
        """Return waypoints from `source` to every node: the fewest, and of these choices one with the fewest hops.

        Returns
        -------
        list of tuple of int or None
            None where the destination is not reached by at most `most` waypoints.
        """
        legs, last = (np.where(hops < 0, np.int32(FAR), hops) for hops in (self._legs(two_way), self._any))
        chosen: list[tuple[int, ...] | None] = [() if hops < FAR else None for hops in last[source]]
        before, chains = legs[source], [(node,) for node in range(len(legs))]
        for count in range(1, most + 1):
            total = before[:, None] + last
            middle, total = total.argmin(axis=0), total.min(axis=0)
            for node in np.flatnonzero(total < FAR):
                if chosen[node] is None:
                    chosen[node] = chains[middle[node]]
            if count < most:
                total = before[:, None] + legs
                middle, before = total.argmin(axis=0), total.min(axis=0)
                chains = [(*chains[middle[node]], node) for node in range(len(legs))]
        return chosen

    def ways(self, source: int, most: int, *, two_way: bool = False) -> list[Way]:
        """Return how to reach each node from `source` by at most `most` waypoints, see :meth:`choose`."""
        row = self.connected[source]
        ways = []
        for node, chosen in enumerate(self.choose(source, most, two_way=two_way)):
            if chosen is not None:
                hops = sum(int(self._any[one, other]) for one, other in pairwise((source, *chosen, node)))
                ways.append(Way("waypoints" if chosen else "plain", list(chosen), hops))
            elif self._faults.nodes[node]:
                ways.append(Way("dead", None, None))
            else:
                joined = int(row[node >> 6]) >> (node & 63) & 1
                ways.append(Way("needs more waypoints" if joined else "not connected", None, None))
        return ways

    @property
    def connected_share(self) -> float:
        """The share of the ordered pairs of two healthy nodes that are connected; 1 where there is no pair."""
        alive = int((~self._faults.nodes).sum())
        pairs = alive * (alive - 1)
        return (int(np.bitwise_count(self.connected).sum()) - alive) / pairs if pairs else 1.0

    def fractions(self, most: int, *, two_way: bool = False) -> list[float]:
        """Return the share of the connected pairs of two nodes that are joined by at most 0, 1, ... `most` waypoints.

        It is 1 where no two nodes are connected.
        """
        alive = int((~self._faults.nodes).sum())
        pairs = int(np.bitwise_count(self.connected).sum()) - alive
        reached = self.reached(most, two_way=two_way)
        counts = [int(np.bitwise_count(matrix & self.connected).sum()) - alive for matrix in reached]
        return [count / pairs if pairs else 1.0 for count in counts]
