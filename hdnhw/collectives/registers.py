"""Schedules in registers: a few words per node, of which some are sent in a step, and combined with what comes.

For what every node gets of all contributions at once (all-reduce of a short vector, scan, barrier) a message has no
name: what a node sends in a step is a sum already. Such a schedule says for each step which registers a node sends
over which port, and how its registers change then. All nodes go through the same steps; conditions are arithmetic on
the own digits (:mod:`hdnhw.circuits.circuit`), so a node needs no table.

A register holds a vector of as many words as the contribution of a node; before it is written, the identity.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.collectives.executor import Execution, ScheduleError, check_one_port, check_size
from hdnhw.collectives.operators import Operator
from hdnhw.collectives.schedule import Send
from hdnhw.rules.arrays import ARRAY_OPERATIONS
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table

OWN, RESULT = "own", "result"
"""Registers: a node's contribution at the beginning, and what it has in the end."""

Array = npt.NDArray[Any]


def received(register: str) -> str:
    """Return the name of what has come of a neighbor's register: the identity of the operator if nothing has."""
    return f"in.{register}"


@dataclass(frozen=True)
class Update:
    """A register gets what others together give, in their order; it stays where the condition is 0.

    Attributes
    ----------
    register : str
    terms : tuple of str
        Registers, or what is :func:`received`; of none, the identity of the operator.
    when : Term
        With inputs ``own0``, ...: the digits of the node.
    """

    register: str
    terms: tuple[str, ...]
    when: Term


@dataclass(frozen=True)
class RegisterStep:
    """One start-up.

    Attributes
    ----------
    stage : str
        As of :class:`hdnhw.collectives.schedule.Step`.
    sends : tuple of Send
        Of distinct ports; a node sends over one.
    registers : tuple of str
        What is sent.
    updates : tuple of Update
        One after the other, when all has come.
    """

    stage: str
    sends: tuple[Send, ...]
    registers: tuple[str, ...]
    updates: tuple[Update, ...]


@dataclass(frozen=True, eq=False)
class RegisterSchedule:
    """An operation of all nodes.

    Attributes
    ----------
    network : Network
    name : str
        ``allreduce``, ``scan`` or ``exscan``.
    circuit : Circuit
        Of all conditions.
    start : tuple of Update
        Before the first step.
    steps : tuple of RegisterStep
    """

    network: Network
    name: str
    circuit: Circuit
    start: tuple[Update, ...]
    steps: tuple[RegisterStep, ...]
    root: None = None

    @property
    def registers(self) -> tuple[str, ...]:
        """The names of all registers, in the order in which they are first written."""
        every = [*self.start, *(update for step in self.steps for update in step.updates)]
        return tuple(dict.fromkeys([OWN, *(update.register for update in every)]))


def run_registers(schedule: RegisterSchedule, operator: Operator, contributions: Array) -> tuple[Array, Execution]:
    """Move the words of a schedule.

    Parameters
    ----------
    schedule : RegisterSchedule
    operator : Operator
    contributions : ndarray, shape (nodes, words)

    Returns
    -------
    results : ndarray, shape (nodes, words)
    Execution
        Of contributions of one word.

    Raises
    ------
    SpecError
        If the network is too large.
    ScheduleError
        If a node sends over a port that it lacks, or sends or receives over two in a step.
    """
    check_size(schedule.network)
    nodes, machine = len(contributions), _Machine(schedule, operator, contributions)
    machine.update(schedule.start)
    sent = np.zeros((len(schedule.steps), nodes, len(schedule.network.ports)), np.int64)
    for number, step in enumerate(schedule.steps):
        machine.exchange(number, step, sent[number])
        machine.update(step.updates)
    check_one_port(f"{schedule.name} on {schedule.network.spec}", sent, machine.neighbors)
    return machine.values[RESULT], Execution(sent, machine.neighbors, nodes, 0, all_port=False)


class _Machine:
    """The registers of all nodes."""

    def __init__(self, schedule: RegisterSchedule, operator: Operator, contributions: Array) -> None:
        self._schedule, self._operator, self._shape = schedule, operator, contributions.shape
        digits = schedule.network.decode(np.arange(len(contributions), dtype=np.int64))
        self._digits = {f"own{place}": digit for place, digit in enumerate(digits)}
        self._known: dict[int, Array] = {}
        self.neighbors = neighbor_table(schedule.network)
        self.values: dict[str, Array] = {OWN: contributions}

    def update(self, updates: Sequence[Update]) -> None:
        """Change registers, one after the other."""
        for update in updates:
            value = self._operator.identity
            for place, term in enumerate(update.terms):
                value = self._value(term) if place == 0 else self._operator.combine(value, self._value(term))
            before = self._value(update.register)
            chosen = np.where(self._is(update.when)[:, None], value, before)
            self.values[update.register] = np.broadcast_to(chosen, self._shape)

    def exchange(self, number: int, step: RegisterStep, sent: Array) -> None:
        """Send registers; `sent` gets the words of each node and port."""
        came = {register: np.full(self._shape, self._operator.identity) for register in step.registers}
        for send in step.sends:
            nodes = np.flatnonzero(self._is(send.when))
            others = self.neighbors[nodes, send.port]
            if (others < 0).any():
                where = f"step {number} of {self._schedule.name} on {self._schedule.network.spec}"
                raise ScheduleError(f"{where}: node {nodes[np.argmin(others)]} sends over a port that it does not have")
            for register, values in came.items():
                values[others] = self._value(register)[nodes]
            sent[nodes, send.port] = len(step.registers)
        self.values |= {received(register): values for register, values in came.items()}

    def _value(self, register: str) -> Array:
        """Return a register of all nodes."""
        known = self.values.get(register)
        return np.full(self._shape, self._operator.identity) if known is None else known

    def _is(self, when: Term) -> Array:
        if when.index not in self._known:
            (value,) = self._schedule.circuit.run([when], self._digits.__getitem__, ARRAY_OPERATIONS)
            self._known[when.index] = np.broadcast_to(np.asarray(value, bool), self._shape[:1])
        return self._known[when.index]
