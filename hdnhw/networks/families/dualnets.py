"""Hierarchical and recursive dual-nets, and the dual-cube."""

from collections.abc import Sequence
from math import ceil, prod, sqrt
from typing import TYPE_CHECKING, overload

from hdnhw.circuits.dual import dual_step
from hdnhw.circuits.step import is_shortest
from hdnhw.networks.build import build
from hdnhw.spec import DualCube, DualNet, NetworkSpec, Product, RecursiveDualNet
from hdnhw.spec.checks import check_address, check_level_count, digit_widths, integer
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.family import Family
from hdnhw.topology.recursive import RecursiveDualNetwork

if TYPE_CHECKING:
    from hdnhw.topology.places import Block

ROW = 4
"""Clusters beside each other that need no second row."""

CLASS_GAP, LEVEL_GAP = 1.2, 0.2
"""Sides of a cluster between the classes of a level, where its cross-edges are, at least (or a third of their width);
and between dual-nets that are clusters of a higher level."""


def _base(name: str, base: object) -> tuple[NetworkSpec, tuple[tuple[int, ...], ...]]:
    """Return the network at level 0 and the super-nodes of the levels that `base` has: those of a dual-net go on."""
    if isinstance(base, DualNet | DualCube):
        return base.base, base.super_nodes
    if isinstance(base, RecursiveDualNet):
        return base.base, ((),) * base.levels
    if not isinstance(base, NetworkSpec):
        raise SpecError(f"{name} base must be a network, for example cube(3), not {base!r}")
    if isinstance(base, Product):
        for position, factor in enumerate(base.factors):
            if not factor.is_symmetric:
                raise SpecError(
                    f"{name} base must be regular; factor {position} of {base} is a path of {factor.size} nodes"
                )
    elif not build(base).is_regular:
        raise SpecError(f"{name} base must be regular; nodes of {base} differ in their number of edges")
    return base, ()


def _super_nodes(base: NetworkSpec, super_nodes: object) -> list[tuple[int, ...]]:
    """Return checked factor indices, ascending, level by level."""
    if not isinstance(super_nodes, (list, tuple)) or not super_nodes:
        raise SpecError("hdn super-nodes must be a list with one list of factor indices a level, for example [[0], []]")
    check_level_count("hdn", len(super_nodes))
    levels = []
    for level, super_node in enumerate(super_nodes, start=1):
        where = f"hdn super-node of level {level}"
        if not isinstance(super_node, (list, tuple)):
            raise SpecError(f"{where} must be a list of factor indices, not {super_node!r}")
        indices = [integer(position, f"{where}: factor index", 0) for position in super_node]
        if indices and not isinstance(base, Product):
            raise SpecError(f"{where} must be [], one node, as {base} is no product; not {list(super_node)}")
        count = len(base.factors) if isinstance(base, Product) else 0
        if any(position >= count for position in indices):
            raise SpecError(f"{where}: factor index must be 0 to {count - 1}, not {max(indices)}")
        if len(set(indices)) != len(indices):
            raise SpecError(f"{where}: factor indices must be distinct, not {list(super_node)}")
        levels.append(tuple(sorted(indices)))
    return levels


def _check_address(text: str, radices: Sequence[int], super_nodes: Sequence[Sequence[int]]) -> None:
    """Raise SpecError if addresses are too wide: a level adds a class bit, and a cluster id like the super-node's."""
    widths = digit_widths(radices)
    prefix = 0
    for super_node in super_nodes:
        prefix += 1 + prefix + sum(width for position, width in enumerate(widths) if position not in super_node)
    check_address(text, prefix + sum(widths))


@overload
def hdn(base: Product, super_nodes: Sequence[Sequence[int]]) -> DualNet: ...
@overload
def hdn(base: NetworkSpec, super_nodes: Sequence[Sequence[int]]) -> DualNet | RecursiveDualNet: ...
def hdn(base: NetworkSpec, super_nodes: Sequence[Sequence[int]]) -> DualNet | RecursiveDualNet:
    """Make HDN(B, k, S) from one list of factor indices of B a level; ``[]`` is a super-node of one node.

    If `base` is itself a dual-net, its levels are the lowest ones of the new one, and the indices are those of its own
    base network.

    Raises
    ------
    SpecError
        If the base is not regular, or a list is not made of distinct factor indices; ``[]`` alone is allowed where the
        base is no product.
    """
    bottom, below = _base("hdn", base)
    levels = (*below, *_super_nodes(bottom, super_nodes))
    if not isinstance(bottom, Product):
        return _recursive(bottom, len(levels))
    return _dual_net(bottom, levels, f"hdn({bottom}, {[list(level) for level in levels]})")


