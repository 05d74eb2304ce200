"""The data of parts on their way into packets."""

from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.rtl.bits import counted, index_width
from hdnhw.rtl.header import header_layout

_LEAST = 8
"""Words that a buffer has at least: it keeps two of them free."""


class PacketSignature(wiring.Signature):
    """A packet that waits to be sent, seen from where it waits.

    Parameters
    ----------
    memory : MemoryFormat

    Members
    -------
    head : Out(stream of header_layout)
        Its header; `src` is filled in by the sender. It is taken when the packet begins.
    data : Out(flit_width)
        The first of its data flits that has not been taken; combinational.
    take : In(1)
        That flit is taken; behind the last one nothing is.
    """

    def __init__(self, memory: MemoryFormat) -> None:
        super().__init__(
            {
                "head": Out(stream.Signature(header_layout(memory))),
                "data": Out(memory.flits.flit_width),
                "take": In(1),
            }
        )


def place_of_beat(m: Module, part: Any, moves: Value, *, again: Value | None = None) -> tuple[Signal, Signal]:
    """Count the beats of parts, one of which `moves`; return the place of the next one, and whether it is the last.

    Of a part it takes the place of the last beat, `end`, and whether that is the first one, `single`. The next beat is
    the first one `again` if the part has been cut.
    """
    end = part.end
    place, at_end = Signal(len(end), name="place"), Signal(name="at_end")
    is_first, is_last = Signal(name="is_first", init=1), Signal(name="is_last")
    m.d.comb += at_end.eq(Mux(is_first, part.single, is_last))
    with m.If(moves):
        behind = (place + 1)[: len(place)]
        m.d.sync += [place.eq(Mux(at_end, 0, behind)), is_first.eq(at_end), is_last.eq(behind == end)]
    with m.If(Const(0) if again is None else again):
        m.d.sync += [place.eq(0), is_first.eq(1)]
    return place, at_end


class PartBuffer(wiring.Component):
    """Data of parts, one behind the other, and the header of a part whose data are all here.

    There is room for the data of a part that is sent, and of one that is collected. A word can be written over as soon
    as it has been taken.

    Parameters
    ----------
    memory : MemoryFormat

    Members
    -------
    push : In(1)
        Add `word`; only while there is `room`.
    word : In(flit_width)
    close : In(1)
        The part is complete: with the last `push`, or behind it.
    head : In(header_layout)
        Of the part that is complete, until it is `closed`.
    room : Out(1)
        A word may be added.
    closed : Out(1)
        The part is done with: it has been complete since before, or is now. There is one header at a time, so it may
        wait for that of the part before to be taken, and then there is no `room`.
    sends : Out(1)
        Data of a part whose header was taken have not been taken.
    packet : Out(PacketSignature)
    """

    def __init__(self, memory: MemoryFormat) -> None:
        self._memory = memory
        super().__init__(
            {
                "push": In(1),
                "word": In(memory.flits.flit_width),
                "close": In(1),
                "head": In(header_layout(memory)),
                "room": Out(1, init=1),
                "closed": Out(1),
                "sends": Out(1),
                "packet": Out(PacketSignature(memory)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        depth = max(_LEAST, 2 << index_width(self._memory.payload_flits))
        m.submodules.words = words = memory.Memory(shape=self._memory.flits.flit_width, depth=depth, init=[])
        write, read = words.write_port(), words.read_port(domain="comb")
        level, head = Signal(index_width(depth)), self.packet.head
        left, takes, waits = Signal(len(head.payload.end)), Signal(), Signal()
        taken, place, behind = Signal(), Signal.like(read.addr, name="reads"), Signal.like(read.addr, init=1)
        m.d.comb += [
            write.en.eq(1),  # the place is free
            write.data.eq(self.word),
            read.addr.eq(Mux(self.sends, behind, place)),
            self.closed.eq((self.close | waits) & ~head.valid),
            takes.eq(self.packet.take & self.sends),
        ]
        m.d.sync += [
            taken.eq(takes),
            level.eq(counted(level, self.push, taken)),
            waits.eq((self.close | waits) & head.valid),
            self.room.eq(~level[1:].all() & ~((self.close | waits) & head.valid)),  # for two: one may come now
        ]
        with m.If(self.push):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(~self.sends):  # no header is taken before
            m.d.sync += [left.eq(head.payload.end), self.sends.eq(head.valid & head.ready)]
        with m.If(takes):
            m.d.sync += [left.eq(left - 1), self.sends.eq(left.any()), place.eq(behind), behind.eq(behind + 1)]
        with m.If(takes | ~self.sends):
            m.d.sync += self.packet.data.eq(read.data)
        m.d.sync += head.valid.eq(Mux(head.valid, ~head.ready, self.close | waits))
        with m.If(~head.valid):
            m.d.sync += head.payload.eq(self.head)  # it does not matter until it is valid
        return m
