"""All-gather, reduce-scatter and all-reduce of long vectors: chunks that flow along spanning trees, all ports at once.

A block, what a node contributes to an all-gather, is cut into chunks, which are dealt out to the node's trees. In a
round a channel carries one chunk. A tree's chunks follow one another at a distance of as many rounds as there are trees
on the fullest channel, and each tree has a round of its own, modulo that, on every channel that it uses; so no two
chunks ever meet, and the fullest channel never rests in between. A reduce-scatter is the same backwards: over the
reversed channels, rounds in reversed order, and where trees branch partial results are combined. An all-reduce is a
reduce-scatter, then an all-gather.

The executor knows nothing of trees. It is given who sends what in which round over which port, moves it, and fails if
that cannot be or does not bring about what the operation means.
"""

import ctypes
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.executor import ScheduleError
from hdnhw.core import Function, Number, Pointer, array_of, place_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Network
from hdnhw.topology.packing import Packing

OPERATIONS = ("allgather", "reducescatter", "allreduce")

MOST_NODES = 512
"""Of a network."""

MOST_MOVES = 1 << 28
"""Words of a block, times its hops and the blocks: half a minute."""

FINE, NO_PORT, TAKEN, NOT_HELD, TWICE, LOST = range(6)
FAULTS = {
    NO_PORT: "sends over a port that it does not have",
    TAKEN: "sends two chunks over one port",
    NOT_HELD: "has to send a chunk that it does not hold",
    TWICE: "gets what it has",
    LOST: "lacks something in the end",
}

Integers = npt.NDArray[np.int64]

_LONG = array_of(np.int64)
_start = Function("pipeline_start", _LONG, _LONG, Number, _LONG, Number, Number, _LONG)
_copy, _combine = (Function(f"pipeline_{name}", Pointer, _LONG, result=Number) for name in ("copy", "combine"))


class _Sends(ctypes.Structure):
    """What the core is told of :class:`Sends`, see ``hdnhw/core/src/schedules.cpp``."""

    _fields_ = (
        *((name, Number) for name in ("nodes", "ports", "trees", "sends", "step", "total")),
        *((name, Pointer) for name in ("behind", "senders", "ports_of", "rounds", "chunks", "taken")),
    )


@dataclass(frozen=True, eq=False)
class Pipeline:
    """Chunks on their way along trees.

    Attributes
    ----------
    packing : Packing
    starts : ndarray of int64, shape (trees, nodes, nodes)
        ``starts[tree, source, node]`` is the round in which a node gets a tree's first chunk; -1 at the source.
    words : int
        Words of a block; a chunk is a word.
    """

    packing: Packing
    starts: Integers
    words: int

    @property
    def chunks(self) -> Integers:
        """Chunks of each tree."""
        trees = self.packing.trees
        return (self.words + trees - 1 - np.arange(trees)) // trees

    @property
    def rounds(self) -> int:
        """Rounds of an all-gather, or of a reduce-scatter."""
        last = self.starts.max(axis=(1, 2)) + (self.chunks - 1) * self.packing.load
        return int(last[self.chunks > 0].max()) + 1


@dataclass(frozen=True, eq=False)
class Sends:
    """What is sent of each block along each tree, in an order in which rounds never go back.

    Attributes
    ----------
    combines : bool
        Whether partial results are given away and combined, as in a reduce-scatter; else chunks are copied.
    senders, ports, rounds : ndarray of int64, shape (trees, blocks, sends)
        Who sends a tree's first chunk, over which port, in which round.
    chunks : ndarray of int64, shape (trees,)
        Chunks of each tree.
    step : int
        Rounds from a chunk to the next; negative if the first chunk goes last.
    total : int
        Number of rounds.
    """

    combines: bool
    senders: Integers
    ports: Integers
    rounds: Integers
    chunks: Integers
    step: int
    total: int


def check_long(network: Network, operation: str, words: int) -> None:
    """Raise SpecError if an operation, or a block of so many words on a network, is not for pipelines."""
    if operation not in OPERATIONS:
        raise SpecError(f"trees are for {', '.join(OPERATIONS)}, not for {operation}")
    nodes = network.num_nodes
    if not 2 <= nodes <= MOST_NODES:
        raise SpecError(f"trees are packed for 2 to {MOST_NODES} nodes; {network.spec} has {nodes}")
    if words * nodes**2 > MOST_MOVES:
        most = MOST_MOVES // nodes**2
        raise SpecError(f"a block must have at most {most} words on {nodes} nodes, as each is moved; not {words}")


