"""``faults --by-case``."""

import json
from pathlib import Path

from tests.conftest import each

LINE = "faults 'rdn(cube(2), 1)' --by-case --fault-rates 0,0.1 --pairs 8 --trials 2 --workers 1"

WRONG = {
    "faults 'rdn(cube(2), 1)' --pairs 5": "--pairs is for --by-case",
    "faults 'rdn(cube(2), 1)' --paths short": "--paths is for --by-case",
    f"{LINE} --fault-rate 0.1": "--by-case nodes alone are dead: give --fault-rates, not --fault-rate or",
    f"{LINE} --fault-rates 0,0.96": "--fault-rates must be numbers from 0 to 0.95, such as 0,0.05,0.1, not '0,0.96'",
    f"{LINE} --fault-rates no": "--fault-rates must be numbers from 0 to 0.95, such as 0,0.05,0.1, not 'no'",
    f"{LINE} --pairs 1": "pairs must be 2 to 1000000, not 1",
    f"{LINE} --plot a.txt": "plot must be a file, one of .svg, .png, .pdf, not 'a.txt'",
    "faults 'cube(3)' --by-case": "cases A, B and C are those of dual-nets with a level or more, not of cube(3)",
}


def test_rows_of_paths_and_of_waypoints(run):
    status, out, _ = run(f"{LINE} --paths short mended --plot left.svg --json")
    result = json.loads(out)
    assert (status, result["pairs"], result["trials"], result["seed"]) == (0, 8, 2, 1)
    keys = [(row["paths"], row["case"], row["rate"]) for row in result["paths_left"]]
    assert keys == [(kind, case, rate) for kind in ("short", "mended") for case in "ABC" for rate in (0.0, 0.1)]
    assert [(row["case"], row["rate"]) for row in result["waypoints_left"]] == [key[1:] for key in keys[:6]]
    assert "case C, 3 waypoints" in Path("left.svg").read_text()


def test_paths_alone_where_the_network_is_large(run):
    line = "faults 'rdn(cube(3), 2)' --by-case --fault-rates 0.1 --pairs 2"
    status, out, err = run(f"{line} --json")
    result = json.loads(out)
    assert (status, result["waypoints_left"]) == (0, [])
    text = run(line)[1]
    assert all(f"{row['mean_hops']:.4g}" in text for row in result["paths_left"])
    assert "rdn(cube(3), 2): waypoints are looked for up to 8192 nodes" in err


@each("line", WRONG)
def test_bad_input(refused, line):
    assert WRONG[line] in refused(line)
