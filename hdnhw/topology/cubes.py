"""Hypercubes with other edges or fewer: folded, crossed and reduced cubes, cube-connected cycles."""

from collections.abc import Sequence
from typing import Any

from hdnhw.spec import CrossedCube, CubeCycles, FoldedCube, ReducedCube
from hdnhw.topology.graph import Digits, Network, Port

__all__ = ["CrossedCubeNetwork", "CubeCyclesNetwork", "FoldedCubeNetwork", "ReducedCubeNetwork"]


def _own_inverses(names: Sequence[str]) -> tuple[Port, ...]:
    """Return ports each of which is seen as the same one from the other end."""
    return tuple(Port(name, index) for index, name in enumerate(names))


def _flip(digits: Digits, place: int, when: Any = 1) -> Digits:
    """Return `digits` with one bit flipped, where `when` is 1."""
    return (*digits[:place], digits[place] ^ when, *digits[place + 1 :])


class FoldedCubeNetwork(Network):
    """The folded hypercube: port ``dimJ`` flips digit ``bJ``, as in a cube, and ``complement`` flips them all.

    Parameters
    ----------
    spec : FoldedCube
    """

    spec: FoldedCube

    def __init__(self, spec: FoldedCube) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = _own_inverses([*(f"dim{place}" for place in range(spec.n)), "complement"])

    @property
    def digit_names(self) -> tuple[str, ...]:
        """One name a digit, ``b0`` the most significant one."""
        return tuple(f"b{place}" for place in range(self.spec.n))

    @property
    def node_symmetric(self) -> bool:
        """A Cayley graph is node-symmetric."""
        return True

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``ceil(n / 2)`` (El-Amawy and Latifi, 1991)."""
        return (self.spec.n + 1) // 2

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbour behind `port`."""
        return _flip(digits, port) if port < self.spec.n else tuple(1 - digit for digit in digits)


class CrossedCubeNetwork(Network):
    """The crossed cube: port ``dimJ`` flips digit ``bJ``, and changes some digits behind it.

    Bits are counted from the least significant one in pairs 2i + 1, 2i. Flipping bit l changes each pair below it with
    2i + 1 < l to its pair-related one: it flips bit 2i + 1 where bit 2i is 1.

    Parameters
    ----------
    spec : CrossedCube

    References
    ----------
    .. [1] Efe, "The crossed cube architecture for parallel computation", 1992.
    """

    spec: CrossedCube

    def __init__(self, spec: CrossedCube) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = _own_inverses([f"dim{place}" for place in range(spec.n)])

    @property
    def digit_names(self) -> tuple[str, ...]:
        """One name a digit, ``b0`` the most significant one."""
        return tuple(f"b{place}" for place in range(self.spec.n))

    @property
    def node_symmetric(self) -> bool:
        """Crossed cubes are node-symmetric up to n = 4 (Kulasinghe and Bettayeb, 1995)."""
        return self.spec.n <= 4

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``ceil((n + 1) / 2)`` (Efe, 1992)."""
        return (self.spec.n + 2) // 2

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbour behind `port`."""
        result, n = list(_flip(digits, port)), self.spec.n
        for low in range(0, n - 2 - port, 2):
            result[n - 2 - low] = digits[n - 2 - low] ^ digits[n - 1 - low]
        return tuple(result)


class CubeCyclesNetwork(Network):
    """The cube-connected cycles: node p of ring w has number ``w * n + p``; ``cross`` flips bit p of w.

    Parameters
    ----------
    spec : CubeCycles
    """

    spec: CubeCycles

    def __init__(self, spec: CubeCycles) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = (Port("ring_plus", 1), Port("ring_minus", 0), Port("cross", 2))

    @property
    def digit_names(self) -> tuple[str, ...]:
        """``w2``, ``w1``, ``w0`` (the bits of the ring's word) and ``p`` (the position in it)."""
        return (*(f"w{bit}" for bit in reversed(range(self.spec.n))), "p")

    @property
    def node_symmetric(self) -> bool:
        """A Cayley graph is node-symmetric."""
        return True

    @property
    def diameter_formula(self) -> int:
        """The diameter, ``2 n + floor(n / 2) - 2`` from n = 4 (HDN paper, Table 2), 6 for n = 3 (E8)."""
        n = self.spec.n
        return 6 if n == 3 else 2 * n + n // 2 - 2

    @property
    def groups(self) -> tuple[int, ...]:
        """The bits of the ring's word, then the position in it."""
        return self.spec.n, 1

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbour behind `port`."""
        *word, position = digits
        if port < 2:
            return (*word, (position + (1, -1)[port]) % self.spec.n)
        last = self.spec.n - 1
        return (*(bit ^ (position == last - place) for place, bit in enumerate(word)), position)


class ReducedCubeNetwork(Network):
    """The reduced hypercube RH(k, m): clusters are k-cubes, and each node has one of the 2^m other dimensions.

    Port ``dimJ`` flips digit ``bJ`` of the node in its cluster. Port ``cross`` flips bit k + i of the node's number,
    where i is the value of the leading m bits of the node in its cluster.

    Parameters
    ----------
    spec : ReducedCube

    References
    ----------
    .. [1] Dual-cube paper, section 1 (from Ziavras, 1994).
    """

    spec: ReducedCube

    def __init__(self, spec: ReducedCube) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = _own_inverses([*(f"dim{place}" for place in range(spec.k)), "cross"])

    @property
    def digit_names(self) -> tuple[str, ...]:
        """``u1``, ``u0`` (the bits of the cluster), then ``b0``, ``b1`` (those of the node in it)."""
        clusters = reversed(range(2**self.spec.m))
        return (*(f"u{bit}" for bit in clusters), *(f"b{place}" for place in range(self.spec.k)))

    @property
    def node_symmetric(self) -> bool:
        """A Cayley graph is node-symmetric."""
        return True

    @property
    def diameter_formula(self) -> None:
        """None is known to hold."""

    @property
    def groups(self) -> tuple[int, ...]:
        """The bits of the cluster, then those of the node in it."""
        return 2**self.spec.m, self.spec.k

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbour behind `port`."""
        clusters = 2**self.spec.m
        if port < self.spec.k:
            return _flip(digits, clusters + port)
        chosen: Any = 0
        for bit in digits[clusters : clusters + self.spec.m]:
            chosen = 2 * chosen + bit
        flipped = (digits[place] ^ (chosen == clusters - 1 - place) for place in range(clusters))
        return (*flipped, *digits[clusters:])
