"""The papers' Algorithm 1 (HDN_routing), recursive as printed: the witness that the hardware's rule is held against.

It shares no code with the routers' rule and none with the digit codec: nodes are the plain integers of the papers'
four-part form (C, U, SN, N), re-indexed level by level.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hdnhw.claims.literal.four_parts import Shape, digits_of, join, memoize, number_of, relabel, shape_of, split
from hdnhw.spec import Factor
from hdnhw.topology.dualnet import dual_network
from hdnhw.topology.graph import Network

Path = tuple[int, ...]
Lengths = npt.NDArray[np.int16]


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


@memoize
def _base_routing(shape: Shape, u: int, v: int) -> Path:
    """Base_routing(B, u, v): dimension order over the base digits; the numbers may carry equal upper parts."""
    offset = u - u % shape.base_nodes
    digits, target = digits_of(shape.factors, u - offset), digits_of(shape.factors, v - offset)
    path = [u]
    for index, factor in enumerate(shape.factors):
        for digit in _factor_walk(factor, digits[index], target[index]):
            digits[index] = digit
            path.append(offset + number_of(shape.factors, digits))
    return tuple(path)


@memoize
def _in_cluster(shape: Shape, k: int, u: int, v: int) -> Path:
    """Route between two level-k nodes of one level-k cluster: HDN_routing one level down, or Base_routing if k = 1."""
    inner_nodes = shape.levels[k - 1].inner_nodes
    offset = u - u % inner_nodes
    return tuple(offset + node for node in _hdn_routing(shape, k - 1, u - offset, v - offset))


def _hdn_routing(shape: Shape, k: int, u: int, v: int) -> Path:
    """HDN_routing(HDN(B, k, S), u, v) on level-k nodes."""
    if k == 0:
        return _base_routing(shape, u, v)
    u0, u1, u2, u3 = split(shape, k, u)
    v0, v1, _, _ = split(shape, k, v)
    if u0 == v0 and u1 == v1:
        return _in_cluster(shape, k, u, v)
    if u0 != v0:
        return _other_class(shape, k, u, v)
    w = join(shape, k, (1 - u0, u2, u1, u3))
    return (u, *_other_class(shape, k, w, v))


def _other_class(shape: Shape, k: int, u: int, v: int) -> Path:
    """Case 2 of HDN_routing: u and v in clusters of distinct classes."""
    u0, u1, _, u3 = split(shape, k, u)
    v0, v1, _, v3 = split(shape, k, v)
    u_leave = join(shape, k, (u0, u1, v1, u3))
    v_leave = join(shape, k, (v0, v1, u1, v3))
    u_enter = join(shape, k, (v0, v1, u1, u3))
    to_leave = _in_cluster(shape, k, u, u_leave)
    in_super_node = _base_routing(shape, u_enter, v_leave)
    from_leave = _in_cluster(shape, k, v, v_leave)[::-1]
    return to_leave + in_super_node + from_leave[1:]


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
        nested it may be longer than a shortest path and may visit a node twice (docs/papers/errata.md, E3).

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
    - Re-indexing moves digits, not serial numbers (docs/papers/errata.md, E7), so that SN^k names a super-node and N^k
      a node in it.
    - A walk that comes back to a node is kept.

    References
    ----------
    .. [1] HDN paper (hdn-total-exchange), section 3, Algorithm 1 and Theorem 2.
    .. [2] Disjoint-path paper (hdn-disjoint-paths), section 3.1, Algorithm 1 (its Cases A, B, C are 1, 2, 3 here).
    .. [3] RDN paper (rdn-collectives), section II, Theorem 2: the case of super-nodes of one node.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> network = build("rdn(cube(3), 1)")
    >>> [network.format_node(node) for node in algorithm1_route(network, 0, 77)]
    ['0.0/0.0.0', '0.0/0.0.1', '1.1/0.0.0', '1.1/0.0.1', '1.1/1.0.1']
    """
    shape = shape_of(dual_network(network, "Algorithm 1"))
    u, v = relabel(network.spec, [network.check_node(src), network.check_node(dst)])
    return relabel(network.spec, _hdn_routing(shape, len(shape.levels), u, v))


def base_routing_calls(network: Network, src: int, dst: int) -> int:
    """Return how often Algorithm 1 calls Base_routing for a pair, as its recursion goes; also where nothing is to do.

    Parameters are those of :func:`algorithm1_route`.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> base_routing_calls(build("rdn(cube(3), 1)"), 0, 77)
    3
    """
    shape = shape_of(dual_network(network, "Algorithm 1"))
    u, v = relabel(network.spec, [network.check_node(src), network.check_node(dst)])
    return _calls(shape, len(shape.levels), u, v)


def _calls(shape: Shape, k: int, u: int, v: int) -> int:
    """Return the calls of HDN_routing(HDN(B, k, S), u, v)."""
    if k == 0:
        return 1
    inner = shape.levels[k - 1].inner_nodes
    (u0, u1, u2, u3), (v0, v1, _, v3) = split(shape, k, u), split(shape, k, v)
    if u0 == v0 and u1 == v1:
        return _calls(shape, k - 1, u % inner, v % inner)
    if u0 == v0:
        u, u0, u1 = join(shape, k, (1 - u0, u2, u1, u3)), 1 - u0, u2
    u_leave, v_leave = join(shape, k, (u0, u1, v1, u3)), join(shape, k, (v0, v1, u1, v3))
    return _calls(shape, k - 1, u % inner, u_leave % inner) + 1 + _calls(shape, k - 1, v % inner, v_leave % inner)


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
    >>> from hdnhw.networks.build import build
    >>> int(algorithm1_lengths(build("rdn(cube(3), 1)"))[0, 77])
    4
    """
    shape = shape_of(dual_network(network, "Algorithm 1"))
    all_of = range(shape.base_nodes)
    base = np.array([[len(_base_routing(shape, u, v)) - 1 for v in all_of] for u in all_of], dtype=np.int16)
    lengths = base
    for k, level in enumerate(shape.levels, start=1):
        chosen = sources if k == len(shape.levels) and sources is not None else range(2 * level.clusters * len(lengths))
        lengths = _lengths_above(shape, k, base, lengths, chosen)
    return lengths if shape.levels or sources is None else lengths[list(sources)]


def _lengths_above(shape: Shape, k: int, base: Lengths, within: Lengths, sources: Sequence[int]) -> Lengths:
    """Return lengths at level k from those at level k - 1."""
    level, inner = shape.levels[k - 1], np.arange(len(within))
    parts = np.array([split(shape, k, node)[2:] for node in inner.tolist()])
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
