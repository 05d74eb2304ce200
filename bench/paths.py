"""Disjoint paths by address, made shorter, and by a flow over the network: ``make bench-paths``."""

import argparse
import random
import time

import numpy as np

from hdnhw.routing.disjoint import disjoint_routes, length_bound, short_routes
from hdnhw.spec import parse
from hdnhw.topology.disjoint import fault_of_paths, shortest_disjoint_paths
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.network import build
from hdnhw.topology.symmetry import symmetry

SEARCHED = ("hdn(cube(3), [[2]])", "rdn(cube(2), 2)", "hdn(cube(3), [[2], [0, 1, 2]])")
"""All pairs from every kind of source."""

GROWING = (
    "hdn(cube(3), [[0, 1, 2], [0, 1, 2]])",
    "hdn(cube(3), [[0, 1], [0, 1]])",
    "rdn(cube(3), 2)",
    "rdn(cube(2), 3)",
    "rdn(cube(1), 4)",
)
"""Networks of five ports, for the time a pair takes."""


def _pairs(text, most):
    """Return a network and all pairs from a node of each orbit, or so many drawn."""
    network = build(parse(text))
    if most:
        draw = random.Random(1)
        return network, [tuple(draw.sample(range(network.num_nodes), 2)) for _ in range(most)]
    sources = np.unique(symmetry(neighbor_table(network)).node_orbit, return_index=True)[1].tolist()
    return network, [(src, dst) for src in sources for dst in range(network.num_nodes) if dst != src]


def _row(text, most, searched):
    network, pairs = _pairs(text, most)
    makers = {"address": disjoint_routes, "short": short_routes}
    if searched:
        table = neighbor_table(network)
        makers["flow"] = lambda _, src, dst: shortest_disjoint_paths(table, src, dst)
    cells = []
    for make in makers.values():
        make(network, *pairs[0])
        start, hops = time.process_time(), []
        made = [make(network, *pair) for pair in pairs]
        seconds = time.process_time() - start
        for pair, paths in zip(pairs, made, strict=True):
            assert len(paths) == len(network.ports)
            assert fault_of_paths(lambda node: network.neighbors(node).values(), *pair, paths) is None
            hops += [len(path) - 1 for path in paths]
        cells.append(f"{max(hops):7} {sum(hops) / len(hops):7.3f} {1000 * seconds / len(pairs):8.2f}")
    bound = length_bound(network)
    print(
        f"{text:38} {network.num_nodes:12} {len(network.ports):5} {len(pairs):6} {bound:6} {' '.join(cells)}",
        flush=True,
    )


def main() -> None:
    """Print one row a network: longest and mean length and milliseconds a pair of each kind of paths."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=200, help="drawn of each of the growing networks")
    options = parser.parse_args()
    head = " ".join(f"{name:>7} {'mean':>7} {'ms':>8}" for name in ("address", "short", "flow"))
    print(f"{'network':38} {'nodes':>12} {'paths':>5} {'pairs':>6} {'bound':>6} {head}")
    for text in SEARCHED:
        _row(text, 0, True)
    for text in GROWING:
        _row(text, options.pairs, False)


if __name__ == "__main__":
    main()
