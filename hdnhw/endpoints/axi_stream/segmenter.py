"""What a user sends, as frames in memory: the first part of the sending half of an endpoint."""

from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi_stream.format_pool import FramePool
from hdnhw.endpoints.axi_stream.layout import send_layout
from hdnhw.rtl.bits import counted, equals, index_width
from hdnhw.rtl.fifos import FlitQueue, ShortQueue
from hdnhw.rtl.route_unit import is_node
from hdnhw.topology.address import AddressLayout

FRAMES = 16
"""Whole frames that wait at a source, at most; a power of two."""

LATE = 4
"""Transfers and frames that come after it has been decided to stop the user, at most."""


def whole_layout(pool: FramePool) -> data.StructLayout:
    """Return what a source knows of a whole frame.

    ``long`` says that it needs a grant; ``packets`` is the count of its packets, ``end`` the position
    of the last data flit in the last one, ``keep`` that flit's tkeep.
    """
    fields = pool.frames.header_fields
    packets = {"packets": pool.count_width, "long": 1}
    return data.StructLayout(
        {"dst": fields["dst"], **packets, **{name: fields[name] for name in ("end", "keep", "user")}}
    )


class FrameSignature(wiring.Signature):
    """The oldest frame in a buffer, seen from the buffer; and those behind it that are whole.

    Members
    -------
    some, more : Out(1)
        Whether the data of a packet, of two packets, is there.
    whole : Out(1)
        Whether all of the frame is there.
    frame : Out(whole_layout)
        Of a frame that is not whole `dst` alone, valid with `some`.
    take_packet : In(1)
        Forget the data of a packet, which is taken as `word`; not in consecutive cycles.
    take_frame : In(1)
        It is the last one of the frame.
    ahead : Out(stream of whole_layout)
        The frames that are whole, one after the other.
    word : Out(flit_width)
        The oldest data flit that has not been taken, if there is one.
    take_word : In(1)
    """

    def __init__(self, pool: FramePool) -> None:
        layout = whole_layout(pool)
        super().__init__(
            {
                "some": Out(1),
                "more": Out(1),
                "whole": Out(1),
                "frame": Out(layout),
                "take_packet": In(1),
                "take_frame": In(1),
                "ahead": Out(stream.Signature(layout)),
                "word": Out(pool.frames.flits.flit_width),
                "take_word": In(1),
            }
        )


