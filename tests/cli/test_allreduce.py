"""All-reduce on the command line: routed algorithms, and all of them side by side."""

from pathlib import Path

import pytest

LINE = "collective 'rdn(cube(1), 1)' --op allreduce"


@pytest.mark.parametrize("name", ["ring", "doubling"])
def test_routed_messages(result_of, name):
    line = f"{LINE} --algorithm {name} --words 40 --on model --buffers 8 --startup-time 2 --steps"
    result = result_of(line)
    assert (result["delivered"], result["wrong"], result["nodes_agree"]) == (True, 0, True)
    assert result["time"] == 2 * result["startups"]
    assert len(result["steps"]) == result["startups"]
    assert sum(row["words"] for row in result["steps"]) == result["words"]
    assert sum(row["hops"] for row in result["steps"]) == result["hops"] > result["startups"]
    assert sum(row["cycles"] for row in result["steps"]) == result["cycles"] > 27 * result["startups"] + result["words"]


def test_sizes_are_what_single_runs_are(result_of):
    table = result_of(f"{LINE} --sizes 100,8 --on model --buffers 8 --startup-time 5")
    assert [row["vector_words"] for row in table["sizes"]] == [8, 100]
    for row in table["sizes"][1:]:
        for name in ("short", "long", "ring", "doubling"):
            single = result_of(
                f"{LINE} --algorithm {name} --words {row['vector_words']} --on model --buffers 8 --startup-time 5 "
                "--word-time 1"
            )
            assert table["startups"][name] == single["startups"]
            assert (row[name], row[f"{name}_cycles"]) == (single["time"], single["cycles"])
            assert row["bound"] <= row[name]


def test_a_picture(result_of):
    result = result_of(f"{LINE} --sizes 1,16 --bandwidth a.svg")
    assert "short_cycles" not in result["sizes"][0]
    assert "All-reduce on rdn(cube(1), 1), 8 nodes" in Path("a.svg").read_text()


def test_the_algorithm_is_the_one_that_is_faster_on_the_machine(result_of):
    line = "collective 'rdn(cube(2), 1)' --op allreduce --words 64"
    assert result_of(line)["algorithm"] == "long"
    for latency, faster in ((2, "long"), (300, "short")):
        machine = f"--channel-latency {latency} --on model"
        cycles = {name: result_of(f"{line} {machine} --algorithm {name}")["cycles"] for name in ("short", "long")}
        assert min(cycles, key=cycles.get) == faster
        assert result_of(f"{line} {machine}")["algorithm"] == faster
        assert result_of(f"{line} --channel-latency {latency}")["predicted_cycles"] == cycles[faster]
