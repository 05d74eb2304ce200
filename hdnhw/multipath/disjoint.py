"""d0 + k node-disjoint paths between any two nodes of any dual-net, by address arithmetic.

The disjoint-path paper's Algorithms 2 to 6, repaired. Nothing here looks at the network: the work grows with the degree
and the length of an address, not with the number of nodes, and no condition on the number of clusters is left.

1. A factor of B that is in every super-node is a factor of the whole network: its digit is never exchanged. Paths in a
   product are put together from paths in its parts.
2. Without such factors the d0 + k - 1 neighbors of u in its cluster, and u, reach d0 + k super-nodes, no two the same:
   a neighbor along a factor of SN^k, which is in the super-node of u, goes on over the cross-edge of the highest level
   j < k with the factor outside SN^j, which takes the changed digit into the id of a cluster. This is the *fan* of u.
3. Case A, one cluster: the paths of the level below, and one over the cross-edges of u and v and a third cluster.
4. Case B, clusters of two classes: one path stays in the two. Each other goes over two clusters of its own, to which
   the fans of u and v lead. A path of the fan of u that leads into the cluster of v goes on towards v until it meets a
   path of the fan of v and takes it over; likewise the other way round.
5. Case C, two clusters of a class: where no factor is in SN^k, the paths of the level below between the places of u and
   v, each cut at a node where it goes over to the other cluster by way of one of the other class; the shortest is cut
   at either end, and so counts twice. Otherwise, two fan paths into one cluster are joined there, the others over a
   cluster of their own. There are enough: the fans reach d0 + k clusters and one more for each pair left over.
"""

from collections.abc import Collection, Sequence
from itertools import islice, product
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from hdnhw.multipath.assignment import cheapest_pairs
from hdnhw.multipath.flows import shortest_disjoint_paths, shortest_linkage
from hdnhw.multipath.nest import Move, Nest, Node, Walk, factor_walk, nest_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network

Paths = list[list[Node]]


def disjoint_routes(network: Network, src: int, dst: int) -> list[list[int]]:
    """Return as many paths between two nodes, that share no other node, as a node has neighbors.

    Parameters
    ----------
    network : Network
        A dual-net, a dual-cube, or a product of cycles, complete graphs and edges.
    src, dst : int
        Two node numbers.

    Returns
    -------
    list of list of int
        The nodes of each path, `src` first and `dst` last; the shortest path first.

    Raises
    ------
    SpecError, ValueError
        If the network is none of these; if `src` and `dst` are the same.

    References
    ----------
    .. [1] Disjoint-path paper (hdn-disjoint-paths), section 3; :mod:`hdnhw.claims.literal.disjoint` shows what fails.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> disjoint_routes(build("rdn(cube(1), 1)"), 0, 3)
    [[0, 4, 5, 2, 3], [0, 1, 6, 7, 3]]
    """
    if not is_addressable(network):
        raise SpecError(
            f"paths by address are for products of symmetric factors and dual-nets over them, not {network.spec}"
        )
    ends = network.decode(network.check_node(src)), network.decode(network.check_node(dst))
    if src == dst:
        raise ValueError(f"paths must be between two nodes, not from {src} to itself")
    paths = node_paths(nest_of(network), len(network.levels), *ends)
    return [[int(network.encode(node)) for node in path] for path in sorted(paths, key=len)]


def short_routes(network: Network, src: int, dst: int) -> list[list[int]]:
    """Return the paths of least total length in a small part of the network.

    The part holds the paths of :func:`disjoint_routes` and the hop-by-hop routes from each neighbor of `src` to each
    of `dst`; its size grows with the degree and the length of a route only. One of the paths may be longer than
    :func:`length_bound`. Parameters and errors are those of :func:`disjoint_routes`.
    """
    found = disjoint_routes(network, src, dst)
    assert isinstance(network, DualNetwork)
    nest, level = nest_of(network), len(network.levels)
    ends = [network.decode(node) for node in (src, dst)]
    near, far = ([nest.neighbor(end, move) for move in _moves(nest)] for end in ends)
    nodes = {network.decode(node) for path in found for node in path}
    nodes.update(node for one in near for other in far for node in nest.walk(level, one, other))
    names, table = _part(nest, nodes)
    paths = shortest_disjoint_paths(table, names.index(src), names.index(dst))
    return [[names[number] for number in path] for path in paths]