@overload
def rdn(base: Product, levels: int) -> DualNet: ...
@overload
def rdn(base: NetworkSpec, levels: int) -> DualNet | RecursiveDualNet: ...
def rdn(base: NetworkSpec, levels: int) -> DualNet | RecursiveDualNet:
    """Make the recursive dual-net RDN(B, k) of k `levels` over any regular network (RDN paper, section II).

    If `base` is itself a dual-net, its levels are the lowest ones of the new one.
    """
    bottom, below = _base("rdn", base)
    count = integer(levels, "rdn level count", 1)
    check_level_count("rdn", count)
    if not isinstance(bottom, Product):
        return _recursive(bottom, len(below) + count)
    super_nodes = (*below, *((),) * count)
    if any(super_nodes):
        return _dual_net(bottom, super_nodes, f"hdn({bottom}, {[list(level) for level in super_nodes]})")
    return _dual_net(bottom, super_nodes, f"rdn({bottom}, {len(super_nodes)})")


def _dual_net(base: Product, super_nodes: tuple[tuple[int, ...], ...], text: str) -> DualNet:
    _check_address(text, base.radices, super_nodes)
    return DualNet(base, super_nodes, text)


def _recursive(base: NetworkSpec, levels: int) -> RecursiveDualNet:
    made = RecursiveDualNet(base, levels)
    _check_address(str(made), build(base).radices, [()] * levels)
    return made


def dualcube(r: int) -> DualCube:
    """Make the dual-cube F_r of 2^(2r-1) nodes (dual-cube paper, section 2)."""
    degree = integer(r, "dualcube degree", 1)
    check_address(f"dualcube({degree})", 2 * degree - 1)
    return DualCube(degree)


def is_shortest_if_nested(network: DualNetwork, modes: str) -> bool:
    """Return whether all routes are shortest: super-nodes are nested, and no level waits for a part to be finished."""
    return network.is_nested and "O" not in modes


def is_shortest_over_base(network: RecursiveDualNetwork, modes: str) -> bool:
    """Return whether all routes are shortest: those of the base are, and no level waits for a part to be finished."""
    return is_shortest(network.base) and "O" not in modes


def recursive_network(spec: RecursiveDualNet) -> RecursiveDualNetwork:
    """Return the dual-net over the network of its base."""
    return RecursiveDualNetwork(spec, build(spec.base))


def layout(network: DualNetwork | RecursiveDualNetwork) -> "Block":
    """Return the clusters of each level in a row for each class, class 0 above."""
    import numpy as np

    from hdnhw.topology.places import CLUSTER, Block, of_factors
    from hdnhw.topology.places import layout as layout_of

    block = of_factors(network.factors) if isinstance(network, DualNetwork) else layout_of(network.base)
    for place, level in enumerate(network.levels):
        clusters = prod(network.radices[position] for position in level.cluster)
        block = _classes(block, clusters, gap=LEVEL_GAP * CLUSTER if place else 0)
    index = np.zeros(network.num_nodes, int)
    for digit, radix in zip(network.decode(np.arange(network.num_nodes)), network.radices, strict=True):
        index = index * radix + digit
    return Block(block.places[index], block.width, block.height)


def _classes(block: "Block", clusters: int, gap: float) -> "Block":
    """Return two rows of clusters, one of each class, or more where they are many."""
    import numpy as np

    from hdnhw.topology.places import CLUSTER, Block

    rows = -(-clusters // max(ROW, ceil(sqrt(2 * clusters))))
    columns = -(-clusters // rows)
    width, height = block.width + gap, block.height + gap
    lower = rows * height + max(CLASS_GAP * CLUSTER, columns * width / 3)
    corners = [
        (place % columns * width, place // columns * height + half * lower)
        for half in range(2)
        for place in range(clusters)
    ]
    places = (np.array(corners)[:, None] + block.places[None]).reshape(-1, 2)
    return Block(places, columns * width - gap, lower + rows * height - gap)


FAMILIES = tuple(
    Family(makers=makers, spec=spec, network=network, step=dual_step, is_shortest=shortest, layout=layout)
    for makers, spec, network, shortest in (
        ((hdn, rdn), DualNet, DualNetwork, is_shortest_if_nested),
        ((dualcube,), DualCube, DualNetwork, is_shortest_if_nested),
        ((), RecursiveDualNet, recursive_network, is_shortest_over_base),
    )
)
"""Of three classes of specs; `hdn` and `rdn` make the last one, too, over a base that is no product."""
