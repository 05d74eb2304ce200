"""Through the instructions of a register machine, one after the other."""

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.circuits.circuit import Term
from hdnhw.collectives.instructions import HOST, Instruction, Kind, RegisterProgram
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.host import asked_operation, operation_shape
from hdnhw.endpoints.collective.register_packets import packet_layout
from hdnhw.endpoints.collective.vectors import OPERAND_WIDTH, Operand, combine_layout
from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import any_of, equals, index_width, number_of
from hdnhw.rtl.circuit import elaborate_circuit
from hdnhw.topology.address import AddressLayout


def neighbor_pins(program: RegisterProgram) -> dict[int, str]:
    """Return the ports by which a node sends, and the names of the pins with the address of the neighbor there."""
    return {port: f"{program.network.ports[port].name}_neighbor" for port in program.ports}


class Stepper(wiring.Component):
    """Go through the instructions of an operation, ahead of what they do: each takes a cycle, also one that is skipped.

    One that sends waits until the sender is free, one that combines until the combination before is under way.

    Members
    -------
    address, P_neighbor : In(address width)
        Packed addresses of the node, and of its neighbor by each of :func:`neighbor_pins`; constant.
    operation : In(stream of operation_shape)
        The next one; taken when the result of the one before has been taken.
    operator : Out
        Of several, that of the operation; else 0.
    parity : Out(1)
        Of the operation.
    ended : Out(1)
        High for a cycle when the result has been taken.
    combine : Out(stream of combine_layout)
    job : Out(stream of packet_layout)
    busy : In(1)
        Whether what has been given to `combine` has not been written.
    giving : In(1)
        Whether a result has not been taken.
    done : Out(1)
        High from the end of the operation until its result has been taken.
    """

    def __init__(self, machine: Machine) -> None:
        self._program, self._messages = engines_of(machine).register_program, machine.endpoint_format
        self._gapless = machine.spec.gapless_packets
        program, messages, width = self._program, self._messages, machine.address.width
        members: dict[str, Any] = {
            "address": In(width),
            "operation": In(stream.Signature(operation_shape(program.operations, messages))),
            "operator": Out(max(1, messages.operator_width)),
            "parity": Out(1),
            "ended": Out(1),
            "combine": Out(stream.Signature(combine_layout(program))),
            "job": Out(stream.Signature(packet_layout(program, messages))),
            "busy": In(1),
            "giving": In(1),
            "done": Out(1),
        }
        super().__init__(members | {pin: In(width) for pin in neighbor_pins(program).values()})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        idle, start, run, give = at = [
            Signal(init=place == 0, name=f"at_{name}") for place, name in enumerate(("idle", "start", "run", "give"))
        ]
        ends, fetch = Signal(), Signal()
        place = Signal(index_width(len(self._program.instructions)))

        def go(state: Signal) -> list[Any]:
            return [other.eq(other is state) for other in at]

        now, goes, ports = self._elaborate_fetch(m, place, fetch)
        is_last = self._elaborate_instruction(m, now, goes & run, ports, ends)
        m.d.comb += [
            self.operation.ready.eq(idle),
            self.done.eq(give & ~self.busy),
            self.ended.eq(self.done & ~self.giving),
            fetch.eq(start | ends | (run & ~goes)),
        ]
        with m.If(idle):
            m.d.sync += place.eq(self._first_places())
            with m.If(self.operation.valid):
                m.d.sync += go(start)
            if self._messages.operator_width:
                m.d.sync += self.operator.eq(self.operation.payload.operator)
        with m.If(start):
            m.d.sync += go(run)
        with m.If(fetch):
            m.d.sync += place.eq(place + 1)
        with m.If(is_last & ends):
            m.d.sync += go(give)
        with m.If(self.ended):
            m.d.sync += [self.parity.eq(~self.parity), *go(idle)]
        return m

    def _elaborate_fetch(self, m: Module, place: Value, fetch: Value) -> tuple[Any, Value, Value]:
        """Return the current instruction, whether the node does not skip it, and the port over which it sends.

        The list is logic, not a memory, whose output would come late in the cycle.
        """
        instructions, layout = self._program.instructions, self._instruction_layout()
        conditions = [each.when for each in instructions]
        conditions += [send.when for each in instructions for send in each.sends]
        terms = {term.index: term for term in conditions}
        gates = elaborate_circuit(
            m,
            self._program.circuit,
            list(terms.values()),
            {"own": self.address},
            AddressLayout(self._program.network),
        )
        values = dict(zip(terms, gates, strict=True))
        now, goes, here = Signal(layout), Signal(), Signal(len(instructions))
        ports = Signal(len(self._program.ports))
        m.d.comb += here.eq(Cat(equals(place, number) for number in range(len(instructions))))
        words = [layout.const(self._encoded(each)).as_value().value for each in instructions]
        with m.If(fetch):
            for bit, target in enumerate(now.as_value()):
                m.d.sync += target.eq(any_of(each for each, word in zip(here, words, strict=True) if word >> bit & 1))
            m.d.sync += goes.eq(_holds(here, [each.when for each in instructions], values))
            for bit, port in zip(ports, self._program.ports, strict=True):
                whens = [{send.port: send.when for send in each.sends}.get(port) for each in instructions]
                m.d.sync += bit.eq(_holds(here, whens, values))
        return now, goes, ports

    def _instruction_layout(self) -> data.StructLayout:
        program = self._program
        register = index_width(len(program.registers))
        return data.StructLayout(
            {
                "kind": len(Kind),
                "register": register,
                "combines": 1,
                "one": register,
                "operand": OPERAND_WIDTH,
                "other": register,
                "packet": index_width(program.packets),
            }
        )

    def _encoded(self, each: Instruction) -> dict[str, Any]:
        """Return an instruction as its fields but the ports; kinds are one-hot, and whoever waits reads a packet."""
        registers = {name: place for place, name in enumerate(self._program.registers)}
        operand = Operand.IDENTITY
        if each.reads_packet or each.kind is Kind.WAIT:
            operand = Operand.PACKET
        elif each.other is not None:
            operand = Operand.HOST if each.other == HOST else Operand.REGISTER
        return {
            "kind": 1 << each.kind,
            "register": registers.get(each.register, 0),
            "combines": int(each.one is not None),
            "one": registers.get(each.one or "", 0),
            "operand": operand,
            "other": registers.get(each.other or "", 0),
            "packet": each.packet,
        }

    def _elaborate_instruction(self, m: Module, now: Any, goes: Value, ports: Value, ends: Signal) -> Value:
        """Do the current instruction; return whether it is the last of the operation."""
        sends, waits, combines, gives = (now.kind[kind] & goes for kind in Kind)
        job, combine = self.job.payload, self.combine.payload
        pins = neighbor_pins(self._program).values()
        neighbors = [
            getattr(self, pin) & bit.replicate(len(self.address)) for bit, pin in zip(ports, pins, strict=True)
        ]
        if self._gapless:
            sends &= ~self.busy
        m.d.comb += [
            self.job.valid.eq(sends | gives),
            job.register.eq(now.register),
            job.results.eq(gives),
            job.header.dst.eq(any_of(neighbors)),
            job.header.packet.eq(now.packet),
            job.header.parity.eq(self.parity),
            self.combine.valid.eq(combines | waits),
            combine.register.eq(now.register),
            combine.writes.eq(now.kind[Kind.COMBINE]),
            combine.combines.eq(now.combines),
            combine.one.eq(now.one),
            combine.operand.eq(now.operand),
            combine.other.eq(now.other),
            combine.packet.eq(now.packet),
            ends.eq((self.job.valid & self.job.ready) | (self.combine.valid & self.combine.ready)),
        ]
        return gives

    def _first_places(self) -> Value:
        """Return the place of the first instruction of the operation that is asked for."""
        asked = asked_operation(self.operation.payload, self._messages)
        chosen = {start: equals(asked, operation) for operation, start in enumerate(self._program.starts)}
        return number_of(chosen, index_width(len(self._program.instructions)))


def _holds(here: Value, whens: Sequence[Term | None], values: Mapping[int, Value]) -> Value:
    """Return whether the condition at the place that is `here` is true; not so where there is none."""
    places: dict[int, list[Value]] = {}
    for bit, when in zip(here, whens, strict=True):
        if when is not None:
            places.setdefault(when.index, []).append(bit)
    return any_of(any_of(bits) & values[index] for index, bits in places.items())
