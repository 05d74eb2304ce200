"""The side of a memory: requests are played as bursts, and what it answers is sent back."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi4.format import MemoryFormat, MemoryKind
from hdnhw.endpoints.axi4.layout import Burst, answer_layout, bits_inside, channels, lanes_at, place_behind
from hdnhw.endpoints.axi4.part_buffer import PacketSignature, PartBuffer, place_of_beat
from hdnhw.endpoints.axi4.skid import SkidBuffer
from hdnhw.endpoints.axi4.tags import order_of
from hdnhw.rtl.bits import equals, index_width
from hdnhw.rtl.fifos import ShortQueue
from hdnhw.rtl.header import header_layout

PENDING = 8
"""Writes, and reads, that a memory has under way at most."""


def _channel(memory: MemoryFormat, name: str) -> stream.Signature:
    return stream.Signature(channels(memory, inside=True)[name])


def origin_layout(memory: MemoryFormat) -> data.StructLayout:
    """Return who asked, whether that is the node's own manager, what they call it, its last beat, and if it is one."""
    return data.StructLayout(
        {"own": 1, "single": 1, **{name: memory.header_fields[name] for name in ("src", "tag", "end")}}
    )


class _State(enum.IntEnum):
    """Bits of the state: what comes next, and whether flits are taken whatever happens.

    WRITE and READ are the last flits of headers of more than one.
    """

    FIRST = 0
    HEADER = 1
    WRITE = 2
    READ = 3
    DATA = 4
    OWN = 5
    SKIP = 6
    FLOWS = 7


