"""What a collective operation costs: start-ups and words in the model t_s + m t_w, lower bounds, the papers' formulas.

A step in which a node sends m words takes ``t_s + m t_w``; an operation takes the sum over its steps of the most words
that a node (with all ports, a port) sends.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np

from hdnhw.collectives.executor import Integers, execute
from hdnhw.collectives.operations import operation_schedule
from hdnhw.networks.build import build
from hdnhw.spec import NetworkSpec, Product
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import distances_from, neighbor_table, num_edges, pair_histogram


@dataclass(frozen=True)
class Cost:
    """Start-ups and words.

    Examples
    --------
    >>> cost = Cost(8, 560)
    >>> str(cost), str(cost * 4), cost.time(100, 2.5)
    ('8 t_s + 560 t_w', '8 t_s + 2240 t_w', 2200.0)
    """

    startups: int
    words: int | Fraction

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.startups + other.startups, self.words + other.words)

    def __mul__(self, words: int | Fraction) -> "Cost":
        """Return the cost with messages of so many words in place of one."""
        return Cost(self.startups, self.words * words)

    def times(self, count: int) -> "Cost":
        """Return the cost of the same thing done so often."""
        return Cost(self.startups * count, self.words * count)

    def time(self, startup: float, word: float) -> float:
        """Return the time with these values of t_s and t_w."""
        return self.startups * startup + float(self.words) * word

    def __str__(self) -> str:
        return f"{self.startups} t_s + {self.words} t_w"


def block_words(vector_words: int, blocks: int) -> int:
    """Return the words of a block of a vector that is cut into so many, all of one size."""
    return -(-vector_words // blocks)


def lower_bound(network: Network, operation: str, *, root: int = 0, all_port: bool = False, words: int = 1) -> Cost:
    """Return a bound on start-ups, and one on words, of messages that are not split.

    Parameters
    ----------
    network : Network
    operation : str
        One of :data:`hdnhw.collectives.choices.COLLECTIVES`, or ``exchange``.
    root : int
        Of an operation that has one.
    all_port : bool
    words : int
        Of a message; of an all-reduce or scan, of the vector of each node, which may be split.

    Returns
    -------
    Cost
        One port: a total exchange, the sum of a node's distances, on average; a broadcast or reduce, the distance of
        the farthest node, or the times that the informed can double; the others, N - 1 words to send or to receive. All
        ports: the same words shared by the channels there are, of all nodes, of the root, or of the node that has the
        fewest. An all-reduce moves every word of the vector 2 (N - 1) times [1]_; to the last node of a scan there is
        at least one start-up for each hop from the farthest one, and the words of a vector come.

    References
    ----------
    .. [1] F. Harary and A. J. Schwenk, The communication problem on graphs and digraphs, J. Franklin Inst. 297 (1974):
       N nodes know what all know after 2 N - 2 messages in one direction, not before.
    """
    last = network.num_nodes - 1
    if operation in ("broadcast", "scatter", "gather", "reduce"):
        reach = int(distances_from(network, root).max())
        startups = reach if all_port else max(reach, last.bit_length())
        if operation in ("broadcast", "reduce"):
            return Cost(startups, startups) * words
        ports = len(network.neighbors(root)) if all_port else 1
        return Cost(startups, max(reach, ceil(last / ports))) * words
    if operation in ("scan", "exscan"):
        reach = int(distances_from(network, _last_of_scan(network)).max())
        startups = max(reach, last.bit_length())
        return Cost(startups, max(startups, words))
    histogram = pair_histogram(network)
    reach = len(histogram) - 1
    startups = reach if all_port else max(reach, last.bit_length())
    channels = 2 * num_edges(network)
    if operation == "allreduce":
        moved = Fraction(2 * last * words, channels if all_port else network.num_nodes)
        return Cost(startups, max(Fraction(startups), moved))
    if operation in ("allgather", "reducescatter"):
        ports = int((neighbor_table(network) >= 0).sum(axis=1).min()) if all_port else 1
        return Cost(startups, max(reach, ceil(Fraction(last, ports)))) * words
    total = sum(hops * pairs for hops, pairs in enumerate(histogram))
    return Cost(startups, Fraction(total, channels if all_port else network.num_nodes)) * words


def multicast_bound(network: Network, root: int, targets: Sequence[int], *, all_port: bool = False) -> Cost:
    """Return a bound on start-ups and words of a message of one word from a root to some nodes.

    The distance of the farthest, or the times that those who have it can double.
    """
    reach = int(distances_from(network, root)[list(targets)].max())
    informed = len({root, *targets})
    startups = reach if all_port else max(reach, (informed - 1).bit_length())
    return Cost(startups, startups)


def unequal_bound(network: Network, words: Integers, *, all_port: bool = False) -> Cost:
    """Return a bound on start-ups and words of a total exchange of unequal messages, which are not split.

    Parameters
    ----------
    network : Network
    words : ndarray of int64, shape (nodes, nodes)
        Of the message from each node to each; what is for the node itself does not count.
    all_port : bool

    Returns
    -------
    Cost
        Start-ups: the farthest distance of a message. Words: those of each message times its distance, shared by all
        nodes, or with all ports by all channels; and no less than any node has to send or to receive, over one port or
        all that it has.
    """
    sent = words - np.diag(np.diag(words))
    hops = np.stack([distances_from(network, node) for node in range(network.num_nodes)])
    ports = (neighbor_table(network) >= 0).sum(axis=1) if all_port else np.ones(network.num_nodes, np.int64)
    shared = Fraction(int((sent * hops).sum()), 2 * num_edges(network) if all_port else network.num_nodes)
    own = (Fraction(int(most), int(by)) for way in (0, 1) for most, by in zip(sent.sum(axis=way), ports, strict=True))
    return Cost(int((hops * (sent > 0)).max()), max(shared, *own))


def any_partner_bound(nodes: int, words: int) -> Cost:
    """Return the least of all-reduces in which a node sends one message at a time, to any other node at all.

    What a node knows of can double in a start-up; for the words see :func:`lower_bound`.

    Examples
    --------
    >>> str(any_partner_bound(128, 4096))
    '7 t_s + 8128 t_w'
    """
    startups = (nodes - 1).bit_length()
    return Cost(startups, max(Fraction(startups), Fraction(2 * (nodes - 1) * words, nodes)))


def _last_of_scan(network: Network) -> int:
    """Return the node with the highest digits."""
    return int(network.encode(tuple(radix - 1 for radix in network.radices)))


def paper_formula(network: Network, operation: str) -> Cost | None:
    """Return the papers' closed form as printed, or None where they give none.

    Of the base network's cost, T_0, the papers say that it is known: it is what the executor counts there.

    References
    ----------
    .. [1] HDN paper, Theorem 3 (total exchange); RDN paper, Theorems 3 to 5, and section VI for hypercubes. Some are
       too low or too high (docs/papers/errata.md, E4, E12).
    """
    if not isinstance(network, DualNetwork) or operation not in ("broadcast", "scatter", "allgather", "exchange"):
        return None
    levels, nodes = len(network.levels), network.num_nodes
    if not levels:
        cube = all(factor.is_edge for factor in network.factors)
        return _base_cost(network.spec, operation) if cube else None
    if operation != "exchange" and any(level.super_node_factors for level in network.levels):
        return None
    base = _base(network)
    once, size = _base_cost(base, operation), build(base).num_nodes
    crossings = 2 ** (levels + 1) - 2
    if operation == "exchange":
        return Cost(crossings, Fraction(crossings * nodes, 2)) + (once * Fraction(nodes, size)).times(2**levels)
    if operation == "broadcast":
        return Cost(crossings, crossings) + once.times(2**levels)
    ratio = Fraction(nodes, 2**levels * size)
    return Cost(crossings, nodes) + once * ratio + once * (ratio / size) + once.times(2**levels - 2)


def corrected_formula(network: Network, *, split: str = "sum") -> Cost | None:
    """Return ``(2^k - 1)(2 t_s + 3/2 n_k t_w) + 2^k T_0(n_k / n_0)``, Theorem 3 as Algorithm 2 is executed, or None.

    It is what is counted if the load is uniform: with the split ``sum``, or where super-nodes are single nodes
    (docs/papers/errata.md, E4). Elsewhere no formula is known.
    """
    if not isinstance(network, DualNetwork) or not network.levels:
        return None
    if split != "sum" and any(level.super_node_factors for level in network.levels):
        return None
    levels, nodes = len(network.levels), network.num_nodes
    base = _base(network)
    once = _base_cost(base, "exchange") * Fraction(nodes, build(base).num_nodes)
    return Cost(2, Fraction(3 * nodes, 2)).times(2**levels - 1) + once.times(2**levels)


def _base(network: DualNetwork) -> Product:
    text = ", ".join(str(factor) for factor in network.factors)
    return Product(network.factors, f"product({text})")


@lru_cache(maxsize=64)
def _base_cost(spec: NetworkSpec, operation: str) -> Cost:
    """Return what the executor counts on a base network, with one port and node 0 as the root."""
    counted = execute(operation_schedule(build(spec), operation))
    return Cost(counted.startups, counted.words)
