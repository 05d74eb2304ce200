"""The command that checks claims: which ones, and how they are printed."""

import json
import sys

import pytest

from hdnhw.claims.catalogue import CLAIMS, NAMES
from hdnhw.cli import main, print_result


def test_names_count_the_claims_of_a_paper():
    papers = [claim.paper for claim in CLAIMS]
    first, last = papers.index("RDN"), len(papers) - 1 - papers[::-1].index("RDN")
    assert (NAMES[0], NAMES[first], NAMES[last]) == ("HDN-1", "RDN-1", f"RDN-{papers.count('RDN')}")
    assert len(set(NAMES)) == len(CLAIMS)


def test_one_claim(capsys):
    assert main(["papers", "--claim", "hdn-3", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["claims"]
    assert (row["id"], row["published"], row["verdict"]) == ("HDN-3", CLAIMS[2].published, "holds")
    assert row["reading"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--claim", "HDN-0"], "claim must be one of HDN-1 to HDN-"),
        (["--claim", "HDN-4", "-o", "."], "output must be a page of whole papers: leave out --claim"),
    ],
)
def test_what_is_refused(arguments, said, capsys):
    assert main(["papers", *arguments]) == 2
    assert said in capsys.readouterr().err


TABLE = {
    "rows": [{"name": "a b", "text": "one two three four five six", "count": 7}, {"name": "c", "text": "", "count": 8}]
}


def test_a_table_on_a_narrow_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    print_result(TABLE, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "rows",
        "  name  text             count",
        "  a b   one two three        7",
        "        four five six",
        "  c                          8",
    ]


def test_a_table_in_a_pipe_has_a_line_a_row(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    print_result(TABLE, as_json=False)
    assert len(capsys.readouterr().out.splitlines()) == 4
