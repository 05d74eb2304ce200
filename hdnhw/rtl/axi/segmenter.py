"""From frames to packets: the sending half of an endpoint."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from hdnhw.flit import FrameFormat, PacketKind
from hdnhw.rtl.axi.layout import send_layout
from hdnhw.rtl.bits import below, equals, index_width
from hdnhw.rtl.channel import injection_signature
from hdnhw.rtl.header import header_layout
from hdnhw.rtl.route_unit import is_node
from hdnhw.topology.address import AddressLayout

__all__ = ["PacketSender", "SegmentBuffer", "SegmentSignature"]

SLOTS = 4
"""Packets of data at a source: the least power of two with which a source that never pauses sends without a gap."""


class SegmentSignature(wiring.Signature):
    """The data of one packet in a buffer, seen from the buffer.

    Parameters
    ----------
    frames : FrameFormat

    Members
    -------
    head : Out(stream)
        The oldest segment: ``dst``, ``user``, ``last`` (it ends its frame), ``end`` (position of its last data flit)
        and ``keep`` (tkeep of that flit). It is taken when its packet is composed.
    index : In
        Position of a data flit.
    data : Out(flit_width)
        That flit of the oldest segment that has not been released; combinational. Undefined behind ``end``.
    release : In(1)
        High for one cycle when the packet has been sent: its place is free.
    """

    def __init__(self, frames: FrameFormat) -> None:
        fields = frames.header_fields
        layout = data.StructLayout({name: fields[name] for name in ("dst", "last", "end", "keep", "user")})
        super().__init__(
            {
                "head": Out(stream.Signature(layout)),
                "index": In(index_width(frames.payload_flits)),
                "data": Out(frames.flits.flit_width),
                "release": In(1),
            }
        )


class SegmentBuffer(wiring.Component):
    """Cut frames into segments, one a packet, and keep four of them.

    One transfer a cycle. A segment can be sent in the cycle after its last transfer, never before: the pauses of a
    source do not reach the fabric. A frame to an address without node is swallowed; of one that is too long the rest.

    Parameters
    ----------
    frames : FrameFormat
    layout : AddressLayout

    Members
    -------
    s_axis : In(stream of send_layout)
        Not ready while four segments wait, nor in reset.
    segment : Out(SegmentSignature)
    impossible : Out(1)
        High for one cycle for each frame that is swallowed.
    overlong : Out(1)
        High for one cycle for each frame that is cut.
    """

    def __init__(self, frames: FrameFormat, layout: AddressLayout) -> None:
        self._frames, self._layout = frames, layout
        super().__init__(
            {
                "s_axis": In(stream.Signature(send_layout(frames))),
                "segment": Out(SegmentSignature(frames)),
                "impossible": Out(1),
                "overlong": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        frames, beat = self._frames, self.s_axis.payload
        running, inside, swallowing, waiting = Signal(), Signal(), Signal(), Signal(range(SLOTS + 1))
        transfers = Signal(index_width(frames.max_transfers))
        index, dst, user = Signal.like(self.segment.index), Signal.like(beat.dest), Signal.like(beat.user)
        do_take, do_write, first, refused = Signal(), Signal(), Signal(), Signal()
        at_limit, frame_last, complete = Signal(), Signal(), Signal()
        m.d.comb += [
            self.s_axis.ready.eq(running & (swallowing | ~equals(waiting, SLOTS))),
            do_take.eq(self.s_axis.valid & self.s_axis.ready),
            first.eq(~inside & ~swallowing),
            refused.eq(first & ~is_node(self._layout, beat.dest)),
            do_write.eq(do_take & ~swallowing & ~refused),
            at_limit.eq(equals(transfers, frames.max_transfers - 1)),
            frame_last.eq(beat.last | at_limit),
            complete.eq(do_write & (frame_last | equals(index, frames.payload_flits - 1))),
            self.impossible.eq(do_take & refused),
            self.overlong.eq(do_write & at_limit & ~beat.last),
        ]
        m.d.sync += [running.eq(1), waiting.eq(waiting + complete - self.segment.release)]
        with m.If(do_take):
            m.d.sync += [
                inside.eq(do_write & ~frame_last),
                swallowing.eq(~beat.last & (swallowing | refused | at_limit)),
            ]
        with m.If(do_write):
            m.d.sync += [transfers.eq(Mux(frame_last, 0, transfers + 1)), index.eq(Mux(complete, 0, index + 1))]
            with m.If(first):
                m.d.sync += [dst.eq(beat.dest), user.eq(beat.user)]
        self._elaborate_memory(m, index, do_write, complete)
        head = {"dst": Mux(first, beat.dest, dst), "user": Mux(first, beat.user, user), "last": frame_last}
        self._elaborate_heads(m, {**head, "end": index, "keep": beat.keep}, complete)
        return m

    def _elaborate_memory(self, m: Module, index: Value, do_write: Value, complete: Value) -> None:
        depth = SLOTS << len(index)
        m.submodules.flits = flits = memory.Memory(shape=self._frames.flits.flit_width, depth=depth, init=[])
        write, read = flits.write_port(), flits.read_port(domain="comb")
        write_slot, read_slot = Signal(range(SLOTS)), Signal(range(SLOTS))
        m.d.sync += [write_slot.eq(write_slot + complete), read_slot.eq(read_slot + self.segment.release)]
        m.d.comb += [
            write.addr.eq(Cat(index, write_slot)),
            write.data.eq(self.s_axis.payload.data),
            write.en.eq(do_write),
            read.addr.eq(Cat(self.segment.index, read_slot)),
            self.segment.data.eq(read.data),
        ]

    def _elaborate_heads(self, m: Module, head: dict[str, Value], complete: Value) -> None:
        """Queue what is to be known of each segment; there are never more than slots."""
        entry, payload = Signal.like(self.segment.head.payload), self.segment.head.payload
        m.submodules.heads = heads = SyncFIFO(width=payload.shape().size, depth=SLOTS)
        m.d.comb += [
            *(getattr(entry, name).eq(value) for name, value in head.items()),
            heads.w_data.eq(entry),
            heads.w_en.eq(complete),
            payload.eq(heads.r_data),
            self.segment.head.valid.eq(heads.r_rdy),
            heads.r_en.eq(self.segment.head.ready),
        ]


class PacketSender(wiring.Component):
    """Compose packets and inject them.

    A frame of one segment leaves at once. Before a longer one goes a request, and its first packet waits for the grant;
    there is one request at a time. Grants to others come first whenever a packet is composed. The head flit of a
    segment is offered three cycles after the segment; while one packet is sent the next is composed: there is no gap.

    Parameters
    ----------
    frames : FrameFormat

    Members
    -------
    address : In(address width)
        The node's own packed address.
    segment : In(SegmentSignature)
    reply : In(stream of packed addresses)
        Who is to be granted.
    granted : In(1)
        High for one cycle when the grant has come.
    inject : Out(injection_signature)
        Once its head flit is offered, a packet goes on without a pause.
    sent : Out(1)
        High for one cycle for each frame whose last packet has been composed.
    """

    def __init__(self, frames: FrameFormat) -> None:
        self._frames = frames
        address = frames.flits.address_width
        super().__init__(
            {
                "address": In(address),
                "segment": In(SegmentSignature(frames)),
                "reply": In(stream.Signature(address)),
                "granted": In(1),
                "inject": Out(injection_signature(flit_width=frames.flits.flit_width)),
                "sent": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        composed, header = Signal(), Signal(header_layout(self._frames))
        load = self._elaborate_sending(m, composed, header)
        self._elaborate_composing(m, composed, header)
        with m.If(load):
            m.d.sync += composed.eq(0)
        return m

    def _elaborate_composing(self, m: Module, composed: Signal, header: Any) -> None:
        """Choose the next packet while there is none: a grant, else what the oldest segment needs."""
        requested, open_ = Signal(), Signal()
        head, segment = self.segment.head, self.segment.head.payload
        request, do_segment, do_reply = Signal(), Signal(), Signal()
        m.d.comb += [
            self.reply.ready.eq(~composed),
            do_reply.eq(self.reply.valid & self.reply.ready),
            do_segment.eq(~composed & ~self.reply.valid & head.valid & (~requested | open_)),
            request.eq(do_segment & ~requested & ~segment.last),
            head.ready.eq(do_segment & ~request),
            self.sent.eq(head.ready & segment.last),
        ]
        with m.If(~composed):
            m.d.sync += [
                composed.eq(do_reply | do_segment),
                header.dst.eq(Mux(do_reply, self.reply.payload, segment.dst)),
                header.src.eq(self.address),
                header.kind.eq(Mux(do_reply, int(PacketKind.GRANT), Cat(requested, request))),
                header.last.eq(segment.last),
                header.end.eq(segment.end),
                header.keep.eq(segment.keep),
                header.user.eq(segment.user),
            ]
        with m.If(request):
            m.d.sync += requested.eq(1)
        with m.If(self.granted):
            m.d.sync += open_.eq(1)
        with m.If(self.sent):
            m.d.sync += [requested.eq(0), open_.eq(0)]

    def _elaborate_sending(self, m: Module, composed: Signal, header: Any) -> Value:
        """Send header and data through a register; return whether the composed packet is taken over."""
        frames = self._frames
        width, length, headers = frames.flits.flit_width, frames.flits.packet_length, frames.header_flits
        active, control, shift = Signal(), Signal(), Signal(frames.header_width)
        position, index = Signal(range(length)), Signal.like(self.segment.index)
        advance, tail, load, in_header = Signal(), Signal(), Signal(), Signal()
        room = ~self.inject.valid | self.inject.ready
        m.d.comb += [
            in_header.eq(below(position, headers)),
            advance.eq(active & room),
            tail.eq(advance & equals(position, length - 1)),
            load.eq(composed & (~active | tail)),
            self.segment.index.eq(index),
            self.segment.release.eq(tail & ~control),
        ]
        with m.If(room):
            m.d.sync += [
                self.inject.valid.eq(active),
                self.inject.payload.eq(Mux(in_header, shift[:width], self.segment.data)),
            ]
        with m.If(advance):
            m.d.sync += position.eq(Mux(tail, 0, position + 1))
            if headers > 1:
                m.d.sync += shift.eq(shift[width:])
            with m.If(~in_header):
                m.d.sync += index.eq(Mux(tail, 0, index + 1))
        with m.If(tail):
            m.d.sync += active.eq(0)
        with m.If(load):
            m.d.sync += [active.eq(1), shift.eq(header), control.eq(header.kind[1])]
        return load
