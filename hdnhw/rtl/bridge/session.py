"""Whether the sides of a link know each other, and whether it is still those that did."""

from typing import Any

from amaranth.hdl import Cat, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.timing import power_of_two
from hdnhw.rtl.bridge.frame import EPOCH_WIDTH, LinkFormat

SILENCE_CYCLES = 4096
"""Cycles without a good frame after which a link is down, at least; and at least so many frames:"""

SILENCE_FRAMES = 16


class Session(wiring.Component):
    """Hellos: each side tells its own epoch, and that of the other one as soon as it knows it.

    A side that reads its own epoch knows that it is known: the link is up. It is no longer after a silence, and again
    with the next such hello: nothing is lost, as numbers of packets stay. A side that was reset has another epoch, and
    knows none. Then all numbers are void; this side takes another epoch, too, so that frames under way are not taken
    for new ones. A side that knows none, and meets one that goes by numbers, was reset: it takes the epoch behind the
    one that it is taken for, as its own may be that by chance, or whenever an FPGA is loaded.

    Members
    -------
    good, hello, knows, is_open, uses, seen, theirs : In
        What has come, see :class:`hdnhw.rtl.bridge.receiver.Receiver`.
    is_up : Out(1)
        Whether packets may be sent and taken.
    is_used : Out(1)
        Whether they might have been, since the sides agreed on numbers.
    is_known : Out(1), own, peer : Out
        The epochs of this side and of the other one, if it is known.
    greets : Out(1)
        The hello that has come must be answered.
    """

    def __init__(self, link: LinkFormat) -> None:
        self._silence = power_of_two(max(SILENCE_CYCLES, SILENCE_FRAMES * link.frame_words))
        super().__init__(
            {
                **dict.fromkeys(("good", "hello", "knows", "is_open", "uses"), In(1)),
                **dict.fromkeys(("seen", "theirs"), In(EPOCH_WIDTH)),
                **dict.fromkeys(("is_up", "is_used", "is_known", "greets"), Out(1)),
                **dict.fromkeys(("own", "peer"), Out(EPOCH_WIDTH)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        now, own = (Signal(EPOCH_WIDTH, name=name, reset_less=True) for name in ("now", "epoch"))
        silence = Signal(self._silence.bit_length(), init=self._silence)
        m.d.sync += now.eq(now + 1)
        m.d.comb += [self.own.eq(own), self.greets.eq(self.good & self.hello & ~self.is_open)]
        # What has come stands a cycle before it counts; epochs are compared in halves.
        may_lose, is_new, may_meet, is_unknown = Signal(), Signal(), Signal(), Signal()
        is_other, is_unlike = Signal(2), Signal(2)
        halves = slice(EPOCH_WIDTH // 2), slice(EPOCH_WIDTH // 2, None)
        m.d.sync += [
            may_lose.eq(self.hello & self.is_used),
            is_new.eq(self.hello & self.uses & ~self.is_known),
            may_meet.eq(self.hello & self.knows),
            is_unknown.eq(~self.knows),
            is_other.eq(Cat(self.theirs[half] != self.peer[half] for half in halves)),
            is_unlike.eq(Cat(self.seen[half] != own[half] for half in halves)),
        ]
        with m.If(self.good):
            m.d.sync += silence.eq(0)
        with m.Elif(silence[-1]):
            m.d.sync += self.is_up.eq(0)
        with m.Else():
            m.d.sync += silence.eq(silence + 1)
        with m.If(self.good & self.hello):
            m.d.sync += [self.is_known.eq(1), self.peer.eq(self.theirs)]
        with m.If(self.good & may_lose & (is_unknown | is_other.any())):
            m.d.sync += [self.is_used.eq(0), self.is_up.eq(0), own.eq(Cat(~own[0], now[1:]))]
        with m.Elif(self.good & is_new):  # it means who was here before
            m.d.sync += own.eq(self.seen + 1)
        with m.Elif(self.good & may_meet & ~is_unlike.any()):
            m.d.sync += [self.is_used.eq(1), self.is_up.eq(1)]
        with m.If(ResetSignal()):
            m.d.sync += own.eq(now)
        return m
