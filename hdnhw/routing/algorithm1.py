"""The papers' Algorithm 1 (HDN_routing), recursive as printed: the witness that the hardware's rule is held against.

It shares no code with the routers' rule and none with the digit codec: nodes are the plain integers of the papers'
four-part form (C, U, SN, N), re-indexed level by level.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

from hdnhw.spec import DualCube, DualNet, Factor, NetworkSpec, SpecError
from hdnhw.topology.dualnet import DualNetwork, dual_network
from hdnhw.topology.network import Network

__all__ = ["algorithm1_lengths", "algorithm1_route", "base_routing_calls", "four_parts", "node_at_parts"]

Path = tuple[int, ...]
Lengths = npt.NDArray[np.int16]

_memoise = lru_cache(maxsize=1 << 17)
"""Recursions share their parts: routing every pair of a small network computes each part once."""


@dataclass(frozen=True, eq=False)
class _Level:
    """One level k >= 1: how a level-k number splits into (C^k, U^k, SN^k, N^k).

    Attributes
    ----------
    inner_nodes : int
        N_(k-1), the nodes of a cluster.
    clusters : int
        m_k = N_(k-1) / s_k, the clusters a class, which is also the super-nodes a cluster.
    inside, outside : tuple of int
        Factor indices in SN^k, and the others.
    """

    inner_nodes: int
    clusters: int
    inside: tuple[int, ...]
    outside: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Shape:
    """The base network and ``levels[k - 1]`` for each level k."""

    factors: tuple[Factor, ...]
    levels: tuple[_Level, ...]

    @property
    def base_nodes(self) -> int:
        return prod(factor.size for factor in self.factors)


@lru_cache(maxsize=16)
def _shape(network: DualNetwork) -> _Shape:
    spec = network.spec
    super_nodes: tuple[tuple[int, ...], ...] = ()
    if isinstance(spec, DualNet | DualCube):
        factors, super_nodes = spec.base.factors, spec.super_nodes
    else:
        factors = spec.factors
    nodes, levels = prod(factor.size for factor in factors), []
    for inside in super_nodes:
        clusters = nodes // prod(factors[index].size for index in inside)
        outside = tuple(index for index in range(len(factors)) if index not in inside)
        levels.append(_Level(nodes, clusters, inside, outside))
        nodes *= 2 * clusters
    return _Shape(factors, tuple(levels))


def _digits(factors: Iterable[Factor], number: int) -> list[int]:
    digits = []
    for factor in reversed(tuple(factors)):
        number, digit = divmod(number, factor.size)
        digits.append(digit)
    return digits[::-1]


def _number(factors: Iterable[Factor], digits: Iterable[int]) -> int:
    number = 0
    for factor, digit in zip(factors, digits, strict=True):
        number = number * factor.size + digit
    return number


@_memoise
def _split(shape: _Shape, k: int, node: int) -> tuple[int, int, int, int]:
    """Return (C^k, U^k, SN^k, N^k) of a level-k node: the paper's re-indexing, digit by digit."""
    level = shape.levels[k - 1]
    cluster, inner = divmod(node, level.inner_nodes)
    upper, base = divmod(inner, shape.base_nodes)
    digits = _digits(shape.factors, base)
    outside, inside = ([shape.factors[index] for index in part] for part in (level.outside, level.inside))
    super_node = upper * prod(factor.size for factor in outside) + _number(outside, [digits[i] for i in level.outside])
    return *divmod(cluster, level.clusters), super_node, _number(inside, [digits[i] for i in level.inside])


@_memoise
def _join(shape: _Shape, k: int, parts: tuple[int, int, int, int]) -> int:
    """Return the level-k node (C^k, U^k, SN^k, N^k)."""
    level = shape.levels[k - 1]
    class_id, cluster_id, super_node, node_id = parts
    outside, inside = ([shape.factors[index] for index in part] for part in (level.outside, level.inside))
    upper, rest = divmod(super_node, prod(factor.size for factor in outside))
    digits = dict(zip(level.outside, _digits(outside, rest), strict=True))
    digits |= zip(level.inside, _digits(inside, node_id), strict=True)
    base = _number(shape.factors, [digits[index] for index in range(len(shape.factors))])
    inner = upper * shape.base_nodes + base
    return (class_id * level.clusters + cluster_id) * level.inner_nodes + inner


