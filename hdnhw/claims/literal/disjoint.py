"""Algorithms 2 to 6 of the disjoint-path paper as printed: a witness of where they fail.

:mod:`hdnhw.multipath.disjoint` has what works. Choices that the text leaves open:

- Neighbors are taken in the order of ports: factor 0 first, + before -. An unused super-node is the one of the lowest
  number; the super-node of u counts as used, as u is on every path (Algorithm 2).
- The prose of section 3.2 adds the path over u's own cross-edge to Algorithms 3 and 5, where the printed loops leave it
  out; `own_edge` says whether to follow the prose.
- Algorithm 4 has no case for v = u (u and v' are one node): the path to v is u alone, in place of its own edge.
- Algorithm 2 does not say what to do without an unused super-node: that path is left out.
- Algorithm 6, Case A: w is the first node, of super-nodes in the order of numbers, that fits; without one the path is
  left out. Case B: two paths that end at one node are one path, the others are joined in their order. Case C with
  `third_cluster`: each takes the cluster, of those left, over which it is shortest.
- Base_disjoint_path, which the paper takes as given, is that of :mod:`hdnhw.multipath.disjoint`.

With `choices` neighbors, unused super-nodes, w and what is joined with what in Case B come in an order that is drawn:
so it is seen whether some choice works where this one does not.

References
----------
.. [1] Disjoint-path paper (hdn-disjoint-paths), section 3.
"""

from collections.abc import Iterable
from itertools import product
from random import Random
from typing import TypeVar

from hdnhw.claims.literal.algorithm1 import algorithm1_route
from hdnhw.multipath.disjoint import node_paths
from hdnhw.multipath.nest import Nest, Node, nest_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork, dual_network
from hdnhw.topology.graph import Network

Path = list[Node]
Item = TypeVar("Item")


def literal_routes(
    network: Network,
    src: int,
    dst: int,
    *,
    own_edge: bool = True,
    third_cluster: bool = False,
    choices: Random | None = None,
) -> list[list[int]]:
    """Return what Algorithm 6 makes for two nodes of a dual-net: walks that may share nodes and may be too few.

    Parameters
    ----------
    network : Network
    src, dst : int
    own_edge : bool
        Whether the fans have the path over the node's own cross-edge, as the prose says, or lack it, as printed.
    third_cluster : bool
        Whether the paths of Case C that do not meet in a cluster go over one of their own, as in Figure 10, or by
        HDN_routing from one fan to the other, as printed.
    choices : Random, optional
        Draws what the text leaves open.

    Raises
    ------
    SpecError
        If the network is no dual-net.
    """
    dual = dual_network(network, "Algorithm 6")
    if not dual.levels:
        raise SpecError(f"Algorithm 6 is for dual-nets; {network.spec} has no levels")
    ends = network.decode(network.check_node(src)), network.decode(network.check_node(dst))
    if src == dst:
        raise ValueError(f"paths must be between two nodes, not from {src} to itself")
    paths = _Literal(nest_of(dual), own_edge, third_cluster, choices).algorithm6(len(dual.levels), *ends)
    return [[int(network.encode(node)) for node in path] for path in paths]


def mended_routes(network: Network, src: int, dst: int) -> list[list[int]]:
    """Return what Algorithm 6 makes over third clusters, with loops taken out: as far as it can be taken as it is."""
    return [without_loops(path) for path in literal_routes(network, src, dst, third_cluster=True)]


def fan(network: Network, node: int, *, own_edge: bool = True, end: int | None = None) -> list[list[int]]:
    """Return what Algorithm 3 makes for a node of a dual-net, or Algorithm 5 if a path is to end at another one."""
    dual = dual_network(network, "Algorithms 3 and 5")
    literal, levels, u = _Literal(nest_of(dual), own_edge, False), len(dual.levels), network.decode(node)
    paths = literal.algorithm3(levels, u) if end is None else literal.algorithm5(levels, u, network.decode(end))
    return [[int(network.encode(digits)) for digits in path] for path in paths]


def base_fan(network: Network, node: int, end: int) -> list[list[int]]:
    """Return what Algorithm 4 makes to the letter for two nodes of one base network, also where they are the same."""
    dual = dual_network(network, "Algorithm 4")
    ends = network.decode(network.check_node(node)), network.decode(network.check_node(end))
    paths = _Literal(nest_of(dual), False, False).as_printed4(*ends)
    return [[int(network.encode(digits)) for digits in path] for path in paths]


def super_node_diameters(network: DualNetwork) -> tuple[int, list[int]]:
    """Return D(B) and the D(SN^i), level 1 first."""
    return sum(factor.diameter for factor in network.factors), [
        sum(network.factors[factor].diameter for factor in level.super_node_factors) for level in network.levels
    ]


