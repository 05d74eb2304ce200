"""Programs: the collective operations that one engine can run, their sends in one numbering, and the memory they take.

An engine (:mod:`hdnhw.rtl.collective`) knows a schedule as the circuits of its conditions and a few constants a send.
It holds messages in buffers; how many it needs is counted here, by moving the messages.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hdnhw.collective.barrier import barrier_rounds
from hdnhw.collective.cost import Cost
from hdnhw.collective.executor import Execution, execute
from hdnhw.collective.operations import operation_phases
from hdnhw.collective.schedule import Schedule
from hdnhw.routing.circuit import Term
from hdnhw.spec import BARRIER, CollectiveSpec, SpecError
from hdnhw.topology.network import Network

__all__ = ["NumberedSend", "Program", "make_program", "messages_of"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class NumberedSend:
    """A send of a program.

    Attributes
    ----------
    operation : int
        Index of the operation that it belongs to.
    step : int
        Step of the program: those of all operations, one after the other.
    port : int
        Index of the network port.
    schedule : Schedule
        The operation's, or that of a phase of it.
    when : Term
        See :class:`hdnhw.collective.schedule.Send`.
    """

    operation: int
    step: int
    port: int
    schedule: Schedule
    when: Term


@dataclass(frozen=True, eq=False)
class Program:
    """Schedules of one network for one port a step.

    Attributes
    ----------
    network : Network
    schedules : dict of str to tuple of Schedule
        By the name of the operation, those of its phases, which the executor has run.
    executions : dict of str to tuple of Execution
        What the executor counted.
    rounds : int
        Of the barrier, see :mod:`hdnhw.collective.barrier`; 0 if there is none.
    """

    network: Network
    schedules: Mapping[str, tuple[Schedule, ...]]
    executions: Mapping[str, tuple[Execution, ...]]
    rounds: int = 0

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of the operations in the order of their indices: those that have a schedule, then the barrier."""
        return (*self.schedules, *[BARRIER] * bool(self.rounds))

    @cached_property
    def sends(self) -> tuple[NumberedSend, ...]:
        """The sends of all steps of all operations; their places here are their numbers."""
        result, step = [], 0
        for operation, phases in enumerate(self.schedules.values()):
            for schedule in phases:
                for one in schedule.steps:
                    result += [NumberedSend(operation, step, send.port, schedule, send.when) for send in one.sends]
                    step += 1
        return tuple(result)

    def numbers_of(self, operation: int) -> range:
        """Return the numbers of the sends of an operation, by its index."""
        return _span(send.operation == operation for send in self.sends)

    def numbers_of_step(self, step: int) -> range:
        """Return the numbers of the sends of a step."""
        return _span(send.step == step for send in self.sends)

    @property
    def reads_target(self) -> bool:
        """Whether some condition depends on a message's destination."""
        return any("dst" in schedule.reads for schedule in self.phases)

    @property
    def combines(self) -> bool:
        """Whether messages are combined in some operation."""
        return any(schedule.combines for schedule in self.phases)

    @property
    def phases(self) -> list[Schedule]:
        """The schedules of all operations in their order."""
        return [schedule for phases in self.schedules.values() for schedule in phases]

    def root_of(self, operation: str) -> int | None:
        """Return the only source or destination of an operation, None if every node is one."""
        return self.schedules[operation][0].root

    def source_of(self, operation: str) -> int | None:
        """Return the only node with messages of its own in an operation, None if every node has some."""
        first = self.schedules[operation][0]
        return None if first.to_root else first.root

    def sent_in(self, operation: str) -> Integers:
        """Return :attr:`Execution.sent` of an operation, the steps of its phases one after the other."""
        return np.concatenate([execution.sent for execution in self.executions[operation]])

    def cost_of(self, operation: str) -> Cost:
        """Return the start-ups and words of an operation; a message is a word."""
        costs = [Cost(execution.startups, execution.words) for execution in self.executions[operation]]
        return sum(costs[1:], costs[0])

    @cached_property
    def ports(self) -> tuple[int, ...]:
        """The ports over which something is sent, ascending."""
        return tuple(sorted({send.port for send in self.sends}))

    def is_paired(self, port: int) -> bool:
        """Whether the node that receives by a port is the one that sends by it, as over an edge of two nodes."""
        return self.network.ports[port].opposite == port

    def buffers(self, window: int) -> int:
        """Return the message buffers that a node needs at most.

        Parameters
        ----------
        window : int
            Messages that a neighbor may send over a port before it knows that the node has begun the step.

        Notes
        -----
        Two nodes that send to each other do so in place: either has at most what it holds before or after the step.
        Where a node receives from another than it sends to, nothing says which is faster: it must hold what it has
        before the step and all that it gets in it. What is combined needs no buffer but the one that it comes into.
        """
        return max(map(self._held, self.schedules)) + window * len(self.ports)

    def _held(self, operation: str) -> int:
        """Return the most messages that a node holds while an operation runs."""
        held = self._first_messages(operation)
        most = held.max()
        for schedule, execution in zip(self.schedules[operation], self.executions[operation], strict=True):
            for sent in execution.sent:
                held, meanwhile = self._step(schedule, execution, sent, held)
                most = max(most, meanwhile.max(), held.max())
        return int(most)

    def _step(
        self, schedule: Schedule, execution: Execution, sent: Integers, held: Integers
    ) -> tuple[Integers, Integers]:
        """Return how many messages each node holds after a step, and how many in it."""
        leaves = np.zeros_like(held) if schedule.copies else sent.sum(axis=1)
        if schedule.combines:
            return held - leaves, held
        before, paired = held, np.ones(len(held), bool)
        for port in np.flatnonzero(sent.any(axis=0)):
            arrivals = np.zeros_like(held)
            nodes = np.flatnonzero(sent[:, port])
            np.add.at(arrivals, execution.neighbors[nodes, port], sent[nodes, port])
            held = held + arrivals
            if not self.is_paired(int(port)):
                paired &= arrivals == 0
        return held - leaves, np.where(paired, before, held)

    def _first_messages(self, operation: str) -> Integers:
        """Return how many messages each node has before the first step."""
        nodes, source = self.network.num_nodes, self.source_of(operation)
        held = np.full(nodes, messages_of(operation, nodes), np.int64)
        if source is not None:
            held[np.arange(nodes) != source] = 0
        return held


def _span(chosen: Iterable[bool]) -> range:
    """Return the places of what is chosen, which stands together."""
    places = [place for place, is_chosen in enumerate(chosen) if is_chosen]
    return range(places[0], places[-1] + 1)


def messages_of(operation: str, nodes: int) -> int:
    """Return how many messages a node, or the only source, has of its own: one for each node, or one."""
    return nodes if operation in ("scatter", "exchange", "reducescatter", "allreduce") else 1


def make_program(network: Network, spec: CollectiveSpec) -> Program:
    """Make the schedules that a spec names and move their messages.

    Raises
    ------
    SpecError
        If the network is too large, or has no node of the root's number.
    """
    if not spec.root < network.num_nodes:
        raise SpecError(f"root must be 0 to {network.num_nodes - 1} on {network.spec}, not {spec.root}")
    schedules = {
        operation: operation_phases(network, operation, root=spec.root, order=spec.order)
        for operation in spec.operations
        if operation != BARRIER
    }
    executions = {name: tuple(map(execute, phases)) for name, phases in schedules.items()}
    return Program(network, schedules, executions, barrier_rounds(network) if BARRIER in spec.operations else 0)
