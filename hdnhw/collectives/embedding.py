"""Embeddings: the nodes of a guest network on nodes of a host, and the guest's edges along the host's routes.

Guests are placed by one of two ways:

- ``cycle``: along a Hamiltonian cycle of the host, which is a product or a dual-net over one, in an order of the guest
  in which neighbors follow each other, if it is a product; a ring of all nodes has dilation 1.
- ``cube``: by numbers of a hypercube, of which the host has one a node (:mod:`hdnhw.collectives.dualvalues`,
  :mod:`hdnhw.collectives.swapvalues`). Digits of meshes and tori are numbered in Gray code, so that neighbors along a
  factor of 2^a nodes differ in a bit; nodes of a tree in order (left, own, right), so that those of a complete binary
  tree differ in one bit or two.

References
----------
.. [1] RDN paper (rdn-collectives), section VII, (3); dual-cube paper, section 5, (2).
"""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hdnhw.collectives.ascend import check_host, machine_of
from hdnhw.collectives.choices import EMBEDDINGS
from hdnhw.collectives.cube_machine import MOST_VALUES, Integers
from hdnhw.rules.of_network import rule_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network
from hdnhw.topology.hamiltonian import factor_order, hamiltonian_cycle
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.swapped import SwappedNetwork

MOST_EDGES = 1 << 17
"""Of a guest."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """A guest on a host.

    Attributes
    ----------
    way : str
    nodes : ndarray of int64, shape (nodes of the guest,)
        The host's node of each.
    routes : dict of (int, int) to list of int
        For each edge of the guest, the smaller node first, the host's nodes on its route.
    """

    way: str
    nodes: Integers
    routes: dict[tuple[int, int], list[int]]

    @property
    def dilation(self) -> int:
        """Hops of the longest route."""
        return max(len(route) for route in self.routes.values()) - 1

    @property
    def mean_dilation(self) -> float:
        """Hops of a route, on average."""
        return sum(len(route) - 1 for route in self.routes.values()) / len(self.routes)

    @property
    def congestion(self) -> int:
        """Most routes over one edge of the host."""
        return max(Counter(frozenset(ends) for route in self.routes.values() for ends in pairwise(route)).values())


def embed(host: Network, guest: Network, way: str | None = None) -> Embedding:
    """Place a guest on a host, by the way of less dilation, then less congestion, if none is given.

    Raises
    ------
    SpecError
        If the guest is too large, or a way is not for them.
    """
    if host.num_nodes > MOST_VALUES:
        raise SpecError(f"a host has at most {MOST_VALUES} nodes; {host.spec} has {host.num_nodes}")
    if guest.num_nodes > host.num_nodes:
        raise SpecError(
            f"a guest has at most the nodes of its host, {host.num_nodes}; {guest.spec} has {guest.num_nodes}"
        )
    table = neighbor_table(guest)
    edges = [(node, other) for node, row in enumerate(table.tolist()) for other in sorted(row) if other > node]
    if not 1 <= len(edges) <= MOST_EDGES:
        raise SpecError(f"a guest has 1 to {MOST_EDGES} edges; {guest.spec} has {len(edges)}")
    placed, refusals = dict[str, Integers](), list[SpecError]()
    for each in EMBEDDINGS if way is None else (way,):
        try:
            placed[each] = _by_cycle(host, guest) if each == "cycle" else _by_cube(host, guest)
        except SpecError as error:
            refusals.append(error)
    if not placed:
        if way is None and not isinstance(host, DualNetwork | SwappedNetwork):
            raise SpecError(f"a host is a product, a dual-net over one, or an HSN over cubes, not {host.spec}")
        raise refusals[-1]
    rule, found = rule_of(host), []
    for each, nodes in placed.items():
        routes = {}
        for one, other in edges:
            src, dst = int(nodes[one]), int(nodes[other])
            routes[one, other] = [*(node for node, _, _ in rule.route(src, dst)), dst]
        found.append(Embedding(each, nodes, routes))
    return min(found, key=lambda each: (each.dilation, each.congestion))


def _by_cycle(host: Network, guest: Network) -> Integers:
    if not isinstance(host, DualNetwork):
        raise SpecError(f"a Hamiltonian cycle is known of products and of dual-nets over them, not of {host.spec}")
    cycle, order = hamiltonian_cycle(host), np.arange(guest.num_nodes)
    if isinstance(guest, DualNetwork) and not guest.levels:
        digits, _ = factor_order(guest.factors)
        order = np.asarray(guest.encode(tuple(digits.T)))
    nodes = np.empty(guest.num_nodes, np.int64)
    nodes[order] = cycle[: guest.num_nodes]
    return nodes


def _by_cube(host: Network, guest: Network) -> Integers:
    check_host(host)
    numbers = _numbers(guest)
    if numbers.max() >= host.num_nodes:
        raise SpecError(
            f"{guest.spec} takes a hypercube of {1 << int(numbers.max()).bit_length()} nodes; {host.spec} has "
            f"{host.num_nodes}"
        )
    return machine_of(host, np.zeros(host.num_nodes, np.int64)).first[numbers]


def _numbers(guest: Network) -> Integers:
    """Return the number of each node of a guest in a hypercube."""
    nodes = np.arange(guest.num_nodes)
    if isinstance(guest, DualNetwork) and not guest.levels:
        number = np.zeros_like(nodes)
        for digit, factor in zip(guest.decode(nodes), guest.factors, strict=True):
            number = number << (factor.size - 1).bit_length() | (digit ^ digit >> 1)
        return number
    table = neighbor_table(guest).astype(np.int64)
    if int((table >= 0).sum()) != 2 * (guest.num_nodes - 1):
        raise SpecError(f"products and trees are numbered as nodes of a hypercube; {guest.spec} is neither")
    return _in_order(table)


def _in_order(table: Integers) -> Integers:
    """Return the place of each node of a tree, counted from 1: after its first branch, and before the others.

    The root is a node of two branches if there is one.
    """
    degrees = (table >= 0).sum(axis=1)
    root = int(np.flatnonzero(degrees == 2)[0]) if (degrees == 2).any() else 0
    numbers, count = np.zeros(len(table), np.int64), 0
    stack = [(root, -1, False)]
    while stack:
        node, parent, is_due = stack.pop()
        below = sorted(int(other) for other in table[node] if other >= 0 and other != parent)
        if is_due or not below:
            count += 1
            numbers[node] = count
        else:
            stack += [*((other, node, False) for other in reversed(below[1:])), (node, parent, True)]
            stack.append((below[0], node, False))
    if count < len(table):
        raise SpecError("a guest must be connected")
    return numbers
