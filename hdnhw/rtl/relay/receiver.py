"""What comes into a relay: from the fabric, and from the node's own user."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.flit import RelayFormat, RelayKind
from hdnhw.rtl.bits import equals, index_width, next_flit, number_of, selected
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.header import header_layout
from hdnhw.rtl.relay.pending import notice_layout
from hdnhw.rtl.relay.store import BufferWriteSignature, buffer_of

__all__ = ["FabricReceiver", "UserReceiver"]


def _position(m: Module, packets: RelayFormat, takes: Value) -> tuple[Signal, Value, Value]:
    """Count the flits of packets; return the code of the one that comes, and whether it is the head and the tail."""
    length = packets.flits.packet_length
    position = Signal(index_width(length))
    with m.If(takes):
        m.d.sync += position.eq(next_flit(position, length))
    if length == 1:
        return position, Const(1), Const(1)
    return position, equals(position, 0), equals(next_flit(position, length), 0)


def _held(m: Module, head: Value, now: Value, *, name: str) -> Signal:
    """Return what was decided with the head flit, in the head flit's cycle as well."""
    held, kept = Signal(len(now), name=name), Signal(len(now), name=f"{name}_kept")
    m.d.comb += held.eq(Mux(head, now, kept))
    m.d.sync += kept.eq(held)
    return held


