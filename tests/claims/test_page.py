"""The pages of checked claims."""

from hdnhw.claims.catalogue import PAPERS
from hdnhw.claims.errata import ERRATA
from hdnhw.claims.page import LONG, OPEN, errata_page, papers_pages
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


def pages(*rows, **about):
    return papers_pages(rows, command="hdnhw papers", **about)


def test_what_is_wrong_is_told_in_full():
    page = pages(ROW, GOOD)["hdn.md"]
    assert "### HDN-2\n\nTheorem 1: size. **false**\n" in page
    assert "- Corrected: n &lt; 2" in page
    assert "- Smallest counterexample: cube(1): 4 published, 2 computed" in page
    assert "| cube(1) | 4 | 2 |" in page
    row = "| [HDN-2](#hdn-2) | Theorem 1 | size | 2\\*n \\| 2\\_k | holds on 1 of 2 networks | **false** |"
    assert row in page


def test_how_it_is_read_is_told_where_it_holds():
    page = pages(GOOD | {"reading": "n is even"})["hdn.md"]
    assert "### HDN-2\n\nTable 1: size" in page
    assert "- Read as: n is even" in page


def test_words_of_degree_are_told_once_with_their_claims():
    texts = pages(ROW | {"id": "HDN-5", "word": "much", "turned": "holds with 1"}, GOOD | {"word": "much"})
    assert f"| {WORDS['much'].forms} | {WORDS['much'].text} | HDN-5, HDN-2 | HDN-5 |" in texts["index.md"]
    assert "- Words of degree: 2, see the table of the index; holds with 1\n" in texts["hdn.md"]
    assert "- Words of degree: 2, see the table of the index; the same verdict with half and twice\n" in texts["hdn.md"]


def test_a_table_is_shown_folded_or_a_file_by_its_length():
    table = [{"n": number, "of": "a, b"} for number in range(LONG + 1)]
    lengths = {2: LONG + 1, 3: LONG, 4: OPEN + 1, 5: OPEN}
    texts = pages(*(ROW | {"id": f"HDN-{name}", "table": table[:length]} for name, length in lengths.items()))
    details = [f"\n{text}" for text in texts["hdn.md"].split("\n### ")[1:]]
    assert f"- Table: [{LONG + 1} rows](hdn-2.csv)" in details[0]
    assert [text.count("\n| 7 | a, b |") for text in details] == [0, 1, 1, 1]
    assert [
        f"<details markdown><summary>Table, {length} rows" in text
        for length, text in zip(lengths.values(), details, strict=True)
    ] == [False, True, True, False]
    lines = texts["hdn-2.csv"].splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("n,of", f'{LONG},"a, b"', LONG + 2)
    assert set(texts) == {"index.md", "hdn.md", "hdn-2.csv"}


def test_a_misprint_names_the_other_place():
    page = pages(ROW | {"verdict": "misprint", "elsewhere": "section 3"})["hdn.md"]
    assert "- As the paper says in: section 3" in page


def test_what_holds_is_a_row():
    page = pages(GOOD)["hdn.md"]
    assert "### HDN-2" not in page
    assert page.count("| HDN-2 | Table 1 |") == 1


def test_verdicts_are_counted_by_paper():
    texts = pages(ROW, GOOD, GOOD | {"paper": "DC"})
    assert "| paper | subject | holds | partly | misprint | false |" in texts["index.md"]
    assert f"| [HDN](hdn.md) | {PAPERS['HDN'].subject} | 1 | 0 | 0 | 1 |" in texts["index.md"]
    assert f"| [DC](dc.md) | {PAPERS['DC'].subject} | 1 | 0 | 0 | 0 |" in texts["index.md"]
    assert set(texts) == {"index.md", "hdn.md", "dc.md"}, "errata are of all papers"


def test_pictures_stand_with_their_paper():
    line = "hdnhw picture 'dualcube(3)' -o a.svg"
    pictures = {"a.svg": ("DC", "Dual-cube", line), "b.svg": ("RDN", "not here", "hdnhw picture")}
    texts = pages(GOOD, GOOD | {"paper": "DC"}, pictures=pictures)
    assert "![Dual-cube](a.svg)" in texts["dc.md"]
    assert f"Dual-cube: `{line}`" in texts["dc.md"]
    assert not any("b.svg" in text for text in texts.values())
    assert "a.svg" not in texts["hdn.md"]


def test_errata_name_the_claims_that_they_are_about():
    rows = [ROW, GOOD | {"id": "HDN-3", "erratum": None}]
    page = errata_page(rows)
    assert page.index("## E1\n") < page.index("Claims: [HDN-2](hdn.md#hdn-2) (false).\n") < page.index("## E2\n")
    assert "HDN-3" not in page
    assert page.count("\n## E") == len(ERRATA) == 17
    texts = pages(*(ROW | {"paper": paper} for paper in PAPERS))
    assert "\nTheorem 1: size ([E1](errata.md#e1)). **false**\n" in texts["dc.md"]
    assert texts["errata.md"].startswith("# Errata")
