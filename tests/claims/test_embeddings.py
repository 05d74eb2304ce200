"""Embeddings and algorithms that the papers leave to be found."""

import pytest

from hdnhw.claims import embeddings
from hdnhw.claims.claim import Verdict


@pytest.mark.parametrize(
    ("check", "count", "largest"),
    [(embeddings.on_rdns, 13, "rdn(torus(3), 2)"), (embeddings.on_dual_cubes, 8, "dualcube(5)")],
)
def test_rings_and_hypercubes_are_embedded(check, count, largest):
    found = check()
    assert (found.verdict, len(found.table)) == (Verdict.HOLDS, count)
    assert found.table[-1]["host"] == largest


def test_algorithms_run():
    assert embeddings.algorithms().verdict == Verdict.HOLDS


def test_an_embedding_of_more_dilation_is_found(monkeypatch):
    embed = embeddings.embed
    monkeypatch.setattr(embeddings, "embed", lambda host, guest: embed(host, guest, "cube"))
    found = embeddings.on_dual_cubes()
    assert found.verdict == Verdict.FALSE
    assert found.counterexample.startswith("torus(8) on dualcube(2): dilation at most 1 published, dilation 3 computed")
