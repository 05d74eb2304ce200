"""Long vectors along trees against the least time (docs/results/07-long-vectors.md); a minute.

Trees by digits: the load of every channel, of every tree as its weight says, and that each is a spanning tree. Packed
trees: rounds that the executor counts, for one word a tree and for many.
"""

import argparse
from fractions import Fraction

import numpy as np

from bench.node_symmetry import MORE
from hdnhw.claims.families import BASES, dual_nets
from hdnhw.collectives.pipeline import make_pipeline, run_pipeline
from hdnhw.collectives.trees import every_tree, tree_family
from hdnhw.networks.build import build
from hdnhw.topology.branchings import best_packing
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.packing import Packing, allgather_time, allreduce_bound, shortest_time

EXECUTED = (
    "hdn(cube(2), [[0]])",
    "rdn(cube(2), 1)",
    "dualcube(3)",
    "hdn(cube(3), [[2]])",
    "rdn(cube(3), 1)",
    "hdn(cube(2), [[0], [0]])",
    "hsn(2, cube(2))",
    "hsn(2, cube(3))",
    "cube(5)",
    "cube(7)",
    "torus(8, 8)",
    "torus(8, 16)",
    "star(4)",
    "rdn(petersen(), 1)",
    "ccc(3)",
)
"""Networks on which all chunks are moved."""

WORDS = 32
"""Of a block, for each tree."""

SWAPPED = (
    "complete(2)",
    "complete(3)",
    "cube(2)",
    "complete(4)",
    "torus(5)",
    "cube(3)",
    "torus(3, 3)",
    "rdn(cube(1), 1)",
)
"""Nuclei."""

OTHERS = (
    *(f"ccc({size})" for size in (3, 4, 5)),
    *(f"star({size})" for size in (3, 4, 5)),
    *(f"{kind}_cube({size})" for kind in ("folded", "crossed") for size in (3, 4, 5, 6)),
    *("petersen()", "rdn(petersen(), 1)", "rdn(star(3), 1)", "rdn(folded_cube(3), 1)", "rdn(crossed_cube(3), 1)"),
    *("hcn(2)", "hcn(3)", "hfn(2)", "hfn(3)", "hcn3(1)", "hcn3(2)", "folded_hsn(2, 2)", "folded_hsn(2, 3)"),
    *("reduced_cube(2, 1)", "reduced_cube(3, 2)", "mesh(4, 4)", "mesh(3, 5)", "mesh(2, 3, 4)"),
)
"""Networks that no theorem is about."""


def digit_time(network: Network) -> tuple[Fraction, int]:
    """Return what the fullest channel carries with trees by digits, in vectors, and how many trees there are."""
    family = tree_family(network)
    packing = every_tree(network, family)
    assert sum(family.weights) == 1
    assert min(family.weights) >= 0
    assert packing.depths.shape == packing.ports.shape
    loads = np.zeros(packing.table.shape, object)
    for number, weight in enumerate(family.weights):
        loads += Packing(packing.table, packing.ports[number : number + 1]).loads.astype(object) * weight
    return max(loads.ravel()), packing.trees


def print_digits(nodes: int) -> None:
    """Print on how many networks trees by digits take the least time."""
    nested = [network for network in dual_nets(nodes, bases=BASES) if network.is_nested]
    products = [build(text) for text in (*BASES, "cube(6)", "torus(4, 6)", "torus(3, 4, 5)", "ghc(3, 4, 5)")]
    swapped = [build(f"hsn({levels}, {text})") for text in SWAPPED for levels in (2, 3, 4)]
    swapped = [network for network in swapped if network.num_nodes <= nodes]
    for name, networks in (("products", products), ("nested dual-nets", nested), ("HSNs", swapped)):
        least = [digit_time(network)[0] == allgather_time(neighbor_table(network)) for network in networks]
        print(f"{name}: trees by digits take the least time on {sum(least)} of {len(least)}", flush=True)


def print_shortest(nodes: int) -> None:
    """Print which networks need trees that are not of shortest routes."""
    unnested = [network for network in dual_nets(nodes, bases=(*BASES, *MORE)) if not network.is_nested]
    for name, networks in (("dual-nets not nested", unnested), ("others", [build(text) for text in OTHERS])):
        rows = []
        for network in networks:
            table = neighbor_table(network)
            least, found = allgather_time(table), shortest_time(table)
            degree = int((table >= 0).sum(axis=1).min())
            assert least == Fraction(network.num_nodes - 1, degree), network.spec
            rows.append((str(network.spec), least, found))
        more = [f"{text} {found}, not {least}" for text, least, found in rows if found != least]
        print(
            f"{name}: trees of shortest routes take the least time on {len(rows) - len(more)} of {len(rows)}",
            flush=True,
        )
        print("".join(f"  {line}\n" for line in more), end="")


def print_executed() -> None:
    """Print rounds and shares of the executed schedules."""
    print(f"{'network':26} {'nodes':>5} {'least':>6} {'trees':>5} {'hops':>4} {'rounds':>6} {'share':>6} ", end="")
    print(f"{'words':>5} {'rounds':>6} {'share':>6} {'all-reduce':>10} {'share':>6} {'bound':>6}")
    for text in EXECUTED:
        packing = best_packing(neighbor_table(build(text)))
        least, nodes, words = allgather_time(packing.table), len(packing.table), WORDS * packing.trees
        assert packing.time == least
        once, _ = run_pipeline(make_pipeline(packing, packing.trees), "allgather")
        pipeline = make_pipeline(packing, words)
        rounds, _ = run_pipeline(pipeline, "allgather")
        both, _ = run_pipeline(pipeline, "allreduce")
        bound = nodes * words * allreduce_bound(packing.table)
        print(
            f"{text:26} {nodes:5} {least!s:>6} {packing.trees:5} {int(packing.depths.max()):4} {once:6} "
            f"{packing.load / once:6.3f} {words:5} {rounds:6} {float(least * words / rounds):6.3f} {both:10} "
            f"{float(2 * least * words / both):6.3f} {float(bound / both):6.3f}",
            flush=True,
        )


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=300, help="of the largest networks whose trees are weighed")
    parser.add_argument("--unnested", type=int, default=1152, help="nodes of the largest dual-nets that are not nested")
    options = parser.parse_args()
    print_digits(options.nodes)
    print_shortest(options.unnested)
    print_executed()


if __name__ == "__main__":
    main()
