"""Packets of all that an endpoint has to send, one after the other."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.part_buffer import PacketSignature
from hdnhw.endpoints.axi4.skid import SkidBuffer
from hdnhw.rtl.arbiter import first_in_order, service_order
from hdnhw.rtl.bits import below, equals, index_width, padded, selected
from hdnhw.rtl.channel import injection_signature
from hdnhw.rtl.header import header_layout


class PartSender(wiring.Component):
    """Send packets, those first whose source was served longest ago; without a pause once a head flit is offered.

    The next packet is chosen while one is sent, and its header taken when it begins.

    Parameters
    ----------
    memory : MemoryFormat
    sources : int

    Members
    -------
    address : In(address width)
        The node's own packed address.
    packets : In(PacketSignature).array(sources)
    inject : Out(injection_signature)
    """

    def __init__(self, memory: MemoryFormat, *, sources: int) -> None:
        self._memory = memory
        super().__init__(
            {
                "address": In(memory.flits.address_width),
                "packets": In(PacketSignature(memory)).array(sources),
                "inject": Out(injection_signature(flit_width=memory.flits.flit_width)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        width, length, headers = (
            self._memory.flits.flit_width,
            self._memory.flits.packet_length,
            self._memory.header_flits,
        )
        room, idle, is_last = Signal(), Signal(init=1), Signal()  # idle: all flits of a packet are on their way
        flit, header = Signal(index_width(length)), Signal(headers * width)  # the next flit; what is left of the header
        begins, chosen, gives = (Signal(len(self.packets), name=name) for name in ("begins", "chosen", "gives"))
        starts = Signal()
        words = self._header(begins, starts)
        # The router says late in a cycle whether it takes a flit: no more stands behind that than these registers.
        m.submodules.flits = flits = SkidBuffer(width)
        connect(m, flits.o, wiring.flipped(self.inject))
        # Of what is about to begin, the header of what has begun, and its data all but one are 0.
        left = padded(words, headers * width) | header
        m.d.comb += [
            room.eq(flits.i.ready),
            flits.i.valid.eq(starts | ~idle),
            flits.i.payload.eq(left[:width] | selected(gives, [packet.data for packet in self.packets])),
        ]
        is_next, is_some = self._elaborate_choice(m, starts)
        will_be_idle = (idle & ~starts) | (~idle & room & is_last)
        m.d.sync += [
            idle.eq(will_be_idle),
            begins.eq(is_next & will_be_idle.replicate(len(begins))),
            starts.eq(is_some & will_be_idle),
            header.eq(Mux(room, padded(left[width:], headers * width), left)),
        ]
        with m.If(room):
            m.d.sync += [flit.eq(Mux(idle, 1, flit + 1)), is_last.eq(Mux(idle, length == 2, equals(flit, length - 2)))]
            with m.If(idle):
                m.d.sync += gives.eq(begins if headers == 1 else 0)
            with m.Else():
                m.d.sync += gives.eq(Mux(~below(flit, headers - 1) & ~is_last, chosen, 0))
        with m.Elif(idle):
            m.d.sync += flit.eq(0)
        with m.If(idle):
            m.d.sync += chosen.eq(begins)
        for number, packet in enumerate(self.packets):
            m.d.comb += [packet.head.ready.eq(begins[number]), packet.take.eq(gives[number] & room)]
        return m

    def _elaborate_choice(self, m: Module, starts: Signal) -> tuple[Value, Value]:
        """Choose the next packet while one is sent; return it as of the next cycle, one-hot, and if there is one."""
        requests = {number: packet.head.valid for number, packet in enumerate(self.packets)}
        picked, some = Signal(len(requests)), Signal()
        first = Cat(first_in_order(requests, service_order(m, picked, update=starts, name="served")).values())
        is_next = Mux(some, picked, first) & (~starts).replicate(len(picked))
        is_some = (some | Cat(requests.values()).any()) & ~starts
        m.d.sync += [picked.eq(is_next), some.eq(is_some)]
        return is_next, is_some

    def _header(self, begins: Value, starts: Value) -> Value:
        """Return the header of the packet that begins, with the node as its source; 0 if none does."""
        layout = header_layout(self._memory)
        words = selected(begins, [packet.head.payload.as_value() for packet in self.packets])
        src = layout["src"]
        return Cat(words[: src.offset], Mux(starts, self.address, 0), words[src.offset + src.width :])
