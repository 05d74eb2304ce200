"""Hierarchical and recursive dual-nets, and the dual-cube."""

from dataclasses import dataclass

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


@dataclass(frozen=True, repr=False)
class RecursiveDualNet(NetworkSpec, maker="rdn"):
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


@dataclass(frozen=True, repr=False)
class DualCube(NetworkSpec, maker="dualcube"):
    """The dual-cube F_r: RDN((r-1)-cube, 1) under the binary addresses of the dual-cube paper.

    Attributes
    ----------
    r : int
        Degree of every node, at least 1.
    """

    r: int

    @property
    def base(self) -> Product:
        """The (r-1)-cube; of F_1, which is one edge, that edge."""
        return cube(max(self.r - 1, 1))

    @property
    def super_nodes(self) -> tuple[tuple[int, ...], ...]:
        """One level of super-nodes of one node; F_1 has none."""
        return ((),) if self.r > 1 else ()