def linked_routes(network: Network, sources: Sequence[int], targets: Sequence[int]) -> list[list[int]]:
    """Return paths from one node to each of a set, or from each node of a set to one of another, that share no node.

    They are those of least total length over the nodes of all :func:`disjoint_routes` between a source and a target:
    m paths have at most m times :func:`length_bound` hops together (docs/results/02-wide-diameter.md).

    Parameters
    ----------
    network : Network
        See :func:`disjoint_routes`.
    sources, targets : sequence of int
        As many sources as targets, and at most as many as a node has neighbors; or one of either, which all paths
        share. A node of both sets is a path of its own.

    Returns
    -------
    list of list of int
        The nodes of each path; the shortest path first.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> linked_routes(build("rdn(cube(1), 1)"), [0, 3], [7, 2])
    [[3, 2], [0, 1, 6, 7]]
    """
    pairs = [(src, dst) for src, dst in product(sources, targets) if src != dst]
    found = {node for pair in pairs for path in disjoint_routes(network, *pair) for node in path}
    assert isinstance(network, DualNetwork)
    names, table = _part(nest_of(network), {network.decode(node) for node in found.union(sources, targets)})
    ends = ([names.index(node) for node in some] for some in (sources, targets))
    return [[names[number] for number in path] for path in shortest_linkage(table, *ends)]


def _moves(nest: Nest) -> list[Move]:
    """Return all ports."""
    return nest.moves(len(nest.network.levels), range(len(nest.network.factors)))


def _part(nest: Nest, nodes: Collection[Node]) -> tuple[list[int], npt.NDArray[np.int32]]:
    """Return the numbers of some nodes, and which of them each has behind its ports, by place, or -1."""
    place = {node: number for number, node in enumerate(sorted(nodes))}
    moves = _moves(nest)
    table = np.array([[place.get(nest.neighbor(node, move), -1) for move in moves] for node in place], np.int32)
    return [int(nest.network.encode(node)) for node in place], table


def is_addressable(network: Network) -> TypeGuard[DualNetwork]:
    """Return whether :func:`disjoint_routes` is for a network."""
    return isinstance(network, DualNetwork) and all(factor.is_symmetric for factor in network.factors)


def length_bound(network: Network) -> int | None:
    """Return how long a path of :func:`disjoint_routes` can be; None where it is for another network.

    Proved in docs/results/02-wide-diameter.md. Where the super-nodes are nested, it is 3 more than the diameter by the
    closed form, or more by what the way round the longest cycle is longer than half of it; 1 more for dual-cubes F_r
    with r >= 4; elsewhere 3 D_(k-1) - 2 D(SN^k) + D(O) + 6, and 2 more if SN^k is not O, the factors inside all
    super-nodes.
    """
    if not is_addressable(network):
        return None
    if network.is_nested:
        around = [factor.size - 1 - factor.diameter for factor in network.factors if factor.kind != "complete"]
        is_dual_cube = len(network.levels) == 1 and len(_cube_factors(network)) == len(network.factors)
        return network.diameter_formula + max(1 if is_dual_cube else 3 if network.levels else 2, *around, 0)
    sets = [set(level.super_node_factors) for level in network.levels]
    last, own = (
        sum(network.factors[factor].diameter for factor in some) for some in (sets[-1], set.intersection(*sets))
    )
    below = (network.diameter_formula + last - 2) // 2
    return 3 * below - 2 * last + own + 6 + 2 * (last != own)


def _cube_factors(network: DualNetwork) -> list[int]:
    """Return the factors outside SN^1 if they are those of a cube of three dimensions or more, else none."""
    inside = network.levels[0].super_node_factors if network.levels else range(len(network.factors))
    found = [factor for factor in range(len(network.factors)) if factor not in inside]
    return found if len(found) > 2 and all(network.factors[factor].size == 2 for factor in found) else []


def node_paths(nest: Nest, level: int, src: Node, dst: Node) -> list[list[Node]]:
    """Return disjoint paths between two nodes of HDN(B, level, S)."""
    return _Router(nest).paths(level, src, dst, range(len(nest.network.factors)))


