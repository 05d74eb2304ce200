"""What a relay sends into the fabric."""

from itertools import zip_longest
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.relay.format import RelayFormat, RelayKind
from hdnhw.endpoints.relay.pending import notice_layout
from hdnhw.endpoints.relay.store import BufferReadSignature, buffer_width, num_rings
from hdnhw.rtl.arbiter import first_in_order, service_order
from hdnhw.rtl.bits import any_of, equals, index_width, next_flit, number_of, selected
from hdnhw.rtl.channel import injection_signature
from hdnhw.rtl.header import header_layout


class Sender(wiring.Component):
    """Chooses who sends the next packet, the one longest ago first, and sends it without a pause.

    One packet is chosen and one is next while another is read, in three cycles: a head flit is offered four cycles
    after its packet was chosen, at the soonest, and a packet of two flits or more right behind the one before.

    Members
    -------
    address : In(address width)
        The node's own packed address.
    can_grant : In(W)
        Classes of which a grant can be sent. What can be sent stays so until it is.
    can_tell : In(1)
        Whether a notice can be sent.
    can_go : In(queues)
        Queues whose first packet can be sent, or its request.
    must_ask : In(queues - 1)
        Of those above class 0, which send a request.
    firsts : In(slot).array(queues)
        Buffers of the first packets.
    grant, ask, tell, send : Out
        What is next from this cycle on; it was chosen before.
    requests : In(address width).array(W)
        To whom the grant of each class goes.
    notice : In(notice_layout)
        The notice.
    read : Out(BufferReadSignature)
    offers : Out(queues - 1)
        The head flit of a request of this one of the queues above class 0 is offered for the first time.
    header : Out(header_layout)
        While `offers`, that of the packet that asks.
    free : Out(rings)
        The tail flit of a packet was taken a cycle ago: its buffer is free, in this ring.
    inject : Out(injection_signature)
    """

    def __init__(self, packets: RelayFormat) -> None:
        self._packets = packets
        flits, waypoints, queues = packets.flits, packets.endpoints.waypoints, packets.num_queues
        super().__init__(
            {
                "address": In(flits.address_width),
                "can_grant": In(waypoints),
                "can_tell": In(1),
                "can_go": In(queues),
                "must_ask": In(queues - 1),
                "firsts": In(buffer_width(packets)).array(queues),
                "grant": Out(waypoints),
                "tell": Out(1),
                "ask": Out(queues - 1),
                "send": Out(queues),
                "requests": In(flits.address_width).array(waypoints),
                "notice": In(notice_layout(packets)),
                "read": Out(BufferReadSignature(packets)),
                "offers": Out(queues - 1),
                "header": Out(header_layout(packets)),
                "free": Out(num_rings(packets)),
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
        packets, waypoints = self._packets, self._packets.endpoints.waypoints
        requests = Cat(self.can_grant, self.can_tell, self.can_go)
        chosen, decided, act = Signal(len(requests)), Signal(), Signal()
        said = Signal(header_layout(packets))
        order = service_order(m, chosen, update=act, name="chosen_before")
        firsts = first_in_order(dict(enumerate(requests)), order)
        grants, tells, goes = chosen[:waypoints], chosen[waypoints], chosen[waypoints + 1 :]
        asks = Signal.like(self.ask, name="chosen_ask")
        m.d.comb += [
            act.eq(decided & ~valid),
            asks.eq(goes[1:] & self.must_ask),
            Cat(self.grant, self.tell, self.ask).eq(Mux(valid, 0, Cat(grants, tells, asks))),
            self.send.eq(Mux(valid, 0, Cat(goes[0], goes[1:] & ~self.must_ask))),
        ]
        with m.If(~decided | ~valid):
            m.d.sync += [
                chosen.eq(Mux(decided, 0, Cat(firsts[number] for number in range(len(chosen))))),
                decided.eq(~decided & requests.any()),
            ]
        kind = Cat(asks.any() | tells, grants.any() | tells)
        of_class = {c: grants[c] | any_of(asks[n - 1] for n in packets.queues_of(c + 1)) for c in range(waypoints)}
        with m.If(takes):
            m.d.sync += valid.eq(0)
        with m.If(~valid):  # what is read then is of no account before something is chosen
            m.d.sync += [
                valid.eq(decided),
                following.slot.eq(selected(goes, self.firsts)),
                following.kind.eq(kind),
                said.dst.eq(selected(Cat(tells, grants), [self.notice.src, *self.requests])),
                said.src.eq(self.address),
                said.kind.eq(kind),
                said.left.eq(number_of(of_class, len(said.left))),
                said.stop_1.eq(Mux(tells, self.notice.lost, 0)),
            ]
        return said

    def _elaborate_flits(
        self, m: Module, moves: Value, valid: Value, head: Value, tail: Value, packet: Any, said: Any
    ) -> None:
        """Follow a flit through the memory, and offer it, or what there is to say and flits of zeros."""
        buffer_bits = self._packets.endpoints.relay_buffers.bit_length() - 1
        is_data, asks = equals(packet.kind, RelayKind.DATA), equals(packet.kind, RelayKind.REQUEST)
        read = self._registers(
            m,
            moves,
            "read",
            valid=valid,
            data=is_data,
            asks=valid & head & asks,
            frees=tail & is_data,
            ring=packet.slot[buffer_bits:],
            control=Mux(head & ~is_data, said, 0),
        )
        offers, frees = self._queues(read.pop("ring"), read.pop("asks"), read.pop("frees"))
        is_new = Signal()
        m.d.sync += is_new.eq(moves)
        offered = self._registers(m, moves, "offered", **read, offers=offers, frees=frees)
        self._elaborate_offer(m, is_new, **offered)

    def _registers(self, m: Module, moves: Value, stage: str, **values: Value) -> dict[str, Signal]:
        """Return the registers of a stage, which take some values when all move on."""
        registers = {name: Signal(len(value), name=f"{stage}_{name}") for name, value in values.items()}
        with m.If(moves):
            m.d.sync += [registers[name].eq(value) for name, value in values.items()]
        return registers

    def _queues(self, ring: Value, asks: Value, frees: Value) -> tuple[Value, Value]:
        """Return which queue above class 0 asks, and which ring gets a free buffer."""
        rings = [equals(ring, number) for number in range(num_rings(self._packets))]
        own, relayed = rings[: self._packets.num_queues], rings[self._packets.num_queues :]
        queues = [one | other for one, other in zip_longest(own, relayed, fillvalue=Const(0))]
        return Cat(asks & queue for queue in queues[1:]), Cat(frees & each for each in rings)

    def _elaborate_offer(
        self, m: Module, is_new: Value, *, valid: Any, data: Any, offers: Any, frees: Any, control: Any
    ) -> None:
        """Offer a flit of the memory, or what a relay says itself; a request goes where its packet goes."""
        packets, word = self._packets, self.read.data
        asked = Signal(header_layout(packets))
        m.d.comb += [
            self.inject.valid.eq(valid),
            self.inject.payload.eq(Mux(data, word, 0) | asked.as_value() | control),
            self.offers.eq(Mux(is_new, offers, 0)),
            self.header.eq(word[: packets.header_width]),
            asked.dst.eq(Mux(offers.any(), self.header.dst, 0)),
        ]
        bits = (packets.queues - 1).bit_length()
        if packets.endpoints.waypoints > 1 and bits:
            classes = range(1, packets.endpoints.waypoints)
            asks = [any_of(offers[number - 1] for number in packets.queues_of(c + 1)) for c in classes]
            m.d.comb += asked.stop_1.eq(selected(asks, [getattr(self.header, f"stop_{c + 1}")[:bits] for c in classes]))
        m.d.sync += self.free.eq(Mux(valid & self.inject.ready, frees, 0))
