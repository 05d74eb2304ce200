"""Routing by tables: of every node and destination the next hop and its buffer class, for any connected graph.

Three ways to find buffer classes that cannot deadlock, each a mode of :func:`table_rule`:

``layers``
    Shortest routes. All channels stand in one order, and the class goes up by one where a route goes down in that
    order: so along a route class and place in the order, taken together, always go up. There are as many classes as the
    route with the most descents needs; several orders are tried, and of equally short routes one with few descents and
    little load is taken.
``updown``
    One class. Every edge leads up or down in an order of all nodes that begins at a root, and no route goes up after it
    has gone down (Schroeder et al., Autonet, 1991). Routes may be longer than the distance.
``hops``
    Shortest routes; the class tells how many hops are left (Merlin and Schweitzer, 1980): as many as the diameter has.

As in all rules, only the current node and the destination count. What comes out is proved like any rule.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.hop import check_router
from hdnhw.rules.trees import distance_sums, short_trees, shortest_classes, up_down_trees
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table, table_distances

TABLE_MODES = ("layers", "updown", "hops")

MOST_ROUTES = 1 << 26
"""Pairs of addresses of a node and a destination in a table: what networks of 8192 nodes have."""

MOST_CLASSES = 64

ROOTS = 4
"""Nodes of which each is tried as the root of an order of channels."""

SWEEPS = 8
"""How often routes to all destinations are chosen once the best order is known, each time by the load of the last."""

Table = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TableRule:
    """The next hop of a packet, from a table.

    Attributes
    ----------
    network : Network
    modes : str
        One of :data:`TABLE_MODES`.
    table : ndarray of int32, shape (addresses of destinations, addresses)
        Of the packed addresses of a destination and a node: ``port | vc << VC_SHIFT``. Where an address names no node
        with a terminal, packets count as having arrived.
    num_vcs : tuple of int
        Virtual channels that the rule may use on each port.
    lanes : int
        Virtual channels of a class.
    is_shortest : bool
        Whether every route is as short as the distance.
    """

    network: Network
    modes: str
    table: Table
    num_vcs: tuple[int, ...]
    lanes: int
    is_shortest: bool

    def next_hop(self, cur: Sequence[int], dst: Sequence[int]) -> tuple[int, int] | None:
        """Return (port index, virtual channel) of the next hop between two digit tuples, or None on arrival."""
        target, address = self.network.encode(tuple(dst)), AddressLayout(self.network)
        if target >= self.network.num_terminals:
            raise SpecError(f"node {target} of {self.network.spec} has no terminal: no route leads to it")
        decision = int(self.table[address.pack(dst), address.pack(cur)])
        port, vc = decision & ((1 << VC_SHIFT) - 1), decision >> VC_SHIFT
        return None if port == len(self.network.ports) else (port, vc)

    def route(self, src: int, dst: int) -> list[tuple[int, int, int]]:
        """Return the route between two node numbers as (node, port index, virtual channel), one entry a hop."""
        cur, target = self.network.decode(src), self.network.decode(dst)
        hops = []
        while (step := self.next_hop(cur, target)) is not None:
            hops.append((int(self.network.encode(cur)), *step))
            cur = self.network.move(cur, step[0])
        return hops


@lru_cache(maxsize=4)
def _found(network: Network, mode: str) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """Return ports and classes, shapes (num_terminals, num_nodes); -1 at the destination."""
    table = neighbor_table(network)
    if mode == "updown":
        found = (up_down_trees(table, height, network.num_terminals) for height in _heights(network, table))
        port, _ = min((made for made in found if made is not None), key=itemgetter(1))
        return port, np.zeros_like(port)
    if mode == "hops":
        flat = np.zeros(table.shape, np.int64)
        made = short_trees(table, flat, network.num_terminals, by_load=True, sweeps=SWEEPS)
        classes = made.hops.max() - made.hops
        return made.port, classes.astype(np.int16)
    return _layers(network, table)


def _layers(network: Network, table: Table) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """Return the routes of the order of channels that needs fewest classes, and of these the least load."""
    best: tuple[tuple[int, int], Integers, bool] | None = None
    for rank in _orders(network, table):
        for by_load in (True, False):
            made = short_trees(table, rank, network.num_terminals, by_load=by_load, sweeps=1)
            figures = int(made.descents.max()), int(made.load.max())
            if best is None or figures < best[0]:
                best = figures, rank, by_load
    assert best is not None
    (descents, _), rank, by_load = best
    made = short_trees(table, rank, network.num_terminals, by_load=by_load, sweeps=SWEEPS)
    if made.descents.max() > descents:
        made = short_trees(table, rank, network.num_terminals, by_load=by_load, sweeps=1)
    return made.port, shortest_classes(table, rank, made)


def _orders(network: Network, table: Table) -> Iterator[Integers]:
    """Yield orders of the channels, shape (num_nodes, ports): first up and then down, and port by port."""
    yield from (_up_then_down(table, height) for height in _heights(network, table))
    nodes = np.arange(len(table))
    columns = [
        number * len(table) + (nodes if number <= port.opposite else nodes[::-1])
        for number, port in enumerate(network.ports)
    ]
    rank = np.stack(columns, axis=1).astype(np.int64)
    rank[(table >= 0).sum(axis=1) == 1] -= rank.max() + 1
    yield np.ascontiguousarray(rank)


def _heights(network: Network, table: Table) -> Iterator[Integers]:
    """Yield heights of all nodes: nearer to a root is higher, or farther from all nodes that have a terminal."""
    for root in _roots(table):
        yield _height(table, root)
    if network.num_terminals < network.num_nodes:
        yield -_height(table, np.arange(network.num_terminals))


def _up_then_down(table: Table, height: Integers) -> Integers:
    """Return the order in which channels up come first, the lowest first, and those down follow, the highest first."""
    place = np.argsort(np.argsort(height, kind="stable"), kind="stable")[:, None]
    ahead = np.where(table < 0, 0, place[table, 0])
    return np.ascontiguousarray(np.where(ahead > place, place, 2 * len(table) - place).astype(np.int64))


def _roots(table: Table) -> list[int]:
    """Return nodes from which the others are nearest, spread over the ones that are equally good."""
    far = distance_sums(table)
    best = np.flatnonzero(far == far.min())
    return [int(best[place * len(best) // ROOTS]) for place in range(min(ROOTS, len(best)))]


def _height(table: Table, roots: Any) -> Integers:
    """Return numbers that are the higher the nearer a node is to `roots`, those of equal distance by their number."""
    far = table_distances(table, roots)
    return -(far * len(table) + np.arange(len(table)))


def table_rule(network: Network, modes: str | None = None, lanes: int = 1) -> TableRule:
    """Build the rule of a network for which no table-free one is known.

    Parameters
    ----------
    network : Network
    modes : str, optional
        One of :data:`TABLE_MODES`; ``layers`` if omitted, which has shortest routes and never more classes than
        ``hops``.
    lanes : int
        Virtual channels of a class, 1 or 2.

    Raises
    ------
    SpecError
        If the mode is none, there cannot be so many lanes, a router would have too many ports, or the network is too
        large for a table or its diameter for classes.
    """
    check_router(network, lanes)
    mode = "layers" if modes is None else modes
    if mode not in TABLE_MODES:
        allowed = choices_text(TABLE_MODES, mode)
        raise SpecError(f"{named('modes')} of {network.spec}, which is routed by tables, {allowed}")
    too_large = SpecError(f"{network.spec} is routed by tables, which have at most {MOST_ROUTES} routes")
    if network.num_terminals * network.num_nodes > MOST_ROUTES:
        raise too_large
    address = AddressLayout(network).of_nodes
    shape = int(address[: network.num_terminals].max()) + 1, int(address.max()) + 1
    if shape[0] * shape[1] > MOST_ROUTES:
        raise too_large
    ports, classes = _found(network, mode)
    count = int(classes.max()) + 1
    if count > MOST_CLASSES:
        raise SpecError(
            f"mode {mode} needs {count} buffer classes on {network.spec}; at most {MOST_CLASSES} are allowed"
        )
    vc = classes.astype(np.int64)
    if lanes == 2:
        vc = vc << 1 | (np.arange(len(vc)) & 1)[:, None]
    table = np.full(shape, len(network.ports), np.int32)
    table[np.ix_(address[: network.num_terminals], address)] = np.where(
        ports < 0, len(network.ports), ports | vc << VC_SHIFT
    )
    num_vcs = (lanes << (count - 1).bit_length(),) * len(network.ports)
    return TableRule(network, mode, table, num_vcs, lanes, mode != "updown")