class _Router:
    """Paths in one network. `level` is that of the nodes; `factors` are those along which one may move."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest

    def paths(self, level: int, src: Node, dst: Node, factors: Sequence[int]) -> Paths:
        """Return disjoint paths, as many as ports: those of the parts of a product, put together."""
        nest = self.nest
        own = [factor for factor in factors if all(nest.inside(upper, factor) for upper in range(1, level + 1))]
        rest = [factor for factor in factors if factor not in own]
        middle = dst
        for factor in own:
            middle = nest.put(middle, factor, nest.digit(src, factor))
        found: Paths = []
        still: list[Move] = []
        if middle != src:
            found = self._core(level, src, middle, rest)
        else:
            still = nest.moves(level, rest)
        for factor in own:
            if nest.digit(src, factor) == nest.digit(dst, factor):
                still += nest.moves(0, [factor])
            else:
                found = self._times(found, src, factor, nest.digit(dst, factor))
        shortest = min(found, key=len)
        return found + [[src, *(nest.neighbor(node, move) for node in shortest), dst] for move in still]

    def _times(self, others: Paths, src: Node, factor: int, end: int) -> Paths:
        """Return paths in a product: `others` do not change the digit of `factor`, which must become `end`."""
        nest = self.nest
        start = nest.digit(src, factor)
        rows = sorted(self._factor_paths(factor, start, end), key=len)
        if not others:
            return [[nest.put(src, factor, digit) for digit in row] for row in rows]
        columns = sorted(others, key=len)
        dst, row, column = columns[0][-1], rows[0], columns[0]

        def along(node: Node, digits: Sequence[int]) -> list[Node]:
            return [nest.put(node, factor, digit) for digit in digits]

        def across(nodes: Sequence[Node], digit: int) -> list[Node]:
            return [nest.put(node, factor, digit) for node in nodes]

        return [
            along(src, row) + across(column[1:], end),
            column + along(dst, row[1:]),
            *([src, *across(column, other[1]), *along(dst, other[2:])] for other in rows[1:]),
            *([src, *along(other[1], row), *across(other[2:], end)] for other in columns[1:]),
        ]

    def _factor_paths(self, factor: int, start: int, end: int) -> list[list[int]]:
        kind = self.nest.network.factors[factor]
        shortest = [start, *factor_walk(kind, start, end)]
        if kind.is_edge:
            return [shortest]
        if kind.kind == "complete":
            return [shortest, *([start, by, end] for by in range(kind.size) if by not in (start, end))]
        step = (start - shortest[1] + 1) % kind.size - 1
        return [shortest, [(start + step * hop) % kind.size for hop in range(kind.size - len(shortest) + 2)]]

    def _core(self, level: int, src: Node, dst: Node, factors: Sequence[int]) -> Paths:
        """Return disjoint paths where no factor is in every super-node: the paper's Cases A, B and C."""
        nest = self.nest
        class_bit, cluster, inner = nest.split(level, src)
        goal_class, goal_cluster, goal_inner = nest.split(level, dst)
        if class_bit == goal_class and cluster == goal_cluster:
            head = src[: len(src) - len(inner)]
            inside = self.paths(level - 1, inner, goal_inner, factors)
            return [*([head + node for node in path] for path in inside), self._outside(level, src, dst)]
        if class_bit == goal_class and not any(nest.inside(level, factor) for factor in factors):
            return self._copies(level, src, dst, factors)
        pair = _Pair(nest, level, self._fan(level, src, factors), self._fan(level, dst, factors))
        return pair.other_class() if class_bit != goal_class else pair.same_class()

    def _copies(self, level: int, src: Node, dst: Node, factors: Sequence[int]) -> Paths:
        """Return paths between two clusters of a class: those within one, each cut where it goes over to the other."""
        nest = self.nest
        inner, goal = nest.split(level, src)[2], nest.split(level, dst)[2]
        if inner == goal:
            near = [nest.neighbor(inner, move) for move in nest.moves(level - 1, factors)]
            cuts = [([inner], [goal]), *(([inner, node], [node, goal]) for node in near)]
        else:
            first, *others = sorted(self.paths(level - 1, inner, goal, factors), key=len)
            cuts = [([inner], first), (first, [goal]), *((path[:2], path[1:]) for path in others)]
        head, tail = src[: len(src) - len(inner)], dst[: len(dst) - len(goal)]
        paths = []
        for begin, end in cuts:
            ours, theirs = [head + node for node in begin], [tail + node for node in end]
            way = nest.walk(level, nest.cross(level, ours[-1]), nest.cross(level, theirs[0]))
            paths.append([*ours, *way, *theirs])
        return paths

    def _outside(self, level: int, src: Node, dst: Node) -> list[Node]:
        """Return the path outside their cluster between two nodes of it."""
        nest = self.nest
        leave, enter = nest.cross(level, src), nest.cross(level, dst)
        _, cluster, inner = nest.split(level, leave)
        if cluster == nest.split(level, enter)[1]:
            return [src, *nest.walk(level, leave, enter), dst]
        home = nest.super_node(level, inner)
        moves = nest.moves(level - 1, range(len(nest.network.factors)))
        near = [nest.super_node(level, nest.neighbor(inner, move)) for move in moves]
        doors = [name for name in dict.fromkeys(near) if name != home]
        return min(([src, *_over(nest, level, leave, enter, door), dst] for door in doors), key=len)

    def _fan(self, level: int, node: Node, factors: Sequence[int]) -> list[Walk]:
        """Return paths in the cluster of a node, the first of them the node alone, to super-nodes all different."""
        nest = self.nest
        _, _, inner = nest.split(level, node)
        head = node[: len(node) - len(inner)]
        fan: list[Walk] = [(inner,)]
        for factor in factors:
            lower = 0
            if nest.inside(level, factor):
                lower = max(below for below in range(1, level) if not nest.inside(below, factor))
            for move in nest.moves(0, [factor]):
                near = nest.neighbor(inner, move)
                fan.append((inner, near, nest.cross(lower, near)) if lower else (inner, near))
        fan += [(inner, nest.cross(lower, inner)) for lower in range(1, level)]
        return [tuple(head + part for part in path) for path in fan]


