"""Programs of register machines: the register schedules that one engine can run, as instructions with a condition each.

A step is one instruction for each register that is sent and one for each two values that are combined. All nodes go
through the same instructions and skip those whose condition, arithmetic on their own digits, is false. A combination
waits for the packet that it reads; what comes to a node that does not read it has an instruction of its own. Whether a
packet comes is the condition at the neighbor behind the port, with the digits of that neighbor for the own ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.collectives.executor import Execution, ScheduleError
from hdnhw.collectives.lead import Heard, Pairs, check_heard, heard_at_first
from hdnhw.collectives.operators import operator_of
from hdnhw.collectives.prefix import allreduce_schedule, scan_schedule
from hdnhw.collectives.registers import OWN, RESULT, RegisterSchedule, RegisterStep, Update, received, run_registers
from hdnhw.collectives.schedule import Builder, Send, Target
from hdnhw.rules.arrays import ARRAY_OPERATIONS
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table

HOST = "host"
"""What is combined if it is the node's own vector, as it comes from its host; once in an operation."""


class Kind(IntEnum):
    """What an instruction does."""

    SEND = 0
    """Send a register over one of some ports."""
    WAIT = 1
    """Wait for a packet, and do nothing with it."""
    COMBINE = 2
    """Write a register, after the packet that is read has come."""
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
        A register, :data:`HOST`, or what is :func:`hdnhw.collectives.registers.received`; None for the identity of the
        operator.
    sends : tuple of Send
        Ports, and which nodes send over each; no node over two.
    packet : int
        Of what is sent or comes, or of an `other` that has come: its number among the packets of the operation.
    """

    kind: Kind
    when: Term
    register: str = OWN
    one: str | None = None
    other: str | None = None
    sends: tuple[Send, ...] = ()
    packet: int = 0

    @property
    def reads_packet(self) -> bool:
        """Whether a packet is combined."""
        return self.other is not None and self.other.startswith(received(""))


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
        """Names of the registers that are written, in the order in which they are first."""
        return tuple(dict.fromkeys(each.register for each in self.instructions if each.kind is Kind.COMBINE))

    @cached_property
    def ports(self) -> tuple[int, ...]:
        """The ports over which something is sent, ascending."""
        return tuple(sorted({send.port for each in self.instructions for send in each.sends}))


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
    coder = _Coder(network)
    code = {operation: tuple(coder.code(schedule)) for operation, schedule in schedules.items()}
    heard = {operation: coder.heard(instructions) for operation, instructions in code.items()}
    check_heard(heard, (pair for instructions in code.values() for each in instructions for pair in coder.sent(each)))
    return RegisterProgram(network, schedules, executions, coder.circuit, code)


class _Coder(Builder):
    """Writes instructions, with all conditions in one circuit."""

    def __init__(self, network: Network) -> None:
        super().__init__(network, all_port=False)
        digits = network.decode(np.arange(network.num_nodes, dtype=np.int64))
        self._digits = {f"own{place}": digit for place, digit in enumerate(digits)}
        self._known: dict[int, npt.NDArray[np.bool_]] = {}
        self._neighbors = neighbor_table(network)

    def code(self, schedule: RegisterSchedule) -> list[Instruction]:
        """Return the instructions of a schedule.

        A register that a node may read before it has written it is cleared first. What is combined and not sent in the
        next step is combined while its packets are under way; what nobody reads is not.
        """
        early = self._read_early(_read_later(self._sequence(schedule, [])))
        return _from_host(self._waiting(_without_copies(_read_later(self._sequence(schedule, early)))))

    def heard(self, code: Sequence[Instruction]) -> Heard:
        """Return what nodes know when they have ended an operation.

        A packet says of all of which its sender had heard that they have begun. What is sent while a packet is waited
        for says nothing of this one, unless it is in it.
        """
        heard = heard_at_first(self.network.num_nodes)
        awaited, written = np.zeros_like(heard), np.full(len(heard), "", object)
        came: dict[int, Heard] = {}
        for each in code:
            here = self._nodes(each.when)
            if each.kind is Kind.SEND:
                came[each.packet] = np.zeros_like(heard)
                known = heard | np.where((written == each.register)[:, None], awaited, 0)
                for senders, others in self.sent(each):
                    came[each.packet][others] = known[senders]
            else:
                heard[here] |= awaited[here]
                reads = each.reads_packet or each.kind is Kind.WAIT
                awaited[here] = came[each.packet][here] if reads else 0
                written[here] = each.register if each.kind is Kind.COMBINE else ""
        return heard

    def sent(self, each: Instruction) -> Iterator[Pairs]:
        """Yield for each port which nodes send, and to which."""
        for send in each.sends:
            senders = np.flatnonzero(self._nodes(send.when))
            yield senders, self._neighbors[senders, send.port]

    def _sequence(self, schedule: RegisterSchedule, cleared: Sequence[str]) -> list[Instruction]:
        """Return all instructions; of waiting for packets, those of all nodes to which they come."""
        one, packet = self.circuit.constant(1), 0
        code: list[Instruction] = []
        combines = [Instruction(Kind.COMBINE, one, register=name) for name in cleared]
        combines += self._updates(schedule, schedule.start, {})
        for step in schedule.steps:
            soon, later = _split(combines, step.registers)
            code += [*soon, *self._sends(step, packet), *later]
            packets = {received(register): packet + place for place, register in enumerate(step.registers)}
            combines = [*self._updates(schedule, step.updates, packets), *self._waits(step, packet)]
            packet += len(step.registers)
        code += [*combines, Instruction(Kind.GIVE, one, register=RESULT)]
        return [each for each in code if each.when.constant != 0]

    def _sends(self, step: RegisterStep, first: int) -> Iterator[Instruction]:
        sends = tuple(Send(send.port, self._at(send.when, self.own)) for send in step.sends)
        when = self.circuit.any_of(send.when for send in sends)
        for place, register in enumerate(step.registers):
            yield Instruction(Kind.SEND, when, register=register, sends=sends, packet=first + place)

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

    def _waiting(self, code: Sequence[Instruction]) -> list[Instruction]:
        """Have nodes wait for what comes to them and is not combined, and combine nothing that does not come."""
        comes = {each.packet: each.when for each in code if each.kind is Kind.WAIT}
        left, made = dict(comes), list[Instruction]()
        for each in code:
            if each.reads_packet:
                made += self._of_what_comes(each, comes[each.packet])
                left[each.packet] &= ~each.when
            elif each.kind is not Kind.WAIT:
                made.append(each)
            elif self._nodes(left[each.packet]).any():
                made.append(replace(each, when=left[each.packet]))
        return made

    def _of_what_comes(self, each: Instruction, comes: Term) -> Iterator[Instruction]:
        """Yield a combination with a packet, where it comes, and with the identity elsewhere."""
        nodes, there = self._nodes(each.when), self._nodes(comes)
        if (nodes & there).any():
            yield each if there[nodes].all() else replace(each, when=each.when & comes)
        if not there[nodes].all() and each.one != each.register:
            yield replace(each, when=each.when & ~comes, other=None)

    def _read_early(self, code: Sequence[Instruction]) -> list[str]:
        """Return registers that a node may read before it has written them, ascending."""
        written, early = {OWN: np.ones(self.network.num_nodes, bool)}, set()
        for each in code:
            nodes = self._nodes(each.when)
            early |= {name for name in _read_by(each) if (nodes & ~written.get(name, np.False_)).any()}
            if each.kind is Kind.COMBINE:
                written[each.register] = written.get(each.register, np.False_) | nodes
        return sorted(early)

    def _nodes(self, when: Term) -> npt.NDArray[np.bool_]:
        """Return at which nodes a condition is true."""
        if when.index not in self._known:
            (value,) = self.circuit.run([when], self._digits.__getitem__, ARRAY_OPERATIONS)
            self._known[when.index] = np.broadcast_to(np.asarray(value, bool), self.network.num_nodes)
        return self._known[when.index]

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
    return {name for name in names if name not in (None, HOST) and not name.startswith(received(""))}


def _written_by(instruction: Instruction) -> set[str]:
    """Return the registers that an instruction writes: one or none."""
    return {instruction.register} if instruction.kind is Kind.COMBINE else set()


def _split(combines: Sequence[Instruction], sent: Sequence[str]) -> tuple[list[Instruction], list[Instruction]]:
    """Return those on which registers that are sent next depend, and the others, which may come after them."""
    soon: list[Instruction] = []
    later: list[Instruction] = []
    read, written = set(sent), set[str]()
    for each in reversed(combines):
        if _written_by(each) & (read | written) or _read_by(each) & written:
            soon.insert(0, each)
            read |= _read_by(each)
            written |= _written_by(each)
        else:
            later.insert(0, each)
    return soon, later


def _read_later(code: Sequence[Instruction]) -> list[Instruction]:
    """Return the instructions without those that write what is not read."""
    read, kept = set[str](), list[Instruction]()
    for each in reversed(code):
        if each.kind is Kind.COMBINE and each.register not in read:
            continue
        kept.append(each)
        if each.when.constant == 1:
            read -= _written_by(each)
        read |= _read_by(each)
    return kept[::-1]


def _without_copies(code: Sequence[Instruction]) -> list[Instruction]:
    """Return the instructions, in which what is made, copied at once, and not read again, is made where it belongs."""
    made: list[Instruction] = []
    for place, each in enumerate(code):
        last = made[-1] if made else each
        is_copy = each.kind is last.kind is Kind.COMBINE and each.one is None and each.other == last.register
        if is_copy and each.when.constant == last.when.constant == 1 and not _is_read(last.register, code[place + 1 :]):
            made[-1] = replace(last, register=each.register)
        else:
            made.append(each)
    return made


def _is_read(register: str, code: Sequence[Instruction]) -> bool:
    """Return whether a register is read before it is written anew."""
    for each in code:
        if register in _read_by(each):
            return True
        if register in _written_by(each) and each.when.constant == 1:
            return False
    return False


def _from_host(code: Sequence[Instruction]) -> list[Instruction]:
    """Let the register to which a node's own vector is copied first get it from the host, and stand for it then.

    If there is none that can, the vector has a register of its own.
    """
    readers = [place for place, each in enumerate(code) if OWN in _read_by(each)]
    if readers:
        first, rest = code[readers[0]], code[readers[0] + 1 :]
        is_copy = first.kind is Kind.COMBINE and first.one is None and first.when.constant == 1
        between = code[readers[0] + 1 : readers[-1]]
        if is_copy and not any(first.register in _written_by(each) for each in between):
            return [*code[: readers[0]], replace(first, other=HOST), *(_renamed(each, first.register) for each in rest)]
    return [Instruction(Kind.COMBINE, code[-1].when, register=OWN, other=HOST), *code]


def _renamed(each: Instruction, name: str) -> Instruction:
    """Return an instruction that reads a register in place of the node's own vector."""
    if each.kind is Kind.COMBINE:
        one, other = (name if read == OWN else read for read in (each.one, each.other))
        return replace(each, one=one, other=other)
    return replace(each, register=name) if each.register == OWN and each.kind is not Kind.WAIT else each
