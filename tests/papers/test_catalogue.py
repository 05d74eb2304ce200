"""The list of claims."""

from collections import Counter

from hdnhw.papers.catalogue import CLAIMS, PAPERS


def test_every_claim_is_named_once():
    names = Counter((claim.paper, claim.where, claim.claim) for claim in CLAIMS)
    assert max(names.values()) == 1
    assert list(dict.fromkeys(claim.paper for claim in CLAIMS)) == [
        name for name in PAPERS if name in {p for p, _, _ in names}
    ]
