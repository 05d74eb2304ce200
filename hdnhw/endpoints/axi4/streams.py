"""Streams of a system: frames travel as writes to a sink, so that each packet has its place before it is sent."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.lanes import words_of
from hdnhw.endpoints.axi4.layout import CHANNELS, Response, channels, part_layout
from hdnhw.endpoints.axi4.requester import WriteRequester
from hdnhw.endpoints.axi4.spec_blocks import Block
from hdnhw.endpoints.axi4.tags import TagRing
from hdnhw.rtl.bits import below, chosen_from, equals, index_width, padded
from hdnhw.topology.address import AddressLayout


def stream_layout(memory: MemoryFormat, block: Block, *, data_width: int = 0) -> data.StructLayout:
    """Return a transfer of the stream of a block, of another width if one is given.

    ``dest`` is the number of a sink, unless the source has one alone, and counts in the first transfer of a frame;
    ``id`` is the number of the source.
    """
    width, endpoints = data_width or block.data_width, memory.endpoints
    fields = {"data": width, "keep": width // 8, "last": 1}
    if not block.is_manager:
        return data.StructLayout({**fields, "id": index_width(len(endpoints.sources))})
    return data.StructLayout(fields if block.to else {**fields, "dest": index_width(len(endpoints.sinks))})


class FramePacker(wiring.Component):
    """Put transfers of a source side by side into words as wide as a flit; a frame ends with its word.

    Parameters
    ----------
    near, far : StructLayout
        A transfer of the source, and a word.

    Members
    -------
    i : In(stream of near), o : Out(stream of far)
    """

    def __init__(self, near: data.StructLayout, far: data.StructLayout) -> None:
        super().__init__({"i": In(stream.Signature(near)), "o": Out(stream.Signature(far))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        given, word, takes = self.i.payload, self.o.payload, Signal()
        width, lanes = len(given.data), len(word.data) // len(given.data)
        lane, ends = Signal(index_width(lanes)), Signal()
        m.d.comb += [
            self.i.ready.eq(~self.o.valid | self.o.ready),
            takes.eq(self.i.valid & self.i.ready),
            ends.eq(given.last | equals(lane, lanes - 1)),
        ]
        with m.If(self.i.ready):
            m.d.sync += self.o.valid.eq(takes & ends)
        with m.If(takes):
            m.d.sync += [
                lane.eq(Mux(ends, 0, (lane + 1)[: len(lane)])),
                word.last.eq(given.last),
            ]
            if "dest" in {name for name, _ in given.shape()}:
                m.d.sync += word.dest.eq(Mux(lane.any(), word.dest, given.dest))
            for place in range(lanes):
                with m.If(equals(lane, place)):
                    m.d.sync += [
                        word.data[place * width : (place + 1) * width].eq(given.data),
                        word.keep[place * width // 8 :].eq(padded(given.keep, (lanes - place) * width // 8)),
                    ]
        return m


class StreamRequester(WriteRequester):
    """Frames of a source: a part is what fits into a packet, or ends a frame. Frames to no sink are lost.

    Parameters
    ----------
    memory : MemoryFormat
    layout : AddressLayout
    block : Block
        The source.

    Members
    -------
    address : In(address width)
        The node's own packed address.
    frames : In(stream of stream_layout)
    packet, own : Out(PacketSignature)
        To others, and to the sink of the node.
    answered : In(1), answer : In(answer_layout)
    """

    def __init__(self, memory: MemoryFormat, layout: AddressLayout, block: Block) -> None:
        self._block = block
        super().__init__(memory, layout)

    def _asked(self) -> dict[str, Any]:
        return {"frames": In(stream.Signature(stream_layout(self._memory, self._block)))}

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        memory, endpoints = self._memory, self._memory.endpoints
        layouts = [stream_layout(memory, self._block, data_width=bits) for bits in (0, memory.flits.flit_width)]
        m.submodules.packer = packer = FramePacker(*layouts)
        m.submodules.tags = tags = TagRing(memory)
        wiring.connect(m, wiring.flipped(self.frames), packer.i)
        part = stream.Signature(part_layout(memory)).create(path=("part",))
        beat = stream.Signature(channels(memory, inside=False)["w"]).create(path=("beat",))
        word, about = packer.o.payload, part.payload
        nodes = [self._layout.of_node(sink.node) for sink in endpoints.sinks if self._block.to in ("", sink.name)]
        push, place, at_end = Signal(), Signal(len(about.end)), Signal()
        # Of a part that is complete, and waits, the word is gone: what it has said is kept.
        is_first, last, dest = Signal(init=1), Signal(), Signal(index_width(len(endpoints.sinks)))
        was_last, was_dest = Signal.like(last, name="was_last"), Signal.like(dest, name="was_dest")
        m.d.sync += [was_last.eq(last), was_dest.eq(dest)]
        with m.If(push):
            m.d.sync += [is_first.eq(word.last), place.eq(Mux(at_end, place, (place + 1)[: len(place)]))]
        with m.If(part.ready):
            m.d.sync += place.eq(0)
        known = [Const(node, self._layout.width) for node in nodes]
        destination = chosen_from(known, dest[: (len(known) - 1).bit_length()])
        number = Const(endpoints.sources.index(self._block), 11)
        m.d.comb += [
            beat.valid.eq(packer.o.valid),
            packer.o.ready.eq(beat.ready),
            beat.payload.data.eq(word.data),
            beat.payload.strb.eq(word.keep),
            at_end.eq(word.last | equals(place, memory.payload_flits - 1)),
            last.eq(Mux(push, word.last, was_last)),
            dest.eq(0 if self._block.to else Mux(push & is_first, word.dest, was_dest)),
            part.valid.eq(~tags.open),
            about.end.eq(place),
            about.last.eq(1),
            about.size.eq((memory.bytes - 1).bit_length()),
            about.fixed.eq(1),
            about.addr.eq(padded(Cat(last, number), len(about.addr))),
            about.dst.eq(destination),
            about.own.eq(equals(self.address, nodes[0]) if len(nodes) == 1 else destination == self.address),
            about.refused.eq(0 if self._block.to else ~below(dest, len(nodes))),
            tags.retire.eq(tags.ready),
        ]
        everything = Const(-1, index_width(memory.bytes))  # a word has all the lanes of a beat
        self._elaborate_collecting(m, part, beat, tags, (push, place, at_end), everything)
        return m


class FramePlayer(wiring.Component):
    """Give the words of a frame to a sink, lane by lane; lanes and words without bytes are left out but at its end.

    Parameters
    ----------
    near : mapping of str to StructLayout
        Transfers of the channels of an endpoint's port.
    far : StructLayout
        A transfer of the sink.

    Members
    -------
    near_aw, near_w, near_ar : In(stream), near_b, near_r : Out(stream)
        The endpoint's port, of which nobody reads.
    far : Out(stream of far)
    """

    def __init__(self, near: dict[str, data.StructLayout], far: data.StructLayout) -> None:
        ports = {
            f"near_{name}": (In if forth else Out)(stream.Signature(near[name])) for name, forth in CHANNELS.items()
        }
        super().__init__({**ports, "far": Out(stream.Signature(far))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        word, given, done = self.near_w.payload, self.far.payload, Signal()
        lanes = len(word.data) // len(given.data)
        lane, has, ends, leaves = Signal(index_width(lanes)), Signal(), Signal(), Signal()
        keeps = words_of(word.strb, len(given.keep))
        more = [Cat(keeps[place + 1 :]).any() if place + 1 < lanes else Const(0, 1) for place in range(lanes)]
        may = self.near_aw.valid & ~self.near_b.valid
        m.d.comb += [
            given.data.eq(chosen_from(words_of(word.data, len(given.data)), lane)),
            given.keep.eq(chosen_from(keeps, lane)),
            given.id.eq(self.near_aw.payload.addr[1 : 1 + len(given.id)]),
            given.last.eq(ends & word.last & self.near_aw.payload.addr[0]),
            ends.eq(~chosen_from(more, lane)),
            has.eq(given.keep.any() | given.last),
            self.far.valid.eq(may & self.near_w.valid & has),
            leaves.eq(may & self.near_w.valid & (self.far.ready | ~has)),
            self.near_w.ready.eq(leaves & ends),
            done.eq(leaves & ends & word.last),
            self.near_aw.ready.eq(done),
            self.near_b.payload.resp.eq(Response.OKAY),
            self.near_r.payload.resp.eq(Response.SLVERR),  # which nobody gets, as no address leads here
        ]
        with m.If(leaves):
            m.d.sync += lane.eq(Mux(ends, 0, (lane + 1)[: len(lane)]))
        m.d.sync += self.near_b.valid.eq(done | (self.near_b.valid & ~self.near_b.ready))
        return m
