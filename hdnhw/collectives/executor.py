"""The executor: moves the messages of a schedule and counts what every node sends in every step.

Every message is moved, one source's at a time, from its source through all steps. That a message moves depends on
nothing but its own two addresses and the node that it is at, so the order of sources does not matter; and only counters
are kept of all sources: one a send and node.
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.compiled import Conditions
from hdnhw.collectives.schedule import Schedule
from hdnhw.core import Function, Number, Pointer, array_of, place_of
from hdnhw.support.errors import SpecError
from hdnhw.support.progress import Progress
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table

MOST_NODES = 1 << 15
"""Of an operation of all nodes: 2^30 messages."""

FINE, NO_PORT, TWO_PORTS, NOT_HELD, ELSEWHERE, LOST = range(6)
FAULTS = {
    NO_PORT: "sends over a port that it does not have",
    TWO_PORTS: "sends one message over two ports",
    NOT_HELD: "has to send a message that it does not hold",
    ELSEWHERE: "holds a message in the end that is for another node, or lacks one",
    LOST: "gets a contribution for a result that it has given away",
}

Integers = npt.NDArray[np.int64]

_LONG = array_of(np.int64)
_hand_on = Function("schedule_hand_on", Pointer, Number, _LONG, _LONG, Number, _LONG, result=Number)
_copy = Function("schedule_copy", Pointer, Number, _LONG, result=Number)
_combine = Function("schedule_combine", Pointer, Number, _LONG, _LONG, result=Number)


class ScheduleError(ValueError):
    """A schedule that breaks the rules of its model, or does not bring every message to where it belongs."""


@dataclass(frozen=True, eq=False)
class Execution:
    """What was counted.

    Attributes
    ----------
    sent : ndarray of int64, shape (steps, nodes, ports)
        Messages that each node sends over each of its ports in each step.
    neighbors : ndarray of int32, shape (nodes, ports)
        Node behind each port, -1 where there is none.
    messages : int
        Messages moved, the own ones included; of a broadcast or all-gather, copies that came to be.
    repeats : int
        Copies sent to nodes that had one.
    all_port : bool
        Whether nodes may use all ports in a step.
    """

    sent: Integers
    neighbors: npt.NDArray[np.int32]
    messages: int
    repeats: int
    all_port: bool

    @property
    def startups(self) -> int:
        """Steps of the schedule."""
        return len(self.sent)

    @property
    def nonempty_startups(self) -> int:
        """Steps in which something is sent."""
        return sum(words > 0 for words in self.words_per_step)

    @property
    def words_per_step(self) -> tuple[int, ...]:
        """Most messages that any node, or with all ports any port, sends in each step; a message is a word."""
        most = self.sent.max(axis=(1, 2), initial=0) if self.all_port else self.sent.sum(axis=2).max(axis=1, initial=0)
        return tuple(int(words) for words in most)

    @property
    def words(self) -> int:
        """Sum of these."""
        return sum(self.words_per_step)

    @property
    def total_words(self) -> int:
        """Messages times the channels that each crosses."""
        return int(self.sent.sum())

    @property
    def links_used(self) -> int:
        """Edges over which something is sent, in either direction."""
        node, port = np.nonzero(self.sent.any(axis=0))
        other = self.neighbors[node, port]
        return len(np.unique(np.minimum(node, other) * len(self.neighbors) + np.maximum(node, other)))

    @property
    def links(self) -> int:
        """Edges of the network."""
        return int((self.neighbors >= 0).sum()) // 2


class _Moves(ctypes.Structure):
    """What the core is told of a schedule, see ``hdnhw/core/src/schedules.cpp``."""

    _fields_ = (
        *((name, Number) for name in ("nodes", "ports", "steps", "programs")),
        *((name, Pointer) for name in ("program", "gates", "port_of", "address", "behind", "counts")),
    )


def check_size(network: Network) -> None:
    """Raise SpecError if a network is too large."""
    if not 2 <= network.num_nodes <= MOST_NODES:
        raise SpecError(
            f"a collective operation is among 2 to {MOST_NODES} nodes; {network.spec} has {network.num_nodes}"
        )


def execute(
    schedule: Schedule,
    *,
    all_port: bool = False,
    sources: Sequence[int] | None = None,
    words: Integers | None = None,
    targets: Sequence[int] | None = None,
    observe: Callable[[int, Integers], None] = lambda *_: None,
    progress: Progress = lambda *_: None,
) -> Execution:
    """Move the messages of a schedule.

    Parameters
    ----------
    schedule : Schedule
    all_port : bool
        Whether a node may use all its ports in a step; otherwise it sends over one at most and receives over one.
    sources : sequence of int, optional
        The sources whose messages are moved, or the nodes whose results are combined, distinct; all of the schedule by
        default. Of a sample, what a node sends is but a part; the sum over the nodes is that of these sources.
    words : ndarray of int64, shape (nodes, nodes), optional
        Of the message from each source to each destination, if it is handed on and they are not all of one word; there
        is no message of none.
    targets : sequence of int, optional
        The destinations of a root's messages, distinct; all nodes by default.
    observe : callable
        Is told each node whose results have been combined and, in their order, the (step, node, neighbor) at which
        a node has given its part away, as an array that is used again.
    progress : callable
        Is told a stage and the share of the sources whose messages have been moved.

    Raises
    ------
    SpecError
        If the network is too large.
    ScheduleError
        If a node has to send what it does not hold or over a port that it lacks, uses more ports than it may, or does
        not end with exactly its messages: one from every source, whose identity the executor keeps.
    """
    network = schedule.network
    nodes = network.num_nodes
    check_size(network)
    sizes = np.array([0, *(len(step.sends) for step in schedule.steps)], np.int64).cumsum()
    ports = np.array([send.port for step in schedule.steps for send in step.sends], np.int64)
    address = AddressLayout(network).of_nodes.astype(np.int32)
    table, counts, repeats = neighbor_table(network), np.zeros((len(ports), nodes), np.int64), 0
    conditions, moved = Conditions(schedule), np.zeros((nodes - 1, 3), np.int64)
    arrays = conditions.programs, conditions.gates, ports, address, table, counts
    moves = _Moves(*table.shape, len(schedule.steps), len(conditions.programs), *map(place_of, arrays))
    move = _mover(schedule, ctypes.byref(moves), moved, words, targets)
    if sources is None:
        sources = sources_of(schedule)
    for done, source in enumerate(sources, start=1):
        conditions.let_source_be(0 if schedule.combines else address[source])
        said = np.zeros(3, np.int64)
        if fault := move(source, said):
            step, node, _ = said.tolist()
            raise ScheduleError(f"step {step} of {schedule.name} on {network.spec}: node {node} {FAULTS[fault]}")
        repeats += int(said[2])
        if schedule.combines:
            observe(source, moved)
        progress("sources", done / len(sources))
    if schedule.merges:
        counts = np.minimum(counts, 1)
    sent = np.zeros((len(schedule.steps), nodes, len(network.ports)), np.int64)
    for number, port in enumerate(ports):
        sent[np.searchsorted(sizes, number, side="right") - 1, :, port] = counts[number]
    if not all_port:
        check_one_port(f"{schedule.name} on {network.spec}", sent, table)
    return Execution(sent, table, _messages(schedule, sources, words, targets), repeats, all_port)


def _messages(schedule: Schedule, sources: Sequence[int], words: Integers | None, targets: Sequence[int] | None) -> int:
    if words is not None:
        return int((words[list(sources)] > 0).sum())
    if targets is not None:
        return len(targets)
    return len(sources) * (1 if schedule.to_root and not schedule.combines else schedule.network.num_nodes)


def sources_of(schedule: Schedule) -> Sequence[int]:
    """Return the sources of the messages; of a schedule that combines them, the nodes that get results."""
    if schedule.root is None or (schedule.to_root and not schedule.combines):
        return range(schedule.network.num_nodes)
    return [schedule.root]


def _mover(
    schedule: Schedule, moves: Any, moved: Integers, words: Integers | None, targets: Sequence[int] | None
) -> Callable[[int, Integers], int]:
    """Return what moves the messages of one source, or combines those for one node and lists that in `moved`.

    It returns a fault, or :data:`FINE`, and fills an array with its step and node, and with the repeats.
    """
    if schedule.combines:
        return lambda target, said: int(_combine(moves, target, moved, said))
    if schedule.copies:
        return lambda source, said: int(_copy(moves, source, said))
    if targets is None:
        targets = [schedule.root] if schedule.to_root and schedule.root is not None else range(len(moved) + 1)
    listed = np.array(targets, np.int64)

    def move(source: int, said: Integers) -> int:
        of_each = np.ones(len(listed), np.int64) if words is None else words[source, listed]
        some = of_each > 0
        return int(_hand_on(moves, source, listed[some], of_each[some], int(some.sum()), said))

    return move


def check_one_port(what: str, sent: Integers, neighbors: npt.NDArray[np.int32]) -> None:
    """Raise ScheduleError if a node sends or receives over two ports in a step; `what` is done where."""
    for number, used in enumerate(sent > 0):
        received = np.bincount(neighbors[used], minlength=len(neighbors))
        for way, count in (("sends", used.sum(axis=1)), ("receives", received)):
            if count.max(initial=0) > 1:
                raise ScheduleError(
                    f"step {number} of {what}: node {int(count.argmax())} {way} over {int(count.max())} ports"
                )
