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
        room, load, idle = Signal(), Signal(), Signal(init=1)  # idle: all flits of a packet are on their way
        flit, header = Signal(index_width(length)), Signal(headers * width)  # the next flit; what is left of the header
        chosen, gives = Signal(len(self.packets)), Signal(len(self.packets))  # gives: whose data come next
        first, is_chosen = self._elaborate_choice(m, load)
        words = self._header(first)
        # The router says late in a cycle whether it takes a flit: no more stands behind that than these registers.
        m.submodules.flits = flits = SkidBuffer(width)
        connect(m, flits.o, wiring.flipped(self.inject))
        m.d.comb += [
            room.eq(flits.i.ready),
            load.eq(room & idle & is_chosen),
            flits.i.valid.eq(is_chosen | ~idle),
        ]
        data = selected(gives, [packet.data for packet in self.packets])
        # Of the header and data one is 0.
        m.d.comb += flits.i.payload.eq(Mux(idle, words[:width], header[:width] | data))
        with m.If(room):
            m.d.sync += [flit.eq(Mux(idle, 1, flit + 1)), gives.eq(0)]
            with m.If(~idle & equals(flit, length - 1)):
                m.d.sync += idle.eq(1)
            with m.Elif(~idle & ~below(flit, headers - 1)):
                m.d.sync += gives.eq(chosen)
        with m.If(room | idle):
            m.d.sync += header.eq(Mux(idle, padded(words, headers * width), header)[width:])
        with m.If(idle):
            m.d.sync += chosen.eq(first)
        with m.If(load):
            m.d.sync += [idle.eq(0), *([gives.eq(first)] if headers == 1 else [])]
        for number, packet in enumerate(self.packets):
            m.d.comb += [packet.head.ready.eq(first[number] & load), packet.take.eq(gives[number] & room)]
        return m

    def _elaborate_choice(self, m: Module, load: Signal) -> tuple[Signal, Signal]:
        """Choose the next packet while one is sent; return it, one-hot, or 0, and whether there is one."""
        requests = {number: packet.head.valid for number, packet in enumerate(self.packets)}
        picked, some = Signal(len(requests)), Signal()
        first = first_in_order(requests, service_order(m, picked, update=load, name="served"))
        with m.If(load):
            m.d.sync += [picked.eq(0), some.eq(0)]
        with m.Elif(~some):
            m.d.sync += [picked.eq(Cat(first.values())), some.eq(Cat(requests.values()).any())]
        return picked, some

    def _header(self, first: Value) -> Value:
        """Return the header of the packet that comes next, with the node as its source."""
        layout = header_layout(self._memory)
        words = selected(first, [packet.head.payload.as_value() for packet in self.packets])
        src = layout["src"]
        return Cat(words[: src.offset], self.address, words[src.offset + src.width :])