class FrameBuffer(wiring.Component):
    """Cut frames into the data of packets, and keep what comes until it is taken.

    One transfer a cycle. The data of a packet counts three cycles after its last transfer, never before: the pauses of
    a source do not reach the fabric. A frame to an address without node is swallowed; of one that is too long the rest.

    Members
    -------
    s_axis : In(stream of send_layout)
        Not ready while it is full, nor in reset.
    oldest : Out(FrameSignature)
    impossible : Out(1)
        High for one cycle for each frame that is swallowed, in the cycle after its first transfer.
    overlong : Out(1)
        High for one cycle for each frame that is cut, likewise.
    """

    def __init__(self, pool: FramePool, layout: AddressLayout) -> None:
        self._pool, self._frames, self._layout = pool, pool.frames, layout
        super().__init__(
            {
                "s_axis": In(stream.Signature(send_layout(pool.frames))),
                "oldest": Out(FrameSignature(pool)),
                "impossible": Out(1),
                "overlong": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        do_write, is_first, complete, last = Signal(), Signal(), Signal(), Signal()
        frame = Signal(whole_layout(self._pool))
        overlong = self._elaborate_cutting(m, do_write, is_first, complete, last, frame)
        refused = self._elaborate_refusal(m, do_write, is_first)
        self._elaborate_packets(m, complete & ~refused)
        many = self._elaborate_frames(m, complete & last & ~refused, frame)
        is_near = self._elaborate_memory(m, do_write & ~refused)
        m.d.comb += self.overlong.eq(overlong & ~refused)
        # Of the transfers of the last three cycles, this one included, nothing is known here.
        m.d.sync += self.s_axis.ready.eq(~is_near & ~many)
        return m

    def _elaborate_cutting(
        self, m: Module, do_write: Signal, is_first: Signal, complete: Signal, last: Signal, frame: Any
    ) -> Signal:
        """Find the ends of packets and frames; return whether a frame is cut, which, as all else, is a cycle late."""
        frames, beat = self._frames, self.s_axis.payload
        inside, cutting, at_limit = Signal(), Signal(), Signal(init=frames.max_transfers == 1)
        at_end = Signal(init=frames.payload_flits == 1)
        transfers, index = Signal(index_width(frames.max_transfers)), Signal.like(frame.end)
        takes, frame_last, fills, overlong = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            takes.eq(self.s_axis.valid & self.s_axis.ready & ~cutting),
            frame_last.eq(beat.last | at_limit),
            fills.eq(frame_last | at_end),
        ]
        with m.If(self.s_axis.valid & self.s_axis.ready):
            m.d.sync += [inside.eq(~cutting & ~frame_last), cutting.eq(~beat.last & (cutting | at_limit))]
        with m.If(takes):
            m.d.sync += [transfers.eq(Mux(frame_last, 0, transfers + 1)), index.eq(Mux(fills, 0, index + 1))]
            if frames.max_transfers > 1:
                m.d.sync += at_limit.eq(~frame_last & equals(transfers, frames.max_transfers - 2))
            if frames.payload_flits > 1:
                m.d.sync += at_end.eq(~fills & equals(index, frames.payload_flits - 2))
        with m.If(~inside):
            m.d.sync += frame.dst.eq(beat.dest)
        with m.If(~inside if frames.endpoints.tuser == "first" else takes):
            m.d.sync += frame.user.eq(beat.user)
        m.d.sync += [
            do_write.eq(takes),
            is_first.eq(~inside),
            complete.eq(takes & fills),
            last.eq(frame_last),
            overlong.eq(takes & at_limit & ~beat.last),
            frame.end.eq(index),
            frame.keep.eq(Mux(beat.last, beat.keep, -1)),  # a transfer at which a frame is cut has all its bytes
        ]
        self._elaborate_number(m, complete, last, frame)
        return overlong

    def _elaborate_number(self, m: Module, complete: Value, last: Value, frame: Any) -> None:
        """Count the packets of the frame that comes in, the one that is there included."""
        pool = self._pool
        count = Signal.like(frame.packets, name="count", init=pool.count(1))
        is_long = Signal()
        with m.If(complete):
            m.d.sync += [
                count.eq(Mux(last, pool.count(1), count + 1)),
                is_long.eq(~last & (is_long | equals(count, pool.count(pool.prompt)))),
            ]
        m.d.comb += [frame.packets.eq(count), frame.long.eq(is_long)]

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

    def _elaborate_packets(self, m: Module, complete: Value) -> None:
        """Count the packets whose data is there, a cycle late, as frames come out of their queue."""
        packets, came, taken, three = Signal(self._pool.source_flits.bit_length()), Signal(), Signal(), Signal()
        some, more, stays = self.oldest.some, self.oldest.more, ~self.oldest.take_packet
        m.d.comb += three.eq(packets[2:].any() | (packets[:2].all() & ~taken))
        m.d.sync += [
            came.eq(complete),
            taken.eq(~stays),
            packets.eq(counted(packets, came, taken)),
            some.eq(came | more | (some & stays)),
            more.eq(three | (more & (came | stays)) | (some & came & stays)),
        ]

    def _elaborate_frames(self, m: Module, push: Value, frame: Any) -> Value:
        """Queue whole frames, for sending and for asking ahead; return whether there are many."""
        oldest = self.oldest
        m.submodules.frames = queue = ShortQueue(frame.shape(), depth=FRAMES)
        dst = Signal.like(frame.dst, name="coming_dst")
        m.d.sync += dst.eq(frame.dst)
        m.d.comb += [
            queue.push.eq(push),
            queue.i.eq(frame),
            queue.o.ready.eq(oldest.take_frame),
            oldest.whole.eq(queue.o.valid),
            oldest.frame.eq(queue.o.payload),
            oldest.frame.dst.eq(Mux(queue.o.valid, queue.o.payload.dst, dst)),
        ]
        if self._pool.grants:
            m.submodules.ahead = queue_ahead = ShortQueue(frame.shape(), depth=FRAMES)
            m.d.comb += [queue_ahead.push.eq(push), queue_ahead.i.eq(frame)]
            connect(m, queue_ahead.o, wiring.flipped(self.oldest.ahead))
        return queue.held[-LATE]

    def _elaborate_memory(self, m: Module, do_write: Value) -> Value:
        """Keep the data; return whether there is place for one flit more, at most two."""
        m.submodules.flits = flits = FlitQueue(self._frames.flits.flit_width, depth=self._pool.source_flits)
        m.d.sync += flits.i.eq(self.s_axis.payload.data)
        m.d.comb += [
            flits.push.eq(do_write),
            self.oldest.word.eq(flits.o),
            flits.take.eq(self.oldest.take_word),
        ]
        return flits.level[-1] | flits.level[1:-1].all()
