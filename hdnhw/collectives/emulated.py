"""Emulation: one step of an algorithm on the product of l copies of G, done on HSN(l, G).

The guest has the same nodes X_l .. X_1. Its link (i, p) is port p of the nucleus in X_i: for G = Q_k it is a hypercube
of lk dimensions, for K_M a generalized one, for a mesh a mesh. In a step of the guest the datum of every node crosses
one link (single-dimension communication), or one datum crosses each (all ports). Here the datum of link (i, p), i > 1,
crosses swap i, port p and swap i; where X_i = X_1, at a leader, it keeps still. All nodes do the same at once, so that
a timetable of links says all: no node needs a table. Over a divisor M_l, X_l has the links of a block of the nucleus
(:mod:`hdnhw.collectives.guest`), and the timetables are the same.

References
----------
.. [1] HSN paper, sections 2.2, 3.2, 3.3, 4.2 and 5.1, Theorems 3.2, 3.3, 4.2, 4.3, 5.1 and 5.2.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.executor import ScheduleError
from hdnhw.collectives.guest import guest_table
from hdnhw.collectives.oneswap import OneSwapTimes, one_swap_times
from hdnhw.spec import Product
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import neighbor_table, table_distances
from hdnhw.topology.swapped import SwappedNetwork

MOST_DATA = 1 << 22
"""Data that are moved at most."""

Integers = npt.NDArray[np.int64]
GuestLink = tuple[int, int]
"""Level i and port of the nucleus."""

Hops = tuple[Integers, Integers, Integers]
"""Of some data: the rows of their links of the guest (or the steps), the nodes that they are from, and ports."""

Timetable = Mapping[GuestLink, tuple[tuple[int, int], ...]]
"""For each link that is used the (step, port of the network) of its hops; steps are counted from 1."""


@dataclass(frozen=True, kw_only=True)
class Emulated:
    """What was counted when the data were moved.

    Attributes
    ----------
    steps : int
    data : int
        Data moved: one for each node that has the link, and link.
    moved : tuple of int
        Of these, how many cross a link, step by step.
    links : int
        Directed links of the network.
    """

    steps: int
    data: int
    moved: tuple[int, ...]
    links: int

    @property
    def hops(self) -> int:
        """Links crossed by all data."""
        return sum(self.moved)


def step_timetable(ports: int, link: GuestLink) -> Timetable:
    """Return three steps for one link of the guest, or one step at level 1 (Theorems 3.2, 4.2 and 5.1).

    The nucleus has so many ports.
    """
    level, port = link
    if level == 1:
        return {link: ((1, port),)}
    swap = ports + level - 2
    return {link: ((1, swap), (2, port), (3, swap))}


def all_port_steps(levels: int, ports: int) -> int:
    """Return the steps of :func:`all_port_timetable`: ``max(2 d, l + 1, 3)`` with d ports in the nucleus.

    Fewer are impossible if all nodes do the same and every datum takes swap, port, swap: a swap carries 2d data, a port
    l of them, those of level 1 alone in the first or the last step.

    Examples
    --------
    >>> [all_port_steps(2, k) for k in (1, 2, 3)], [all_port_steps(8, k) for k in (1, 5)]
    ([3, 4, 6], [9, 10])
    """
    return max(2 * ports, levels + 1, 3)


def all_port_timetable(levels: int, ports: int) -> Timetable:
    """Return when each link's datum crosses what, all links at once, in closed form.

    With d ports in the nucleus, T steps and i from 0 (level 2): port p carries the datum of (i, p) in step
    ``2 + (i + p) mod (T - 2)``, a Latin rectangle. Among the steps of one i, that of p has rank ``r = (p + w) mod d``,
    ``w = max(0, i + d - T + 2)`` of them being wrapped round; it swaps in step 1 + r, and back in T - d + 1 + r. So the
    r-th swap is before the r-th of d distinct steps from 2 on, and the swap back after the r-th of those up to T - 1.
    Level 1 goes in step 1.
    """
    steps = all_port_steps(levels, ports)
    table: dict[GuestLink, tuple[tuple[int, int], ...]] = {(1, port): ((1, port),) for port in range(ports)}
    for level in range(2, levels + 1):
        swap, row = ports + level - 2, level - 2
        wrapped = max(0, row + ports - (steps - 2))
        for port in range(ports):
            rank = (port + wrapped) % ports
            within = 2 + (row + port) % (steps - 2)
            table[level, port] = ((1 + rank, swap), (within, port), (steps - ports + 1 + rank, swap))
    return table


def published_steps(host: SwappedNetwork) -> int | None:
    """Return the paper's steps with all ports (Theorems 3.3, 4.3 and 5.2), or None for another nucleus."""
    nucleus, levels = host.spec.nucleus, host.spec.levels
    if not isinstance(nucleus, Product):
        return None
    if all(factor.is_edge for factor in nucleus.factors):
        return max(2 * len(nucleus.factors) + 1, levels + 1)
    if all(factor.kind == "path" for factor in nucleus.factors):
        return max(4 * len(nucleus.factors) + 1, levels + 1)
    if len(nucleus.factors) == 1 and (nucleus.factors[0].kind == "complete" or nucleus.factors[0].size == 3):
        return max(2 * nucleus.factors[0].size + 1, levels + 1)
    return None


