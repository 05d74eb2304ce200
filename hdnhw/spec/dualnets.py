"""Hierarchical and recursive dual-nets, and the dual-cube."""

from collections.abc import Sequence
from dataclasses import dataclass

from hdnhw.spec.checks import SpecError, check_address, check_level_count, integer
from hdnhw.spec.network import NetworkSpec
from hdnhw.spec.products import Product, digit_widths

__all__ = ["DualCube", "DualNet", "dualcube", "hdn", "rdn"]


@dataclass(frozen=True, repr=False)
class DualNet(NetworkSpec):
    """HDN(B, k, S): the hierarchical dual-net (HDN paper, section 2).

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
class DualCube(NetworkSpec):
    """The dual-cube F_r: RDN((r-1)-cube, 1) under the binary addresses of the dual-cube paper.

    Attributes
    ----------
    r : int
        Degree of every node, at least 2.
    """

    r: int

    def __repr__(self) -> str:
        return f"dualcube({self.r})"


def _base(name: str, base: object) -> Product:
    if not isinstance(base, Product):
        raise SpecError(f"{name} base must be torus, cube, complete, ghc or product, not {base!r}")
    for position, factor in enumerate(base.factors):
        if not factor.is_symmetric:
            raise SpecError(
                f"{name} base must be a product of symmetric factors; factor {position} of {base} "
                f"is a path of {factor.size} nodes"
            )
    return base


def _dual_bits(base: Product, super_nodes: Sequence[Sequence[int]]) -> int:
    """Return the address bits of HDN(B, k, S): a level adds a class bit, and a cluster id like the super-node's."""
    widths = digit_widths(base.factors)
    prefix = 0
    for super_node in super_nodes:
        prefix += 1 + prefix + sum(width for position, width in enumerate(widths) if position not in super_node)
    return prefix + sum(widths)


def hdn(base: Product, super_nodes: Sequence[Sequence[int]]) -> DualNet:
    """Make HDN(B, k, S) from one list of factor indices of B a level; ``[]`` is a super-node of one node.

    Raises
    ------
    SpecError
        If the base is not a product of symmetric factors, or a list is not made of distinct factor indices.
    """
    checked_base = _base("hdn", base)
    if not isinstance(super_nodes, (list, tuple)) or not super_nodes:
        raise SpecError("hdn super-nodes must be a list with one list of factor indices a level, for example [[0], []]")
    check_level_count("hdn", len(super_nodes))
    count = len(checked_base.factors)
    levels = []
    for level, super_node in enumerate(super_nodes, start=1):
        where = f"hdn super-node of level {level}"
        if not isinstance(super_node, (list, tuple)):
            raise SpecError(f"{where} must be a list of factor indices, not {super_node!r}")
        indices = [integer(position, f"{where}: factor index", 0) for position in super_node]
        if any(position >= count for position in indices):
            raise SpecError(f"{where}: factor index must be 0 to {count - 1}, not {max(indices)}")
        if len(set(indices)) != len(indices):
            raise SpecError(f"{where}: factor indices must be distinct, not {list(super_node)}")
        levels.append(tuple(sorted(indices)))
    text = f"hdn({checked_base}, {[list(level) for level in levels]})"
    check_address(text, _dual_bits(checked_base, levels))
    return DualNet(checked_base, tuple(levels), text)


def rdn(base: Product, levels: int) -> DualNet:
    """Make the recursive dual-net RDN(B, k) of k `levels`: HDN with every super-node of one node."""
    checked_base = _base("rdn", base)
    count = integer(levels, "rdn level count", 1)
    check_level_count("rdn", count)
    text = f"rdn({checked_base}, {count})"
    check_address(text, _dual_bits(checked_base, [()] * count))
    return DualNet(checked_base, ((),) * count, text)


def dualcube(r: int) -> DualCube:
    """Make the dual-cube F_r of 2^(2r-1) nodes (dual-cube paper, section 2)."""
    degree = integer(r, "dualcube degree", 2)
    check_address(f"dualcube({degree})", 2 * degree - 1)
    return DualCube(degree)
