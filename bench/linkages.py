"""Paths between sets of nodes, 10,000 drawn cases and all of small networks, against what is proved; 15 minutes.

docs/results/02-wide-diameter.md has the theorem. Edges are those of `Network.neighbors`; nothing else is asked of what
is checked. In the small networks, SciPy's maximum flow says how many paths there are.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product
from random import Random

import numpy as np

from hdnhw.multipath.disjoint import length_bound, linked_routes
from hdnhw.networks.build import build
from hdnhw.topology.connectivity import disjoint_paths
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table

Ends = tuple[list[int], list[int]]
"""Sources and targets."""

NETWORKS = (
    "cube(4)",
    "torus(3, 5)",
    "ghc(3, 4)",
    "product(cube(2), torus(7), complete(3))",
    "dualcube(4)",
    "dualcube(6)",
    "rdn(cube(1), 1)",
    "rdn(cube(2), 1)",
    "rdn(cube(3), 1)",
    "rdn(torus(3), 1)",
    "rdn(torus(5), 1)",
    "rdn(torus(8), 1)",
    "rdn(complete(4), 1)",
    "rdn(complete(6), 1)",
    "hdn(cube(2), [[0, 1]])",
    "hdn(cube(3), [[2]])",
    "hdn(cube(4), [[0, 1, 2]])",
    "hdn(torus(7), [[0]])",
    "hdn(torus(2, 3, 5), [[1, 2]])",
    "hdn(ghc(3, 4), [[0]])",
    "rdn(cube(1), 2)",
    "rdn(cube(2), 2)",
    "rdn(torus(3), 2)",
    "rdn(complete(4), 2)",
    "hdn(complete(2), [[], [0]])",
    "hdn(complete(4), [[], [0]])",
    "hdn(cube(2), [[0], [0, 1]])",
    "hdn(cube(2), [[0], [1]])",
    "hdn(cube(3), [[2], [0, 1, 2]])",
    "hdn(cube(3), [[0, 1], [0]])",
    "hdn(cube(3), [[0, 1, 2], [0, 1, 2]])",
    "hdn(torus(2, 3), [[1], [0]])",
    "hdn(torus(2, 3, 5), [[0, 2], [1, 2]])",
    "rdn(cube(1), 3)",
    "rdn(cube(2), 3)",
    "hdn(cube(2), [[0], [1], [0, 1]])",
    "hdn(torus(2, 3), [[0, 1], [0], []])",
    "hdn(complete(3), [[0], [], [0]])",
    "hdn(torus(5, 7), [[], [], [0]])",
    "rdn(cube(2), 4)",
)
"""Products and dual-nets of one to four levels, nested or not, of 8 to 2^47 nodes."""

SMALL = ("cube(3)", "rdn(cube(1), 1)", "hdn(torus(5), [[0]])", "hdn(cube(2), [[0, 1]])")


def fault(network: Network, ends: Ends, paths: Sequence[Sequence[int]], bound: int) -> str | None:
    """Return what is wrong with paths between two sets of nodes, each of which may have `bound` hops on average."""
    sources, targets = ends
    sole = len(sources) == 1
    if sorted(path[-1] for path in paths) != sorted(targets):
        return "targets"
    if [path[0] for path in paths] != sources * len(targets) if sole else {path[0] for path in paths} != {*sources}:
        return "sources"
    visited = [node for path in paths for node in path[sole:]]
    if len({*visited}) < len(visited) or (sole and sources[0] in visited):
        return "shared"
    edges = [edge for path in paths for edge in pairwise(path)]
    if any(other not in network.neighbors(one).values() for one, other in edges):
        return "edge"
    return "long" if len(edges) > bound * len(targets) else None


def draw(network: Network, random: Random) -> Ends:
    """Return one node and some others, or two sets of nodes: all near each other, or anywhere."""
    ports, nodes = len(network.ports), network.num_nodes
    near = [random.randrange(nodes)]
    most = random.choice((ports + 1, 3 * ports, nodes))
    while len(near) < min(most, 6 * ports, nodes):
        near += {*network.neighbors(random.choice(near)).values()} - {*near}
    count = random.choice((ports, ports, random.randint(2, ports)))

    def some(count: int) -> list[int]:
        return random.sample(near, count) if most < nodes else [random.randrange(nodes) for _ in range(count)]

    while True:
        both = some(count + 1), some(count)
        sources, targets = random.choice(((both[0][:1], both[0][1:]), (both[0][1:], both[1])))
        overlap = len(sources) == 1 and sources[0] in targets
        if not overlap and len({*sources}) == len(sources) and len({*targets}) == len(targets):
            return sources, targets


def every(network: Network) -> Iterator[Ends]:
    """Yield each node with each set of others, and each pair of sets, of as many nodes as there are ports."""
    sets = [list(some) for some in combinations(range(network.num_nodes), len(network.ports))]
    yield from (([node], some) for node in range(network.num_nodes) for some in sets if node not in some)
    yield from product(sets, sets)


def most_paths(network: Network, ends: Ends) -> int:
    """Return how many paths between two sets share no node, one source excepted."""
    table, (sources, targets) = neighbor_table(network), ends
    nodes, ports = table.shape
    whole = np.pad(table, ((0, 2), (0, len(targets))), constant_values=-1)
    whole[nodes, : len(sources)] = sources
    whole[targets, ports] = nodes + 1
    return disjoint_paths(whole, sources[0] if len(sources) == 1 else nodes, nodes + 1)


def survey(text: str, cases: int, seed: int) -> str:
    """Return the row of a network: longest path, and most hops of a path in the mean of a case, by kind of case."""
    network, random = build(text), Random(f"{text} {seed}")
    bound = length_bound(network)
    assert bound is not None, text
    most = {True: (0, 0.0), False: (0, 0.0)}
    for _ in range(cases):
        ends = draw(network, random)
        paths = linked_routes(network, *ends)
        assert fault(network, ends, paths, bound) is None, (text, ends, paths)
        sole, hops = len(ends[0]) == 1, [len(path) - 1 for path in paths]
        most[sole] = (max(most[sole][0], *hops), max(most[sole][1], sum(hops) / len(hops)))
    figures = "".join(f"{longest:9} {mean:6.2f}" for longest, mean in (most[True], most[False]))
    return f"{text:40} {network.num_nodes:16,} {len(network.ports):5} {bound:6}{figures}"


def main() -> None:
    """Print a row for each network, and how many cases of the small ones have as many paths as the flow says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=250, help="of each network")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{'network':40} {'nodes':>16} {'ports':>5} {'bound':>6}  node to set    set to set")
    for text in NETWORKS:
        print(survey(text, options.cases, options.seed), flush=True)
    for text in SMALL:
        network, cases = build(text), 0
        for ends in every(network):
            assert fault(network, ends, linked_routes(network, *ends), length_bound(network) or 0) is None, (text, ends)
            assert most_paths(network, ends) == len(ends[1]), (text, ends)
            cases += 1
        print(f"{text}: all {cases} cases")


if __name__ == "__main__":
    main()
