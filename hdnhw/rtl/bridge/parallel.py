"""Words on the pins of a chip: a clock, the bits of a word, and a mark for what is no word of a frame."""

from typing import Any

from amaranth.hdl import Cat, ClockDomain, ClockSignal, DomainRenamer, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.channel import ejection_signature
from hdnhw.rtl.clocks.crossing import Crossing
from hdnhw.rtl.clocks.queue import synchronized


def pins_of(word_width: int) -> dict[str, Any]:
    """Return the pins of a link: a clock, a mark and a word each way."""
    widths = {"clk": 1, "mark": 1, "data": word_width}
    leaving = {f"{name}_o": Out(width, init=int(name == "mark")) for name, width in widths.items()}
    return leaving | {f"{name}_i": In(width) for name, width in widths.items()}


class ParallelWires(wiring.Component):
    """One side of a link whose words go over pins, each with an edge of a clock that goes beside them.

    In each cycle there is a word of a frame, or a mark: that a frame has ended, or that nothing comes. So the edges of
    words need no training, and as a receiver takes in no marks, its clock may be slower than that of the wires by a
    word in a frame.

    It has the clock domains ``chip``, ``wire``, by which words leave, and ``far``, by which they come. The clock that
    leaves rises in the middle of a word.

    Parameters
    ----------
    word_width : int
        Bits of a word.

    Members
    -------
    chip_clk, chip_rst, wire_clk : In(1)
        Clock and reset of the chip, and the clock by which words leave; no two need be in step, but a chip must not be
        slower than the wires to it. A reset lasts for 16 cycles of the slowest clock or more.
    tx : In(stream), rx : Out(stream)
        Words of the chip, as :func:`hdnhw.rtl.chip.link_signature` has them.
    clk_o, mark_o : Out(1), data_o : Out(word_width)
    clk_i, mark_i : In(1), data_i : In(word_width)
        Pins.
    """

    def __init__(self, *, word_width: int) -> None:
        words = ejection_signature(flit_width=word_width)
        self._word = words.members["payload"].shape
        super().__init__(
            {
                **dict.fromkeys(("chip_clk", "chip_rst", "wire_clk"), In(1)),
                "tx": In(words),
                "rx": Out(words),
                **pins_of(word_width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        for name, clock in (("chip", self.chip_clk), ("wire", self.wire_clk), ("far", self.clk_i)):
            domain = ClockDomain(name)
            domain.clk = clock
            m.domains += domain
        m.d.comb += ResetSignal("chip").eq(self.chip_rst)
        for name in ("wire", "far"):
            m.d.comb += ResetSignal(name).eq(synchronized(m, self.chip_rst, domain=name, name=f"{name}_reset", init=1))
        self._elaborate_sender(m)
        self._elaborate_receiver(m)
        return m

    def _crossing(self, m: Module, name: str, *, leads_in: bool, clock: str) -> Any:
        """Add the queue of a stream between the chip and another clock."""
        crossing: Any = Crossing({name: (leads_in, self._word.size)})
        m.submodules[name] = DomainRenamer({"fabric": "chip", "node": clock})(crossing)
        return crossing

    def _elaborate_sender(self, m: Module) -> None:
        crossing = self._crossing(m, "tx", leads_in=False, clock="wire")
        near, word = crossing.tx_i, data.View(self._word, crossing.tx_o.payload)
        ends = Signal()  # what was sent was the last word of a frame
        m.d.comb += [
            near.payload.eq(self.tx.payload.as_value()),
            near.valid.eq(self.tx.valid),
            self.tx.ready.eq(near.ready),
            crossing.tx_o.ready.eq(~ends),
            self.clk_o.eq(~ClockSignal("wire")),
        ]
        is_word = Signal()
        m.d.comb += is_word.eq(crossing.tx_o.valid & ~ends)
        m.d.wire += [
            self.data_o.eq(Mux(is_word, word.data, ends)),
            self.mark_o.eq(~is_word),
            ends.eq(is_word & word.last),
        ]

    def _elaborate_receiver(self, m: Module) -> None:
        crossing = self._crossing(m, "rx", leads_in=True, clock="far")
        mark, came = Signal(init=1, reset_less=True), Signal.like(self.data_i, name="came", reset_less=True)
        held, holds = Signal.like(self.data_i, name="held", reset_less=True), Signal()
        is_last = Signal()
        m.d.comb += is_last.eq(mark & came[0])
        m.d.far += [mark.eq(self.mark_i), came.eq(self.data_i)]
        with m.If(~mark):
            m.d.far += [held.eq(came), holds.eq(1)]
        with m.Elif(is_last):
            m.d.far += holds.eq(0)
        m.d.comb += [
            crossing.rx_i.payload.eq(Cat(held, is_last)),
            crossing.rx_i.valid.eq(holds & (~mark | is_last)),  # if the queue is full, the frame is damaged
            Value.cast(self.rx.payload).eq(crossing.rx_o.payload),
            self.rx.valid.eq(crossing.rx_o.valid),
            crossing.rx_o.ready.eq(self.rx.ready),
        ]
