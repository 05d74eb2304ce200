"""Blocks that are reset alone: what they have under way is ended, so that nobody else waits for them."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, connect, flipped

from hdnhw.endpoints.axi4.layout import STREAM, Response, between
from hdnhw.endpoints.axi4.skid import SkidBuffer
from hdnhw.rtl.bits import chosen_from, counted, equals
from hdnhw.rtl.fifos import ShortQueue

PENDING = 8
"""Bursts whose beats have to be made that are under way at most."""

_COUNT = 6
"""Bits of a count of bursts that are under way."""


class Isolation(wiring.Component):
    """Stand between a block and the fabric, which sees no reset of the block.

    While the block is in reset nothing passes. A manager's write data are made up, without bytes, and its answers
    taken; a source's frame is ended. A subordinate's answers are made up, with SLVERR; what comes to a sink is lost,
    and so is the rest of a frame that had begun. Behind the reset the block waits until what was under way is over.

    Parameters
    ----------
    layouts : mapping of str to StructLayout
        Transfers of the channels of the block's port.
    is_manager : bool
        Whether the block is a manager, or a source.

    Members
    -------
    present : In(1)
        The block is not in reset.
    near_CHANNEL, far_CHANNEL
        See :func:`hdnhw.endpoints.axi4.layout.between`.
    """

    def __init__(self, layouts: Mapping[str, data.StructLayout], *, is_manager: bool) -> None:
        self._layouts, self._is_manager = dict(layouts), is_manager
        super().__init__({"present": In(1), **between(self._layouts, self._layouts)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        opens, was_open, idle = Signal(), Signal(), Signal()
        m.d.comb += opens.eq(self.present & was_open)
        m.d.sync += was_open.eq(self.present & (was_open | idle))
        if STREAM in self._layouts:
            join = self._elaborate_source if self._is_manager else self._elaborate_sink
        else:
            join = self._elaborate_manager if self._is_manager else self._elaborate_subordinate
        m.d.comb += idle.eq(join(m, opens))
        return m

    def _registers(self, m: Module, channel: str) -> Any:
        """Return registers for a channel, in which what is offered to the fabric stays."""
        m.submodules[f"{channel}_registers"] = made = SkidBuffer(self._layouts[channel])
        return made

    def _beats(self, m: Module, channel: str, address: Any, moves: Value) -> tuple[Any, Value]:
        """Keep the beats of bursts by their addresses; return the queue, and whether a beat that `moves` is last."""
        queue = ShortQueue(8, depth=PENDING)
        m.submodules[f"{channel}_bursts"] = queue
        count, ends = Signal(8, name=f"{channel}_beat"), Signal(name=f"{channel}_ends")
        m.d.comb += [
            queue.i.eq(_field(address, "len", 0)),
            ends.eq(count == queue.o.payload),
            queue.o.ready.eq(moves & ends),
        ]
        with m.If(moves):
            m.d.sync += count.eq(Mux(ends, 0, count + 1))
        return queue, ends

    def _elaborate_source(self, m: Module, opens: Value) -> Value:
        kept, within = self._registers(m, STREAM), Signal()
        near, i = self.near_t, kept.i
        connect(m, kept.o, flipped(self.far_t))
        m.d.comb += [
            i.payload.eq(near.payload),
            i.valid.eq(Mux(opens, near.valid, within)),
            near.ready.eq(opens & i.ready),
        ]
        with m.If(~opens):
            m.d.comb += [i.payload.keep.eq(0), i.payload.last.eq(1)]
        with m.If(i.valid & i.ready):
            m.d.sync += within.eq(~i.payload.last)
        return ~within

    def _elaborate_sink(self, m: Module, opens: Value) -> Value:
        near, far, drops = self.near_t, self.far_t, Signal()
        count = 1 << len(near.payload.id)
        within, lost = Signal(count), Signal(count)  # of each source, a frame has begun, and its rest is lost
        comes = Signal(count)
        inside = Signal(count)
        m.d.comb += [
            drops.eq(~opens | chosen_from([*lost], near.payload.id)),
            far.payload.eq(near.payload),
            far.valid.eq(near.valid & ~drops),
            near.ready.eq(far.ready | drops),
            comes.eq(Cat(near.valid & near.ready & equals(near.payload.id, source) for source in range(count))),
            inside.eq(Mux(near.payload.last, within & ~comes, within | comes)),
        ]
        m.d.sync += [within.eq(inside), lost.eq(Mux(opens, lost & inside, inside))]
        return Const(1, 1)

    def _elaborate_manager(self, m: Module, opens: Value) -> Value:
        under_way = []
        kept = {name: self._registers(m, name) for name in self._layouts}
        moves, ends = Signal(name="beat_moves"), {"b": Const(1, 1), "r": _field(kept["r"].o.payload, "last", 1)}
        beats, is_last = self._beats(m, "w", self.near_aw.payload, moves)
        for address, answer in (("aw", "b"), ("ar", "r")):
            near, i, goes = getattr(self, f"near_{address}"), kept[address].i, Signal(name=f"{address}_goes")
            back, o, ended = getattr(self, f"near_{answer}"), kept[answer].o, Signal(name=f"{answer}_ended")
            count = Signal(_COUNT, name=f"{address}_under_way")
            may = opens & ~count[-1] & (~beats.held[-1] if address == "aw" else 1)
            connect(m, kept[address].o, flipped(getattr(self, f"far_{address}")))
            connect(m, flipped(getattr(self, f"far_{answer}")), kept[answer].i)
            m.d.comb += [
                i.payload.eq(near.payload),
                i.valid.eq(near.valid & may),
                near.ready.eq(i.ready & may),
                goes.eq(i.valid & i.ready),
                back.payload.eq(o.payload),
                back.valid.eq(o.valid & opens),
                o.ready.eq(back.ready | ~opens),
                ended.eq(o.valid & o.ready & ends[answer]),
            ]
            m.d.sync += count.eq(counted(count, goes, ended))
            under_way.append(count)
        write, i = self.near_w, kept["w"].i
        connect(m, kept["w"].o, flipped(self.far_w))
        m.d.comb += [
            beats.push.eq(self.near_aw.valid & self.near_aw.ready),
            i.payload.eq(write.payload),
            i.valid.eq(beats.o.valid & (write.valid | ~opens)),
            write.ready.eq(beats.o.valid & opens & i.ready),
            moves.eq(i.valid & i.ready),
        ]
        with m.If(~opens):
            m.d.comb += i.payload.strb.eq(0)
            if "last" in dict(self._layouts["w"]):
                m.d.comb += i.payload.last.eq(is_last)
        return ~Cat(under_way).any()

    def _elaborate_subordinate(self, m: Module, opens: Value) -> Value:
        kept = {name: self._registers(m, name) for name in ("aw", "ar", "b", "r")}
        data_due, answers_due = Signal(_COUNT), Signal(_COUNT)
        reads, is_last = self._beats(m, "r", self.near_ar.payload, kept["r"].i.valid & kept["r"].i.ready)
        rooms = {"aw": ~data_due[-1] & ~answers_due[-1], "ar": ~reads.held[-1]}
        for name, room in rooms.items():
            near, far, i, o = getattr(self, f"near_{name}"), getattr(self, f"far_{name}"), kept[name].i, kept[name].o
            # One address at a time is offered, so that no write data are before it; none while the rest is answered.
            may = room & ~o.valid & (opens | ~self.present)
            m.d.comb += [
                i.payload.eq(near.payload),
                i.valid.eq(near.valid & may),
                near.ready.eq(i.ready & may),
                far.payload.eq(o.payload),
                far.valid.eq(o.valid & opens),
                o.ready.eq(far.ready | ~opens),
            ]
        for name, due in (("b", answers_due.any()), ("r", reads.o.valid)):
            far, i = getattr(self, f"far_{name}"), kept[name].i
            connect(m, kept[name].o, flipped(getattr(self, f"near_{name}")))
            m.d.comb += [
                i.payload.eq(far.payload),
                i.valid.eq(due & (far.valid | ~opens)),
                far.ready.eq(due & opens & i.ready),
            ]
            with m.If(~opens):
                m.d.comb += i.payload.resp.eq(Response.SLVERR)
        near, far, written = self.near_w, self.far_w, Signal()
        m.d.comb += [
            far.payload.eq(near.payload),
            far.valid.eq(near.valid & data_due.any() & opens),
            near.ready.eq(data_due.any() & (far.ready | ~opens)),
            written.eq(near.valid & near.ready & _field(near.payload, "last", 1)),
            reads.push.eq(self.near_ar.valid & self.near_ar.ready),
        ]
        if "last" in dict(self._layouts["r"]):
            with m.If(~opens):
                m.d.comb += kept["r"].i.payload.last.eq(is_last)
        m.d.sync += [
            data_due.eq(counted(data_due, self.near_aw.valid & self.near_aw.ready, written)),
            answers_due.eq(counted(answers_due, written, kept["b"].i.valid & kept["b"].i.ready)),
        ]
        return ~Cat(data_due, answers_due, reads.held, kept["aw"].o.valid, kept["ar"].o.valid).any()


def _field(payload: Any, name: str, otherwise: int) -> Value:
    """Return a field of a transfer, or what it is where there is no such field."""
    has = name in {field for field, _ in payload.shape()}
    return getattr(payload, name) if has else Const(otherwise, max(1, otherwise.bit_length()))
