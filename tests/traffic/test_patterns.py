"""Patterns against their definitions on bit strings, and against what cross-edges separate."""

import networkx
import numpy as np
import pytest

from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from hdnhw.traffic.patterns import PATTERNS, parse_pattern
from tests.conftest import each

BIT_PERMUTATIONS = {
    "complement": lambda text: text.translate(str.maketrans("01", "10")),
    "reverse": lambda text: text[::-1],
    "shuffle": lambda text: text[1:] + text[0],
    "transpose": lambda text: text[len(text) // 2 :] + text[: len(text) // 2],
}


def drawn(text, spec, count=200, seed=1):
    """Return (network, sources, destinations) of `count` packets a sender."""
    network = build(spec)
    pattern = parse_pattern(text, network)
    sources = np.repeat(pattern.senders, count)
    numbers = np.tile(np.arange(count), len(pattern.senders))
    return network, sources, pattern.destinations(sources, numbers, seed)


@each("name", BIT_PERMUTATIONS)
@each("spec", ["cube(6)", "torus(8, 8)", "rdn(cube(2), 2)"])
def test_permutations_of_bits(name, spec):
    bits = build(spec).num_nodes.bit_length() - 1
    if name == "transpose" and bits % 2:
        return  # no square
    _, sources, destinations = drawn(name, spec, count=1)
    said = dict(zip(sources.tolist(), destinations.tolist(), strict=True))
    for node in range(1 << bits):
        expected = int(BIT_PERMUTATIONS[name](f"{node:0{bits}b}"), 2)
        assert said.get(node, node) == expected


@pytest.mark.parametrize(("name", "steps"), [("tornado", (3, 2)), ("neighbor", (1, 1))])
def test_permutations_of_digits(name, steps):
    _, sources, destinations = drawn(name, "torus(8, 5)", count=1)
    for source, destination in zip(sources, destinations, strict=True):
        moved = [(place + step) % radix for place, step, radix in zip(divmod(source, 5), steps, (8, 5), strict=True)]
        assert divmod(destination, 5) == tuple(moved)


@pytest.mark.parametrize("name", [*PATTERNS, "cluster(2)", "inter_class(1)"])
@pytest.mark.parametrize("spec", ["hdn(cube(2), [[0], [0, 1]])", "rdn(torus(4), 2)", "dualcube(3)", "torus(4, 8)"])
def test_every_pattern_stays_in_the_network_and_never_sends_to_its_source(name, spec):
    try:
        network, sources, destinations = drawn(name, spec)
    except SpecError:
        return
    assert len(sources)
    assert ((destinations >= 0) & (destinations < network.num_nodes) & (destinations != sources)).all()


def test_uniform_is_uniform():
    _, sources, destinations = drawn("uniform", "cube(4)", count=6000)
    counts = np.bincount(sources * 16 + destinations, minlength=256).reshape(16, 16)
    assert not counts.diagonal().any()
    others = counts[~np.eye(16, dtype=bool)]
    assert abs(others - 400).max() < 6 * 400**0.5


def test_a_hotspot_gets_its_share():
    _, sources, destinations = drawn("hotspot(0.25, 5)", "cube(4)", count=4000)
    share = (destinations[sources != 5] == 5).mean()
    assert abs(share - (0.25 + 0.75 / 15)) < 0.01


@pytest.mark.parametrize(("spec", "size"), [("concentrated(dragonfly(4, 2), 2)", 8), ("dragonfly(2, 1)", 2)])
def test_the_next_group_of_a_dragonfly_is_over_one_link(spec, size):
    network, sources, destinations = drawn(f"next_group({size})", spec, count=60)
    nodes = network.num_terminals
    assert ((destinations // size - sources // size) % (nodes // size) == 1).all()
    assert all(len(set(destinations[sources == node].tolist())) == size for node in range(nodes))
    graph = networkx.Graph(
        (node, other) for node in range(network.num_nodes) for other in network.neighbors(node).values()
    )
    groups = {}
    for node in range(nodes):
        (router,) = (node,) if nodes == network.num_nodes else graph[node]
        groups.setdefault(node // size, set()).add(router)
    links = [
        sum(other in groups[(group + 1) % len(groups)] for own in groups[group] for other in graph[own])
        for group in groups
    ]
    assert links == [1] * len(groups)


@pytest.mark.parametrize(
    ("spec", "level"),
    [
        *[(spec, level) for spec in ("hdn(cube(2), [[0], [0, 1]])", "rdn(torus(3), 2)") for level in (1, 2)],
        ("dualcube(3)", 1),
        ("dualcube(4)", 1),
    ],
)
def test_clusters_are_what_cross_edges_of_a_level_and_above_separate(spec, level):
    network, sources, destinations = drawn(f"cluster({level})", spec, count=400)
    graph = networkx.Graph()
    for node in range(network.num_nodes):
        for name, other in network.neighbors(node).items():
            if not (name.startswith("cross") and int(name[5:]) >= level):
                graph.add_edge(node, other)
    cluster_of = {node: number for number, part in enumerate(networkx.connected_components(graph)) for node in part}
    reached = {}
    for source, destination in zip(sources.tolist(), destinations.tolist(), strict=True):
        assert cluster_of[source] == cluster_of[destination]
        reached.setdefault(source, set()).add(destination)
    size = network.num_nodes // len(set(cluster_of.values()))
    if size < 40:
        assert {len(others) for others in reached.values()} == {size - 1}


@pytest.mark.parametrize("spec", ["dualcube(3)", "rdn(torus(3), 1)"])
def test_nodes_of_the_other_class_are_those_that_most_cross_edges_lead_to(spec):
    """Each as likely as any other: all of them are seen, and none of the sender's own class."""
    network, sources, destinations = drawn("inter_class", spec, count=2000)
    graph = networkx.Graph()
    for node in range(network.num_nodes):
        graph.add_edges_from((node, other) for name, other in network.neighbors(node).items() if name != "cross1")
    of_node = {node: part for part in networkx.connected_components(graph) for node in part}
    classes = networkx.Graph((node, network.neighbors(node)["cross1"]) for node in range(network.num_nodes))
    side = {0: 0}
    while len(side) < network.num_nodes:
        for node in list(side):
            side |= dict.fromkeys(of_node[node], side[node])
            side |= dict.fromkeys(classes[node], 1 - side[node])
    reached = {}
    for source, destination in zip(sources.tolist(), destinations.tolist(), strict=True):
        reached.setdefault(source, set()).add(destination)
    assert all(others == {node for node in side if side[node] != side[source]} for source, others in reached.items())


@pytest.mark.parametrize(("text", "place"), [("inter_class", 0), ("inter_class(2)", 0), ("inter_class(1)", 1)])
def test_the_other_class(text, place):
    network, sources, destinations = drawn(text, "hdn(cube(2), [[0], [0, 1]])", count=20)
    for source, destination in zip(sources.tolist(), destinations.tolist(), strict=True):
        ours, theirs = (network.format_node(node).split("/")[place].split(".")[0] for node in (source, destination))
        assert {ours, theirs} == {"0", "1"}


@pytest.mark.parametrize(
    ("theirs", "own"),
    [("bitcomp", "complement"), ("bitrev", "reverse"), ("randperm(3)", "permutation(3)")],
)
def test_the_names_of_booksim(theirs, own):
    assert parse_pattern(theirs, build("cube(3)")).text == own


def test_a_number_is_no_pattern():
    with pytest.raises(TypeError, match=r"^pattern must be a string, not one of type int$"):
        parse_pattern(8, build("cube(3)"))


def test_a_seed_names_a_permutation():
    network = build("cube(6)")
    one, same, other = (parse_pattern(text, network) for text in ("permutation(7)", "permutation(7)", "permutation(8)"))
    common = np.intersect1d(one.senders, other.senders)

    def destinations(pattern, sources):
        return pattern.destinations(sources, np.zeros(len(sources), np.int64), 1).tolist()

    assert destinations(one, one.senders) == destinations(same, one.senders)
    assert destinations(one, common) != destinations(other, common)
    assert len(set(destinations(one, one.senders))) == len(one.senders)


@each(
    ("text", "spec", "said"),
    [
        ("random", "cube(3)", r"^pattern must be one of uniform, transpose, .*, not 'random'$"),
        ("", "cube(3)", "not ''$"),
        ("uniform()()", "cube(3)", r"not 'uniform\(\)\(\)' \(did you mean uniform\?\)$"),
        ("uniform(1)", "cube(3)", r"^pattern uniform takes \(\), at least 0 of them, not 1 arguments$"),
        ("hotspot('a')", "cube(3)", "^hotspot share must be a number, not 'a'$"),
        ("hotspot(0.1, 0.5)", "cube(3)", "^hotspot node must be an integer, not 0.5$"),
        ("next_group(3)", "cube(3)", r"^next_group size must divide the 8 nodes of cube\(3\) into two groups or more$"),
        ("next_group(8)", "cube(3)", "^next_group size must divide"),
        ("next_group", "cube(3)", "^pattern next_group takes"),
        ("hotspot(0)", "cube(3)", "^hotspot share must be above 0 and at most 1, not 0$"),
        ("hotspot(0.1, 3, 1, 3)", "cube(3)", "^hotspot nodes must differ, and 3 is there twice$"),
        ("hotspot(0.1, 1, 8)", "cube(3)", "^node of .* must be 0 to 7, not 8$"),
        ("hotspot(0.1, 8)", "cube(3)", "^node of .* must be 0 to 7, not 8$"),
        ("transpose", "cube(3)", "square number of nodes; .* has 8$"),
        ("reverse", "torus(3)", "power of two of nodes; .* has 3$"),
        ("tornado", "cube(3)", r"^pattern tornado must move a node; it leaves every node of cube\(3\) in its place$"),
        ("cluster", "cube(3)", "for dual-nets; cube"),
        ("cluster(2)", "rdn(cube(2), 1)", "^cluster level must be 1 to 1, not 2$"),
        ("inter_class(-1)", "rdn(cube(2), 1)", "^inter_class level must be 1 to 1, not -1$"),
    ],
)
def test_patterns_that_cannot_be(text, spec, said):
    with pytest.raises(ValueError, match=said):
        parse_pattern(text, build(spec))
