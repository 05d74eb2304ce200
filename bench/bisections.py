"""Bisections of dual-nets against their bound and other cuts (docs/results/04-bisection.md); half a minute."""

from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt

from hdnhw.networks.design import candidates
from hdnhw.networks.parse import parse
from hdnhw.topology.cut_bound import bound_around, cut_share, known_bound
from hdnhw.topology.cuts import best_cut, bisection, cut_edges, known_halves
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import neighbor_table

MOST_LISTED, MOST_CUT = 20, 300
"""Nodes of networks of which all sets are listed, and of those in which cuts are looked for."""

CUBES = [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (1, 2), (2, 2), (3, 2), (4, 2), (1, 3), (2, 3)]
"""(d, k) of RDN^k(Q_d) that are cut as in the proof."""

LISTED = (
    "rdn(cube(1), 1)",
    "hdn(cube(2), [[0]])",
    "hdn(torus(3), [[0]])",
    "hdn(cube(1), [[0], [0]])",
    "mesh(3, 3)",
    "mesh(2, 7)",
)
"""Besides those that `hdnhw design` lists: isomorphic to one of them, or with a path."""

PROGRAMS = ("rdn(cube(2), 1)", "rdn(complete(4), 1)", "hdn(cube(1), [[0], []])", "hdn(torus(3, 2), [[0]])")
"""Networks of up to 32 nodes that a mixed-integer program cuts."""

STAIRS = range(1, 6)
"""d of RDN(Q_d, 1) whose least cut is found among pairs of staircases."""

Integers = npt.NDArray[np.int64]


def network_of(text: str) -> DualNetwork:
    """Return the product or dual-net of a spec."""
    spec = parse(text)
    network = DualNetwork(spec)  # type: ignore[arg-type]
    return network


def least_around(table: npt.NDArray[np.int32]) -> list[int]:
    """Return the fewest edges around any set of 0, 1, ... nodes; all sets are listed, as bits of a number."""
    nodes = len(table)
    sets = np.arange(1 << nodes, dtype=np.int64)
    size, edges = np.zeros(len(sets), np.int16), np.zeros(len(sets), np.int16)
    for node in range(nodes):
        own = (sets >> node) & 1
        size += own.astype(np.int16)
        for other in table[node]:
            if other > node:
                edges += (own ^ (sets >> int(other) & 1)).astype(np.int16)
    return [int(edges[size == inside].min()) for inside in range(nodes + 1)]


def half_along(network: DualNetwork, factor: int) -> npt.NDArray[np.bool_]:
    """Return the half of a dual-net that the proof cuts along one digit of the base, which no super-node holds.

    In class 0 of a level a node goes with its place in its cluster, in class 1 with the number of its cluster.
    """
    digits = list(network.decode(np.arange(network.num_nodes, dtype=np.int64)))
    for level in reversed(network.levels):
        for cluster, inner in zip(level.cluster, level.super_node, strict=True):
            digits[inner] = np.where(digits[level.class_digit] == 1, digits[cluster], digits[inner])
    half: npt.NDArray[np.bool_] = digits[network.base_digits[factor]] < network.factors[factor].size // 2
    return half


def staircase_bisection(dimensions: int) -> int:
    """Return the least cut of RDN(Q_d, 1) into halves, by a proof of its own.

    The sets inside are A of class 0 and B of class 1, subsets of a square whose rows are clusters of class 0 and whose
    columns are those of class 1. Making every row of both, then every column, an initial segment of the binary order
    with as many nodes cuts no more edges; so the least cut is among pairs of staircases, whose rows have a_0 >= a_1 >=
    ... and b_0 >= b_1 >= ... nodes. Those are tried row by row: least cost for each a, b and number of nodes so far.
    """
    side = 1 << dimensions
    around = np.array(
        [
            sum((node ^ 1 << bit) >= size for node in range(size) for bit in range(dimensions))
            for size in range(side + 1)
        ]
    )
    far = np.int64(1 << 40)
    sizes = np.arange(side + 1)
    cost = np.full((side + 1, side + 1, side * side + 1), far)
    cost[side, side, 0] = 0
    for row in range(side):
        cost = np.minimum.accumulate(cost[::-1], axis=0)[::-1]
        cost = _fall(cost, int(around[row]))
        own = around[:, None] + np.abs(sizes[:, None] - sizes[None])
        following = np.full_like(cost, far)
        for a, b in product(range(side + 1), repeat=2):
            end = side * side + 1 - a - b
            following[a, b, a + b :] = cost[a, b, :end] + own[a, b]
        cost = following
    return int(cost[:, :, side * side].min())


