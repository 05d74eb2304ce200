"""The data of two parts: one is collected while the other is sent."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.rtl.bits import index_width, stepped
from hdnhw.rtl.header import header_layout


class PacketSignature(wiring.Signature):
    """A packet that waits to be sent, seen from where it waits.

    Parameters
    ----------
    memory : MemoryFormat

    Members
    -------
    head : Out(stream of header_layout)
        Its header; `src` is filled in by the sender. It is taken when the packet begins.
    index : In
        Position of a data flit of the packet that has been taken last.
    data : Out(flit_width)
        That flit; combinational.
    done : In(1)
        High for one cycle when that packet's data have been read.
    """

    def __init__(self, memory: MemoryFormat) -> None:
        fields = memory.header_fields
        super().__init__(
            {
                "head": Out(stream.Signature(header_layout(memory))),
                "index": In(fields["end"]),
                "data": Out(memory.flits.flit_width),
                "done": In(1),
            }
        )


class PartBuffer(wiring.Component):
    """Data of parts, two at a time. They are collected from any source, and read when they are complete.

    Parameters
    ----------
    memory : MemoryFormat

    Members
    -------
    push : In(1)
        Add `word`; only while there is `room`.
    word : In(flit_width)
    index : Out
        Its position in the part.
    close : In(1)
        The part is complete: with the last `push`.
    head : In(header_layout)
        Of the part that is closed; looked at one cycle behind `close`.
    room : Out(1)
        A part may be collected.
    packet : Out(PacketSignature)
    """

    def __init__(self, memory: MemoryFormat) -> None:
        self._memory = memory
        fields = memory.header_fields
        super().__init__(
            {
                "push": In(1),
                "word": In(memory.flits.flit_width),
                "index": Out(fields["end"]),
                "close": In(1),
                "head": In(header_layout(memory)),
                "room": Out(1),
                "packet": Out(PacketSignature(memory)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        place = index_width(self._memory.payload_flits)
        m.submodules.words = words = memory.Memory(shape=self._memory.flits.flit_width, depth=2 << place, init=[])
        write, read = words.write_port(), words.read_port(domain="comb")
        collecting, sending, used, closed, may = Signal(), Signal(), Signal(2), Signal(), Signal(init=1)
        head = self.packet.head
        m.d.comb += [
            write.en.eq(self.push),
            write.addr.eq(Cat(self.index[:place], collecting)),
            write.data.eq(self.word),
            read.addr.eq(Cat(self.packet.index[:place], sending)),
            self.packet.data.eq(read.data),
            self.room.eq(may & ~closed),
        ]
        with m.If(self.push):
            m.d.sync += self.index.eq(Mux(self.close, 0, self.index + 1))
        m.d.sync += [
            closed.eq(self.close),
            # For the sender: there is one header at a time.
            may.eq(~closed & ~(head.valid & ~head.ready) & ~(used.all() & ~self.packet.done)),
        ]
        with m.If(self.close):
            m.d.sync += collecting.eq(~collecting)
        with m.If(self.packet.done):
            m.d.sync += sending.eq(~sending)
        m.d.sync += used.eq(stepped(used, self.close, self.packet.done))
        with m.If(closed):
            m.d.sync += [head.valid.eq(1), head.payload.eq(self.head)]
        with m.Elif(head.ready):
            m.d.sync += head.valid.eq(0)
        return m