def lower_bound_steps(host: SwappedNetwork) -> int | None:
    """Return a bound on the steps with all ports, whatever ways the data take, or None in a folded HSN.

    X_i changes on swaps of level i alone. To become c in place of a, a datum crosses two of them, or one, which leads
    from (a; c) to (c; a) and has room for T data. With M values of X_i and e links a value in the guest, a node has, on
    average, e such data, e / M such links and (M - 1) / M swaps of level i: ``2 e - T e / M <= T (M - 1) / M``; with
    diameter links 1 / M more of both. Where links lead from one side of the values to the other alone, every datum
    crosses a swap between the sides (docs/results/06-emulation.md).

    Without diameter links every datum crosses a link of a nucleus as well, and a node has l data a link, fewer over a
    divisor; all in l steps is impossible for M > 2. And if a, c and X_1 are distinct it has three hops.
    """
    if host.spec.complement_links:
        return None
    more, top, size = int(host.spec.diameter_links), host.spec.top, host.nucleus.num_nodes
    inner, block = (_links_a_value(host, level) for level in (1, host.spec.levels))
    levels = [(block, top)] if host.spec.levels == 2 else [(block, top), (inner, size)]
    room = max(ceil(2 * links * values / (values - 1 + links + 2 * more)) for links, values in levels)
    room = max(room, *(_between_sides(host, level) for level in range(2, host.spec.levels + 1)))
    load = host.spec.levels + 1 if size > 2 and not host.is_cut else ceil(host.spec.levels - 1 + block / inner)
    return room if more else max(load, room, 3 if max(values for _, values in levels) > 2 else 2)


def _between_sides(host: SwappedNetwork, level: int) -> int:
    """Return the steps in which all data of X_i cross swaps between two sides of its values, or 0 if there are none.

    The sides are those of a bipartite guest. Of N nodes, N / M^2 have each pair of X_i and X_1.
    """
    table = guest_table(host, level)
    side = table_distances(table.astype(np.int32), 0) % 2
    if ((table >= 0) & (side[table] == side[:, None])).any():
        return 0
    values, ones = len(side), int(side.sum())
    swaps = 2 * ones * (values - ones) + int(host.spec.diameter_links) * int((side != side[::-1]).sum())
    return ceil(Fraction(values * int((table >= 0).sum()), swaps))


def _links_a_value(host: SwappedNetwork, level: int) -> Fraction:
    """Return the links of the guest in X_i, in both directions, for each of its values."""
    table = guest_table(host, level)
    return Fraction(int((table >= 0).sum()), len(table))