def _fall(cost: Integers, around: int) -> Integers:
    """Let the columns of B that end before a row do so: each costs as many edges."""
    for b in range(cost.shape[1] - 2, -1, -1):
        np.minimum(cost[:, b], cost[:, b + 1] + around, out=cost[:, b])
    return cost


def print_listed() -> None:
    """Print the least cuts of all small networks, and the sets for which the bound is reached."""
    print(f"{'all sets of nodes of':34} {'nodes':>5} {'c':>5} {'halves':>6} {'bound':>5} {'sizes at the bound':>18}")
    for spec in [*LISTED, *candidates(3, MOST_LISTED, 6, nested=False)]:
        network = network_of(str(spec))
        found = least_around(neighbor_table(network))
        bounds = [bound_around(network, inside) for inside in range(len(found))]
        assert all(bound <= least for bound, least in zip(bounds, found, strict=True)), spec
        half = network.num_nodes // 2
        reached = sum(bound == least for bound, least in zip(bounds, found, strict=True))
        share = f"{cut_share(network)!s:>5}"
        print(
            f"{spec!s:34} {network.num_nodes:5} {share} {found[half]:6} {bounds[half]:5} {reached:10} of {len(found):4}"
        )


def print_programs() -> None:
    """Print least cuts that a mixed-integer program proves, from no bound but that of flows."""
    print(f"\n{'mixed-integer program':34} {'nodes':>5} {'least':>6} {'bound':>5}")
    for text in PROGRAMS:
        network = network_of(text)
        found = bisection(neighbor_table(network), quick=True)
        assert found.exact
        assert found.edges >= known_bound(network)
        print(f"{text:34} {network.num_nodes:5} {found.edges:6} {known_bound(network):5}", flush=True)


def print_stairs() -> None:
    """Print the least cuts of RDN(Q_d, 1) by staircases."""
    print(f"\n{'pairs of staircases':34} {'nodes':>5} {'least':>6} {'bound':>5}")
    for dimensions in STAIRS:
        network = network_of(f"rdn(cube({dimensions}), 1)")
        found = staircase_bisection(dimensions)
        assert found == known_bound(network)
        print(f"{network.spec!s:34} {network.num_nodes:5} {found:6} {known_bound(network):5}", flush=True)


def print_cubes() -> None:
    """Print the cut of the proof on RDN^k(Q_d)."""
    print(f"\n{'cut along a digit':34} {'nodes':>9} {'cut':>8} {'bound':>8} {'N / 4':>8}")
    for dimensions, levels in CUBES:
        network = network_of(f"rdn(cube({dimensions}), {levels})")
        half = half_along(network, 0)
        assert 2 * half.sum() == network.num_nodes
        cut = cut_edges(neighbor_table(network), half)
        assert cut == known_bound(network) == network.num_nodes >> levels + 1
        nodes = network.num_nodes
        print(f"{network.spec!s:34} {nodes:9} {cut:8} {known_bound(network):8} {nodes // 4:8}", flush=True)


def print_search() -> None:
    """Search all networks of a size for cuts below the bound, and print how many reach it."""
    looked, reached = 0, 0
    worst = (Fraction(1), "")
    for spec in candidates(MOST_LISTED + 1, MOST_CUT, 6, nested=False, longest_ring=12):
        network = DualNetwork(spec)
        if not network.levels:
            continue
        table = neighbor_table(network)
        cut, bound = cut_edges(table, best_cut(table, known_halves(network))), known_bound(network)
        assert cut >= bound, spec
        looked, reached = looked + 1, reached + (cut == bound)
        worst = max(worst, (Fraction(cut, bound), str(spec)))
    print(
        f"\nsmaller cuts searched in {looked} dual-nets of {MOST_LISTED + 1} to {MOST_CUT} nodes: none below the bound;"
    )
    print(f"{reached} have a cut that reaches it; largest ratio of a cut to it: {float(worst[0]):.3f}, {worst[1]}")


def main() -> None:
    """Print all tables; anything that contradicts the bound ends the program."""
    print_listed()
    print_programs()
    print_stairs()
    print_cubes()
    print_search()


if __name__ == "__main__":
    main()
