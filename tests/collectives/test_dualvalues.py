"""Hypercube algorithms on dual-cubes: results, steps and words, and what a value that is not moved does."""

import numpy as np
import pytest

from hdnhw.collectives import dualvalues
from hdnhw.collectives.ascend import run_algorithm
from hdnhw.collectives.choices import ALGORITHMS, SWAPS
from hdnhw.collectives.dualvalues import DualCubeMachine
from hdnhw.spec import SpecError, parse
from hdnhw.topology.network import build
from tests.conftest import each


def network(text):
    return build(parse(text))


@each("r", [1, 2, 3, 5])
@each("name", ALGORITHMS)
@each("swaps", SWAPS)
def test_results_are_right(r, name, swaps):
    run = run_algorithm(network(f"dualcube({r})"), name, swaps, seed=3)
    assert (run.verified, run.checked) == (True, 2 ** (2 * r - 1))


@pytest.mark.parametrize("r", [2, 3, 4, 6])
def test_steps_and_words_of_an_ascend_algorithm(r):
    """Home between classes: 2r - 1 dimensions, 4 crossings; else one crossing less, and no link for the highest."""
    home, lazy = (run_algorithm(network(f"dualcube({r})"), "ascend", swaps) for swaps in SWAPS)
    assert (home.dimension_steps, home.exchange_steps, home.words) == (2 * r - 1, 4, 4 * (r - 1) + 1 + 4)
    assert (lazy.dimension_steps, lazy.exchange_steps, lazy.words) == (2 * r - 2, 3, 4 * (r - 1) + 1 + 2 + 1)


@pytest.mark.parametrize("swaps", SWAPS)
def test_each_dimension_meets_the_partner_of_the_hypercube(swaps):
    """Values are their own numbers, so that what is received must be the number with that bit turned over."""
    nodes, order = np.arange(128), [3, 0, 6, 5, 1, 6, 6, 2, 4, 0]
    machine = DualCubeMachine(network("dualcube(4)"), nodes)

    def rule(own, other, numbers, bit):
        assert (own == numbers).all()
        assert (other == own ^ 1 << bit).all()
        return own

    for bit in order:
        machine.combine(bit, rule)
        if swaps == "paper":
            machine.home()
    machine.home()
    assert (machine.values == nodes).all()


def test_a_crossing_that_moves_too_little_is_found(monkeypatch):
    cross = DualCubeMachine._cross
    monkeypatch.setattr(DualCubeMachine, "_cross", lambda machine, moved: cross(machine, moved[:1]))
    assert not run_algorithm(network("dualcube(3)"), "ascend", "lazy").verified


def test_other_networks_are_refused():
    with pytest.raises(SpecError, match=r"for HSNs of cubes and for dual-cubes, not rdn\(cube\(2\), 1\)"):
        run_algorithm(network("rdn(cube(2), 1)"), "sort")
    with pytest.raises(SpecError, match="two classes of clusters"):
        dualvalues.DualCubeMachine(network("cube(3)"), np.arange(8))
    with pytest.raises(SpecError, match="at most 1048576 nodes"):
        run_algorithm(network("dualcube(12)"), "sort")
