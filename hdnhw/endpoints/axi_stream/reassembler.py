"""From packets to frames: the receiving half of an endpoint."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi_stream.format import PacketKind
from hdnhw.endpoints.axi_stream.format_pool import FramePool
from hdnhw.endpoints.axi_stream.granter import Granter
from hdnhw.endpoints.axi_stream.layout import receive_layout
from hdnhw.endpoints.axi_stream.slots import FreeSlots
from hdnhw.rtl.bits import equals, index_width
from hdnhw.rtl.channel import ejection_signature
from hdnhw.rtl.fifos import ShortQueue
from hdnhw.rtl.header import header_layout
from hdnhw.rtl.table import Table

SHORT = 2
"""Flits of packets whose header comes in the cycle in which the one before is written into the table of frames."""

COMPLETE = 16
"""Complete frames that wait at a destination, at most."""


LINKED = 2
"""Cycles in which the link of a slot is read."""


def complete_layout(pool: FramePool) -> data.StructLayout:
    """Return what is queued of a complete frame.

    ``slot`` is that of its first packet, ``others`` the count of those before the last, ``alone`` says that there are
    none. ``end`` is the position of the last data flit in the last packet, ``short`` says that it is the first there,
    ``keep`` is its tkeep. ``lone`` says that the frame has one transfer.
    """
    fields = pool.frames.header_fields
    packets = {"slot": index_width(pool.slots), "others": pool.count_width, "alone": 1, "short": 1, "lone": 1}
    return data.StructLayout({**packets, **{name: fields[name] for name in ("end", "keep", "src", "user")}})


def partial_layout(pool: FramePool) -> data.StructLayout:
    """Return what is kept of a frame that comes in: its first slot and its last one, its packets.

    ``long`` says that it needs a grant, ``longest`` that it has asked by itself.
    """
    slot = index_width(pool.slots)
    return data.StructLayout({"first": slot, "tail": slot, "packets": pool.count_width, "long": 1, "longest": 1})


class PoolSignature(wiring.Signature):
    """The pool of an endpoint, seen from the one who reads.

    Members
    -------
    enable : Out(1)
        Read: data comes in the next cycle and stays until the next read.
    slot, index : Out
        Packet and data flit.
    following : In
        Slot of the packet behind that which was in `slot` two cycles before.
    freed : Out(1)
        Nothing more is read of the packet in the slot of the cycle before.
    """

    def __init__(self, pool: FramePool) -> None:
        slot = index_width(pool.slots)
        super().__init__(
            {
                "enable": Out(1),
                "slot": Out(slot),
                "index": Out(index_width(pool.frames.payload_flits)),
                "data": In(pool.frames.flits.flit_width),
                "following": In(slot),
                "freed": Out(1),
            }
        )


class PacketReceiver(wiring.Component):
    """Take packets from the fabric: keep data, queue requests, pass grants on.

    One flit per cycle. Each packet goes to a slot of its own in the pool; the slots of a frame are linked. Headers,
    with what they ask for, and grants never wait for the user; data waits while the pool is full or `COMPLETE` frames
    wait, thus for the user alone, as a full pool holds a complete frame (docs/decisions/0026).

    Members
    -------
    eject : In(ejection_signature)
    read : In(PoolSignature)
    complete : Out(stream of complete_layout)
        Frames in the order in which their last data flits came; each is taken with the last read of its data.
    reply : Out(stream of packed addresses)
        The source to be granted next.
    granted : Out(1)
        High for one cycle when a request of the node itself has been granted.
    """

    def __init__(self, pool: FramePool) -> None:
        self._pool, self._frames = pool, pool.frames
        # Of long packets, what is known of the frame passes a register before a second data flit counts.
        self._is_long = pool.frames.payload_flits > 2
        self._domain = "sync" if self._is_long else "comb"
        super().__init__(
            {
                "eject": In(ejection_signature(flit_width=pool.frames.flits.flit_width)),
                "read": In(PoolSignature(pool)),
                "complete": Out(stream.Signature(complete_layout(pool))),
                "reply": Out(stream.Signature(pool.frames.flits.address_width)),
                "granted": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        header, coming = Signal(header_layout(self._frames)), Signal(self._frames.header_flits, init=1)
        arriving = self._elaborate_header(m, header, coming)
        free, waiting, do_write, ends = Signal(init=1), Signal(), Signal(), Signal()
        index = Signal(index_width(self._frames.payload_flits))
        m.submodules.slots = slots = FreeSlots(slots=self._pool.slots)
        m.d.comb += [
            self.eject.ready.eq(free | (slots.valid & ~waiting)),
            do_write.eq(self.eject.valid & ~free & slots.valid & ~waiting),
        ]
        ahead, most = (index + 1)[: len(index)], self._frames.payload_flits - 1
        with m.If(self.eject.valid & self.eject.ready):
            m.d.sync += coming.eq(Cat(self.eject.payload.last, coming[:-1]))
        with m.If(do_write):
            m.d.sync += [
                free.eq(ends),
                index.eq(ahead),
                ends.eq(equals(ahead, most) | (header.last & (ahead == header.end[: len(index)]))),
            ]
        with m.If(coming[-1]):
            m.d.sync += [index.eq(0), ends.eq((arriving.last & ~arriving.end.any()) if most else 1)]
            with m.If(self.eject.valid):
                m.d.sync += free.eq(arriving.kind[1])
        # What follows is a cycle late: the header stays in that cycle.
        came, opens, closes = Signal(), Signal(), Signal()
        m.d.sync += [
            came.eq(self.eject.valid & coming[-1]),
            opens.eq(do_write & equals(index, self._is_long)),
            closes.eq(do_write & ends),
        ]
        m.d.comb += [self.granted.eq(came & equals(header.kind, PacketKind.GRANT)), slots.take.eq(closes)]
        self._elaborate_memory(m, do_write, index, slots)
        m.submodules.partials = partials = Table(
            depth=1 << self._frames.flits.address_width,
            width=partial_layout(self._pool).size,
            distributed=self._frames.flits.packet_length == SHORT,
        )
        m.d.comb += [partials.read.eq(coming[-1]), partials.address.eq(arriving.src)]
        before, partial = self._elaborate_partial(m, header, opens, slots.slot, partials)
        self._elaborate_links(m, closes & header.kind[0], before.tail, slots.slot)
        self._elaborate_complete(m, header, closes, before, slots.slot, waiting)
        self._elaborate_grants(m, header, came, closes, before.longest, partial)
        return m

    def _elaborate_header(self, m: Module, header: Any, coming: Signal) -> Any:
        """Collect the header; return it as it is when its last flit is there, a cycle earlier."""
        width, payload, layout = self._frames.flits.flit_width, self.eject.payload.data, header_layout(self._frames)
        for number, comes in enumerate(coming):
            part = header.as_value()[number * width : (number + 1) * width]
            with m.If(comes & self.eject.valid):
                m.d.sync += part.eq(payload[: len(part)])
        done = width * (len(coming) - 1)
        return data.View(layout, Cat(header.as_value()[:done], payload[: layout.size - done]))

    def _elaborate_memory(self, m: Module, do_write: Value, index: Value, slots: FreeSlots) -> None:
        """Write a flit in the cycle after it was taken."""
        width, row = self._frames.flits.flit_width, len(index)
        # Frames are read when they are complete: no word is read in the cycle in which it is written.
        m.submodules.data = flits = memory.Memory(
            shape=width, depth=self._pool.slots << row, init=[], attrs={"no_rw_check": 1}
        )
        write, read = flits.write_port(), flits.read_port()
        place, written, freed = Signal.like(index), Signal(), Signal.like(slots.given)
        m.d.sync += [
            place.eq(index),
            written.eq(do_write),
            write.data.eq(self.eject.payload.data),
            freed.eq(self.read.slot),
        ]
        m.d.comb += [
            write.addr.eq(Cat(place, slots.slot)),
            write.en.eq(written),
            read.addr.eq(Cat(self.read.index, self.read.slot)),
            read.en.eq(self.read.enable),
            self.read.data.eq(read.data),
            slots.give.eq(self.read.freed),
            slots.given.eq(freed),
        ]

    def _elaborate_partial(self, m: Module, header: Any, opens: Value, slot: Value, partials: Table) -> tuple[Any, Any]:
        """Keep the frames that come in, one a source; return that before this packet, and with it.

        The one before is there two cycles after the header, the other one a cycle later. That is written with the first
        or second data flit, so that the next header finds it.
        """
        pool = self._pool
        layout = partial_layout(pool)
        before, partial = data.View(layout, partials.o), Signal(layout)
        is_first = ~header.kind[0]
        m.d.comb += [
            partials.write_address.eq(header.src),
            partials.write.eq(opens),
            partials.i.eq(partial),
        ]
        m.d[self._domain] += [
            partial.first.eq(Mux(is_first, slot, before.first)),
            partial.tail.eq(slot),
            partial.packets.eq(Mux(is_first, pool.count(1), before.packets + 1)),
            partial.long.eq(~is_first & (before.long | equals(before.packets, pool.count(pool.prompt)))),
            partial.longest.eq(self._asked(header).all() | (~is_first & before.longest)),
        ]
        return before, partial

    def _elaborate_links(self, m: Module, write: Value, tail: Value, slot: Value) -> None:
        """Link the slots of a frame."""
        m.submodules.links = links = Table(depth=self._pool.slots, width=len(slot))
        m.d.comb += [
            links.write.eq(write),
            links.write_address.eq(tail),
            links.i.eq(slot),
            links.read.eq(1),
            links.address.eq(self.read.slot),
            self.read.following.eq(links.o),
        ]

    def _asked(self, header: Any) -> Value:
        """Return what a data packet asks for that is not the last of its frame."""
        return Cat(header.end, header.keep)

    def _elaborate_complete(
        self, m: Module, header: Any, closes: Value, before: Any, slot: Value, waiting: Signal
    ) -> None:
        """Queue a frame with its last flit."""
        m.submodules.queue = queue = ShortQueue(complete_layout(self._pool), depth=COMPLETE)
        connect(m, queue.o, wiring.flipped(self.complete))
        m.d.comb += [
            queue.push.eq(closes & header.last),
            queue.i.slot.eq(Mux(header.kind[0], before.first, slot)),
            queue.i.others.eq(before.packets),
            queue.i.alone.eq(~header.kind[0]),
            queue.i.short.eq(~header.end.any()),
            queue.i.lone.eq(~header.kind[0] & ~header.end.any()),
            *(getattr(queue.i, name).eq(getattr(header, name)) for name in ("end", "keep", "src", "user")),
            waiting.eq(queue.held[-1]),
        ]

    def _elaborate_grants(
        self, m: Module, header: Any, came: Value, closes: Value, longest: Value, partial: Any
    ) -> None:
        """Queue what is asked for, and give back to the reserve what a frame was granted, some cycles later."""
        pool = self._pool
        if not pool.grants:
            return
        m.submodules.granter = granter = Granter(pool)
        connect(m, granter.reply, wiring.flipped(self.reply))
        is_over = Signal()
        m.d[self._domain] += is_over.eq(closes & header.last)
        m.d.sync += [
            granter.push.eq(came & ~header.kind[1] & ~header.last & self._asked(header).any()),
            granter.src.eq(header.src),
            granter.packets.eq(self._asked(header)),
            granter.longest.eq(self._asked(header).all()),
            granter.ends.eq(is_over & partial.long),
            granter.returns.eq(Mux(longest, pool.longest_need, partial.packets)),
        ]


class FrameOutput(wiring.Component):
    """Give complete frames to the user, one after the other, a transfer a cycle.

    The first transfer comes five cycles after the frame's last data flit was taken from the fabric.

    Members
    -------
    complete : In(stream of complete_layout)
    read : Out(PoolSignature)
    m_axis : Out(stream of receive_layout)
    received : Out(1)
        High for one cycle for each frame that the user has taken whole.
    """

    def __init__(self, pool: FramePool) -> None:
        self._pool, self._frames = pool, pool.frames
        super().__init__(
            {
                "complete": In(stream.Signature(complete_layout(pool))),
                "read": Out(PoolSignature(pool)),
                "m_axis": Out(stream.Signature(receive_layout(pool.frames))),
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
            self.complete.ready.eq(moves & ends),
            self.read.enable.eq(moves),
            self.received.eq(self.m_axis.valid & self.m_axis.ready & beat.last),
            beat.data.eq(data),
        ]
        self._elaborate_place(m, moves, do_read, ends)
        with m.If(moves):
            m.d.sync += [
                reading.eq(do_read),
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

    def _elaborate_place(self, m: Module, moves: Value, do_read: Signal, ends: Signal) -> None:
        """Say what is read, and whether it ends its packet or its frame: known a flit ahead but for the first one."""
        frame, read, step = self.complete.payload, self.read, self._frames.payload_flits
        index, following = Signal.like(read.index), Signal.like(read.slot)
        in_first, in_last, stays = Signal(init=1), Signal(), Signal(LINKED)
        will_leave, will_end, leaves, is_last, may_read = Signal(), Signal(), Signal(), Signal(), Signal()
        is_left = Signal()
        # Of the packet that is read; it is not the last if they are used, and there is a cycle for them.
        others, left, fewer, nearly = *(Signal.like(frame.others) for _ in range(3)), Signal()
        m.d.comb += [
            left.eq(Mux(in_first, frame.others, others)),
            is_last.eq(Mux(in_first, frame.alone, in_last)),
            # A short packet waits until its link has been read.
            may_read.eq(self.complete.valid & (stays[-1] | is_last | ~leaves if step <= LINKED else 1)),
            do_read.eq(moves & may_read),
            is_left.eq(moves & (may_read & leaves)),
            ends.eq(frame.lone | will_end),
            leaves.eq(1 if step == 1 else frame.lone | will_leave),
            read.slot.eq(Mux(in_first, frame.slot, following)),
            read.index.eq(index),
        ]
        m.d.sync += [
            stays.eq(Mux(self.complete.valid & ~is_left, Cat(1, stays[:-1]), 0)),
            read.freed.eq(is_left),
            fewer.eq(left - 1),
            nearly.eq(equals(left, self._pool.count(1))),
        ]
        ahead, goes_short = (index + 1)[: len(index)], nearly & frame.short & ~is_last
        at_end = ahead == frame.end[: len(ahead)]
        with m.If(do_read):
            m.d.sync += [
                index.eq(Mux(leaves, 0, ahead)),
                will_end.eq(Mux(leaves, goes_short, is_last & at_end)),
                will_leave.eq(Mux(leaves, goes_short, Mux(is_last, at_end, equals(ahead, step - 1)))),
            ]
        with m.If(is_left):
            m.d.sync += [in_first.eq(is_last), in_last.eq(nearly), following.eq(read.following)]
        with m.If(read.freed):
            m.d.sync += others.eq(fewer)
