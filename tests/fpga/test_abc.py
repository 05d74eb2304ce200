"""ABC on a circuit in AIGER: outputs that are asked for keep their numbers."""

import pytest

from hdnhw.fpga.abc import find_output, prove_outputs
from hdnhw.support.processes import Budget


@pytest.fixture
def circuit(tmp_path):
    """An input, and a register of it; outputs are 0, the register, and the input."""
    path = tmp_path / "circuit.aig"
    path.write_bytes(b"aig 2 1 1 3 0\n2\n0\n4\n2\n")
    return path


@pytest.mark.parametrize(
    ("outputs", "proved", "output", "cycle"),
    [([0], True, None, None), ([0, 1], False, 1, 1), ([2], False, 2, 0), ([0, 2], False, 2, 0), (None, False, 2, 0)],
)
def test_some_outputs_are_looked_at(circuit, outputs, proved, output, cycle):
    verdict = prove_outputs(circuit, budget=Budget(), outputs=outputs)
    assert (verdict.proved, verdict.output, verdict.cycle) == (proved, output, cycle)
    assert len(verdict.run) == (0 if cycle is None else cycle + 1)


def test_a_search_of_some_cycles(circuit):
    verdict = find_output(circuit, cycles=1, budget=Budget(), outputs=[1])
    assert (verdict.proved, verdict.output, verdict.cycle) == (False, None, 1)
    verdict = find_output(circuit, cycles=2, budget=Budget(), outputs=[0, 1])
    assert (verdict.output, verdict.cycle, verdict.run) == (1, 1, ("1", verdict.run[1]))
