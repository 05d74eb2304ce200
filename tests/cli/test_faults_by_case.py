"""``faults --by-case``."""

import json
from pathlib import Path

LINE = "faults 'rdn(cube(2), 1)' --by-case --fault-rates 0,0.1 --pairs 8 --trials 2 --workers 1"


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
