"""What comes into a relay: from the fabric, and from the node's own user."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.relay.format import RelayFormat, RelayKind
from hdnhw.endpoints.relay.pending import notice_layout, request_layout
from hdnhw.endpoints.relay.store import BufferWriteSignature, buffer_of, queues_at
from hdnhw.rtl.bits import any_of, below, equals, index_width, next_flit, number_of, selected
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.header import header_layout


def _position(m: Module, packets: RelayFormat, takes: Value) -> tuple[Signal, Value, Value]:
    """Count the flits of packets; return the code of the one that comes, and whether it is the head and the tail."""
    length = packets.flits.packet_length
    position, head, tail = Signal(index_width(length)), Signal(init=1), Signal(init=length == 1)
    following = next_flit(position, length)
    if length > 1:
        with m.If(takes):
            m.d.sync += [position.eq(following), head.eq(tail), tail.eq(equals(next_flit(following, length), 0))]
    return position, head, tail


def _chosen(chosen: Sequence[Value] | Value, words: list[Value]) -> Value:
    """Return the word whose bit is set, any value if none is."""
    return words[0] if len(words) == 1 else selected(chosen, words)


def _held(m: Module, head: Value, now: Value, *, name: str) -> tuple[Signal, Signal]:
    """Return what was decided with the head flit, in the head flit's cycle as well, and what is so from the next on."""
    held, kept = Signal(len(now), name=name), Signal(len(now), name=f"{name}_kept")
    m.d.comb += held.eq(Mux(head, now, kept))
    m.d.sync += kept.eq(held)
    return held, kept


