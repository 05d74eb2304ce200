"""A subordinate of AXI4-Lite, or of narrower data than the fabric's: bursts become accesses, one after the other."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring

from hdnhw.endpoints.axi4.lanes import behind, words_of
from hdnhw.endpoints.axi4.layout import Burst, between
from hdnhw.rtl.bits import below, chosen_from, equals
from hdnhw.rtl.fifos import ShortQueue

PENDING = 8
"""Accesses that write, and that read, which are under way at most."""


class AccessPlayer(wiring.Component):
    """Play each beat of a burst as the accesses of a narrower port that it takes; of writes, those that write a byte.

    Parameters
    ----------
    near : mapping of str to StructLayout
        Transfers of the channels of the wide port, whose bursts are INCR or FIXED.
    width : int
        Bits of the data of the narrow port; no more.

    Members
    -------
    near_aw, near_w, near_ar : In(stream), near_b, near_r : Out(stream)
        The wide port.
    far_aw, far_ar : Out(stream)
        ``addr`` and ``size`` of each access, and what its burst says beside its place.
    far_w : Out(stream), far_b, far_r : In(stream)
        ``data`` and ``strb``; ``resp``; ``data`` and ``resp``: one of each an access, in their order.
    """

    def __init__(self, near: dict[str, data.StructLayout], width: int) -> None:
        self._widths = width, near["r"]["data"].width
        place, fields = ("id", "addr", "len", "size", "burst"), {name: shape.width for name, shape in near["aw"]}
        self._attributes = [name for name in fields if name not in place]
        asked = data.StructLayout({name: fields[name] for name in ("addr", "size", *self._attributes)})
        word = data.StructLayout({"data": width, "strb": width // 8})
        answers = {"b": data.StructLayout({"resp": 2}), "r": data.StructLayout({"data": width, "resp": 2})}
        super().__init__(between(near, {"aw": asked, "w": word, "ar": asked, **answers}))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        self._elaborate_writes(m)
        self._elaborate_reads(m)
        return m

    def _elaborate_writes(self, m: Module) -> None:
        narrow, _ = self._widths
        beat, goes = self.near_w, Signal(name="writes")
        lane, ends_beat, _ = self._elaborate_walk(m, "aw", goes)
        m.submodules.written = written = ShortQueue(data.StructLayout({"asked": 1, "last": 1}), depth=PENDING)
        strobes = Signal(narrow // 8)
        has, ends = strobes.any(), ends_beat & beat.payload.last
        done = {name: Signal(name=f"{name}_done") for name in ("aw", "w")}
        may = self.near_aw.valid & beat.valid & ~written.held[-1]
        m.d.comb += [
            strobes.eq(chosen_from(words_of(beat.payload.strb, narrow // 8), lane)),
            self.far_w.payload.strb.eq(strobes),
            self.far_w.payload.data.eq(chosen_from(words_of(beat.payload.data, narrow), lane)),
            goes.eq(may & (~has | Cat(one | getattr(self, f"far_{name}").ready for name, one in done.items()).all())),
            written.push.eq(goes & (has | ends)),
            written.i.asked.eq(has),
            written.i.last.eq(ends),
            beat.ready.eq(goes & ends_beat),
            self.near_aw.ready.eq(goes & ends),
        ]
        for name, one in done.items():
            far = getattr(self, f"far_{name}")
            m.d.comb += far.valid.eq(may & has & ~one)
            m.d.sync += one.eq((one | (far.valid & far.ready)) & ~goes)
        entry, worst, resp, takes = written.o.payload, Signal(2), Signal(2), Signal(name="takes_b")
        m.d.comb += [
            resp.eq(Mux(entry.asked & (self.far_b.payload.resp > worst), self.far_b.payload.resp, worst)),
            self.near_b.valid.eq(written.o.valid & entry.last & (self.far_b.valid | ~entry.asked)),
            self.near_b.payload.resp.eq(resp),
            takes.eq(written.o.valid & (self.far_b.valid | ~entry.asked) & (self.near_b.ready | ~entry.last)),
            self.far_b.ready.eq(written.o.valid & entry.asked & (self.near_b.ready | ~entry.last)),
            written.o.ready.eq(takes),
        ]
        with m.If(takes):
            m.d.sync += worst.eq(Mux(entry.last, 0, resp))

    def _elaborate_reads(self, m: Module) -> None:
        narrow, wide = self._widths
        lanes, goes = wide // narrow, Signal(name="reads")
        lane, ends_beat, ends = self._elaborate_walk(m, "ar", goes)
        kept = data.StructLayout({"lane": max(1, (lanes - 1).bit_length()), "ends": 1, "last": 1})
        m.submodules.asked = asked = ShortQueue(kept, depth=PENDING)
        m.d.comb += [
            self.far_ar.valid.eq(self.near_ar.valid & ~asked.held[-1]),
            goes.eq(self.far_ar.valid & self.far_ar.ready),
            asked.push.eq(goes),
            asked.i.lane.eq(lane),
            asked.i.ends.eq(ends_beat),
            asked.i.last.eq(ends),
            self.near_ar.ready.eq(goes & ends),
        ]
        entry, worst, resp, takes = asked.o.payload, Signal(2), Signal(2), Signal(name="takes_r")
        word, given = self.far_r.payload, self.near_r.payload
        for place in range(lanes):
            part, held = given.data[place * narrow : (place + 1) * narrow], Signal(narrow, name=f"held_{place}")
            is_here = equals(entry.lane, place)
            m.d.comb += part.eq(Mux(is_here, word.data, held))
            with m.If(takes & is_here):
                m.d.sync += held.eq(word.data)
        m.d.comb += [
            resp.eq(Mux(word.resp > worst, word.resp, worst)),
            given.resp.eq(resp),
            given.last.eq(entry.last),
            self.near_r.valid.eq(asked.o.valid & self.far_r.valid & entry.ends),
            self.far_r.ready.eq(asked.o.valid & (self.near_r.ready | ~entry.ends)),
            takes.eq(self.far_r.valid & self.far_r.ready),
            asked.o.ready.eq(takes),
        ]
        with m.If(takes):
            m.d.sync += worst.eq(Mux(entry.ends, 0, resp))

    def _size(self, burst: Any) -> Value:
        """Return the size of the accesses of a burst."""
        narrow = (self._widths[0] // 8).bit_length() - 1
        return Mux(below(burst.size, narrow), burst.size, Const(narrow, 3))

    def _elaborate_walk(self, m: Module, channel: str, goes: Value) -> tuple[Value, Value, Value]:
        """Walk through the accesses of a burst, and ask for each; return its lane, and if its beat, and burst, ends."""
        narrow, wide = ((width // 8).bit_length() - 1 for width in self._widths)
        burst, far = (getattr(self, f"{side}_{channel}").payload for side in ("near", "far"))
        is_first, later = Signal(init=1, name=f"{channel}_first"), Signal.like(burst.addr, name=f"{channel}_later")
        count, at = Signal(8, name=f"{channel}_count"), Signal.like(burst.addr, name=f"{channel}_at")
        ends_beat = Cat(below(burst.size, bit + 1) | at[bit] for bit in range(narrow, wide)).all()
        ends = ends_beat & (count == burst.len)
        again = ends_beat & equals(burst.burst, Burst.FIXED)
        size = Signal(3, name=f"{channel}_size")
        m.d.comb += [
            at.eq(Mux(is_first, burst.addr, later)),
            size.eq(self._size(burst)),
            far.addr.eq(at),
            far.size.eq(size),
            *(getattr(far, name).eq(getattr(burst, name)) for name in self._attributes),
        ]
        with m.If(goes):
            m.d.sync += [
                is_first.eq(ends),
                later.eq(Mux(again, burst.addr, behind(m, channel, at, size))),
                count.eq(Mux(ends, 0, Mux(ends_beat, count + 1, count))),
            ]
        return at[narrow:wide] if wide > narrow else Const(0, 1), ends_beat, ends
