"""The slim fly: the graphs of McKay, Miller and Siran, of diameter 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from hdnhw.networks.families.graph import circle
from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import integer
from hdnhw.support.errors import SpecError
from hdnhw.topology.family import Family

if TYPE_CHECKING:
    from hdnhw.topology.edges import EdgeNetwork

MOST = 64


@dataclass(frozen=True, repr=False)
class SlimFly(NetworkSpec, maker="slim_fly"):
    """The slim fly over the field of q elements."""

    q: int


def slim_fly(q: int) -> SlimFly:
    """Make the slim fly of ``2 q^2`` nodes of degree ``(3 q - d) / 2``, with d = -1, 0 or 1 so that 4 divides q - d.

    Besta and Hoefler, Slim Fly: a cost effective low-diameter network topology, SC 2014. Its p terminals a router are
    ``concentrated(slim_fly(q), p)``; p = half of the degree, rounded up, balances the load.
    """
    size = integer(q, "slim_fly q", 3)
    if size > MOST or size % 4 == 2 or _prime_power(size) is None:
        raise SpecError(f"slim_fly q must be a prime power from 3 to {MOST}, not {size}")
    return SlimFly(size)


def _prime_power(q: int) -> tuple[int, int] | None:
    """Return (p, m) with q = p^m and p prime, if there are such."""
    p = next(divisor for divisor in range(2, q + 1) if q % divisor == 0)
    power, m = p, 1
    while power < q:
        power, m = power * p, m + 1
    return (p, m) if power == q else None


Vector = tuple[int, ...]


def _powers(p: int, m: int) -> list[Vector]:
    """Return the powers 0, 1, ... of a generator of the field of p^m elements, as coefficients mod p, lowest first.

    It is x modulo the first polynomial of degree m, or of degree 1 a number, that generates the field.
    """
    one: Vector = (1, *(0,) * (m - 1))
    for low in product(range(p), repeat=m):
        powers = [one]
        while len(powers) < p**m:
            last = powers[-1]
            shifted = (0, *last[:-1]) if m > 1 else (0,)
            onward = tuple((a - last[-1] * b) % p for a, b in zip(shifted, low, strict=True))
            if onward in (one, (0,) * m):
                break
            powers.append(onward)
        if len(powers) == p**m - 1:
            return powers
    raise AssertionError(f"a field of {p}^{m} elements has a generator")


def _edges(q: int) -> Iterator[tuple[int, int]]:
    """Yield the edges of nodes ``q^2 half + q x + y``."""
    p, m = _prime_power(q) or (q, 1)
    powers = _powers(p, m)
    number: dict[Vector, int] = {
        vector: sum(digit * p**place for place, digit in enumerate(vector)) for vector in powers
    }
    number[(0,) * m] = 0
    vectors = {value: vector for vector, value in number.items()}
    logs = {number[vector]: exponent for exponent, vector in enumerate(powers)}

    def plus(a: int, b: int) -> int:
        return number[tuple((x + y) % p for x, y in zip(vectors[a], vectors[b], strict=True))]

    def times(a: int, b: int) -> int:
        return number[powers[(logs[a] + logs[b]) % (q - 1)]] if a and b else 0

    for half, exponents in enumerate(_exponents(q)):
        steps = [number[powers[exponent % (q - 1)]] for exponent in exponents]
        for x, y, step in product(range(q), range(q), steps):
            yield q * q * half + q * x + y, q * q * half + q * x + plus(y, step)
    for x, slope, c in product(range(q), repeat=3):
        yield q * x + plus(times(slope, x), c), q * q + q * slope + c


def _exponents(q: int) -> tuple[list[int], list[int]]:
    """Return the exponents of the generator that give the steps inside each of the two halves."""
    if q % 4 == 3:
        w = (q + 1) // 4
        first = [*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)]
        return first, [exponent + 1 for exponent in first]
    return list(range(0, q - 1, 2)), list(range(1, q if q % 4 == 0 else q - 1, 2))


@lru_cache(maxsize=8)
def network(spec: SlimFly) -> EdgeNetwork:
    """Return the network."""
    from hdnhw.topology.edges import network_of_edges

    edges = sorted({(min(edge), max(edge)) for edge in _edges(spec.q)})
    return network_of_edges(spec, 2 * spec.q * spec.q, edges, diameter=2)


FAMILY = Family(makers=(slim_fly,), spec=SlimFly, network=network, layout=circle)
