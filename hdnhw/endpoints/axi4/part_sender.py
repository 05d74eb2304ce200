"""Packets of all that an endpoint has to send, one after the other."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.part_buffer import PacketSignature
from hdnhw.rtl.arbiter import first_in_order, service_order
from hdnhw.rtl.bits import equals, index_width, selected
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
        memory, width, length = self._memory, self._memory.flits.flit_width, self._memory.flits.packet_length
        active, load, chosen = Signal(), Signal(), Signal(len(self.packets))
        header = Signal(memory.header_flits * width)
        flit, room, is_tail = (
            Signal(index_width(length)),
            Signal(),
            Signal(init=1),
        )  # a tail too while there is no packet
        in_header, index = Signal(memory.header_flits), Signal(memory.header_fields["end"])
        gives = Signal(len(self.packets))  # that whose data come now; the header is 0 by then
        first, is_chosen = self._elaborate_choice(m, load)
        m.d.comb += [
            room.eq(~self.inject.valid | self.inject.ready),
            load.eq(room & is_tail & is_chosen),
        ]
        data = selected(gives, [packet.data for packet in self.packets])
        with m.If(room):
            m.d.sync += [
                self.inject.valid.eq(active),
                self.inject.payload.eq(header[:width] | data),
                flit.eq(flit + 1),
                is_tail.eq(is_tail | equals(flit, length - 2)),
                in_header.eq(in_header[1:]),
                gives.eq(Mux(in_header[1:].any(), 0, chosen)),
                header.eq(header[width:]),
            ]
            with m.If(is_tail):
                m.d.sync += active.eq(0)
            with m.If(~in_header.any()):
                m.d.sync += index.eq(index + 1)
        with m.If(load):
            m.d.sync += [
                active.eq(1),
                flit.eq(0),
                is_tail.eq(0),
                index.eq(0),
                in_header.eq(~0),
                gives.eq(0),
                chosen.eq(first),
                header.eq(self._header(first)),
            ]
        for number, packet in enumerate(self.packets):
            m.d.comb += [
                packet.head.ready.eq(first[number] & load),
                packet.index.eq(index),
                packet.done.eq(chosen[number] & active & room & is_tail),
            ]
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

    def _header(self, first: Signal) -> Value:
        """Return the header of the packet that comes next, with the node as its source."""
        layout = header_layout(self._memory)
        words = selected(first, [packet.head.payload.as_value() for packet in self.packets])
        src = layout["src"]
        return Cat(words[: src.offset], self.address, words[src.offset + src.width :])
