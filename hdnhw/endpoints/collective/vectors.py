"""The registers of a register machine, the packets that have come, and what combines them."""

from enum import IntEnum
from itertools import pairwise
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collectives.instructions import RegisterProgram
from hdnhw.endpoints.collective.format import RegisterFormat
from hdnhw.endpoints.collective.numbers import combined, identity
from hdnhw.rtl.bits import below, equal, equals, index_width, less, selected


class Operand(IntEnum):
    """What the second value of a combination is."""

    REGISTER = 0
    PACKET = 1
    HOST = 2
    IDENTITY = 3


OPERAND_WIDTH = 2
"""Bits of one."""


def combine_layout(program: RegisterProgram) -> data.StructLayout:
    """Return what is combined.

    If it `writes`, `register` gets `one` combined with what `operand` says: register `other`, a packet by its number,
    or what comes from the host; if not `combines`, it gets that alone.
    """
    register = index_width(len(program.registers))
    return data.StructLayout(
        {
            "register": register,
            "writes": 1,
            "combines": 1,
            "one": register,
            "operand": OPERAND_WIDTH,
            "other": register,
            "packet": index_width(program.packets),
        }
    )


PIPELINE = 3
"""Least cycles of a combination: what is taken after them reads what it writes."""


class VectorWriteSignature(wiring.Signature):
    """Writing, a flit per cycle; `place` is the flit's position in a packet, modulo a power of two.

    Members
    -------
    enable, vector, place, data : Out
        `vector` is a packet with its parity above it.
    """

    def __init__(self, messages: RegisterFormat, vectors: int) -> None:
        members = {"enable": 1, "vector": index_width(vectors), "place": index_width(messages.payload_flits)}
        super().__init__({name: Out(width) for name, width in (members | {"data": messages.flits.flit_width}).items()})


class VectorReadSignature(wiring.Signature):
    """Reading a register, from its first flit to its last.

    Members
    -------
    active : Out(1)
        High until the last flit has been used.
    register, position : Out
        The register that is read while `active`, and the position in a packet of the flit that is used next: that of
        `data`, if it is not in the header.
    place, enable : Out
        Position, modulo a power of two, of the flit that `data` is in the next cycle; if not `enable`, it stays.
    data : In(flit width)
    there, next_there : In(1)
        Whether in the next cycle the flit at `position`, or the one after it, is what has been combined, in a register
        into which something is combined while it is read.
    """

    def __init__(self, messages: RegisterFormat, vectors: int) -> None:
        super().__init__(
            {
                "active": Out(1),
                "register": Out(index_width(vectors)),
                "position": Out(index_width(messages.flits.packet_length)),
                "place": Out(index_width(messages.payload_flits)),
                "enable": Out(1),
                "data": In(messages.flits.flit_width),
                "there": In(1),
                "next_there": In(1),
            }
        )


