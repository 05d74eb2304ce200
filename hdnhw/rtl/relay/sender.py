"""What a relay sends into the fabric."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
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

    One packet is chosen and one is next while another is read, in three cycles: a head flit is offered four cycles
    after its packet was chosen, at the soonest, and a packet of two flits or more right behind the one before.

    Parameters
    ----------
    packets : RelayFormat

    Members
    -------
    address : In(address width)
        The node's own packed address.
    can_grant, can_ask : In(W)
        Classes of which a grant, a request, can be sent. What can be sent stays so until it is.
    can_tell : In(1)
        Whether a notice can be sent.
    can_send : In(W + 1)
        Classes whose first packet can be sent.
    firsts : In(slot).array(W + 1)
        Buffers of the first packets.
    grant, ask, tell, send : Out
        What is next from this cycle on; it was chosen before.
    requests : In(address width).array(W)
        To whom the grant of each class goes.
    notice : In(notice_layout)
        The notice.
    read : Out(BufferReadSignature)
    offers : Out(W)
        The head flit of a request of this class is offered for the first time.
    header : Out(header_layout)
        While `offers`, that of the packet that asks.
    free : Out(2 W + 1)
        The tail flit of a packet was taken a cycle ago: its buffer is free, in this ring.
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
                "requests": In(flits.address_width).array(waypoints),
                "notice": In(notice_layout(packets)),
                "read": Out(BufferReadSignature(packets)),
                "offers": Out(waypoints),
                "header": Out(header_layout(packets)),
                "free": Out(2 * waypoints + 1),
                "inject": Out(injection_signature(flit_width=flits.flit_width)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        length = self._packets.flits.packet_length
        moves, active, is_last, valid = Signal(), Signal(), Signal(), Signal()
        layout = data.StructLayout({"slot": buffer_width(self._packets), "kind": 2})
        following, packet, now = Signal(layout), Signal(layout), Signal(layout)
        said = self._elaborate_choice(m, following, valid, moves & ~active)
        flit, onward = Signal(index_width(length)), Signal(index_width(length))
        m.d.comb += [
            moves.eq(~self.inject.valid | self.inject.ready),
            now.eq(Mux(active, packet, following)),
            flit.eq(Mux(active, onward, 0)),
            self.read.enable.eq(moves),
            self.read.slot.eq(now.slot),
            self.read.flit.eq(flit),
        ]
        with m.If(moves):
            m.d.sync += [
                packet.eq(now),
                onward.eq(next_flit(flit, length)),
                is_last.eq(equals(next_flit(next_flit(flit, length), length), 0)),
                active.eq(Mux(active, ~is_last, valid if length > 1 else 0)),
            ]
        tail = Mux(active, is_last, length == 1)
        self._elaborate_flits(m, moves, active | valid, ~active, tail, now, said)
        return m

    def _elaborate_choice(self, m: Module, following: Any, valid: Signal, takes: Value) -> Any:
        """Choose, and make what was chosen the next packet when there is none; return what it says itself."""
        requests = Cat(self.can_grant, self.can_tell, self.can_ask, self.can_send)
        chosen, decided, act = Signal(len(requests)), Signal(), Signal()
        said = Signal(header_layout(self._packets))
        order = service_order(m, chosen, update=act, name="chosen_before")
        firsts = first_in_order(dict(enumerate(requests)), order)
        names = ("grant", "tell", "ask", "send")
        are = {name: Signal.like(getattr(self, name), name=f"chosen_{name}") for name in names}
        m.d.comb += [
            act.eq(decided & ~valid),
            Cat(*are.values()).eq(chosen),
            Cat(getattr(self, name) for name in names).eq(Mux(act, chosen, 0)),
        ]
        with m.If(~decided):
            m.d.sync += [chosen.eq(Cat(firsts[number] for number in range(len(chosen)))), decided.eq(requests.any())]
        kind = Cat(are["ask"].any() | are["tell"], are["grant"].any() | are["tell"])
        with m.If(takes):
            m.d.sync += valid.eq(0)
        with m.If(act):
            m.d.sync += [
                decided.eq(0),
                valid.eq(1),
                following.slot.eq(selected(Cat(are["send"][0], are["send"][1:] | are["ask"]), self.firsts)),
                following.kind.eq(kind),
                said.dst.eq(selected(Cat(are["tell"], are["grant"]), [self.notice.src, *self.requests])),
                said.src.eq(self.address),
                said.kind.eq(kind),
                said.left.eq(number_of(dict(enumerate(are["ask"] | are["grant"])), len(said.left))),
                said.stop_1.eq(Mux(are["tell"], self.notice.lost, 0)),
            ]
        return said

    def _elaborate_flits(
        self, m: Module, moves: Value, valid: Value, head: Value, tail: Value, packet: Any, said: Any
    ) -> None:
        """Follow a flit through the memory, and offer it, or what there is to say and flits of zeros."""
        packets, waypoints = self._packets, self._packets.endpoints.waypoints
        ring = packet.slot[packets.endpoints.relay_buffers.bit_length() - 1 :]
        is_data, asks = equals(packet.kind, RelayKind.DATA), equals(packet.kind, RelayKind.REQUEST)
        stages = [
            {
                "valid": valid,
                "data": is_data,
                "offers": Cat(valid & head & asks & equals(said.left, c) for c in range(waypoints)),
                "frees": Cat(tail & is_data & equals(ring, n) for n in range(len(self.free))),
                "control": Mux(head & ~is_data, said, 0),
            }
        ]
        for stage in ("read", "offered"):
            registers = {name: Signal(len(value), name=f"{stage}_{name}") for name, value in stages[-1].items()}
            with m.If(moves):
                m.d.sync += [registers[name].eq(value) for name, value in stages[-1].items()]
            stages.append(registers)
        is_new = Signal()
        m.d.sync += is_new.eq(moves)
        self._elaborate_offer(m, is_new, **stages[-1])

    def _elaborate_offer(
        self, m: Module, is_new: Value, *, valid: Any, data: Any, offers: Any, frees: Any, control: Any
    ) -> None:
        """Offer a flit of the memory, or what a relay says itself: a request goes where its packet goes."""
        word, asks = self.read.data, offers.any()
        address = self._packets.flits.address_width
        shown = Cat(Mux(data | asks, word[:address], 0), Mux(data, word[address:], 0))
        m.d.comb += [
            self.inject.valid.eq(valid),
            self.inject.payload.eq(shown | control),
            self.offers.eq(Mux(is_new, offers, 0)),
            self.header.eq(word[: self._packets.header_width]),
        ]
        m.d.sync += self.free.eq(Mux(valid & self.inject.ready, frees, 0))