def length_bounds(network: DualNetwork) -> dict[str, int]:
    """Return the bounds of Theorem 4 on the length of a path of Algorithm 6, for any S, nested or not.

    Parameters
    ----------
    network : DualNetwork
        With a level or more.

    Returns
    -------
    dict
        In hops: ``printed``, the theorem; ``line above``, the line of its proof that it solves, 3 D(Q^(k-1)) +
        2 D(B) - D(SN^k) + 2k + 4; ``solved``, that line solved without the slip; ``with SN^1``, that line with D(SN^1)
        in the two fans, as Algorithm 2 works with the super-nodes of level 1. No longer path was found than that.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> length_bounds(build("hdn(cube(3), [[2], [0, 1, 2]])"))
    {'printed': 32, 'solved': 23, 'line above': 23, 'with SN^1': 27}
    """
    base, inside = super_node_diameters(network)
    k, last, before = len(inside), inside[-1], base
    for super_node in inside[:-1]:
        before = 2 * before - super_node + 2
    ways = 3 * (before - last) + 2 + last
    lower = sum(2**j * inside[k - 2 - j] for j in range(k - 1))
    return {
        "printed": (3 * 2 ** (k - 1) + 2) * base - 3 * lower - last + 3 * 2**k + 2 * k - 2,
        "solved": (3 * 2 ** (k - 1) + 2) * base - 3 * lower - 4 * last + 3 * 2**k + 2 * k - 2,
        "line above": ways + 2 * (base - last + k + 1),
        "with SN^1": ways + 2 * (base - inside[0] + k + 1),
    }


def without_loops(path: list[int]) -> list[int]:
    """Return a walk without what it does between two visits of a node.

    Examples
    --------
    >>> without_loops([1, 2, 3, 2, 4])
    [1, 2, 4]
    """
    kept: list[int] = []
    for node in path:
        kept = [*kept[: kept.index(node)], node] if node in kept else [*kept, node]
    return kept


