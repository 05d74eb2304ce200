"""The list of claims, and the page in docs/ that was made from it."""

import csv
import re
from collections import Counter
from pathlib import Path

from hdnhw.claims.catalogue import CLAIMS, NAMES, PAPERS
from hdnhw.claims.claim import Verdict
from hdnhw.claims.errata import ERRATA

WORDS = r"\babout\b|approx|\bclose\b|\bmuch\b|(?<!at )\bmost\b|several|Theta|\bO\((?!1\), read as)|Omega|asymptotically"
"""Words of degree, wherever they stand in a claim."""

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"


def test_every_claim_is_named_once():
    names = Counter((claim.paper, claim.where, claim.claim) for claim in CLAIMS)
    assert max(names.values()) == 1
    assert list(dict.fromkeys(claim.paper for claim in CLAIMS)) == list(PAPERS)


def test_all_errata_are_checked():
    assert {claim.erratum for claim in CLAIMS} == {None, *ERRATA}
    assert list(ERRATA) == [f"E{number}" for number in range(1, len(ERRATA) + 1)]


def test_the_page_of_errata_has_a_row_for_each_claim_that_is_one():
    page = (PAGE.parent / "errata.md").read_text()
    for name, claim in zip(NAMES, CLAIMS, strict=True):
        assert page.count(f"\n| {name} | ") == (claim.erratum is not None)


def test_the_page_has_a_row_for_each_claim():
    rows = [line for line in PAGE.read_text().splitlines() if line.endswith("** |")]
    plain = [row.replace("\\", "") for row in rows]
    assert len(rows) == len(CLAIMS)
    for row, name, claim in zip(plain, NAMES, CLAIMS, strict=True):
        assert row.startswith(f"| {name} | {claim.where} | {claim.claim} | {claim.published} | ")
        assert row.split("**")[-2] in set(Verdict)


def test_every_word_of_degree_is_judged_by_the_one_table():
    page, without = PAGE.read_text(), set()
    for name, claim in zip(NAMES, CLAIMS, strict=True):
        if re.search(WORDS, f"{claim.claim} {claim.published}"):
            own = page.split(f"\n### {name}, ")[-1].split("\n### ")[0]
            if "\n- Words of degree: " not in own:
                without.add(name)
    assert without == set()


def test_long_tables_stand_beside_the_page():
    page = PAGE.read_text()
    links = re.findall(r"- Table: \[(\d+) rows\]\((.+)\)", page)
    assert {name for _, name in links} == {path.name for path in PAGE.parent.glob("papers-*.csv")}
    for count, name in links:
        with (PAGE.parent / name).open(newline="") as file:
            assert len(list(csv.DictReader(file))) == int(count)
