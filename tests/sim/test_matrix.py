"""The acceptance networks: `hdnhw cosim` with all its tests on each, as a user runs it."""

import json

import pytest

NETWORKS = (
    "dualcube(3)",
    "hdn(cube(2), [[0]])",
    "rdn(cube(3), 1)",
    "hdn(torus(2, 3, 5), [[0, 1]])",
    "hdn(cube(2), [[0], [0, 1]])",
    "torus(4, 4)",
    "rdn(torus(5), 1)",
)


@pytest.mark.parametrize(
    "options", [*(f"'{text}'" for text in NETWORKS), "'rdn(cube(3), 1)' --test random --packets 100000"]
)
def test_the_verilog_is_the_model(run, options):
    status, out, _ = run(f"cosim {options} --json")
    result = json.loads(out)
    assert (status, result["passed"], result["cycle_mismatches"]) == (0, True, 0)
    assert result["packets"] > 1000