class Vectors(wiring.Component):
    """Two memories, that of the registers and that of the packets, and one combination at a time, a flit per cycle.

    A combination waits for each flit of its packet, or of the host. It may be read from when it has been taken:
    whoever reads waits for each flit, and until all have been written nothing else is taken. A register that is read
    is not written before it has been read to its end.

    Members
    -------
    came : In(VectorWriteSignature)
        Of packets; at any time.
    parity : In(1)
        Of the operation; stays while `busy`.
    packet, position : Out
        The packet that is combined, and the position of its flit that is needed next.
    changes : Out(1)
        High in the cycle before `packet` changes.
    there : In(1)
        Whether that has been written.
    i : In(stream of flits)
        Of the host.
    read : In(VectorReadSignature)
        Of registers.
    operator : In
        Place of the operator in those of `messages`; stays while `busy`.
    combine : In(stream of combine_layout)
        Taken when all flits of the one before are under way; what follows reads what was written.
    busy : Out(1)
        Whether a combination that has been taken has not been written.
    """

    def __init__(self, program: RegisterProgram, messages: RegisterFormat) -> None:
        self._messages, self._registers = messages, len(program.registers)
        packets = 2 << index_width(program.packets)
        self._job = combine_layout(program)
        self._end = messages.header_flits + max(messages.payload_flits, PIPELINE)
        super().__init__(
            {
                "came": In(VectorWriteSignature(messages, packets)),
                "parity": In(1),
                "packet": Out(index_width(program.packets)),
                "position": Out(index_width(self._end)),
                "changes": Out(1),
                "there": In(1),
                "i": In(stream.Signature(messages.flits.flit_width)),
                "read": In(VectorReadSignature(messages, self._registers)),
                "operator": In(max(1, messages.operator_width)),
                "combine": In(stream.Signature(self._job)),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        job, take, goes = Signal(self._job), Signal(), Signal()
        written = Signal(data.StructLayout({"flit": 1, "last": 1}))
        ends = self._elaborate_position(m, job, take, goes)
        followed = self._elaborate_following(m, job, take, ends, written)
        next_job, read = self.combine.payload, self.read
        overtakes = read.active & next_job.writes & equal(read.register, next_job.register)
        m.d.comb += [
            self.packet.eq(job.packet),
            self.changes.eq(take),
            self.combine.ready.eq(ends & ~followed & ~overtakes),
            take.eq(self.combine.valid & self.combine.ready),
        ]
        with m.If(take):
            m.d.sync += job.eq(next_job)
        self._elaborate_pipeline(m, job, take, goes, written)
        return m

    def _elaborate_position(self, m: Module, job: Any, take: Value, goes: Signal) -> Value:
        """Go through the flits of a combination; return whether there is none, or its last one is under way."""
        headers, length = self._messages.header_flits, self._messages.flits.packet_length
        combining, position = Signal(), Signal(len(self.position), init=headers)
        is_data, last = below(position, length), equals(position, self._end - 1)
        of_packet, of_host = (equals(job.operand, operand) for operand in (Operand.PACKET, Operand.HOST))
        advance, ends = Signal(), Signal()
        m.d.comb += [
            self.position.eq(position),
            self.i.ready.eq(combining & is_data & of_host),
            goes.eq(combining & is_data & ~(of_packet & ~self.there) & ~(of_host & ~self.i.valid)),
            advance.eq(goes | (combining & ~is_data)),
            ends.eq(~combining | (advance & last)),
        ]
        m.d.sync += combining.eq(take | ~ends)
        with m.If(advance):
            m.d.sync += position.eq(Mux(last, headers, position + 1))
        return ends

    def _elaborate_following(self, m: Module, job: Any, take: Value, ends: Value, written: Any) -> Value:
        """Count what has been written of a combination; return whether it is read before all has been."""
        headers, length = self._messages.header_flits, self._messages.flits.packet_length
        count, position = Signal(index_width(length + 1), init=headers), self.read.position
        is_same = self.busy & job.writes & equal(self.read.register, job.register)
        m.d.comb += [
            self.read.there.eq(~is_same | less(position, count)),
            self.read.next_there.eq(~is_same | less(position + 1, count)),
        ]
        m.d.sync += self.busy.eq(take | (self.busy & ~Mux(job.writes, written.last, ends)))
        m.d.sync += count.eq(Mux(take, headers, count + written.flit))
        return self.read.active & is_same

    def _elaborate_pipeline(self, m: Module, job: Any, take: Value, goes: Value, written: Any) -> None:
        """Read, combine and write, in four cycles; `written` is a flit of the combination taken last, or its last one.

        Packets are read a cycle before registers, since they go through a register of their own.
        """
        register, width = len(job.register), len(self.read.place)
        layout = data.StructLayout(
            {"active": 1, "latest": 1, "place": width, "register": register, "combines": 1, "operand": OPERAND_WIDTH}
            | {"last": 1}
        )
        stages = asked, read, ready = [Signal(layout, name=name) for name in ("asked", "read", "ready")]
        one, other = Signal(register), Signal(register)
        m.d.sync += [
            asked.active.eq(goes & job.writes),
            asked.place.eq(self.position[:width]),
            asked.last.eq(equals(self.position, self._messages.flits.packet_length - 1)),
            asked.register.eq(job.register),
            asked.combines.eq(job.combines),
            asked.operand.eq(job.operand),
            one.eq(job.one),
            other.eq(job.other),
            read.eq(asked),
            ready.eq(read),
            asked.latest.eq(~take),
            *(after.latest.eq(before.latest & ~take) for before, after in pairwise(stages)),
        ]
        write, first, second = self._elaborate_registers(m, Cat(asked.place, one), Cat(asked.place, other))
        values = {
            Operand.REGISTER: second,
            Operand.PACKET: self._elaborate_packets(m, Cat(self.position[:width], job.packet, self.parity)),
            Operand.HOST: self._elaborate_host(m),
            Operand.IDENTITY: identity(self._messages, self.operator),
        }
        pair = Signal.like(first), Signal.like(second)
        chosen = selected((equals(read.operand, each) for each in values), values.values())
        m.d.sync += [pair[0].eq(first), pair[1].eq(chosen)]
        m.d.comb += [
            write.en.eq(ready.active),
            write.addr.eq(Cat(ready.place, ready.register)),
            write.data.eq(Mux(ready.combines, combined(self._messages, *pair, self.operator), pair[1])),
            written.flit.eq(ready.active & ready.latest),
            written.last.eq(written.flit & ready.last),
        ]

    def _elaborate_registers(self, m: Module, one: Value, other: Value) -> tuple[Any, Value, Value]:
        """Add the memory of the registers; return its write port, and what two addresses give in the next cycle."""
        flit, depth = self._messages.flits.flit_width, 1 << len(one)
        m.submodules.registers = registers = memory.Memory(shape=flit, depth=depth, init=[])
        first, second, sent = (registers.read_port() for _ in range(3))
        m.d.comb += [
            first.addr.eq(one),
            second.addr.eq(other),
            sent.addr.eq(Cat(self.read.place, self.read.register)),
            sent.en.eq(self.read.enable),
            self.read.data.eq(sent.data),
        ]
        return registers.write_port(), first.data, second.data

    def _elaborate_packets(self, m: Module, address: Value) -> Value:
        """Add the memory of the packets; return what is read at an address, in the cycle after the next."""
        flit, depth = self._messages.flits.flit_width, 1 << len(address)
        # Nobody needs a flit in the cycle in which it is written: what comes out then may be anything.
        unchecked = {"no_rw_check": 1}
        m.submodules.packets = packets = memory.Memory(shape=flit, depth=depth, init=[], attrs=unchecked)
        came, port = packets.write_port(), packets.read_port()
        packet = Signal(flit, reset_less=True)  # the memory's own register, where it has one
        m.d.comb += [
            came.en.eq(self.came.enable),
            came.addr.eq(Cat(self.came.place, self.came.vector)),
            came.data.eq(self.came.data),
            port.addr.eq(address),
        ]
        m.d.sync += packet.eq(port.data)
        return packet

    def _elaborate_host(self, m: Module) -> Value:
        """Return what the host offers, in the cycle after the next."""
        host, taken = (Signal(self._messages.flits.flit_width, name=name) for name in ("host", "host_taken"))
        m.d.sync += [taken.eq(self.i.payload), host.eq(taken)]
        return host