def _factor_walk(factor: Factor, start: int, end: int) -> list[int]:
    """Return the digits after `start` on the way to `end`: the shorter way round a cycle, + where both are equal."""
    if factor.kind == "complete":
        return [end] if start != end else []
    if factor.kind == "path":
        step = 1 if start < end else -1
        return list(range(start + step, end + step, step)) if start != end else []
    forward = (end - start) % factor.size
    if 2 * forward <= factor.size:
        return [(start + hop) % factor.size for hop in range(1, forward + 1)]
    return [(start - hop) % factor.size for hop in range(1, factor.size - forward + 1)]


@_memoise
def _base_routing(shape: _Shape, u: int, v: int) -> Path:
    """Base_routing(B, u, v): dimension order over the base digits; the numbers may carry equal upper parts."""
    offset = u - u % shape.base_nodes
    digits, target = _digits(shape.factors, u - offset), _digits(shape.factors, v - offset)
    path = [u]
    for index, factor in enumerate(shape.factors):
        for digit in _factor_walk(factor, digits[index], target[index]):
            digits[index] = digit
            path.append(offset + _number(shape.factors, digits))
    return tuple(path)


@_memoise
def _in_cluster(shape: _Shape, k: int, u: int, v: int) -> Path:
    """Route between two level-k nodes of one level-k cluster: HDN_routing one level down, or Base_routing if k = 1."""
    inner_nodes = shape.levels[k - 1].inner_nodes
    offset = u - u % inner_nodes
    return tuple(offset + node for node in _hdn_routing(shape, k - 1, u - offset, v - offset))


def _hdn_routing(shape: _Shape, k: int, u: int, v: int) -> Path:
    """HDN_routing(HDN(B, k, S), u, v) on level-k nodes."""
    if k == 0:
        return _base_routing(shape, u, v)
    u0, u1, u2, u3 = _split(shape, k, u)
    v0, v1, _, _ = _split(shape, k, v)
    if u0 == v0 and u1 == v1:
        return _in_cluster(shape, k, u, v)
    if u0 != v0:
        return _other_class(shape, k, u, v)
    w = _join(shape, k, (1 - u0, u2, u1, u3))
    return (u, *_other_class(shape, k, w, v))


def _other_class(shape: _Shape, k: int, u: int, v: int) -> Path:
    """Case 2 of HDN_routing: u and v in clusters of distinct classes."""
    u0, u1, _, u3 = _split(shape, k, u)
    v0, v1, _, v3 = _split(shape, k, v)
    u_leave = _join(shape, k, (u0, u1, v1, u3))
    v_leave = _join(shape, k, (v0, v1, u1, v3))
    u_enter = _join(shape, k, (v0, v1, u1, u3))
    to_leave = _in_cluster(shape, k, u, u_leave)
    in_super_node = _base_routing(shape, u_enter, v_leave)
    from_leave = _in_cluster(shape, k, v, v_leave)[::-1]
    return to_leave + in_super_node + from_leave[1:]


def _relabel(spec: NetworkSpec, nodes: Sequence[int]) -> list[int]:
    """Translate between dual-cube addresses and the numbers of RDN((r-1)-cube, 1); its own inverse.

    A class-1 dual-cube node keeps its node id in the middle field and its cluster id in the low one.
    """
    if not isinstance(spec, DualCube):
        return list(nodes)
    size = 1 << (spec.r - 1)
    result = []
    for node in nodes:
        class_id, middle, low = node // size**2, node // size % size, node % size
        result.append((class_id * size + low) * size + middle if class_id else node)
    return result


