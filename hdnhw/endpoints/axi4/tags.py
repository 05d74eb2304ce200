"""The parts that a node has asked for: a ring of tags, answered in any order and retired in that of the requests."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.layout import answer_layout
from hdnhw.rtl.bits import chosen_from, counted, equals


def tag_layout(memory: MemoryFormat) -> data.StructLayout:
    """Return what is kept of a part until it is retired."""
    return data.StructLayout(
        {
            "id": memory.endpoints.id_width,
            "last": 1,
            "end": memory.header_fields["end"],
            "single": 1,
            "refused": 1,
            "resp": 2,
        }
    )


def order_of(tag: Value, oldest: Value) -> Value:
    """Return whether a tag is the oldest one, and whether it is the one behind that; `oldest` has both."""
    return Cat(~(tag ^ each).any() for each in (oldest[: len(tag)], oldest[len(tag) :]))


class TagRing(wiring.Component):
    """Tags, given and taken back in a ring.

    Parameters
    ----------
    memory : MemoryFormat

    Members
    -------
    free, stays_free : Out(1)
        Whether there is a tag, and whether there is one in the next cycle.
    tag : Out
        The next one.
    open : In(1), part : In(tag_layout)
        Give it to a part; one that is refused is answered at once, with its `resp`.
    answered : In(1), answer : In(answer_layout), is_oldest : In(2)
        The answer of a part has come; whether that part was the oldest one in the cycle before, or the one behind.
    ready : Out(1)
        The oldest part is answered, since the cycle before. Not in the cycle after `retire`.
    is_fresh : Out(1)
        It is one beat, which came in the cycle before.
    oldest, oldest_tags, oldest_resp : Out
        The tags are those for :func:`order_of`.
    retire : In(1)
        Take its tag back; only if `ready`.
    """

    def __init__(self, memory: MemoryFormat) -> None:
        self._memory = memory
        tag = memory.header_fields["tag"]
        super().__init__(
            {
                "free": Out(1),
                "stays_free": Out(1),
                "tag": Out(tag),
                "open": In(1),
                "part": In(tag_layout(memory)),
                "answered": In(1),
                "answer": In(answer_layout(memory)),
                "is_oldest": In(2),
                "ready": Out(1),
                "is_fresh": Out(1),
                "oldest": Out(tag_layout(memory)),
                "oldest_tags": Out(2 * tag),
                "oldest_resp": Out(2),
                "retire": In(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        count, layout = self._memory.tags, tag_layout(self._memory)
        step = 1 if count > 1 else 0
        oldest, behind = Signal.like(self.tag), Signal.like(self.tag, init=step)
        parts = self._elaborate_rows(m, "parts", layout, oldest, self.open, self.tag, self.part)
        answers = self._elaborate_rows(m, "answers", 2, oldest, self.answered, self.answer.tag, self.answer.resp)
        level, retired, retired_tag = Signal(range(count + 1)), Signal(), Signal.like(self.tag)
        m.d["sync" if step else "comb"] += retired.eq(self.retire)
        done = [Signal(name=f"done_{tag}") for tag in range(count)]
        for tag in range(count):
            refused = self.open & self.part.refused & equals(self.tag, tag)
            sets = (self.answered & equals(self.answer.tag, tag)) | refused
            m.d.sync += done[tag].eq(sets | (done[tag] & ~(retired & equals(retired_tag, tag))))
        with m.If(self.open):
            m.d.sync += self.tag.eq(self.tag + step)
        with m.If(self.retire):
            m.d.sync += [oldest.eq(behind), behind.eq(behind + step)]
        comes, is_done, will_be = Signal(), Signal(), counted(level, self.open, retired)
        is_next_done = chosen_from(done, behind) | (self.answered & self.is_oldest[1]) if step else Const(0, 1)
        m.d.comb += [
            comes.eq(self.answered & (self.is_oldest[0] | (self.is_oldest[1] & retired))),
            self.free.eq(~level[-1]),
            self.stays_free.eq(~will_be[-1]),
            self.oldest_tags.eq(Cat(oldest, behind)),
        ]
        m.d.sync += [
            is_done.eq(Mux(self.retire, is_next_done, chosen_from(done, oldest))),
            retired_tag.eq(oldest),
            level.eq(will_be),
            self.oldest.eq(parts),
            self.oldest_resp.eq(Mux(parts.refused, parts.resp, Mux(comes, self.answer.resp, answers))),
            self.ready.eq((is_done | comes) & ~self.retire),
            self.is_fresh.eq(comes & parts.single),
        ]
        return m

    def _elaborate_rows(
        self, m: Module, name: str, shape: Any, oldest: Value, en: Value, tag: Value, row: Value
    ) -> Any:
        """Keep a row for each tag; return that of the oldest part."""
        m.submodules[name] = rows = memory.Memory(shape=shape, depth=1 << len(tag), init=[])
        write, read = rows.write_port(), rows.read_port(domain="comb")
        m.d.comb += [write.en.eq(en), write.addr.eq(tag), write.data.eq(row), read.addr.eq(oldest)]
        return read.data