class RequestPlayer(wiring.Component):
    """Play requests one after the other: the address, and of writes the data, which do not wait for each other.

    Between two requests of the fabric one of the node's own manager is played, and the other way round.

    Parameters
    ----------
    memory : MemoryFormat

    Members
    -------
    request : In(stream of flits)
    own : In(PacketSignature).array(2)
        Writes and reads of the node's own manager.
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
                "own": In(PacketSignature(memory)).array(2),
                **{name: Out(_channel(memory, name)) for name in ("aw", "w", "ar")},
                "writes": Out(origin),
                "reads": Out(origin),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        flits, headers, layout = self._memory.flits, self._memory.header_flits, header_layout(self._memory)
        state = Signal(len(_State), name="state", init=1 << _State.FIRST)
        count, is_tail = Signal(index_width(flits.packet_length)), Signal()
        held = Signal(headers * flits.flit_width)  # of the header, but for the flit that comes
        header = layout(Cat(held[flits.flit_width :], self.request.payload)[: layout.size])
        take, beats, opens = Signal(), Signal(), Signal()
        m.submodules.data = data = SkidBuffer(channels(self._memory, inside=True)["w"])
        connect(m, data.o, wiring.flipped(self.w))
        # Flits of a request do not wait for a channel of addresses once the first one is taken.
        rooms = Signal()
        picked, picks, goes = self._elaborate_own(m, state[_State.FIRST], rooms, take)
        is_read = self.request.payload[layout["kind"].offset]
        due = [state[_State.WRITE], state[_State.READ]]
        if headers == 1:
            due = [state[_State.FIRST] & opens & kind for kind in (~is_read, is_read)]
        begins = [go | (self.request.valid & each) for go, each in zip(goes, due, strict=True)]
        is_from_own = picked if headers == 1 else ~state[_State.FLOWS]
        chosen = [layout(Mux(is_from_own, own.head.payload.as_value(), header.as_value())) for own in self.own]
        has_room = self._elaborate_start(m, chosen, begins, goes)
        m.d.comb += rooms.eq(
            has_room & ~(begins[0] | begins[1] if headers == 1 else goes[0] | goes[1] | due[0] | due[1])
        )
        is_data = state[_State.DATA] | state[_State.OWN]
        is_end = self._elaborate_data(m, chosen[0], is_data, beats, state[_State.OWN], data.i)
        m.d.sync += opens.eq(rooms & ~picks)
        m.d.comb += [
            self.request.ready.eq(
                (state[_State.FIRST] & opens) | state[_State.FLOWS] | (state[_State.DATA] & data.i.ready)
            ),
            take.eq(self.request.valid & self.request.ready),
            beats.eq(data.i.ready & (state[_State.OWN] | (state[_State.DATA] & self.request.valid))),
        ]
        with m.If(take):
            m.d.sync += [count.eq(Mux(is_tail, 0, count + 1)), is_tail.eq(equals(count, flits.packet_length - 2))]
        states = self._elaborate_header(m, state, count, opens, held, is_read) if headers > 1 else [Const(0)] * 3
        goes_own, ends = state[_State.FIRST] & goes[0], beats & is_end
        is_tail_taken = self.request.valid & is_tail & (state[_State.FLOWS] | (state[_State.DATA] & data.i.ready))
        skips = ((state[_State.SKIP] | (state[_State.DATA] & ends)) & ~is_tail_taken) | (begins[1] & ~goes[1])
        stays = state[_State.FIRST] & ~(self.request.valid & opens) & ~goes_own
        m.d.sync += state.eq(
            Cat(
                stays | is_tail_taken | (state[_State.OWN] & ends),
                *states,
                (state[_State.DATA] & ~ends) | (begins[0] & ~goes[0]),
                (state[_State.OWN] & ~ends) | goes_own,
                skips,
                Cat(*states, skips).any(),
            )
        )
        return m

    def _elaborate_header(
        self, m: Module, state: Signal, count: Signal, opens: Signal, held: Signal, is_read: Value
    ) -> list[Value]:
        """Take the header but for its last flit; return what HEADER, WRITE and READ will be."""
        headers, kept, comes = self._memory.header_flits, Signal(), self.request.valid
        starts = state[_State.FIRST] & opens & comes
        moves = state[_State.FIRST] if headers == 2 else starts | (state[_State.HEADER] & comes)
        with m.If(moves):
            m.d.sync += held.eq(Cat(held, self.request.payload)[len(self.request.payload) :])
        with m.If(state[_State.FIRST]):
            m.d.sync += kept.eq(is_read)
        goes_on, reads, more = starts, is_read, Const(0)
        if headers > 2:
            goes_on, reads = state[_State.HEADER] & comes & equals(count, headers - 2), kept
            more = starts | (state[_State.HEADER] & ~goes_on)
        return [
            more,
            (goes_on & ~reads) | (state[_State.WRITE] & ~comes),
            (goes_on & reads) | (state[_State.READ] & ~comes),
        ]

    def _elaborate_own(
        self, m: Module, is_first: Value, rooms: Signal, take: Value
    ) -> tuple[Signal, Value, list[Value]]:
        """Pick a request of the node's own manager; it goes between two of the fabric, and these take turns with it.

        Return whether one is picked, whether one will be in the next cycle, and whether a write goes, and a read.
        """
        picked, is_read, was_own, due = Signal(), Signal(), Signal(), Signal(2)
        write, read = (own.head.valid for own in self.own)
        reads = Mux(picked, is_read, read & ~(is_read & write))
        goes = [is_first & each for each in due]
        picks = Mux(picked, ~(is_first & due.any()), ~was_own & (write | read))
        m.d.sync += [picked.eq(picks), is_read.eq(reads), due.eq(Cat(~reads, reads) & (rooms & picks).replicate(2))]
        m.d.sync += was_own.eq((is_first & due.any()) | (was_own & self.request.valid & ~take))
        for own, each in zip(self.own, goes, strict=True):
            m.d.comb += own.head.ready.eq(each)
        return picked, picks, goes

    def _elaborate_start(self, m: Module, headers: list[Any], begins: list[Value], own: list[Value]) -> Value:
        """Offer the address of a burst, and note who asked; return whether there is room for both, of both kinds."""
        rooms: Value = Const(1)
        for number, (channel, origins) in enumerate(((self.aw, self.writes), (self.ar, self.reads))):
            queue = ShortQueue(origin_layout(self._memory), depth=PENDING, waits=True)
            m.submodules += queue
            connect(m, queue.o, wiring.flipped(origins))
            rooms &= ~queue.held[-1] & (~channel.valid | channel.ready)
            header, beat = headers[number], channel.payload
            m.d.comb += [
                queue.push.eq(begins[number]),
                queue.i.own.eq(own[number]),
                queue.i.single.eq(~header.end.any()),
                *(getattr(queue.i, name).eq(getattr(header, name)) for name in ("src", "tag", "end")),
            ]
            with m.If(~channel.valid):
                m.d.sync += [
                    beat.addr.eq(header.addr),
                    beat.len.eq(header.end),
                    beat.size.eq(header.size),
                    beat.burst.eq(Mux(header.fixed, Burst.FIXED, Burst.INCR)),
                    *(getattr(beat, name).eq(getattr(header, name)) for name in self._memory.attributes),
                ]
            m.d.sync += channel.valid.eq(begins[number] | (channel.valid & ~channel.ready))
        return rooms

    def _elaborate_data(self, m: Module, header: Any, is_now: Value, take: Value, is_own: Value, to: Any) -> Value:
        """Pass on the data of a write, beat by beat; return whether the beat is the last one."""
        width, ends = self._memory.bytes, header.strobes
        strobes, last = Signal(width), Signal(width)
        left, is_end = Signal(len(header.end)), Signal()
        at, inside, fixed = Signal(index_width(width)), Signal(index_width(width)), Signal()
        behind = place_behind(at, inside, fixed)
        own = self.own[0]
        m.d.comb += [
            own.take.eq(take & is_own),
            to.valid.eq(take),
            to.payload.data.eq(Mux(is_own, own.data, self.request.payload)),
            to.payload.strb.eq(strobes),
            to.payload.last.eq(is_end),
        ]
        with m.If(~is_now):
            m.d.sync += [
                strobes.eq(ends[:width]),
                last.eq(ends[-width:]),
                left.eq(header.end),
                is_end.eq(~header.end.any()),
                at.eq(header.addr[: len(at)]),
                inside.eq(bits_inside(self._memory, header.size)),
                fixed.eq(header.fixed),
            ]
        with m.If(take):
            m.d.sync += [
                strobes.eq(Mux(equals(left, 1), last, lanes_at(self._memory, behind, inside))),
                left.eq(left - 1),
                is_end.eq(equals(left, 1)),
                at.eq(behind),
            ]
        return is_end


class AnswerCollector(wiring.Component):
    """Answers of a memory: the response of a write by itself, the data of a read when all are here.

    What the node's own manager asked for goes straight to it.

    Parameters
    ----------
    memory : MemoryFormat

    Members
    -------
    b, r : In(stream)
    writes, reads : In(stream of origin_layout)
        None is there in the cycle after one was taken.
    written, data : Out(PacketSignature)
    blocked : In(1).array(2)
        The node's own manager gets a response, or data, from the fabric: what is here for it waits.
    oldest : In(2 * tag).array(2)
    answers : Out(1).array(2), answer : Out(answer_layout).array(2), is_oldest : Out(2).array(2)
        Answers to a write, and to a read, of the node's own manager, as those of
        :class:`hdnhw.endpoints.axi4.part_receiver.PartReceiver`.
    write : Out(1), index : Out, word : Out(flit_width)
        Data that it has read, see :class:`hdnhw.endpoints.axi4.part_receiver.PartReceiver`.
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
                "blocked": In(1).array(2),
                "oldest": In(2 * memory.header_fields["tag"]).array(2),
                "answers": Out(1).array(2),
                "is_oldest": Out(2).array(2),
                "answer": Out(answer_layout(memory)).array(2),
                "write": Out(1),
                "index": Out(memory.header_fields["end"]),
                "word": Out(memory.flits.flit_width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        self._elaborate_written(m)
        self._elaborate_data(m)
        return m

    def _elaborate_written(self, m: Module) -> None:
        head, origin, takes = self.written.head, self.writes.payload, Signal()
        m.d.comb += [
            self.b.ready.eq(self.writes.valid & ~Mux(origin.own, self.blocked[0], head.valid)),
            takes.eq(self.b.valid & self.b.ready),
            self.writes.ready.eq(takes),
        ]
        with m.If(~self.blocked[0]):
            m.d.sync += [
                self.answers[0].eq(takes & origin.own),
                self.answer[0].tag.eq(origin.tag),
                self.is_oldest[0].eq(order_of(origin.tag, self.oldest[0])),
                self.answer[0].resp.eq(self.b.payload.resp),
            ]
        with m.If(~head.valid):
            m.d.sync += [
                head.payload.kind.eq(MemoryKind.WRITTEN),
                head.payload.dst.eq(origin.src),
                head.payload.tag.eq(origin.tag),
                head.payload.size.eq(self.b.payload.resp),
            ]
        m.d.sync += head.valid.eq(Mux(head.valid, ~head.ready, takes & ~origin.own))

    def _elaborate_data(self, m: Module) -> None:
        """Collect the beats of a read; its response is the worst of theirs."""
        m.submodules.buffer = buffer = PartBuffer(self._memory)
        connect(m, buffer.packet, wiring.flipped(self.data))
        origin, beat, head = self.reads.payload, self.r.payload, buffer.head
        takes, ends = Signal(), Signal()
        place, at_end = place_of_beat(m, origin, takes)
        worst, resp = Signal(2), Signal(2)
        m.d.comb += [
            self.r.ready.eq(self.reads.valid & buffer.room & ~(origin.own & self.blocked[1])),
            takes.eq(self.r.valid & self.r.ready),
            resp.eq(Mux(buffer.room & (beat.resp > worst), beat.resp, worst)),
            ends.eq(Mux(origin.own, takes & at_end, buffer.closed)),
            buffer.push.eq(self.r.valid & self.reads.valid & buffer.room & ~origin.own),
            buffer.word.eq(beat.data),
            buffer.close.eq(buffer.push & at_end),
            head.kind.eq(MemoryKind.DATA),
            head.dst.eq(origin.src),
            head.tag.eq(origin.tag),
            head.end.eq(origin.end),
            head.size.eq(resp),
            self.reads.ready.eq(ends),
        ]
        with m.If(~self.reads.valid):  # for a cycle behind each part
            m.d.sync += worst.eq(0)
        with m.Elif(self.r.valid):  # it stays until it is taken
            m.d.sync += worst.eq(resp)
        with m.If(~self.blocked[1]):
            m.d.sync += [
                self.write.eq(takes & origin.own),
                self.index.eq(place),
                self.word.eq(beat.data),
                self.answers[1].eq(takes & origin.own & at_end),
                self.answer[1].tag.eq(origin.tag),
                self.is_oldest[1].eq(order_of(origin.tag, self.oldest[1])),
                self.answer[1].resp.eq(resp),
            ]