class _Literal:
    """The algorithms on nodes of the whole network; `level` says which HDN(B, level, S) around a node is meant."""

    def __init__(self, nest: Nest, own_edge: bool, third_cluster: bool, choices: Random | None = None) -> None:
        self.nest, self.own_edge, self.third_cluster, self.choices = nest, own_edge, third_cluster, choices

    def ordered(self, items: Iterable[Item]) -> list[Item]:
        """Return what one may choose from in the order in which it is tried."""
        chosen = list(items)
        if self.choices is not None:
            self.choices.shuffle(chosen)
        return chosen

    def neighbors(self, u: Node) -> list[Node]:
        """The neighbors of a node in its base network."""
        moves = self.nest.moves(0, range(len(self.nest.network.factors)))
        return self.ordered(self.nest.neighbor(u, move) for move in moves)

    def routing(self, u: Node, v: Node) -> Path:
        """HDN_routing and Base_routing: Algorithm 1."""
        network = self.nest.network
        return [network.decode(node) for node in algorithm1_route(network, network.encode(u), network.encode(v))]

    def super_node(self, level: int, u: Node) -> Node:
        """SN^level_id of a node."""
        return self.nest.super_node(level, self.nest.cut(level - 1, u)[1])

    def cluster(self, level: int, u: Node) -> tuple[int, Node]:
        """(C^level, U^level) of a node."""
        return self.nest.split(level, self.nest.cut(level, u)[1])[:2]

    def in_super_node(self, level: int, u: Node, name: Node) -> Node:
        """The node (C, U, name, N) for u = (C, U, SN, N)."""
        head, inner = self.nest.cut(level - 1, u)
        return head + self.nest.in_super_node(level, inner, name)

    def super_nodes(self, level: int) -> list[Node]:
        """All ids of super-nodes, in the order of numbers if it is not drawn."""
        network = self.nest.network
        return self.ordered(product(*(range(network.radices[place]) for place in network.levels[level - 1].cluster)))

    def algorithm2(self, u: Node, done: list[Path]) -> list[Path]:
        """Base_distributing_any, for the neighbors of u that no path of `done` uses."""
        paths, home = list(done), self.super_node(1, u)
        taken = {path[1] for path in done if len(path) > 1}
        for near in self.neighbors(u):
            if near in taken:
                continue
            used = {home, *(self.super_node(1, path[-1]) for path in paths)}
            if self.super_node(1, near) not in used:
                paths.append([u, near])
                continue
            free = next((name for name in self.super_nodes(1) if name not in used), None)
            if free is not None:
                paths.append([u, *self.routing(near, self.in_super_node(1, near, free))])
        return paths

    def algorithm3(self, level: int, u: Node) -> list[Path]:
        """HDN_distributing_any."""
        paths = self.algorithm2(u, []) if level == 1 else self.algorithm3(level - 1, u)
        return self._crossed(level, u, paths, None)

    def _crossed(self, level: int, u: Node, paths: list[Path], v: Node | None) -> list[Path]:
        """Extend each path, but that to v, over its cross-edge; add that of u if the prose is followed."""
        extended = [path if path[-1] == v else [*path, self.nest.cross(level, path[-1])] for path in paths]
        return [*extended, [u, self.nest.cross(level, u)]] if self.own_edge and u != v else extended

    def algorithm4(self, u: Node, v: Node) -> list[Path]:
        """Base_distributing."""
        return self.algorithm2(u, [[u]]) if u == v else self.as_printed4(u, v)

    def as_printed4(self, u: Node, v: Node) -> list[Path]:
        """Base_distributing without a case for v = u."""
        near = self.neighbors(u)
        with_v = [w for w in near if self.super_node(1, w) == self.super_node(1, v)]
        if with_v:
            return self.algorithm2(u, [[u, *self.routing(with_v[0], v)]])
        between = self.in_super_node(1, v, self.super_node(1, near[0]))
        return self.algorithm2(u, [[u, *self.routing(near[0], between), *self.routing(between, v)[1:]]])

    def algorithm5(self, level: int, u: Node, v: Node) -> list[Path]:
        """HDN_distributing."""
        if self.cluster(level, u) == self.cluster(level, v):
            paths = self.algorithm4(u, v) if level == 1 else self.algorithm5(level - 1, u, v)
            return self._crossed(level, u, paths, v)
        paths = self.algorithm3(level, u)
        there = [number for number, path in enumerate(paths) if self.cluster(level, path[-1]) == self.cluster(level, v)]
        chosen = self.ordered(there or range(len(paths)))[0]
        paths[chosen] = paths[chosen] + self.routing(paths[chosen][-1], v)[1:]
        return paths

    def algorithm6(self, level: int, u: Node, v: Node) -> list[Path]:
        """HDN_disjoint_path."""
        (u_class, u_cluster), (v_class, v_cluster) = self.cluster(level, u), self.cluster(level, v)
        if u_class != v_class:
            return self.case_b(level, u, v)
        return self.case_c(level, u, v) if u_cluster != v_cluster else self.case_a(level, u, v)

    def case_a(self, level: int, u: Node, v: Node) -> list[Path]:
        """One cluster."""
        if level > 1:
            paths = self.algorithm6(level - 1, u, v)
        else:
            head, inner = self.nest.cut(0, u)
            paths = [[head + node for node in path] for path in node_paths(self.nest, 0, inner, self.nest.cut(0, v)[1])]
        leave, enter = self.nest.cross(level, u), self.nest.cross(level, v)
        here = self.super_node(level, leave)
        other = next((name for name in self.super_nodes(level) if name != here), None)
        if other is None:
            return paths
        w = self.in_super_node(level, leave, other)
        return [*paths, [u, *self.routing(leave, w), *self.routing(w, enter)[1:], v]]

    def case_b(self, level: int, u: Node, v: Node) -> list[Path]:
        """Clusters of two classes."""
        enter = self.nest.cross(level, v)
        if self.super_node(level, v) == self.cluster(level, u)[1]:
            ours = self.algorithm5(level, u, enter)
        else:
            ours = self.algorithm3(level, u)
        there = self.ordered(path[-1] for path in ours if self.cluster(level, path[-1]) == self.cluster(level, v))
        theirs = self.algorithm5(level, v, there[0]) if there else self.algorithm3(level, v)
        joined, rest = [], []
        for path in ours:
            other = next((other for other in theirs if other[-1] == path[-1]), None)
            if other is None:
                rest.append(path)
                continue
            theirs.remove(other)
            joined.append(path + other[-2::-1])
        return joined + [self._joined(one, other) for one, other in zip(self.ordered(rest), theirs, strict=False)]

    def case_c(self, level: int, u: Node, v: Node) -> list[Path]:
        """Two clusters of one class."""
        ours, theirs = self.algorithm3(level, u), self.algorithm3(level, v)
        joined, rest = [], []
        for path in ours:
            meet = self.cluster(level, path[-1])
            other = next((other for other in theirs if self.cluster(level, other[-1]) == meet), None)
            if other is None:
                rest.append(path)
                continue
            theirs.remove(other)
            joined.append(self._joined(path, other))
        if not self.third_cluster:
            return joined + [self._joined(one, other) for one, other in zip(rest, theirs, strict=False)]
        ends = {self.cluster(level, u)[1], self.cluster(level, v)[1]}
        free = [name for name in self.super_nodes(level) if name not in ends]
        for one, other in zip(rest, theirs, strict=False):
            if free:
                ways = {name: self._over(level, one, other, name) for name in free}
                name = min(free, key=lambda name: len(ways[name]))
                joined.append(ways[name])
                free.remove(name)
        return joined

    def _over(self, level: int, one: Path, other: Path, name: Node) -> Path:
        """Join two paths of Case C over the cluster of that id."""
        goal = other[-1]
        door = self.nest.cross(level, self.in_super_node(level, goal, name))
        return [*one[:-1], *self.routing(one[-1], door), *self.routing(door, goal)[1:], *other[-2::-1]]

    def _joined(self, one: Path, other: Path) -> Path:
        return [*one[:-1], *self.routing(one[-1], other[-1]), *other[-2::-1]]