def algorithm1_route(network: Network, src: int, dst: int) -> list[int]:
    """Return the route of the papers' Algorithm 1 from `src` to `dst`.

    Parameters
    ----------
    network : Network
        A dual-net, a dual-cube, or a product (level 0: the base routing alone).
    src, dst : int
        Node numbers.

    Returns
    -------
    list of int
        Node numbers visited, `src` first and `dst` last; hops are its length less one. Where the super-nodes are not
        nested it may be longer than a shortest path and may visit a node twice (docs/errata.md, E3).

    Raises
    ------
    SpecError
        If the network is none of these.
    ValueError
        If `src` or `dst` is not a node number.

    Notes
    -----
    The base routing, which the papers leave free, is dimension order over factors 0, 1, ...: a cycle goes the shorter
    way and in + direction if both are equal, a path towards its end, a complete graph direct. A dual-cube is routed
    as RDN((r-1)-cube, 1).

    Choices that the text leaves open, none of which the reference lengths contradict:

    - "Route v to v'" is taken as printed: computed from v, then walked backwards. Computing it from v' passes other
      nodes but has the same length on every pair of the networks tried.
    - Re-indexing moves digits, not serial numbers (docs/errata.md, E7), so that SN^k names a super-node and N^k a
      node in it.
    - A walk that comes back to a node is kept.

    References
    ----------
    .. [1] HDN paper (hdn-total-exchange), section 3, Algorithm 1 and Theorem 2.
    .. [2] Disjoint-path paper (hdn-disjoint-paths), section 3.1, Algorithm 1 (its Cases A, B, C are 1, 2, 3 here).
    .. [3] RDN paper (rdn-collectives), section II, Theorem 2: the case of super-nodes of one node.

    Examples
    --------
    >>> from hdnhw.spec import parse
    >>> from hdnhw.topology.network import build
    >>> network = build(parse("rdn(cube(3), 1)"))
    >>> [network.format_node(node) for node in algorithm1_route(network, 0, 77)]
    ['0.0/0.0.0', '0.0/0.0.1', '1.1/0.0.0', '1.1/0.0.1', '1.1/1.0.1']
    """
    shape = _shape(dual_network(network, "Algorithm 1"))
    u, v = _relabel(network.spec, [network.check_node(src), network.check_node(dst)])
    return _relabel(network.spec, _hdn_routing(shape, len(shape.levels), u, v))


def base_routing_calls(network: Network, src: int, dst: int) -> int:
    """Return how often Algorithm 1 calls Base_routing for a pair, as its recursion goes; also where nothing is to do.

    Parameters are those of :func:`algorithm1_route`.

    Examples
    --------
    >>> from hdnhw.spec import parse
    >>> from hdnhw.topology.network import build
    >>> base_routing_calls(build(parse("rdn(cube(3), 1)")), 0, 77)
    3
    """
    shape = _shape(dual_network(network, "Algorithm 1"))
    u, v = _relabel(network.spec, [network.check_node(src), network.check_node(dst)])
    return _calls(shape, len(shape.levels), u, v)


def _calls(shape: _Shape, k: int, u: int, v: int) -> int:
    """Return the calls of HDN_routing(HDN(B, k, S), u, v)."""
    if k == 0:
        return 1
    inner = shape.levels[k - 1].inner_nodes
    (u0, u1, u2, u3), (v0, v1, _, v3) = _split(shape, k, u), _split(shape, k, v)
    if u0 == v0 and u1 == v1:
        return _calls(shape, k - 1, u % inner, v % inner)
    if u0 == v0:
        u, u0, u1 = _join(shape, k, (1 - u0, u2, u1, u3)), 1 - u0, u2
    u_leave, v_leave = _join(shape, k, (u0, u1, v1, u3)), _join(shape, k, (v0, v1, u1, v3))
    return _calls(shape, k - 1, u % inner, u_leave % inner) + 1 + _calls(shape, k - 1, v % inner, v_leave % inner)


