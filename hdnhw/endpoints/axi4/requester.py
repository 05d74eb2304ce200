"""The side of a manager: its bursts become requests, and the answers what it gets."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi4.format import MemoryFormat, MemoryKind
from hdnhw.endpoints.axi4.layout import answer_layout, channels, lanes_at, place_behind, place_fields
from hdnhw.endpoints.axi4.part_buffer import PacketSignature, PartBuffer, place_of_beat
from hdnhw.endpoints.axi4.skid import SkidBuffer
from hdnhw.endpoints.axi4.splitter import BurstSplitter
from hdnhw.endpoints.axi4.tags import TagRing
from hdnhw.rtl.bits import index_width
from hdnhw.topology.address import AddressLayout


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
    address : In(address width)
        The node's own packed address.
    aw, w : In(stream), b : Out(stream)
    packet, own : Out(PacketSignature)
        To others, and to the node's own memory.
    answered : In(1), answer : In(answer_layout), is_oldest : In(2), oldest : Out
        See :class:`hdnhw.endpoints.axi4.tags.TagRing`; its `oldest_tags`.
    """

    def __init__(self, memory: MemoryFormat, layout: AddressLayout) -> None:
        self._memory, self._layout = memory, layout
        fields = memory.header_fields
        super().__init__(
            {
                "address": In(memory.flits.address_width),
                **self._asked(),
                "packet": Out(PacketSignature(memory)),
                "own": Out(PacketSignature(memory)),
                "answered": In(1),
                "answer": In(answer_layout(memory)),
                "is_oldest": In(2),
                "oldest": Out(2 * fields["tag"]),
            }
        )

    def _asked(self) -> dict[str, Any]:
        """Return the members at which it is asked."""
        return {name: (Out if name == "b" else In)(_channel(self._memory, name)) for name in ("aw", "w", "b")}

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.splitter = splitter = BurstSplitter(self._memory, self._layout)
        m.submodules.tags = tags = TagRing(self._memory)
        m.submodules.data = data = SkidBuffer(channels(self._memory, inside=False)["w"])
        connect(m, wiring.flipped(self.aw), splitter.burst)
        connect(m, wiring.flipped(self.w), data.i)
        m.d.comb += splitter.address.eq(self.address)
        push = Signal()
        place, at_end = place_of_beat(m, splitter.part.payload, push, again=splitter.cut)
        cut = self._elaborate_collecting(m, splitter.part, data.o, tags, (push, place, at_end), splitter.inside)
        m.d.comb += Cat(splitter.cut, splitter.cut_at).eq(cut)
        self._elaborate_answer(m, tags)
        return m

    def _elaborate_collecting(
        self, m: Module, part: Any, w: Any, tags: Any, beats: tuple[Signal, Value, Value], inside: Value
    ) -> Value:
        """Take the data of a part that has a tag and a place; those of a part that is refused are lost.

        `beats`: one is taken, its place, and whether it is the last one. A beat behind the first one that does not
        write all its lanes ends the part: return whether it has come, and its place.
        """
        m.submodules.buffer = buffer = PartBuffer(self._memory)
        push, place, at_end = beats
        about, head, ends = part.payload, buffer.head, Signal()
        cuts, was_cut, cut_at = Signal(), Signal(), Signal.like(head.end)
        self._elaborate_packets(m, about.own, buffer)
        is_whole = self._elaborate_lanes(
            m, w.payload.strb, head.strobes, (push, place, buffer.room & ~cuts), about, inside
        )
        will_cut, may = Signal(), Signal()  # there is a tag, and the part is not cut
        m.d.comb += will_cut.eq((push & ~at_end & place.any() & ~is_whole & ~about.refused) | (cuts & ~ends))
        m.d.sync += [cuts.eq(will_cut), may.eq(tags.stays_free & ~will_cut), was_cut.eq(cuts)]
        with m.If(push):
            m.d.sync += cut_at.eq(place)
        m.d.comb += [
            w.ready.eq(part.valid & may & buffer.room),
            push.eq(w.ready & w.valid),
            ends.eq(Mux(about.refused, push & at_end, buffer.closed)),
            buffer.push.eq(push & ~about.refused),
            buffer.word.eq(w.payload.data),
            buffer.close.eq((push & at_end & ~about.refused) | cuts),
            part.ready.eq(ends),
            tags.part.last.eq(about.last & ~was_cut),
            tags.part.id.eq(about.id),
            tags.part.refused.eq(about.refused),
            tags.part.resp.eq(about.resp),
            tags.answered.eq(self.answered),
            tags.answer.eq(self.answer),
            tags.is_oldest.eq(self.is_oldest),
            self.oldest.eq(tags.oldest_tags),
            head.tag.eq(tags.tag),
            *(getattr(head, name).eq(getattr(about, name)) for name in place_fields(self._memory) if name != "end"),
            head.end.eq(Mux(cuts, cut_at, about.end)),
        ]
        m.d.sync += tags.open.eq(ends)  # the part stays for a cycle
        return Cat(cuts, cut_at)

    def _elaborate_lanes(
        self, m: Module, strobes: Value, ends: Value, beats: tuple[Value, Value, Value], about: Any, inside: Value
    ) -> Value:
        """Keep the strobes of the first and the last beat; return whether a beat between writes all its lanes.

        `beats`: one is taken, its place, and whether one may be.
        """
        push, place, comes = beats
        bits, kept, is_first = len(strobes), Signal(len(ends)), ~place.any()
        takes = [comes & is_first, comes]
        for number in range(len(ends) // bits):
            own = slice(number * bits, (number + 1) * bits)
            m.d.comb += ends[own].eq(Mux(takes[number], strobes, kept[own]))
            with m.If(takes[number]):
                m.d.sync += kept[own].eq(strobes)
        at, whole = Signal(len(inside)), Signal(bits)
        behind = place_behind(Mux(is_first, about.addr[: len(at)], at), inside, about.fixed)
        with m.If(push):
            m.d.sync += [at.eq(behind), whole.eq(lanes_at(self._memory, behind, inside))]
        return strobes == whole

    def _elaborate_packets(self, m: Module, comes_own: Value, buffer: Any) -> None:
        """Offer a part that is complete to the fabric or to the node's memory, when the data before are taken there."""
        is_own, was_own, head = Signal(), Signal(), buffer.packet.head
        with m.If(buffer.closed):
            m.d.sync += is_own.eq(comes_own)
        with m.If(head.valid & head.ready):
            m.d.sync += was_own.eq(is_own)
        m.d.comb += [
            self.packet.head.valid.eq(head.valid & ~is_own & ~(buffer.sends & was_own)),
            self.own.head.valid.eq(head.valid & is_own & ~buffer.sends),
            head.ready.eq(self.packet.head.ready | self.own.head.ready),
            buffer.packet.take.eq(Mux(was_own, self.own.take, self.packet.take)),
        ]
        for packet in (self.packet, self.own):
            m.d.comb += [packet.head.payload.eq(head.payload), packet.data.eq(buffer.packet.data)]

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
    address : In(address width)
        The node's own packed address.
    ar : In(stream), r : Out(stream)
    packet, own : Out(PacketSignature)
        To others, and to the node's own memory.
    answered : In(1), answer : In(answer_layout), is_oldest : In(2), oldest : Out
        See :class:`hdnhw.endpoints.axi4.tags.TagRing`; its `oldest_tags`.
    write, tag, index, word
        Data, see :class:`hdnhw.endpoints.axi4.part_receiver.PartReceiver`.
    """

    def __init__(self, memory: MemoryFormat, layout: AddressLayout) -> None:
        self._memory, self._layout = memory, layout
        fields = memory.header_fields
        super().__init__(
            {
                "address": In(memory.flits.address_width),
                "ar": In(_channel(memory, "ar")),
                "r": Out(_channel(memory, "r")),
                "packet": Out(PacketSignature(memory)),
                "own": Out(PacketSignature(memory)),
                "answered": In(1),
                "answer": In(answer_layout(memory)),
                "is_oldest": In(2),
                "oldest": Out(2 * fields["tag"]),
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
        m.d.comb += [
            splitter.address.eq(self.address),
            tags.answered.eq(self.answered),
            tags.answer.eq(self.answer),
            tags.is_oldest.eq(self.is_oldest),
            self.oldest.eq(tags.oldest_tags),
        ]
        self._elaborate_request(m, splitter.part, tags)
        self._elaborate_data(m, tags)
        return m

    def _elaborate_request(self, m: Module, part: Any, tags: Any) -> None:
        """Offer a part that has a tag as a packet; one that is refused has its tag only."""
        about, gone = part.payload, Signal()
        is_offered = part.valid & tags.free & ~gone
        for packet, is_its in ((self.packet, ~about.own), (self.own, about.own)):
            head = packet.head.payload
            m.d.comb += [
                packet.head.valid.eq(is_offered & ~about.refused & is_its),
                *(getattr(head, name).eq(getattr(about, name)) for name in place_fields(self._memory)),
                head.tag.eq(tags.tag),
                head.kind.eq(MemoryKind.READ),
            ]
        m.d.comb += [
            part.ready.eq(gone),
            tags.open.eq(gone),
            *(
                getattr(tags.part, name).eq(getattr(about, name))
                for name in ("id", "last", "end", "single", "refused", "resp")
            ),
        ]
        m.d.sync += gone.eq(self.packet.head.ready | self.own.head.ready | (is_offered & about.refused))

    def _elaborate_data(self, m: Module, tags: Any) -> None:
        """Keep the data of each tag, and give those of the oldest one."""
        free, gives, beat = Signal(), Signal(), self.r.payload
        _, at_end = place_of_beat(m, tags.oldest, gives)
        word = Signal.like(self.word)
        kept = self._elaborate_words(m, word, gives, at_end)
        m.d.comb += [
            free.eq(~self.r.valid | self.r.ready),
            gives.eq(tags.ready & free),
            tags.retire.eq(gives & at_end),
        ]
        m.d.sync += word.eq(self.word)
        with m.If(gives):
            m.d.sync += [
                beat.data.eq(Mux(tags.is_fresh, word, kept) & (~tags.oldest.refused).replicate(len(word))),
                beat.resp.eq(tags.oldest_resp),
                beat.id.eq(tags.oldest.id),
                beat.last.eq(at_end & tags.oldest.last),
            ]
        with m.If(free):
            m.d.sync += self.r.valid.eq(gives)

    def _elaborate_words(self, m: Module, word: Signal, gives: Value, at_end: Value) -> Value:
        """Keep data, each a cycle after it came; return the next word of the oldest tag, of which one `gives`.

        Half of the bits of a word stand at its tag and index, the others at the complements: no register has the load
        of all.
        """
        place, step, half = index_width(self._memory.payload_flits), int(self._memory.tags > 1), len(word) // 2
        comes, kept = Signal(), []
        m.d.sync += comes.eq(self.write)
        for number, bits in enumerate((word[:half], word[half:])):
            m.submodules[f"words_{number}"] = words = memory.Memory(
                shape=half, depth=1 << place + len(self.tag), init=[]
            )
            write, read = words.write_port(), words.read_port(domain="comb")
            where, index, oldest = (
                Signal.like(write.addr),
                Signal(place, init=-number),
                Signal.like(self.tag, init=-number),
            )
            came = Cat(self.index[:place], self.tag)
            m.d.sync += where.eq(~came if number else came)
            with m.If(gives):
                behind = index - 1 if number else index + 1
                m.d.sync += index.eq(Mux(at_end, index.init, behind))
            with m.If(gives & at_end):
                m.d.sync += oldest.eq(oldest - step if number else oldest + step)
            m.d.comb += [
                write.addr.eq(where),
                write.data.eq(bits),
                write.en.eq(comes),
                read.addr.eq(Cat(index, oldest)),
            ]
            kept.append(read.data)
        return Cat(kept)
