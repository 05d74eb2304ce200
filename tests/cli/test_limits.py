"""Limits by work: what is refused at once stands in tests/regressions.toml; here is what is not."""

import json

from hdnhw.cli import main


def test_many_kinds_of_routers_leave_the_rest_of_info(capsys):
    assert main(["info", f"mesh({', '.join('4' * 14)})", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["diameter_formula"] == 42
    assert err.splitlines()[-1].endswith("has 4782969")


def test_a_load_that_never_ends_up_anywhere(monkeypatch, capsys):
    monkeypatch.setattr("hdnhw.model.course.MOST_WAITING", 1000)
    assert main(["simulate", "mesh(64)", "--rate", "1", "--cycles", "5000"]) == 2
    said = "hdnhw: more than 1000 packets wait at once: the load must be lower, or the run shorter\n"
    assert capsys.readouterr() == ("", said)
    monkeypatch.undo()
    assert main(["simulate", "mesh(64)", "--rate", "0.001", "--cycles", "5000"]) == 0