class FabricReceiver(wiring.Component):
    """Takes every packet that the fabric brings: for the user, into a reserved buffer, or away.

    What becomes of a packet is decided with its head flit, and that is when all happens but writing and `finish`. Flits
    for the user wait for it, all others are taken at once.

    Parameters
    ----------
    packets : RelayFormat

    Members
    -------
    address : In(address width)
        The node's own packed address.
    eject : In(ejection_signature)
    deliver : Out(ejection_signature)
        Packets for the user.
    reserved : In(W)
        Classes of which a buffer is reserved.
    places : In(place).array(W)
        Of the next relayed packet, by class.
    write : Out(BufferWriteSignature)
    fill, finish : Out(W)
        A head flit, a tail flit, is written into a buffer of this class.
    src : Out(address width)
        Who sent the packet.
    full : In(W)
        Classes whose queue of requests is full.
    requests, grants : Out(W)
        A request for the queue of this class, a grant of this class, has come.
    accepts : In(W)
        The grant that comes is one that was asked for.
    lost : Out(1)
        A notice is due.
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
            "places": In(index_width(endpoints.relay_buffers)).array(endpoints.waypoints),
            "write": Out(BufferWriteSignature(packets)),
            "src": Out(flits.address_width),
            "notice": Out(notice_layout(packets)),
        }
        members |= dict.fromkeys(("reserved", "full", "accepts"), In(endpoints.waypoints))
        members |= dict.fromkeys(("fill", "finish", "requests", "grants"), Out(endpoints.waypoints))
        members |= dict.fromkeys(("lost", "stranded", "unreserved", "astray"), Out(1))
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        eject, do_take = self.eject, Signal()
        header = Signal(header_layout(self._packets))
        position, head, tail = _position(m, self._packets, do_take)
        m.d.comb += header.eq(eject.payload.data[: self._packets.header_width])
        for_user, stored = self._elaborate_head(m, header, eject.valid & head)
        for_user = _held(m, head, for_user, name="for_user")
        stored = _held(m, head, stored, name="stored")
        m.d.comb += [
            self.deliver.payload.eq(eject.payload),
            self.deliver.valid.eq(eject.valid & for_user),
            eject.ready.eq(~for_user | self.deliver.ready),
            do_take.eq(eject.valid & eject.ready),
            self.fill.eq(Mux(eject.valid & head, stored, 0)),
            self.finish.eq(Mux(eject.valid & tail, stored, 0)),
            self.write.flit.eq(position),
        ]
        self._elaborate_write(m, header, head, stored)
        return m

    def _elaborate_head(self, m: Module, header: Any, comes: Value) -> tuple[Value, Value]:
        """Decide what becomes of a packet; return whether it is for the user, and the class in which it is stored."""
        here, data, classes = Signal(), Signal(), range(self._packets.endpoints.waypoints)
        request, grant = Signal(), Signal()
        stored, for_user = Signal(len(classes)), Signal()
        m.d.comb += [
            here.eq(header.dst == self.address),
            data.eq(equals(header.kind, RelayKind.DATA)),
            request.eq(comes & here & equals(header.kind, RelayKind.REQUEST)),
            grant.eq(comes & here & equals(header.kind, RelayKind.GRANT)),
            for_user.eq(here & (equals(header.kind, RelayKind.NOTICE) | (data & ~header.left.any()))),
            stored.eq(Cat(here & data & equals(header.left, c + 1) & self.reserved[c] for c in classes)),
            self.requests.eq(Cat(request & equals(header.left, c) & ~self.full[c] for c in classes)),
            self.grants.eq(Cat(grant & equals(header.left, c) for c in classes)),
            self.src.eq(header.src),
            self.stranded.eq(comes & ~here & data),
            self.unreserved.eq(comes & here & data & header.left.any() & ~stored.any()),
            self.astray.eq((comes & ~here & ~data) | (request & ~self.requests.any()) | (grant & ~self.accepts.any())),
            self.lost.eq(self.stranded | self.unreserved),
            self.notice.src.eq(header.src),
            self.notice.lost.eq(Mux(header.left.any(), header.stop_1, header.dst)),
        ]
        return for_user, stored

    def _elaborate_write(self, m: Module, header: Any, head: Value, stored: Value) -> None:
        """Write a flit; of a head flit, to its next stop."""
        packets, onward = self._packets, Signal.like(header)
        classes = range(packets.endpoints.waypoints)
        m.d.comb += [
            onward.eq(header),
            onward.dst.eq(selected(stored, [getattr(header, f"stop_{c + 1}") for c in classes])),
            onward.left.eq(number_of(dict(enumerate(stored)), len(header.left))),
            self.write.enable.eq(self.eject.valid & stored.any()),
            self.write.slot.eq(selected(stored, [buffer_of(packets, c, Const(1), self.places[c]) for c in classes])),
            self.write.data.eq(self.eject.payload.data),
        ]
        with m.If(head):
            m.d.comb += self.write.data[: packets.header_width].eq(onward)


class UserReceiver(wiring.Component):
    """Takes packets of the node's own user, each into a buffer of its class; a packet with too many stops is swallowed.

    Parameters
    ----------
    packets : RelayFormat

    Members
    -------
    address : In(address width)
        The node's own packed address.
    send : In(injection_signature)
        A head flit waits for a free buffer, and all flits while `busy`, but those of a packet that is swallowed.
    busy : In(1)
        The memory is written by others.
    room : In(W + 1)
        Classes of which an own buffer is free.
    places : In(place).array(W + 1)
        Of the next own packet, by class.
    write : Out(BufferWriteSignature)
        With the own address as ``src`` in the head flit.
    open, close : Out(W + 1)
        A head flit, a tail flit, is written into a buffer of this class.
    refused : Out(1)
        The tail flit of a packet is swallowed.
    """

    def __init__(self, packets: RelayFormat) -> None:
        self._packets = packets
        flits, classes = packets.flits, packets.endpoints.waypoints + 1
        super().__init__(
            {
                "address": In(flits.address_width),
                "send": In(injection_signature(flit_width=flits.flit_width)),
                "busy": In(1),
                "room": In(classes),
                "places": In(index_width(packets.endpoints.relay_buffers)).array(classes),
                "write": Out(BufferWriteSignature(packets)),
                "open": Out(classes),
                "close": Out(classes),
                "refused": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        packets, send, do_take = self._packets, self.send, Signal()
        header, classes = Signal(header_layout(packets)), range(packets.endpoints.waypoints + 1)
        position, head, tail = _position(m, packets, do_take)
        m.d.comb += header.eq(send.payload[: packets.header_width])
        stored = _held(m, head, Cat(equals(header.left, c) for c in classes), name="stored")
        m.d.comb += [
            send.ready.eq(~stored.any() | (~self.busy & (~head | (stored & self.room).any()))),
            do_take.eq(send.valid & send.ready),
            self.open.eq(Mux(do_take & head, stored, 0)),
            self.close.eq(Mux(do_take & tail, stored, 0)),
            self.refused.eq(do_take & tail & ~stored.any()),
            self.write.enable.eq(do_take & stored.any()),
            self.write.slot.eq(selected(stored, [buffer_of(packets, c, Const(0), self.places[c]) for c in classes])),
            self.write.flit.eq(position),
            self.write.data.eq(send.payload),
        ]
        marked = Signal.like(header)
        m.d.comb += [marked.eq(header), marked.src.eq(self.address), marked.kind.eq(RelayKind.DATA)]
        with m.If(head):
            m.d.comb += self.write.data[: packets.header_width].eq(marked)
        return m
