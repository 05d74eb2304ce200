"""From frames to packets: the sending half of an endpoint."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.flit import FrameFormat, PacketKind
from hdnhw.rtl.axi.layout import send_layout
from hdnhw.rtl.axi.queue import ShortQueue
from hdnhw.rtl.bits import counted, equals, index_width, next_flit
from hdnhw.rtl.channel import injection_signature
from hdnhw.rtl.header import header_layout
from hdnhw.rtl.route_unit import is_node
from hdnhw.topology.address import AddressLayout

__all__ = ["PacketSender", "SegmentBuffer", "SegmentSignature"]

SEGMENTS = 8
"""Segments that wait at a source, at most."""

ROW = 16
"""Words of a distributed RAM."""


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
    data : Out(flit_width)
        The oldest data flit that has not been taken; combinational.
    take : In(1)
        Take it; the flits of a segment, once its head has been taken.
    """

    def __init__(self, frames: FrameFormat) -> None:
        fields = frames.header_fields
        layout = data.StructLayout({name: fields[name] for name in ("dst", "last", "end", "keep", "user")})
        super().__init__(
            {
                "head": Out(stream.Signature(layout)),
                "data": Out(frames.flits.flit_width),
                "take": In(1),
            }
        )


class SegmentBuffer(wiring.Component):
    """Cut frames into segments, one a packet, and keep two whole ones, four if they are short.

    One transfer a cycle. A segment comes out three cycles after its last transfer, never before: the pauses of a
    source do not reach the fabric. A frame to an address without node is swallowed; of one that is too long the rest.

    Parameters
    ----------
    frames : FrameFormat
    layout : AddressLayout

    Members
    -------
    s_axis : In(stream of send_layout)
        Not ready while it is full, nor in reset.
    segment : Out(SegmentSignature)
    impossible : Out(1)
        High for one cycle for each frame that is swallowed, in the cycle after its first transfer.
    overlong : Out(1)
        High for one cycle for each frame that is cut, likewise.
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
        do_write, is_first, complete = Signal(), Signal(), Signal()
        head = Signal.like(self.segment.head.payload)
        overlong = self._elaborate_cutting(m, do_write, is_first, complete, head)
        refused = self._elaborate_refusal(m, do_write, is_first)
        m.submodules.heads = heads = ShortQueue(head.shape(), depth=SEGMENTS)
        connect(m, heads.o, wiring.flipped(self.segment.head))
        m.d.comb += [heads.push.eq(complete & ~refused), heads.i.eq(head), self.overlong.eq(overlong & ~refused)]
        is_near = self._elaborate_memory(m, do_write & ~refused)
        # Of the transfers of the last three cycles, this one included, nothing is known here.
        m.d.sync += self.s_axis.ready.eq(~is_near & ~heads.held[-4])
        return m

    def _elaborate_cutting(self, m: Module, do_write: Signal, is_first: Signal, complete: Signal, head: Any) -> Signal:
        """Find the ends of segments and frames; return whether a frame is cut, which, as all else, is a cycle late."""
        frames, beat = self._frames, self.s_axis.payload
        inside, cutting, at_limit = Signal(), Signal(), Signal(init=frames.max_transfers == 1)
        at_end = Signal(init=frames.payload_flits == 1)
        transfers, index = Signal(index_width(frames.max_transfers)), Signal.like(head.end)
        takes, frame_last, ends, overlong = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            takes.eq(self.s_axis.valid & self.s_axis.ready & ~cutting),
            frame_last.eq(beat.last | at_limit),
            ends.eq(takes & (frame_last | at_end)),
        ]
        with m.If(self.s_axis.valid & self.s_axis.ready):
            m.d.sync += [inside.eq(~cutting & ~frame_last), cutting.eq(~beat.last & (cutting | at_limit))]
        with m.If(takes):
            m.d.sync += [transfers.eq(Mux(frame_last, 0, transfers + 1)), index.eq(Mux(ends, 0, index + 1))]
            if frames.max_transfers > 1:
                m.d.sync += at_limit.eq(~frame_last & equals(transfers, frames.max_transfers - 2))
            if frames.payload_flits > 1:
                m.d.sync += at_end.eq(~ends & equals(index, frames.payload_flits - 2))
            with m.If(~inside):
                m.d.sync += [head.dst.eq(beat.dest), head.user.eq(beat.user)]
        m.d.sync += [
            do_write.eq(takes),
            is_first.eq(~inside),
            complete.eq(ends),
            overlong.eq(takes & at_limit & ~beat.last),
            *(head[name].eq(value) for name, value in {"last": frame_last, "end": index, "keep": beat.keep}.items()),
        ]
        return overlong

    def _elaborate_refusal(self, m: Module, do_write: Value, is_first: Value) -> Value:
        """Return whether a flit is of a frame to no node, a cycle after it was taken."""
        if not self._layout.has_holes:
            return Const(0, 1)
        is_astray, swallowing, refused = Signal(), Signal(), Signal()
        m.d.comb += [
            refused.eq(Mux(is_first, is_astray, swallowing)),
            self.impossible.eq(do_write & is_first & refused),
        ]
        m.d.sync += is_astray.eq(~is_node(self._layout, self.s_axis.payload.dest))
        with m.If(do_write):
            m.d.sync += swallowing.eq(refused)
        return refused

    def _elaborate_memory(self, m: Module, do_write: Value) -> Value:
        """Keep the data, two segments and more; return whether there is place for one flit more, at most two."""
        place_width = index_width(max(ROW, 2 * self._frames.payload_flits + 2))
        depth = 1 << place_width
        m.submodules.flits = flits = memory.Memory(shape=self._frames.flits.flit_width, depth=depth, init=[])
        write, read = flits.write_port(), flits.read_port(domain="comb")
        level, taken = Signal(place_width + 1), Signal()
        m.d.sync += [
            write.data.eq(self.s_axis.payload.data),
            write.addr.eq(write.addr + write.en),
            read.addr.eq(read.addr + self.segment.take),
            taken.eq(self.segment.take),
            level.eq(counted(level, write.en, taken)),
        ]
        m.d.comb += [write.en.eq(do_write), self.segment.data.eq(read.data)]
        return level[-1] | level[1:-1].all()


class PacketSender(wiring.Component):
    """Compose packets and inject them.

    A frame of one segment leaves at once. Before a longer one goes a request, and its first packet waits for the grant;
    there is one request at a time. Grants to others come first whenever a packet is chosen. The head flit of a
    segment is offered four cycles after the segment's; while one packet is sent the next is composed, and the one after
    it chosen: there is no gap.

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
        """Compose what was chosen, once the packet before has been taken over."""
        head, segment = self.segment.head, self.segment.head.payload
        requested, open_, ends = Signal(), Signal(), Signal()  # open only what was requested
        replies, requests, sends = self._elaborate_choice(m, requested, open_, composed)
        m.d.comb += [
            self.reply.ready.eq(replies & ~composed),
            head.ready.eq(sends & ~composed),
            ends.eq(head.ready & segment.last),
        ]
        m.d.sync += [
            self.sent.eq(ends),
            requested.eq((requested | (requests & ~composed)) & ~ends),
            open_.eq((open_ | self.granted) & ~ends),
        ]
        with m.If(~composed):
            m.d.sync += [
                composed.eq(replies | requests | sends),
                header.dst.eq(Mux(replies, self.reply.payload, segment.dst)),
                header.src.eq(self.address),
                header.kind.eq(Mux(replies, int(PacketKind.GRANT), Cat(requested, requests))),
                header.last.eq(segment.last),
                header.end.eq(segment.end),
                header.keep.eq(segment.keep),
                header.user.eq(segment.user),
            ]

    def _elaborate_choice(self, m: Module, requested: Value, open_: Value, composed: Value) -> tuple[Signal, ...]:
        """Choose the next packet, a cycle ahead: a grant, else what the oldest segment needs."""
        replies, requests, sends = Signal(), Signal(), Signal()
        head, last = self.segment.head, self.segment.head.payload.last
        with m.If(~(replies | requests | sends)):
            m.d.sync += [
                replies.eq(self.reply.valid),
                requests.eq(~self.reply.valid & head.valid & ~requested & ~last),
                sends.eq(~self.reply.valid & head.valid & (open_ | (~requested & last))),
            ]
        with m.Elif(~composed):
            m.d.sync += [replies.eq(0), requests.eq(0), sends.eq(0)]
        return replies, requests, sends

    def _elaborate_sending(self, m: Module, composed: Signal, header: Any) -> Value:
        """Send header and data through a register; return whether the composed packet is taken over."""
        frames = self._frames
        width, length, headers = frames.flits.flit_width, frames.flits.packet_length, frames.header_flits
        active, shift = Signal(), Signal(frames.header_width)
        flit, index, end = Signal(index_width(length)), Signal.like(header.end), Signal.like(header.end)
        is_tail, in_header, has_data = Signal(), Signal(headers, init=1), Signal()
        advance, tail, load = Signal(), Signal(), Signal()
        room = ~self.inject.valid | self.inject.ready
        following = next_flit(flit, length)
        m.d.comb += [
            advance.eq(active & room),
            tail.eq(advance & is_tail),
            load.eq(composed & (~active | tail)),
            self.segment.take.eq(advance & ~in_header.any() & has_data),
        ]
        with m.If(room):
            m.d.sync += [
                self.inject.valid.eq(active),
                self.inject.payload.eq(Mux(in_header.any(), shift[:width], self.segment.data)),
            ]
        with m.If(advance):
            m.d.sync += [
                flit.eq(following),
                is_tail.eq(equals(next_flit(following, length), 0)),
                in_header.eq(Cat(is_tail, in_header[:-1])),
            ]
            if headers > 1:
                m.d.sync += shift.eq(shift[width:])
        with m.If(self.segment.take):
            m.d.sync += [index.eq(index + 1), has_data.eq(index != end)]
        with m.If(tail):
            m.d.sync += active.eq(0)
        with m.If(load):
            m.d.sync += [active.eq(1), shift.eq(header), has_data.eq(~header.kind[1]), index.eq(0), end.eq(header.end)]
        return load