def _over(nest: Nest, level: int, start: Node, goal: Node, door: Node) -> Walk:
    """Return a path between two clusters of a class over the cluster `door` of the other class."""
    inner = nest.split(level, start)[2]
    _, goal_cluster, goal_inner = nest.split(level, goal)
    inside = nest.network.levels[level - 1].super_node_factors
    head = start[: len(start) - len(inner)]
    first = tuple(head + node for node in nest.walk(level - 1, inner, nest.in_super_node(level, inner, door), inside))
    middle = nest.cross(level, first[-1])
    goal_door = nest.in_super_node(level, goal_inner, goal_cluster)
    head, inner = middle[: len(middle) - len(inner)], middle[len(middle) - len(inner) :]
    second = tuple(head + node for node in nest.walk(level - 1, inner, goal_door, inside))
    return first + second + nest.walk(level, nest.cross(level, second[-1]), goal)


class _Pair:
    """The fans of two nodes in different clusters of a level, and how they are joined."""

    def __init__(self, nest: Nest, level: int, ours: list[Walk], theirs: list[Walk]) -> None:
        self.nest, self.level, self.ours, self.theirs = nest, level, ours, theirs
        self.our_doors = [self._door(path) for path in ours]
        self.their_doors = [self._door(path) for path in theirs]
        self.our_cluster = nest.split(level, ours[0][0])[1]
        self.their_cluster = nest.split(level, theirs[0][0])[1]

    def _door(self, path: Walk) -> Node:
        """Return the cluster that the last node of a path leads to."""
        return self.nest.super_node(self.level, self.nest.split(self.level, path[-1])[2])

    def other_class(self) -> Paths:
        """Join them, the clusters being of two classes."""
        joined: dict[tuple[int, int], list[Node]] = {}
        guest = self._index(self.our_doors, self.their_cluster)
        their_guest = self._index(self.their_doors, self.our_cluster)
        if their_guest is not None:
            host, path = self._visit(self.ours, self.theirs[their_guest])
            joined[host, their_guest] = path
        if guest is not None and all(ours != guest for ours, _ in joined):
            host, path = self._visit(self.theirs, self.ours[guest])
            if host == their_guest:
                joined.clear()
            joined[guest, host] = path[::-1]
        if not joined:
            joined |= self._direct()
        ours, theirs = self._left(joined)
        rows = [[self._two_clusters(self.ours[one], self.theirs[other]) for other in theirs] for one in ours]
        columns = cheapest_pairs([[len(path) for path in row] for row in rows])
        return [*joined.values(), *(row[column] for row, column in zip(rows, columns, strict=True))]

    def _direct(self) -> dict[tuple[int, int], list[Node]]:
        """Return the path that goes within the two clusters."""
        nest, level = self.nest, self.level
        inner = nest.split(level, self.ours[0][0])[2]
        head = self.ours[0][0][: -len(inner)]
        door = head + nest.in_super_node(level, inner, self.their_cluster)
        one, begin = self._meet(self.ours, door)
        other, end = self._meet(self.theirs, nest.cross(level, door))
        return {(one, other): [*begin, *end[::-1]]}

    @staticmethod
    def _index(doors: list[Node], cluster: Node) -> int | None:
        return doors.index(cluster) if cluster in doors else None

    def _left(self, joined: Collection[tuple[int, int]]) -> tuple[list[int], list[int]]:
        ours, theirs = {one for one, _ in joined}, {other for _, other in joined}
        every = range(len(self.ours))
        return [one for one in every if one not in ours], [other for other in every if other not in theirs]

    def _visit(self, fan: list[Walk], guest: Walk) -> tuple[int, list[Node]]:
        """Lead a path into the cluster of a fan; return the fan path it meets first, and the path from the root."""
        number, path = self._meet(fan, self.nest.cross(self.level, guest[-1]))
        return number, [*path, *guest[::-1]]

    def _meet(self, fan: list[Walk], entry: Node) -> tuple[int, list[Node]]:
        """Return the fan path that the way from a node to the root meets first, and the path from root to node."""
        place = {node: (number, hop) for number, path in reversed([*enumerate(fan)]) for hop, node in enumerate(path)}
        walk = self._way(entry, fan[0][0])
        met = next(hop for hop, node in enumerate(walk) if node in place)
        number, hop = place[walk[met]]
        return number, [*fan[number][: hop + 1], *walk[:met][::-1]]

    def _way(self, entry: Node, root: Node) -> Walk:
        """Return the way from a node to the root of a fan.

        Where a cluster is a cube, and they are a bit short of being opposite, it goes round by the node opposite to
        `entry`, a neighbor of the root: that one's path would be the longest of the others (docs/results/02, the
        dual-cube).
        """
        nest = self.nest
        bits = _cube_factors(nest.network) if self.level == 1 else []
        alike = [factor for factor in bits if nest.digit(entry, factor) == nest.digit(root, factor)]
        if len(alike) != 1:
            return nest.walk(self.level, entry, root)
        walk = [entry]
        for factor in [*alike, *(factor for factor in bits if factor not in alike)]:
            walk.append(nest.put(walk[-1], factor, 1 - nest.digit(walk[-1], factor)))
        return (*walk, root)

    def _two_clusters(self, one: Walk, other: Walk) -> list[Node]:
        """Return the path from one root to the other over the clusters, or the cluster, to which two fan paths lead."""
        nest, level = self.nest, self.level
        start, goal = nest.cross(level, one[-1]), nest.cross(level, other[-1])
        return [*one, *nest.walk(level, start, goal), *other[::-1]]

    def same_class(self) -> Paths:
        """Join them, the clusters being of one class."""
        nest, level = self.nest, self.level
        joined: dict[tuple[int, int], list[Node]] = {}
        for one, door in enumerate(self.our_doors):
            other = self._index(self.their_doors, door)
            if other is not None:
                joined[one, other] = self._two_clusters(self.ours[one], self.theirs[other])
        ours, theirs = self._left(joined)
        starts = [nest.cross(level, self.ours[one][-1]) for one in ours]
        goals = [nest.cross(level, self.theirs[other][-1]) for other in theirs]
        doors = self._free_doors(len(ours))
        costs = [
            [min(len(_over(nest, level, start, goal, door)) for door in doors) for goal in goals] for start in starts
        ]
        order = cheapest_pairs(costs)
        ways = [
            [_over(nest, level, start, goals[column], door) for door in doors]
            for start, column in zip(starts, order, strict=True)
        ]
        chosen = cheapest_pairs([[len(way) for way in row] for row in ways])
        return [*joined.values()] + [
            [*self.ours[one], *row[door], *self.theirs[theirs[column]][::-1]]
            for one, column, row, door in zip(ours, order, ways, chosen, strict=True)
        ]

    def _free_doors(self, most: int) -> list[Node]:
        """Return ids of clusters that may be the third one of a path: those a digit away from the two, or any."""
        network, ends = self.nest.network, (self.our_cluster, self.their_cluster)
        radices = [network.radices[position] for position in network.levels[self.level - 1].cluster]
        doors: dict[Node, None] = {}
        for cluster in ends:
            for place, radix in enumerate(radices):
                for step in (1, radix - 1):
                    doors[(*cluster[:place], (cluster[place] + step) % radix, *cluster[place + 1 :])] = None
        if len(doors) < most + len(ends):
            doors |= dict.fromkeys(islice(product(*map(range, radices)), most + len(ends)))
        return [door for door in doors if door not in ends]
