"""All-reduce as MPI libraries do it on any network: messages between nodes by number, routed over what lies between.

The ring: the vector has a block for each node. In N - 1 steps node n sends a partial block to node n + 1 modulo N,
which adds its own; then every node has one block of the result, and in N - 1 more steps these go round [1]_. Recursive
doubling: in step i node n and node n XOR 2^i exchange all that they have added up, whole vectors [2]_.

References
----------
.. [1] P. Patarasuk and X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel and
       Distributed Computing 69 (2009).
.. [2] R. Thakur, R. Rabenseifner and W. Gropp, Optimization of collective communication operations in MPICH, Int. J.
       High Performance Computing Applications 19 (2005).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.combining import SEED, count_wrong
from hdnhw.collectives.cost import Cost, block_words
from hdnhw.collectives.executor import check_size
from hdnhw.collectives.operators import Operator
from hdnhw.support.errors import SpecError
from hdnhw.support.progress import Progress
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import partner_distances

MOST_VALUES = 1 << 24
"""Words of all nodes that are moved at once: of longer vectors, some blocks."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Baseline:
    """An algorithm that knows nodes by their numbers alone.

    Attributes
    ----------
    name : str
        One of :data:`hdnhw.collectives.choices.BASELINES`.
    nodes : int
    blocks : int
        Of a vector. In step t node n sends block n - t modulo their number.
    partners : tuple of ndarray of int64, shape (nodes,)
        To which each node sends, no two to one: the first in `repeats` steps, then the next.
    repeats : int
    combining : int
        Steps in which what comes is combined with the own block; in those that follow it takes its place.
    """

    name: str
    nodes: int
    blocks: int
    partners: tuple[Integers, ...]
    repeats: int
    combining: int

    @property
    def startups(self) -> int:
        """Steps in which every node sends a block."""
        return len(self.partners) * self.repeats

    def words(self, vector_words: int) -> int:
        """Return the words of a block: all are of one size."""
        return block_words(vector_words, self.blocks)

    def cost(self, vector_words: int) -> Cost:
        """Return start-ups and words, for a network in which all are neighbors."""
        return Cost(self.startups, self.startups) * self.words(vector_words)


def baseline_of(name: str, network: Network) -> Baseline:
    """Return an algorithm by its name.

    Raises
    ------
    SpecError
        If the network is too large, or has nodes of which doubling has no partner.
    """
    check_size(network)
    nodes = network.num_nodes
    own = np.arange(nodes, dtype=np.int64)
    if name == "ring":
        return Baseline(name, nodes, nodes, ((own + 1) % nodes,), 2 * (nodes - 1), nodes - 1)
    if nodes & (nodes - 1):
        raise SpecError(f"doubling is for a power of two of nodes; {network.spec} has {nodes}")
    bits = range(nodes.bit_length() - 1)
    return Baseline(name, nodes, 1, tuple(own ^ (1 << bit) for bit in bits), 1, len(bits))


@dataclass(frozen=True)
class Sample:
    """What came out.

    Attributes
    ----------
    blocks : int
        That were moved, of :attr:`Baseline.blocks`: all, or some, evenly spread.
    wrong : int
        As of :class:`hdnhw.collectives.combining.Combined`.
    nodes_agree : bool
    """

    blocks: int
    wrong: int
    nodes_agree: bool


def run_baseline(
    baseline: Baseline,
    operator: Operator,
    *,
    words: int = 1,
    progress: Progress = lambda *_: None,
) -> Sample:
    """Run an algorithm on random words.

    Parameters
    ----------
    baseline : Baseline
    operator : Operator
    words : int
        Of a block.
    progress : callable
        Is told a stage and the share of the steps that is done.
    """
    nodes = baseline.nodes
    count = min(baseline.blocks, max(1, MOST_VALUES // (nodes * words)))
    blocks = np.arange(count) * baseline.blocks // count
    place = np.full(baseline.blocks, -1)
    place[blocks] = np.arange(count)
    given = operator.random(np.random.default_rng(SEED), (nodes, count, words))
    held = given.copy()
    for number in range(baseline.startups):
        sent = place[(np.arange(nodes) - number) % baseline.blocks]
        senders = np.flatnonzero(sent >= 0)
        receivers, places = baseline.partners[number // baseline.repeats][senders], sent[senders]
        come = held[senders, places]
        if number < baseline.combining:
            come = operator.combine(held[receivers, places], come)
        held[receivers, places] = come
        progress("steps", (number + 1) / baseline.startups)
    given, held = given.reshape(nodes, -1), held.reshape(nodes, -1)
    right = np.broadcast_to(operator.combine_all(given), held.shape)
    return Sample(count, count_wrong(operator, held, right, given), bool((held == held[0]).all()))


def farthest_hops(network: Network, baseline: Baseline, progress: Progress = lambda *_: None) -> list[int]:
    """Return how far a message has to go at most, in the steps of each of the partners."""
    nodes = network.num_nodes
    found = partner_distances(network, baseline.partners, lambda done: progress("distances", done / nodes))
    return [int(distances.max()) for distances in found]
