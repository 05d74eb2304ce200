"""Hamiltonian cycles, followed on networks that are built here by the papers' definition."""

import random
from itertools import product

import pytest

from hdnhw.networks.build import build
from hdnhw.networks.parse import parse
from hdnhw.support.errors import SpecError
from hdnhw.topology.hamiltonian import hamiltonian_cycle
from tests.conftest import each

SPECS = [
    "cube(1)",
    "cube(5)",
    "torus(5)",
    "torus(3, 3)",
    "torus(3, 5, 7)",
    "torus(7, 3, 3)",
    "mesh(4, 3)",
    "mesh(3, 4)",
    "mesh(2, 3, 3)",
    "product(torus(5), mesh(3))",
    "product(mesh(3), mesh(5), torus(3))",
    "product(mesh(3), torus(5))",
    "ghc(3, 5)",
    "dualcube(1)",
    "dualcube(2)",
    "dualcube(4)",
    "rdn(cube(1), 1)",
    "rdn(cube(1), 2)",
    "rdn(torus(3), 2)",
    "rdn(torus(5, 3), 1)",
    "rdn(complete(4), 1)",
    "rdn(cube(2), 2)",
    "hdn(cube(1), [[0]])",
    "hdn(cube(2), [[0, 1]])",
    "hdn(cube(2), [[0], [0]])",
    "hdn(torus(3, 3), [[0]])",
    "hdn(torus(3, 5), [[1]])",
    "hdn(torus(3), [[0], [0]])",
    "hdn(ghc(3, 4), [[1]])",
    "hdn(cube(2), [[0, 1], [0]])",
    "hdn(cube(2), [[0, 1], []])",
    "hdn(cube(2), [[0], [0, 1]])",
    "hdn(cube(2), [[], [0]])",
    "hdn(cube(2), [[0], [1]])",
    "hdn(cube(1), [[], [0]])",
    "hdn(cube(3), [[2], [0, 1, 2]])",
    "hdn(cube(3), [[0, 1], [1, 2]])",
    "hdn(product(torus(3), cube(1)), [[0], [1]])",
    "hdn(torus(5), [[], [0]])",
    "hdn(cube(1), [[0], [], [0]])",
    "hdn(complete(3), [[0], [], [0]])",
]


def neighbors_of(factors, supers, node):
    """Return the neighbors of a node, which is a tuple (class, cluster, node below), or digits at level 0."""

    def beside(node, level):
        if level == 0:
            for place, factor in enumerate(factors):
                for other in range(factor.size):
                    apart = abs(other - node[place])
                    ring = factor.kind == "cycle" and apart == factor.size - 1
                    if apart and (apart == 1 or ring or factor.kind == "complete"):
                        yield (*node[:place], other, *node[place + 1 :])
            return
        kind, cluster, inner = node
        for other in beside(inner, level - 1):
            yield kind, cluster, other
        yield (
            1 - kind,
            outside(inner, level - 1, supers[level - 1]),
            joined(cluster, inner, level - 1, supers[level - 1]),
        )

    def outside(node, level, kept):
        """Return the super-node: all but the base digits that are kept."""
        if level == 0:
            return tuple(digit for place, digit in enumerate(node) if place not in kept)
        return (*node[:2], outside(node[2], level - 1, kept))

    def joined(cluster, node, level, kept):
        """Return the node of a super-node that has the kept digits of another node."""
        if level == 0:
            rest = iter(cluster)
            return tuple(digit if place in kept else next(rest) for place, digit in enumerate(node))
        return (*cluster[:2], joined(cluster[2], node[2], level - 1, kept))

    return set(beside(node, len(supers)))


def tuples_of(network):
    """Return the node of :func:`neighbors_of` for each number, from the digits c, U, and those of the node below."""
    supers = [level.super_node_factors for level in network.levels]
    width = network.base_width

    def nest(digits, level, kept=frozenset()):
        """Read a node of a level, or without the kept base digits a super-node."""
        if level == 0:
            return tuple(digits)
        own = sizes[level - 1] - len(supers[level - 1])
        cluster = nest(digits[1 : 1 + own], level - 1, frozenset(supers[level - 1]))
        return digits[0], cluster, nest(digits[1 + own :], level - 1, kept)

    sizes = [width]
    for kept in supers:
        sizes.append(1 + 2 * sizes[-1] - len(kept))
    return [nest(tuple(map(int, network.decode(node))), len(supers)) for node in range(network.num_nodes)]


def check(text):
    network = build(text)
    cycle, nodes = hamiltonian_cycle(network).tolist(), tuples_of(network)
    supers = [level.super_node_factors for level in network.levels]
    assert sorted(cycle) == list(range(network.num_nodes))
    for place, node in enumerate(cycle):
        assert nodes[cycle[place - 1]] in neighbors_of(network.factors, supers, nodes[node])


@each("text", SPECS)
def test_a_cycle_visits_every_node_once_over_edges(text):
    check(text)


def test_drawn_dual_nets_have_one():
    draw, bases = random.Random(7), ["cube(1)", "cube(2)", "cube(3)", "torus(3)", "torus(5)", "complete(4)"]
    bases += ["torus(3, 3)", "torus(3, 4)", "product(torus(3), cube(1))", "ghc(3, 2)", "torus(2, 3, 3)"]
    texts = set()
    while len(texts) < 100:
        base = draw.choice(bases)
        width = len(parse(base).factors)
        supers = [sorted(draw.sample(range(width), draw.randint(0, width))) for _ in range(draw.randint(1, 3))]
        if build(f"hdn({base}, {supers})").num_nodes <= 8192:
            texts.add(f"hdn({base}, {supers})")
    for text in sorted(texts):
        check(text)


@pytest.mark.parametrize("text", ["mesh(3, 3)", "mesh(5)", "mesh(3, 3, 5)"])
def test_grids_of_odd_sides_have_none(text):
    with pytest.raises(SpecError, match="no Hamiltonian cycle of"):
        hamiltonian_cycle(build(text))


def test_small_grids_with_one_are_told_from_those_without():
    """A grid has one if and only if its nodes are even in number and it is no path of three or more."""
    for sides in product(range(2, 6), repeat=2):
        text = f"mesh({sides[0]}, {sides[1]})"
        if sides[0] * sides[1] % 2:
            with pytest.raises(SpecError):
                hamiltonian_cycle(build(text))
        else:
            check(text)
