"""Ascend, descend and sort on HSNs: results checked once more, swaps counted, fewest swaps found by search."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from hdnhw.collectives import products
from hdnhw.collectives.ascend import machine_of, run_algorithm
from hdnhw.collectives.choices import ALGORITHMS, SWAPS
from hdnhw.collectives.cube_machine import PRIME
from hdnhw.collectives.swapvalues import SwapMachine
from hdnhw.collectives.transforms import part
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from tests.conftest import each

SPECS = [
    "hsn(2, cube(1))",
    "hsn(4, cube(1))",
    "hsn(2, cube(3))",
    "hsn(3, cube(2))",
    "hcn(2)",
    "hcn3(2)",
    "folded_hsn(3, 1)",
    "hsn(2, cube(3), top=4)",
    "hsn(3, cube(2), top=2)",
]


def size(text):
    """Return l and the dimensions of the hypercube: lk, or fewer over a divisor."""
    host = build(text)
    return host.spec.levels, len(host.radices)


@each(("text", "name", "swaps"), list(product(SPECS, ALGORITHMS, SWAPS)))
def test_results_are_right(text, name, swaps):
    run = run_algorithm(build(text), name, swaps, seed=7)
    bits = size(text)[1]
    steps = {"round-trip": 2 * bits, "sort": bits * (bits + 1) // 2, "convolution": 3 * bits}
    assert (run.verified, run.checked) == (True, build(text).num_nodes)
    assert run.dimension_steps == steps.get(name, bits)


@pytest.mark.parametrize("text", SPECS)
def test_exchange_steps_are_those_of_theorem_3_1(text):
    levels = size(text)[0]
    runs = {
        (name, swaps): run_algorithm(build(text), name, swaps).exchange_steps for name in ALGORITHMS for swaps in SWAPS
    }
    assert runs["ascend", "paper"] == runs["descend", "paper"] == runs["ascend", "lazy"] == 2 * (levels - 1)
    assert runs["round-trip", "lazy"] == 2 * (levels - 1)
    assert runs["round-trip", "paper"] == max(4 * (levels - 1) - 2, 2)


def fewest_swaps(levels):
    """Return the fewest swaps after which each digit has been in X_1, in any order, and all are home."""
    start = (tuple(range(levels)), frozenset([0]))
    known, frontier, steps = {start}, {start}, 0
    while (start[0], frozenset(range(levels))) not in known:
        steps += 1
        reached = set()
        for order, seen in frontier:
            for place in range(1, levels):
                new = list(order)
                new[0], new[place] = new[place], new[0]
                reached.add((tuple(new), seen | {new[0]}))
        frontier = reached - known
        known |= reached
    return steps


@pytest.mark.parametrize("levels", [2, 3, 4, 5])
def test_no_order_of_the_digits_needs_fewer_swaps(levels):
    assert fewest_swaps(levels) == 2 * (levels - 1)


def test_the_descend_algorithm_is_a_fourier_transform():
    values = np.random.default_rng(3).integers(0, PRIME, 16)
    root = pow(3, (PRIME - 1) // 16, PRIME)
    assert pow(root, 8, PRIME) == PRIME - 1
    expected = [sum(int(x) * pow(root, place * j, PRIME) for j, x in enumerate(values)) % PRIME for place in range(16)]
    machine = SwapMachine(build("hsn(2, cube(2))"), values)
    for bit in (3, 2, 1, 0):
        machine.combine(bit, part)
    machine.home()
    assert [int(machine.values[int(f"{place:04b}"[::-1], 2)]) for place in range(16)] == expected


class Small:
    """Draws small numbers, of which sums of products are below the prime."""

    def integers(self, _low, _high, size):
        return np.random.default_rng(int(np.prod(size))).integers(0, 100, size)


@pytest.mark.parametrize(
    ("text", "swaps"), list(product(["hsn(3, cube(2))", "hsn(2, cube(3), top=2)", "dualcube(3)"], SWAPS))
)
def test_a_convolution_is_that_of_numpy(text, swaps):
    nodes = build(text).num_nodes
    (machine, _), checked, verified = products.convolution(nodes, partial(machine_of, build(text)), swaps, Small())
    one, other = (Small().integers(0, 0, nodes) for _ in range(2))
    line = np.convolve(one, other)
    around = line[:nodes] + np.append(line[nodes:], 0)
    assert (checked, verified) == (nodes, True)
    assert (machine.values * pow(nodes, -1, PRIME) % PRIME == around).all()


@pytest.mark.parametrize(
    ("text", "swaps"), list(product(["hsn(3, cube(2))", "hsn(2, cube(2))", "hcn(2)", "dualcube(4)"], SWAPS))
)
def test_a_product_of_matrices_is_that_of_numpy(text, swaps):
    nodes = build(text).num_nodes
    k, i, j = (1 << bits for bits in products.matrix_sizes(nodes))
    (machine, _), _, verified = products.matrix_product(nodes, partial(machine_of, build(text)), swaps, Small())
    wanted = Small().integers(0, 0, (i, k)) @ Small().integers(0, 0, (k, j))
    assert verified
    assert (machine.values.reshape(k, i, j) == wanted).all()


@pytest.mark.parametrize("levels", [3, 6])
def test_matrices_on_whole_levels_take_the_swaps_of_one_ascend_algorithm(levels):
    run = run_algorithm(build(f"hsn({levels}, cube(1))"), "matrix")
    assert (run.dimension_steps, run.exchange_steps) == (levels, 2 * (levels - 1))


def test_operands_that_do_not_meet_are_found(monkeypatch):
    monkeypatch.setattr(SwapMachine, "home", lambda _: None)
    with pytest.raises(AssertionError, match="factors meet in one node"):
        run_algorithm(build("hsn(3, cube(2))"), "matrix")


@pytest.mark.parametrize("name", ["ascend", "descend", "convolution"])
def test_values_that_are_not_home_are_found(name, monkeypatch):
    monkeypatch.setattr(SwapMachine, "home", lambda _: None)
    assert not run_algorithm(build("hsn(3, cube(2))"), name).verified


def test_prefix_sums_without_those_before_are_found(monkeypatch):
    monkeypatch.setattr("hdnhw.collectives.ascend._add_up", lambda own, *_: own)
    assert not run_algorithm(build("hsn(3, cube(2))"), "prefix").verified


def test_of_many_values_some_are_compared():
    run = run_algorithm(build("hsn(7, cube(2))"), "ascend")
    assert (run.checked, run.verified) == (len(range(0, 1 << 14, 17)), True)


@pytest.mark.parametrize(
    ("text", "name", "swaps", "message"),
    [
        (
            "hsn(2, complete(3))",
            "ascend",
            "paper",
            r"^an algorithm of a hypercube is for dual-nets and HSNs over cubes, not hsn\(2,",
        ),
        (
            "hsn(2, cube(1))",
            "fft",
            "paper",
            r"^algorithm must be one of ascend, descend, round-trip, sort, prefix, convolution, matrix, not 'fft'$",
        ),
        ("hsn(2, cube(1))", "sort", "none", r"^swaps must be one of paper, lazy, not 'none'$"),
        ("hsn(7, cube(3))", "sort", "paper", r"^an algorithm is run on at most 1048576 nodes; hsn\(7, cube\(3\)\) has"),
    ],
)
def test_what_is_refused(text, name, swaps, message):
    with pytest.raises(SpecError, match=message):
        run_algorithm(build(text), name, swaps)
