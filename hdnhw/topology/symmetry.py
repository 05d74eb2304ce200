"""Automorphisms of a network, found by color refinement and search, and the orbits of its nodes, channels and edges.

Nodes are colored by what is around them until no color splits; then a node is given a color of its own, and so on
until every node has its own. An automorphism is known by the images of the nodes so chosen, the base, which are tried
one by one; a choice that leads to other colors than the base's is dropped. What is found generates the whole group.

References
----------
.. [1] B. D. McKay and A. Piperno, Practical graph isomorphism, II, J. Symbolic Computation 60 (2014), section 2.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

WORK = 1 << 30
"""Channels looked at in all refinements together; a search that needs more is given up."""

Nodes = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Table = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Symmetry:
    """Orbits of the automorphism group of a network.

    Attributes
    ----------
    node_orbit : ndarray of int, shape (num_nodes,)
        Number of each node's orbit.
    channel_orbit, edge_orbit : ndarray of int, shape (num_nodes, ports)
        Orbit of the channel, and of the edge, behind each port; -1 where a node lacks it.
    order : int
        Number of automorphisms.
    """

    node_orbit: Nodes
    channel_orbit: Nodes
    edge_orbit: Nodes
    order: int

    @property
    def node_symmetric(self) -> bool:
        """Whether all nodes are alike."""
        return not self.node_orbit.any()

    @property
    def edge_symmetric(self) -> bool:
        """Whether all edges are alike."""
        return int(self.edge_orbit.max()) == 0


def symmetry(table: Table, *, fixed: int | None = None, work: int = WORK) -> Symmetry | None:
    """Find all automorphisms of a network, or those that leave one node where it is.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a simple graph.
    fixed : int, optional
        That node.
    work : int
        See :data:`WORK`.

    Returns
    -------
    Symmetry or None
        None if the search is given up.

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> found = symmetry(neighbor_table(build("rdn(cube(3), 1)")))
    >>> found.order, found.node_symmetric, found.edge_symmetric, int(found.edge_orbit.max()) + 1
    (4608, True, False, 2)
    """
    try:
        search = _Search(table, fixed, work)
        order = search.run()
    except _WorkError:
        return None
    channels = _Channels(table)
    moved = [channels.image(generator) for generator in search.generators]
    channel_orbit = _components(channels.count, moved)
    edge_orbit = _components(channels.count, [*moved, channels.reverse])
    return Symmetry(search.orbit, channels.spread(channel_orbit), channels.spread(edge_orbit), order)


def differ(table: Table, sets: Iterable[Sequence[int]], *, rounds: int = 16) -> bool:
    """Return whether some of these sets of nodes are known not to be images of one another, from what is around them.

    Colors are split a few times only, so it is for networks of any size; False says nothing.

    Examples
    --------
    Of a dual-cube, cross-edges are unlike the others.

    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> table = neighbor_table(build("dualcube(5)"))
    >>> differ(table, [(0, 1), (0, 2)]), differ(table, [(0, other) for other in table[0]])
    (False, True)
    """
    colors = [np.isin(np.arange(len(table)), some).astype(np.int64) for some in sets]
    for _ in range(rounds):
        split = [_split_once(table, color) for color in colors]
        marks = [np.concatenate([mark, np.bincount(color).astype(np.uint64)]) for color, mark in split]
        if not all(np.array_equal(mark, marks[0]) for mark in marks):
            return True
        colors = [color for color, _ in split]
    return False


def _split_once(table: Table, color: Nodes) -> tuple[Nodes, Keys]:
    """Return new colors from each node's and its neighbors', numbered alike in networks that are alike, and keys."""
    value = np.append(_mix(color), np.uint64(0))
    keys = _mix(color + len(color) + 1) + value[table].sum(axis=1)
    mark, result = np.unique(keys, return_inverse=True)
    return result, mark


def _components(count: int, maps: list[Nodes]) -> Nodes:
    """Return the number of the set of each of `count` things, those that a map leads to one another in one set."""
    least, before = np.arange(count), np.zeros(0, np.int64)
    while not np.array_equal(least, before):
        before = least
        for there in maps:
            least = np.minimum(least, least[there])
            np.minimum.at(least, there, least)
        least = least[least]
    return np.unique(least, return_inverse=True)[1]


class _Channels:
    """The channels of a network, numbered by node and then by the node they lead to."""

    def __init__(self, table: Table) -> None:
        nodes, self._shape = len(table), table.shape
        self._place = np.flatnonzero(table >= 0)
        keys = self._place // table.shape[1] * nodes + table.ravel()[self._place]
        self._place, self._keys, self._nodes = self._place[np.argsort(keys)], np.sort(keys), nodes
        self.count = len(keys)
        self.reverse = np.searchsorted(self._keys, self._keys % nodes * nodes + self._keys // nodes)

    def image(self, generator: Nodes) -> Nodes:
        """Return the channel that each goes to when nodes go to `generator`."""
        src, dst = np.divmod(self._keys, self._nodes)
        return np.searchsorted(self._keys, generator[src] * self._nodes + generator[dst])

    def spread(self, values: Nodes) -> Nodes:
        """Return values of channels in the shape of the table, -1 where there is none."""
        result = np.full(self._shape, -1, np.int64)
        result.ravel()[self._place] = values
        return result


class _WorkError(Exception):
    """More work than allowed."""


class _Search:
    """The base of a network, and the automorphisms found so far.

    Attributes
    ----------
    generators : list of ndarray
        Automorphisms: the image of each node.
    orbit : ndarray
        Number of each node's orbit under them.
    """

    def __init__(self, table: Table, fixed: int | None, work: int) -> None:
        nodes = len(table)
        self._table, self._rows, self._work = table, np.sort(table, axis=1), work
        self.generators: list[Nodes] = []
        self.orbit = np.arange(nodes)
        color, mark = self._refine((np.arange(nodes) == fixed).astype(np.int64))
        self._base: list[int] = []
        self._colors, self._marks = [color], [mark]
        while len(mark) < nodes:
            sizes = np.bincount(color)
            cell = int(np.where(sizes > 1, sizes, nodes + 1).argmin())
            self._base.append(int(np.flatnonzero(color == cell)[0]))
            color, mark = self._split(color, self._base[-1])
            self._colors.append(color)
            self._marks.append(mark)

    def run(self) -> int:
        """Find generators, those that leave most of the base in place first; return the order of the group."""
        order = 1
        for depth in reversed(range(len(self._base))):
            color, base = self._colors[depth], self._base[depth]
            others = {int(node) for node in np.flatnonzero(color == color[base])} - {base}
            while others:
                others -= set(np.flatnonzero(self.orbit == self.orbit[base]).tolist())
                if not others:
                    break
                image = min(others)
                found = self._extend(depth, self._image(depth, color, image))
                if found is None:
                    others -= set(np.flatnonzero(self.orbit == self.orbit[image]).tolist())
                else:
                    self.generators.append(found)
                    self.orbit = _components(len(color), [self._first_of_orbit(), found])
            order *= int((self.orbit == self.orbit[base]).sum())
        return order

    def _first_of_orbit(self) -> Nodes:
        """Return the first node of each node's orbit."""
        _, first, inverse = np.unique(self.orbit, return_index=True, return_inverse=True)
        return first[inverse]

    def _extend(self, depth: int, color: Nodes | None) -> Nodes | None:
        """Return an automorphism that keeps the base before `depth`, given the colors when its next node has moved."""
        stack = [iter([color])]
        while stack:
            tried = next(stack[-1], None)
            if tried is None:
                stack.pop()
            elif depth + len(stack) < len(self._base):
                stack.append(self._images(depth + len(stack), tried))
            else:
                found = np.argsort(tried)[self._colors[-1]]
                if np.array_equal(np.sort(np.append(found, -1)[self._table], axis=1), self._rows[found]):
                    return found
        return None

    def _images(self, depth: int, color: Nodes) -> Iterator[Nodes | None]:
        """Yield the colors with each node that the next of the base can go to."""
        cell = self._colors[depth][self._base[depth]]
        tries = (self._image(depth, color, int(node)) for node in np.flatnonzero(color == cell))
        return (found for found in tries if found is not None)

    def _image(self, depth: int, color: Nodes, node: int) -> Nodes | None:
        """Return the colors when the next of the base goes to `node`, or None if they are not those of the base."""
        split, mark = self._split(color, node)
        return split if np.array_equal(mark, self._marks[depth + 1]) else None

    def _split(self, color: Nodes, node: int) -> tuple[Nodes, Keys]:
        own = color.copy()
        own[node] = len(own)
        return self._refine(own)

    def _refine(self, color: Nodes) -> tuple[Nodes, Keys]:
        """Split colors by those of neighbors until none splits.

        Returns
        -------
        color : ndarray
            Colors 0, 1, ..., numbered alike in networks that are alike.
        mark : ndarray
            One key a color.
        """
        count = 0
        while True:
            self._work -= self._table.size
            if self._work < 0:
                raise _WorkError
            color, mark = _split_once(self._table, color)
            if len(mark) == count:
                return color, mark
            count = len(mark)


def _mix(color: Nodes) -> Keys:
    """Return a number of 64 bits a color, whose sums tell colors apart; where not, colors split less."""
    value = (color.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return value ^ (value >> np.uint64(27))
