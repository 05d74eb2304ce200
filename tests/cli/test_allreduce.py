"""All-reduce on the command line: routed algorithms, and all of them side by side."""

from pathlib import Path

import pytest

from tests.conftest import each

LINE = "collective 'rdn(cube(1), 1)' --op allreduce"
WRONG = {
    f"{LINE} --algorithm ring --on rtl": "--algorithm on rtl must be one of short, long, not 'ring'",
    f"{LINE} --algorithm ring --ports all": "--ports is for schedules over ports; ring routes its messages",
    f"{LINE} --algorithm doubling --plot a.svg": "--plot is for schedules over ports; doubling routes its messages",
    "collective 'torus(3)' --op allreduce --algorithm doubling": "doubling is for a power of two of nodes",
    "collective 'cube(3)' --op scan --sizes 1,2": "--sizes is for allreduce, not for scan",
    "collective 'cube(3)' --op scan --bandwidth a.svg": "--bandwidth is for allreduce, not for scan",
    f"{LINE} --sizes 1,2 --words 3": "--sizes compares all algorithms: leave out --words",
    f"{LINE} --sizes 1,2 --algorithm ring": "--sizes compares all algorithms: leave out --algorithm",
    f"{LINE} --bandwidth a.svg --steps": "--bandwidth compares all algorithms: leave out --steps",
    f"{LINE} --sizes 1,2 --ports all": "--sizes is for one port per step, on the schedule or the model",
    f"{LINE} --sizes 1,x": "--sizes must be words from 1 to 1048576, such as 1,64,4096, not '1,x'",
    f"{LINE} --sizes 0,1": "--sizes must be words from 1 to 1048576, such as 1,64,4096, not '0,1'",
    f"{LINE} --sizes 1,1048577": "--sizes must be words from 1 to 1048576, such as 1,64,4096, not '1,1048577'",
    f"{LINE} --bandwidth a.doc": "--bandwidth must be a file, one of .svg, .png, .pdf, not 'a.doc'",
    "collective 'star(4)' --op allreduce --sizes 1 --buffers 8": "--buffers is for a machine: give --on model",
}


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


@each("line", WRONG)
def test_bad_input_is_one_line(refused, line):
    assert refused(line).startswith(f"hdnhw: {WRONG[line]}")


def test_the_algorithm_is_the_one_that_is_faster_on_the_machine(result_of):
    line = "collective 'rdn(cube(2), 1)' --op allreduce --words 64"
    assert result_of(line)["algorithm"] == "long"
    for latency, faster in ((2, "long"), (300, "short")):
        machine = f"--channel-latency {latency} --on model"
        cycles = {name: result_of(f"{line} {machine} --algorithm {name}")["cycles"] for name in ("short", "long")}
        assert min(cycles, key=cycles.get) == faster
        assert result_of(f"{line} {machine}")["algorithm"] == faster
        assert result_of(f"{line} --channel-latency {latency}")["predicted_cycles"] == cycles[faster]
