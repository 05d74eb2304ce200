"""Networks that are lists of edges: any graph, with switches that have no terminal if need be.

Ports come from a proper coloring of the edges: an edge is behind the port of its color at both ends, so that a port
is seen as the same one from the other end, as in the networks that are given by arithmetic.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.spec import NetworkSpec
from hdnhw.topology.graph import Digits, Network, Port, own_inverses

TRIES = 64
"""Pairs of colors by which room is made for an edge, before there is one color more."""


def color_edges(num_nodes: int, edges: Iterable[tuple[int, int]]) -> npt.NDArray[np.int32]:
    """Color edges so that no two at a node have the same color.

    A graph of degree d needs d colors or d + 1 (Vizing, 1964); where both ends have no common free color, a path of
    two colors is exchanged (Kempe), which always works in graphs without odd cycles. Others may get a few more.

    Parameters
    ----------
    num_nodes : int
    edges : iterable of (int, int)
        Each edge once.

    Returns
    -------
    ndarray of int32, shape (num_nodes, colors)
        The node at the other end of the edge of each color, -1 where there is none.

    Examples
    --------
    >>> color_edges(3, [(0, 1), (0, 2), (1, 2)]).tolist()
    [[1, 2, -1], [0, -1, 2], [-1, 0, 1]]
    """
    listed = [(int(one), int(other)) for one, other in edges]
    degrees = np.bincount(np.array(listed, np.int64).reshape(-1), minlength=num_nodes)
    colors = int(degrees.max(initial=0))
    behind: list[dict[int, int]] = [{} for _ in range(num_nodes)]
    for one, other in listed:
        color = _room(behind, one, other, colors)
        if color == colors:
            colors += 1
        behind[one][color], behind[other][color] = other, one
    table = np.full((num_nodes, colors), -1, np.int32)
    for node, row in enumerate(behind):
        for color, end in row.items():
            table[node, color] = end
    return table


def _room(behind: list[dict[int, int]], one: int, other: int, colors: int) -> int:
    """Return a color that is free at both ends of an edge, made so if need be; `colors` if that does not work."""
    for color in range(colors):
        if color not in behind[one] and color not in behind[other]:
            return color
    free = [[color for color in range(colors) if color not in behind[node]] for node in (one, other)]
    pairs = ((a, b) for a in free[0] for b in free[1])
    for (a, b), _ in zip(pairs, range(TRIES), strict=False):
        path = list(_path(behind, other, a, b))
        if path[-1] != one:
            _exchange(behind, path, a, b)
            return a
    return colors


def _path(behind: list[dict[int, int]], node: int, a: int, b: int) -> Iterator[int]:
    """Yield the nodes of the path of colors a, b, a, ... from a node that has no edge of color b."""
    yield node
    while a in behind[node]:
        node = behind[node][a]
        yield node
        a, b = b, a


def _exchange(behind: list[dict[int, int]], path: Sequence[int], a: int, b: int) -> None:
    """Exchange two colors on a path whose first edge has color a."""
    ends = list(pairwise(path))
    for place, (one, other) in enumerate(ends):
        color = (a, b)[place % 2]
        del behind[one][color], behind[other][color]
    for place, (one, other) in enumerate(ends):
        color = (b, a)[place % 2]
        behind[one][color], behind[other][color] = other, one


class EdgeNetwork(Network):
    """A network given by the neighbors of its nodes.

    Parameters
    ----------
    spec : NetworkSpec
    table : ndarray of int32, shape (num_nodes, ports)
        The node behind each port, -1 where there is none.
    ports : sequence of Port
    num_terminals : int, optional
        Nodes with a terminal, which come first; all if omitted.
    diameter : int, optional
        As the literature gives it.
    names : sequence of str, optional
        Of the nodes, where they have others than their numbers.
    """

    def __init__(
        self,
        spec: NetworkSpec,
        table: npt.NDArray[np.int32],
        ports: Sequence[Port],
        *,
        num_terminals: int | None = None,
        diameter: int | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self.spec, self.table, self.ports, self.radices = spec, table, tuple(ports), (len(table),)
        self._num_terminals, self._diameter, self._names = num_terminals, diameter, tuple(names)

    @property
    def num_terminals(self) -> int:
        """Number of nodes that have a terminal; they come first."""
        return self.num_nodes if self._num_terminals is None else self._num_terminals

    @property
    def digit_names(self) -> tuple[str, ...]:
        """``node``."""
        return ("node",)

    @property
    def node_symmetric(self) -> None:
        """Not known."""
        return None

    @property
    def diameter_formula(self) -> int | None:
        """What the literature says, if it does."""
        return self._diameter

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the neighbor behind `port`."""
        (node,) = digits
        found = self.table[node, port]
        return (int(found) if found.ndim == 0 else found.astype(np.int64),)

    def has_port(self, digits: Digits, port: int) -> Any:
        """Return whether the node has an edge behind `port`."""
        found = self.table[digits[0], port] >= 0
        return bool(found) if found.ndim == 0 else found

    def port_count(self, port: int) -> int:
        """Return how many nodes have `port`."""
        return int((self.table[:, port] >= 0).sum()) if port < len(self.ports) else 0

    @cached_property
    def port_sets(self) -> frozenset[tuple[int, ...]]:
        """The distinct sets of ports that nodes have."""
        sets = np.unique(self.table >= 0, axis=0)
        return frozenset(tuple(np.flatnonzero(row).tolist()) for row in sets)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._names)}

    def paper_address(self, node: int) -> str:
        """Return the name of a node."""
        return self._names[self.check_node(node)] if self._names else self.format_node(node)

    def parse_node(self, text: str) -> int:
        """Read the name of a node, or its number."""
        found = self._numbers.get(text)
        return super().parse_node(text) if found is None else found


def network_of_edges(
    spec: NetworkSpec, num_nodes: int, edges: Iterable[tuple[int, int]], types: Sequence[str] = (), **known: Any
) -> EdgeNetwork:
    """Return the network of a list of edges; what else is known goes to :class:`EdgeNetwork`.

    Ports are called ``port0`` and so on; or by the type of each edge, if there are `types`: no port has two.
    """
    listed = list(edges)
    of_type = {
        kind: [edge for edge, own in zip(listed, types, strict=True) if own == kind] for kind in sorted({*types})
    }
    tables = {kind: color_edges(num_nodes, some) for kind, some in (of_type or {"port": listed}).items()}
    names = [f"{kind}{color}" for kind, table in tables.items() for color in range(table.shape[1])]
    return EdgeNetwork(spec, np.concatenate([*tables.values()], axis=1), own_inverses(names), **known)
