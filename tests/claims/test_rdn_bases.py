"""Claims of the RDN paper about base networks that are no products."""

import pytest

from hdnhw.claims import rdn_bases
from hdnhw.claims.claim import Verdict
from hdnhw.networks.build import build

SMALL = (("star(3)", 1), ("petersen()", 1), ("hdn(cube(1), [[0]])", 1))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(rdn_bases, "SYMMETRIC", SMALL)
    monkeypatch.setattr(rdn_bases, "LARGER", (("hcn(2)", 1),))


@pytest.mark.parametrize(("check", "count"), [("sizes", 4), ("symmetric", 3)])
def test_what_holds(check, count):
    found = getattr(rdn_bases, check)()
    assert (found.verdict, found.computed) == (Verdict.HOLDS, f"holds on all {count} networks")


def test_sizes_of_another_network(monkeypatch):
    """Negative control: the dual-net is over another base than the one that is named."""
    ring, star = build("crossed_cube(2)"), build("rdn(star(3), 1)")
    monkeypatch.setattr(rdn_bases, "_networks", lambda _: [(ring, star, 1)])
    found = rdn_bases.sizes()
    assert found.verdict == Verdict.FALSE
    assert found.counterexample == "rdn(star(3), 1): (32, {3}, 6) published, (72, {3}, 8) computed"


def test_the_base_must_be_symmetric(monkeypatch):
    """Of HCN(2, 2), two kinds of nodes, nothing is claimed; an RDN over it has several kinds, too."""
    monkeypatch.setattr(rdn_bases, "SYMMETRIC", (*SMALL, ("hcn(2)", 1)))
    assert rdn_bases.symmetric().computed == "holds on all 3 networks"
    assert rdn_bases._orbits(build("rdn(hcn(2), 1)")) > rdn_bases._orbits(build("hcn(2)")) > 1
