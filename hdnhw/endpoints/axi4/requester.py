"""The side of a manager: its bursts become requests, and the answers what it gets."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi4.format import MemoryFormat, MemoryKind
from hdnhw.endpoints.axi4.layout import answer_layout, channels
from hdnhw.endpoints.axi4.part_buffer import PacketSignature, PartBuffer
from hdnhw.endpoints.axi4.splitter import BurstSplitter
from hdnhw.endpoints.axi4.tags import TagRing
from hdnhw.rtl.bits import equals, index_width
from hdnhw.rtl.header import header_layout
from hdnhw.topology.address import AddressLayout

_PLACE = ("dst", "end", "size", "fixed", "addr")
"""What a request says of its part, but for the strobes."""


def _channel(memory: MemoryFormat, name: str) -> stream.Signature:
    return stream.Signature(channels(memory, inside=False)[name])


class WriteRequester(wiring.Component):
    """Writes of a manager: a part is sent when all its data are here, and B comes when all parts are answered.

    Parameters
    ----------
    memory : MemoryFormat
    layout : AddressLayout

    Members
    -------
    aw, w : In(stream), b : Out(stream)
    packet : Out(PacketSignature)
    answered : In(1), answer : In(answer_layout)
    """

    def __init__(self, memory: MemoryFormat, layout: AddressLayout) -> None:
        self._memory, self._layout = memory, layout
        super().__init__(
            {
                "aw": In(_channel(memory, "aw")),
                "w": In(_channel(memory, "w")),
                "b": Out(_channel(memory, "b")),
                "packet": Out(PacketSignature(memory)),
                "answered": In(1),
                "answer": In(answer_layout(memory)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.splitter = splitter = BurstSplitter(self._memory, self._layout)
        m.submodules.buffer = buffer = PartBuffer(self._memory)
        m.submodules.tags = tags = TagRing(self._memory)
        connect(m, wiring.flipped(self.aw), splitter.burst)
        connect(m, buffer.packet, wiring.flipped(self.packet))
        m.d.comb += [tags.answered.eq(self.answered), tags.answer.eq(self.answer)]
        self._elaborate_collecting(m, splitter.part, buffer, tags)
        self._elaborate_answer(m, tags)
        return m

    def _elaborate_collecting(self, m: Module, part: Any, buffer: Any, tags: Any) -> None:
        """Take the data of a part that has a tag and a place; those of a part that is refused are lost."""
        about, head = part.payload, Signal(header_layout(self._memory))
        collecting, push, ends, at_end = Signal(), Signal(), Signal(), Signal()
        width, behind = self._memory.bytes, Signal.like(about.end)
        place = Signal(len(about.end))  # of the beat; buffer.index stands still when a part is refused
        m.d.comb += [
            self.w.ready.eq(collecting),
            push.eq(collecting & self.w.valid),
            behind.eq(place + 1),
            ends.eq(push & at_end),
            buffer.push.eq(push & ~about.refused),
            buffer.word.eq(self.w.payload.data),
            buffer.close.eq(ends & ~about.refused),
            part.ready.eq(ends),
            tags.part.last.eq(about.last),
            tags.part.id.eq(about.id),
            tags.part.refused.eq(about.refused),
            tags.resp.eq(about.resp),
            buffer.head.eq(head),
        ]
        m.d.sync += tags.open.eq(ends)  # the part stays for a cycle
        with m.If(ends):
            m.d.sync += [collecting.eq(0), place.eq(0)]
        with m.Else():
            m.d.sync += collecting.eq(collecting | (part.valid & buffer.room & tags.free))
            with m.If(push):
                m.d.sync += [place.eq(behind), at_end.eq(behind == about.end)]
        with m.If(~collecting):
            m.d.sync += at_end.eq(~about.end.any())
        with m.If(push):
            for beat in range(self._memory.payload_flits):
                with m.If(equals(place, beat)):
                    m.d.sync += head.strobes[beat * width : (beat + 1) * width].eq(self.w.payload.strb)
        m.d.sync += [head.tag.eq(tags.tag), *(getattr(head, name).eq(getattr(about, name)) for name in _PLACE)]

    def _elaborate_answer(self, m: Module, tags: Any) -> None:
        """Give the worst response of a burst when all its parts are answered."""
        worst, resp, free = Signal(2), Signal(2), Signal()
        m.d.comb += [
            free.eq(~self.b.valid | self.b.ready),
            tags.retire.eq(tags.ready & free),
            resp.eq(Mux(tags.oldest_resp > worst, tags.oldest_resp, worst)),
        ]
        with m.If(tags.retire):
            m.d.sync += [
                worst.eq(Mux(tags.oldest.last, 0, resp)),
                self.b.payload.resp.eq(resp),
                self.b.payload.id.eq(tags.oldest.id),
            ]
        with m.If(free):
            m.d.sync += self.b.valid.eq(tags.retire & tags.oldest.last)


class ReadRequester(wiring.Component):
    """Reads of a manager: a part is asked for when its data have a place, and given out when it is its turn.

    Parameters
    ----------
    memory : MemoryFormat
    layout : AddressLayout

    Members
    -------
    ar : In(stream), r : Out(stream)
    packet : Out(PacketSignature)
    answered : In(1), answer : In(answer_layout)
    write, tag, index, word
        Data, see :class:`hdnhw.endpoints.axi4.part_receiver.PartReceiver`.
    """

    def __init__(self, memory: MemoryFormat, layout: AddressLayout) -> None:
        self._memory, self._layout = memory, layout
        fields = memory.header_fields
        super().__init__(
            {
                "ar": In(_channel(memory, "ar")),
                "r": Out(_channel(memory, "r")),
                "packet": Out(PacketSignature(memory)),
                "answered": In(1),
                "answer": In(answer_layout(memory)),
                "write": In(1),
                "tag": In(fields["tag"]),
                "index": In(fields["end"]),
                "word": In(memory.flits.flit_width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.splitter = splitter = BurstSplitter(self._memory, self._layout)
        m.submodules.tags = tags = TagRing(self._memory)
        connect(m, wiring.flipped(self.ar), splitter.burst)
        m.d.comb += [tags.answered.eq(self.answered), tags.answer.eq(self.answer)]
        self._elaborate_request(m, splitter.part, tags)
        self._elaborate_data(m, tags)
        return m

    def _elaborate_request(self, m: Module, part: Any, tags: Any) -> None:
        about, head = part.payload, self.packet.head
        takes = Signal()
        m.d.comb += [
            takes.eq(part.valid & tags.free & ~head.valid),
            part.ready.eq(tags.free & ~head.valid),
            *(getattr(tags.part, name).eq(getattr(about, name)) for name in ("id", "last", "end", "refused")),
            tags.resp.eq(about.resp),
        ]
        m.d.sync += tags.open.eq(takes)  # the part stays for a cycle
        with m.If(takes):
            m.d.sync += [
                *(getattr(head.payload, name).eq(getattr(about, name)) for name in _PLACE),
                head.payload.tag.eq(tags.tag),
                head.payload.kind.eq(MemoryKind.READ),
                head.valid.eq(~about.refused),
            ]
        with m.Elif(head.ready):
            m.d.sync += head.valid.eq(0)

    def _elaborate_data(self, m: Module, tags: Any) -> None:
        """Keep the data of each tag, and give those of the oldest one."""
        place, width = index_width(self._memory.payload_flits), self._memory.flits.flit_width
        m.submodules.words = words = memory.Memory(shape=width, depth=1 << place + len(self.tag), init=[])
        write, read = words.write_port(), words.read_port(domain="comb")
        index, free, gives, at_end = Signal(len(self.index)), Signal(), Signal(), Signal()
        beat = self.r.payload
        m.d.comb += [
            write.addr.eq(Cat(self.index[:place], self.tag)),
            write.data.eq(self.word),
            write.en.eq(self.write),
            read.addr.eq(Cat(index[:place], tags.oldest_tag)),
            free.eq(~self.r.valid | self.r.ready),
            gives.eq(tags.ready & free),
            at_end.eq(index == tags.oldest.end),
            tags.retire.eq(gives & at_end),
        ]
        with m.If(gives):
            m.d.sync += [
                index.eq(Mux(at_end, 0, index + 1)),
                beat.data.eq(Mux(tags.oldest.refused, Const(0, width), read.data)),
                beat.resp.eq(tags.oldest_resp),
                beat.id.eq(tags.oldest.id),
                beat.last.eq(at_end & tags.oldest.last),
            ]
        with m.If(free):
            m.d.sync += self.r.valid.eq(gives)
