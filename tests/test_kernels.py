"""Kernels: compiled when they are called, and interpreted where that is quicker, with the same result."""

import sys

import numpy as np
import pytest

from hdnhw.kernels import FEW_STEPS, Kernel, interpreted, kernel
from hdnhw.routing.hop import hop_rule
from hdnhw.routing.plan import prove
from hdnhw.spec import parse
from hdnhw.topology.cuts import bisection
from hdnhw.topology.metrics import distances_from, neighbor_table
from hdnhw.topology.network import build


@kernel("int64(int64)")
def twice(number):
    """Return the double."""
    return 2 * number


@kernel("int64(int64[::1])")
def twice_sum(numbers):
    """Return the double of a sum."""
    total = 0
    for number in numbers:
        total += twice(number)
    return total


def test_a_kernel_calls_another():
    assert twice_sum(np.arange(5)) == twice_sum.py_func(np.arange(5)) == 20
    assert twice.nopython_signatures


def test_without_a_signature_it_is_compiled_for_its_arguments():
    loose = kernel()(lambda number: number + 1)
    assert (loose(1), loose(0.5)) == (2, 1.5)
    assert len(loose.signatures) == 2


@pytest.fixture
def without_numba(monkeypatch):
    """Let it look as if nothing had imported Numba."""
    monkeypatch.delitem(sys.modules, "numba")


@pytest.mark.usefixtures("without_numba")
@pytest.mark.parametrize(("steps", "plain"), [(FEW_STEPS, True), (FEW_STEPS + 1, False)])
def test_few_steps_are_interpreted(steps, plain):
    with interpreted(steps) as said:
        assert said == Kernel._interpreting == plain
        with interpreted(FEW_STEPS + 1):
            assert not Kernel._interpreting
        assert Kernel._interpreting == plain
    assert not Kernel._interpreting


def test_once_numba_is_there_nothing_is_interpreted():
    assert "numba" in sys.modules
    with interpreted(1) as plain:
        assert not plain


def results(text):
    """Return what kernels compute of a network."""
    network = build(parse(text))
    table = neighbor_table(network)
    cut = bisection(table)
    made = prove(hop_rule(network))
    return distances_from(network, 0).tolist(), cut.edges, cut.inside.tolist(), made.proof, made.num_vcs, made.shapes


@pytest.mark.parametrize("text", ["cube(3)", "hdn(cube(1), [[]])", "torus(3, 3)", "petersen()"])
def test_interpreted_kernels_return_the_same(monkeypatch, text):
    compiled = results(text)
    numba = sys.modules.pop("numba")
    try:
        monkeypatch.setattr(Kernel, "_compiled", property(lambda _: pytest.fail("a kernel was compiled")))
        assert results(text) == compiled
    finally:
        sys.modules["numba"] = numba
