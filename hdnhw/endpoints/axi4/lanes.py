"""A manager whose data are narrower than those of the fabric: each beat has its place in a wider one."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import connect

from hdnhw.endpoints.axi4.layout import Burst, between
from hdnhw.rtl.bits import below, chosen_from, equals, selected
from hdnhw.rtl.fifos import ShortQueue

PENDING = 8
"""Bursts of writes, and of reads, that are under way at most."""


def words_of(value: Value, width: int) -> list[Value]:
    """Return the words of a value, the lowest first."""
    return [value[start : start + width] for start in range(0, len(value), width)]


def behind(m: Module, channel: str, at: Value, size: Value) -> Value:
    """Return the address of the next beat of an INCR burst on a channel; of equal width."""
    low = min(1 << len(size), len(at))
    step, aligned = Signal(low, name=f"{channel}_step"), Signal(low, name=f"{channel}_aligned")
    total = Signal(low + 1, name=f"{channel}_total")
    m.d.comb += [
        step.eq(Cat(equals(size, bit) for bit in range(low))),
        aligned.eq(Cat(at[bit] & below(size, bit + 1) for bit in range(low))),
        total.eq(aligned + step),
    ]
    above = at[low:]
    return Cat(total[:low], Mux(total[low], (above + 1)[: len(above)], above)) if len(above) else total[:low]


class LaneSteering(wiring.Component):
    """Put the beats of a manager into the lanes of wider data that their addresses name, and take them from there.

    Parameters
    ----------
    near, far : mapping of str to StructLayout
        Transfers of the channels of the manager, and of the wider port; they differ in ``data`` and ``strb``.

    Members
    -------
    near_aw, near_w, near_ar : In(stream), near_b, near_r : Out(stream)
        The manager.
    far_aw, far_w, far_ar : Out(stream), far_b, far_r : In(stream)
        The wider port, which answers in the order of the requests.
    """

    def __init__(self, near: dict[str, data.StructLayout], far: dict[str, data.StructLayout]) -> None:
        self._widths = near["r"]["data"].width, far["r"]["data"].width
        super().__init__(between(near, far))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        narrow, wide = self._widths
        lanes = wide // narrow
        connect(m, wiring.flipped(self.far_b), wiring.flipped(self.near_b))
        lane, known = self._elaborate_lane(m, "w", self.near_w)
        write, to = self.near_w.payload, self.far_w.payload
        m.d.comb += [
            to.data.eq(write.data.replicate(lanes)),
            to.strb.eq(Cat(Mux(equals(lane, place), write.strb, 0) for place in range(lanes))),
            to.last.eq(write.last),
            self.far_w.valid.eq(self.near_w.valid & known),
            self.near_w.ready.eq(self.far_w.ready & known),
        ]
        lane, known = self._elaborate_lane(m, "r", self.far_r)
        read, given = self.far_r.payload, self.near_r.payload
        m.d.comb += [
            *(getattr(given, name).eq(getattr(read, name)) for name in ("id", "resp", "last")),
            given.data.eq(chosen_from(words_of(read.data, narrow), lane)),
            self.near_r.valid.eq(self.far_r.valid & known),
            self.far_r.ready.eq(self.near_r.ready & known),
        ]
        return m

    def _elaborate_lane(self, m: Module, channel: str, beats: Any) -> tuple[Value, Value]:
        """Pass addresses on; return the lane of a beat of their data, and whether it is known."""
        narrow, wide = ((width // 8).bit_length() - 1 for width in self._widths)
        near, far = (getattr(self, f"{side}_a{channel}") for side in ("near", "far"))
        kept = data.StructLayout({"at": wide, "size": 3, "burst": 2, "mask": wide})
        m.submodules[f"{channel}_bursts"] = bursts = ShortQueue(kept, depth=PENDING)
        room, asked, burst = ~bursts.held[-1], near.payload, bursts.o.payload
        # Bits of an address that move in a WRAP: those below the size of all of it.
        sizes = Cat(equals(asked.size, bit) for bit in range(8))
        ones = [Cat(Const((1 << size) - 1, size), asked.len, Const(0, wide))[:wide] for size in range(8)]
        spread = selected(sizes, ones)
        m.d.comb += [
            far.payload.eq(asked),
            far.payload.burst.eq(Mux(below(asked.size, narrow + 1), asked.burst, 3)),  # a beat too wide is refused
            far.valid.eq(near.valid & room),
            near.ready.eq(far.ready & room),
            bursts.push.eq(near.valid & near.ready),
            bursts.i.at.eq(asked.addr[:wide]),
            bursts.i.size.eq(asked.size),
            bursts.i.burst.eq(asked.burst),
            bursts.i.mask.eq(Mux(equals(asked.burst, Burst.WRAP), spread, Const(-1, wide))),
        ]
        is_first, later = Signal(init=1, name=f"{channel}_first"), Signal(wide, name=f"{channel}_later")
        at = Signal(wide, name=f"{channel}_at")
        m.d.comb += at.eq(Mux(is_first, burst.at, later))
        wrapped = (at & ~burst.mask) | (behind(m, channel, at, burst.size) & burst.mask)
        moved = Mux(equals(burst.burst, Burst.FIXED), burst.at, wrapped)
        takes = beats.valid & beats.ready
        m.d.comb += bursts.o.ready.eq(takes & beats.payload.last)
        with m.If(takes):
            m.d.sync += [is_first.eq(beats.payload.last), later.eq(moved)]
        return at[narrow:], bursts.o.valid
