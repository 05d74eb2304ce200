"""From packets to buffers: what comes out of the network, and the messages that a node gives itself."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collective.program import Program
from hdnhw.flit import MessageFormat
from hdnhw.rtl.bits import any_of, below, equals, index_width, less
from hdnhw.rtl.channel import ejection_signature
from hdnhw.rtl.collective.combiner import ClaimSignature
from hdnhw.rtl.collective.sorter import sort_layout
from hdnhw.rtl.collective.store import StoreWriteSignature
from hdnhw.rtl.header import header_layout
from hdnhw.topology.address import AddressLayout

__all__ = ["Receiver"]


class Receiver(wiring.Component):
    """Write messages to free buffers as they come, one flit a cycle, and have them sorted.

    A packet waits behind its header while there is no free buffer. The node's own messages come in while it `loads`,
    when no packet is there; the first is for the node of address 0, the next for the one after it, and so on.

    Parameters
    ----------
    program : Program
    messages : MessageFormat
    buffers : int

    Members
    -------
    address : In(address width)
    loads : In(1)
    send : In
        Number of the first send of the node's operation, while it loads.
    parity : In(1)
        Parity of the operations that the node has ended.
    eject : In(ejection_signature)
    i : In(stream of flits)
        Data flits of the node's own messages.
    slot : In(stream of buffers)
        Free ones.
    write : Out(StoreWriteSignature)
    sort : Out(stream of sort_layout)
    loaded : Out(1)
        High for one cycle with the last flit of each of the node's own messages.
    claim : Out(ClaimSignature), begun : In(1), operator : In
        Where messages are combined: the message that takes `slot`; whether all own messages of the current operation
        have been written; its operator, of several.
    """

    def __init__(self, program: Program, messages: MessageFormat, buffers: int) -> None:
        self._program, self._messages, self._layout = program, messages, AddressLayout(program.network)
        self._num_sends = len(program.sends)
        width = messages.flits.flit_width
        members: dict[str, Any] = {
            "address": In(self._layout.width),
            "loads": In(1),
            "send": In(index_width(len(program.sends))),
            "parity": In(1),
            "eject": In(ejection_signature(flit_width=width)),
            "i": In(stream.Signature(width)),
            "slot": In(stream.Signature(index_width(buffers))),
            "write": Out(StoreWriteSignature(messages, buffers)),
            "sort": Out(stream.Signature(sort_layout(program, buffers))),
            "loaded": Out(1),
        }
        if messages.operators:
            members |= {"claim": Out(ClaimSignature(messages)), "begun": In(1)}
        if messages.operator_width:
            members["operator"] = In(messages.operator_width)
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        headers, length = self._messages.header_flits, self._messages.flits.packet_length
        position, here = Signal(index_width(length)), Signal(index_width(length))
        loading, own, take = Signal(), Signal(), Signal()
        starts, tail, names, blocked = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            own.eq(loading | (equals(position, 0) & self.loads & ~self.eject.valid)),
            here.eq(Mux(own & ~loading, headers, position)),
            starts.eq(equals(here, headers) & own),
            tail.eq(equals(here, length - 1)),
        ]
        header = self._elaborate_header(m, here, take & ~own)
        m.d.comb += [
            names.eq(starts | (~own & equals(here, headers - 1) & header.holds)),
            blocked.eq((names & ~self.slot.valid) | (tail & self.sort.valid & ~self.sort.ready)),
            self.eject.ready.eq(~own & ~blocked),
            self.i.ready.eq(own & ~blocked),
            take.eq(Mux(own, self.i.valid, self.eject.valid) & ~blocked),
            self.slot.ready.eq(take & names),
            self.loaded.eq(take & own & tail),
        ]
        with m.If(take):
            m.d.sync += [position.eq(Mux(tail, 0, here + 1)), loading.eq(own & ~tail)]
        self._elaborate_write(m, header, own, here, take, names)
        return m

    def _elaborate_header(self, m: Module, here: Value, take: Value) -> Any:
        """Return the header of the packet that comes in, from its last header flit on."""
        width, headers = self._messages.flits.flit_width, self._messages.header_flits
        layout = header_layout(self._messages)
        kept, header = Signal(headers * width), Signal(layout)
        value = Signal.like(kept)
        for number in range(headers):
            part = slice(number * width, (number + 1) * width)
            arrives = equals(here, number)
            m.d.comb += value[part].eq(Mux(arrives, self.eject.payload.data, kept[part]))
            with m.If(take & arrives):
                m.d.sync += kept[part].eq(self.eject.payload.data)
        raw = data.View(layout, value[: layout.size])
        m.d.comb += header.eq(raw)
        if self._num_sends != 1 << len(raw.send):
            known = below(raw.send, self._num_sends)  # a stranger's packet holds nothing
            m.d.comb += [header[name].eq(raw[name] & known) for name in ("holds", "ready", "last")]
        return header

    def _elaborate_write(self, m: Module, header: Any, own: Value, here: Value, take: Value, names: Value) -> None:
        """Write the buffer, and offer it for sorting behind the last flit."""
        slot, write, sort = Signal.like(self.slot.payload), self.write, self.sort
        target = self._elaborate_target(m) if self._messages.has_target else None
        with m.If(take & names):
            m.d.sync += slot.eq(self.slot.payload)
        m.d.comb += [
            write.enable.eq(take & ~below(here, self._messages.header_flits) & (own | header.holds)),
            write.slot.eq(Mux(names, self.slot.payload, slot)),
            write.flit.eq(here[: len(write.flit)]),
            write.data.eq(Mux(own, self.i.payload, self.eject.payload.data)),
            write.labels.eq(take & names),
            write.label.source.eq(Mux(self._is_own(header, own), self.address, header.source)),
        ]
        if target is not None:
            m.d.comb += write.label.target.eq(Mux(own, target, header.target))
        if self._messages.operators:
            self._elaborate_claim(m, header, own, take & names, target)
        with m.If(~sort.valid | sort.ready):
            m.d.sync += [
                sort.valid.eq(take & equals(here, self._messages.flits.packet_length - 1)),
                sort.payload.slot.eq(Mux(names, self.slot.payload, slot)),
                sort.payload.source.eq(write.label.source),
                sort.payload.send.eq(Mux(own, self.send, header.send)),
                sort.payload.begins.eq(own),
                sort.payload.parity.eq(Mux(own, self.parity, header.parity)),
                sort.payload.holds.eq(own | header.holds),
                sort.payload.ready.eq(~own & header.ready),
                sort.payload.last.eq(~own & header.last),
            ]
            if target is not None:
                m.d.sync += sort.payload.target.eq(write.label.target)

    def _is_own(self, header: Any, own: Value) -> Value:
        """Return whether a message is from the node itself, as all are that have been combined with its own."""
        return own | self._combines(header.send) if self._messages.operators else own

    def _combines(self, send: Value) -> Value:
        """Return whether messages are combined that come by a send."""
        return any_of(equals(send, n) for n, each in enumerate(self._program.sends) if each.schedule.combines)

    def _elaborate_claim(self, m: Module, header: Any, own: Value, begins: Value, target: Signal | None) -> None:
        """Say of a message, when it takes a buffer, whether it is combined and with what."""
        claim, write = self.claim.payload, self.write
        here = self.begun if target is None else self.begun | (self.loads & less(header.target, target))
        m.d.comb += [
            self.claim.valid.eq(begins),
            claim.own.eq(own),
            claim.combines.eq(Mux(own, self._combines(self.send), self._combines(header.send))),
            claim.held.eq(~own & here & (header.parity == self.parity)),
            claim.parity.eq(Mux(own, self.parity, header.parity)),
            claim.block.eq(0 if target is None else write.label.target),
            write.label_slot.eq(self.slot.payload),
        ]
        if self._messages.operator_width:
            m.d.comb += claim.operator.eq(Mux(own, self.operator, header.operator))

    def _elaborate_target(self, m: Module) -> Signal:
        """Count addresses that name nodes, from 0 on, one for each of the node's own messages."""
        target, carry = Signal(self._layout.width), self.loaded
        for field in reversed(self._layout.fields):
            if field.width:
                digit = target[field.offset : field.offset + field.width]
                wraps = equals(digit, field.radix - 1)
                with m.If(carry):
                    m.d.sync += digit.eq(Mux(wraps, 0, digit + 1))
                carry = carry & wraps
        with m.If(~self.loads):
            m.d.sync += target.eq(0)
        return target
