"""Disjoint paths: the paper's case of a pair, and the bounds on length."""

import json

import pytest

SECTION_4 = "'hdn(cube(3), [[2], [0, 1, 2]])'"


def found(run, line):
    status, out, err = run(f"paths {line} --json")
    assert (status, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize(
    ("pair", "case"),
    [("0.0/0.0/0.0.0 0.0/1.3/1.1.1", "A"), ("0.0/0.0/0.0.0 1.0/0.0/0.0.0", "B"), ("0.0/0.0/0.0.0 0.7/0.0/0.0.0", "C")],
)
def test_the_network_of_section_4(run, pair, case):
    result = found(run, f"{SECTION_4} {pair} --algorithm address")
    assert result["case"] == case
    bounds = [result[name] for name in ("paper_bound", "corrected_bound", "address_bound")]
    assert bounds == [32, 27, 24]
    assert result["max_hops"] <= 24


@pytest.mark.parametrize("network", ["cube(3)", "star(4)"])
def test_no_case_without_levels(run, network):
    result = found(run, f"'{network}' 0 5")
    assert [result[name] for name in ("case", "paper_bound", "corrected_bound", "address_bound")] == [None] * 4
