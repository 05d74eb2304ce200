"""How many packets per node's own messages have, where a flit in front of each of them says so."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.collective.format import MessageFormat
from hdnhw.rtl.bits import below, equals


class MessageCounter(wiring.Component):
    """Take the flit in front of each message, and pass on as many packets of data flits as it says.

    What is more than a message can have counts as the most.

    Parameters
    ----------
    messages : MessageFormat
        Of variable messages.

    Members
    -------
    loads : In(1)
        The node's own messages are awaited.
    i : In(stream of flits)
    o : Out(stream of flits)
        Data flits, in the cycle in which they come.
    written : In(1)
        High for one cycle with the last data flit of each packet.
    ended : Out(1)
        High for one cycle with the last flit of each message: of one without packets, that in front of it.
    """

    def __init__(self, messages: MessageFormat) -> None:
        self._messages = messages
        width = messages.flits.flit_width
        super().__init__(
            {
                "loads": In(1),
                "i": In(stream.Signature(width)),
                "o": Out(stream.Signature(width)),
                "written": In(1),
                "ended": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        most = self._messages.message_packets
        left, counts, takes = Signal(self._messages.count_width), Signal(), Signal()
        said = self.i.payload[: len(left)]
        too_many = ~below(self.i.payload, most + 1)
        m.d.comb += [
            counts.eq(self.loads & ~left.any()),
            takes.eq(counts & self.i.valid),
            self.o.valid.eq(self.i.valid & left.any()),
            self.o.payload.eq(self.i.payload),
            self.i.ready.eq(Mux(left.any(), self.o.ready, counts)),
            self.ended.eq((self.written & equals(left, 1)) | (takes & ~self.i.payload.any())),
        ]
        with m.If(takes):
            m.d.sync += left.eq(Mux(too_many, most, said))
        with m.Elif(self.written):
            m.d.sync += left.eq(left - 1)
        return m
