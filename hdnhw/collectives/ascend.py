"""Ascend, descend and other normal hypercube algorithms on HSN(l, Q_k) and dual-nets over cubes, with moved values.

In each step all nodes exchange one value over one dimension and compute.

References
----------
.. [1] HSN paper, section 3.1, Theorem 3.1.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from hdnhw.collectives.choices import ALGORITHMS, SWAPS
from hdnhw.collectives.cube_machine import MOST_VALUES, PRIME, Combine, CubeMachine, Integers
from hdnhw.collectives.dualvalues import DualMachine, RoutedMachine
from hdnhw.collectives.guest import host_of
from hdnhw.collectives.products import convolution, matrix_product
from hdnhw.collectives.swapvalues import SwapMachine
from hdnhw.collectives.transforms import is_transform, merge, part, sampled, undo
from hdnhw.spec import Product
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network
from hdnhw.topology.swapped import SwappedNetwork

WHAT = "an algorithm of a hypercube"

PRODUCTS = {"convolution": convolution, "matrix": matrix_product}
"""Algorithms with two values a node."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What was counted, and whether the result is right.

    Attributes
    ----------
    dimension_steps : int
        Steps over links of the nuclei, as many as a hypercube takes; on a dual-net those that do a dimension.
    exchange_steps : int
        Steps over swaps, or over cross-edges to bring values to a class. Of two operands of a node one moves at a time.
    words : int
        Words that a node sends, at most, in each step, added up: one a value, two in a prefix.
    checked : int
        Values compared with a direct computation.
    verified : bool
    """

    dimension_steps: int
    exchange_steps: int
    words: int
    checked: int
    verified: bool


def run_algorithm(network: Network, algorithm: str, swaps: str = "paper", *, seed: int = 0) -> Run:
    """Run a normal algorithm on random values and compare its result with a direct computation.

    Parameters
    ----------
    network : Network
        HSN(l, Q_k) or a variant of it, or an HDN or RDN over a hypercube, or a dual-cube.
    algorithm : str
        ``ascend``: the number-theoretic transform of values in bit-reversed order, lowest dimension first. ``descend``:
        that of values in order, highest dimension first, which leaves its result in bit-reversed order. ``round-trip``:
        an ascend algorithm, and the descend algorithm that undoes it. ``sort``: bitonic sort, dimensions s, ..., 0 for
        each s. ``prefix``: the sum of the values up to each, lowest dimension first. ``convolution``: the cyclic
        convolution of two sequences, by three transforms. ``matrix``: the product of two matrices
        (:func:`hdnhw.collectives.products.matrix_product`).
    swaps : str
        ``paper``: the dimensions of a level are between two swaps, those of a class of a dual-net between two
        crossings. ``lazy``: a digit, or a value, is brought where it is needed, and all are brought home in the end.
    seed : int

    Raises
    ------
    SpecError
        If the network is another one or too large, or there is no such algorithm or order of swaps.
    """
    check_host(network)
    for what, asked, known in (("algorithm", algorithm, ALGORITHMS), ("swaps", swaps, SWAPS)):
        if asked not in known:
            raise SpecError(f"{named(what)} {choices_text(known, asked)}")
    random, nodes, make = np.random.default_rng(seed), network.num_nodes, partial(machine_of, network)
    if algorithm in PRODUCTS:
        machines, checked, verified = PRODUCTS[algorithm](nodes, make, swaps, random)
    else:
        values = random.integers(0, PRIME, nodes)
        machines = [make(np.stack([values, values], axis=1) if algorithm == "prefix" else values)]
        machines[0].run(_dimensions(algorithm, nodes.bit_length() - 1), swaps)
        machines[0].home()
        checked, verified = _check(algorithm, values, machines[0].values)
    return Run(
        dimension_steps=sum(machine.dimension_steps for machine in machines),
        exchange_steps=sum(machine.exchange_steps for machine in machines),
        words=sum(machine.words for machine in machines) * (machines[0].values.size // nodes),
        checked=checked,
        verified=verified and machines[0].is_home,
    )


def machine_of(network: Network, values: Integers) -> CubeMachine:
    """Return a network with a value in each node.

    Parameters
    ----------
    network : Network
        As :func:`run_algorithm` takes it.
    values : ndarray of int64, shape (nodes,)
        By their numbers in the hypercube.
    """
    if isinstance(network, DualNetwork):
        return (DualMachine if network.is_nested else RoutedMachine)(network, values)
    return SwapMachine(host_of(network, WHAT), values)


def check_host(network: Network) -> None:
    """Raise :class:`SpecError` if :func:`run_algorithm` does not take a network."""
    base = network.nucleus if isinstance(network, SwappedNetwork) else network
    is_cubes = isinstance(base, DualNetwork) and all(factor.is_edge for factor in base.factors)
    if not is_cubes or (isinstance(network, SwappedNetwork) and not isinstance(base.spec, Product)):
        raise SpecError(f"{WHAT} is for dual-nets and HSNs over cubes, not {network.spec}")
    if network.num_nodes > MOST_VALUES:
        raise SpecError(f"an algorithm is run on at most {MOST_VALUES} nodes; {network.spec} has {network.num_nodes}")


def _dimensions(algorithm: str, bits: int) -> list[tuple[int, Combine]]:
    up, down = range(bits), range(bits - 1, -1, -1)
    if algorithm == "ascend":
        return [(bit, merge) for bit in up]
    if algorithm == "descend":
        return [(bit, part) for bit in down]
    if algorithm == "round-trip":
        return [*((bit, merge) for bit in up), *((bit, undo) for bit in down)]
    if algorithm == "prefix":
        return [(bit, _add_up) for bit in up]
    return [(bit, _comparator(stage)) for stage in up for bit in range(stage, -1, -1)]


def _add_up(own: Integers, other: Integers, numbers: Integers, bit: int) -> Integers:
    """Add to the sum up to the own value, shape (nodes, 2), and to that of all values so far."""
    before = np.where(numbers >> bit & 1, other[:, 1], 0)
    return np.stack([own[:, 0] + before, own[:, 1] + other[:, 1]], axis=1) % PRIME


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
    if algorithm == "prefix":
        return nodes, bool((result[:, 0] == np.cumsum(values) % PRIME).all())
    if algorithm == "round-trip":
        return nodes, bool((result == values * nodes % PRIME).all())
    bits = nodes.bit_length() - 1
    reversed_bits = sum((np.arange(nodes) >> bit & 1) << (bits - 1 - bit) for bit in range(bits))
    if algorithm == "ascend":
        values = values[reversed_bits]
    else:
        result = result[reversed_bits]
    return len(sampled(nodes)), is_transform(values, result)
