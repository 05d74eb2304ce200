"""From packets to buffers: what comes out of the network, and the messages that a node gives itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collectives.program import Program
from hdnhw.endpoints.collective.combiner import ClaimSignature
from hdnhw.endpoints.collective.format import MessageFormat
from hdnhw.endpoints.collective.sorter import sort_layout
from hdnhw.endpoints.collective.store import StoreWriteSignature
from hdnhw.rtl.bits import any_of, below, equals, index_width, less
from hdnhw.rtl.channel import ejection_signature
from hdnhw.rtl.header import header_layout
from hdnhw.topology.address import AddressLayout


def told_layout(messages: MessageFormat) -> data.StructLayout:
    """Return what the header of a packet says of the sender's step: see :class:`MessageFormat`."""
    fields = {"send": messages.header_fields["send"], "ready": 1, "last": 1}
    return data.StructLayout(fields | ({"parity": 1, "member": 1} if messages.has_groups else {}))


class Receiver(wiring.Component):
    """Have messages sorted when they begin to come, and write them to free buffers, one flit per cycle.

    A packet waits behind its header while there is no free buffer. The node's own messages come in while it `loads`,
    when no packet is there; the first is for the node of address 0, the next for the one after it, and so on. One of
    several packets is cut into these.

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
        A cycle behind what comes.
    sort : Out(stream of sort_layout)
        Of a message, in the cycle after the one in which it takes a buffer.
    told : Out(told_layout)
        What a packet says beside its message: `ready`, `last` and `member` in the cycle after its last flit, `send` and
        `parity` from the one with that flit on.
    loaded : Out(1)
        High for one cycle with the last flit of each packet of the node's own messages.
    ended : In(1)
        Where messages are variable: high for one cycle with the last flit of each of the node's own messages, or where
        one has no packet.
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
            "sort": Out(stream.Signature(sort_layout(program, buffers), always_ready=True)),
            "loaded": Out(1),
            "told": Out(told_layout(messages)),
        }
        if messages.variable_messages:
            members["ended"] = In(1)
        if messages.operators:
            members |= {"claim": Out(ClaimSignature(messages)), "begun": In(1)}
        if messages.operator_width:
            members["operator"] = In(messages.operator_width)
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        headers, length = self._messages.header_flits, self._messages.flits.packet_length
        position, at = Signal(index_width(length)), [Signal(name=f"at_{number}") for number in range(length)]
        loading, starts, begins, take, tail = Signal(), Signal(), Signal(), Signal(), Signal()
        own, offered = Signal(), self.i.valid
        header, kept = self._elaborate_header(m, at, loading)
        m.d.comb += [
            *(bit.eq(equals(position, number)) for number, bit in enumerate(at)),
            starts.eq(~loading & at[0] & self.loads & ~self.eject.valid),
            own.eq(loading | starts),
            begins.eq(~loading & at[headers - 1] & header.holds),
            self.eject.ready.eq(~loading & (~begins | self.slot.valid)),  # while it is valid, nothing starts
            self.i.ready.eq(loading | (starts & self.slot.valid)),
            self.slot.ready.eq(self.slot.valid & ((starts & offered) | (begins & self.eject.valid))),
            take.eq((self.eject.valid & self.eject.ready) | (offered & self.i.ready)),
            tail.eq(at[length - 1] | (starts if headers == length - 1 else 0)),
            self.loaded.eq(offered & self.i.ready & tail),
            self.told.send.eq(kept.send),
        ]
        comes = ~loading & self.eject.valid
        m.d.sync += [
            self.told.ready.eq(comes & at[length - 1] & kept.ready),
            self.told.last.eq(comes & at[length - 1] & kept.last),
            self.write.enable.eq((offered & self.i.ready) | (comes & ~below(position, headers) & kept.holds)),
        ]
        if self._messages.has_groups:
            m.d.sync += self.told.member.eq(comes & at[length - 1] & kept.member)
            m.d.comb += self.told.parity.eq(kept.parity)
        with m.If(take):
            m.d.sync += [
                position.eq(Mux(tail, 0, Mux(starts, headers + 1, position + 1))),
                loading.eq(own & ~tail),
            ]
        self._elaborate_write(m, header, own, at, position, loading)
        return m

    def _elaborate_header(self, m: Module, at: Sequence[Value], loading: Value) -> tuple[Any, Any]:
        """Return the header of the packet that comes in: while its last flit is there, and from the next cycle on."""
        width, headers = self._messages.flits.flit_width, self._messages.header_flits
        layout = header_layout(self._messages)
        flits = [Signal(width, name=f"header_{number}") for number in range(headers)]
        for number, flit in enumerate(flits):
            with m.If(at[number] & ~loading):
                m.d.sync += flit.eq(self.eject.payload.data)
        raw = data.View(layout, Cat(*flits[:-1], self.eject.payload.data)[: layout.size])
        header, kept, known = Signal(layout), Signal(layout), Signal(init=1)
        m.d.comb += [header.eq(raw), kept.eq(Cat(flits)[: layout.size])]
        if self._num_sends != 1 << len(raw.send):  # a stranger's packet holds nothing
            m.d.comb += header.holds.eq(raw.holds & below(raw.send, self._num_sends))
            with m.If(at[headers - 1] & ~loading):
                m.d.sync += known.eq(below(raw.send, self._num_sends))
            old = data.View(layout, Cat(flits)[: layout.size])
            names = [name for name in ("holds", "ready", "last", "member") if name in layout.members]
            m.d.comb += [kept[name].eq(old[name] & known) for name in names]
        return header, kept

    def _elaborate_write(
        self, m: Module, header: Any, own: Value, at: Sequence[Value], position: Value, loading: Value
    ) -> None:
        """Write the buffer per cycle later, and offer the message for sorting as soon as it has one.

        What is known of a message is taken again in each cycle in which it waits for a buffer.
        """
        messages, write, sort, slot = self._messages, self.write, self.sort, Signal.like(self.slot.payload)
        counts = self._elaborate_counts(m)
        with m.If(~loading & (at[0] | at[messages.header_flits - 1])):
            m.d.sync += [
                slot.eq(self.slot.payload),
                write.label.source.eq(Mux(self._is_own(header, own), self.address, header.source)),
                sort.payload.send.eq(Mux(own, self.send, header.send)),
                sort.payload.begins.eq(own),
                sort.payload.early.eq(~own & (header.parity != self.parity)),
            ]
            m.d.sync += [write.label[name].eq(Mux(own, count, header[name])) for name, count in counts.items()]
        m.d.sync += [
            write.flit.eq(Mux(at[0], messages.header_flits, position)[: len(write.flit)]),
            write.data.eq(Mux(loading | at[0], self.i.payload, self.eject.payload.data)),
            write.labels.eq(self.slot.ready),
            sort.valid.eq(self.slot.ready),
        ]
        m.d.comb += [
            write.slot.eq(slot),
            write.label.send.eq(sort.payload.send),
            sort.payload.slot.eq(slot),
            sort.payload.source.eq(write.label.source),
        ]
        if "target" in counts:
            m.d.comb += sort.payload.target.eq(write.label.target)
        if messages.operators:
            self._elaborate_claim(m, header, own, self.slot.ready, counts)
            m.d.comb += write.label_slot.eq(slot)

    def _is_own(self, header: Any, own: Value) -> Value:
        """Return whether a message is from the node itself, as all are that have been combined with its own."""
        return own | self._combines(header.send) if self._messages.operators else own

    def _combines(self, send: Value, *, first: bool = False) -> Value:
        """Return whether messages are combined that come by a send, which may be known to be its operation's first."""
        program = self._program
        firsts = {program.numbers_of(operation).start for operation in range(len(program.schedules))}
        combining = {number for number, each in enumerate(program.sends) if each.schedule.combines}
        return any_of(equals(send, number) for number in sorted(combining & firsts if first else combining))

    def _elaborate_claim(self, m: Module, header: Any, own: Value, begins: Value, counts: Mapping[str, Signal]) -> None:
        """Say of a message, when it takes a buffer, whether it is combined and with what."""
        claim, here = self.claim.payload, self.begun
        if counts:
            here = here | (self.loads & less(Cat(header[name] for name in counts), Cat(counts.values())))
        m.d.comb += [
            self.claim.valid.eq(begins),
            claim.own.eq(own),
            claim.combines.eq(Mux(own, self._combines(self.send, first=True), self._combines(header.send))),
            claim.held.eq(~own & here & (header.parity == self.parity)),
            claim.parity.eq(Mux(own, self.parity, header.parity)),
            claim.block.eq(Cat(Mux(own, count, header[name]) for name, count in counts.items()) if counts else 0),
        ]
        if self._messages.operator_width:
            m.d.comb += claim.operator.eq(Mux(own, self.operator, header.operator))

    def _elaborate_counts(self, m: Module) -> dict[str, Signal]:
        """Count the node's own packets by what labels say of them, from 0 on, the fastest first.

        `part` runs through the packets of a message, `target` through the addresses that name nodes.
        """
        counts: dict[str, Signal] = {}
        target, carry = Signal(self._layout.width), self.loaded
        if self._messages.part_width:
            counts["part"] = part = Signal(self._messages.part_width)
            carry = self._elaborate_digit(m, part, self._messages.message_packets, carry)
            if self._messages.variable_messages:
                with m.If(self.ended):
                    m.d.sync += part.eq(0)
        if self._messages.variable_messages:
            carry = self.ended
        if self._messages.has_target:
            counts["target"] = target
            for field in reversed(self._layout.fields):
                if field.width:
                    digit = target[field.offset : field.offset + field.width]
                    carry = self._elaborate_digit(m, digit, field.radix, carry)
            with m.If(~self.loads):
                m.d.sync += target.eq(0)
        return counts

    def _elaborate_digit(self, m: Module, digit: Value, radix: int, carry: Value) -> Value:
        """Let a digit go on with a carry; return that of the next one."""
        wraps = equals(digit, radix - 1)
        with m.If(carry):
            m.d.sync += digit.eq(Mux(wraps, 0, digit + 1))
        return carry & wraps
