"""What comes from the fabric: requests into their queue, answers to those who asked."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.layout import answer_layout
from hdnhw.endpoints.axi4.tags import order_of
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.channel import ejection_signature
from hdnhw.rtl.fifos import FlitQueue
from hdnhw.rtl.header import header_layout


class PartReceiver(wiring.Component):
    """Take every flit in the cycle in which it comes: all that can be under way has a place.

    Parameters
    ----------
    memory : MemoryFormat
    sources : int
        Nodes that ask for something here; 0 where there is no memory.

    Members
    -------
    eject : In(ejection_signature)
        Always ready.
    request : Out(stream of flits)
        Those of requests, in the order in which they came.
    oldest : In(2 * tag).array(2)
        Of the writes and reads that wait for answers.
    answers : Out(1).array(2), answer : Out(answer_layout), is_oldest : Out(2).array(2)
        High for one cycle for each answer to a write, and to a read; of its tag in the cycle before, see
        :func:`hdnhw.endpoints.axi4.tags.order_of`.
    write : Out(1), tag : Out, index : Out, word : Out(flit_width)
        Data that were read: the beat `index` of the part `tag`; its answer comes with the last one.
    """

    def __init__(self, memory: MemoryFormat, *, sources: int) -> None:
        self._memory = memory
        self._packets = 2 * memory.tags * sources
        fields, width = memory.header_fields, memory.flits.flit_width
        super().__init__(
            {
                "eject": In(ejection_signature(flit_width=width)),
                "request": Out(stream.Signature(width)),
                "oldest": In(2 * fields["tag"]).array(2),
                "answers": Out(1).array(2),
                "is_oldest": Out(2).array(2),
                "answer": Out(answer_layout(memory)),
                "write": Out(1),
                "tag": Out(fields["tag"]),
                "index": Out(fields["end"]),
                "word": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        width = self._memory.flits.flit_width
        asked, answered, is_last, word = Signal(), Signal(), Signal(), Signal(width, reset_less=True)
        is_first, is_answer, answers, flit = Signal(init=1), Signal(), Signal(), self.eject.payload
        kind_at = header_layout(self._memory)["kind"].offset
        m.d.comb += [self.eject.ready.eq(1), answers.eq(Mux(is_first, flit.data[kind_at + 1], is_answer))]
        m.d.sync += [
            asked.eq(self.eject.valid & ~answers),
            answered.eq(self.eject.valid & answers),
            is_last.eq(flit.last),
            word.eq(flit.data),
        ]
        with m.If(self.eject.valid):
            m.d.sync += [is_first.eq(flit.last), is_answer.eq(answers)]
        if self._packets:
            self._elaborate_queue(m, asked, word)
        self._elaborate_answer(m, answered, word, is_last)
        return m

    def _elaborate_queue(self, m: Module, push: Value, word: Signal) -> None:
        """Queue the flits of requests: of all packets that can be under way."""
        depth = 1 << index_width(self._packets * self._memory.flits.packet_length)
        m.submodules.requests = requests = FlitQueue(len(word), depth=depth, passes=True)
        m.d.comb += [
            requests.push.eq(push),
            requests.i.eq(word),
            self.request.valid.eq(requests.some),
            self.request.payload.eq(requests.o),
            requests.take.eq(requests.some & self.request.ready),
        ]

    def _elaborate_answer(self, m: Module, comes: Value, word: Signal, is_last: Signal) -> None:
        """Read the header of an answer flit by flit; pass on its data, and its response once it is complete."""
        width, headers, layout = len(word), self._memory.header_flits, header_layout(self._memory)
        held = Signal(headers * width)
        at, index = Signal(headers + 2, init=1), Signal(len(self.index))  # one-hot, the data behind the first one last
        is_past = Signal()  # behind the last beat
        header = layout(held[: layout.size])
        is_data, is_end = at[-2:].any() & ~is_past, index == header.end
        says = -(-(layout["size"].offset + 2) // width)  # flits that have the response
        with m.If(comes):
            m.d.sync += [
                at.eq(Mux(is_last, 1, Cat(Const(0, 1), at[:-2], at[-2:].any()))),
                index.eq(Mux(is_data & ~is_last, index + 1, 0)),
                is_past.eq(at[-2:].any() & ~is_last & (is_past | is_end)),
            ]
            for place in range(headers):
                with m.If(at[place]):
                    m.d.sync += held[place * width : (place + 1) * width].eq(word)
        m.d.sync += [
            self.write.eq(comes & is_data & header.kind[0]),
            self.index.eq(index),
            self.tag.eq(header.tag),
            self.word.eq(word),
            self.answer.tag.eq(header.tag),
            self.answer.resp.eq(header.size[:2]),
            *(self.is_oldest[kind].eq(order_of(header.tag, self.oldest[kind])) for kind in range(2)),
            self.answers[0].eq(comes & at[says] & ~header.kind[0]),
            self.answers[1].eq(comes & is_data & is_end & header.kind[0]),
        ]
