"""``faults --fault-rates``."""

import json
from pathlib import Path

import pytest

LINE = "faults 'rdn(cube(1), 1)' --trials 3 --waypoints 1 --workers 1"


def test_each_row_is_what_its_rate_gives_alone(run):
    status, out, _ = run(f"{LINE} --fault-rates 0.25,0.1 --channel-fault-rate 0.1 --json")
    result = json.loads(out)
    assert status == 0
    assert [row["rate"] for row in result["rates"]] == [0.1, 0.25]
    for row in result["rates"]:
        alone = json.loads(run(f"{LINE} --fault-rate {row['rate']} --channel-fault-rate 0.1 --json")[1])
        assert {**{name: value for name, value in result.items() if name != "rates"}, **row} == {
            **alone,
            "rate": row["rate"],
        }


def test_what_is_drawn_and_shown(run):
    status, out, _ = run(f"{LINE} --fault-rates 0,0.25 --plot a.svg --html a.html")
    text = Path("a.svg").read_text()
    assert status == 0
    assert "reached.1" in out
    assert all(f">{label}<" in text for label in ("dead nodes, %", "joined by up to 1 waypoint, of the connected"))
    assert 'id="rates"' in Path("a.html").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--fault-rate 0.1 --fault-rates 0.1", "give --fault-rate or --fault-rates, not both"),
        ("--fault-rates 0.99", "--fault-rates must be numbers from 0 to 0.95, such as 0,0.05,0.1, not '0.99'"),
        ("--fault-rates 0.1 --channel-fault-rate 1", "--channel-fault-rate must be at least 0 and below 1, not 1.0"),
        ("--plot a.svg", "--plot is for --fault-rates and --by-case"),
    ],
)
def test_what_cannot_be(run, tmp_path, options, said):
    status, out, err = run(f"{LINE} {options}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert list(tmp_path.iterdir()) == []
