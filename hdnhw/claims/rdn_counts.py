"""What the algorithms of the RDN paper take, executed and by the paper's recurrences. Messages of one word, m = 1.

All nodes of an RDN and of a cube are alike; of a large one the messages of some sources are moved, and words are then
what a node sends on average.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from hdnhw.claims.families import dual_net
from hdnhw.claims.literal.total_exchange import sizes_of
from hdnhw.collectives.cost import Cost
from hdnhw.collectives.executor import execute
from hdnhw.collectives.operations import operation_schedule
from hdnhw.collectives.schedule import Schedule
from hdnhw.collectives.spread import allgather_schedule
from hdnhw.networks.families.dualnets import rdn
from hdnhw.spec import DualNet
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import distance_histogram, neighbor_table

Integers = npt.NDArray[np.int64]

SAMPLED = 1 << 14
"""Networks of this many nodes and more have too many messages to move all: those of some sources are."""

SOURCES = 8
"""In a sample."""

STEP = 509
"""How far they are apart."""


def algorithm(network: DualNetwork, operation: str) -> Schedule:
    """Return the schedule of the paper's algorithm."""
    if operation == "allgather":
        return allgather_schedule(network, as_printed=True)
    return operation_schedule(network, operation, order="paper")


def step_words(schedule: Schedule, *, own: bool = True) -> list[Fraction]:
    """Return the words of each step, the most that a node sends; of a sample of the sources, the average.

    Parameters
    ----------
    schedule : Schedule
        Of all nodes, if `own` is False.
    own : bool
        Whether messages of nodes for themselves are moved where the algorithm moves them.
    """
    nodes = schedule.network.num_nodes
    whole = schedule.root is not None or nodes < SAMPLED
    sources = None if whole else [STEP * number % nodes for number in range(SOURCES)]
    sent = execute(schedule, sources=sources).sent.sum(axis=2)
    if not own:
        table = neighbor_table(schedule.network)
        for source in range(nodes) if sources is None else sources:
            sent -= _sent_to_itself(schedule, source, table)
    if whole:
        return [Fraction(int(words)) for words in sent.max(axis=1)]
    return [Fraction(int(words), SOURCES) for words in sent.sum(axis=1)]


def _sent_to_itself(schedule: Schedule, source: int, table: npt.NDArray[np.int32]) -> Integers:
    """Return how often a node's message for itself, or its broadcast back to it, is sent; by step and sender."""
    sent, here = np.zeros((len(schedule.steps), len(table)), np.int64), source
    for step in range(len(schedule.steps)):
        if schedule.copies:
            for node in {int(node) for node in table[source] if node >= 0}:
                sent[step, node] += sum(
                    table[node, port] == source for port in schedule.ports_of(step, node, source, 0)
                )
        else:
            for port in schedule.ports_of(step, here, source, source):
                sent[step, here] += 1
                here = int(table[here, port])
    return sent


def cost_of(schedule: Schedule, *, own: bool = True) -> Cost:
    return Cost(len(schedule.steps), sum(step_words(schedule, own=own)))


def count(network: DualNetwork, operation: str, *, own: bool = True) -> Cost:
    """Return what the paper's algorithm takes; `own`: see :func:`step_words`."""
    return cost_of(algorithm(network, operation), own=own or operation not in ("allgather", "exchange"))


def exchange_at_rest(network: DualNetwork) -> Cost:
    """Return what Algorithm 4 takes if none of its calls, of any level, moves a node's messages for itself.

    In a call in a cluster these are what begins and ends it at one node. Counted from node 0, as all nodes are alike.
    """
    schedule, table = algorithm(network, "exchange"), neighbor_table(network)
    names = [step.stage for step in schedule.steps]
    words = 0
    for dst in range(network.num_nodes):
        route = [0]
        for step in range(len(names)):
            ports = schedule.ports_of(step, route[-1], 0, dst)
            route.append(int(table[route[-1], ports[0]]) if ports else route[-1])
        words += _hops_of_call(names, route)
    return Cost(len(names), Fraction(words))


def _hops_of_call(names: Sequence[str], route: Sequence[int]) -> int:
    """Return the hops of a route through a call, given the stage of each step, if calls move nothing to its place."""
    if route[0] == route[-1]:
        return 0
    crossings = sorted({name for name in names if name.startswith("cross")})
    if not crossings:
        return sum(here != there for here, there in pairwise(route))
    hops = begin = 0
    for step, name in enumerate([*names, crossings[-1]]):
        if name == crossings[-1]:
            hops += _hops_of_call(names[begin:step], route[begin : step + 1])
            hops += step < len(names) and route[step] != route[step + 1]
            begin = step + 1
    return hops


def stages(schedule: Schedule, *, own: bool = True) -> list[list[Fraction]]:
    """Return the words of the steps of every stage; a crossing of the highest level is a stage."""
    top = max(step.stage for step in schedule.steps if step.stage.startswith("cross"))
    words = step_words(schedule, own=own)
    stages = groupby(zip(schedule.steps, words, strict=True), key=lambda pair: pair[0].stage == top)
    return [[words for _, words in stage] for _, stage in stages]


def inner_network(network: DualNetwork) -> DualNetwork:
    """Return the network that the clusters of the highest level are."""
    assert isinstance(network.spec, DualNet)
    base, levels = network.spec.base, len(network.levels)
    return dual_net(rdn(base, levels - 1) if levels > 1 else base)


def _base(network: DualNetwork) -> DualNetwork:
    """Return the base network."""
    assert isinstance(network.spec, DualNet)
    return dual_net(network.spec.base)


def recurrence(network: DualNetwork, operation: str) -> Cost:
    """Return what the paper's recurrence gives, with what is counted on the base network."""
    base, levels = _base(network), len(network.levels)
    once, sizes = count(base, operation), sizes_of(base.num_nodes, levels)
    rule = {"scatter": _oap, "allgather": _aab, "exchange": _aap}[operation]

    def cost(level: int, words: int) -> Cost:
        return rule(sizes[level - 1], words, lambda m: cost(level - 1, m)) if level else once * words

    return cost(levels, 1)


def _oap(inner: int, m: int, cost: Callable[[int], Cost]) -> Cost:
    """Return T_oap(k, m), n_k = 2 n_(k-1)^2."""
    return Cost(1, (inner**2 - inner) * m) + cost(inner * m) + Cost(1, inner * m) + cost(m)


def _aab(inner: int, m: int, cost: Callable[[int], Cost]) -> Cost:
    """Return T_aab(k, m)."""
    return cost(m) + Cost(1, inner * m) + cost(inner * m) + Cost(1, inner**2 * m)


def _aap(inner: int, m: int, cost: Callable[[int], Cost]) -> Cost:
    """Return T_aap(k, m)."""
    return Cost(1, (inner**2 - 1) * m) + cost(2 * inner * m) + Cost(1, (2 * inner**2 - 1) * m) + cost(2 * inner * m)


def least_words(network: DualNetwork, operation: str) -> int:
    """Return the fewest words, all nodes being alike."""
    histogram = distance_histogram(network, 0)
    if operation == "exchange":
        return sum(hops * count for hops, count in enumerate(histogram))
    last = network.num_nodes - 1
    return max(len(histogram) - 1, last.bit_length()) if operation == "broadcast" else last
