"""Hierarchical and recursive dual-nets, and the dual-cube."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from hdnhw.spec.checks import SpecError, check_address, check_level_count, digit_widths, integer
from hdnhw.spec.families import family_of
from hdnhw.spec.network import NetworkSpec
from hdnhw.spec.products import Product, cube


@dataclass(frozen=True, repr=False)
class DualNet(NetworkSpec):
    """HDN(B, k, S) over a product: the hierarchical dual-net (HDN paper, section 2).

    Attributes
    ----------
    base : Product
        The base network B.
    super_nodes : tuple of tuple of int
        ``super_nodes[j - 1]`` holds the factor indices of SN^j, ascending; ``k = len(super_nodes)``.
    text : str
        The canonical spec string.
    """

    base: Product
    super_nodes: tuple[tuple[int, ...], ...]
    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class RecursiveDualNet(NetworkSpec):
    """RDN(B, k) over a regular network that is no product: the recursive dual-net (RDN paper, section II).

    Attributes
    ----------
    base : NetworkSpec
        The base network B, no product and no dual-net.
    levels : int
        k, at least 1.
    """

    base: NetworkSpec
    levels: int

    def __repr__(self) -> str:
        return f"rdn({self.base}, {self.levels})"


@dataclass(frozen=True, repr=False)
class DualCube(NetworkSpec):
    """The dual-cube F_r: RDN((r-1)-cube, 1) under the binary addresses of the dual-cube paper.

    Attributes
    ----------
    r : int
        Degree of every node, at least 1.
    """

    r: int

    def __repr__(self) -> str:
        return f"dualcube({self.r})"

    @property
    def base(self) -> Product:
        """The (r-1)-cube; of F_1, which is one edge, that edge."""
        return cube(max(self.r - 1, 1))

    @property
    def super_nodes(self) -> tuple[tuple[int, ...], ...]:
        """One level of super-nodes of one node; F_1 has none."""
        return ((),) if self.r > 1 else ()


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
    elif not family_of(base).network(base).is_regular:
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
    _check_address(str(made), family_of(base).network(base).radices, [()] * levels)
    return made


def dualcube(r: int) -> DualCube:
    """Make the dual-cube F_r of 2^(2r-1) nodes (dual-cube paper, section 2)."""
    degree = integer(r, "dualcube degree", 1)
    check_address(f"dualcube({degree})", 2 * degree - 1)
    return DualCube(degree)
