"""The list of claims, and the page in docs/ that was made from it."""

from collections import Counter
from pathlib import Path

from hdnhw.claims.catalogue import CLAIMS, NAMES, PAPERS
from hdnhw.claims.claim import Verdict
from hdnhw.claims.errata import ERRATA

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
