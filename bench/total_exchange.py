"""Total exchange with fewest start-ups and words (docs/results/01-total-exchange.md); half a minute.

The schedule of docs/results/01-total-exchange.md, put together from those of cycles and edges, is run message by
message on networks whose neighbours hdnhw gives. It shares no line with hdnhw.collectives.
"""

import argparse
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hdnhw.claims.families import BASES, dual_nets
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import neighbor_table, nested_average_distance, table_distances
from hdnhw.topology.orbits import representatives

Array = npt.NDArray[np.int64]
Step = Callable[[Array, Array], Array]
"""From where messages are and where they go to, where the step leaves them."""

EVEN = (
    "complete(2)",
    "cube(2)",
    "torus(4)",
    "cube(3)",
    "torus(6)",
    "torus(2, 4)",
    "torus(2, 6)",
    "torus(8)",
    "torus(10)",
)
"""Bases of edges and cycles of even length."""


@dataclass(frozen=True)
class Scheme:
    """Steps of a total exchange among nodes 0, 1, ..., `nodes` - 1."""

    nodes: int
    steps: tuple[Step, ...]


def ring(size: int) -> Scheme:
    """Return the exchange on an edge or an even cycle: its two matchings in turn, one a step."""

    def step(turn: int) -> Step:
        def move(here: Array, goal: Array) -> Array:
            there: Array = (here + np.where((here + turn) % 2 == 0, 1, -1)) % size
            return np.where(_around(there, goal, size) < _around(here, goal, size), there, here)

        return move

    return Scheme(size, tuple(step(turn) for turn in range(size // 2)))


def _around(one: Array, other: Array, size: int) -> Array:
    """Return distances on a cycle."""
    ahead = (other - one) % size
    nearer: Array = np.minimum(ahead, size - ahead)
    return nearer


def times(one: Scheme, other: Scheme) -> Scheme:
    """Return the exchange on a product: first in `one`, whose numbers are the higher digits, then in `other`."""
    size = other.nodes

    def high(step: Step) -> Step:
        return lambda here, goal: step(here // size, goal // size) * size + here % size

    def low(step: Step) -> Step:
        return lambda here, goal: here // size * size + step(here % size, goal % size)

    return Scheme(one.nodes * size, (*map(high, one.steps), *map(low, other.steps)))


def dual(inner: Scheme) -> Scheme:
    """Return the exchange on the dual (c, x, y) of a network: x, cross, y, cross, seen from class 0."""
    size = inner.nodes
    if size == 1:
        return ring(2)

    def within(step: Step) -> Step:
        def move(here: Array, goal: Array) -> Array:
            second, x, y = _parts(here, size)
            x = np.where(second, x, step(x, goal // size % size))
            y = np.where(second, step(y, goal % size), y)
            return (second * size + x) * size + y

        return move

    def cross(here: Array, goal: Array, *, last: bool) -> Array:
        second, x, y = _parts(here, size)
        other = second != goal // size**2
        kept = np.where(second, x == goal // size % size, y == goal % size)
        crosses = other if last else other | ~kept
        return np.where(crosses, (1 - second) * size**2 + x * size + y, here)

    steps = tuple(map(within, inner.steps))
    return Scheme(
        2 * size**2,
        (
            *steps,
            lambda here, goal: cross(here, goal, last=False),
            *steps,
            lambda here, goal: cross(here, goal, last=True),
        ),
    )


def _parts(node: Array, size: int) -> tuple[Array, Array, Array]:
    return node // size**2, node // size % size, node % size


def scheme_of(network: DualNetwork) -> Scheme:
    """Return the exchange on a nested dual-net of edges and even cycles."""

    def make(level: int, factors: Collection[int]) -> Scheme:
        own = _own(network, level, factors)
        result = Scheme(1, ()) if not level else dual(make(level - 1, [one for one in factors if one not in own]))
        for factor in reversed(own):
            result = times(ring(network.factors[factor].size), result)
        return result

    return make(len(network.levels), range(len(network.factors)))


def _own(network: DualNetwork, level: int, factors: Collection[int]) -> list[int]:
    """Return those factors that no cross-edge up to `level` exchanges."""
    inside = network.levels[level - 1].super_node_factors if level else factors
    return [factor for factor in factors if factor in inside]


def numbers(network: DualNetwork) -> Array:
    """Return the number of each node in the scheme of a nested dual-net."""
    digits = network.decode(np.arange(network.num_nodes))

    def visit(level: int, places: dict[int, int], factors: Collection[int]) -> tuple[Array, int]:
        own = _own(network, level, factors)
        rest = [factor for factor in factors if factor not in own]
        number, size = np.zeros(network.num_nodes, np.int64), 1
        if level:
            layout = network.levels[level - 1]
            outer = {inner: places[at] for at, inner in zip(layout.cluster, layout.super_node, strict=True)}
            (inside, size), (cluster, _) = visit(level - 1, places, rest), visit(level - 1, outer, rest)
            second = digits[places[layout.class_digit]]
            x, y = np.where(second, cluster, inside), np.where(second, inside, cluster)
            number, size = (second * size + x) * size + y, 2 * size**2
        for factor in reversed(own):
            number, size = (
                digits[places[network.base_digits[factor]]] * size + number,
                size * network.factors[factor].size,
            )
        return number, size

    return visit(
        len(network.levels), {place: place for place in range(len(network.radices))}, range(len(network.factors))
    )[0]


def run(network: DualNetwork) -> list[int]:
    """Move all messages of the scheme; return the words that every node sends in each step, the same for all nodes.

    It is checked that every message arrives, that each send is over an edge, and that in a step no node sends to two
    nodes or receives from two.
    """
    scheme, count = scheme_of(network), network.num_nodes
    node_of = np.argsort(numbers(network))
    rows = [set(row) for row in neighbor_table(network).tolist()]
    here, goal = np.repeat(np.arange(count), count), np.tile(np.arange(count), count)
    words = []
    for step in scheme.steps:
        there = step(here, goal)
        moved = here != there
        links = np.unique(here[moved] * count + there[moved])
        start, end = links // count, links % count
        assert len(links) == len(np.unique(start)) == len(np.unique(end)) == count, network.spec
        assert all(int(node_of[one]) in rows[int(node_of[other])] for one, other in zip(start, end, strict=True))
        sent = np.bincount(here[moved], minlength=count)
        assert (sent == sent[0]).all(), network.spec
        words.append(int(sent[0]))
        here = there
    assert np.array_equal(here, goal), network.spec
    return words


def distances(network: DualNetwork) -> tuple[int, int, Fraction]:
    """Return the diameter, the most nodes at that distance from a node, and the mean sum of a node's distances."""
    table, sources = neighbor_table(network), representatives(network)
    assert sources is not None, network.spec
    found = [np.bincount(table_distances(table, source)) for source, _ in sources]
    diameter = max(map(len, found)) - 1
    antipodes = max(int(counts[diameter]) for counts in found if len(counts) > diameter)
    total = sum(size * int(counts @ np.arange(len(counts))) for counts, (_, size) in zip(found, sources, strict=True))
    return diameter, antipodes, Fraction(total, network.num_nodes)


def is_even(network: DualNetwork) -> bool:
    """Return whether all factors are edges or cycles of even length."""
    return all(factor.is_edge or (factor.kind == "cycle" and factor.size % 2 == 0) for factor in network.factors)


def check(network: DualNetwork) -> tuple[int, int]:
    """Check the theorem on a nested network of even factors: return start-ups and words."""
    diameter, antipodes, total = distances(network)
    words = run(network)
    assert (len(words), Fraction(sum(words)), antipodes) == (diameter, total, 1), network.spec
    average = nested_average_distance(network)
    assert average is not None
    assert average * (network.num_nodes - 1) == total, network.spec
    return len(words), sum(words)


def compare(network: DualNetwork) -> tuple[bool, bool]:
    """Return whether hdnhw's own schedule takes the fewest start-ups, and the fewest words."""
    diameter, _, total = distances(network)
    counted = execute(exchange_schedule(network))
    return counted.nonempty_startups == diameter, counted.words == total


def main() -> None:
    """Print one line for each check."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--nodes", type=int, default=1152, help="of the largest networks in which all distances are looked at"
    )
    parser.add_argument(
        "--messages", type=int, default=600, help="nodes of the largest networks on which messages are moved"
    )
    options = parser.parse_args()
    nested = [one for one in dual_nets(options.messages, bases=EVEN) if one.is_nested]
    for network in nested:
        startups, words = check(network)
        print(f"{network.spec!s:44} {network.num_nodes:6} {startups:4} t_s + {words} t_w", flush=True)
    cubes = [one for one in nested if all(factor.is_edge for factor in one.factors)]
    own = [compare(network) for network in cubes]
    print(f"{len(nested)} nested networks of even factors: start-ups the diameter, words the sum of distances")
    print(f"{len(own)} of them of edges: so takes hdnhw exchange, on {sum(map(all, own))}")
    bases = [*dict.fromkeys((*BASES, *EVEN, "torus(7)", "product(complete(3), torus(4))", "ghc(2, 3)", "ghc(3, 4)"))]
    every = dual_nets(options.nodes, bases=bases)
    one = {str(network.spec): distances(network)[1] == 1 for network in every}
    for is_nested in (True, False):
        kind = [network for network in every if network.is_nested == is_nested]
        alike = sum(one[str(network.spec)] == is_even(network) for network in kind)
        name = "nested" if is_nested else "not nested"
        some = [str(network.spec) for network in kind if one[str(network.spec)]]
        print(f"{name}: {len(kind)} networks, one antipode on {len(some)}, if and only if even on {alike}")
        if not is_nested:
            print("  " + "; ".join(some))


if __name__ == "__main__":
    main()