class FabricReceiver(wiring.Component):
    """Takes every packet that the fabric brings: for the user, into a reserved buffer, or away.

    Flits for the user wait for it, all others are taken at once. What becomes of a packet is decided in the cycle after
    its head flit has come, and what is lost is told in the cycle after that one, in which a flit is written as well.

    Members
    -------
    address : In(address width)
        The node's own packed address.
    eject : In(ejection_signature)
    deliver : Out(ejection_signature)
        Packets for the user.
    reserved : In(R)
        Queues of which a buffer is reserved, of those in which packets of others wait.
    places : In(place).array(R)
        Of the next relayed packet, by queue.
    write : Out(BufferWriteSignature)
        Two cycles after a flit was taken.
    fill, finish : Out(R)
        A head flit, a tail flit, for a buffer of this queue has come; a cycle after it was taken.
    comes : Out(1)
        A head flit that is not for the user has come; a cycle after it was taken.
    src : Out(address width)
        Who sent the packet.
    full : In(W)
        Classes whose queue of requests is full.
    grants : Out(queues - 1)
        A grant for this one of the queues above class 0 has come; likewise.
    requests : Out(W)
        A request for the queue of this class has come; two cycles after it was taken.
    asker : Out(request_layout)
        Who sent the request, and for which queue.
    accepts : In(queues - 1)
        The grant that came a cycle ago is one that was asked for.
    loses, lost : Out(1)
        A notice is due in the next cycle, in this one.
    notice : Out(notice_layout)
    stranded, unreserved, astray : Out(1)
        A packet to be counted.
    """

    def __init__(self, packets: RelayFormat) -> None:
        self._packets = packets
        flits, endpoints = packets.flits, packets.endpoints
        stream = ejection_signature(flit_width=flits.flit_width)
        members: dict[str, Any] = {
            "address": In(flits.address_width),
            "eject": In(stream),
            "deliver": Out(stream),
            "places": In(index_width(endpoints.relay_buffers)).array(packets.relayed_queues),
            "write": Out(BufferWriteSignature(packets)),
            "src": Out(flits.address_width),
            "asker": Out(request_layout(packets)),
            "notice": Out(notice_layout(packets)),
        }
        members |= {"reserved": In(packets.relayed_queues), "full": In(endpoints.waypoints)}
        members |= dict.fromkeys(("fill", "finish"), Out(packets.relayed_queues))
        members |= {"requests": Out(endpoints.waypoints)}
        members |= {"accepts": In(packets.num_queues - 1), "grants": Out(packets.num_queues - 1)}
        members |= dict.fromkeys(("comes", "loses", "lost", "stranded", "unreserved", "astray"), Out(1))
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        packets, eject, do_take, here, data = self._packets, self.eject, Signal(), Signal(), Signal()
        is_head = Signal(init=1)
        with m.If(do_take):
            m.d.sync += is_head.eq(eject.payload.last)
        for_user, _ = _held(m, is_head, self._elaborate_user(m, here, data), name="for_user")
        m.d.comb += [
            self.deliver.payload.eq(eject.payload),
            self.deliver.valid.eq(eject.valid & for_user),
            eject.ready.eq(~for_user | self.deliver.ready),
            do_take.eq(eject.valid & eject.ready),
        ]
        # A cycle later.
        came, head, tail = Signal(), Signal(), Signal()
        is_here, is_relayed = Signal(), Signal()
        word, header = Signal(packets.flits.flit_width), Signal(header_layout(packets))
        # What the user does not take yet counts neither here nor as often as it is offered: it leads to nothing.
        m.d.sync += [came.eq(eject.valid), head.eq(eject.valid & is_head), tail.eq(eject.valid & eject.payload.last)]
        m.d.sync += self.comes.eq(eject.valid & is_head & ~for_user)
        m.d.sync += [word.eq(eject.payload.data), is_here.eq(here), is_relayed.eq(here & data)]
        m.d.comb += [header.eq(word[: packets.header_width]), self.src.eq(header.src)]
        stored, kept = self._elaborate_head(m, header, head, is_here, is_relayed)
        of_tail = stored if packets.flits.packet_length == 1 else kept
        m.d.comb += [self.fill.eq(Mux(head, stored, 0)), self.finish.eq(Mux(tail, of_tail, 0))]
        self._elaborate_write(m, head, header, word, came, stored)
        self._elaborate_position(m, head, came)
        return m

    def _elaborate_position(self, m: Module, head: Value, came: Value) -> None:
        """Number the flits."""
        following, flit = Signal.like(self.write.flit), Signal.like(self.write.flit)
        m.d.comb += flit.eq(Mux(head, 0, following))
        m.d.sync += self.write.flit.eq(flit)
        with m.If(came):
            m.d.sync += following.eq(next_flit(flit, self._packets.flits.packet_length))

    def _elaborate_user(self, m: Module, here: Signal, data: Signal) -> Value:
        """Find from a head flit whether its packet goes no further and is data; return whether it is for the user."""
        header = Signal(header_layout(self._packets), name="header_now")
        m.d.comb += [
            header.eq(self.eject.payload.data[: self._packets.header_width]),
            here.eq(header.dst == self.address),
            data.eq(equals(header.kind, RelayKind.DATA)),
        ]
        return here & (equals(header.kind, RelayKind.NOTICE) | (data & ~header.left.any()))

    def _elaborate_head(
        self, m: Module, header: Any, head: Value, here: Value, relayed: Value
    ) -> tuple[Signal, Signal]:
        """Decide what becomes of a packet; return the queue in which it is stored, with all its flits: see `_held`."""
        packets, classes = self._packets, range(self._packets.endpoints.waypoints)
        data, requests, grants, astray = Signal(), Signal(len(classes)), Signal(), Signal()
        strands, unreserved = Signal(), Signal()
        of_class = Cat(equals(header.left, c) for c in classes)
        of_queue = [
            equals(header.left, c + 1) & there
            for c in classes
            for there in queues_at(packets, c, getattr(header, f"stop_{c + 1}"))
        ]
        stored, kept = _held(m, head, Mux(relayed, Cat(of_queue) & self.reserved, 0), name="stored")
        answered = Cat(of_class[c] & there for c in classes for there in queues_at(packets, c + 1, header.src))
        request, grant = (equals(header.kind, kind) for kind in (RelayKind.REQUEST, RelayKind.GRANT))
        m.d.comb += [
            data.eq(equals(header.kind, RelayKind.DATA)),
            self.requests.eq(requests & ~self.full),
            self.asker.eq(Cat(self.notice.src, self.notice.lost)),  # of a request that is its stop_1
            self.grants.eq(Mux(head & here & grant, answered, 0)),
            strands.eq(head & ~here & data),
            unreserved.eq(head & relayed & header.left.any() & ~stored.any()),
            self.loses.eq(strands | unreserved),
            self.astray.eq(astray | (grants & ~self.accepts.any()) | (requests & self.full).any()),
        ]
        m.d.sync += [
            self.stranded.eq(strands),
            self.unreserved.eq(unreserved),
            self.lost.eq(self.loses),
            grants.eq(head & here & grant),
            requests.eq(Mux(head & here & request, of_class, 0)),
            astray.eq(head & Mux(here, request & ~of_class.any(), ~data)),
            self.notice.src.eq(header.src),
            self.notice.lost.eq(Mux(header.left.any(), header.stop_1, header.dst)),
        ]
        return stored, kept

    def _elaborate_write(self, m: Module, head: Value, header: Any, word: Value, came: Value, stored: Value) -> None:
        """Write a flit; of a head flit, to its next stop."""
        packets, onward = self._packets, Signal.like(header)
        classes = range(packets.endpoints.waypoints)
        of_class = [any_of(stored[number] for number in packets.queues_of(c)) for c in classes]
        m.d.comb += [
            onward.eq(header),
            onward.dst.eq(_chosen(of_class, [getattr(header, f"stop_{c + 1}") for c in classes])),
            onward.left.eq(number_of(dict(enumerate(of_class)), len(header.left))),
        ]
        m.d.sync += [
            self.write.enable.eq(came & stored.any()),
            self.write.slot.eq(
                _chosen(stored, [buffer_of(packets, n, Const(1), place) for n, place in enumerate(self.places)])
            ),
            self.write.data.eq(Cat(Mux(head, onward.as_value(), header.as_value()), word[packets.header_width :])),
        ]


