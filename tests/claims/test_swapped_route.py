"""Section 2.3 of the HSN paper to the letter, beside the rule that the hardware computes."""

from itertools import pairwise

import pytest

from hdnhw.claims.literal.swapped_route import swapped_route
from hdnhw.networks.build import build
from hdnhw.rules.hop import hop_rule
from hdnhw.support.errors import SpecError


@pytest.mark.parametrize(
    "text", ["hsn(3, cube(1))", "hsn(2, torus(5))", "hsn(2, folded_cube(2))", "hcn(2)", "hsn(2, star(3))"]
)
def test_the_hardware_does_the_same(text):
    network = build(text)
    rule = hop_rule(network)
    for src in range(network.num_nodes):
        for dst in range(network.num_nodes):
            route = swapped_route(network, src, dst)
            assert route == [*(node for node, _, _ in rule.route(src, dst)), dst]
            assert all(there in network.neighbors(here).values() for here, there in pairwise(route))


def test_complement_links_carry_nothing():
    plain, folded = (build(text) for text in ("hsn(2, cube(3))", "folded_hsn(2, 3)"))
    assert [swapped_route(plain, 0, dst) for dst in range(64)] == [swapped_route(folded, 0, dst) for dst in range(64)]


@pytest.mark.parametrize("text", ["cube(3)", "hsn(2, cube(3), top=4)"])
def test_other_networks(text):
    with pytest.raises(
        SpecError, match=r"section 2\.3 is for HSNs whose top digit is any node of the nucleus, not for"
    ):
        swapped_route(build(text), 0, 1)
