"""Hierarchical swapped networks and the networks that are special cases of them."""

from dataclasses import dataclass
from math import prod

from hdnhw.spec.checks import SpecError, check_address, check_level_count, integer
from hdnhw.spec.graphs import FoldedCube, Petersen, Star, folded_cube
from hdnhw.spec.products import Product, cube

__all__ = ["Nucleus", "SwappedNet", "folded_hsn", "hcn", "hcn3", "hfn", "hsn"]

Nucleus = Product | FoldedCube | Star | Petersen


@dataclass(frozen=True, repr=False)
class SwappedNet:
    """HSN(l, G): the hierarchical swapped network (HSN paper, section 2).

    Attributes
    ----------
    levels : int
        l, at least 2.
    nucleus : Product, FoldedCube, Star or Petersen
        G, of M nodes.
    top : int
        Values of digit X_l: M, or a divisor of it (section 2.2).
    diameter_links : bool
        Whether leaders are linked to the opposite ones (section 2.1).
    complement_links : bool
        Whether every node is linked to its complement (folded HSN, section 5.2).
    text : str
        The canonical spec string.
    """

    levels: int
    nucleus: Nucleus
    top: int
    diameter_links: bool
    complement_links: bool
    text: str

    def __repr__(self) -> str:
        return self.text


def hsn(levels: int, nucleus: Nucleus, *, diameter_links: bool = False, top: int | None = None) -> SwappedNet:
    """Make HSN(l, G), with diameter links, or with the top digit over a divisor of the size of G.

    Raises
    ------
    SpecError
        If `nucleus` can be none, `top` is not a divisor of its size, or both options are asked for.
    """
    count = integer(levels, "hsn level count", 2)
    check_level_count("hsn", count)
    if not isinstance(nucleus, Nucleus):
        raise SpecError(
            f"hsn nucleus must be torus, mesh, cube, complete, ghc, product, folded_cube, star or petersen, "
            f"not {nucleus!r}"
        )
    if not isinstance(diameter_links, bool):
        raise SpecError(f"hsn diameter_links must be True or False, not {diameter_links!r}")
    size = prod(nucleus.radices)
    values = size if top is None else integer(top, "hsn top", 2)
    if size % values:
        raise SpecError(f"hsn top must be a divisor of {size}, the nodes of {nucleus}, not {values}")
    text = f"hsn({count}, {nucleus}"
    if values != size:
        text += f", top={values}"
        if diameter_links:
            raise SpecError("hsn top must be the size of the nucleus where there are diameter links")
    elif diameter_links:
        text += ", diameter_links=True"
    return _checked(SwappedNet(count, nucleus, values, diameter_links, False, f"{text})"))


def _checked(spec: SwappedNet) -> SwappedNet:
    widths = sum((radix - 1).bit_length() for radix in spec.nucleus.radices)
    check_address(spec.text, (spec.levels - 1) * widths + (spec.top - 1).bit_length())
    return spec


def hcn(n: int) -> SwappedNet:
    """Make the hierarchical cubic network HCN(n, n): HSN(2, Q_n) with diameter links."""
    size = integer(n, "hcn dimension", 1)
    return _checked(SwappedNet(2, cube(size), 2**size, True, False, f"hcn({size})"))


def hfn(n: int) -> SwappedNet:
    """Make the hierarchical folded-hypercube network HFN(n, n): HSN(2, FQ_n)."""
    size = integer(n, "hfn dimension", 2)
    return _checked(SwappedNet(2, folded_cube(size), 2**size, False, False, f"hfn({size})"))


def hcn3(n: int) -> SwappedNet:
    """Make the three-level hierarchical cubic network 3-HCN: HSN(3, Q_n) with diameter links."""
    size = integer(n, "hcn3 dimension", 1)
    return _checked(SwappedNet(3, cube(size), 2**size, True, False, f"hcn3({size})"))


def folded_hsn(levels: int, k: int) -> SwappedNet:
    """Make the folded HSN(l, Q_k): HSN(l, Q_k) with an edge from every node to its complement."""
    count = integer(levels, "folded_hsn level count", 2)
    check_level_count("folded_hsn", count)
    size = integer(k, "folded_hsn dimension", 1)
    return _checked(SwappedNet(count, cube(size), 2**size, False, True, f"folded_hsn({count}, {size})"))
