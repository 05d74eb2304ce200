"""From packets to frames: the receiving half of an endpoint."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.flit import FrameFormat, PacketKind
from hdnhw.rtl.axi.layout import receive_layout
from hdnhw.rtl.axi.queue import ShortQueue
from hdnhw.rtl.bits import counted, equals, index_width
from hdnhw.rtl.channel import ejection_signature
from hdnhw.rtl.columns import ColumnMemory
from hdnhw.rtl.header import header_layout

__all__ = ["FrameOutput", "PacketReceiver"]

COMPLETE = 4
"""Complete frames that wait at a destination, of one packet or of several."""


def complete_layout(frames: FrameFormat) -> data.StructLayout:
    """Return what is queued of a complete frame: source, user, `end` (place of its last transfer) and its tkeep.

    `single` says that the frame came in one packet: its data is in a slot of the data memory, slots being used in their
    order, and `end` is its position there; it is `lone` if it has one transfer. Else its data is in the ring.
    """
    fields = frames.header_fields
    return data.StructLayout(
        {
            "single": 1,
            "lone": 1,
            "end": index_width(max(frames.max_transfers, frames.payload_flits)),
            "keep": fields["keep"],
            "src": fields["src"],
            "user": fields["user"],
        }
    )


class DataMemory:
    """Addresses in the data memory of an endpoint: below, the ring of frames; above, a slot for each single packet.

    Parameters
    ----------
    frames : FrameFormat

    Attributes
    ----------
    ring_width : int
        Bits of a position in the ring.
    address_width : int
        Bits of an address.
    depth : int
        Flits in all.
    """

    def __init__(self, frames: FrameFormat) -> None:
        self.ring_width = index_width(frames.max_transfers)
        self._index_width = index_width(frames.payload_flits)
        slots_width = index_width(COMPLETE) + self._index_width
        self._region_width = max(self.ring_width, slots_width)
        self.address_width = self._region_width + 1
        self.depth = (1 << self._region_width) + (1 << slots_width)

    def address(self, single: Value, *, slot: Value, index: Value, at: Value) -> Value:
        """Return the address of flit `index` of a single packet in `slot`, or of position `at` of the ring."""
        slots = Cat(index[: self._index_width], slot)
        pad = Const(0, self._region_width)
        return Cat(Mux(single, Cat(slots, pad)[: self._region_width], Cat(at, pad)[: self._region_width]), single)


class ReadSignature(wiring.Signature):
    """The data memory of an endpoint, seen from the one who reads.

    Members
    -------
    enable : Out(1)
        Read: data comes in the next cycle and stays until the next read.
    address : Out
    data : In(flit_width)
    """

    def __init__(self, frames: FrameFormat) -> None:
        super().__init__(
            {
                "enable": Out(1),
                "address": Out(DataMemory(frames).address_width),
                "data": In(frames.flits.flit_width),
            }
        )


class PacketReceiver(wiring.Component):
    """Take packets from the fabric: keep data, queue requests, pass grants on.

    One flit a cycle. A frame of one packet goes to a slot of the data memory. Longer frames go to its ring: one source
    at a time is granted, the next as soon as its last packet is in, so one frame comes in while those before it go out.
    Requests and grants count with their header and never wait for the user; data waits while the ring is full or
    `COMPLETE` frames wait, thus for the user alone, as every frame that is in the way is complete.

    Parameters
    ----------
    frames : FrameFormat
    num_nodes : int
        Sources; each has one request at a time.

    Members
    -------
    eject : In(ejection_signature)
    read : In(ReadSignature)
    freed : In(1)
        High for one cycle after a flit of the ring has been read.
    complete : Out(stream of complete_layout)
        Frames in the order in which their last data flits came; each is taken with the last read of its data.
    reply : Out(stream of packed addresses)
        The source to be granted next.
    granted : Out(1)
        High for one cycle when the node's own request has been granted.
    """

    def __init__(self, frames: FrameFormat, *, num_nodes: int) -> None:
        self._frames, self._num_nodes = frames, num_nodes
        super().__init__(
            {
                "eject": In(ejection_signature(flit_width=frames.flits.flit_width)),
                "read": In(ReadSignature(frames)),
                "freed": In(1),
                "complete": Out(stream.Signature(complete_layout(frames))),
                "reply": Out(stream.Signature(frames.flits.address_width)),
                "granted": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        header, coming = Signal(header_layout(self._frames)), Signal(self._frames.header_flits, init=1)
        free, is_control = Signal(init=1), self._elaborate_header(m, header, coming)
        body, full, waiting = header.kind[0], Signal(), Signal()
        do_take, do_write, ends = Signal(), Signal(), Signal()
        index = Signal(index_width(self._frames.payload_flits))
        m.d.comb += [
            self.eject.ready.eq(free | (~waiting & ~(body & full))),
            do_take.eq(self.eject.valid & self.eject.ready),
            do_write.eq(self.eject.valid & ~free & ~waiting & ~(body & full)),
            ends.eq(index == header.end[: len(index)]),
        ]
        with m.If(do_take):
            m.d.sync += coming.eq(Cat(self.eject.payload.last, coming[:-1]))
        with m.If(do_write):
            m.d.sync += [index.eq(index + 1), free.eq(ends)]
        with m.If(coming[-1]):
            m.d.sync += index.eq(0)
            with m.If(self.eject.valid):
                m.d.sync += free.eq(is_control)
        # What follows is a cycle late: the header stays in that cycle.
        came, written, extend, last_written = Signal(), Signal(), Signal(), Signal()
        m.d.sync += [
            came.eq(self.eject.valid & coming[-1]),
            written.eq(do_write),
            extend.eq(do_write & body),
            last_written.eq(do_write & ends & header.last),
        ]
        m.d.comb += self.granted.eq(came & equals(header.kind, PacketKind.GRANT))
        at = self._elaborate_memory(m, written, extend, last_written, ~body, index)
        self._elaborate_level(m, extend, full)
        self._elaborate_complete(m, header, last_written, at, waiting)
        self._elaborate_requests(m, header, came, last_written & body)
        return m

    def _elaborate_header(self, m: Module, header: Any, coming: Signal) -> Value:
        """Collect the header; return, valid with its last flit, whether there is no data behind it."""
        width, payload = self._frames.flits.flit_width, self.eject.payload.data
        for number, comes in enumerate(coming):
            part = header.as_value()[number * width : (number + 1) * width]
            with m.If(comes & self.eject.valid):
                m.d.sync += part.eq(payload[: len(part)])
        place = header_layout(self._frames)["kind"].offset + 1 - width * (len(coming) - 1)
        return payload[place] if place >= 0 else header.kind[1]

    def _elaborate_complete(self, m: Module, header: Any, ends: Value, at: Value, waiting: Signal) -> None:
        """Queue a frame with its last flit."""
        m.submodules.queue = queue = ShortQueue(complete_layout(self._frames), depth=COMPLETE)
        body = header.kind[0]
        connect(m, queue.o, wiring.flipped(self.complete))
        m.d.comb += [
            queue.push.eq(ends),
            queue.i.single.eq(~body),
            queue.i.lone.eq(~body & ~header.end.any()),
            queue.i.end.eq(Mux(body, at, header.end)),
            *(getattr(queue.i, name).eq(getattr(header, name)) for name in ("keep", "src", "user")),
            waiting.eq(queue.held[-1]),
        ]

    def _elaborate_memory(
        self, m: Module, written: Value, extend: Value, last: Value, single: Value, index: Value
    ) -> Signal:
        """Write a flit in the cycle after it was taken; return its position in the ring."""
        sizes, width = DataMemory(self._frames), self._frames.flits.flit_width
        # Frames are read when they are complete: no word is read in the cycle in which it is written.
        m.submodules.data = flits = memory.Memory(shape=width, depth=sizes.depth, init=[], attrs={"no_rw_check": 1})
        write, read = flits.write_port(), flits.read_port()
        slot, place, at = Signal(range(COMPLETE)), Signal.like(index), Signal(sizes.ring_width)
        m.d.sync += [place.eq(index), write.data.eq(self.eject.payload.data)]
        m.d.sync += [at.eq(at + extend), slot.eq(slot + (last & single))]
        m.d.comb += [
            write.addr.eq(sizes.address(single, slot=slot, index=place, at=at)),
            write.en.eq(written),
            read.addr.eq(self.read.address),
            read.en.eq(self.read.enable),
            self.read.data.eq(read.data),
        ]
        return at

    def _elaborate_level(self, m: Module, extend: Value, full: Signal) -> None:
        """Count what is in the ring, a cycle late: near its end a flit is not taken right behind another one."""
        ring_width = DataMemory(self._frames).ring_width
        level, is_near = Signal(range((1 << ring_width) + 1)), Signal(init=ring_width == 1)
        m.d.sync += level.eq(counted(level, extend, self.freed))
        if ring_width > 1:
            m.d.sync += is_near.eq(level[-1] | level[1:-1].all())
        m.d.comb += full.eq(level[-1] | (is_near & extend))

    def _elaborate_requests(self, m: Module, header: Any, came: Value, is_in: Value) -> None:
        """Queue requests, and grant one when no frame is coming in."""
        busy, waits, grants, width = Signal(), Signal(), Signal(), index_width(self._num_nodes)
        last, first, push = Signal(width + 1), Signal(width + 1), Signal()
        m.d.comb += [
            push.eq(came & equals(header.kind, PacketKind.REQUEST)),
            grants.eq(waits & ~busy),  # busy lasts longer than it takes to find the next one
        ]
        m.d.sync += [last.eq(last + push), waits.eq(first != last)]
        with m.If(grants):
            m.d.sync += [busy.eq(1), self.reply.valid.eq(1)]
        with m.Elif(self.reply.valid & self.reply.ready):
            m.d.sync += [self.reply.valid.eq(0), first.eq(first + 1)]
        with m.If(is_in):
            m.d.sync += busy.eq(0)
        m.submodules.requests = requests = ColumnMemory(depth=self._num_nodes, width=len(header.src))
        m.d.comb += [
            requests.write.eq(push),
            requests.write_address.eq(last[:-1]),
            requests.i.eq(header.src),
            requests.address.eq(first[:-1]),
        ]
        m.d.sync += self.reply.payload.eq(requests.o)


class FrameOutput(wiring.Component):
    """Give complete frames to the user, one after the other, a transfer a cycle.

    The first transfer comes five cycles after the frame's last data flit was taken from the fabric.

    Parameters
    ----------
    frames : FrameFormat

    Members
    -------
    complete : In(stream of complete_layout)
    read : Out(ReadSignature)
    freed : Out(1)
        High for one cycle for each read of the ring.
    m_axis : Out(stream of receive_layout)
    received : Out(1)
        High for one cycle for each frame that the user has taken whole.
    """

    def __init__(self, frames: FrameFormat) -> None:
        self._frames = frames
        super().__init__(
            {
                "complete": In(stream.Signature(complete_layout(frames))),
                "read": Out(ReadSignature(frames)),
                "freed": Out(1),
                "m_axis": Out(stream.Signature(receive_layout(frames))),
                "received": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        frame, beat = self.complete.payload, self.m_axis.payload
        reading, reading_last, frame_read = Signal(), Signal(), Signal.like(frame)
        data = Signal.like(beat.data, name="beat_data", reset_less=True)  # so it can be the memory's own register
        moves, do_read, ends = Signal(), Signal(), Signal()
        m.d.comb += [
            moves.eq(~self.m_axis.valid | self.m_axis.ready),
            do_read.eq(self.complete.valid & moves),
            self.complete.ready.eq(moves & ends),
            self.read.enable.eq(moves),
            self.received.eq(self.m_axis.valid & self.m_axis.ready & beat.last),
            beat.data.eq(data),
        ]
        self._elaborate_place(m, do_read, ends)
        with m.If(moves):
            m.d.sync += [
                reading.eq(self.complete.valid),
                reading_last.eq(ends),
                frame_read.eq(frame),
                self.m_axis.valid.eq(reading),
                data.eq(self.read.data),
                beat.keep.eq(Mux(reading_last, frame_read.keep, ~0)),
                beat.last.eq(reading_last),
                beat.id.eq(frame_read.src),
                beat.user.eq(frame_read.user),
            ]
        return m

    def _elaborate_place(self, m: Module, do_read: Value, ends: Signal) -> None:
        """Address the memory; find whether the flit is the frame's last, a flit ahead unless it is the only one."""
        frame, sizes = self.complete.payload, DataMemory(self._frames)
        index, following = Signal(index_width(self._frames.payload_flits)), Signal()
        slot, at, ahead = Signal(range(COMPLETE)), Signal(sizes.ring_width), Signal(sizes.ring_width, init=1)
        is_first, is_last = Signal(init=1), Signal()
        m.d.comb += [
            ends.eq(is_last | (is_first & frame.lone)),
            following.eq(
                Mux(
                    frame.single, (index + 1)[: len(index)] == frame.end[: len(index)], ahead == frame.end[: len(ahead)]
                )
            ),
            self.read.address.eq(sizes.address(frame.single, slot=slot, index=index, at=at)),
        ]
        m.d.sync += self.freed.eq(do_read & ~frame.single)
        with m.If(do_read):
            m.d.sync += [is_first.eq(ends), is_last.eq(following & ~ends)]
        with m.If(do_read & ~frame.single):
            m.d.sync += [at.eq(ahead), ahead.eq(ahead + 1)]
        with m.If(do_read & frame.single):
            m.d.sync += [index.eq(Mux(ends, 0, index + 1)), slot.eq(slot + ends)]
