"""Networks that are neither products nor built from other networks: cubes of less or other edges, star, Petersen."""

from dataclasses import dataclass

from hdnhw.spec.checks import MAX_ADDRESS_BITS, SpecError, check_address, integer

__all__ = [
    "CrossedCube",
    "CubeCycles",
    "FoldedCube",
    "Petersen",
    "ReducedCube",
    "Star",
    "ccc",
    "crossed_cube",
    "folded_cube",
    "petersen",
    "reduced_cube",
    "star",
]


@dataclass(frozen=True, repr=False)
class FoldedCube:
    """The folded hypercube FQ_n: the n-cube, and an edge from every node to its complement.

    Attributes
    ----------
    n : int
        Dimension, at least 2.
    """

    n: int

    def __repr__(self) -> str:
        return f"folded_cube({self.n})"

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node, most significant first."""
        return (2,) * self.n


@dataclass(frozen=True, repr=False)
class CrossedCube:
    """The crossed cube CQ_n.

    Attributes
    ----------
    n : int
        Dimension, at least 1.
    """

    n: int

    def __repr__(self) -> str:
        return f"crossed_cube({self.n})"

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node, most significant first."""
        return (2,) * self.n


@dataclass(frozen=True, repr=False)
class CubeCycles:
    """The cube-connected cycles CCC(n): a ring of n nodes in place of every node of the n-cube.

    Attributes
    ----------
    n : int
        Dimension, at least 3.
    """

    n: int

    def __repr__(self) -> str:
        return f"ccc({self.n})"

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node: the bits of the ring's word, then the position in the ring."""
        return (*(2,) * self.n, self.n)


@dataclass(frozen=True, repr=False)
class ReducedCube:
    """The reduced hypercube RH(k, m) of 2^(k + 2^m) nodes.

    Attributes
    ----------
    k : int
        Dimension of a cluster.
    m : int
        Leading bits of a node in its cluster that say which one of the 2^m other dimensions it has; 1 to k.
    """

    k: int
    m: int

    def __repr__(self) -> str:
        return f"reduced_cube({self.k}, {self.m})"

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node, most significant first."""
        return (2,) * (self.k + (1 << self.m))


@dataclass(frozen=True, repr=False)
class Star:
    """The star graph S_n on the permutations of n symbols.

    Attributes
    ----------
    n : int
        Symbols, at least 2.
    """

    n: int

    def __repr__(self) -> str:
        return f"star({self.n})"

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node's rank in the factorial base, most significant first."""
        return tuple(range(self.n, 1, -1))


@dataclass(frozen=True, repr=False)
class Petersen:
    """The Petersen graph."""

    def __repr__(self) -> str:
        return "petersen()"

    @property
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node: which of the two rings, and where in it."""
        return (2, 5)


def _dimension(name: str, n: object, least: int) -> int:
    dimension = integer(n, f"{name} dimension", least)
    if dimension > MAX_ADDRESS_BITS:
        raise SpecError(f"{name} dimension must be at most {MAX_ADDRESS_BITS}, not {dimension}")
    return dimension


def folded_cube(n: int) -> FoldedCube:
    """Make the folded hypercube of 2^n nodes."""
    return FoldedCube(_dimension("folded_cube", n, 2))


def crossed_cube(n: int) -> CrossedCube:
    """Make the crossed cube of 2^n nodes (Efe, "The crossed cube architecture for parallel computation", 1992)."""
    return CrossedCube(_dimension("crossed_cube", n, 1))


def ccc(n: int) -> CubeCycles:
    """Make the cube-connected cycles of n 2^n nodes (Preparata and Vuillemin, 1981)."""
    made = CubeCycles(_dimension("ccc", n, 3))
    check_address(str(made), made.n + (made.n - 1).bit_length())
    return made


def reduced_cube(k: int, m: int) -> ReducedCube:
    """Make the reduced hypercube RH(k, m) of 2^(k + 2^m) nodes (Ziavras, 1994; dual-cube paper, section 1)."""
    cluster = _dimension("reduced_cube", k, 1)
    selectors = integer(m, "reduced_cube selector bits", 1)
    if selectors > cluster:
        raise SpecError(f"reduced_cube selector bits must be 1 to {cluster}, its dimension, not {selectors}")
    check_address(f"reduced_cube({cluster}, {selectors})", cluster + 2**selectors)
    return ReducedCube(cluster, selectors)


def star(n: int) -> Star:
    """Make the star graph of n! nodes (Akers and Krishnamurthy, 1989)."""
    symbols = integer(n, "star size", 2)
    bits = sum((radix - 1).bit_length() for radix in range(2, min(symbols, MAX_ADDRESS_BITS) + 1))
    if symbols > MAX_ADDRESS_BITS:
        raise SpecError(f"star size must be at most {MAX_ADDRESS_BITS}, not {symbols}")
    check_address(f"star({symbols})", bits)
    return Star(symbols)


def petersen() -> Petersen:
    """Make the Petersen graph: ten nodes of degree 3."""
    return Petersen()
