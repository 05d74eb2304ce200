"""Ascend, descend and other normal hypercube algorithms on HSN(l, Q_k), with values that are moved.

Value g of the hypercube, g = X_l .. X_1, is in node g at first. A dimension of X_1 is a link of the nucleus. For one of
X_i all values cross the swaps of level i, those in leaders keeping still; then X_i stands where X_1 was, and a link of
the nucleus is that dimension. Over a divisor M_l = 2^j, X_l and the last j bits of X_1 change places at the top.

References
----------
.. [1] HSN paper, sections 2.2 and 3.1, Theorem 3.1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from hdnhw.collective.choices import ALGORITHMS, SWAPS
from hdnhw.collective.guest import host_of
from hdnhw.spec import Product, SpecError
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.swapped import SwappedNetwork

__all__ = ["MOST_VALUES", "Run", "run_algorithm"]

MOST_VALUES = 1 << 20
"""Nodes of a run."""

PRIME, GENERATOR = 998244353, 3
"""119 * 2^23 + 1: transforms modulo it are exact, and products of two numbers below it fit 64 bits."""

Integers = npt.NDArray[np.int64]
Combine = Callable[[Integers, Integers, Integers, int], Integers]
"""Takes the own values, the partners', their numbers g and the bit of g that is the dimension; returns new values."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What was counted, and whether the result is right.

    Attributes
    ----------
    dimension_steps : int
        Steps over links of the nuclei, as many as a hypercube takes.
    exchange_steps : int
        Steps over swaps.
    checked : int
        Values compared with a direct computation.
    verified : bool
    """

    dimension_steps: int
    exchange_steps: int
    checked: int
    verified: bool


class _Machine:
    """Nodes with one value each, and where the digits of the values' numbers stand."""

    def __init__(self, host: SwappedNetwork, values: Integers) -> None:
        self.values, self.table = values, neighbor_table(host).astype(np.int64)
        self.size, self.top, self.nodes = host.nucleus.num_nodes, host.spec.top, np.arange(host.num_nodes)
        self.width = len(host.nucleus.ports)
        self.order = list(range(host.spec.levels))
        self.has_part = False  # whether X_1 holds what of a divisor's X_l there is, in place of its own last bits
        self.dimension_steps = self.exchange_steps = 0

    @property
    def numbers(self) -> Integers:
        """The number g of the value in each node, by the node's own digits."""
        nodes = self._partners(len(self.order) - 1) if self.has_part else self.nodes
        numbers = np.zeros_like(nodes)
        for place, level in enumerate(self.order):
            numbers += nodes // self.size**place % self.size * self.size**level
        return numbers

    def _is_part(self, place: int) -> bool:
        return place == len(self.order) - 1 and self.top < self.size

    def _partners(self, place: int) -> Integers:
        """Return the node that each exchanges with over the swap that leads from X_1 to a place."""
        own = self.nodes % self.size % (self.top if self._is_part(place) else self.size)
        leaders = self.nodes // self.size**place % self.size == own
        return np.where(leaders, self.nodes, self.table[:, self.width + place - 1])

    def swap(self, place: int) -> None:
        """Exchange all values over the swaps that lead from X_1 to a place, 1 being that of X_2."""
        self.values = self.values[self._partners(place)]
        if self._is_part(place):
            self.has_part = not self.has_part
        else:
            self.order[0], self.order[place] = self.order[place], self.order[0]
        self.exchange_steps += 1

    def bring(self, level: int) -> None:
        """Bring the digit of a level to the nuclei, 0 being that of X_1, by one swap if it is elsewhere.

        The digit of a divisor goes back first: it stands in a part of X_1.
        """
        if self._is_part(level):
            if not self.has_part:
                self.swap(level)
            return
        self._bring_back()
        if self.order[0] != level:
            self.swap(self.order.index(level))

    def _bring_back(self) -> None:
        if self.has_part:
            self.swap(len(self.order) - 1)

    def home(self) -> None:
        """Bring all values to where they were at first, a digit a swap, and one more for each other cycle of digits."""
        self._bring_back()
        while self.order != sorted(self.order):
            wrong = next(place for place in reversed(range(len(self.order))) if self.order[place] != place)
            self.swap(self.order[0] or wrong)

    def combine(self, bit: int, rule: Combine) -> None:
        """Exchange the values of a dimension that is in the nuclei, and let every node compute."""
        self.bring(bit // self.width)
        received = self.values[self.table[:, self.width - 1 - bit % self.width]]
        self.values = rule(self.values, received, self.numbers, bit)
        self.dimension_steps += 1


def run_algorithm(network: Network, algorithm: str, swaps: str = "paper", *, seed: int = 0) -> Run:
    """Run a normal algorithm on random values and compare its result with a direct computation.

    Parameters
    ----------
    network : Network
        HSN(l, Q_k) or a variant of it.
    algorithm : str
        ``ascend``: the number-theoretic transform of values in bit-reversed order, lowest dimension first. ``descend``:
        that of values in order, highest dimension first, which leaves its result in bit-reversed order. ``round-trip``:
        an ascend algorithm, and the descend algorithm that undoes it. ``sort``: bitonic sort, dimensions s, ..., 0 for
        each s.
    swaps : str
        ``paper``: the dimensions of a level are between two swaps. ``lazy``: a digit is brought where it is needed, and
        digits are brought home in the end.
    seed : int

    Raises
    ------
    SpecError
        If the network is another one or too large, or there is no such algorithm or order of swaps.
    """
    host, bits = _cube_host(network)
    for what, asked, known in (("algorithm", algorithm, ALGORITHMS), ("swaps", swaps, SWAPS)):
        if asked not in known:
            raise SpecError(f"{what} must be {', '.join(known[:-1])} or {known[-1]}, not {asked!r}")
    values = np.random.default_rng(seed).integers(0, PRIME, host.num_nodes)
    machine = _Machine(host, values)
    for bit, rule in _program(algorithm, bits, machine, swaps):
        machine.combine(bit, rule)
    machine.home()
    checked, verified = _check(algorithm, values, machine.values)
    return Run(
        dimension_steps=machine.dimension_steps,
        exchange_steps=machine.exchange_steps,
        checked=checked,
        verified=verified,
    )


def _cube_host(network: Network) -> tuple[SwappedNetwork, int]:
    host = host_of(network, "an ascend or descend algorithm")
    nucleus = host.spec.nucleus
    if not isinstance(nucleus, Product) or not all(factor.is_edge for factor in nucleus.factors):
        raise SpecError(f"an ascend or descend algorithm is for HSNs of cubes, not {host.spec}")
    if host.num_nodes > MOST_VALUES:
        raise SpecError(f"an algorithm is run on at most {MOST_VALUES} nodes; {host.spec} has {host.num_nodes}")
    return host, host.num_nodes.bit_length() - 1


def _program(algorithm: str, bits: int, machine: _Machine, swaps: str) -> Iterable[tuple[int, Combine]]:
    """Yield the dimensions in their order; as in the paper, digits are home before another level begins."""
    program = _dimensions(algorithm, bits)
    if swaps == "lazy":
        yield from program
        return
    for _, steps in groupby(program, lambda step: step[0] // machine.width):
        yield from steps
        machine.home()


def _dimensions(algorithm: str, bits: int) -> list[tuple[int, Combine]]:
    up, down = range(bits), range(bits - 1, -1, -1)
    if algorithm == "ascend":
        return [(bit, _merge) for bit in up]
    if algorithm == "descend":
        return [(bit, _part) for bit in down]
    if algorithm == "round-trip":
        return [*((bit, _merge) for bit in up), *((bit, _undo) for bit in down)]
    return [(bit, _comparator(stage)) for stage in up for bit in range(stage, -1, -1)]


def _powers(base: int, count: int) -> Integers:
    """Return ``base ** 0`` to ``base ** (count - 1)`` modulo the prime."""
    powers = np.ones(count, np.int64)
    done = 1
    while done < count:
        powers[done : 2 * done] = (powers[:done] * pow(base, done, PRIME) % PRIME)[: count - done]
        done *= 2
    return powers


def _twiddles(numbers: Integers, bit: int, *, inverse: bool) -> Integers:
    root = pow(GENERATOR, (PRIME - 1) >> (bit + 1), PRIME)
    powers = _powers(pow(root, -1, PRIME) if inverse else root, 1 << bit)
    chosen: Integers = powers[numbers & ((1 << bit) - 1)]
    return chosen


def _merge(own: Integers, other: Integers, numbers: Integers, bit: int) -> Integers:
    """Butterfly of a decimation in time: u + t v and u - t v."""
    high, t = numbers >> bit & 1 == 1, _twiddles(numbers, bit, inverse=False)
    result: Integers = np.where(high, other - own * t, own + other * t) % PRIME
    return result


def _part(own: Integers, other: Integers, numbers: Integers, bit: int, *, inverse: bool = False) -> Integers:
    """Butterfly of a decimation in frequency: u + v and (u - v) t."""
    high, t = numbers >> bit & 1 == 1, _twiddles(numbers, bit, inverse=inverse)
    result: Integers = np.where(high, (other - own) % PRIME * t, own + other) % PRIME
    return result


def _undo(own: Integers, other: Integers, numbers: Integers, bit: int) -> Integers:
    """Twice what undoes :func:`_merge`."""
    return _part(own, other, numbers, bit, inverse=True)


def _comparator(stage: int) -> Combine:
    def compare(own: Integers, other: Integers, numbers: Integers, bit: int) -> Integers:
        least = (numbers >> bit & 1) == (numbers >> (stage + 1) & 1)
        result: Integers = np.where(least, np.minimum(own, other), np.maximum(own, other))
        return result

    return compare


def _check(algorithm: str, values: Integers, result: Integers) -> tuple[int, bool]:
    """Compare the result with a direct computation; return how many values were compared and whether all are right."""
    nodes = len(values)
    if algorithm == "sort":
        return nodes, bool((result == np.sort(values)).all())
    if algorithm == "round-trip":
        return nodes, bool((result == values * nodes % PRIME).all())
    bits = nodes.bit_length() - 1
    reversed_bits = sum((np.arange(nodes) >> bit & 1) << (bits - 1 - bit) for bit in range(bits))
    if algorithm == "ascend":
        values = values[reversed_bits]
    else:
        result = result[reversed_bits]
    powers = _powers(pow(GENERATOR, (PRIME - 1) // nodes, PRIME), nodes)
    chosen = range(0, nodes, min(nodes >> 6, nodes * nodes >> 24) | 1)
    right = (int((values * powers[np.arange(nodes) * place % nodes] % PRIME).sum()) % PRIME for place in chosen)
    return len(chosen), all(value == result[place] for place, value in zip(chosen, right, strict=True))
