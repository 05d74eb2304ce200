"""Convolution and matrix multiplication as normal hypercube algorithms.

A node has a value of each operand. One operand moves at a time: each has a machine of its own, and steps add up.

References
----------
.. [1] HSN paper, section 3.1.
.. [2] Dekel, Nassimi and Sahni, "Parallel matrix and graph algorithms", 1981.
"""

from collections.abc import Callable

import numpy as np

from hdnhw.collectives.cube_machine import PRIME, CubeMachine, Integers
from hdnhw.collectives.transforms import part, redo, sampled

Make = Callable[[Integers], CubeMachine]
"""Makes a machine with a value a node."""

Outcome = tuple[list[CubeMachine], int, bool]
"""The machines, how many values were compared with a direct computation, and whether all are right."""


def convolution(nodes: int, make: Make, swaps: str, random: np.random.Generator) -> Outcome:
    """Compute ``c_k = sum of a_i b_(k - i)``, indices modulo the number of nodes: transform both, multiply, go back.

    Both transforms are descend algorithms, the one back is an ascend algorithm.
    """
    bits = nodes.bit_length() - 1
    first, second = operands = [random.integers(0, PRIME, nodes) for _ in range(2)]
    machines = [make(values) for values in operands]
    for machine in machines:
        machine.run([(bit, part) for bit in reversed(range(bits))], swaps)
    result, other = machines
    result.multiply(other)
    result.run([(bit, redo) for bit in range(bits)], swaps)
    result.home()
    right = all(
        int((first * second[(place - np.arange(nodes)) % nodes] % PRIME).sum()) % PRIME
        == int(result.values[place]) * pow(nodes, -1, PRIME) % PRIME
        for place in sampled(nodes)
    )
    return machines, len(sampled(nodes)), right


def matrix_sizes(nodes: int) -> tuple[int, int, int]:
    """Return bits of (k, i, j): A has 2^i rows and 2^k columns, B 2^k rows and 2^j columns; 2^(i + j + k) nodes.

    Examples
    --------
    >>> [matrix_sizes(nodes) for nodes in (64, 16, 32)]
    [(2, 2, 2), (1, 1, 2), (1, 2, 2)]
    """
    bits = nodes.bit_length() - 1
    third, rest = divmod(bits, 3)
    return third, third + (rest > 1), third + (rest > 0)


def matrix_product(nodes: int, make: Make, swaps: str, random: np.random.Generator) -> Outcome:
    """Compute C = A B with a node for each (k, i, j), an ascend algorithm: j is the lowest, then i, then k.

    At first A(i, k) is in node (k, i, 0) and B(k, j) in (k, 0, j). A is copied along j, B along i; every node
    multiplies its two, and products are added along k. In the end C(i, j) is in (k, i, j) for all k.
    """
    inner, rows, columns = matrix_sizes(nodes)
    k, i, j = np.unravel_index(np.arange(nodes), (1 << inner, 1 << rows, 1 << columns))
    a = random.integers(0, PRIME, (1 << rows, 1 << inner))
    b = random.integers(0, PRIME, (1 << inner, 1 << columns))
    left = make(np.where(j == 0, a[i, k], 0))
    right = make(np.where(i == 0, b[k, j], 0))
    left.run([(bit, _copy) for bit in range(columns)], swaps)
    right.run([(columns + bit, _copy) for bit in range(rows)], swaps)
    left.home()
    right.home()
    left.multiply(right)
    left.run([(columns + rows + bit, _add) for bit in range(inner)], swaps)
    left.home()
    wanted = np.zeros((1 << rows, 1 << columns), np.int64)
    for column, row in zip(a.T, b, strict=True):
        wanted = (wanted + np.outer(column, row) % PRIME) % PRIME
    return [left, right], nodes, bool((left.values == wanted[i, j]).all())


def _copy(own: Integers, other: Integers, numbers: Integers, bit: int) -> Integers:
    """Take the value of the node whose bit is 0."""
    result: Integers = np.where(numbers >> bit & 1, other, own)
    return result


def _add(own: Integers, other: Integers, _numbers: Integers, _bit: int) -> Integers:
    return (own + other) % PRIME
