"""Two engines at one terminal of a fabric: their packets in one stream, and the packets of one stream to each."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.collective.format import JointFormat
from hdnhw.rtl.bits import equals, index_width
from hdnhw.rtl.channel import ejection_signature, injection_signature


class PacketMerger(wiring.Component):
    """Send the packets of two engines by one stream, each whole.

    Who is first sends a packet to its end; of both at once it is the first of the two. No cycle is added.

    Parameters
    ----------
    messages : JointFormat
        Of two parts.

    Members
    -------
    i : In(injection_signature).array(2)
    o : Out(injection_signature)
        ``kind`` in the head flit says whose packet it is, whatever has come in there.
    """

    def __init__(self, messages: JointFormat) -> None:
        self._messages = messages
        flits = injection_signature(flit_width=messages.flits.flit_width)
        super().__init__({"i": In(flits).array(2), "o": Out(flits)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        length, kind = self._messages.flits.packet_length, self._messages.header_positions["kind"]["offset"]
        position = Signal(index_width(length))
        under_way = Signal()  # a packet has been offered, and its tail has not been taken
        sender, chosen = Signal(name="sender"), Signal(name="chosen")  # of the two, 1 for the second
        (first, second), o = self.i, self.o
        last = equals(position, length - 1)
        payload = Mux(chosen, second.payload, first.payload)
        m.d.comb += [
            chosen.eq(Mux(under_way, sender, ~first.valid)),
            o.valid.eq(Mux(chosen, second.valid, first.valid)),
            o.payload.eq(
                Cat(payload[:kind], Mux(equals(position, 0), chosen, payload[kind]), payload[kind + 1 :]),
            ),
            first.ready.eq(o.ready & ~chosen),
            second.ready.eq(o.ready & chosen),
        ]
        with m.If(o.valid):
            m.d.sync += [sender.eq(chosen), under_way.eq(~(o.ready & last))]
            with m.If(o.ready):
                m.d.sync += position.eq(Mux(last, 0, position + 1))
        return m


class PacketSplitter(wiring.Component):
    """Give the packets of one stream to two engines, each to the one that ``kind`` in its head flit names.

    No cycle is added; a packet that its engine does not take holds up those behind it.

    Parameters
    ----------
    messages : JointFormat
        Of two parts.

    Members
    -------
    i : In(ejection_signature)
    o : Out(ejection_signature).array(2)
    """

    def __init__(self, messages: JointFormat) -> None:
        self._messages = messages
        packets = ejection_signature(flit_width=messages.flits.flit_width)
        super().__init__({"i": In(packets), "o": Out(packets).array(2)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        offset = self._messages.header_positions["kind"]["offset"]
        in_head = Signal(init=1)
        kept, kind = Signal(name="kept"), Signal(name="kind")
        m.d.comb += [
            kind.eq(Mux(in_head, self.i.payload.data[offset], kept)),
            self.i.ready.eq(Mux(kind, self.o[1].ready, self.o[0].ready)),
        ]
        for number, o in enumerate(self.o):
            m.d.comb += [o.valid.eq(self.i.valid & (kind if number else ~kind)), o.payload.eq(self.i.payload)]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [in_head.eq(self.i.payload.last), kept.eq(kind)]
        return m
