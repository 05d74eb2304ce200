"""How every table shows what is no text and no number."""

from hdnhw.cli import _print_table


def test_yes_no_and_nothing(capsys):
    rows = [
        {"spec": "a", "flag": True, "of": {"hops": None}},
        {"spec": "bb", "flag": False},
        {"flag": None, "cut": "<= 4"},
    ]
    _print_table("rows", [*rows, {"of": {"hops": 12}, "cut": 10}])
    assert capsys.readouterr().out.splitlines() == [
        "rows",
        "  spec  flag  of.hops   cut",
        "  a     yes         -     -",
        "  bb    no          -     -",
        "  -     -           -  <= 4",
        "  -     -          12    10",
    ]
