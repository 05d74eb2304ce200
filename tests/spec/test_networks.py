"""Specs of swapped networks: members, canonical text, and what is refused."""

import pytest

from hdnhw.networks.families.dualnets import dualcube, rdn
from hdnhw.networks.families.folded_cube import folded_cube
from hdnhw.networks.families.star import star
from hdnhw.networks.families.swapped import folded_hsn, hcn, hcn3, hfn, hsn
from hdnhw.networks.parse import parse
from hdnhw.spec import SwappedNet, complete, cube, mesh
from hdnhw.support.errors import SpecError
from tests.conftest import each


def test_special_cases_are_swapped_networks():
    assert hcn(3) == SwappedNet(2, cube(3), 8, True, False, "hcn(3)")
    assert hfn(3) == SwappedNet(2, folded_cube(3), 8, False, False, "hfn(3)")
    assert hcn3(2) == SwappedNet(3, cube(2), 4, True, False, "hcn3(2)")
    assert folded_hsn(2, 3) == SwappedNet(2, cube(3), 8, False, True, "folded_hsn(2, 3)")
    assert hsn(2, star(3)) == SwappedNet(2, star(3), 6, False, False, "hsn(2, star(3))")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("hsn(2, cube(3), top=8)", "hsn(2, cube(3))"),
        ("hsn(2, cube(3), diameter_links=False)", "hsn(2, cube(3))"),
        ("hsn( 2,cube(3), diameter_links = True, top = 8)", "hsn(2, cube(3), diameter_links=True)"),
        ("hsn(3, product(mesh(2), petersen()), top=2)", None),
        ("hsn(3, petersen(), top=2)", "hsn(3, petersen(), top=2)"),
    ],
)
def test_canonical_text(given, text):
    if text is None:
        with pytest.raises(SpecError, match=r"product part must be .*, not petersen\(\)"):
            parse(given)
    else:
        assert str(parse(given)) == text


REFUSED = [
    ("hsn(1, cube(2))", "hsn level count must be at least 2, not 1"),
    ("hsn(2, 3)", "hsn nucleus must be a network, for example cube(3), not 3"),
    (
        "hsn(2, fat_tree(4), top=4)",
        "hsn top and diameter_links must be over a nucleus with a terminal at each node, not fat_tree(4)",
    ),
    ("hsn(2, cube(3), top=3)", "hsn top must be a divisor of 8, the nodes of cube(3), not 3"),
    ("hsn(2, cube(3), top=1)", "hsn top must be at least 2, not 1"),
    ("hsn(2, cube(3), top=True)", "hsn top must be an integer, not True"),
    ("hsn(2, cube(3), diameter_links=1)", "hsn diameter_links must be True or False, not 1"),
    (
        "hsn(2, cube(3), top=4, diameter_links=True)",
        "hsn top must be the size of the nucleus where there are diameter links",
    ),
    ("hsn(2, cube(3), links=True)", "hsn takes the named options diameter_links and top, not 'links'"),
    ("hsn(2, cube(3), **{})", "hsn takes the named options diameter_links and top, not **"),
    ("hsn(2)", "hsn must be hsn(LEVELS, NUCLEUS), not 1 argument"),
    ("hsn(4, cube(16))", "hsn(4, cube(16)) needs 64 address bits; at most 60 are allowed"),
    ("hcn(31)", "hcn(31) needs 62 address bits; at most 60 are allowed"),
    ("hfn(1)", "hfn dimension must be at least 2, not 1"),
    ("hcn3(0)", "hcn3 dimension must be at least 1, not 0"),
    ("folded_hsn(1, 2)", "folded_hsn level count must be at least 2, not 1"),
    ("folded_hsn(61, 2)", "folded_hsn level count must be at most 60, not 61"),
    ("folded_hsn(2, 0)", "folded_hsn dimension must be at least 1, not 0"),
]


@each(("text", "message"), REFUSED)
def test_refused(text, message):
    with pytest.raises(SpecError) as caught:
        parse(text)
    assert str(caught.value) == f"spec {text!r}: column 1: {message}"


def test_options_are_given_by_name():
    assert hsn(2, complete(4), top=2) != hsn(2, complete(4))
    with pytest.raises(TypeError):
        hsn(2, mesh(4), True)


def test_a_dual_cube_as_nucleus_is_the_dual_net_that_it_is():
    assert hsn(2, dualcube(3)) == hsn(2, rdn(cube(2), 1))
    assert str(hsn(2, dualcube(3), top=4)) == "hsn(2, rdn(cube(2), 1), top=4)"
