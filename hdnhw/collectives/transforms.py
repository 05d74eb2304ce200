"""The number-theoretic transform, a Fourier transform of integers modulo a prime: its steps, and its definition.

References
----------
.. [1] HSN paper, section 3.1: Fast Fourier Transform.
"""

import numpy as np

from hdnhw.collectives.cube_machine import PRIME, Integers

GENERATOR = 3
"""Of the numbers modulo the prime."""


def powers(base: int, count: int) -> Integers:
    """Return ``base ** 0`` to ``base ** (count - 1)`` modulo the prime."""
    result = np.ones(count, np.int64)
    done = 1
    while done < count:
        result[done : 2 * done] = (result[:done] * pow(base, done, PRIME) % PRIME)[: count - done]
        done *= 2
    return result


def _twiddles(numbers: Integers, bit: int, *, inverse: bool) -> Integers:
    root = pow(GENERATOR, (PRIME - 1) >> (bit + 1), PRIME)
    factors = powers(pow(root, -1, PRIME) if inverse else root, 1 << bit)
    chosen: Integers = factors[numbers & ((1 << bit) - 1)]
    return chosen


def merge(own: Integers, other: Integers, numbers: Integers, bit: int, *, inverse: bool = False) -> Integers:
    """Butterfly of a decimation in time: u + t v and u - t v."""
    high, t = numbers >> bit & 1 == 1, _twiddles(numbers, bit, inverse=inverse)
    result: Integers = np.where(high, other - own * t, own + other * t) % PRIME
    return result


def part(own: Integers, other: Integers, numbers: Integers, bit: int, *, inverse: bool = False) -> Integers:
    """Butterfly of a decimation in frequency: u + v and (u - v) t."""
    high, t = numbers >> bit & 1 == 1, _twiddles(numbers, bit, inverse=inverse)
    result: Integers = np.where(high, (other - own) % PRIME * t, own + other) % PRIME
    return result


def undo(own: Integers, other: Integers, numbers: Integers, bit: int) -> Integers:
    """Twice what undoes :func:`merge`."""
    return part(own, other, numbers, bit, inverse=True)


def redo(own: Integers, other: Integers, numbers: Integers, bit: int) -> Integers:
    """Twice what undoes :func:`part`."""
    return merge(own, other, numbers, bit, inverse=True)


def sampled(nodes: int) -> range:
    """Return the places of a result that are compared: all of up to 4096, of more about 64 to 4096."""
    return range(0, nodes, min(nodes >> 6, nodes * nodes >> 24) | 1)


def is_transform(values: Integers, result: Integers) -> bool:
    """Return whether `result` is the transform of `values` by its definition, where it is sampled."""
    nodes = len(values)
    roots = powers(pow(GENERATOR, (PRIME - 1) // nodes, PRIME), nodes)
    return all(
        int((values * roots[np.arange(nodes) * place % nodes] % PRIME).sum()) % PRIME == result[place]
        for place in sampled(nodes)
    )
