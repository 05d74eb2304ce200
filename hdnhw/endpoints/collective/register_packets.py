"""Packets of a register machine: from a register to the network or the node's user, and from the network to memory."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collectives.instructions import RegisterProgram
from hdnhw.endpoints.collective.format import RegisterFormat
from hdnhw.endpoints.collective.host import result_layout
from hdnhw.endpoints.collective.vectors import PIPELINE, VectorReadSignature, VectorWriteSignature
from hdnhw.rtl.bits import any_of, below, equal, equals, index_width, less
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.header import header_layout


class PacketReceiver(wiring.Component):
    """Write every packet where no other one comes before it has been read; never wait.

    Members
    -------
    eject : In(ejection_signature)
        Always ready.
    write : Out(VectorWriteSignature)
    parity : In(1)
        Of the operation.
    forgets : In(1)
        High when it has ended: its packets count as not there.
    packet, position : In
        A packet of the operation, and the position of one of its flits.
    changes : In(1)
        High in the cycle before `packet` changes.
    there : Out(1)
        Whether that can be read.
    """

    def __init__(self, program: RegisterProgram, messages: RegisterFormat) -> None:
        self._messages, self._packets = messages, program.packets
        width = index_width(program.packets)
        super().__init__(
            {
                "eject": In(ejection_signature(flit_width=messages.flits.flit_width)),
                "write": Out(VectorWriteSignature(messages, 2 << width)),
                "parity": In(1),
                "forgets": In(1),
                "packet": In(width),
                "position": In(index_width(messages.header_flits + max(messages.payload_flits, PIPELINE))),
                "changes": In(1),
                "there": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        messages, write = self._messages, self.write
        width, length, headers = messages.flits.flit_width, messages.flits.packet_length, messages.header_flits
        layout = header_layout(messages)
        position, kept = Signal(index_width(length)), Signal(headers * width)
        tail, header = equals(position, length - 1), data.View(layout, kept[: layout.size])
        with m.If(self.eject.valid):
            m.d.sync += position.eq(Mux(tail, 0, position + 1))
            for number in range(headers):
                with m.If(equals(position, number)):
                    m.d.sync += kept[number * width : (number + 1) * width].eq(self.eject.payload.data)
        has_come = Signal()  # known a cycle late of a packet that has just been asked for
        arrived = self._elaborate_arrivals(m, write.vector, self.eject.valid & tail)
        comes = ~below(position, headers) & equal(write.vector, Cat(self.packet, self.parity))
        m.d.sync += has_come.eq((arrived | (comes & self.eject.valid & tail)) & ~self.changes)
        m.d.comb += [
            self.eject.ready.eq(1),
            write.enable.eq(self.eject.valid & ~below(position, headers)),
            write.vector.eq(Cat(header.packet, header.parity)),
            write.place.eq(position[: len(write.place)]),
            write.data.eq(self.eject.payload.data),
            self.there.eq(has_come | (comes & less(self.position, position))),
        ]
        return m

    def _elaborate_arrivals(self, m: Module, comes: Value, tail: Value) -> Value:
        """Note which packets have come to their tail; return whether the one that is asked for has."""
        there = []
        for odd in range(2):
            is_odd = self.parity if odd else ~self.parity
            for packet in range(self._packets):
                has_come = Signal(name=f"has_come_{packet}_{odd}")
                is_it = tail & equals(comes, packet | odd << len(self.packet))
                m.d.sync += has_come.eq((has_come | is_it) & ~(is_odd & self.forgets))
                there.append(has_come & is_odd & equals(self.packet, packet))
        return any_of(there)


def packet_layout(program: RegisterProgram, messages: RegisterFormat) -> data.StructLayout:
    """Return what a sender is asked to send: a register, and whether to the node itself, as a result."""
    return data.StructLayout(
        {"register": index_width(len(program.registers)), "results": 1, "header": header_layout(messages)}
    )


class PacketSender(wiring.Component):
    """Send registers, without a gap if all that is sent is there.

    Members
    -------
    address : In(address width)
        The node's own packed address.
    job : In(stream of packet_layout)
        The head flit, or the first one of a result, is offered two cycles later; data when it is there.
    read : Out(VectorReadSignature)
    inject : Out(injection_signature)
    o : Out(stream of result_layout)
    giving : Out(1)
        Whether a result has not been taken.
    """

    def __init__(self, program: RegisterProgram, messages: RegisterFormat) -> None:
        self._messages = messages
        super().__init__(
            {
                "address": In(messages.flits.address_width),
                "job": In(stream.Signature(packet_layout(program, messages))),
                "read": Out(VectorReadSignature(messages, len(program.registers))),
                "inject": Out(injection_signature(flit_width=messages.flits.flit_width)),
                "o": Out(stream.Signature(result_layout(messages))),
                "giving": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        messages, job, read = self._messages, self.job, self.read
        length, headers = messages.flits.packet_length, messages.header_flits
        active, results, register = Signal(), Signal(), Signal.like(job.payload.register)
        position, load, advance, last, there = Signal(index_width(length)), Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            last.eq(equals(position, length - 1)),
            job.ready.eq(~active),
            load.eq(job.valid & job.ready),
            read.active.eq(active),
            read.register.eq(register),
            read.position.eq(position),
            read.place.eq(Mux(there, position + 1, position)[: len(read.place)]),
            read.enable.eq(advance | ~there),
            self.giving.eq((active & results) | self.o.valid),
        ]
        m.d.sync += [
            position.eq(Mux(load, Mux(job.payload.results, headers, 0), position + advance)),
            there.eq(Mux(advance, read.next_there, read.there)),
        ]
        with m.If(advance & last):
            m.d.sync += active.eq(0)
        with m.If(load):
            m.d.sync += [active.eq(1), results.eq(job.payload.results), register.eq(job.payload.register)]
            m.d.sync += there.eq(~job.payload.results)
        self._elaborate_flits(m, position, load, active & results & there, active & ~results & there, advance)
        return m

    def _elaborate_flits(
        self, m: Module, position: Value, load: Value, gives: Value, sends: Value, advance: Signal
    ) -> None:
        """Offer header and data to the network, or data to the node's user, from registers."""
        messages, inject, o = self._messages, self.inject, self.o
        width, headers = messages.flits.flit_width, messages.header_flits
        shift, free, taken = Signal(messages.header_width), Signal(), Signal()
        m.d.comb += [
            free.eq(~inject.valid | inject.ready),
            taken.eq(~o.valid | o.ready),
            advance.eq((gives & taken) | (sends & free)),
        ]
        with m.If(free):
            m.d.sync += inject.valid.eq(sends)
            m.d.sync += inject.payload.eq(Mux(below(position, headers), shift[:width], self.read.data))
        with m.If(taken):
            m.d.sync += [
                o.valid.eq(gives & self.read.there),
                o.payload.data.eq(self.read.data),
                o.payload.source.eq(self.address),
            ]
            m.d.sync += o.payload.last.eq(equals(position, messages.flits.packet_length - 1))
        if headers > 1:
            with m.If(advance):
                m.d.sync += shift.eq(shift[width:])
        with m.If(load):
            m.d.sync += shift.eq(self.job.payload.header)
