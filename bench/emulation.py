"""Emulation with all ports: steps, bounds and searches of docs/results/06-emulation.md; two minutes."""

import time
from collections import defaultdict
from itertools import pairwise, product
from math import ceil

import numpy as np
import numpy.typing as npt
import z3

from hdnhw.collectives.emulated import all_port_timetable, emulate, lower_bound_steps, published_steps
from hdnhw.collectives.guest import host_of
from hdnhw.networks.build import build
from hdnhw.topology.metrics import neighbor_table, table_distances
from hdnhw.topology.swapped import SwappedNetwork

EXECUTED = [(levels, k) for k, levels in product(range(1, 7), range(2, 9)) if levels * k <= 12]
"""(l, k) of HSN(l, Q_k) with at most 4096 nodes."""

BIPARTITE = ("hsn(2, star(4))", "hsn(2, torus(6))", "hsn(2, torus(4, 6))", "hsn(3, mesh(3, 2))", "hsn(2, mesh(4, 4))")

SEARCHED = [
    *((f"hsn({levels}, cube(1))", levels) for levels in range(2, 6)),
    ("hsn(2, cube(2))", 3),
    ("hsn(3, complete(4))", 4),
]
"""Networks, and steps for which a schedule is searched."""

Integers = npt.NDArray[np.int64]


def host(text: str) -> SwappedNetwork:
    """Return the HSN of a spec."""
    return host_of(build(text), "an emulation")


def data_of(network: SwappedNetwork) -> list[tuple[int, int, int]]:
    """Return source, destination and level of every datum."""
    inner, size, found = neighbor_table(network.nucleus), network.nucleus.num_nodes, []
    for node, level in product(range(network.num_nodes), range(1, network.spec.levels + 1)):
        weight = size ** (level - 1)
        own = node // weight % size
        found += [(node, node + (int(to) - own) * weight, level) for to in inner[own] if to >= 0]
    return found


def steps_between_sides(network: SwappedNetwork) -> int:
    """Return the bound from counting data and links, one by one, that lead from one side of X_2 to the other.

    The sides are nodes of the nucleus at even and odd distance from node 0; on those that are not bipartite that is a
    bound as well.
    """
    size = network.nucleus.num_nodes
    side = table_distances(neighbor_table(network.nucleus), 0) % 2
    side_of = side[np.arange(network.num_nodes) // size % size]
    table = neighbor_table(network)
    data = sum(int(side_of[src] < side_of[dst]) for src, dst, _ in data_of(network))
    links = int(((table >= 0) & (side_of[:, None] < side_of[table])).sum())
    return ceil(data / links)


def link_for_one(network: SwappedNetwork) -> bool:
    """Return whether some nucleus link can, in l steps, be crossed by one datum alone in the first and the last step.

    In l steps every datum has one hop in a nucleus. In the first step that is the datum's first hop, from its source,
    and only swaps follow; in the last step only swaps went before.
    """
    table, ports = neighbor_table(network), len(network.nucleus.ports)
    by_swaps = _components(table[:, ports:])
    first, last = defaultdict(set), defaultdict(set)
    for number, (src, dst, _) in enumerate(data_of(network)):
        for port in range(ports):
            ahead = int(table[src, port])
            if ahead >= 0 and by_swaps[ahead] == by_swaps[dst]:
                first[src, ahead].add(number)
            behind = int(table[dst, port])
            if behind >= 0 and by_swaps[behind] == by_swaps[src]:
                last[behind, dst].add(number)
    return any(len(first[link]) == 1 and first[link] == last[link] for link in first)


def _components(table: npt.NDArray[np.int32]) -> Integers:
    """Return for each node the number of its component."""
    found = np.full(len(table), -1, np.int64)
    for node in range(len(table)):
        if found[node] < 0:
            found[table_distances(table, node) >= 0] = node
    return found


def search(text: str, steps: int) -> tuple[bool, int]:
    """Search for a schedule of any ways in so many steps; return whether there is one, and the hops it takes.

    It is a formula over the places of every datum after every step, which z3 satisfies or refutes.
    """
    network = host(text)
    table = neighbor_table(network)
    far = np.array([table_distances(table, node) for node in range(network.num_nodes)])
    solver = z3.SolverFor("QF_FD")
    links, moves = defaultdict(list), {}
    data = data_of(network)
    for number, (src, dst, _) in enumerate(data):
        places = [
            {
                node: z3.Bool(f"at{number}_{step}_{node}")
                for node in range(len(table))
                if far[src, node] <= step and far[node, dst] <= steps - step
            }
            for step in range(steps + 1)
        ]
        solver.add(places[0].get(src, False))
        for step, (now, after) in enumerate(pairwise(places)):
            for node, is_there in now.items():
                ways = []
                for there in {node, *map(int, table[node])} & set(after):
                    way = z3.Bool(f"move{number}_{step}_{node}_{there}")
                    moves[number, step, node, there] = way
                    ways.append(way)
                    solver.add(z3.Implies(way, after[there]))
                    if there != node:
                        links[step, node, there].append(way)
                solver.add(z3.Implies(is_there, z3.Or(ways)))
    for ways in links.values():
        solver.add(z3.AtMost(*ways, 1))
    if solver.check() != z3.sat:
        return False, 0
    model = solver.model()
    taken = {move for move, way in moves.items() if z3.is_true(model[way])}
    return True, _follow(data, steps, taken)


def _follow(data: list[tuple[int, int, int]], steps: int, taken: set[tuple[int, int, int, int]]) -> int:
    """Move the data step by step as found; return the hops. No link may carry two, and all must arrive."""
    at, hops = [src for src, _, _ in data], 0
    for step in range(steps):
        goes = {(number, node): there for number, when, node, there in taken if when == step}
        after = [goes[number, node] for number, node in enumerate(at)]
        used = [link for link in zip(at, after, strict=True) if link[0] != link[1]]
        assert len(set(used)) == len(used)
        at, hops = after, hops + len(used)
    assert at == [dst for _, dst, _ in data]
    return hops


def print_executed() -> None:
    """Print steps that were executed beside the bounds, and those published."""
    print(f"{'network':22} {'nodes':>5} {'published':>9} {'executed':>8} {'sides':>5} {'l + 1':>5} {'least':>5}")
    for text in (*(f"hsn({levels}, cube({k}))" for levels, k in EXECUTED), *BIPARTITE):
        network = host(text)
        levels, ports = network.spec.levels, len(network.nucleus.ports)
        steps = emulate(network, all_port_timetable(levels, ports)).steps
        sides, load = steps_between_sides(network), levels + link_for_one(network)
        known = lower_bound_steps(network)
        assert known is not None
        assert max(sides, load) <= known <= steps
        published = published_steps(network) or ""
        least = "yes" if max(sides, load) == steps else ""
        print(f"{text:22} {network.num_nodes:5} {published:9} {steps:8} {sides:5} {load:5} {least:>5}", flush=True)


def main() -> None:
    """Print both tables."""
    print_executed()
    print(f"\n{'network':22} {'steps':>5} {'data':>5} {'schedule':>8} {'hops':>5} {'seconds':>7}")
    for text, steps in SEARCHED:
        start = time.process_time()
        found, hops = search(text, steps)
        data, seconds = len(data_of(host(text))), time.process_time() - start
        print(f"{text:22} {steps:5} {data:5} {'found' if found else 'none':>8} {hops:5} {seconds:7.1f}", flush=True)


if __name__ == "__main__":
    main()
