"""The registers of a register machine, the packets that have come, and what combines them."""

from enum import IntEnum
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collective.instructions import RegisterProgram
from hdnhw.flit import RegisterFormat
from hdnhw.rtl.bits import below, equals, index_width
from hdnhw.rtl.collective.numbers import combined, identity

__all__ = ["OPERAND_WIDTH", "Operand", "VectorReadSignature", "VectorWriteSignature", "Vectors", "combine_layout"]


class Operand(IntEnum):
    """What the second value of a combination is."""

    REGISTER = 0
    PACKET = 1
    IDENTITY = 2


OPERAND_WIDTH = 2
"""Bits of one."""


def combine_layout(program: RegisterProgram) -> data.StructLayout:
    """Return what is combined.

    `register` gets `one` combined with what `operand` says: register `other`, or a packet by its number and the parity
    of its operation; if not `combines`, it gets that alone.
    """
    register = index_width(len(program.registers))
    return data.StructLayout(
        {
            "register": register,
            "combines": 1,
            "one": register,
            "operand": OPERAND_WIDTH,
            "other": register,
            "packet": index_width(program.packets),
            "parity": 1,
        }
    )


PIPELINE = 3
"""Cycles from the one in which a flit is asked for to the one in which what is made of it can be read."""


class VectorWriteSignature(wiring.Signature):
    """Writing, a flit a cycle; `place` is the flit's position in a packet, modulo a power of two.

    Members
    -------
    enable, vector, place, data : Out
        `vector` is a register, or a packet with its parity above it.
    """

    def __init__(self, messages: RegisterFormat, vectors: int) -> None:
        members = {"enable": 1, "vector": index_width(vectors), "place": index_width(messages.payload_flits)}
        super().__init__({name: Out(width) for name, width in (members | {"data": messages.flits.flit_width}).items()})


class VectorReadSignature(wiring.Signature):
    """Reading: what is there comes in the next cycle.

    Members
    -------
    vector, place : Out
    data : In(flit width)
    """

    def __init__(self, messages: RegisterFormat, vectors: int) -> None:
        super().__init__(
            {
                "vector": Out(index_width(vectors)),
                "place": Out(index_width(messages.payload_flits)),
                "data": In(messages.flits.flit_width),
            }
        )


class Vectors(wiring.Component):
    """Two memories, that of the registers and that of the packets, and one combination at a time, a flit a cycle.

    Parameters
    ----------
    program : RegisterProgram
    messages : RegisterFormat

    Members
    -------
    load : In(VectorWriteSignature)
        Of registers; not while something is combined.
    came : In(VectorWriteSignature)
        Of packets; at any time.
    read : In(VectorReadSignature)
        Of registers; at any time.
    operator : In
        Place of the operator in those of `messages`.
    combine : In(stream of combine_layout)
        Taken with the last flit, after three cycles at least; what follows reads what was written.
    """

    def __init__(self, program: RegisterProgram, messages: RegisterFormat) -> None:
        self._messages, self._registers = messages, len(program.registers)
        self._packets = 2 << index_width(program.packets)
        super().__init__(
            {
                "load": In(VectorWriteSignature(messages, self._registers)),
                "came": In(VectorWriteSignature(messages, self._packets)),
                "read": In(VectorReadSignature(messages, self._registers)),
                "operator": In(max(1, messages.operator_width)),
                "combine": In(stream.Signature(combine_layout(program))),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        headers, length = self._messages.header_flits, self._messages.flits.packet_length
        end = headers + max(self._messages.payload_flits, PIPELINE)
        job, width = self.combine.payload, len(self.load.place)
        position = Signal(index_width(end), init=headers)
        write, (one, other, packet) = self._elaborate_memories(m, position[:width])
        m.d.comb += self.combine.ready.eq(equals(position, end - 1))
        with m.If(self.combine.valid):
            m.d.sync += position.eq(Mux(self.combine.ready, headers, position + 1))
        layout = data.StructLayout({"active": 1, "place": width, "register": len(job.register), "combines": 1})
        read, ready, operand = Signal(layout), Signal(layout), Signal.like(job.operand)
        first, second = Signal.like(one), Signal.like(other)
        m.d.sync += [
            read.active.eq(self.combine.valid & below(position, length)),
            read.place.eq(position[:width]),
            read.register.eq(job.register),
            read.combines.eq(job.combines),
            operand.eq(job.operand),
            first.eq(one),
            second.eq(
                Mux(
                    equals(operand, Operand.REGISTER),
                    other,
                    Mux(equals(operand, Operand.PACKET), packet, identity(self._messages, self.operator)),
                )
            ),
            ready.eq(read),
        ]
        made = Mux(ready.combines, combined(self._messages, first, second, self.operator), second)
        m.d.comb += [
            write.en.eq(ready.active | self.load.enable),
            write.addr.eq(Mux(ready.active, Cat(ready.place, ready.register), Cat(self.load.place, self.load.vector))),
            write.data.eq(Mux(ready.active, made, self.load.data)),
        ]
        return m

    def _elaborate_memories(self, m: Module, place: Value) -> tuple[Any, list[Value]]:
        """Add both memories; return the write port of registers, and what has been read for a combination."""
        flit, job, width = self._messages.flits.flit_width, self.combine.payload, len(place)
        depths = [index_width(count) + width for count in (self._registers, self._packets)]
        m.submodules.registers = registers = memory.Memory(shape=flit, depth=1 << depths[0], init=[])
        m.submodules.packets = packets = memory.Memory(shape=flit, depth=1 << depths[1], init=[])
        write, came = registers.write_port(), packets.write_port()
        one, other, sent = (registers.read_port() for _ in range(3))
        packet = packets.read_port()
        m.d.comb += [
            came.en.eq(self.came.enable),
            came.addr.eq(Cat(self.came.place, self.came.vector)),
            came.data.eq(self.came.data),
            one.addr.eq(Cat(place, job.one)),
            other.addr.eq(Cat(place, job.other)),
            packet.addr.eq(Cat(place, job.packet, job.parity)),
            sent.addr.eq(Cat(self.read.place, self.read.vector)),
            self.read.data.eq(sent.data),
        ]
        return write, [one.data, other.data, packet.data]
