"""Disjoint paths by address, made shorter, and by a flow: lengths, and time on 64 to 2^31 nodes; minutes."""

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence

from hdnhw.multipath.disjoint import disjoint_routes, length_bound, short_routes
from hdnhw.multipath.flows import fault_of_paths, shortest_disjoint_paths
from hdnhw.networks.build import build
from hdnhw.rules.path_waypoints import waypoints_along
from hdnhw.rules.plan import RoutingPlan, plan
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.symmetry import symmetry

SEARCHED = ("hdn(cube(3), [[2]])", "rdn(cube(2), 2)", "hdn(cube(3), [[2], [0, 1, 2]])")
"""All pairs from every kind of source; waypoints as well."""

GROWING = (
    "hdn(cube(3), [[0, 1, 2], [0, 1, 2]])",
    "hdn(cube(3), [[0, 1], [0, 1]])",
    "rdn(cube(3), 2)",
    "rdn(cube(2), 3)",
    "rdn(cube(1), 4)",
)
"""Networks of five ports, for the time a pair takes."""


MOST = 6
"""Waypoints up to which there is a column."""

Paths = list[list[int]]


def _pairs(text: str, most: int) -> tuple[Network, list[tuple[int, int]]]:
    """Return a network and all pairs from a node of each kind, or so many drawn.

    Nodes of an orbit are of two kinds: routing in the default modes tells the classes of level k apart.
    """
    network = build(text)
    if most:
        draw = random.Random(1)
        drawn = (draw.sample(range(network.num_nodes), 2) for _ in range(most))
        return network, [(src, dst) for src, dst in drawn]
    found = symmetry(neighbor_table(network))
    assert found is not None
    kinds = {(orbit, network.decode(node)[0]): node for node, orbit in reversed(list(enumerate(found.node_orbit)))}
    return network, [(src, dst) for src in sorted(kinds.values()) for dst in range(network.num_nodes) if dst != src]


def _row(text: str, most: int, searched: bool) -> dict[str, list[Paths]]:
    """Print a row, and return the paths of each maker for each pair."""
    network, pairs = _pairs(text, most)
    makers: dict[str, Callable[[Network, int, int], Paths]] = {"address": disjoint_routes, "short": short_routes}
    if searched:
        table = neighbor_table(network)
        makers["flow"] = lambda _, src, dst: shortest_disjoint_paths(table, src, dst)
    cells, made = [], {}
    for name, make in makers.items():
        make(network, *pairs[0])
        start, hops = time.process_time(), []
        made[name] = [make(network, *pair) for pair in pairs]
        seconds = time.process_time() - start
        for pair, paths in zip(pairs, made[name], strict=True):
            assert len(paths) == len(network.ports)
            assert fault_of_paths(lambda node: network.neighbors(node).values(), *pair, paths) is None
            hops += [len(path) - 1 for path in paths]
        cells.append(f"{max(hops):7} {sum(hops) / len(hops):7.3f} {1000 * seconds / len(pairs):8.2f}")
    bound = length_bound(network)
    print(
        f"{text:38} {network.num_nodes:12} {len(network.ports):5} {len(pairs):6} {bound:6} {' '.join(cells)}",
        flush=True,
    )
    return made


def _shares(counts: Sequence[int]) -> str:
    """Return the mean, the most, and the share of each number."""
    found = Counter(counts)
    assert max(found) <= MOST
    shares = " ".join(f"{found[count] / len(counts):6.4f}" for count in range(MOST + 1))
    return f"{sum(counts) / len(counts):6.3f} {max(counts):4} {shares}"


def _count_waypoints(routing: RoutingPlan, path: Sequence[int]) -> int:
    waypoints = waypoints_along(routing, path)
    assert waypoints is not None
    return len(waypoints)


def _waypoint_rows(text: str, made: dict[str, list[Paths]]) -> list[str]:
    """Return rows about the waypoints of each path, and of the path of a pair that takes the most."""
    default = plan(text)
    rows = []
    for modes in dict.fromkeys([default.modes, "f" * len(default.modes)]):
        routing = plan(text, modes)
        for name, paths_of in made.items():
            counts = [[_count_waypoints(routing, path) for path in paths] for paths in paths_of]
            every = [count for some in counts for count in some]
            for what, numbers in {"path": every, "pair": [max(some) for some in counts]}.items():
                rows.append(f"{text:38} {modes:5} {name:9} {what:4} {len(numbers):6} {_shares(numbers)}")
    return rows


def main() -> None:
    """Print two tables: longest and mean length and milliseconds a pair of each kind of paths; their waypoints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=200, help="drawn of each of the growing networks")
    options = parser.parse_args()
    head = " ".join(f"{name:>7} {'mean':>7} {'ms':>8}" for name in ("address", "short", "flow"))
    print(f"{'network':38} {'nodes':>12} {'paths':>5} {'pairs':>6} {'bound':>6} {head}")
    rows = [row for text in SEARCHED for row in _waypoint_rows(text, _row(text, 0, True))]
    for text in GROWING:
        _row(text, options.pairs, False)
    print()
    shares = " ".join(f"{count:6}" for count in range(MOST + 1))
    print(f"{'network':38} {'modes':5} {'paths':9} {'of a':4} {'number':>6} {'mean':>6} {'most':>4} {shares}")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
