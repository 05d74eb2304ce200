"""Waypoints along a path: legs walked by the interpreted rule, and no fewer do, by trying them all."""

import random
from functools import cache
from itertools import combinations, pairwise, permutations, product

import pytest

from hdnhw.multipath.disjoint import is_addressable, short_routes
from hdnhw.multipath.flows import shortest_disjoint_paths
from hdnhw.networks.build import build
from hdnhw.rules.path_waypoints import waypoints_along
from hdnhw.rules.plan import plan
from hdnhw.topology.metrics import neighbor_table

ROUTINGS = [
    ("torus(6)", None),
    ("hdn(cube(2), [[0]])", "f"),
    ("hdn(cube(2), [[0]])", "O"),
    ("hdn(torus(5), [[0]])", None),
    ("hdn(cube(2), [[0], [0, 1]])", None),
    ("hdn(cube(2), [[0], [0, 1]])", "ff"),
    ("hsn(2, cube(2), diameter_links=True)", None),
    ("ccc(3)", None),
    ("star(4)", None),
]


def leg_of(made):
    """Return a function that walks a route by the rule itself."""
    return cache(lambda src, dst: [*(node for node, _, _ in made.rule.route(src, dst)), dst])


def joined(leg, stops):
    """Return the nodes of the legs between `stops`, one after the other."""
    nodes = stops[:1]
    for src, dst in pairwise(stops):
        nodes += leg(src, dst)[1:]
    return nodes


def fewest(leg, path):
    """Return how many waypoints it takes, every choice of nodes of the path tried; None if none will do."""
    inner = path[1:-1]
    for count in range(len(inner) + 1):
        if any(joined(leg, [path[0], *stops, path[-1]]) == path for stops in combinations(inner, count)):
            return count
    return None


def wanderings(network, number, hops):
    """Return paths without a plan, of up to so many hops, that visit no node twice."""
    draw, found = random.Random(3), []
    for _ in range(number):
        path = [draw.randrange(network.num_nodes)]
        while len(path) <= hops and (free := sorted(set(network.neighbors(path[-1]).values()) - set(path))):
            path.append(draw.choice(free))
        found.append(path)
    return found


def disjoint_paths(network, number):
    draw, table = random.Random(4), neighbor_table(network)
    pairs = [draw.sample(range(network.num_nodes), 2) for _ in range(number)]
    if is_addressable(network):
        return [path for pair in pairs for path in short_routes(network, *pair)]
    return [path for pair in pairs for path in shortest_disjoint_paths(table, *pair)]


@pytest.mark.parametrize(("text", "modes"), ROUTINGS)
def test_they_lead_along_the_path_and_no_fewer_do(text, modes):
    made = plan(text, modes)
    leg, counts = leg_of(made), set()
    for path in wanderings(made.network, 30, 7) + disjoint_paths(made.network, 12):
        chosen = waypoints_along(made, path)
        assert fewest(leg, path) == (None if chosen is None else len(chosen))
        if chosen is not None:
            assert joined(leg, [path[0], *chosen, path[-1]]) == path
        counts.add(None if chosen is None else len(chosen))
    assert {0, 1} <= counts
    # In these two networks the rule takes another way between the ends of some edges.
    assert (None in counts) == text.startswith(("hsn", "ccc"))


@pytest.mark.parametrize(("text", "modes"), ROUTINGS)
def test_a_route_needs_none(text, modes):
    made = plan(text, modes)
    leg = leg_of(made)
    pairs = list(permutations(range(made.network.num_nodes), 2))
    for pair in random.Random(5).sample(pairs, min(len(pairs), 300)):
        assert waypoints_along(made, leg(*pair)) == []


@pytest.mark.parametrize("text", ["hdn(torus(5), [[0], []])", "hdn(cube(2), [[1], [0]])", "hdn(ghc(3, 4), [[0]])"])
def test_an_edge_of_a_dual_net_is_a_route_in_all_modes(text):
    network = build(text)
    for modes in product("fO", repeat=len(network.levels)):
        made = plan(text, "".join(modes))
        for node in range(0, network.num_nodes, 2):
            assert all(waypoints_along(made, [node, other]) == [] for other in network.neighbors(node).values())


def test_a_ring_worked_by_hand():
    """Where both ways are as long, the odd node 1 goes downwards and the even node 0 upwards."""
    ring = plan("torus(6)")
    assert waypoints_along(ring, [1, 0, 5, 4]) == []
    assert waypoints_along(ring, [1, 2, 3, 4]) == [3]
    assert waypoints_along(ring, [0, 1, 2, 3]) == []
    assert waypoints_along(ring, [0, 5, 4, 3]) == [4]
    assert waypoints_along(ring, [0, 1, 2, 3, 4, 5]) == [3]
    assert waypoints_along(ring, [1, 0, 5, 4, 3, 2]) == [4]


def test_a_part_of_a_route_may_be_none():
    """Why every end has to be tried, and not the next until one fails."""
    made = plan("hdn(cube(2), [[0], [0, 1]])")
    leg = leg_of(made)
    routes = [leg(src, dst) for src, dst in permutations(range(0, made.network.num_nodes, 9), 2)]
    odd = [route for route in routes if any(leg(route[0], route[end]) != route[: end + 1] for end in range(len(route)))]
    assert odd
    for route in odd:
        assert waypoints_along(made, route) == []
        for place in range(len(route)):
            assert leg(route[place], route[-1]) == route[place:]


def test_what_is_hardly_a_path():
    made = plan("rdn(cube(2), 1)")
    one = made.network.neighbors(0)["dim0"]
    assert waypoints_along(made, [5]) == []
    assert waypoints_along(made, [0, one, 0]) == [one]
    assert waypoints_along(made, [0, 0]) is None
    assert waypoints_along(made, [0, 31]) is None
    assert waypoints_along(made, [0, one, 31]) is None
    with pytest.raises(ValueError, match=r"node of rdn\(cube\(2\), 1\) must be 0 to 31, not 32"):
        waypoints_along(made, [0, 32])
