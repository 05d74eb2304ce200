"""The side of a memory: requests are played as bursts, and what it answers is sent back."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi4.format import MemoryFormat, MemoryKind
from hdnhw.endpoints.axi4.layout import Burst, channels
from hdnhw.endpoints.axi4.part_buffer import PacketSignature, PartBuffer
from hdnhw.endpoints.axi4.skid import SkidBuffer
from hdnhw.rtl.bits import equals, index_width
from hdnhw.rtl.fifos import ShortQueue
from hdnhw.rtl.header import header_layout

PENDING = 8
"""Writes, and reads, that a memory has under way at most."""


def _channel(memory: MemoryFormat, name: str) -> stream.Signature:
    return stream.Signature(channels(memory, inside=True)[name])


def origin_layout(memory: MemoryFormat) -> data.StructLayout:
    """Return who asked, and what they call it."""
    return data.StructLayout({name: memory.header_fields[name] for name in ("src", "tag")})


class _State(enum.IntEnum):
    """Bits of the state, of which one is set."""

    HEADER = 0
    START = 1
    DATA = 2
    SKIP = 3


class RequestPlayer(wiring.Component):
    """Play requests one after the other: the address, and of writes the data, which do not wait for each other.

    Parameters
    ----------
    memory : MemoryFormat

    Members
    -------
    request : In(stream of flits)
    aw, w, ar : Out(stream)
    writes, reads : Out(stream of origin_layout)
        Who waits for the responses of the memory, in their order.
    """

    def __init__(self, memory: MemoryFormat) -> None:
        self._memory = memory
        origin = stream.Signature(origin_layout(memory))
        super().__init__(
            {
                "request": In(stream.Signature(memory.flits.flit_width)),
                **{name: Out(_channel(memory, name)) for name in ("aw", "w", "ar")},
                "writes": Out(origin),
                "reads": Out(origin),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        length, headers = self._memory.flits.packet_length, self._memory.header_flits
        state, layout = Signal(len(_State), name="state", init=1 << _State.HEADER), header_layout(self._memory)
        count = Signal(index_width(length))
        held = Signal(headers * self._memory.flits.flit_width)
        header = layout(held[: layout.size])
        take, is_tail, starts = Signal(), Signal(), Signal()
        m.d.comb += take.eq(self.request.valid & self.request.ready)
        self._elaborate_start(m, header, starts, state[_State.START])
        m.submodules.data = data = SkidBuffer(channels(self._memory, inside=True)["w"])
        connect(m, data.o, wiring.flipped(self.w))
        beats = Signal()
        m.d.comb += beats.eq(self.request.valid & state[_State.DATA] & data.i.ready)
        is_end = self._elaborate_data(m, header, starts, beats, data.i)
        m.d.comb += self.request.ready.eq(
            state[_State.HEADER] | state[_State.SKIP] | (state[_State.DATA] & data.i.ready)
        )
        with m.If(take):
            m.d.sync += [count.eq(Mux(is_tail, 0, count + 1)), is_tail.eq(equals(count, length - 2))]
        with m.If(take & state[_State.HEADER]):
            m.d.sync += held.eq(Cat(held, self.request.payload)[len(self.request.payload) :])
            with m.If(equals(count, headers - 1)):
                m.d.sync += state.eq(1 << _State.START)
        with m.If(starts):
            m.d.sync += state.eq(Mux(header.kind[0], 1 << _State.SKIP, 1 << _State.DATA))
        with m.If(beats & is_end):
            m.d.sync += state.eq(1 << _State.SKIP)
        with m.If(take & is_tail):
            m.d.sync += state.eq(1 << _State.HEADER)
        return m

    def _elaborate_start(self, m: Module, header: Any, starts: Signal, is_due: Value) -> None:
        """Offer the address of a burst, and note who asked, when there is room for both."""
        may = []
        for channel, origins, is_kind in (
            (self.aw, self.writes, ~header.kind[0]),
            (self.ar, self.reads, header.kind[0]),
        ):
            queue = ShortQueue(origin_layout(self._memory), depth=PENDING)
            m.submodules += queue
            connect(m, queue.o, wiring.flipped(origins))
            room = Signal(name="room")
            m.d.sync += room.eq(~queue.held[-1] & ~channel.valid)  # the next request starts some cycles later
            may.append(is_kind & room)
            begins, beat = starts & is_kind, channel.payload
            m.d.comb += [queue.push.eq(begins), queue.i.src.eq(header.src), queue.i.tag.eq(header.tag)]
            with m.If(begins):
                m.d.sync += [
                    channel.valid.eq(1),
                    beat.addr.eq(header.addr),
                    beat.len.eq(header.end),
                    beat.size.eq(header.size),
                    beat.burst.eq(Mux(header.fixed, Burst.FIXED, Burst.INCR)),
                ]
            with m.Elif(channel.ready):
                m.d.sync += channel.valid.eq(0)
        m.d.comb += starts.eq(is_due & (may[0] | may[1]))

    def _elaborate_data(self, m: Module, header: Any, starts: Value, take: Value, to: Any) -> Value:
        """Pass on the data of a write, beat by beat; return whether the flit is the last one."""
        strobes = Signal(len(header.strobes))
        index = Signal(len(header.end))
        is_end, behind = Signal(), (index + 1)[: len(index)]
        m.d.comb += [
            to.valid.eq(take),
            to.payload.data.eq(self.request.payload),
            to.payload.strb.eq(strobes[: self._memory.bytes]),
            to.payload.last.eq(is_end),
        ]
        with m.If(starts):
            m.d.sync += [strobes.eq(header.strobes), index.eq(0), is_end.eq(~header.end.any())]
        with m.If(take):
            m.d.sync += [
                strobes.eq(strobes[self._memory.bytes :]),
                index.eq(behind),
                is_end.eq(behind == header.end),
            ]
        return is_end


class AnswerCollector(wiring.Component):
    """Answers of a memory: the response of a write by itself, the data of a read when all are here.

    Parameters
    ----------
    memory : MemoryFormat

    Members
    -------
    b, r : In(stream)
    writes, reads : In(stream of origin_layout)
    written, data : Out(PacketSignature)
    """

    def __init__(self, memory: MemoryFormat) -> None:
        self._memory = memory
        origin, packet = stream.Signature(origin_layout(memory)), PacketSignature(memory)
        super().__init__(
            {
                **{name: In(_channel(memory, name)) for name in ("b", "r")},
                "writes": In(origin),
                "reads": In(origin),
                "written": Out(packet),
                "data": Out(packet),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        self._elaborate_written(m)
        self._elaborate_data(m)
        return m

    def _elaborate_written(self, m: Module) -> None:
        head, takes = self.written.head, Signal()
        m.d.comb += [
            self.b.ready.eq(self.writes.valid & ~head.valid),
            takes.eq(self.b.valid & self.b.ready),
            self.writes.ready.eq(takes),
        ]
        with m.If(takes):
            m.d.sync += [
                head.valid.eq(1),
                head.payload.kind.eq(MemoryKind.WRITTEN),
                head.payload.dst.eq(self.writes.payload.src),
                head.payload.tag.eq(self.writes.payload.tag),
                head.payload.size.eq(self.b.payload.resp),
            ]
        with m.Elif(head.ready):
            m.d.sync += head.valid.eq(0)

    def _elaborate_data(self, m: Module) -> None:
        """Collect the beats of a read; its response is the worst of theirs."""
        m.submodules.buffer = buffer = PartBuffer(self._memory)
        connect(m, buffer.packet, wiring.flipped(self.data))
        head, beat = Signal(header_layout(self._memory)), self.r.payload
        worst, resp, takes = Signal(2), Signal(2), Signal()
        m.d.comb += [
            self.r.ready.eq(self.reads.valid & buffer.room),
            takes.eq(self.r.valid & self.r.ready),
            resp.eq(Mux(beat.resp > worst, beat.resp, worst)),
            buffer.push.eq(takes),
            buffer.word.eq(beat.data),
            buffer.close.eq(takes & beat.last),
            self.reads.ready.eq(buffer.close),
            buffer.head.eq(head),
        ]
        with m.If(takes):
            m.d.sync += [
                worst.eq(Mux(beat.last, 0, resp)),
                head.kind.eq(MemoryKind.DATA),
                head.dst.eq(self.reads.payload.src),
                head.tag.eq(self.reads.payload.tag),
                head.end.eq(buffer.index),
                head.size.eq(resp),
            ]