class UserReceiver(wiring.Component):
    """Takes packets of the node's own user, each into a buffer of its queue; a packet with too many stops is swallowed.

    Members
    -------
    address : In(address width)
        The node's own packed address.
    send : In(injection_signature)
        Flits go through a register. There a head flit waits for a free buffer, and all flits while `busy`, but those of
        a packet that is swallowed.
    busy : In(1)
        The memory is written by others.
    room : In(queues)
        Queues of which an own buffer is free.
    places : In(place).array(queues)
        Of the next own packet, by queue.
    write : Out(BufferWriteSignature)
        With the own address as ``src`` in the head flit.
    open, close : Out(queues)
        A head flit, a tail flit, is written into a buffer of this queue.
    refused : Out(1)
        The tail flit of a packet is swallowed.
    """

    def __init__(self, packets: RelayFormat) -> None:
        self._packets = packets
        flits, queues = packets.flits, packets.num_queues
        super().__init__(
            {
                "address": In(flits.address_width),
                "send": In(injection_signature(flit_width=flits.flit_width)),
                "busy": In(1),
                "room": In(queues),
                "places": In(index_width(packets.endpoints.relay_buffers)).array(queues),
                "write": Out(BufferWriteSignature(packets)),
                "open": Out(queues),
                "close": Out(queues),
                "refused": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        packets, send = self._packets, self.send
        header, marked = Signal(header_layout(packets)), Signal(header_layout(packets))
        occupied, head, tail, has_room, goes_on = (Signal() for _ in range(5))
        flit, word = Signal(index_width(packets.flits.packet_length)), Signal.like(send.payload)
        own, excess = Signal(packets.num_queues), self._excess(header)
        is_excess = Signal() if excess is not None else Const(0)
        m.d.comb += [
            goes_on.eq(is_excess | (~self.busy & (~head | has_room))),
            send.ready.eq(~occupied | goes_on),
        ]
        position, is_head, is_tail = _position(m, packets, send.valid & send.ready)
        m.d.comb += [
            header.eq(send.payload[: packets.header_width]),
            marked.eq(header),
            marked.src.eq(self.address),
            marked.kind.eq(RelayKind.DATA),
        ]
        queues = Cat(self._queues(header))
        room, stays = self.room, occupied & head  # what is known of another flit than a head flit is not looked at
        if packets.flits.packet_length == 1:
            room, stays = self.room & ~self.open, ~send.ready
        m.d.sync += has_room.eq(Mux(stays, (own & room).any(), (queues & room).any()))
        with m.If(send.ready):
            m.d.sync += [occupied.eq(send.valid), flit.eq(position), head.eq(is_head), tail.eq(is_tail)]
            m.d.sync += word.eq(Cat(Mux(is_head, marked, header), send.payload[packets.header_width :]))
            m.d.sync += own.eq(Mux(is_head, queues, own))
            if excess is not None:
                m.d.sync += is_excess.eq(Mux(is_head, excess, is_excess))
        do_store = occupied & ~is_excess & ~self.busy & (~head | has_room)
        m.d.comb += [
            self.open.eq(Mux(do_store & head, own, 0)),
            self.close.eq(Mux(do_store & tail, own, 0)),
            self.refused.eq(occupied & tail & is_excess),
            self.write.enable.eq(do_store),
            self.write.slot.eq(
                selected(own, [buffer_of(packets, n, Const(0), place) for n, place in enumerate(self.places)])
            ),
            self.write.flit.eq(flit),
            self.write.data.eq(word),
        ]
        return m

    def _excess(self, header: Any) -> Value | None:
        """Return whether a packet has too many stops; None if its header has no place for them."""
        classes = self._packets.endpoints.waypoints + 1
        return ~below(header.left, classes) if classes < 1 << len(header.left) else None

    def _queues(self, header: Any) -> list[Value]:
        """Return for each queue whether a packet waits in it, by its head flit."""
        classes = range(self._packets.endpoints.waypoints + 1)
        return [equals(header.left, c) & there for c in classes for there in queues_at(self._packets, c, header.dst)]
