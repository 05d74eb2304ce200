"""Through the instructions of a register machine, one after the other."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collective.instructions import Instruction, Kind, RegisterProgram
from hdnhw.collective.registers import OWN, received
from hdnhw.flit import RegisterFormat
from hdnhw.rtl.bits import any_of, equals, index_width, number_of
from hdnhw.rtl.circuit import elaborate_circuit
from hdnhw.rtl.collective.host import asked_operation, operation_shape
from hdnhw.rtl.collective.packets import packet_layout
from hdnhw.rtl.collective.vectors import OPERAND_WIDTH, Operand, VectorWriteSignature, combine_layout
from hdnhw.topology.address import AddressLayout

__all__ = ["Stepper", "neighbor_pins"]


def neighbor_pins(program: RegisterProgram) -> dict[int, str]:
    """Return the ports by which a node sends, and the names of the pins with the address of the neighbor there."""
    return {port: f"{program.network.ports[port].name}_neighbor" for port in program.ports}


class Stepper(wiring.Component):
    """Take the node's own vector, go through the instructions of the operation, and give the result.

    An instruction that a node skips takes one cycle, and so does one that sends, or waits for what has come. What is
    combined takes a cycle a data flit, and begins when the sender has read the register that is written.

    Parameters
    ----------
    program : RegisterProgram
    messages : RegisterFormat

    Members
    -------
    address, P_neighbor : In(address width)
        Packed addresses of the node, and of its neighbor by each of :func:`neighbor_pins`; constant.
    operation : In(stream of operation_shape)
        The next one; taken when the result of the one before has been taken.
    operator : Out
        Of several, that of the operation; else 0.
    i : In(stream of flits)
    load : Out(VectorWriteSignature)
    came : In, tail : In(1)
        The packet, with its parity above it, of which `tail` is high with the last flit.
    combine : Out(stream of combine_layout)
    job : Out(stream of packet_layout)
    reads : In(1), register : In
        The register that the sender has not read to its end, if there is one.
    giving : In(1)
        Whether a result has not been taken.
    done : Out(1)
        High from the end of the operation until its result has been taken.
    """

    def __init__(self, program: RegisterProgram, messages: RegisterFormat) -> None:
        self._program, self._messages = program, messages
        width = messages.flits.address_width
        members: dict[str, Any] = {
            "address": In(width),
            "operation": In(stream.Signature(operation_shape(program, messages))),
            "operator": Out(max(1, messages.operator_width)),
            "i": In(stream.Signature(messages.flits.flit_width)),
            "load": Out(VectorWriteSignature(messages, len(program.registers))),
            "came": In(index_width(program.packets) + 1),
            "tail": In(1),
            "combine": Out(stream.Signature(combine_layout(program))),
            "job": Out(stream.Signature(packet_layout(program, messages))),
            "reads": In(1),
            "register": In(index_width(len(program.registers))),
            "giving": In(1),
            "done": Out(1),
        }
        super().__init__(members | {pin: In(width) for pin in neighbor_pins(program).values()})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        idle, load, run, give = at = [
            Signal(init=place == 0, name=f"at_{name}") for place, name in enumerate(("idle", "load", "run", "give"))
        ]
        parity, loaded, ends, fetch = Signal(), Signal(), Signal(), Signal()
        place = Signal(index_width(len(self._program.instructions)))

        def go(state: Signal) -> list[Any]:
            return [other.eq(other is state) for other in at]

        m.d.comb += [self.operation.ready.eq(idle), self.done.eq(give), fetch.eq(loaded | ends)]
        with m.If(idle):
            m.d.sync += place.eq(self._first_places())
            with m.If(self.operation.valid):
                m.d.sync += go(load)
            if self._messages.operator_width:
                m.d.sync += self.operator.eq(self.operation.payload.operator)
        with m.If(loaded):
            m.d.sync += go(run)
        with m.If(fetch):
            m.d.sync += place.eq(place + 1)
        self._elaborate_load(m, load, loaded)
        now, goes = self._elaborate_fetch(m, place, fetch)
        is_last = self._elaborate_instruction(m, now, goes, run, parity, ends)
        with m.If(is_last & ends):
            m.d.sync += go(give)
        with m.If(give & ~self.giving):
            m.d.sync += [parity.eq(~parity), *go(idle)]
        return m

    def _elaborate_load(self, m: Module, load: Value, loaded: Signal) -> None:
        """Write the node's own vector."""
        headers, length = self._messages.header_flits, self._messages.flits.packet_length
        position = Signal(index_width(length), init=headers)
        last = equals(position, length - 1)
        m.d.comb += [
            self.i.ready.eq(load),
            self.load.enable.eq(load & self.i.valid),
            self.load.vector.eq(self._program.registers.index(OWN)),
            self.load.place.eq(position[: len(self.load.place)]),
            self.load.data.eq(self.i.payload),
            loaded.eq(self.load.enable & last),
        ]
        with m.If(self.load.enable):
            m.d.sync += position.eq(Mux(last, headers, position + 1))

    def _elaborate_fetch(self, m: Module, place: Value, fetch: Value) -> tuple[Any, Value]:
        """Return the current instruction, and whether the node does not skip it.

        The list is logic, not a memory, whose output would come late in the cycle.
        """
        instructions, layout = self._program.instructions, self._instruction_layout()
        terms = {each.when.index: each.when for each in instructions}
        values = elaborate_circuit(
            m,
            self._program.circuit,
            list(terms.values()),
            {"own": self.address},
            AddressLayout(self._program.network),
        )
        now, goes, here = Signal(layout), Signal(), Signal(len(instructions))
        m.d.comb += here.eq(Cat(equals(place, number) for number in range(len(instructions))))
        words = [layout.const(self._encoded(each)).as_value().value for each in instructions]
        condition = [
            any_of(bit for bit, each in zip(here, instructions, strict=True) if each.when.index == index) & value
            for index, value in zip(terms, values, strict=True)
        ]
        with m.If(fetch):
            for bit, target in enumerate(now.as_value()):
                m.d.sync += target.eq(any_of(each for each, word in zip(here, words, strict=True) if word >> bit & 1))
            m.d.sync += goes.eq(any_of(condition))
        return now, goes

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
                "ports": len(program.ports),
                "packet": index_width(program.packets),
            }
        )

    def _encoded(self, each: Instruction) -> dict[str, Any]:
        """Return an instruction as its fields; kinds and ports are one-hot."""
        registers = self._program.registers
        other, operand = OWN, Operand.IDENTITY
        if each.other is not None and each.other.startswith(received("")):
            operand = Operand.PACKET
        elif each.other is not None:
            other, operand = each.other, Operand.REGISTER
        return {
            "kind": 1 << each.kind,
            "register": registers.index(each.register),
            "combines": int(each.one is not None),
            "one": registers.index(each.one or OWN),
            "operand": operand,
            "other": registers.index(other),
            "ports": 1 << self._program.ports.index(each.port) if each.kind is Kind.SEND else 0,
            "packet": each.packet,
        }

    def _elaborate_instruction(
        self, m: Module, now: Any, goes: Value, run: Value, parity: Value, ends: Signal
    ) -> Value:
        """Do the current instruction; return whether it is the last of the operation."""
        sends, waits, combines, gives = (now.kind[kind] & goes & run for kind in Kind)
        job, combine, something = self.job.payload, self.combine.payload, Signal()
        there = self._elaborate_arrivals(m, now, parity, waits)
        pins = neighbor_pins(self._program).values()
        neighbors = [
            getattr(self, pin) & bit.replicate(len(self.address)) for bit, pin in zip(now.ports, pins, strict=True)
        ]
        m.d.comb += [
            self.job.valid.eq(sends | gives),
            job.register.eq(now.register),
            job.results.eq(gives),
            job.header.dst.eq(any_of(neighbors)),
            job.header.packet.eq(now.packet),
            job.header.parity.eq(parity),
            self.combine.valid.eq(combines & ~(self.reads & (self.register == now.register))),
            combine.register.eq(now.register),
            combine.combines.eq(now.combines),
            combine.one.eq(now.one),
            combine.operand.eq(Mux(equals(now.operand, Operand.PACKET) & ~something, Operand.IDENTITY, now.operand)),
            combine.other.eq(now.other),
            combine.packet.eq(now.packet),
            combine.parity.eq(parity),
            ends.eq(
                run
                & Mux(
                    goes,
                    ((sends | gives) & self.job.ready) | (waits & there) | (self.combine.valid & self.combine.ready),
                    1,
                )
            ),
        ]
        with m.If(run & now.kind[Kind.WAIT]):
            m.d.sync += something.eq(goes)
        return gives

    def _elaborate_arrivals(self, m: Module, now: Any, parity: Value, waits: Value) -> Value:
        """Note which packets have come; return whether the one that is waited for has, and forget it then."""
        there = [self.tail & (self.came == Cat(now.packet, parity))]
        for odd in range(2):
            for packet in range(self._program.packets):
                has_come = Signal(name=f"has_come_{packet}_{odd}")
                number = packet | odd << index_width(self._program.packets)
                is_here = (parity if odd else ~parity) & equals(now.packet, packet)
                comes = self.tail & equals(self.came, number)
                m.d.sync += has_come.eq((has_come | comes) & ~(is_here & waits))
                there.append(has_come & is_here)
        return any_of(there)

    def _first_places(self) -> Value:
        """Return the place of the first instruction of the operation that is asked for."""
        asked = asked_operation(self.operation.payload, self._messages)
        chosen = {start: equals(asked, operation) for operation, start in enumerate(self._program.starts)}
        return number_of(chosen, index_width(len(self._program.instructions)))
