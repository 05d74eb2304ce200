"""Which dual-nets are node-symmetric, and how many automorphisms they have; half a minute.

What docs/results/03-node-symmetry.md states is compared with a search of all automorphisms, and its proof with the
closed walks of length 8 of each network.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
from math import factorial, prod

import numpy as np

from hdnhw.claims.families import BASES, dual_nets
from hdnhw.spec import Factor
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.symmetry import symmetry

MORE = ("torus(4)", "torus(8)", "torus(9)", "torus(2, 4)", "ghc(2, 3)", "ghc(3, 3)", "product(complete(3), torus(5))")
"""Bases beside those of the claims: cycles of 4 and of 8, and factors that are alike or not."""

WALK = 8
"""Channels of the closed walks that are counted."""


def known_order(network: DualNetwork) -> int:
    """Return 2^(2^k - 1) times the product, over the sets of levels T, of A(B_T)^(2^(k - max T)).

    B_T is the product of the factors that are inside the super-nodes of just the levels T.
    """
    levels = len(network.levels)
    sets: dict[frozenset[int], list[Factor]] = {}
    for number, factor in enumerate(network.factors):
        inside = [level for level, layout in enumerate(network.levels, start=1) if number in layout.super_node_factors]
        sets.setdefault(frozenset(inside), []).append(factor)
    result = int(2 ** (2**levels - 1))
    for inside_levels, factors in sets.items():
        result *= _order(_primes(factors)) ** int(2 ** (levels - max(inside_levels, default=0)))
    return result


def nested_order(network: DualNetwork) -> int:
    """Return the number of automorphisms of a nested network, by the recursion that is proved."""
    sets = [set(range(len(network.factors))), *(set(level.super_node_factors) for level in network.levels), set()]
    shells = [[network.factors[factor] for factor in sorted(sets[i] - sets[i + 1])] for i in range(len(sets) - 1)]
    primes = _primes(shells[0])
    for shell in shells[1:]:
        nodes, order = _size(primes), _order(primes)
        if nodes == 1:
            dual = ("cycle", 2, 2)
        elif nodes == 2:
            dual = ("cycle", 8, 16)
        else:
            dual = ("dual", 2 * nodes**2, 2 * order**2)
        primes = _primes(shell) + Counter([dual])
    return _order(primes)


def _primes(factors: Iterable[Factor]) -> Counter[tuple[str, int, int]]:
    """Return the prime factors of a product: kind, nodes and automorphisms of each."""
    found: Counter[tuple[str, int, int]] = Counter()
    for factor in factors:
        if factor.is_edge or (factor.kind == "cycle" and factor.size == 4):
            found["cycle", 2, 2] += factor.size // 2
        elif factor.kind == "complete" or factor.size == 3:
            found["complete", factor.size, factorial(factor.size)] += 1
        else:
            found["cycle", factor.size, 2 * factor.size] += 1
    return found


def _size(primes: Counter[tuple[str, int, int]]) -> int:
    return prod(nodes**count for (_, nodes, _), count in primes.items())


def _order(primes: Counter[tuple[str, int, int]]) -> int:
    return prod(order**count * factorial(count) for (_, _, order), count in primes.items())


def closed_walks(network: DualNetwork) -> tuple[int, int]:
    """Return the closed walks of length 8 from node 0, and the fewest from one whose digits are 0 but for one copy."""
    table = neighbor_table(network)
    starts = [0]
    for place, name in enumerate(network.digit_names):
        if not name.startswith("c"):
            digits = [0] * len(network.radices)
            digits[place] = 1
            starts.append(int(network.encode(tuple(digits))))
    counts = []
    for start in starts:
        walks = (np.arange(network.num_nodes) == start).astype(np.int64)
        for _ in range(WALK // 2):
            walks = walks[table].sum(axis=1)
        counts.append(int(walks @ walks))
    return counts[0], min(counts)


def _outside(network: DualNetwork) -> int:
    """Return |B| / s_1."""
    inside = network.levels[0].super_node_factors
    return prod(factor.size for number, factor in enumerate(network.factors) if number not in inside)


def main() -> None:
    """Print what was compared, and each network that the formula for all S does not fit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=1152, help="of the largest networks")
    options = parser.parse_args()
    tally: Counter[str] = Counter()
    for network in dual_nets(options.nodes, bases=(*BASES, *MORE)):
        found = symmetry(neighbor_table(network))
        assert found is not None, network.spec
        kind = "nested" if network.is_nested else "not nested"
        tally[f"{kind}: networks"] += 1
        tally[f"{kind}: node-symmetric"] += found.node_symmetric
        fits = found.order == known_order(network)
        if _outside(network) > 2 or not network.is_nested:
            tally[f"{kind}: order by the formula, more than two nodes outside SN^1 if nested"] += fits
        if network.is_nested:
            tally["nested: order by the recursion"] += found.order == nested_order(network)
        first, fewest = closed_walks(network)
        tally[f"{kind}: a node with fewer closed walks of length {WALK} than node 0"] += fewest < first
        if _outside(network) > 2 and network.is_nested:
            tally["nested: networks with more than two nodes outside SN^1"] += 1
        elif not fits:
            print(f"{kind:10} {network.spec!s:44} order {found.order}, formula {known_order(network)}", flush=True)
    for name in sorted(tally):
        print(f"{name}: {tally[name]}")


if __name__ == "__main__":
    main()
