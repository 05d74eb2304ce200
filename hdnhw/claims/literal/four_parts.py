"""The HDN paper's numbering of nodes, (C, U, SN, N) at each level, in plain integers; it shares nothing with the codec.

References
----------
.. [1] HDN paper (hdn-total-exchange), section 2.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from hdnhw.spec import DualCube, DualNet, Factor, NetworkSpec
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork

memoize = lru_cache(maxsize=1 << 17)
"""Recursions share their parts: routing every pair of a small network computes each part once."""


@dataclass(frozen=True, eq=False)
class PartsLevel:
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
class Shape:
    """The base network and ``levels[k - 1]`` for each level k."""

    factors: tuple[Factor, ...]
    levels: tuple[PartsLevel, ...]

    @property
    def base_nodes(self) -> int:
        return prod(factor.size for factor in self.factors)


@lru_cache(maxsize=16)
def shape_of(network: DualNetwork) -> Shape:
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
        levels.append(PartsLevel(nodes, clusters, inside, outside))
        nodes *= 2 * clusters
    return Shape(factors, tuple(levels))


def digits_of(factors: Iterable[Factor], number: int) -> list[int]:
    digits = []
    for factor in reversed(tuple(factors)):
        number, digit = divmod(number, factor.size)
        digits.append(digit)
    return digits[::-1]


def number_of(factors: Iterable[Factor], digits: Iterable[int]) -> int:
    number = 0
    for factor, digit in zip(factors, digits, strict=True):
        number = number * factor.size + digit
    return number


@memoize
def split(shape: Shape, k: int, node: int) -> tuple[int, int, int, int]:
    """Return (C^k, U^k, SN^k, N^k) of a level-k node: the paper's re-indexing, digit by digit."""
    level = shape.levels[k - 1]
    cluster, inner = divmod(node, level.inner_nodes)
    upper, base = divmod(inner, shape.base_nodes)
    digits = digits_of(shape.factors, base)
    outside, inside = ([shape.factors[index] for index in part] for part in (level.outside, level.inside))
    super_node = upper * prod(factor.size for factor in outside) + number_of(
        outside, [digits[i] for i in level.outside]
    )
    return *divmod(cluster, level.clusters), super_node, number_of(inside, [digits[i] for i in level.inside])


@memoize
def join(shape: Shape, k: int, parts: tuple[int, int, int, int]) -> int:
    """Return the level-k node (C^k, U^k, SN^k, N^k)."""
    level = shape.levels[k - 1]
    class_id, cluster_id, super_node, node_id = parts
    outside, inside = ([shape.factors[index] for index in part] for part in (level.outside, level.inside))
    upper, rest = divmod(super_node, prod(factor.size for factor in outside))
    digits = dict(zip(level.outside, digits_of(outside, rest), strict=True))
    digits |= zip(level.inside, digits_of(inside, node_id), strict=True)
    base = number_of(shape.factors, [digits[index] for index in range(len(shape.factors))])
    inner = upper * shape.base_nodes + base
    return (class_id * level.clusters + cluster_id) * level.inner_nodes + inner


def relabel(spec: NetworkSpec, nodes: Sequence[int]) -> list[int]:
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


def four_parts(network: DualNetwork, node: int) -> list[tuple[int, int, int, int]]:
    """Return (C^j, U^j, SN^j, N^j) of a node for each level j, level k first (HDN paper, section 2).

    Those of level j - 1 are the re-indexed (SN^j, N^j): the node within its cluster of level j.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> four_parts(build("hdn(cube(2), [[0], [0, 1]])"), 77)
    [(1, 0, 3, 1), (1, 1, 1, 0)]
    """
    shape = shape_of(network)
    (here,) = relabel(network.spec, [network.check_node(node)])
    parts = []
    for k in range(len(shape.levels), 0, -1):
        parts.append(split(shape, k, here))
        here %= shape.levels[k - 1].inner_nodes
    return parts


def node_at_parts(network: DualNetwork, parts: tuple[int, int, int, int]) -> int:
    """Return the node (C^k, U^k, SN^k, N^k), k the highest level; the inverse of the first row of :func:`four_parts`.

    Raises
    ------
    SpecError
        If a part is out of range.
    """
    shape = shape_of(network)
    level = shape.levels[-1]
    most = (1, level.clusters - 1, level.clusters - 1, level.inner_nodes // level.clusters - 1)
    if not all(0 <= part <= last for part, last in zip(parts, most, strict=True)):
        ranges = ", ".join(f"0 to {last}" for last in most)
        raise SpecError(f"C,U,SN,N of {network.spec} must be {ranges}, not {','.join(map(str, parts))}")
    return relabel(network.spec, [join(shape, len(shape.levels), parts)])[0]
