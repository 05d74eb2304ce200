"""``collective --trees``: rounds beside the least, and what it refuses."""

import json
import shlex

import pytest

from hdnhw.cli import main


@pytest.mark.parametrize(
    ("spec", "error"), [("cube(10)", "trees are packed for 2 to 512"), ("star(4)", "trees by digits")]
)
def test_other_networks_are_refused(spec, error, capsys):
    assert main(shlex.split(f"collective '{spec}' --op allgather --ports all --trees digits")) == 2
    assert capsys.readouterr().err.startswith(f"hdnhw: {error}")


def result_of(line, capsys):
    assert main(shlex.split(f"collective {line} --ports all --json")) == 0
    return json.loads(capsys.readouterr().out)


def test_an_allreduce_is_a_reducescatter_and_an_allgather(capsys):
    rounds = {}
    for operation, words in (("allgather", 12), ("reducescatter", 12), ("allreduce", 384)):
        result = result_of(f"'rdn(cube(2), 1)' --op {operation} --trees --words {words}", capsys)
        assert (result["message_words"], result["trees"], result["share"]) == (12, 3, 1.0)
        rounds[operation] = result["rounds"]
        assert result["rounds"] == result["least_rounds"] == result.get("lower_bound_rounds", result["rounds"])
    assert rounds == {"allgather": 124, "reducescatter": 124, "allreduce": 248}


def test_blocks_are_long_by_themselves_and_rounded_up(capsys):
    assert result_of("'cube(2)' --op allgather --trees", capsys)["message_words"] == 64
    result = result_of("'cube(2)' --op allreduce --trees --words 9", capsys)
    assert (result["vector_words"], result["message_words"]) == (9, 3)
    assert result["lower_bound_rounds"] <= 9 * 6 / 8 <= result["least_rounds"] == 9


def test_trees_by_digits_come_near(capsys):
    result = result_of("'hdn(cube(2), [[0]])' --op allreduce --trees digits", capsys)
    assert (result["trees"], result["hops"]) == (32, 5)
    assert 0.95 < result["share"] < 1
