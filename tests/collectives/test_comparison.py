"""Algorithms of an all-reduce side by side."""

import pytest

from hdnhw.collectives.comparison import compared
from hdnhw.collectives.cost import any_partner_bound
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError


@pytest.mark.parametrize("text", ["rdn(cube(2), 1)", "torus(4, 4)", "torus(3, 5)"])
def test_none_is_below_the_bound(text):
    network = build(text)
    algorithms, nodes = compared(network), network.num_nodes
    names = ["short", "long", "ring", "doubling"]
    assert [algorithm.name for algorithm in algorithms] == (names if nodes in (16, 32) else names[:3])
    for words in (1, nodes, 10 * nodes + 1):
        bound = any_partner_bound(nodes, words)
        for algorithm in algorithms:
            cost = algorithm.cost(words)
            assert cost.startups >= bound.startups
            assert cost.words >= bound.words
    for name in ("long", "ring"):
        (algorithm,) = (one for one in algorithms if one.name == name)
        assert algorithm.cost(10 * nodes).words == any_partner_bound(nodes, 10 * nodes).words


def test_networks_without_schedules():
    with pytest.raises(SpecError, match="a schedule in steps is for products"):
        compared(build("star(4)"))
