"""CR_w with weights of one's own."""

import json
import shlex
from math import log2

import pytest

TABLE_3 = "rdn(torus(2, 3, 5), 1)"
"""1800 nodes, diameter 10; Table 3 counts degree 7 and has 0.79 with both weights 50 %."""


@pytest.mark.parametrize("weight", [0, 0.25, 0.5, 1])
def test_three_commands_weigh_alike(run, weight):
    option = f"--degree-weight {weight} --json"
    (row,) = json.loads(run(f"compare 'rdn(cube(2), 1)' {option}")[1])["networks"]
    info = json.loads(run(f"info 'rdn(cube(2), 1)' {option}")[1])
    design = json.loads(run(f"design --nodes 32 --degree 3 --within 1 --limit 99 {option}")[1])
    (found,) = [one for one in design["networks"] if one["spec"] == "rdn(cube(2), 1)"]
    expected = (weight * 3 + (1 - weight) * 6) / 5
    assert [of["cr_w"] for of in (row, info, found)] == pytest.approx([expected] * 3)
    assert design["degree_weight"] == weight
    assert [one["cr_w"] for one in design["networks"]] == sorted(one["cr_w"] for one in design["networks"])


def test_table_3_by_its_own_degree(run):
    shares = [
        json.loads(run(f"info '{TABLE_3}' --degree-weight {weight} --json")[1])["cr_w"] * log2(1800)
        for weight in (0, 1)
    ]
    diameter, degree = map(round, shares)
    assert (diameter, degree) == (10, 6)
    assert f"{(0.5 * (degree + 1) + 0.5 * diameter) / log2(1800):.2f}" == "0.79"


@pytest.mark.parametrize("line", ["info 'cube(3)'", "compare 'cube(3)'", "design --nodes 99 --degree 4"])
@pytest.mark.parametrize("weight", ["-0.1", "1.5", "nan"])
def test_a_weight_is_a_share(run, line, weight):
    status, out, err = run(f"{line} --degree-weight {shlex.quote(weight)}")
    assert (status, out) == (2, "")
    assert err == f"hdnhw: --degree-weight must be 0 to 1, not {weight}\n"
