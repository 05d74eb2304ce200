"""The page of checked claims."""

from hdnhw.claims.errata import ERRATA
from hdnhw.claims.page import LONG, errata_page, long_tables, papers_page
from hdnhw.claims.words import WORDS

ROW = {
    "id": "HDN-2",
    "paper": "HDN",
    "where": "Theorem 1",
    "claim": "size",
    "published": "2*n | 2_k",
    "reading": None,
    "elsewhere": None,
    "computed": "holds on 1 of 2 networks",
    "verdict": "false",
    "corrected": "n < 2",
    "counterexample": "cube(1): 4 published, 2 computed",
    "erratum": "E1",
    "word": None,
    "turned": None,
    "table": [{"network": "cube(1)", "published": 4, "computed": 2}],
}
GOOD = ROW | {"where": "Table 1", "verdict": "holds", "corrected": None, "counterexample": None, "table": []}


def test_what_is_wrong_is_told_in_full():
    page = papers_page([ROW, GOOD], command="hdnhw papers")
    assert "### HDN-2, Theorem 1: size (E1)" in page
    assert "- Corrected: n \\< 2" in page
    assert "- Smallest counterexample: cube(1): 4 published, 2 computed" in page
    assert "| cube(1) | 4 | 2 |" in page
    assert "| HDN-2 | Theorem 1 | size | 2\\*n \\| 2\\_k | holds on 1 of 2 networks | **false** |" in page


def test_how_it_is_read_is_told_where_it_holds():
    page = papers_page([ROW, GOOD | {"reading": "n is even"}], command="hdnhw papers")
    assert "### HDN-2, Table 1: size (E1)" in page
    assert "- Read as: n is even" in page


def test_words_of_degree_are_told_once_with_their_claims():
    rows = [ROW | {"id": "HDN-5", "word": "much", "turned": "holds with 1"}, GOOD | {"word": "much"}]
    page = papers_page(rows, command="hdnhw papers")
    assert f"| {WORDS['much'].forms} | {WORDS['much'].text} | HDN-5, HDN-2 | HDN-5 |" in page
    assert "- Words of degree: 2, see the table at the top; holds with 1\n" in page
    assert "- Words of degree: 2, see the table at the top; the same verdict with half and twice\n" in page


def test_a_long_table_is_a_file_beside_the_page():
    table = [{"n": number, "of": "a, b"} for number in range(LONG + 1)]
    rows = [ROW | {"table": table}, GOOD | {"id": "HDN-3", "table": table[1:]}]
    page = papers_page(rows, command="hdnhw papers")
    assert f"- Table: [{LONG + 1} rows](papers-hdn-2.csv)" in page
    assert page.count("| 7 | a, b |") == 1
    (name, text) = long_tables(rows).popitem()
    lines = text.splitlines()
    assert (name, lines[0], lines[-1], len(lines)) == ("papers-hdn-2.csv", "n,of", f'{LONG},"a, b"', LONG + 2)


def test_a_misprint_names_the_other_place():
    page = papers_page([ROW | {"verdict": "misprint", "elsewhere": "section 3"}], command="hdnhw papers")
    assert "- As the paper says in: section 3" in page


def test_what_holds_is_a_row():
    page = papers_page([ROW, GOOD], command="hdnhw papers")
    assert "### HDN-2, Table 1" not in page
    assert page.count("| HDN-2 | Table 1 |") == 1


def test_verdicts_are_counted_by_paper():
    page = papers_page([ROW, GOOD, GOOD | {"paper": "DC"}], command="hdnhw papers")
    assert "| paper | holds | partly | misprint | false |" in page
    assert "| HDN | 1 | 0 | 0 | 1 |" in page
    assert "| DC | 1 | 0 | 0 | 0 |" in page


def test_pictures_stand_with_their_paper():
    line = "hdnhw picture 'dualcube(3)' -o a.svg"
    pictures = {"a.svg": ("DC", "Dual-cube", line), "b.svg": ("RDN", "not here", "hdnhw picture")}
    page = papers_page([GOOD, GOOD | {"paper": "DC"}], command="hdnhw papers", pictures=pictures)
    assert page.index("![Dual-cube](a.svg)") > page.index("## DC: Dual-cube")
    assert f"Dual-cube: `{line}`" in page
    assert "b.svg" not in page


def test_errata_name_the_claims_that_they_are_about():
    page = errata_page([ROW, GOOD | {"erratum": None}], command="hdnhw papers")
    assert page.index("## E1\n") < page.index("| HDN-2 | Theorem 1 | size | false |") < page.index("## E2\n")
    assert "| Table 1 |" not in page
    assert page.count("\n## E") == len(ERRATA) == 17