def make_pipeline(packing: Packing, words: int) -> Pipeline:
    """Give each hop of each tree a round: each channel takes the chunk for which most nodes wait.

    Parameters
    ----------
    packing : Packing
    words : int
        Words of a block, at least one.

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> from hdnhw.topology.packing import shortest_packing
    >>> packing = shortest_packing(neighbor_table(build("rdn(cube(3), 1)")))
    >>> make_pipeline(packing, 4).rounds, make_pipeline(packing, 40).rounds, packing.time * 4
    (127, 1270, Fraction(127, 1))
    """
    (nodes, ports), shape = packing.table.shape, packing.ports.shape
    depths, node = packing.depths, np.arange(nodes)
    above = np.where(packing.ports < 0, node, packing.table[node, packing.ports])
    above = (np.arange(packing.trees)[:, None, None] * nodes + node[:, None]) * nodes + above
    hops = np.flatnonzero(depths)
    channel = np.broadcast_to(node * ports, shape).ravel()[hops] + packing.ports.ravel()[hops]
    order = np.lexsort((-_waiting(depths.ravel(), above.ravel())[hops], channel))
    first = np.searchsorted(channel[order], np.arange(nodes * ports + 1)).astype(np.int64)
    later = np.iinfo(np.int64).max
    starts = np.where(depths.ravel() > 0, later, -1)
    _start(hops[order], first, len(first) - 1, above.ravel(), packing.load, later, starts)
    return Pipeline(packing, starts.reshape(shape), words)


def _waiting(depths: Integers, above: Integers) -> Integers:
    """Return how many nodes hear of a source through each node, itself too."""
    waiting = np.ones(len(depths), np.int64)
    for depth in range(int(depths.max()), 0, -1):
        hops = np.flatnonzero(depths == depth)
        np.add.at(waiting, above[hops], waiting[hops])
    return waiting


def sends_of(pipeline: Pipeline, *, combines: bool) -> Sends:
    """Return what a pipeline sends: copies of blocks, or backwards, partial results."""
    packing, total = pipeline.packing, pipeline.rounds
    table, load = packing.table, packing.load
    rounds = total - 1 - pipeline.starts if combines else pipeline.starts
    keys = np.where(packing.ports < 0, np.iinfo(np.int64).max, rounds)
    nodes = np.argsort(keys, axis=2, kind="stable")[:, :, :-1]
    ports = np.take_along_axis(packing.ports, nodes, axis=2).astype(np.int64)
    senders = nodes
    if not combines:
        senders = table[nodes, ports].astype(np.int64)
        ports = (table[senders] == nodes[..., None]).argmax(axis=3)
    own = np.take_along_axis(rounds, nodes, axis=2)
    chunks, step = pipeline.chunks, -load if combines else load
    senders, ports, own = (np.ascontiguousarray(values) for values in (senders, ports, own))
    return Sends(combines, senders, ports, own, chunks, step, total)


def execute_pipeline(table: npt.NDArray[np.int32], sends: Sends) -> int:
    """Move all chunks and return the number of rounds.

    Raises
    ------
    ScheduleError
        If a node has to send what it does not hold when a round begins, over a port that it lacks or that carries
        another chunk in that round; if it gets a chunk twice; or if in the end a node lacks a chunk, or the
        contribution of a node to its block.
    """
    taken = np.zeros((*table.shape, sends.total), np.bool_)
    arrays = table, sends.senders, sends.ports, sends.rounds, sends.chunks, taken
    trees, _, each = sends.senders.shape
    told = _Sends(*table.shape, trees, each, sends.step, sends.total, *map(place_of, arrays))
    said = np.zeros(2, np.int64)
    fault = (_combine if sends.combines else _copy)(ctypes.byref(told), said)
    if fault:
        now, node = said.tolist()
        raise ScheduleError(f"round {now}: node {node} {FAULTS[fault]}")
    return int(np.flatnonzero(taken.any(axis=(0, 1)))[-1]) + 1


def run_pipeline(pipeline: Pipeline, operation: str) -> tuple[int, Fraction]:
    """Execute an operation of long vectors.

    Parameters
    ----------
    pipeline : Pipeline
    operation : str
        One of :data:`OPERATIONS`.

    Returns
    -------
    rounds : int
        That it takes.
    at_best : Fraction
        Rounds along the pipeline's trees if none were lost at the beginning and the end: words times
        :attr:`hdnhw.topology.packing.Packing.time`, for an all-reduce twice.
    """
    parts = {"allgather": (False,), "reducescatter": (True,), "allreduce": (True, False)}[operation]
    table = pipeline.packing.table
    rounds = sum(execute_pipeline(table, sends_of(pipeline, combines=combines)) for combines in parts)
    return rounds, pipeline.words * pipeline.packing.time * len(parts)
