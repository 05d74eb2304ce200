"""Trees by digits: each spans, and weighted as they are every port hears as much."""

from fractions import Fraction

import numpy as np
import pytest

from hdnhw.collectives.trees import digit_packing, every_tree, tree_family
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import table_distances
from hdnhw.topology.packing import Packing, allgather_time

BALANCED = [
    "cube(1)",
    "cube(4)",
    "torus(5)",
    "torus(4, 6)",
    "complete(5)",
    "ghc(3, 4)",
    "product(complete(4), torus(5), cube(1))",
    "rdn(cube(1), 1)",
    "rdn(cube(2), 1)",
    "rdn(complete(3), 1)",
    "rdn(torus(2, 3), 1)",
    "rdn(cube(1), 2)",
    "hdn(cube(2), [[0]])",
    "hdn(cube(2), [[0, 1]])",
    "hdn(cube(3), [[1, 2]])",
    "hdn(product(complete(3), torus(4)), [[1]])",
    "hdn(cube(2), [[0, 1], [0]])",
    "dualcube(2)",
    "dualcube(3)",
]
SWAPPED = ["hsn(2, cube(1))", "hsn(2, cube(2))", "hsn(3, cube(2))", "hsn(2, complete(4))", "hsn(2, torus(5))"]
SWAPPED += ["hsn(4, complete(2))", "hsn(2, rdn(cube(1), 1))"]


def weighted_loads(packing, family):
    """Return what each port of each node hears, in vectors."""
    loads = np.zeros(packing.table.shape, object)
    for number, weight in enumerate(family.weights):
        loads = loads + Packing(packing.table, packing.ports[number : number + 1]).loads.astype(object) * weight
    return loads


@pytest.mark.parametrize("spec", BALANCED)
def test_every_port_hears_the_same(spec):
    network = build(spec)
    family = tree_family(network)
    packing = every_tree(network, family)
    nodes, degree = packing.table.shape
    assert (family.nodes, family.degree) == (nodes, degree)
    assert sum(family.weights) == 1
    assert min(family.weights) >= 0
    assert set(weighted_loads(packing, family).ravel().tolist()) == {Fraction(nodes - 1, degree)}
    assert allgather_time(packing.table) == Fraction(nodes - 1, degree)


@pytest.mark.parametrize("spec", BALANCED)
def test_every_tree_is_of_shortest_routes(spec):
    network = build(spec)
    packing = every_tree(network, tree_family(network))
    distances = np.stack([table_distances(packing.table, node) for node in range(network.num_nodes)])
    assert (packing.depths == distances).all()


@pytest.mark.parametrize("spec", SWAPPED)
def test_no_port_of_an_hsn_hears_more_than_those_of_leaders(spec):
    network = build(spec)
    family = tree_family(network)
    packing = every_tree(network, family)
    assert packing.depths.max() <= network.diameter_formula
    assert weighted_loads(packing, family).max() == allgather_time(packing.table)


@pytest.mark.parametrize("spec", ["rdn(cube(2), 1)", "hsn(2, cube(2))", "torus(4, 6)"])
def test_a_node_needs_no_more_than_two_addresses(spec):
    network = build(spec)
    family = tree_family(network)
    packing = every_tree(network, family)
    for source, node in [(0, 1), (3, 3), (network.num_nodes - 1, 2), (5, network.num_nodes - 2)]:
        for tree in range(packing.trees):
            port = int(family.ports(tree, network.decode(source), network.decode(node)))
            assert port == packing.ports[tree, source, node]


@pytest.mark.parametrize("spec", ["cube(3)", "rdn(cube(2), 1)", "hdn(cube(2), [[0]])", "hsn(2, cube(3))"])
def test_the_more_parts_the_nearer_to_the_best(spec):
    network = build(spec)
    packing = digit_packing(network, 64)
    best = allgather_time(packing.table)
    assert packing.depths.min() == 0
    assert best <= packing.time <= best * Fraction(102, 100)


@pytest.mark.parametrize(
    "spec",
    [
        "mesh(3, 3)",
        "hdn(cube(2), [[0], [1]])",
        "hsn(2, cube(2), diameter_links=True)",
        "hsn(2, mesh(3))",
        "hsn(2, cube(2), top=2)",
        "folded_hsn(2, 2)",
        "star(4)",
        "hsn(2, petersen())",
        "rdn(petersen(), 1)",
    ],
)
def test_other_networks_are_refused_by_name(spec):
    with pytest.raises(SpecError, match="trees by digits are for") as error:
        tree_family(build(spec))
    assert str(error.value).endswith(f"{build(spec).spec} is none of them")
