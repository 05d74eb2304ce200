"""From packets to frames: the receiving half of an endpoint."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hdnhw.flit import FrameFormat, PacketKind
from hdnhw.rtl.axi.layout import receive_layout
from hdnhw.rtl.bits import below, equals, index_width
from hdnhw.rtl.channel import ejection_signature
from hdnhw.rtl.header import header_layout

__all__ = ["FrameOutput", "PacketReceiver"]

COMPLETE = 4
"""Complete frames that wait at a destination, of one packet or of several."""


def complete_layout(frames: FrameFormat) -> data.StructLayout:
    """Return what is queued of a complete frame: source, user, `end` (position of its last transfer) and its tkeep.

    `single` says that the frame came in one packet; its data is in that slot of the data memory, else in its ring.
    """
    fields = frames.header_fields
    return data.StructLayout(
        {
            "single": 1,
            "slot": index_width(COMPLETE),
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
    Requests and grants never wait for the user; data waits while the ring is full or `COMPLETE` frames wait, thus for
    the user alone, as every frame that is in the way is complete.

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
        Frames in the order in which their last packets came; each is taken with the last read of its data.
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
        header, in_header = self._elaborate_header(m)
        do_take, tail, do_write, past = Signal(), Signal(), Signal(), Signal()
        control, body, full, waiting = header.kind[1], header.kind[0], Signal(), Signal()
        index = Signal(index_width(self._frames.payload_flits))
        m.d.comb += [
            self.eject.ready.eq(in_header | control | (~waiting & (past | ~(body & full)))),
            do_take.eq(self.eject.valid & self.eject.ready),
            tail.eq(do_take & self.eject.payload.last),
            do_write.eq(do_take & ~in_header & ~control & ~past),
            self.granted.eq(tail & equals(header.kind, PacketKind.GRANT)),
        ]
        with m.If(tail):
            m.d.sync += [past.eq(0), index.eq(0)]
        with m.Elif(do_write):
            m.d.sync += [past.eq(index == header.end[: len(index)]), index.eq(index + 1)]
        slot = self._elaborate_complete(m, header, do_write, tail & ~control, waiting)
        self._elaborate_memory(m, do_write, ~body, slot, index, full)
        self._elaborate_requests(m, header, tail)
        return m

    def _elaborate_header(self, m: Module) -> tuple[Any, Signal]:
        """Collect the header; return it and whether its flits are coming in."""
        flits = self._frames.flits
        header, in_header = Signal(header_layout(self._frames)), Signal()
        position = Signal(range(flits.packet_length))
        m.d.comb += in_header.eq(below(position, self._frames.header_flits))
        with m.If(self.eject.valid & self.eject.ready):
            m.d.sync += position.eq(Mux(self.eject.payload.last, 0, position + 1))
            for number in range(self._frames.header_flits):
                part = header.as_value()[number * flits.flit_width : (number + 1) * flits.flit_width]
                with m.If(equals(position, number)):
                    m.d.sync += part.eq(self.eject.payload.data[: len(part)])
        return header, in_header

    def _elaborate_complete(self, m: Module, header: Any, do_write: Value, packet: Value, waiting: Signal) -> Signal:
        """Queue a frame with the tail of its last packet; return the slot of a frame of one packet."""
        layout, body = complete_layout(self._frames), header.kind[0]
        entry, slot = Signal(layout), Signal(range(COMPLETE))
        written = Signal.like(entry.end)  # data flits of the frame of several packets
        m.submodules.queue = queue = SyncFIFOBuffered(width=layout.size, depth=COMPLETE)
        with m.If(packet & body & header.last):
            m.d.sync += written.eq(0)
        with m.Elif(do_write & body):
            m.d.sync += written.eq(written + 1)
        with m.If(packet & ~body):
            m.d.sync += slot.eq(slot + 1)
        m.d.comb += [
            entry.single.eq(~body),
            entry.slot.eq(slot),
            entry.end.eq(Mux(body, Mux(do_write, written, written - 1), header.end)),
            entry.keep.eq(header.keep),
            entry.src.eq(header.src),
            entry.user.eq(header.user),
            waiting.eq(~queue.w_rdy),
            queue.w_en.eq(packet & header.last),
            queue.w_data.eq(entry),
            self.complete.payload.eq(queue.r_data),
            self.complete.valid.eq(queue.r_rdy),
            queue.r_en.eq(self.complete.ready),
        ]
        return slot

    def _elaborate_memory(
        self, m: Module, do_write: Value, single: Value, slot: Value, index: Value, full: Signal
    ) -> None:
        sizes, width = DataMemory(self._frames), self._frames.flits.flit_width
        # Frames are read when they are complete: no word is read in the cycle in which it is written.
        m.submodules.data = flits = memory.Memory(shape=width, depth=sizes.depth, init=[], attrs={"no_rw_check": 1})
        write, read = flits.write_port(), flits.read_port()
        at, level, extend = Signal(sizes.ring_width), Signal(range((1 << sizes.ring_width) + 1)), Signal()
        m.d.sync += [at.eq(at + extend), level.eq(level + extend - self.freed)]
        m.d.comb += [
            extend.eq(do_write & ~single),
            full.eq(level[-1]),
            write.addr.eq(sizes.address(single, slot=slot, index=index, at=at)),
            write.data.eq(self.eject.payload.data),
            write.en.eq(do_write),
            read.addr.eq(self.read.address),
            read.en.eq(self.read.enable),
            self.read.data.eq(read.data),
        ]

    def _elaborate_requests(self, m: Module, header: Any, tail: Value) -> None:
        """Queue requests, and grant one when no frame is coming in."""
        busy = Signal()
        m.submodules.requests = requests = SyncFIFO(width=len(header.src), depth=self._num_nodes)
        m.d.comb += [
            requests.w_en.eq(tail & equals(header.kind, PacketKind.REQUEST)),
            requests.w_data.eq(header.src),
            self.reply.valid.eq(requests.r_rdy & ~busy),
            self.reply.payload.eq(requests.r_data),
            requests.r_en.eq(self.reply.ready & ~busy),
        ]
        with m.If(self.reply.valid & self.reply.ready):
            m.d.sync += busy.eq(1)
        with m.Elif(tail & equals(header.kind, PacketKind.BODY) & header.last):
            m.d.sync += busy.eq(0)


class FrameOutput(wiring.Component):
    """Give complete frames to the user, one after the other, a transfer a cycle; the first four cycles after it is
    complete.

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
        sizes = DataMemory(self._frames)
        index, at = Signal.like(frame.end), Signal(sizes.ring_width)
        data = Signal.like(beat.data, name="beat_data", reset_less=True)  # so it can be the memory's own register
        can_read, can_load, do_read, ends, moves = Signal(), Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            can_load.eq(~self.m_axis.valid | self.m_axis.ready),
            can_read.eq(~reading | can_load),
            do_read.eq(self.complete.valid & can_read),
            ends.eq(index == frame.end),
            self.complete.ready.eq(can_read & ends),
            self.read.enable.eq(do_read),
            self.read.address.eq(sizes.address(frame.single, slot=frame.slot, index=index, at=at)),
            moves.eq(do_read & ~frame.single),
            self.received.eq(self.m_axis.valid & self.m_axis.ready & beat.last),
            beat.data.eq(data),
        ]
        m.d.sync += [at.eq(at + moves), self.freed.eq(moves)]
        with m.If(do_read):
            m.d.sync += [index.eq(Mux(ends, 0, index + 1)), reading_last.eq(ends), frame_read.eq(frame)]
        with m.If(can_read):
            m.d.sync += reading.eq(self.complete.valid)
        with m.If(can_load):
            m.d.sync += [
                self.m_axis.valid.eq(reading),
                data.eq(self.read.data),
                beat.keep.eq(Mux(reading_last, frame_read.keep, ~0)),
                beat.last.eq(reading_last),
                beat.id.eq(frame_read.src),
                beat.user.eq(frame_read.user),
            ]
        return m
