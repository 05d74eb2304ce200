"""The longest disjoint paths by address between all pairs, against what is proved; a minute.

docs/results/02-wide-diameter.md has the theorem. Paths are checked against the neighbors of their nodes.
"""

import argparse
from collections.abc import Collection
from itertools import combinations

import numpy as np

from hdnhw.claims.families import BASES, dual_net, dual_nets
from hdnhw.multipath.disjoint import disjoint_routes, length_bound
from hdnhw.multipath.flows import fault_of_paths
from hdnhw.multipath.nest import nest_of
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import neighbor_table, table_distances
from hdnhw.topology.symmetry import symmetry

DUAL_CUBES = ("rdn(cube(1), 1)", "rdn(cube(2), 1)", "rdn(cube(3), 1)", "rdn(cube(4), 1)")
"""F_2 to F_5."""

WALKED = 128
"""Nodes of the networks between all pairs of which walks are made."""


def longest(network: DualNetwork) -> tuple[int, int]:
    """Return the longest path of all pairs, and the most by which one is longer than the distance of its ends."""
    table = neighbor_table(network)
    found = symmetry(table)
    assert found is not None, network.spec
    most = excess = 0
    for src in np.unique(found.node_orbit, return_index=True)[1].tolist():
        distance = table_distances(table, src)
        for dst in range(network.num_nodes):
            if dst != src:
                paths = disjoint_routes(network, src, dst)
                assert len(paths) == len(network.ports), network.spec
                assert fault_of_paths(lambda node: table[node].tolist(), src, dst, paths) is None, network.spec
                hops = max(map(len, paths)) - 1
                most, excess = max(most, hops), max(excess, hops - int(distance[dst]))
    return most, excess


def _sets(count: int) -> list[tuple[int, ...]]:
    """Return all sets of 0 .. `count` - 1."""
    return [some for size in range(count + 1) for some in combinations(range(count), size)]


def longest_walk(network: DualNetwork, free: Collection[int]) -> tuple[int, int]:
    """Return the most hops of a walk to any place whose digits of `free` do not matter, and D_k - D(free)."""
    nest, level = nest_of(network), len(network.levels)
    nodes = [network.decode(node) for node in range(network.num_nodes)]
    walks = (nest.walk(level, src, dst, free) for src in nodes for dst in nodes)
    return max(map(len, walks)) - 1, network.diameter_formula - sum(network.factors[one].diameter for one in free)


def main() -> None:
    """Print the networks whose paths come nearest to each bound, and the dual-cubes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=600, help="of the largest networks")
    options = parser.parse_args()
    rows = [(network, *longest(network)) for network in dual_nets(options.nodes, bases=BASES)]
    margins = [(network, (length_bound(network) or 0) - most) for network, most, _ in rows]
    assert all(margin >= 0 for _, margin in margins), margins
    for kind, name in ((True, "nested"), (False, "not nested")):
        some = [margin for network, margin in margins if network.is_nested == kind]
        print(f"{name}: {len(some)} networks; the longest path is {min(some)} or more below the proved bound")
    for network, most, excess in rows:
        if not network.is_nested:
            bound = f"proved {length_bound(network)}"
            print(f"  {network.spec!s:36} {network.num_nodes:5} nodes: longest {most}, {bound}, distance + {excess}")
    small = [network for network, _, _ in rows if network.num_nodes <= WALKED]
    walks = [(network, free) for network in small for free in _sets(len(network.factors))]
    assert all(most <= proved for most, proved in (longest_walk(*walk) for walk in walks))
    print(f"walks: as proved for {len(walks)} networks and sets of digits that do not matter")
    for text in DUAL_CUBES:
        most, excess = longest(dual_net(text))
        print(f"{text}: longest {most}, distance + {excess}")


if __name__ == "__main__":
    main()
