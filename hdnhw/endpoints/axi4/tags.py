"""The parts that a node has asked for: a ring of tags, answered in any order and retired in that of the requests."""

from typing import Any

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.layout import answer_layout
from hdnhw.rtl.bits import counted, equals, filled


def tag_layout(memory: MemoryFormat) -> data.StructLayout:
    """Return what is kept of a part until it is retired."""
    return data.StructLayout(
        {"id": memory.endpoints.id_width, "last": 1, "end": memory.header_fields["end"], "refused": 1}
    )


class TagRing(wiring.Component):
    """Tags, given and taken back in a ring.

    Parameters
    ----------
    memory : MemoryFormat

    Members
    -------
    free : Out(1)
        Whether there is a tag.
    tag : Out
        The next one.
    open : In(1), part : In(tag_layout), resp : In(2)
        Give it to a part; one that is refused is answered at once, with `resp`.
    answered : In(1), answer : In(answer_layout)
        The answer of a part has come.
    ready : Out(1)
        The oldest part is answered, since the cycle before. Not in the cycle after `retire`.
    oldest, oldest_tag, oldest_resp : Out
    retire : In(1)
        Take its tag back; only if `ready`.
    """

    def __init__(self, memory: MemoryFormat) -> None:
        self._memory = memory
        tag = memory.header_fields["tag"]
        super().__init__(
            {
                "free": Out(1),
                "tag": Out(tag),
                "open": In(1),
                "part": In(tag_layout(memory)),
                "resp": In(2),
                "answered": In(1),
                "answer": In(answer_layout(memory)),
                "ready": Out(1),
                "oldest": Out(tag_layout(memory)),
                "oldest_tag": Out(tag),
                "oldest_resp": Out(2),
                "retire": In(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        count, layout = self._memory.tags, tag_layout(self._memory)
        parts = [Signal(layout, name=f"part_{tag}", reset_less=True) for tag in range(count)]
        resps = [Signal(2, name=f"resp_{tag}", reset_less=True) for tag in range(count)]
        done = [Signal(name=f"done_{tag}") for tag in range(count)]
        level = Signal(range(count + 1))
        for tag in range(count):
            opened = self.open & equals(self.tag, tag)
            answered = self.answered & equals(self.answer.tag, tag)
            retired = self.retire & equals(self.oldest_tag, tag)
            m.d.sync += done[tag].eq(answered | (opened & self.part.refused) | (done[tag] & ~retired))
            with m.If(opened):
                m.d.sync += parts[tag].eq(self.part)
            with m.If(opened | answered):
                m.d.sync += resps[tag].eq(Mux(opened, self.resp, self.answer.resp))
        step = 1 if count > 1 else 0
        with m.If(self.open):
            m.d.sync += self.tag.eq(self.tag + step)
        with m.If(self.retire):
            m.d.sync += self.oldest_tag.eq(self.oldest_tag + step)
        m.d.sync += level.eq(counted(level, self.open, self.retire))
        oldest, resp, is_done = (
            Array(filled(values))[self.oldest_tag] if count > 1 else values[0]
            for values in ([each.as_value() for each in parts], resps, done)
        )
        comes = self.answered & (self.answer.tag == self.oldest_tag)
        m.d.sync += [
            self.oldest.eq(oldest),
            self.oldest_resp.eq(Mux(comes, self.answer.resp, resp)),
            self.ready.eq((is_done | comes) & ~self.retire),
        ]
        m.d.comb += self.free.eq(~level[-1])
        return m
