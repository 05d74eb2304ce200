"""Programs of register machines: the register schedules that one engine can run, as instructions with a condition each.

A step is one instruction for each port and register that may be sent, one for each packet that may come, and one for
each two values that are combined. All nodes go through the same instructions and skip those whose condition, arithmetic
on their own digits, is false. Whether a packet comes is the condition at the neighbor behind the port, with the digits
of that neighbor for the own ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hdnhw.collective.executor import Execution, ScheduleError
from hdnhw.collective.operators import operator_of
from hdnhw.collective.prefix import allreduce_schedule, scan_schedule
from hdnhw.collective.registers import OWN, RESULT, RegisterSchedule, RegisterStep, Update, received, run_registers
from hdnhw.collective.schedule import Builder, Target
from hdnhw.routing.circuit import Circuit, Term
from hdnhw.topology.network import Network

__all__ = ["Instruction", "Kind", "RegisterProgram", "make_register_program", "register_schedule"]


class Kind(IntEnum):
    """What an instruction does."""

    SEND = 0
    """Send a register over a port."""
    WAIT = 1
    """Wait for a packet."""
    COMBINE = 2
    """Write a register."""
    GIVE = 3
    """Give the result, and end the operation."""


@dataclass(frozen=True)
class Instruction:
    """One instruction; members that its kind does not name mean nothing.

    Attributes
    ----------
    kind : Kind
    when : Term
        A node skips it where this is 0. Of the circuit of the program, with the node's own digits for inputs.
    register : str
        What is sent, or written.
    one : str or None
        A register that is combined with `other`; None if `other` alone is written.
    other : str or None
        A register, or what is :func:`hdnhw.collective.registers.received`; None for the identity of the operator.
    port : int
        Index of the network port.
    packet : int
        Of what is sent or comes, or of an `other` that has come: its number among the packets of the operation.
    """

    kind: Kind
    when: Term
    register: str = OWN
    one: str | None = None
    other: str | None = None
    port: int = 0
    packet: int = 0


@dataclass(frozen=True, eq=False)
class RegisterProgram:
    """Register schedules of one network.

    Attributes
    ----------
    network : Network
    schedules : dict of str to RegisterSchedule
        By the name of the operation.
    executions : dict of str to Execution
        What they send, in contributions.
    circuit : Circuit
        Of all conditions.
    code : dict of str to tuple of Instruction
        By the name of the operation.
    """

    network: Network
    schedules: Mapping[str, RegisterSchedule]
    executions: Mapping[str, Execution]
    circuit: Circuit
    code: Mapping[str, tuple[Instruction, ...]]

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of the operations in the order of their indices."""
        return tuple(self.schedules)

    @property
    def rounds(self) -> int:
        """Rounds of a barrier: there is none."""
        return 0

    def source_of(self, operation: str) -> None:
        """Return the only node with a vector of its own: there is none, every node has one."""

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """Those of all operations, one after the other."""
        return tuple(instruction for code in self.code.values() for instruction in code)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Place of the first instruction of each operation."""
        lengths = [len(code) for code in self.code.values()]
        return tuple(sum(lengths[:place]) for place in range(len(lengths)))

    @cached_property
    def packets(self) -> int:
        """Packets of an operation, the most of any: those of all its steps, one after the other."""
        return max(sum(len(step.registers) for step in schedule.steps) for schedule in self.schedules.values())

    @cached_property
    def registers(self) -> tuple[str, ...]:
        """Names of the registers."""
        return tuple(dict.fromkeys(name for schedule in self.schedules.values() for name in schedule.registers))

    @cached_property
    def ports(self) -> tuple[int, ...]:
        """The ports over which something is sent, ascending."""
        return tuple(sorted({each.port for each in self.instructions if each.kind is Kind.SEND}))


def register_schedule(network: Network, operation: str) -> RegisterSchedule:
    """Return the schedule of one of :data:`hdnhw.spec.REGISTER_OPERATIONS`."""
    if operation == "allreduce-short":
        return allreduce_schedule(network)
    return scan_schedule(network, exclusive=operation == "exscan")


def make_register_program(network: Network, operations: Sequence[str]) -> RegisterProgram:
    """Make the schedules of operations, run them once, and write their instructions.

    Raises
    ------
    SpecError
        If the network is too large, or has no such schedule.
    ScheduleError
        If a schedule cannot be run in instructions, or a node could be two operations ahead of one that it sends to.
    """
    schedules = {operation: register_schedule(network, operation) for operation in operations}
    executions, nothing = {}, np.zeros((network.num_nodes, 1), np.int32)
    for operation, schedule in schedules.items():
        _, executions[operation] = run_registers(schedule, operator_of("sum", "int32"), nothing)
        _check_lead(operation, executions[operation])
    coder = _Coder(network)
    code = {operation: tuple(coder.code(schedule)) for operation, schedule in schedules.items()}
    return RegisterProgram(network, schedules, executions, coder.circuit, code)


class _Coder(Builder):
    """Writes instructions, with all conditions in one circuit."""

    def __init__(self, network: Network) -> None:
        super().__init__(network, all_port=False)

    def code(self, schedule: RegisterSchedule) -> list[Instruction]:
        """Return the instructions of a schedule.

        A register that may be read before it is written is cleared first. What is combined and not sent in the next
        step is combined while its packets are under way.
        """
        one, packet = self.circuit.constant(1), 0
        code: list[Instruction] = []
        combines = list(self._updates(schedule, schedule.start, {}))
        for step in schedule.steps:
            soon, later = _split(combines, step.registers)
            code += [*soon, *self._sends(step, packet), *later, *self._waits(step, packet)]
            packets = {received(register): packet + place for place, register in enumerate(step.registers)}
            combines = list(self._updates(schedule, step.updates, packets))
            packet += len(step.registers)
        code += [*combines, Instruction(Kind.GIVE, one, register=RESULT)]
        kept = [each for each in code if each.when.constant != 0]
        cleared = [Instruction(Kind.COMBINE, one, register=name) for name in _read_early(kept)]
        return [*cleared, *kept]

    def _sends(self, step: RegisterStep, first: int) -> Iterator[Instruction]:
        for send in step.sends:
            when = self._at(send.when, self.own)
            for place, register in enumerate(step.registers):
                yield Instruction(Kind.SEND, when, register=register, port=send.port, packet=first + place)

    def _waits(self, step: RegisterStep, first: int) -> Iterator[Instruction]:
        comes = self.circuit.constant(0)
        for send in step.sends:
            neighbor, is_there = self.behind(self.network.ports[send.port].opposite, self.own)
            comes |= is_there & self._at(send.when, neighbor)
        for place in range(len(step.registers)):
            yield Instruction(Kind.WAIT, comes, packet=first + place)

    def _updates(
        self, schedule: RegisterSchedule, updates: Sequence[Update], packets: Mapping[str, int]
    ) -> Iterator[Instruction]:
        for update in updates:
            when = self._at(update.when, self.own)
            for one, other in _pairs(update):
                packet = 0
                if other is not None and other.startswith(received("")):
                    if other not in packets:
                        raise ScheduleError(f"{schedule.name} reads {other} in a step in which it does not come")
                    packet = packets[other]
                yield Instruction(Kind.COMBINE, when, register=update.register, one=one, other=other, packet=packet)

    def _at(self, when: Term, node: Target) -> Term:
        """Return a condition of a schedule at a node, in the circuit of the program."""
        return self.circuit.restated(when, lambda name: node[int(name.removeprefix("own"))])


def _pairs(update: Update) -> Iterator[tuple[str | None, str | None]]:
    """Yield the two values of each instruction of an update; the first is a register, or there is none.

    The register that is written comes first, if it is read: what is combined may change places.
    """
    terms = sorted(update.terms, key=lambda term: (term != update.register, term.startswith(received(""))))
    if len(terms) < 2 or terms[0].startswith(received("")):
        yield None, terms[0] if terms else None
        rest = terms[1:]
    else:
        yield terms[0], terms[1]
        rest = terms[2:]
    for term in rest:
        if term == update.register:
            raise ScheduleError(f"an update of {update.register} reads it more than twice")
        yield update.register, term


def _read_by(instruction: Instruction) -> set[str]:
    """Return the registers that an instruction reads."""
    if instruction.kind is Kind.WAIT:
        return set()
    names = [instruction.one, instruction.other] if instruction.kind is Kind.COMBINE else [instruction.register]
    return {name for name in names if name is not None and not name.startswith(received(""))}


def _split(combines: Sequence[Instruction], sent: Sequence[str]) -> tuple[list[Instruction], list[Instruction]]:
    """Return those on which registers that are sent next depend, and the others, which may come after them."""
    soon: list[Instruction] = []
    later: list[Instruction] = []
    read, written = set(sent), set[str]()
    for each in reversed(combines):
        if each.register in read | written or _read_by(each) & written:
            soon.insert(0, each)
            read |= _read_by(each)
            written.add(each.register)
        else:
            later.insert(0, each)
    return soon, later


def _read_early(code: Sequence[Instruction]) -> list[str]:
    """Return registers that an instruction may read before a node has written them, ascending."""
    written, early = {OWN}, set()
    for each in code:
        early |= _read_by(each) - written
        if each.kind is Kind.COMBINE and each.when.constant == 1:
            written.add(each.register)
    return sorted(early)


def _check_lead(operation: str, execution: Execution) -> None:
    """Check that a node ends an operation only after all nodes that it sends to have begun it.

    Then a packet never comes before the operation of two before has ended where it comes to: the node that sends it
    has ended the one between, so this one has begun that.
    """
    nodes = np.arange(len(execution.neighbors))
    begun: npt.NDArray[np.uint8] = np.zeros((len(nodes), len(nodes) // 8 + 1), np.uint8)
    begun[nodes, nodes >> 3] = 1 << (nodes & 7)
    for sent in execution.sent:
        senders, ports = np.nonzero(sent)
        begun[execution.neighbors[senders, ports]] |= begun[senders].copy()
    senders, ports = np.nonzero(execution.sent.any(axis=0))
    others = execution.neighbors[senders, ports]
    if not (begun[senders, others >> 3] >> (others & 7) & 1).all():
        raise ScheduleError(f"{operation}: a node may end before one that it sends to has begun")
