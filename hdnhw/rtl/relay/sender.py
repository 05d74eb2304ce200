"""What a relay sends into the fabric."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.flit import RelayFormat, RelayKind
from hdnhw.rtl.arbiter import first_in_order, service_order
from hdnhw.rtl.bits import equals, index_width, next_flit, number_of, selected
from hdnhw.rtl.channel import injection_signature
from hdnhw.rtl.header import header_layout
from hdnhw.rtl.relay.pending import notice_layout
from hdnhw.rtl.relay.store import BufferReadSignature, buffer_width

__all__ = ["Sender"]


class Sender(wiring.Component):
    """Chooses who sends the next packet, the one longest ago first, and sends it without a pause.

    A packet is chosen in every cycle in which none is sent or in which the tail flit of one is taken; its head flit is
    offered in the next cycle.

    Parameters
    ----------
    packets : RelayFormat

    Members
    -------
    address : In(address width)
        The node's own packed address.
    can_grant, can_ask : In(W)
        Classes of which a grant, a request, can be sent.
    can_tell : In(1)
        Whether a notice can be sent.
    can_send : In(W + 1)
        Classes whose first packet can be sent.
    firsts : In(slot).array(W + 1)
        Buffers of the first packets.
    grant, ask, tell, send : Out
        What is chosen in this cycle.
    granted : In(address width)
        To whom the grant chosen last goes, from the next cycle on.
    notice : In(notice_layout)
        The notice chosen last, likewise.
    read : Out(BufferReadSignature)
    header : Out(header_layout)
        In the cycle after `ask`, that of the packet that asks.
    free : Out(2 W + 1)
        The tail flit of a packet is taken: its buffer is free, in this ring.
    inject : Out(injection_signature)
    """

    def __init__(self, packets: RelayFormat) -> None:
        self._packets = packets
        flits, waypoints = packets.flits, packets.endpoints.waypoints
        super().__init__(
            {
                "address": In(flits.address_width),
                "can_grant": In(waypoints),
                "can_tell": In(1),
                "can_ask": In(waypoints),
                "can_send": In(waypoints + 1),
                "firsts": In(buffer_width(packets)).array(waypoints + 1),
                "grant": Out(waypoints),
                "tell": Out(1),
                "ask": Out(waypoints),
                "send": Out(waypoints + 1),
                "granted": In(flits.address_width),
                "notice": In(notice_layout(packets)),
                "read": Out(BufferReadSignature(packets)),
                "header": Out(header_layout(packets)),
                "free": Out(2 * waypoints + 1),
                "inject": Out(injection_signature(flit_width=flits.flit_width)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        packets, length = self._packets, self._packets.flits.packet_length
        active, kind, about = Signal(), Signal(2), Signal(packets.header_fields["left"])
        position, following = Signal(index_width(length)), Signal(index_width(length))
        moves, ends, loads = Signal(), Signal(), Signal()
        chosen = self._elaborate_choice(m, loads)
        slot = Signal(buffer_width(packets))
        ring = slot[packets.endpoints.relay_buffers.bit_length() - 1 :]
        first = selected(Cat(self.send[0], self.send[1:] | self.ask), self.firsts)
        m.d.comb += [
            self.inject.valid.eq(active),
            moves.eq(active & self.inject.ready),
            ends.eq(moves & equals(next_flit(position, length), 0)),
            loads.eq(~active | ends),
            following.eq(Mux(loads, 0, next_flit(position, length))),
            self.read.enable.eq(loads | moves),
            self.read.slot.eq(Mux(loads, first, slot)),
            self.read.flit.eq(following),
            self.free.eq(Cat(ends & equals(kind, RelayKind.DATA) & equals(ring, n) for n in range(len(self.free)))),
        ]
        with m.If(loads | moves):
            m.d.sync += position.eq(following)
        with m.If(loads):
            m.d.sync += [
                active.eq(chosen.any()),
                slot.eq(first),
                kind.eq(Cat(self.ask.any() | self.tell, self.grant.any() | self.tell)),
                about.eq(number_of(dict(enumerate(self.ask | self.grant)), len(about))),
            ]
        self._elaborate_flits(m, kind, about, equals(position, 0))
        return m

    def _elaborate_choice(self, m: Module, loads: Value) -> Value:
        """Choose; return all that can be chosen, of which each is when it is the first in the order."""
        chosen = Signal(len(self.can_grant) + 1 + len(self.can_ask) + len(self.can_send))
        requests = Cat(self.can_grant, self.can_tell, self.can_ask, self.can_send)
        order = service_order(m, chosen, update=chosen.any(), name="chosen_before")
        firsts = first_in_order(dict(enumerate(requests)), order)
        m.d.comb += [
            chosen.eq(Mux(loads, Cat(firsts[number] for number in range(len(chosen))), 0)),
            Cat(self.grant, self.tell, self.ask, self.send).eq(chosen),
        ]
        return chosen

    def _elaborate_flits(self, m: Module, kind: Value, about: Value, head: Value) -> None:
        """Offer flits of the memory, or a head flit with what there is to say and flits of zeros."""
        control, asks, grants = Signal.like(self.header), Signal(), Signal()
        m.d.comb += [
            self.header.eq(self.read.data[: self._packets.header_width]),
            asks.eq(equals(kind, RelayKind.REQUEST)),
            grants.eq(equals(kind, RelayKind.GRANT)),
            control.dst.eq(Mux(asks, self.header.dst, Mux(grants, self.granted, self.notice.src))),
            control.src.eq(self.address),
            control.kind.eq(kind),
            control.left.eq(about),
            control.stop_1.eq(Mux(asks | grants, 0, self.notice.lost)),
        ]
        with m.If(equals(kind, RelayKind.DATA)):
            m.d.comb += self.inject.payload.eq(self.read.data)
        with m.Elif(head):
            m.d.comb += self.inject.payload[: self._packets.header_width].eq(control)
