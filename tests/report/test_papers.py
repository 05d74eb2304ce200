"""The page of checked claims."""

from hdnhw.report.papers import papers_page

ROW = {
    "paper": "HDN",
    "where": "Theorem 1",
    "claim": "size",
    "published": "2*n | 2_k",
    "computed": "holds on 1 of 2 networks",
    "verdict": "false",
    "corrected": "n < 2",
    "counterexample": "cube(1): 4 published, 2 computed",
    "erratum": "E1",
    "table": [{"network": "cube(1)", "published": 4, "computed": 2}],
}
GOOD = ROW | {"where": "Table 1", "verdict": "holds", "corrected": None, "counterexample": None, "table": []}


def test_what_is_wrong_is_told_in_full():
    page = papers_page([ROW, GOOD], command="hdnhw papers")
    assert "### Theorem 1: size (E1)" in page
    assert "- Corrected: n \\< 2" in page
    assert "- Smallest counterexample: cube(1): 4 published, 2 computed" in page
    assert "| cube(1) | 4 | 2 |" in page
    assert "| Theorem 1 | size | 2\\*n \\| 2\\_k | holds on 1 of 2 networks | **false** |" in page


def test_what_holds_is_a_row():
    page = papers_page([ROW, GOOD], command="hdnhw papers")
    assert "### Table 1" not in page
    assert page.count("| Table 1 |") == 1


def test_verdicts_are_counted_by_paper():
    page = papers_page([ROW, GOOD, GOOD | {"paper": "DC"}], command="hdnhw papers")
    assert "| paper | holds | partly | misprint | false |" in page
    assert "| HDN | 1 | 0 | 0 | 1 |" in page
    assert "| DC | 1 | 0 | 0 | 0 |" in page


def test_pictures_stand_with_their_paper():
    pictures = {"a.svg": ("DC", "Dual-cube"), "b.svg": ("RDN", "not here")}
    page = papers_page([GOOD, GOOD | {"paper": "DC"}], command="hdnhw papers", pictures=pictures)
    assert page.index("![Dual-cube](a.svg)") > page.index("## DC: Dual-cube")
    assert "b.svg" not in page
