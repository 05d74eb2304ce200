"""The list of claims, and the page in docs/ that was made from it."""

import re
from collections import Counter
from pathlib import Path

from hdnhw.papers.catalogue import CLAIMS, PAPERS
from hdnhw.papers.claim import Verdict

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"


def test_every_claim_is_named_once():
    names = Counter((claim.paper, claim.where, claim.claim) for claim in CLAIMS)
    assert max(names.values()) == 1
    assert list(dict.fromkeys(claim.paper for claim in CLAIMS)) == list(PAPERS)


def test_all_known_errata_are_checked():
    text = " ".join(claim.erratum or "" for claim in CLAIMS)
    assert set(re.findall(r"E\d+", text)) == {f"E{number}" for number in range(1, 18)}


def test_the_page_has_a_row_for_each_claim():
    rows = [line for line in PAGE.read_text().splitlines() if line.endswith("** |")]
    plain = [row.replace("\\", "") for row in rows]
    assert len(rows) == len(CLAIMS)
    for row, claim in zip(plain, CLAIMS, strict=True):
        assert row.startswith(f"| {claim.where} | {claim.claim} | {claim.published} | ")
        assert row.split("**")[-2] in set(Verdict)