class _Carrier:
    """Data in nodes, moved over links: one datum a directed link and step."""

    def __init__(self, host: SwappedNetwork) -> None:
        nodes, size, links = host.num_nodes, host.nucleus.num_nodes, host.spec.levels * len(host.nucleus.ports)
        if nodes * links > MOST_DATA:
            raise SpecError(f"an emulation moves at most {MOST_DATA} data; {host.spec} has {nodes * links}")
        self.host, self.table = host, neighbor_table(host).astype(np.int64)
        self.ports = len(host.ports)
        sources = np.arange(nodes, dtype=np.int64)
        weights = [size ** (level - 1) for level in range(1, host.spec.levels + 1)]
        targets = []
        for level, weight in enumerate(weights, start=1):
            digit = sources // weight % size
            ways = guest_table(host, level)[digit].T
            targets += [np.where(to < 0, -1, sources + (to - digit) * weight) for to in ways]
        self.target = np.stack(targets)
        self.at = np.tile(sources, (links, 1))
        values = [size] * (host.spec.levels - 1) + [host.spec.top]
        self.leaders = [
            np.array(sources // weight % size == sources % size % most)
            for weight, most in zip(weights, values, strict=True)
        ]
        self.moved: list[int] = []

    def index(self, link: GuestLink) -> int:
        """Return the row of a link of the guest."""
        return (link[0] - 1) * len(self.host.nucleus.ports) + link[1]

    def move(self, hops: Sequence[Hops]) -> None:
        """Move data over one port each, all in one step."""
        if not hops:
            self.moved.append(0)
            return
        rows, sources, ports = (np.concatenate(parts) for parts in zip(*hops, strict=True))
        here = self.at[rows, sources]
        there, where = self.table[here, ports], f"step {len(self.moved) + 1} on {self.host.spec}"
        if (there < 0).any():
            raise ScheduleError(f"{where}: node {int(here[there < 0][0])} sends over a port that it lacks")
        for name, used in (
            ("link carries two data", here * self.ports + ports),
            ("datum moves twice", self._id(rows, sources)),
        ):
            if len(np.unique(used)) != len(used):
                raise ScheduleError(f"{where}: a {name}")
        self.at[rows, sources] = there
        self.moved.append(len(rows))

    def _id(self, rows: Integers, sources: Integers) -> Integers:
        return rows * len(self.table) + sources

    def finish(self, rows: Integers) -> Emulated:
        """Check that the data of some links of the guest have arrived, all others being where they were."""
        sent = np.zeros(len(self.target), bool)
        sent[rows] = True
        goal = np.where((self.target >= 0) & sent[:, None], self.target, np.arange(len(self.table)))
        if (self.at != goal).any():
            row, source = (int(place[0]) for place in np.nonzero(self.at != goal))
            raise ScheduleError(
                f"on {self.host.spec}: the datum of node {source} is in {int(self.at[row, source])} in the end, not in "
                f"{int(goal[row, source])}"
            )
        data = int((self.target[rows] >= 0).sum())
        links = int((self.table >= 0).sum())
        return Emulated(steps=len(self.moved), data=data, moved=tuple(self.moved), links=links)


def emulate(host: SwappedNetwork, timetable: Timetable) -> Emulated:
    """Move the data of a timetable's links, step by step over edges that exist.

    Raises
    ------
    ScheduleError
        If a link has to carry two data in a step, a node sends over a port that it lacks, or a datum ends elsewhere
        than at the neighbor of its source in the guest, which is found from the nucleus alone.
    """
    carrier, first = _Carrier(host), len(host.nucleus.ports)
    for step in range(1, max(hops[-1][0] for hops in timetable.values()) + 1):
        moves = []
        for link, port in ((link, port) for link, hops in timetable.items() for when, port in hops if when == step):
            row = carrier.index(link)
            moving = np.flatnonzero(carrier.target[row] >= 0)
            if port >= first:
                moving = moving[~carrier.leaders[port - first + 1][carrier.at[row, moving]]]
            moves.append((np.full(len(moving), row), moving, np.full(len(moving), port)))
        carrier.move(moves)
    return carrier.finish(np.array([carrier.index(link) for link in timetable]))


def is_direct(host: SwappedNetwork) -> bool:
    """Return whether :func:`emulate_directly` is for this network: HSN(l, K_M), l < M."""
    nucleus = host.spec.nucleus
    factors = nucleus.factors if isinstance(nucleus, Product) and not host.is_cut else ()
    return len(factors) == 1 and factors[0].kind == "complete" and host.spec.levels < factors[0].size


def emulate_directly(host: SwappedNetwork) -> Emulated:
    """Move the data of all links of the guest over HSN(l, K_M), l < M, each over one swap alone.

    See :mod:`hdnhw.collectives.oneswap` for the ways and the times.

    Raises
    ------
    SpecError
        If the nucleus is not complete or l >= M.
    ScheduleError
        See :func:`emulate`.
    """
    if not is_direct(host):
        raise SpecError(f"data go over one swap alone on hsn(l, complete(M)), l < M, not on {host.spec}")
    times, carrier = one_swap_times(host.spec.levels, host.nucleus.num_nodes), _Carrier(host)
    moves: dict[int, list[Hops]] = {step: [] for step in range(1, times.steps + 1)}
    for link in ((level, port) for level in range(1, times.levels + 1) for port in range(times.size - 1)):
        for when, moving, ports in _direct_hops(host, times, *link):
            for step in np.unique(when):
                now = when == step
                moves[int(step)].append((np.full(now.sum(), carrier.index(link)), moving[now], ports[now]))
    for hops in moves.values():
        carrier.move(hops)
    return carrier.finish(np.arange(len(carrier.target)))


def _direct_hops(host: SwappedNetwork, times: OneSwapTimes, level: int, port: int) -> Iterator[Hops]:
    """Yield the steps, sources and ports of the first hops of a link's data, of their swaps, and of their last hops."""
    size, sources = times.size, np.arange(host.num_nodes, dtype=np.int64)
    if level == 1:
        yield np.full(len(sources), times.levels), sources, np.full(len(sources), port)
        return
    ahead, a, b = port + 1, sources // size ** (level - 1) % size, sources % size
    starts, ends = (a + ahead - b) % size, (b - a) % size
    first, last = (np.array([rule(level, shift) for shift in range(size)]) for rule in (times.first, times.last))
    goes = starts != 0
    yield first[starts[goes]], sources[goes], starts[goes] - 1
    yield np.array(times.swaps[level, ahead])[starts], sources, np.full(len(sources), size - 1 + level - 2)
    goes = ends != 0
    yield last[ends[goes]], sources[goes], ends[goes] - 1
