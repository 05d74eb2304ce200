"""Programs: the collective operations that one engine can run, their sends in one numbering, and the memory they take.

An engine (:mod:`hdnhw.endpoints.collective`) knows a schedule as the circuits of its conditions and a few constants a
send. It holds messages in buffers; how many it needs is counted here, by moving the messages.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hdnhw.circuits.circuit import Term
from hdnhw.collectives.barrier import barrier_rounds
from hdnhw.collectives.cost import Cost
from hdnhw.collectives.executor import Execution, execute
from hdnhw.collectives.lead import Pairs, check_lead
from hdnhw.collectives.operations import operation_phases
from hdnhw.collectives.schedule import Schedule
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.spec import BARRIER, JOIN, MULTICAST
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table

Integers = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Link:
    """By what a node sends: a port; or, where the nodes of a step exchange in pairs, the port to its partner.

    Attributes
    ----------
    name : str
        The port's; of pairs ``pairs0``, ``pairs1`` and so on.
    back : str
        That by which a node reaches the one that sends to it.
    ports : tuple of int
        Of the network: one; of pairs those of which each node has one to its partner.
    """

    name: str
    back: str
    ports: tuple[int, ...] = field(compare=False)

    @property
    def is_paired(self) -> bool:
        """Whether the node that receives is the one that sends, as over an edge of two nodes."""
        return self.name == self.back


@dataclass(frozen=True)
class NumberedSend:
    """A send of a program.

    Attributes
    ----------
    operation : int
        Index of the operation that it belongs to.
    step : int
        Step of the program: those of all operations, one after the other.
    link : Link
    schedule : Schedule
        The operation's, or that of a phase of it.
    when : Term
        See :class:`hdnhw.collectives.schedule.Send`.
    """

    operation: int
    step: int
    link: Link
    schedule: Schedule
    when: Term


@dataclass(frozen=True, eq=False)
class Program:
    """Schedules of one network for one port per step.

    Attributes
    ----------
    network : Network
    schedules : dict of str to tuple of Schedule
        By the name of the operation, those of its phases, which the executor has run.
    executions : dict of str to tuple of Execution
        What the executor counted.
    rounds : int
        Of the barrier, see :mod:`hdnhw.collectives.barrier`; 0 if there is none.
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
        return self._numbered[0]

    @property
    def behind(self) -> Mapping[str, Nodes]:
        """The node behind each port and each link in pairs, by its name, for all nodes; -1 where there is none."""
        return self._numbered[1]

    @cached_property
    def _numbered(self) -> tuple[tuple[NumberedSend, ...], dict[str, Nodes]]:
        ports, table = self.network.ports, neighbor_table(self.network)
        behind = {port.name: table[:, place] for place, port in enumerate(ports)}
        links = [Link(port.name, ports[port.opposite].name, (place,)) for place, port in enumerate(ports)]
        result, step = [], 0
        for operation, name in enumerate(self.schedules):
            for schedule, execution in zip(self.schedules[name], self.executions[name], strict=True):
                for one, sent in zip(schedule.steps, execution.sent, strict=True):
                    sends = [(links[send.port], send.when) for send in one.sends]
                    partners = _partners(sent, table) if len(sends) > 1 else None
                    if partners is not None:
                        together = _pairs(partners, behind)
                        behind[together] = partners
                        used = tuple(sorted(send.port for send in one.sends))
                        sends = [(Link(together, together, used), schedule.circuit.any_of(when for _, when in sends))]
                    result += [NumberedSend(operation, step, link, schedule, when) for link, when in sends]
                    step += 1
        return tuple(result), behind

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
    def has_groups(self) -> bool:
        """Whether nodes join groups, to which a multicast brings a message."""
        return JOIN in self.schedules

    @cached_property
    def told_by(self) -> tuple[int, ...]:
        """For each send of the multicast, the number of the join's send over the same edges the other way.

        By that one the node behind the link says, in the mirrored step, whether there is a member.
        """
        join, multicast = (self.numbers_of(self.operations.index(name)) for name in (JOIN, MULTICAST))
        mirror = self.sends[join[-1]].step + self.sends[multicast[0]].step
        sends = {(self.sends[number].step, self.sends[number].link.name): number for number in join}
        return tuple(sends[mirror - self.sends[number].step, self.sends[number].link.back] for number in multicast)

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
    def words_per_step(self) -> tuple[int, ...]:
        """The most messages that a node sends, for each step of the program."""
        executions = (execution for operation in self.schedules for execution in self.executions[operation])
        return tuple(words for execution in executions for words in execution.words_per_step)

    def packets_of(self, operation: str, message_packets: int = 1) -> tuple[int, ...]:
        """Return the most packets that a node sends, for each step of an operation; in a join each has an empty one."""
        words = (most for execution in self.executions[operation] for most in execution.words_per_step)
        return tuple(1 if operation == JOIN else most * message_packets for most in words)

    @property
    def has_gaps(self) -> bool:
        """Whether some node has no neighbor by a link over which others send."""
        return any((self.behind[link.name] < 0).any() for link in self.links)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links over which something is sent: ports in their order, then pairs."""
        order = list(self.behind)
        return tuple(sorted({send.link for send in self.sends}, key=lambda link: order.index(link.name)))

    @cached_property
    def used(self) -> tuple[str, ...]:
        """Names of what nodes send by, and of what they receive by, in the same order."""
        used = {name for link in self.links for name in (link.name, link.back)}
        return tuple(name for name in self.behind if name in used)

    def links_of_step(self, step: int) -> list[Link]:
        """Return the links over which something is sent in a step."""
        return [self.sends[number].link for number in self.numbers_of_step(step)]

    def port_of(self, link: Link, node: int) -> int:
        """Return the network port by which a node sends over a link."""
        ports, partner = self.network.ports, self.behind[link.name][node]
        return next(port for port in link.ports if self.behind[ports[port].name][node] == partner)

    def buffers(self, window: int, message_packets: int = 1) -> int:
        """Return the message buffers that a node needs at most, of a packet each.

        Parameters
        ----------
        window : int
            Packets that a neighbor may send over a port before it knows that the node has begun the step.
        message_packets : int
            Packets of a message.

        Notes
        -----
        Two nodes that send to each other do so in place: either has at most what it holds before or after the step.
        Where a node receives from another than it sends to, nothing says which is faster: it must hold what it has
        before the step and all that it gets in it. What is combined needs no buffer but the one that it comes into. Of
        a join nothing comes that is held.
        """
        links = {send.link for send in self.sends if self.operations[send.operation] != JOIN}
        return max(map(self._held, self.schedules)) * message_packets + window * len(links)

    def _held(self, operation: str) -> int:
        """Return the most messages that a node holds while an operation runs."""
        held = self._first_messages(operation)
        first = self.numbers_of(self.operations.index(operation)).start
        most, step = held.max(), self.sends[first].step
        for schedule, execution in zip(self.schedules[operation], self.executions[operation], strict=True):
            for sent in execution.sent:
                held, meanwhile = self._step(schedule, self.links_of_step(step), sent, held)
                most, step = max(most, meanwhile.max(), held.max()), step + 1
        return int(most)

    def _step(
        self, schedule: Schedule, links: Sequence[Link], sent: Integers, held: Integers
    ) -> tuple[Integers, Integers]:
        """Return how many messages each node holds after a step, and how many in it."""
        leaves = np.zeros_like(held) if schedule.copies else sent.sum(axis=1)
        if schedule.combines:
            return held - leaves, held
        before, paired = held, np.ones(len(held), bool)
        for link in links:
            arrivals, leaving = np.zeros_like(held), sent[:, link.ports].sum(axis=1)
            nodes = np.flatnonzero(leaving)
            np.add.at(arrivals, self.behind[link.name][nodes], leaving[nodes])
            held = held + arrivals
            if not link.is_paired:
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
    """Return how many messages per node, or the only source, has of its own: one a node, one, or in a join none."""
    if operation == JOIN:
        return 0
    return nodes if operation in ("scatter", "exchange", "reducescatter", "allreduce") else 1


def make_program(network: Network, spec: CollectiveSpec) -> Program:
    """Make the schedules that a spec names and move their messages.

    Raises
    ------
    SpecError
        If the network is too large, or has no node of the root's number.
    ScheduleError
        If a node could be two operations ahead of one that it sends to.
    """
    if not spec.root < network.num_nodes:
        raise SpecError(f"{named('root')} must be 0 to {network.num_nodes - 1} on {network.spec}, not {spec.root}")
    schedules = {
        operation: operation_phases(network, operation, root=spec.root, order=spec.order)
        for operation in spec.operations
        if operation != BARRIER
    }
    executions = {
        name: tuple(map(_without_messages if name == JOIN else execute, phases)) for name, phases in schedules.items()
    }
    rounds = barrier_rounds(network) if BARRIER in spec.operations else 0
    program = Program(network, schedules, executions, rounds)
    packets = {name: list(_packets(program, operation)) for operation, name in enumerate(schedules)}
    check_lead(packets, network.num_nodes)
    return program


def _without_messages(schedule: Schedule) -> Execution:
    """Return what is counted of a schedule in which no message moves."""
    table = neighbor_table(schedule.network)
    return Execution(np.zeros((len(schedule.steps), *table.shape), np.int64), table, 0, 0, all_port=False)


def _partners(sent: Integers, neighbors: Nodes) -> Nodes | None:
    """Return with whom each node exchanges in a step, if all do so in pairs.

    Parameters
    ----------
    sent : ndarray of int64, shape (nodes, ports)
        Messages that each node sends over each port, one port at most.
    neighbors : ndarray of int32, shape (nodes, ports)
    """
    every = np.arange(len(sent))
    partners: Nodes = neighbors[every, sent.argmax(axis=1)]
    is_paired = sent.any(axis=1).all() and (partners[partners] == every).all()
    return partners if is_paired else None


def _pairs(partners: Nodes, behind: Mapping[str, Nodes]) -> str:
    """Return the name of a link in pairs: that of one of the same pairs, or the next one."""
    pairs = [name for name in behind if name.startswith("pairs")]
    return next((name for name in pairs if (behind[name] == partners).all()), f"pairs{len(pairs)}")


def _packets(program: Program, operation: int) -> Iterator[Pairs]:
    """Yield for each step who sends a packet, and to whom: all nodes with its links, if only to say that nothing comes,
    or, the other way, that they are ready.
    """
    steps = dict.fromkeys(program.sends[number].step for number in program.numbers_of(operation))
    for step in steps:
        names = {name for link in program.links_of_step(step) for name in (link.name, link.back)}
        ends = [(np.flatnonzero(program.behind[name] >= 0), program.behind[name]) for name in sorted(names)]
        yield (
            np.concatenate([senders for senders, _ in ends]),
            np.concatenate([behind[senders] for senders, behind in ends]),
        )