def four_parts(network: DualNetwork, node: int) -> list[tuple[int, int, int, int]]:
    """Return (C^j, U^j, SN^j, N^j) of a node for each level j, level k first (HDN paper, section 2).

    Those of level j - 1 are the re-indexed (SN^j, N^j): the node within its cluster of level j.

    Examples
    --------
    >>> from hdnhw.spec import parse
    >>> from hdnhw.topology.network import build
    >>> four_parts(build(parse("hdn(cube(2), [[0], [0, 1]])")), 77)
    [(1, 0, 3, 1), (1, 1, 1, 0)]
    """
    shape = _shape(network)
    (here,) = _relabel(network.spec, [network.check_node(node)])
    parts = []
    for k in range(len(shape.levels), 0, -1):
        parts.append(_split(shape, k, here))
        here %= shape.levels[k - 1].inner_nodes
    return parts


def node_at_parts(network: DualNetwork, parts: tuple[int, int, int, int]) -> int:
    """Return the node (C^k, U^k, SN^k, N^k), k the highest level; the inverse of the first row of :func:`four_parts`.

    Raises
    ------
    SpecError
        If a part is out of range.
    """
    shape = _shape(network)
    level = shape.levels[-1]
    most = (1, level.clusters - 1, level.clusters - 1, level.inner_nodes // level.clusters - 1)
    if not all(0 <= part <= last for part, last in zip(parts, most, strict=True)):
        ranges = ", ".join(f"0 to {last}" for last in most)
        raise SpecError(f"C,U,SN,N of {network.spec} must be {ranges}, not {','.join(map(str, parts))}")
    return _relabel(network.spec, [_join(shape, len(shape.levels), parts)])[0]


def algorithm1_lengths(network: Network, sources: Sequence[int] | None = None) -> Lengths:
    """Return the lengths of the routes of :func:`algorithm1_route`, without the routes.

    Parameters
    ----------
    network : Network
        A product or dual-net; a dual-cube under the numbers of ``rdn(cube(r - 1), 1)``.
    sources : sequence of int, optional
        Nodes from which; all if omitted.

    Returns
    -------
    ndarray of int16, shape (sources, num_nodes)

    Examples
    --------
    >>> from hdnhw.spec import parse
    >>> from hdnhw.topology.network import build
    >>> int(algorithm1_lengths(build(parse("rdn(cube(3), 1)")))[0, 77])
    4
    """
    shape = _shape(dual_network(network, "Algorithm 1"))
    all_of = range(shape.base_nodes)
    base = np.array([[len(_base_routing(shape, u, v)) - 1 for v in all_of] for u in all_of], dtype=np.int16)
    lengths = base
    for k, level in enumerate(shape.levels, start=1):
        chosen = sources if k == len(shape.levels) and sources is not None else range(2 * level.clusters * len(lengths))
        lengths = _lengths_above(shape, k, base, lengths, chosen)
    return lengths if shape.levels or sources is None else lengths[list(sources)]


def _lengths_above(shape: _Shape, k: int, base: Lengths, within: Lengths, sources: Sequence[int]) -> Lengths:
    """Return lengths at level k from those at level k - 1."""
    level, inner = shape.levels[k - 1], np.arange(len(within))
    parts = np.array([_split(shape, k, node)[2:] for node in inner.tolist()])
    super_node, node_id = parts.T
    place = np.empty((level.clusters, len(within) // level.clusters), dtype=np.int64)
    place[super_node, node_id] = inner
    in_super_node = base[np.ix_(place[0], place[0])]

    def to_other_class(cluster: int, node: int) -> Lengths:
        own = node_id[node]
        leave = within[node, place[:, own]]
        arrive = in_super_node[own, node_id] + within[inner, place[cluster, node_id]]
        lengths: Lengths = np.add.outer(leave + np.int16(1), arrive)
        return lengths

    result = np.empty((len(sources), 2, level.clusters, len(within)), dtype=np.int16)
    for row, source in zip(result, sources, strict=True):
        outer, node = divmod(source, len(within))
        class_id, cluster = divmod(outer, level.clusters)
        row[1 - class_id] = to_other_class(cluster, node)
        row[class_id] = to_other_class(super_node[node], place[cluster, node_id[node]]) + np.int16(1)
        row[class_id, cluster] = within[node]
    return result.reshape(len(sources), -1)
