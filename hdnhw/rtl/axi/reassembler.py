"""From packets to frames: the receiving half of an endpoint."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from hdnhw.flit import FrameFormat, PacketKind
from hdnhw.rtl.axi.layout import header_layout, receive_layout
from hdnhw.rtl.bits import below, equals, index_width
from hdnhw.rtl.channel import ejection_signature

__all__ = ["FrameOutput", "PacketReceiver"]

COMPLETE = 4
"""Complete frames that wait at a destination, of one packet or of several."""


def complete_layout(frames: FrameFormat) -> data.StructLayout:
    """Return what is queued of a complete frame: source, user, `end` (position of its last transfer) and its tkeep.

    `single` says that the frame came in one packet; its data is in the slot of that number of the packet memory, else
    in the frame memory.
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


class ReadSignature(wiring.Signature):
    """The memories of an endpoint, seen from the one who reads.

    Members
    -------
    enable : Out(1)
        Read: data comes in the next cycle and stays until the next read.
    packet_address, frame_address : Out
    packet_data, frame_data : In(flit_width)
    """

    def __init__(self, frames: FrameFormat) -> None:
        width = frames.flits.flit_width
        super().__init__(
            {
                "enable": Out(1),
                "packet_address": Out(index_width(COMPLETE) + index_width(frames.payload_flits)),
                "packet_data": In(width),
                "frame_address": Out(index_width(frames.max_transfers)),
                "frame_data": In(width),
            }
        )


class PacketReceiver(wiring.Component):
    """Take packets from the fabric: keep data, queue requests, pass grants on.

    One flit a cycle. A frame of one packet goes to a slot of the packet memory. Longer frames go to the frame memory, a
    ring: one source at a time is granted, the next as soon as its last packet is in, so one frame comes in while those
    before it go out. Requests and grants never wait for the user; data waits while the memory it goes to is full or
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
        High for one cycle when a flit of the frame memory has been read.
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
        self._elaborate_packet_memory(m, Cat(index, slot), do_write & ~body)
        self._elaborate_frame_memory(m, do_write & body, full)
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
        m.submodules.queue = queue = SyncFIFO(width=layout.size, depth=COMPLETE)
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

    def _elaborate_packet_memory(self, m: Module, address: Value, enable: Value) -> None:
        width = self._frames.flits.flit_width
        m.submodules.packets = packets = memory.Memory(shape=width, depth=1 << len(address), init=[])
        write, read = packets.write_port(), packets.read_port()
        m.d.comb += [
            write.addr.eq(address),
            write.data.eq(self.eject.payload.data),
            write.en.eq(enable),
            read.addr.eq(self.read.packet_address),
            read.en.eq(self.read.enable),
            self.read.packet_data.eq(read.data),
        ]

    def _elaborate_frame_memory(self, m: Module, enable: Value, full: Signal) -> None:
        width, address_width = self._frames.flits.flit_width, index_width(self._frames.max_transfers)
        depth = 1 << address_width
        m.submodules.frames = frames = memory.Memory(shape=width, depth=depth, init=[])
        write, read = frames.write_port(), frames.read_port()
        at, level = Signal(address_width), Signal(range(depth + 1))
        m.d.sync += [at.eq(at + enable), level.eq(level + enable - self.freed)]
        m.d.comb += [
            full.eq(level[-1]),
            write.addr.eq(at),
            write.data.eq(self.eject.payload.data),
            write.en.eq(enable),
            read.addr.eq(self.read.frame_address),
            read.en.eq(self.read.enable),
            self.read.frame_data.eq(read.data),
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
    """Give complete frames to the user, one after the other, a transfer a cycle; the first three cycles after it is
    complete.

    Parameters
    ----------
    frames : FrameFormat

    Members
    -------
    complete : In(stream of complete_layout)
    read : Out(ReadSignature)
    freed : Out(1)
        High for one cycle for each read of the frame memory.
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
        index, at = Signal.like(frame.end), Signal.like(self.read.frame_address)
        can_read, can_load, do_read, ends = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            can_load.eq(~self.m_axis.valid | self.m_axis.ready),
            can_read.eq(~reading | can_load),
            do_read.eq(self.complete.valid & can_read),
            ends.eq(index == frame.end),
            self.complete.ready.eq(can_read & ends),
            self.read.enable.eq(do_read),
            self.read.packet_address.eq(Cat(index[: index_width(self._frames.payload_flits)], frame.slot)),
            self.read.frame_address.eq(at),
            self.freed.eq(do_read & ~frame.single),
            self.received.eq(self.m_axis.valid & self.m_axis.ready & beat.last),
        ]
        m.d.sync += at.eq(at + self.freed)
        with m.If(do_read):
            m.d.sync += [index.eq(Mux(ends, 0, index + 1)), reading_last.eq(ends), frame_read.eq(frame)]
        with m.If(can_read):
            m.d.sync += reading.eq(self.complete.valid)
        with m.If(can_load):
            m.d.sync += [
                self.m_axis.valid.eq(reading),
                beat.data.eq(Mux(frame_read.single, self.read.packet_data, self.read.frame_data)),
                beat.keep.eq(Mux(reading_last, frame_read.keep, ~0)),
                beat.last.eq(reading_last),
                beat.id.eq(frame_read.src),
                beat.user.eq(frame_read.user),
            ]
        return m
