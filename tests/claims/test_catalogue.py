"""The list of claims, and the page in docs/ that was made from it."""

import csv
import re
from collections import Counter
from pathlib import Path

from hdnhw.claims.catalogue import CLAIMS, NAMES, PAPERS
from hdnhw.claims.claim import Verdict
from hdnhw.claims.errata import ERRATA
from tests.conftest import each

WORDS = r"\babout\b|approx|\bclose\b|\bmuch\b|(?<!at )\bmost\b|several|Theta|\bO\((?!1\), read as)|Omega|asymptotically"
"""Words of degree, wherever they stand in a claim."""

PAGES = Path(__file__).parents[2] / "docs" / "papers"


def page_of(paper):
    return (PAGES / f"{paper.lower()}.md").read_text()


def test_every_claim_is_named_once():
    names = Counter((claim.paper, claim.where, claim.claim) for claim in CLAIMS)
    assert max(names.values()) == 1
    assert list(dict.fromkeys(claim.paper for claim in CLAIMS)) == list(PAPERS)


def test_all_errata_are_checked():
    assert {claim.erratum for claim in CLAIMS} == {None, *ERRATA}
    assert list(ERRATA) == [f"E{number}" for number in range(1, len(ERRATA) + 1)]


def test_the_page_of_errata_names_each_claim_that_is_one():
    page = (PAGES / "errata.md").read_text()
    for name, claim in zip(NAMES, CLAIMS, strict=True):
        link = rf"(?:\[{name}\]\({claim.paper.lower()}\.md#{name.lower()}\)|\b{name}) \("
        assert len(re.findall(link, page)) == (claim.erratum is not None)


@each("paper", PAPERS)
def test_the_page_of_a_paper_has_a_row_for_each_claim(paper):
    rows = [
        line.replace("\\", "").replace("&lt;", "<") for line in page_of(paper).splitlines() if line.endswith("** |")
    ]
    own = [(name, claim) for name, claim in zip(NAMES, CLAIMS, strict=True) if claim.paper == paper]
    assert len(rows) == len(own)
    for row, (name, claim) in zip(rows, own, strict=True):
        row = row.replace(f"[{name}](#{name.lower()})", name)
        assert row.startswith(f"| {name} | {claim.where} | {claim.claim} | {claim.published} | ")
    verdicts = Counter(row.split("**")[-2] for row in rows)
    assert verdicts.keys() <= set(Verdict)
    (line,) = [line for line in (PAGES / "index.md").read_text().splitlines() if line.startswith(f"| [{paper}]")]
    assert list(map(int, line.split(" | ")[2:5])) == [verdicts[one] for one in list(Verdict)[:3]]


def test_every_word_of_degree_is_judged_by_the_one_table():
    pages, without = {paper: page_of(paper) for paper in PAPERS}, set()
    for name, claim in zip(NAMES, CLAIMS, strict=True):
        if re.search(WORDS, f"{claim.claim} {claim.published}"):
            own = pages[claim.paper].split(f"\n### {name}\n")[-1].split("\n### ")[0]
            if "\n- Words of degree: " not in own:
                without.add(name)
    assert without == set()


def test_long_tables_stand_beside_the_pages():
    links = [link for paper in PAPERS for link in re.findall(r"- Table: \[(\d+) rows\]\((.+)\)", page_of(paper))]
    assert {name for _, name in links} == {path.name for path in PAGES.glob("*.csv")}
    for count, name in links:
        with (PAGES / name).open(newline="") as file:
            assert len(list(csv.DictReader(file))) == int(count)
