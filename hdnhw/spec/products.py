"""Products of cycles, paths and complete graphs."""

from collections.abc import Sequence
from dataclasses import dataclass

from hdnhw.spec.checks import call_text, check_digits, check_ports, dimension, integer
from hdnhw.spec.network import NetworkSpec
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text


@dataclass(frozen=True)
class Factor:
    """One factor graph of a product.

    Attributes
    ----------
    kind : str
        ``"cycle"``, ``"path"`` or ``"complete"``.
    size : int
        Number of nodes, at least 2.
    """

    kind: str
    size: int

    @property
    def is_edge(self) -> bool:
        """Whether the factor is a single edge (two nodes): one port whatever its kind."""
        return self.size == 2

    @property
    def is_symmetric(self) -> bool:
        """Whether the factor is node-symmetric, as a base of a dual-net must be."""
        return self.kind != "path" or self.is_edge

    @property
    def degree(self) -> int:
        """Largest degree in the simple graph."""
        if self.kind == "complete":
            return self.size - 1
        return 1 if self.is_edge else 2

    @property
    def diameter(self) -> int:
        """Diameter in hops."""
        return {"cycle": self.size // 2, "path": self.size - 1, "complete": 1}[self.kind]


@dataclass(frozen=True, repr=False)
class Product(NetworkSpec):
    """A product of factor graphs; factor 0 is the most significant digit of a node number.

    Attributes
    ----------
    factors : tuple of Factor
    text : str
        The canonical spec string.
    """

    factors: tuple[Factor, ...]
    text: str

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node, most significant first."""
        return tuple(factor.size for factor in self.factors)


def _product_of(name: str, kind: str, sizes: Sequence[object]) -> Product:
    if not sizes:
        raise SpecError(f"{name} must have at least one size, for example {name}(4, 4)")
    checked = [integer(size, f"{name} size", 2) for size in sizes]
    return _checked_product(tuple(Factor(kind, size) for size in checked), call_text(name, checked))


def _checked_product(factors: tuple[Factor, ...], text: str) -> Product:
    check_digits(text, (factor.size for factor in factors))
    check_ports(text, sum(factor.degree for factor in factors))
    return Product(factors, text)


def torus(*sizes: int) -> Product:
    """Make a product of cycles; a size of 2 is one edge."""
    return _product_of("torus", "cycle", sizes)


def mesh(*sizes: int) -> Product:
    """Make a product of paths."""
    return _product_of("mesh", "path", sizes)


def ghc(*sizes: int) -> Product:
    """Make a generalized hypercube, a product of complete graphs."""
    return _product_of("ghc", "complete", sizes)


def complete(n: int) -> Product:
    """Make one complete graph on `n` nodes."""
    return _product_of("complete", "complete", [n])


def cube(n: int) -> Product:
    """Make the n-cube, a product of `n` single edges."""
    dimensions = dimension("cube", n, 1)
    return Product((Factor("complete", 2),) * dimensions, f"cube({dimensions})")


PARTS = ("torus", "mesh", "cube", "complete", "ghc", "product")
"""Networks of which a product is made."""


def product(*parts: Product) -> Product:
    """Make any product; the factors of the parts are numbered from 0 in reading order."""
    if not parts:
        raise SpecError("product must have at least one network, for example product(torus(5), complete(4))")
    for part in parts:
        if not isinstance(part, Product):
            raise SpecError(f"product part {choices_text(PARTS, part)}")
    return _checked_product(tuple(factor for part in parts for factor in part.factors), call_text("product", parts))
